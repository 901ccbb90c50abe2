//! Efficiencies and states over the run, by time windows.

use serde::Serialize;

use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_analysis::model::Model;
use lbprof_analysis::views::timeline::state_name;

/// A window of time; all are equally long, but the last may end after the run.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct WindowRow {
    /// Start, from the start of the run or of the selected time.
    pub begin_s: f64,
    /// End.
    pub end_s: f64,
    /// Efficiencies in it.
    #[serde(flatten)]
    pub efficiency: PartEfficiency,
    /// States of the ranks in the window.
    pub states: Vec<StateTimeRow>,
}

impl WindowRow {
    /// Returns the time of all ranks in a state.
    pub fn time_s(&self, state: &str) -> f64 {
        self.states.iter().find(|one| one.state == state).map_or(0.0, |one| one.time_s)
    }
}

/// Time of all ranks in a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct StateTimeRow {
    /// An activity, without what is waited in it, `waiting`, or a state of computation that was recorded.
    pub state: &'static str,
    /// Time in it.
    pub time_s: f64,
}

/// Efficiencies of a part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct PartEfficiency {
    /// Mean / longest computation of the ranks.
    pub load_balance: Option<f64>,
    /// Longest computation / elapsed time.
    pub communication: Option<f64>,
    /// Mean computation / elapsed time.
    pub parallel: Option<f64>,
    /// Elapsed time.
    pub elapsed_s: f64,
    /// Longest computation of a rank.
    pub max_computation_s: f64,
    /// Mean computation of the ranks.
    pub avg_computation_s: f64,
    /// The rank that computes longest, the lowest of several; null if none computes.
    pub slowest_rank: Option<u32>,
}

impl PartEfficiency {
    fn from_model(model: &Model, computation: &[f64], elapsed_s: f64) -> PartEfficiency {
        let times = EfficiencyTimes::from_computation(computation, elapsed_s, None);
        PartEfficiency {
            load_balance: times.load_balance(),
            communication: times.communication(),
            parallel: times.parallel(),
            elapsed_s,
            max_computation_s: times.max_computation_s,
            avg_computation_s: times.avg_computation_s,
            slowest_rank: crate::index_of_largest(computation).and_then(|at| model.ranks.get(at)).map(|rank| rank.rank),
        }
    }
}

/// Returns nothing if calls were not analysed one by one.
pub(crate) fn window_rows(model: &Model) -> Vec<WindowRow> {
    let Some(windows) = model.statistics.as_ref().map(|found| &found.time_windows) else { return Vec::new() };
    let (begin, end) = model.window_s();
    let whole_s = end - begin;
    let rows = (0..windows.states.len()).map(|at| {
        let begin_s = ns_to_s(windows.length * at as i64);
        let end_s = (begin_s + ns_to_s(windows.length)).min(whole_s);
        let computation: Vec<f64> = windows.computation[at].iter().map(|&ns| ns_to_s(ns)).collect();
        let states = windows.states[at].iter().enumerate().filter(|(_, ns)| **ns > 0);
        WindowRow {
            begin_s,
            end_s,
            efficiency: PartEfficiency::from_model(model, &computation, end_s - begin_s),
            states: states
                .map(|(number, &ns)| StateTimeRow { state: state_name(number), time_s: ns_to_s(ns) })
                .collect(),
        }
    });
    rows.collect()
}

fn ns_to_s(ns: i64) -> f64 {
    ns as f64 * 1e-9
}
