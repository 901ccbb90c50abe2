//! Efficiencies and states over the run, by time windows and by blocks of iterations.

use lbprof_collector::Activity;
use serde::Serialize;

use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_analysis::model::{IterationSeries, Model, RegionIdx};
use lbprof_analysis::views::timeline::state_name;

const MOST_BLOCKS: usize = 20;

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

/// Successive iterations of the main loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct BlockRow {
    /// The number of the first.
    pub first: u32,
    /// The number of the last.
    pub last: u32,
    /// Efficiencies in them. The elapsed time is from the begin of the first rank's first to the end of the last rank's last.
    #[serde(flatten)]
    pub efficiency: PartEfficiency,
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

/// Splits the main loop into at most [`MOST_BLOCKS`] blocks of equal size. Returns nothing if there is no loop, or its computation is unknown.
pub(crate) fn block_rows(model: &Model) -> Vec<BlockRow> {
    let Some(region) = model.main_loop() else { return Vec::new() };
    let series: Vec<Option<&IterationSeries>> = model.ranks.iter().map(|rank| rank.series(region)).collect();
    let mut numbers: Vec<u32> = series.iter().flatten().flat_map(|series| series.numbers.iter().copied()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let entering = model.entering_blocks(region);
    numbers.retain(|number| !entering.contains(number));
    let mut blocks = Vec::new();
    for block in numbers.chunks(numbers.len().div_ceil(MOST_BLOCKS).max(1)) {
        let (first, last) = (block[0], block[block.len() - 1]);
        let passed = passed_in(model, region, first, last);
        let (mut begin_s, mut end_s) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut computation = vec![0.0; series.len()];
        for (own, series) in computation.iter_mut().zip(&series) {
            let Some(series) = series else { continue };
            let from = series.numbers.partition_point(|&number| number < first);
            let to = series.numbers.partition_point(|&number| number <= last);
            for at in from..to {
                if !entering.contains(&series.numbers[at]) {
                    *own += series.seconds_at(Activity::Computation, at);
                }
                begin_s = begin_s.min(series.begin_s[at]);
                end_s = end_s.max(series.end_s[at]);
            }
        }
        if end_s > begin_s && begin_s.is_finite() && end_s.is_finite() {
            let efficiency = PartEfficiency::from_model(model, &computation, end_s - begin_s);
            blocks.push(BlockRow { first: passed.0, last: passed.1, efficiency });
        }
    }
    blocks
}

/// Returns the first and last iteration from `first` to `last`, which may be numbers of blocks.
fn passed_in(model: &Model, region: RegionIdx, first: u32, last: u32) -> (u32, u32) {
    let Some(joined) = model.joined.get(&region) else { return (first, last) };
    let inside = joined.in_blocks(first, last);
    (inside.first().map_or(first, |one| one.number), inside.last().map_or(last, |one| one.number))
}
