//! Conditions under which a run is replayed.

use std::sync::Arc;

use super::pace::ComputationPace;
use super::threads::ThreadChange;
use crate::model::recorder_time::RecorderShares;

/// The network of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScenarioNetwork {
    /// The measured network: calls take as long as they did besides waiting.
    Measured,
    /// Every call takes no time besides waiting, and messages arrive `latency_s` seconds, and a second for each
    /// `bytes_per_s` bytes, after they are sent. A collective takes the latency for each of the ⌈log2 P⌉ steps of a tree; its
    /// bytes take no time. A neighbourhood collective costs what its messages do.
    Given {
        /// Seconds; 0: ideal.
        latency_s: f64,
        /// Bytes per second; infinite: ideal.
        bytes_per_s: f64,
    },
}

impl ScenarioNetwork {
    /// Latency 0, bandwidth ∞.
    pub const IDEAL: ScenarioNetwork = ScenarioNetwork::Given { latency_s: 0.0, bytes_per_s: f64::INFINITY };
}

/// The duration of computation in a replay: so many times as long as it did.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioWork<'a> {
    /// The measured work.
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
    Times(Vec<ComputationPace<'a>>),
    /// A change of what the ranks' threads do.
    Threads(ThreadChange),
}

/// Conditions of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioConditions<'a> {
    /// The network.
    pub network: ScenarioNetwork,
    /// The computation.
    pub work: ScenarioWork<'a>,
    /// The recorder's shares of computation, which are left out with the time of writing logs; `None`: the recorder's time is as it was.
    pub without_recorder: Option<Arc<RecorderShares>>,
}

/// Numbers by index of the region and place of the rank in the whole, of those in the part; `absent` for ranks that this does not have.
fn by_region_in_whole(
    own: &[Vec<f64>],
    absent: f64,
    regions: &Arc<[Option<u32>]>,
    ranks: &[Option<u32>],
) -> Vec<Vec<f64>> {
    regions
        .iter()
        .map(|at| {
            at.and_then(|at| own.get(at as usize))
                .map(|numbers| -> Vec<f64> {
                    ranks
                        .iter()
                        .map(|at| at.and_then(|at| numbers.get(at as usize).copied()).unwrap_or(absent))
                        .collect()
                })
                .unwrap_or_default()
        })
        .collect()
}

impl<'a> ScenarioConditions<'a> {
    /// Converts the work to a model that contains the condition's model as a part: by index of the region, and by place of the rank, in the
    /// whole, those in the part. What the part does not have is as measured.
    pub fn in_whole(self, regions: &Arc<[Option<u32>]>, ranks: &[Option<u32>]) -> ScenarioConditions<'a> {
        let work = match self.work {
            ScenarioWork::Measured => ScenarioWork::Measured,
            ScenarioWork::Region { regions: own, factors } => ScenarioWork::Region {
                regions: regions
                    .iter()
                    .map(|at| at.and_then(|at| own.get(at as usize).copied()).unwrap_or(false))
                    .collect(),
                factors: ranks
                    .iter()
                    .map(|at| at.and_then(|at| factors.get(at as usize).copied()).unwrap_or(1.0))
                    .collect(),
            },
            ScenarioWork::Regions(own) => ScenarioWork::Regions(by_region_in_whole(&own, 1.0, regions, ranks)),
            ScenarioWork::Threads(ThreadChange::Spread(own)) => {
                ScenarioWork::Threads(ThreadChange::Spread(by_region_in_whole(&own, 0.0, regions, ranks)))
            }
            ScenarioWork::Threads(balanced) => ScenarioWork::Threads(balanced),
            ScenarioWork::Times(mut times) => ScenarioWork::Times(
                ranks
                    .iter()
                    .map(|at| at.and_then(|at| times.get_mut(at as usize)).map(std::mem::take).unwrap_or_default())
                    .map(|pace| pace.in_whole(regions))
                    .collect(),
            ),
            ScenarioWork::Rank(one, own) => match ranks.iter().position(|&at| at == Some(one)) {
                Some(at) => ScenarioWork::Rank(
                    at as u32,
                    regions.iter().map(|at| at.and_then(|at| own.get(at as usize).copied()).unwrap_or(1.0)).collect(),
                ),
                None => ScenarioWork::Measured,
            },
        };
        let without_recorder = self
            .without_recorder
            .map(|own| Arc::new(RecorderShares { by_region: by_region_in_whole(&own.by_region, 0.0, regions, ranks) }));
        ScenarioConditions { work, without_recorder, ..self }
    }

    /// The measured computation on an ideal network: its time is T_ideal.
    pub const IDEAL: ScenarioConditions<'static> =
        ScenarioConditions { network: ScenarioNetwork::IDEAL, ..ScenarioConditions::MEASURED };

    /// Everything as it was: its time is the measured one.
    pub const MEASURED: ScenarioConditions<'static> =
        ScenarioConditions { network: ScenarioNetwork::Measured, work: ScenarioWork::Measured, without_recorder: None };
}
