//! Detects waiting for targets and locks of windows that is most of what ranks lose.

use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{
    MIN_LOSS_TO_LOCKED_CODE, MIN_LOSS_TO_WINDOWS, MIN_REGAINED_BY_EVEN_WORK, MIN_WAITING_FOR_LOCKS,
    MIN_WAITING_FOR_TARGETS,
};
use lbprof_thresholds::wording::MIN_WAITING_OF_NAMED_TARGET;

use crate::Report;
use crate::losses::LossAt;
use crate::losses::finding::FindingPlace;
use crate::losses::names::place_name;

/// The reason why ranks wait in calls on windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowWait {
    /// A target that computes and moves nothing meanwhile.
    Target,
    /// A lock that a rank holds while it computes.
    Lock,
}

/// Returns what ranks wait for in calls on windows, if that is most of what they lose, and how much of the mean rank's time that is.
pub fn find_window_wait(report: &Report) -> Option<(WindowWait, f64)> {
    let n_ranks = report.ranks.len().max(1) as f64;
    match () {
        () if waits_for_targets(report) => Some((WindowWait::Target, in_calls_s(report) / n_ranks)),
        () if waits_for_locks(report) => Some((WindowWait::Lock, by_locked_code_s(report) / n_ranks)),
        () => None,
    }
}

/// Returns the time of all ranks in calls on windows.
fn in_calls_s(report: &Report) -> f64 {
    report.call_sites.iter().filter(|row| row.activity == Activity::OneSided).map(|row| row.sum.seconds).sum()
}

/// Returns how long ranks wait because of code that runs while a rank holds a lock.
fn by_locked_code_s(report: &Report) -> f64 {
    report.blocking.as_ref().map_or(0.0, |table| table.by_locked_code_s)
}

/// Returns whether most of what is lost is time in calls on windows, much of it waiting for targets, which move nothing while they compute.
///
/// Ranks that would wait for the same target's work anyway, in a barrier after their accesses, gain nothing by faster answers: even work regains
/// most of what they lose, and is the answer.
///
/// ```text
///   target    |========= work =========|lock|put|unlock|barrier|
///   origin    |== work ==|lock|put|unlock ..|barrier ..........|    an answer at once would only move the wait to the barrier
/// ```
fn waits_for_targets(report: &Report) -> bool {
    let lost_s = report.verdict.lost_s * report.ranks.len() as f64;
    let for_target_s = waited_s(report, WaitState::Target);
    in_calls_s(report) >= MIN_LOSS_TO_WINDOWS * lost_s
        && for_target_s >= MIN_WAITING_FOR_TARGETS * lost_s
        && for_target_s >= waited_s(report, WaitState::Lock)
        && regained_by_even_work_s(report) * (report.ranks.len() as f64) < MIN_REGAINED_BY_EVEN_WORK * lost_s
}

/// Returns the seconds that the run would be shorter with work that is divided in another way, by the prediction that saves most; 0 if there is none.
fn regained_by_even_work_s(report: &Report) -> f64 {
    report.what_if.best_of(|row| row.scenario.is_redistribution()).map_or(0.0, |row| row.saved_s)
}

/// Returns whether code that runs while a rank holds a lock of a window causes most of what is lost: because others wait for the lock, or for those who do.
fn waits_for_locks(report: &Report) -> bool {
    let lost_s = report.verdict.lost_s * report.ranks.len() as f64;
    lost_s > 0.0
        && by_locked_code_s(report) >= MIN_LOSS_TO_LOCKED_CODE * lost_s
        && waited_s(report, WaitState::Lock) >= MIN_WAITING_FOR_LOCKS * lost_s
}

/// Returns how long all ranks wait in a state.
fn waited_s(report: &Report, state: WaitState) -> f64 {
    let times = report.blocking.as_ref().and_then(|table| table.sums.states.get(&state));
    times.map_or(0.0, |times| times.blocked_s())
}

/// Returns the rank that causes most waiting, if that is a large part of it.
pub fn most_awaited(report: &Report) -> Option<u32> {
    let most_by = report.blocking.as_ref()?.most_by?;
    (most_by.share >= MIN_WAITING_OF_NAMED_TARGET).then_some(most_by.rank)
}

/// Returns the call in which ranks wait longest in a state.
pub fn longest_wait(report: &Report, state: WaitState) -> Option<FindingPlace> {
    let places = &report.blocking.as_ref()?.places;
    let longest = places.iter().find(|row| row.state == state)?;
    let at = LossAt { operation: longest.operation.clone(), place: longest.place.clone(), share: None };
    let text = format!("ranks wait in MPI_{} at {}", longest.operation, place_name(&longest.place));
    Some(FindingPlace { text, ..FindingPlace::from_call(&at) })
}
