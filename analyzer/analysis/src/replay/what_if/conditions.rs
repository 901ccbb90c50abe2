//! Conditions under which a run is replayed.

use std::sync::Arc;

use super::pace::ComputationPace;
use super::threads::ThreadChange;
use crate::model::recorder_time::RecorderShares;

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

/// The duration of computation in a replay, as a multiple of the measured one.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioWork<'a> {
    Measured,
    /// In a region and its inner regions.
    Region {
        /// By index of the region: whether the change applies to it.
        regions: Vec<bool>,
        /// Factors by index of the rank.
        factors: Vec<f64>,
    },
    /// Factors by index of the region without inner ones, and by index of the rank; a region without factors is as measured.
    Regions(Vec<Vec<f64>>),
    /// The factors of one rank, by its index in the model, and by index of the region without inner ones; a region without a factor is as
    /// measured.
    Rank(u32, Vec<f64>),
    /// Factors by index of the rank, and by time.
    Times(Vec<ComputationPace<'a>>),
    Threads(ThreadChange),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioConditions<'a> {
    pub network: ScenarioNetwork,
    pub work: ScenarioWork<'a>,
    /// The recorder's shares of computation, which are left out with the time of writing logs; `None`: the recorder's time is as it was.
    pub without_recorder: Option<Arc<RecorderShares>>,
}

/// Returns values by index in the whole, from values by index in the part; `absent` if the part has no such index.
fn in_whole<T: Clone>(own: &[T], absent: &T, indices: &[Option<u32>]) -> Vec<T> {
    indices.iter().map(|at| at.and_then(|at| own.get(at as usize)).unwrap_or(absent).clone()).collect()
}

/// Converts values by region and rank likewise.
fn by_region_in_whole(own: &[Vec<f64>], absent: f64, regions: &[Option<u32>], ranks: &[Option<u32>]) -> Vec<Vec<f64>> {
    let own: Vec<Vec<f64>> = own.iter().map(|by_rank| in_whole(by_rank, &absent, ranks)).collect();
    in_whole(&own, &Vec::new(), regions)
}

impl<'a> ScenarioConditions<'a> {
    /// Converts the work to a model that contains the condition's model as a part. By index of the region, and of the rank, in the whole, the
    /// parameters have the index in the part. Regions and ranks that the part lacks are as measured.
    pub fn in_whole(self, regions: &Arc<[Option<u32>]>, ranks: &[Option<u32>]) -> ScenarioConditions<'a> {
        let work = match self.work {
            ScenarioWork::Measured => ScenarioWork::Measured,
            ScenarioWork::Region { regions: own, factors } => ScenarioWork::Region {
                regions: in_whole(&own, &false, regions),
                factors: in_whole(&factors, &1.0, ranks),
            },
            ScenarioWork::Regions(own) => ScenarioWork::Regions(by_region_in_whole(&own, 1.0, regions, ranks)),
            ScenarioWork::Threads(ThreadChange::Spread(own)) => {
                ScenarioWork::Threads(ThreadChange::Spread(by_region_in_whole(&own, 0.0, regions, ranks)))
            }
            ScenarioWork::Threads(balanced) => ScenarioWork::Threads(balanced),
            ScenarioWork::Times(times) => {
                let times = in_whole(&times, &ComputationPace::default(), ranks);
                ScenarioWork::Times(times.into_iter().map(|pace| pace.in_whole(regions)).collect())
            }
            ScenarioWork::Rank(one, own) => match ranks.iter().position(|&at| at == Some(one)) {
                Some(at) => ScenarioWork::Rank(at as u32, in_whole(&own, &1.0, regions)),
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

    pub const MEASURED: ScenarioConditions<'static> =
        ScenarioConditions { network: ScenarioNetwork::Measured, work: ScenarioWork::Measured, without_recorder: None };
}
