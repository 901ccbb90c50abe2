//! Finds repeated actions and their rates: marked iterations, or recurring calls.

use super::job_load::recent_slices;
use super::rank_activity::{RankActivity, RepeatedAction};
use super::time_slices::SLICE_NS;
use lbprof_thresholds::watch::MIN_TIMES_OF_RATE;

/// An action that was repeated lately, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionRate {
    pub what: RepeatedAction,
    pub per_second: f64,
}

/// Finds the iterations of the region with the fewest, or else the call that recurs as often as most others.
pub fn find_recurrence(activity: &RankActivity) -> Option<ActionRate> {
    let (first, end) = recent_slices(activity);
    let length_s = (end - first) as f64 * SLICE_NS as f64 / 1e9;
    let found: Vec<(RepeatedAction, f64)> =
        activity.recurring(first, end).filter(|(_, times)| *times >= MIN_TIMES_OF_RATE).collect();
    let iterations = found.iter().filter(|(what, _)| matches!(what, RepeatedAction::Iterations(_)));
    let fewest_iterations = iterations.min_by(|a, b| a.1.total_cmp(&b.1));
    let (what, times) = fewest_iterations.or_else(|| most_typical(&found))?;
    (length_s > 0.0).then(|| ActionRate { what: *what, per_second: times / length_s })
}

/// Returns the action that recurs as often as most others, with a fixed choice among several.
fn most_typical(found: &[(RepeatedAction, f64)]) -> Option<&(RepeatedAction, f64)> {
    found.iter().max_by(|(a, a_times), (b, b_times)| {
        let [a_alike, b_alike] =
            [a_times, b_times].map(|times| found.iter().filter(|(_, others)| (others - times).abs() <= 1.0).count());
        a_alike.cmp(&b_alike).then(b_times.total_cmp(a_times)).then(b.cmp(a))
    })
}
