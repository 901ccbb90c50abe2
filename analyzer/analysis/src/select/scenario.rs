//! The what-if scenarios that the user requests: `balanced=force`, `rank=3`, `faster=force:2`, `network=1.5us,10GB/s`, `threads-balanced`,
//! `threads-balanced=force`, `parallel=read_input`.

use std::str::FromStr;

use super::{SelectionError, region, threads};
use crate::model::Model;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::model::run::moment::WindowBoundary;
use crate::structure::code::symbols::ResolvedNames;

/// A what-if scenario, regions and ranks by their names.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedScenario {
    /// With this region balanced.
    Balanced(String),
    /// With this rank computing no more than the mean.
    Rank(u32),
    /// With this region, state of computation or function several times as fast.
    Faster(String, f64),
    /// On a network with this latency in seconds and this bandwidth in bytes per second.
    Network(f64, f64),
    /// With threads that work equally long in all parallel regions, or in the ones with this name.
    ThreadsBalanced(Option<String>),
    /// With this function on all threads.
    Parallel(String),
}

/// The error for a text that is no scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected balanced=REGION, rank=N, faster=REGION:2, faster=FUNCTION:2 or faster=STATE:2 (times as fast), network=1.5us,10GB/s (latency, bandwidth), threads-balanced, \
     threads-balanced=PARALLEL-REGION or parallel=FUNCTION"
)]
pub struct AskedError;

const BANDWIDTHS: [(&str, f64); 8] = [
    ("TB/s", 1e12),
    ("GB/s", 1e9),
    ("MB/s", 1e6),
    ("kB/s", 1e3),
    ("Gbit/s", 0.125e9),
    ("Mbit/s", 0.125e6),
    ("B/s", 1.0),
    ("", 1.0),
];

fn is_positive(number: &f64) -> bool {
    *number > 0.0 && number.is_finite()
}

impl FromStr for AskedScenario {
    type Err = AskedError;

    fn from_str(text: &str) -> Result<Self, AskedError> {
        if text.trim() == "threads-balanced" {
            return Ok(AskedScenario::ThreadsBalanced(None));
        }
        let (what, value) = text.trim().split_once('=').ok_or(AskedError)?;
        let value = value.trim();
        match what.trim() {
            "balanced" if !value.is_empty() => Ok(AskedScenario::Balanced(value.to_owned())),
            "threads-balanced" if !value.is_empty() => Ok(AskedScenario::ThreadsBalanced(Some(value.to_owned()))),
            "parallel" if !value.is_empty() => Ok(AskedScenario::Parallel(value.to_owned())),
            "rank" => value.parse().map(AskedScenario::Rank).map_err(|_| AskedError),
            "faster" => {
                let (name, times) = value.rsplit_once(':').ok_or(AskedError)?;
                let times = times.trim().parse().ok().filter(is_positive).ok_or(AskedError)?;
                if name.is_empty() { Err(AskedError) } else { Ok(AskedScenario::Faster(name.to_owned(), times)) }
            }
            "network" => {
                let (latency, bandwidth) = value.split_once(',').ok_or(AskedError)?;
                let latency =
                    WindowBoundary::from_str(latency).ok().and_then(WindowBoundary::seconds).ok_or(AskedError)?;
                let bandwidth = bytes_per_s(bandwidth.trim()).filter(is_positive).ok_or(AskedError)?;
                if latency >= 0.0 { Ok(AskedScenario::Network(latency, bandwidth)) } else { Err(AskedError) }
            }
            _ => Err(AskedError),
        }
    }
}

fn bytes_per_s(text: &str) -> Option<f64> {
    BANDWIDTHS.iter().find_map(|(unit, factor)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * factor))
}

fn push_indexed<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    list.len() as u32 - 1
}

impl AskedScenario {
    /// Returns the scenario with the regions and ranks of `model`, in which it notes the parallel regions and functions that are meant.
    /// `names` are the names of its code.
    ///
    /// Errors: the model has no such region, rank or function.
    pub fn scenario(&self, model: &mut Model, names: &ResolvedNames) -> Result<WhatIfScenario, SelectionError> {
        Ok(match self {
            AskedScenario::Balanced(name) => WhatIfScenario::Balanced(region::find_region(model, "--what-if", name)?),
            AskedScenario::Faster(name, times) => match region::find_region(model, "--what-if", name) {
                Ok(region) => WhatIfScenario::Faster(region, *times),
                // No region has the name, but a state of computation or a function may.
                Err(no_region) => {
                    let saved = 1.0 - 1.0 / times;
                    let function = match threads::shorter_state(model, name, saved) {
                        Some(state) => state,
                        None => {
                            threads::function_named(model, &names.sampled, name, |_| saved).map_err(|_| no_region)?
                        }
                    };
                    WhatIfScenario::FunctionFaster(push_indexed(&mut model.asked_threads.functions, function), *times)
                }
            },
            AskedScenario::Network(latency_s, bytes_per_s) => WhatIfScenario::Network(*latency_s, *bytes_per_s),
            AskedScenario::ThreadsBalanced(None) => WhatIfScenario::ThreadsBalanced(None),
            AskedScenario::ThreadsBalanced(Some(name)) => {
                let region = threads::regions_named(model, &names.places, name)?;
                WhatIfScenario::ThreadsBalanced(Some(push_indexed(&mut model.asked_threads.regions, region)))
            }
            AskedScenario::Parallel(name) => {
                let function = threads::function_named(model, &names.sampled, name, threads::saved_by_all_cores)?;
                WhatIfScenario::Spread(push_indexed(&mut model.asked_threads.functions, function))
            }
            AskedScenario::Rank(rank) => {
                let found = model.ranks.binary_search_by_key(rank, |one| one.rank);
                let largest = model.ranks.last().map_or(0, |one| one.rank);
                let at = found.map_err(|_| SelectionError::NoRankAsked { rank: *rank, largest })?;
                WhatIfScenario::RankAsMean(at as u32)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_read() {
        let read = |text: &str| text.parse::<AskedScenario>();
        assert_eq!(read("balanced=main/step/force"), Ok(AskedScenario::Balanced("main/step/force".into())));
        assert_eq!(read("rank=12"), Ok(AskedScenario::Rank(12)));
        assert_eq!(read("faster=a:b:2.5"), Ok(AskedScenario::Faster("a:b".into(), 2.5)));
        assert_eq!(read("network=1.5us,10GB/s"), Ok(AskedScenario::Network(1.5e-6, 1e10)));
        assert_eq!(read("network=0,100 Gbit/s"), Ok(AskedScenario::Network(0.0, 1.25e10)));
        assert_eq!(read("threads-balanced"), Ok(AskedScenario::ThreadsBalanced(None)));
        assert_eq!(read("threads-balanced=sweep"), Ok(AskedScenario::ThreadsBalanced(Some("sweep".into()))));
        assert_eq!(read("parallel=read_input"), Ok(AskedScenario::Parallel("read_input".into())));
        let wrong = " force rank=x faster=a faster=a:0 faster=a:-1 network=1us network=1us,0 balanced= threads-balanced= parallel";
        for wrong in wrong.split(' ') {
            assert_eq!(read(wrong), Err(AskedError), "{wrong}");
        }
    }
}
