//! Conditions under which a run is replayed.

use std::sync::Arc;

use super::pace::Pace;
use super::threads::ThreadChange;

/// The network of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Network {
    /// As it was: what calls took besides waiting they take again.
    Measured,
    /// Every call takes no time besides waiting, and messages arrive `latency_s` seconds, and a second for each
    /// `bytes_per_s` bytes, after they are sent. A collective takes that for each of the log2 P steps of a tree.
    Given {
        /// Seconds; 0: ideal.
        latency_s: f64,
        /// Bytes per second; infinite: ideal.
        bytes_per_s: f64,
    },
}

impl Network {
    /// Latency 0, bandwidth ∞.
    pub const IDEAL: Network = Network::Given { latency_s: 0.0, bytes_per_s: f64::INFINITY };
}

/// How long computation takes in a replay: so many times as long as it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Work<'a> {
    /// As long as it did.
    Measured,
    /// In a region and those in it.
    Region {
        /// By index of the region: whether it is one of them.
        regions: Vec<bool>,
        /// By place of the rank in the model.
        factors: Vec<f64>,
    },
    /// By index of the region, without inner ones, and by place of the rank in the model; a region without factors is as it was.
    Regions(Vec<Vec<f64>>),
    /// Of one rank, by its place in the model, and by index of the region, without inner ones; a region without a factor is as it was.
    Rank(u32, Vec<f64>),
    /// By place of the rank in the model, and by time.
    Times(Vec<Pace<'a>>),
    /// A change of what the ranks' threads do.
    Threads(ThreadChange),
}

/// Conditions of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// The network.
    pub network: Network,
    /// The computation.
    pub work: Work<'a>,
}

/// Numbers by index of the region and place of the rank in the whole, of those in the part; `absent` for ranks that this does not have.
fn by_region_in_whole(
    own: &[Vec<f64>],
    absent: f64,
    regions: &Arc<[Option<u32>]>,
    ranks: &[Option<u32>],
) -> Vec<Vec<f64>> {
    let by_rank = |numbers: &Vec<f64>| -> Vec<f64> {
        ranks.iter().map(|at| at.and_then(|at| numbers.get(at as usize).copied()).unwrap_or(absent)).collect()
    };
    regions.iter().map(|at| at.and_then(|at| own.get(at as usize)).map(by_rank).unwrap_or_default()).collect()
}

impl<'a> Condition<'a> {
    /// The same in a model of which that of the condition is a part: by index of the region, and by place of the rank, in the whole, those
    /// in the part. What the part does not have is as measured.
    pub fn in_whole(self, regions: &Arc<[Option<u32>]>, ranks: &[Option<u32>]) -> Condition<'a> {
        let work = match self.work {
            Work::Measured => Work::Measured,
            Work::Region { regions: own, factors } => Work::Region {
                regions: regions
                    .iter()
                    .map(|at| at.and_then(|at| own.get(at as usize).copied()).unwrap_or(false))
                    .collect(),
                factors: ranks
                    .iter()
                    .map(|at| at.and_then(|at| factors.get(at as usize).copied()).unwrap_or(1.0))
                    .collect(),
            },
            Work::Regions(own) => Work::Regions(by_region_in_whole(&own, 1.0, regions, ranks)),
            Work::Threads(ThreadChange::Spread(own)) => {
                Work::Threads(ThreadChange::Spread(by_region_in_whole(&own, 0.0, regions, ranks)))
            }
            Work::Threads(balanced) => Work::Threads(balanced),
            Work::Times(mut times) => Work::Times(
                ranks
                    .iter()
                    .map(|at| at.and_then(|at| times.get_mut(at as usize)).map(std::mem::take).unwrap_or_default())
                    .map(|pace| pace.in_whole(regions))
                    .collect(),
            ),
            Work::Rank(one, own) => match ranks.iter().position(|&at| at == Some(one)) {
                Some(at) => {
                    let of_region = |at: &Option<u32>| at.and_then(|at| own.get(at as usize).copied()).unwrap_or(1.0);
                    Work::Rank(at as u32, regions.iter().map(of_region).collect())
                }
                None => Work::Measured,
            },
        };
        Condition { work, ..self }
    }

    /// The measured computation on an ideal network: its time is T_ideal.
    pub const IDEAL: Condition<'static> = Condition { network: Network::IDEAL, work: Work::Measured };

    /// Everything as it was: its time is the measured one.
    pub const MEASURED: Condition<'static> = Condition { network: Network::Measured, work: Work::Measured };
}
