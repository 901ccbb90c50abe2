//! Computation at the edges of a loop that was found in the calls.
//!
//! ```text
//!   rank 0    |== 12 ==|send|== 6 ==|send|== 6 ==|send|            an iteration ends with the send: the first 12 are outside
//!   rank 1    |recv ...|== 6 ==|send|recv|== 6 ==|send|            nothing is outside
//!   rank 2    |recv ......|== 6 ==|recv|== 6 ==|recv|== 12 ==|     an iteration ends with the receive: the last 12 are outside
//! ```
//!
//! An iteration ends with a call. So the computation before a loop's first call, and after its last, lies outside of the loop. It may be
//! the body of one more iteration, or reading the input, which no balance of iterations touches. Here it counts as part of the loop where it
//! is about as long as the rank's iterations are.

use lbprof_collector::Activity;
use lbprof_thresholds::replay::{MAX_ITERATION_TO_EDGE, MAX_LENGTH_OF_EDGE};

use super::mean::{factors_to_mean as to_mean, mean_of_who_computes};
use crate::model::{CallTotals, IterationSeries, Model, RankModel, RegionIdx};

/// Returns the factor of each rank's computation outside of the iterations of `regions` if the edges are balanced.
pub(super) fn edge_factors(model: &Model, regions: &[RegionIdx]) -> Vec<f64> {
    let all_s = model.inclusive_s(0, Activity::Computation);
    let edges: Vec<f64> =
        model.ranks.iter().zip(&all_s).map(|(rank, all_s)| edge_s(rank, regions, *all_s).unwrap_or(0.0)).collect();
    to_mean(&edges, mean_of_who_computes(&edges))
}

/// Returns the seconds that a rank, which computes `all_s` seconds in all, computes at the edges of `regions`, or `None` if its computation
/// outside of their iterations is something else.
fn edge_s(rank: &RankModel, regions: &[RegionIdx], all_s: f64) -> Option<f64> {
    let known = regions.iter().filter_map(|&region| rank.series(region));
    let is_found = known.clone().any(|series| !series.entering.is_empty());
    let iterations = IterationLengths::from_series(known);
    let outside_s = all_s - iterations.sum_s;
    (is_found && iterations.compare(outside_s) == EdgeLength::Alike).then_some(outside_s)
}

/// Returns whether the code of `edge`, at an edge of `found_loop`, is as long as an iteration of some ranks, and longer on none.
pub(super) fn is_edge(model: &Model, edge: RegionIdx, found_loop: RegionIdx) -> bool {
    let lengths = model.ranks.iter().filter_map(|rank| {
        let iterations = IterationLengths::from_series(rank.series(found_loop).into_iter());
        let cell = computation_cell(rank, edge).filter(|_| iterations.longest_s > 0.0)?;
        let once_s = rank.exclusive(edge)[Activity::Computation as usize] / cell.calls.max(1) as f64;
        Some(iterations.compare(once_s))
    });
    let lengths: Vec<EdgeLength> = lengths.collect();
    lengths.contains(&EdgeLength::Alike) && !lengths.contains(&EdgeLength::Longer)
}

fn computation_cell(rank: &RankModel, region: RegionIdx) -> Option<&CallTotals> {
    let at = rank.cells.binary_search_by_key(&(region, Activity::Computation), |(key, _)| *key).ok()?;
    Some(&rank.cells[at].1)
}

pub(super) fn count_passes(rank: &RankModel, region: RegionIdx) -> u64 {
    computation_cell(rank, region).map_or(0, |cell| cell.calls)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EdgeLength {
    /// Much shorter than any.
    Shorter,
    Alike,
    /// Much longer than any.
    Longer,
}

struct IterationLengths {
    sum_s: f64,
    /// The shortest in which it computes.
    shortest_s: f64,
    longest_s: f64,
}

impl IterationLengths {
    fn from_series<'a>(known: impl Iterator<Item = &'a IterationSeries>) -> IterationLengths {
        let mut lengths = IterationLengths { sum_s: 0.0, shortest_s: f64::MAX, longest_s: 0.0 };
        for &own_s in known.flat_map(|series| &series.seconds[Activity::Computation as usize]) {
            lengths.sum_s += own_s;
            if own_s > 0.0 {
                lengths.shortest_s = lengths.shortest_s.min(own_s);
                lengths.longest_s = lengths.longest_s.max(own_s);
            }
        }
        lengths
    }

    fn compare(&self, edge_s: f64) -> EdgeLength {
        match edge_s {
            _ if edge_s > MAX_LENGTH_OF_EDGE * self.longest_s => EdgeLength::Longer,
            _ if MAX_ITERATION_TO_EDGE * edge_s < self.shortest_s => EdgeLength::Shorter,
            _ => EdgeLength::Alike,
        }
    }
}
