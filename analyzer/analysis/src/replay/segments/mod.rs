//! The third pass: replays a run in segments, on all cores and on several processes (distributed.rs).
//!
//! ```text
//!   reading.rs   the steps of all ranks, from one cut to the next ─┬→ ReplayEngine: segment 0 ─→ SegmentResult ─┐
//!                                                                  ├→ ReplayEngine: segment 1 ─→ SegmentResult ─┼→ merged in run order
//!                                                                  └→ ReplayEngine: …                           ┘
//! ```
//!
//! A segment ends at a collective that synchronises all ranks. Only the replay of the segment shows whether the run can be cut there
//! ([`super::consistent_cut`]). If it cannot, everything from the start of that segment on is replayed as one. The result therefore does
//! not depend on the number of segments that are replayed at a time.
//!
//! One thing is not carried over a cut: what was inferred about the MPI library, namely up to which size sends do not wait for their
//! receivers ([`super::matching`]). Each segment infers it again.

mod distributed;
mod rank_reading;
mod reading;
mod segment_replay;
mod surveyed_run;
#[cfg(test)]
mod tests;

pub use self::distributed::{decline_share, follow_share};
use self::reading::{ReplaySegments, SegmentReading};
use self::segment_replay::SegmentReplay;
use self::surveyed_run::{LocalRanks, LookupTables, leading, own_places};
pub use self::surveyed_run::{ReplayOptions, SurveyedRun};
use super::observer::{ReplayObserver, SegmentObserver};
use crate::model::replay_results::ReplayResults;
use crate::read::pass::ProgressReport;
use crate::transport::TransportFailure;

/// Replays a run as it was and in what-if scenarios, segments at a time. A fork of the observer sees each of them.
///
/// Errors: a process that takes part failed.
pub fn follow<W: SegmentObserver>(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    observer: Option<&mut W>,
    progress: ProgressReport,
) -> Result<ReplayResults, TransportFailure> {
    let model = surveyed.model;
    let team = distributed::find_team(surveyed, &options)?;
    let own = if team.is_some() { own_places(surveyed) } else { 0..model.ranks.len() };
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, observer.is_some());
    let ranks = LocalRanks::open(surveyed, ids, own.clone(), &options);
    let can_cut = options.can_cut(model) && ranks.are_all();
    let LocalRanks { logs, samples } = ranks;
    let (team, samples) = match team {
        Some(team) => match distributed::start_replay(team, own.clone(), can_cut, samples)? {
            Some(samples) => (Some(team), samples),
            None => return follow(surveyed, ReplayOptions { input: None, ..options }, observer, progress),
        },
        None => (None, samples),
    };
    let segment_steps = options.segment_steps;
    let (mut setting, scenarios) = options.into_setting(model, samples);
    if team.is_none() {
        setting.unread = logs.iter().map(Option::is_none).collect();
    }
    let leading = leading(&setting, segment_steps);
    let reading = SegmentReading::new(logs, own.start, model.ranks.len(), leading);
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
    let result = match team {
        Some(team) => replay.replay_distributed(team, reading, observer)?,
        None => replay.side_by_side(ReplaySegments::new(reading, can_cut), observer),
    };
    Ok(result.of_run(model, scenarios))
}

/// Replays a run as [`follow`] does, in this process alone, and shows all of it to the observer in the order of time.
pub fn follow_in_order(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    observer: &mut dyn ReplayObserver,
    progress: ProgressReport,
) -> ReplayResults {
    let model = surveyed.model;
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, true);
    let ranks = LocalRanks::open(surveyed, ids, 0..model.ranks.len(), &options);
    let can_cut = options.can_cut(model) && ranks.are_all();
    let LocalRanks { logs, samples } = ranks;
    let segment_steps = options.segment_steps;
    let (mut setting, scenarios) = options.into_setting(model, samples);
    setting.unread = logs.iter().map(Option::is_none).collect();
    let leading = leading(&setting, segment_steps);
    let reading = SegmentReading::new(logs, 0, model.ranks.len(), leading);
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
    replay.one_after_another(ReplaySegments::new(reading, can_cut), observer).of_run(model, scenarios)
}
