//! The time of each rank that a window of the run is: ticks, from times on the run's clock or from the rank's iterations.

use std::collections::BTreeMap;

use lbprof_collector::clock::RankClock;

use super::SelectionError;
use crate::model::moment::Moment;
use crate::model::{Model, RankModel, RegionIdx, Series};
use crate::read::span::Span;
use crate::structure::survey::Survey;

/// The span of each rank of `model` and `survey`, which are of the whole run, from `from` to `to`.
///
/// Of an iteration each rank's own begin and end count; for a rank without it, the first begin and the last end of the others.
/// One that a rank does not end lasts until the rank does.
///
/// Errors: a time that the run does not reach, an iteration that it does not have, a window without time.
pub fn spans(
    model: &Model,
    survey: &Survey,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<BTreeMap<u32, Span>, SelectionError> {
    check_order(from, to)?;
    let begin = from.map(|from| Begin::new(model, from)).transpose()?;
    let end = to.map(|to| End::new(model, to)).transpose()?;
    let span = |rank: &RankModel| {
        let clock = survey.rank(rank.rank)?.clock.as_ref()?;
        let begin = begin.as_ref().map_or(0, |begin| begin.ticks(rank, clock));
        let end = end.as_ref().map_or(u64::MAX, |end| end.ticks(rank, clock));
        Some((rank.rank, Span { begin, end: end.max(begin) }))
    };
    Ok(model.ranks.iter().filter_map(span).collect())
}

fn check_order(from: Option<Moment>, to: Option<Moment>) -> Result<(), SelectionError> {
    let Some(to) = to else { return Ok(()) };
    let from = from.unwrap_or(Moment::Time(0));
    let has_time = match (from, to) {
        (Moment::Time(from), Moment::Time(to)) => from < to,
        (Moment::Iteration(from), Moment::Iteration(to)) => from <= to,
        _ => true,
    };
    if has_time { Ok(()) } else { Err(SelectionError::NoTime { from, to }) }
}

/// Where the window begins, in seconds on the run's clock.
enum Begin {
    At(f64),
    /// With the begin of an iteration; for ranks without it, when it begins on the first rank.
    With(Iteration, f64),
}

impl Begin {
    fn new(model: &Model, from: Moment) -> Result<Begin, SelectionError> {
        match from {
            Moment::Time(ns) => {
                let (from_s, elapsed_s) = (ns as f64 / 1e9, model.elapsed_s());
                if from_s >= elapsed_s {
                    Err(SelectionError::PastEnd { from_s, elapsed_s })
                } else {
                    Ok(Begin::At(from_s))
                }
            }
            Moment::Iteration(number) => {
                let iteration = Iteration::new(model, number)?;
                let begins = model.ranks.iter().filter_map(|rank| Some(iteration.of(rank)?.0));
                // A begin that is not known, which is NaN, is passed over.
                let others_s = begins.fold(f64::INFINITY, f64::min);
                Ok(Begin::With(iteration, others_s))
            }
        }
    }

    fn ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        let begin_s = match self {
            Begin::At(seconds) => *seconds,
            Begin::With(iteration, others_s) => {
                iteration.of(rank).map(|times| times.0).filter(|begin| !begin.is_nan()).unwrap_or(*others_s)
            }
        };
        clock.first_tick_at(rank.nanoseconds(begin_s))
    }
}

/// Where the window ends, in seconds on the run's clock.
enum End {
    At(f64),
    /// With the end of an iteration; for ranks without it, when it ends on the last rank. NaN: it does not end.
    With(Iteration, f64),
}

impl End {
    fn new(model: &Model, to: Moment) -> Result<End, SelectionError> {
        match to {
            Moment::Time(ns) => Ok(End::At(ns as f64 / 1e9)),
            Moment::Iteration(number) => {
                let iteration = Iteration::new(model, number)?;
                let ends = model.ranks.iter().filter_map(|rank| Some(iteration.of(rank)?.1));
                let later = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
                let others_s = ends.fold(f64::NEG_INFINITY, later);
                Ok(End::With(iteration, others_s))
            }
        }
    }

    fn ticks(&self, rank: &RankModel, clock: &RankClock) -> u64 {
        match self {
            End::At(seconds) => clock.first_tick_at(rank.nanoseconds(*seconds)),
            End::With(iteration, others_s) => match iteration.of(rank).map_or(*others_s, |times| times.1) {
                end if end.is_nan() => u64::MAX,
                // The last tick of its last nanosecond: its own end is in the window.
                end => clock.first_tick_at(rank.nanoseconds(end).saturating_add(1)).saturating_sub(1),
            },
        }
    }
}

/// An iteration of the main loop.
struct Iteration {
    region: RegionIdx,
    number: u32,
}

impl Iteration {
    fn new(model: &Model, number: u32) -> Result<Iteration, SelectionError> {
        let region = model.main_loop().ok_or(SelectionError::NoLoop)?;
        let numbers = model.slowest.get(region as usize).into_iter().flatten().map(|slowest| slowest.iteration);
        if numbers.clone().any(|known| known == number) {
            return Ok(Iteration { region, number });
        }
        let path = model.regions.get(region as usize).map_or(String::new(), |region| region.path.clone());
        let (first, last) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
        Err(SelectionError::NoIteration { number, path, first, last })
    }

    /// When it begins and ends on `rank`, NaN where that is not known; `None` where the rank does not have it.
    fn of(&self, rank: &RankModel) -> Option<(f64, f64)> {
        let Series { numbers, begin_s, end_s, .. } = rank.series(self.region)?;
        let at = numbers.binary_search(&self.number).ok()?;
        Some((*begin_s.get(at)?, *end_s.get(at)?))
    }
}
