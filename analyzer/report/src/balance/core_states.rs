//! Splits computation by kernel state: user space, kernel, asleep, without a core.

use lbprof_collector::{CoreState, StateGroup};
use serde::Serialize;

use crate::rows::serial;
use lbprof_analysis::metrics::sampled::core_time::{CoreTime, RankCoreTimes};
use lbprof_analysis::model::Model;

/// The run's computation by state, and the factors that follow from it: their product is the share of computation that is useful.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CoreStateTable {
    /// A row per state that occurs.
    pub states: Vec<CoreStateRow>,
    /// Number of ranks of which it is known, and of which it is.
    pub ranks: usize,
    /// Computation less that without a core / computation.
    pub with_core: Option<f64>,
    /// Computation on a core / computation less that without a core: 1 where no rank sleeps or is stopped outside of MPI.
    pub awake: Option<f64>,
    /// Computation on a core outside of the kernel / computation on a core. Time that is not known counts as such.
    pub user_space: Option<f64>,
    /// Standard error of the mean time in user space, and in the kernel, from the number of samples.
    pub error_s: f64,
}

/// A state of computation.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct CoreStateRow {
    /// The state.
    #[serde(rename = "name", serialize_with = "serial::core_state")]
    #[schemars(with = "String")]
    pub state: CoreState,
    /// Fraction of computation.
    pub share: f64,
    /// Its mean over ranks.
    pub mean_s: f64,
    /// Its longest of a rank.
    pub max_s: f64,
    /// The rank with that time, the lowest of several.
    pub max_rank: u32,
}

impl CoreStateTable {
    /// Returns `None` if no rank's states are known.
    pub(crate) fn new(model: &Model) -> Option<CoreStateTable> {
        let known = model.ranks.iter().filter_map(|rank| Some((rank.rank, RankCoreTimes::new(rank)?.in_all())));
        let (numbers, known): (Vec<u32>, Vec<CoreTime>) = known.unzip();
        let mean = CoreTime::mean(&known);
        let computation_s: f64 = mean.seconds.iter().sum();
        if known.is_empty() || computation_s <= 0.0 {
            return None;
        }
        let mut states = Vec::new();
        for state in CoreState::ALL {
            let (mut max_s, mut max_rank) = (0.0, 0);
            for (rank, time) in numbers.iter().zip(&known) {
                if max_s < time.get(state) {
                    (max_s, max_rank) = (time.get(state), *rank);
                }
            }
            if max_s > 0.0 {
                let mean_s = mean.get(state);
                states.push(CoreStateRow { state, share: mean_s / computation_s, mean_s, max_s, max_rank });
            }
        }
        let with_core_s = computation_s - mean.in_group(StateGroup::NoCore);
        let on_core_s = with_core_s - mean.in_group(StateGroup::Asleep);
        Some(CoreStateTable {
            states,
            ranks: known.len(),
            with_core: clamped_fraction(with_core_s, computation_s),
            awake: clamped_fraction(on_core_s, with_core_s),
            user_space: clamped_fraction(on_core_s - mean.in_group(StateGroup::Kernel), on_core_s),
            error_s: mean.error_s,
        })
    }
}

fn clamped_fraction(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}
