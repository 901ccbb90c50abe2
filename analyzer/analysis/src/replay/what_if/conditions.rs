//! Conditions under which a run is replayed.

use super::pace::ComputationPace;
use super::threads::ThreadChange;

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

/// Conditions of a replay. Regions and ranks are indices in the model of the part that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioConditions<'a> {
    pub network: ScenarioNetwork,
    pub work: ScenarioWork<'a>,
}

impl ScenarioConditions<'_> {
    /// The measured computation on an ideal network: its time is T_ideal.
    pub const IDEAL: ScenarioConditions<'static> =
        ScenarioConditions { network: ScenarioNetwork::IDEAL, ..ScenarioConditions::MEASURED };

    pub const MEASURED: ScenarioConditions<'static> =
        ScenarioConditions { network: ScenarioNetwork::Measured, work: ScenarioWork::Measured };
}
