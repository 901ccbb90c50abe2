//! The third pass: replays a run in segments, on all cores of this process ([`crate::distributed`]: of several processes).
//!
//! ```text
//!   reading.rs   the steps of all ranks, from one cut to the next ─┬→ ReplayEngine: segment 0 ─→ SegmentResult ─┐
//!                                                                  ├→ ReplayEngine: segment 1 ─→ SegmentResult ─┼→ merged in run order
//!                                                                  └→ ReplayEngine: …                           ┘
//! ```
//!
//! A segment ends at a collective that synchronises all ranks. Only the replay of the segment shows whether the run can be cut there
//! ([`super::cut::consistent_cut`]). If it cannot, everything from the start of that segment on is replayed as one. The result therefore does
//! not depend on the number of segments that are replayed at a time.
//!
//! One thing is not carried over a cut: what was inferred about the MPI library, namely up to which size sends do not wait for their
//! receivers ([`super::matching`]). Each segment infers it again.

pub(crate) mod rank_reading;
pub(crate) mod reading;
pub(crate) mod segment_replay;
pub(crate) mod surveyed_run;
#[cfg(test)]
pub(super) mod tests;

use self::reading::{ReplaySegments, SegmentReading};
use self::segment_replay::SegmentReplay;
pub(crate) use self::surveyed_run::StackSample;
use self::surveyed_run::{LocalRanks, LookupTables, choose_leading_rank};
pub use self::surveyed_run::{ReplayOptions, SurveyedRun};
use super::cut::segment_result::SegmentResult;
use super::observers::observer::{ReplayObserver, SegmentObserver};
use crate::model::replayed::replay_results::ReplayResults;
use crate::read::pass::ProgressReport;

/// Replays a run as it was and in what-if scenarios, segments at a time. A fork of the observer sees each of them.
pub fn replay_run<W: SegmentObserver>(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    observer: Option<&mut W>,
    progress: ProgressReport,
) -> ReplayResults {
    let facts = observer.is_some();
    replay_with(surveyed, options, facts, progress, |replay, segments| replay.side_by_side(segments, observer))
}

/// Replays a run as one segment, in this process alone, and shows all of it to the observer in the order of time.
pub fn replay_run_in_order(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    observer: &mut dyn ReplayObserver,
    progress: ProgressReport,
) -> ReplayResults {
    replay_with(surveyed, options, true, progress, |replay, segments| {
        let all = segments.take_rest().unwrap_or_else(|from| replay.rest_from(from));
        replay.last_segment(all, Some(observer))
    })
}

/// Replays a run by `replayed`. `facts`: whether the arguments of calls are wanted.
fn replay_with(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    facts: bool,
    progress: ProgressReport,
    replayed: impl for<'s> FnOnce(&SegmentReplay<'s>, ReplaySegments<'s>) -> SegmentResult,
) -> ReplayResults {
    let model = surveyed.model;
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, facts);
    let LocalRanks { logs, samples } = LocalRanks::open(surveyed, ids, 0..model.ranks.len(), &options);
    let can_cut = options.can_cut(model) && logs.iter().all(Option::is_some);
    let segment_steps = options.segment_steps;
    let (mut setting, scenarios) = options.into_setting(model, samples);
    setting.unread = logs.iter().map(Option::is_none).collect();
    let leading = choose_leading_rank(&setting, segment_steps);
    let reading = SegmentReading::new(logs, 0, model.ranks.len(), leading);
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
    replayed(&replay, ReplaySegments::new(reading, can_cut)).of_run(model, scenarios)
}
