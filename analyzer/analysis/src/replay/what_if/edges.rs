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

use super::mean::{factors as to_mean, mean_of_who_computes};
use crate::model::{Model, RankModel, RegionIdx};

/// Maximum length of an edge, as a multiple of the rank's longest iteration.
const LONGEST: f64 = 1.5;

/// Maximum length of a rank's shortest iteration, as a multiple of an edge: an edge may be one phase of several.
const SHORTEST: f64 = 4.0;

/// By place of the rank: how many times as long it computes outside of the iterations of `regions` where the edges are balanced.
pub(super) fn factors(model: &Model, regions: &[RegionIdx]) -> Vec<f64> {
    let all_s = model.inclusive_s(0, Activity::Computation);
    let edges: Vec<f64> =
        model.ranks.iter().zip(&all_s).map(|(rank, all_s)| edge_s(rank, regions, *all_s).unwrap_or(0.0)).collect();
    to_mean(&edges, mean_of_who_computes(&edges))
}

/// Seconds that a rank, which computes `all_s` seconds in all, computes at the edges of `regions`; `None` where what it computes outside of
/// their iterations is something else.
fn edge_s(rank: &RankModel, regions: &[RegionIdx], all_s: f64) -> Option<f64> {
    let (mut inside_s, mut shortest_s, mut longest_s) = (0.0, f64::MAX, 0.0_f64);
    let mut is_found = false;
    for series in regions.iter().filter_map(|&region| rank.series(region)) {
        is_found |= !series.entering.is_empty();
        for &own_s in &series.seconds[Activity::Computation as usize] {
            inside_s += own_s;
            if own_s > 0.0 {
                (shortest_s, longest_s) = (shortest_s.min(own_s), longest_s.max(own_s));
            }
        }
    }
    let outside_s = all_s - inside_s;
    (is_found && outside_s <= LONGEST * longest_s && SHORTEST * outside_s >= shortest_s).then_some(outside_s)
}
