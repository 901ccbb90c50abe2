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
use super::observer::{ReplayObserver, SegmentObserver};
use super::segment_result::SegmentResult;
use super::timeline::RunIds;
use super::what_if::ScenarioConditions;
use crate::model::replay_results::ReplayResults;
use crate::model::what_if::WhatIfScenario;
use crate::read::pass::ProgressReport;
use crate::read::read_ahead::ReadAhead;
use crate::transport::TransportFailure;

/// Maximum number of segments that are replayed at a time. Each needs memory for the state of all ranks.
const MAX_AT_A_TIME: usize = 8;

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
    let ReplayOptions { scope, scenarios, most_kept, segment_steps, .. } = options;
    let (scenarios, conditions): (Vec<WhatIfScenario>, Vec<ScenarioConditions>) = scenarios.into_iter().unzip();
    let mut setting = setting(model, scope, conditions, samples, most_kept);
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
    let ReplayOptions { scope, scenarios, most_kept, segment_steps, .. } = options;
    let (scenarios, conditions): (Vec<WhatIfScenario>, Vec<ScenarioConditions>) = scenarios.into_iter().unzip();
    let mut setting = setting(model, scope, conditions, samples, most_kept);
    setting.unread = logs.iter().map(Option::is_none).collect();
    let leading = leading(&setting, segment_steps);
    let reading = SegmentReading::new(logs, 0, model.ranks.len(), leading);
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
    replay.one_after_another(ReplaySegments::new(reading, can_cut), observer).of_run(model, scenarios)
}

/// The replay of a run's segments.
struct SegmentReplay<'a> {
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    setting: &'a ReplaySetting<'a>,
    progress: ProgressReport<'a>,
}

/// A segment, and the fork of the observer that sees it, if there is one.
struct ObservedSegment<'a, W> {
    segment: ReplaySegment<'a>,
    observer: Option<W>,
}

/// The output of one or more segments; `T`: the observations.
#[derive(Encode, Decode)]
struct SegmentOutput<T> {
    result: SegmentResult,
    /// The observations, if there is an observer.
    observed: Option<T>,
}

/// The start of a segment, or `None` at the start of the run.
type SegmentStart = Option<Arc<ConsistentCut>>;

/// The output of a segment, or its start if the run cannot be cut at its end.
type SegmentOutcome<T> = Result<SegmentOutput<T>, SegmentStart>;

impl<'a> SegmentReplay<'a> {
    /// Replays as many segments at a time as there are cores, at most [`MAX_AT_A_TIME`], each with its own observer. The next ones are read
    /// meanwhile.
    fn side_by_side<W: SegmentObserver>(
        &self,
        mut segments: ReplaySegments<'a>,
        observer: Option<&mut W>,
    ) -> SegmentResult {
        let at_a_time = at_a_time();
        let mut merged = MergedSegments { result: None, observer };
        let mut next = segments.next(at_a_time);
        while !next.is_empty() {
            let observed = with_observers(merged.observer.as_deref(), next);
            let (outcomes, read) = rayon::join(|| self.segments(observed), || segments.next(at_a_time));
            let joined = outcomes.into_iter().try_for_each(|outcome| outcome.map(|output| merged.add(output)));
            if let Err(from) = joined {
                drop((segments, read));
                return merged.with_last(self, self.rest_from(from));
            }
            next = read;
        }
        merged.with_last(self, segments.take_rest())
    }

    /// Replays segments that end with a cut, each on one core.
    fn segments<W: SegmentObserver>(
        &self,
        segments: Vec<ObservedSegment<'a, W>>,
    ) -> Vec<SegmentOutcome<W::Observations>> {
        segments
            .into_par_iter()
            .map(|ObservedSegment { segment, mut observer }| {
                let result = self.segment(segment, observer.as_mut().map(|one| one as &mut dyn ReplayObserver))?;
                Ok(SegmentOutput { result, observed: observer.map(W::into_observations) })
            })
            .collect()
    }

    /// Replays a segment that ends with a cut. Returns its start if the run cannot be cut there.
    fn segment(
        &self,
        segment: ReplaySegment<'a>,
        observer: Option<&mut dyn ReplayObserver>,
    ) -> Result<SegmentResult, SegmentStart> {
        let ReplaySegment { from, inputs, to } = segment;
        let result = rayon::scope(|tasks| {
            let observer = observer.map(|observer| observer as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, observer);
            to.filter(|to| engine.follow_to(to, self.progress)).map(|to| engine.finish_at(&to))
        });
        result.ok_or(from)
    }

    /// Replays the last segment, up to the end of the run.
    fn last_segment(&self, segment: ReplaySegment<'a>, observer: Option<&mut dyn ReplayObserver>) -> SegmentResult {
        let ReplaySegment { from, inputs, .. } = segment;
        rayon::scope(|tasks| {
            let observer = observer.map(|observer| observer as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, observer);
            engine.follow_to_end(self.progress);
            engine.finish()
        })
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
            let (result, goes_on) = rayon::scope(|tasks| {
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
            let merged = merge_after(all, result);
            match goes_on {
                Some(read) => (all, (segments, next)) = (Some(merged), read),
                None => return merged,
            }
        }
        merge_after(all, self.last_segment(segments.take_rest(), Some(observer)))
    }
}

/// The merged results of the segments so far.
struct MergedSegments<'w, W> {
    result: Option<SegmentResult>,
    /// The observer of the whole run.
    observer: Option<&'w mut W>,
}

impl<W: SegmentObserver> MergedSegments<'_, W> {
    /// Adds the output of the segments that follow.
    fn add(&mut self, later: SegmentOutput<W::Observations>) {
        self.result = Some(merge_after(self.result.take(), later.result));
        if let Some((observer, observed)) = self.observer.as_mut().zip(later.observed) {
            observer.merge(observed);
        }
    }

    /// Replays the last segment, and returns the result of all.
    fn with_last<'a>(self, replay: &SegmentReplay<'a>, segment: ReplaySegment<'a>) -> SegmentResult {
        let observer = self.observer.map(|observer| observer as &mut dyn ReplayObserver);
        merge_after(self.result, replay.last_segment(segment, observer))
    }
}

/// Forks an observer for each segment.
fn with_observers<'a, W: SegmentObserver>(
    observer: Option<&W>,
    segments: Vec<ReplaySegment<'a>>,
) -> Vec<ObservedSegment<'a, W>> {
    segments.into_iter().map(|segment| ObservedSegment { segment, observer: observer.map(W::fork) }).collect()
}

/// Returns the number of segments that this process replays at a time.
fn at_a_time() -> usize {
    rayon::current_num_threads().clamp(1, MAX_AT_A_TIME)
}

/// Merges the result of the preceding segments, if any, with that of the next one.
fn merge_after(before: Option<SegmentResult>, next: SegmentResult) -> SegmentResult {
    match before {
        Some(before) => before.merge(next),
        None => next,
    }
}
