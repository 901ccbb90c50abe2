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
mod surveyed_run;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bincode::{Decode, Encode};
use rayon::prelude::*;

pub use self::distributed::{decline_share, follow_share};
use self::reading::{ReplaySegment, ReplaySegments, SegmentReading};
use self::surveyed_run::{LocalRanks, LookupTables, leading, open, own_places, setting};
pub use self::surveyed_run::{ReplayOptions, SurveyedRun};
use super::consistent_cut::ConsistentCut;
use super::engine::{ReplayEngine, ReplaySetting};
use super::observer::{ObserverState, ReplayObserver, SegmentObserver};
use super::segment_result::SegmentResult;
use super::timeline::RunIds;
use super::what_if::ScenarioConditions;
use crate::model::replay_results::ReplayResults;
use crate::model::what_if::WhatIfScenario;
use crate::read::pass::FoldProgress;
use crate::read::read_ahead::ReadAhead;
use crate::transport::TransportFailure;

/// Maximum number of segments that are replayed at a time. Each needs memory for the state of all ranks.
const MAX_AT_A_TIME: usize = 8;

/// Replays a run as it was and in what-if scenarios.
///
/// Errors: a process that takes part failed.
pub fn follow(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    progress: impl Fn(FoldProgress) + Sync,
) -> Result<ReplayResults, TransportFailure> {
    let model = surveyed.model;
    let team = distributed::find_team(surveyed, &options)?;
    let own = if team.is_some() { own_places(surveyed) } else { 0..model.ranks.len() };
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, options.observer.is_some());
    let ranks = LocalRanks::open(surveyed, ids, own.clone(), &options);
    let can_cut = options.can_cut(model) && ranks.are_all();
    let LocalRanks { logs, samples } = ranks;
    let (team, samples) = match team {
        Some(team) => match distributed::start_replay(team, own.clone(), can_cut, samples)? {
            Some(samples) => (Some(team), samples),
            None => return follow(surveyed, ReplayOptions { input: None, ..options }, progress),
        },
        None => (None, samples),
    };
    let ReplayOptions { scope, scenarios, observer, most_kept, segment_steps, .. } = options;
    let (scenarios, conditions): (Vec<WhatIfScenario>, Vec<ScenarioConditions>) = scenarios.into_iter().unzip();
    let mut setting = setting(model, scope, conditions, samples, most_kept);
    if team.is_none() {
        setting.unread = logs.iter().map(Option::is_none).collect();
    }
    let leading = leading(&setting, segment_steps);
    let reading = SegmentReading::new(logs, own.start, model.ranks.len(), leading);
    let following = SegmentReplay { surveyed, ids, setting: &setting, progress: &progress };
    let part = match (team, observer) {
        (Some(team), observer) => following.replay_distributed(team, reading, observer)?,
        (None, Some(observer)) if observer.fork_for_segment().is_none() => {
            following.one_after_another(ReplaySegments::new(reading, can_cut), observer)
        }
        (None, observer) => following.side_by_side(ReplaySegments::new(reading, can_cut), observer),
    };
    Ok(part.of_run(model, scenarios))
}

/// The replay of a run's segments.
struct SegmentReplay<'a, P> {
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    setting: &'a ReplaySetting<'a>,
    progress: &'a P,
}

/// The output of one or more segments.
#[derive(Encode, Decode)]
struct SegmentOutput {
    result: SegmentResult,
    /// The observations, if there is an observer.
    observed: Option<ObserverState>,
}

/// The start of a segment, or `None` at the start of the run.
type SegmentStart = Option<Arc<ConsistentCut>>;

/// The output of a segment, or its start if the run cannot be cut at its end.
type SegmentOutcome = Result<SegmentOutput, SegmentStart>;

impl<'a, P: Fn(FoldProgress) + Sync> SegmentReplay<'a, P> {
    /// Replays as many segments at a time as there are cores, at most [`MAX_AT_A_TIME`], each with its own observer. The next ones are read
    /// meanwhile.
    fn side_by_side(
        &self,
        mut segments: ReplaySegments<'a>,
        observer: Option<&mut dyn ReplayObserver>,
    ) -> SegmentResult {
        let at_a_time = at_a_time();
        let mut found = JoinedSegments { part: None, observer };
        let mut next = segments.next(at_a_time);
        while !next.is_empty() {
            let follow = found.with_observers(next);
            let (followed, read) = rayon::join(|| self.segments(follow), || segments.next(at_a_time));
            let joined = followed.into_iter().try_for_each(|one| one.map(|one| found.add(one)));
            if let Err(from) = joined {
                drop((segments, read));
                return self.to_end(self.rest_from(from), found);
            }
            next = read;
        }
        self.to_end(segments.take_rest(), found)
    }

    /// Replays segments that end with a cut, each on one core.
    fn segments(
        &self,
        segments: Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + '_>>)>,
    ) -> Vec<SegmentOutcome> {
        segments.into_par_iter().map(|(segment, observer)| self.segment(segment, observer)).collect()
    }

    fn segment(
        &self,
        segment: ReplaySegment<'a>,
        mut observer: Option<Box<dyn SegmentObserver + '_>>,
    ) -> SegmentOutcome {
        let ReplaySegment { from, inputs, to } = segment;
        let part = rayon::scope(|tasks| {
            let observer = observer.as_mut().map(|observer| observer as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, observer);
            to.filter(|to| engine.follow_to(to, self.progress)).map(|to| engine.finish_at(&to))
        });
        Ok(SegmentOutput { result: part.ok_or(from)?, observed: observer.map(SegmentObserver::into_state) })
    }

    /// Replays the last segment, and merges its result into those of the earlier ones.
    fn to_end(&self, segment: ReplaySegment<'a>, found: JoinedSegments) -> SegmentResult {
        let ReplaySegment { from, inputs, .. } = segment;
        let part = rayon::scope(|tasks| {
            let observer = found.observer.map(|observer| &mut *observer as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, observer);
            engine.follow_to_end(self.progress);
            engine.finish()
        });
        merge_after(found.part, part)
    }

    /// Reads the remainder of the run from a cut on once more.
    fn rest_from(&self, cut: Option<Arc<ConsistentCut>>) -> ReplaySegment<'a> {
        let logs = self.setting.model.ranks.iter().map(|rank| open(self.surveyed, self.ids, rank));
        ReplaySegment::all_from(cut, logs.collect())
    }

    /// Replays one segment after another, so that the observer sees all of a rank's activities in the order of time. The next one is read
    /// meanwhile.
    fn one_after_another(&self, mut segments: ReplaySegments<'a>, observer: &mut dyn ReplayObserver) -> SegmentResult {
        let mut all = None;
        let mut next = segments.next(1).pop();
        while let Some(ReplaySegment { from, inputs, to }) = next {
            let (part, goes_on) = rayon::scope(|tasks| {
                let ahead = ReadAhead::begin(tasks, move || {
                    let next = segments.next(1).pop();
                    (segments, next)
                });
                let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, Some(&mut *observer));
                let cut = to.filter(|to| engine.follow_to(to, self.progress));
                match (cut, ahead.wait()) {
                    (Some(cut), Some(read)) => (engine.finish_at(&cut), Some(read)),
                    (_, read) => {
                        if let Some((mut segments, next)) = read {
                            if let Some(next) = next {
                                engine.add(next.inputs);
                            }
                            engine.add(segments.take_rest().inputs);
                        }
                        engine.follow_to_end(self.progress);
                        (engine.finish(), None)
                    }
                }
            });
            let found = merge_after(all, part);
            match goes_on {
                Some(read) => (all, (segments, next)) = (Some(found), read),
                None => return found,
            }
        }
        self.to_end(segments.take_rest(), JoinedSegments { part: all, observer: Some(observer) })
    }
}

/// The merged results of the segments so far.
struct JoinedSegments<'w> {
    part: Option<SegmentResult>,
    /// The observer of the whole run.
    observer: Option<&'w mut dyn ReplayObserver>,
}

impl JoinedSegments<'_> {
    /// Forks an observer for each segment.
    fn with_observers<'a>(
        &self,
        segments: Vec<ReplaySegment<'a>>,
    ) -> Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + '_>>)> {
        with_observers(self.observer.as_deref(), segments)
    }

    /// Adds the output of the segments that follow.
    fn add(&mut self, later: SegmentOutput) {
        self.part = Some(merge_after(self.part.take(), later.result));
        if let Some((observer, observed)) = self.observer.as_mut().zip(later.observed) {
            observer.merge(observed);
        }
    }
}

/// Forks an observer for each segment.
fn with_observers<'a, 'w>(
    observer: Option<&'w dyn ReplayObserver>,
    segments: Vec<ReplaySegment<'a>>,
) -> Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + 'w>>)> {
    segments.into_iter().map(|segment| (segment, observer.and_then(ReplayObserver::fork_for_segment))).collect()
}

/// Returns the number of segments that this process replays at a time.
fn at_a_time() -> usize {
    rayon::current_num_threads().clamp(1, MAX_AT_A_TIME)
}

/// Merges the result of the preceding segments, if any, with that of the next one.
fn merge_after(before: Option<SegmentResult>, part: SegmentResult) -> SegmentResult {
    match before {
        Some(before) => before.merge(part),
        None => part,
    }
}
