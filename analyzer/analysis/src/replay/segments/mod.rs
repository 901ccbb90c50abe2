//! The third pass in segments of the run, on all cores, and on several processes (together.rs).
//!
//! ```text
//!   reading.rs   the steps of all ranks, from one cut to the next ─┬→ engine: segment 0 ─→ Part ─┐
//!                                                                  ├→ engine: segment 1 ─→ Part ─┼→ joined in their order
//!                                                                  └→ engine: …                  ┘
//! ```
//!
//! Whether a run can be cut there ([`super::consistent_cut`]) is known only when the segment before it was followed. Where it can't, all from the begin of that
//! segment on is followed as one. So the result does not depend on how many segments are followed at a time.
//!
//! What is not known after a cut is what was learned of this MPI before it: up to which size sends do not wait for their receivers
//! ([`super::matching`]). Each segment learns it anew.

mod distributed;
mod rank_reading;
mod reading;
mod surveyed_run;
#[cfg(test)]
mod tests;

use std::sync::Arc;

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
use super::what_if::ReplayConditions;
use crate::model::replay_results::ReplayResults;
use crate::model::what_if::WhatIfScenario;
use crate::read::pass::FoldProgress;
use crate::read::read_ahead::ReadAhead;
use crate::transport::TransportFailure;

/// Most segments that are followed at a time: each needs memory for the state of all ranks.
const MOST_AT_A_TIME: usize = 8;

/// Follows the ranks of a run, and replays it in what-if scenarios.
///
/// Errors: of several processes that read it together, one failed.
pub fn follow(
    surveyed: SurveyedRun,
    options: ReplayOptions,
    progress: impl Fn(FoldProgress) + Sync,
) -> Result<ReplayResults, TransportFailure> {
    let model = surveyed.model;
    let team = distributed::team(surveyed, &options)?;
    let own = if team.is_some() { own_places(surveyed) } else { 0..model.ranks.len() };
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, options.watcher.is_some());
    let ranks = LocalRanks::open(surveyed, ids, own.clone(), &options);
    let can_cut = options.can_cut(model) && ranks.are_all();
    let LocalRanks { logs, samples } = ranks;
    let (team, samples) = match team {
        Some(team) => match distributed::begin(team, (own.clone(), can_cut), samples)? {
            Some(samples) => (Some(team), samples),
            None => return follow(surveyed, ReplayOptions { input: None, ..options }, progress),
        },
        None => (None, samples),
    };
    let unread =
        if team.is_some() { vec![false; model.ranks.len()] } else { logs.iter().map(Option::is_none).collect() };
    let ReplayOptions { scope, scenarios, watcher, most_kept, segment_steps, .. } = options;
    let (scenarios, conditions): (Vec<WhatIfScenario>, Vec<ReplayConditions>) = scenarios.into_iter().unzip();
    let setting = setting(model, (scope, conditions), (samples, unread), most_kept);
    let leading = leading(&setting, segment_steps);
    let reading = SegmentReading::new(logs, (own.start, model.ranks.len()), leading);
    let following = SegmentReplay { surveyed, ids, setting: &setting, progress: &progress };
    let part = match (team, watcher) {
        (Some(team), watcher) => following.together(team, reading, watcher)?,
        (None, Some(watcher)) if watcher.fork_for_segment().is_none() => {
            following.one_after_another(ReplaySegments::new(reading, can_cut), watcher)
        }
        (None, watcher) => following.side_by_side(ReplaySegments::new(reading, can_cut), watcher),
    };
    Ok(part.of_run(model, scenarios))
}

/// Follows the segments of a run.
struct SegmentReplay<'a, P> {
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    setting: &'a ReplaySetting<'a>,
    progress: &'a P,
}

/// The result of a segment and the state of its observer; where the run cannot be cut at its end, where it begins.
type SegmentOutcome = Result<(SegmentResult, Option<ObserverState>), Option<Arc<ConsistentCut>>>;

impl<'a, P: Fn(FoldProgress) + Sync> SegmentReplay<'a, P> {
    /// Replays as many segments at a time as there are cores, each with its own observer. The next ones are read meanwhile.
    fn side_by_side(
        &self,
        mut segments: ReplaySegments<'a>,
        watcher: Option<&mut dyn ReplayObserver>,
    ) -> SegmentResult {
        let at_a_time = at_a_time();
        let mut found = JoinedSegments { part: None, watcher };
        let mut next = segments.next(at_a_time);
        while !next.is_empty() {
            let follow = found.watched(next);
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

    /// Segments that end with a cut, each on a core.
    fn segments(
        &self,
        segments: Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + '_>>)>,
    ) -> Vec<SegmentOutcome> {
        segments.into_par_iter().map(|(segment, watcher)| self.segment(segment, watcher)).collect()
    }

    fn segment(
        &self,
        segment: ReplaySegment<'a>,
        mut watcher: Option<Box<dyn SegmentObserver + '_>>,
    ) -> SegmentOutcome {
        let ReplaySegment { from, inputs, to } = segment;
        let part = rayon::scope(|tasks| {
            let watcher = watcher.as_mut().map(|watcher| watcher as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            to.filter(|to| engine.follow_to(to, self.progress)).map(|to| engine.finish_at(&to))
        });
        Ok((part.ok_or(from)?, watcher.map(SegmentObserver::into_state)))
    }

    /// The last segment, after those of which this was found.
    fn to_end(&self, segment: ReplaySegment<'a>, found: JoinedSegments) -> SegmentResult {
        let ReplaySegment { from, inputs, .. } = segment;
        let part = rayon::scope(|tasks| {
            let watcher = found.watcher.map(|watcher| &mut *watcher as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            engine.follow_to_end(self.progress);
            engine.finish()
        });
        after(found.part, part)
    }

    /// The rest of the run from a cut on, read anew.
    fn rest_from(&self, cut: Option<Arc<ConsistentCut>>) -> ReplaySegment<'a> {
        let logs = self.setting.model.ranks.iter().map(|rank| open(self.surveyed, self.ids, rank));
        ReplaySegment::all_from(cut, logs.collect())
    }

    /// Replays one segment after another, so that the observer sees all of a rank's activities in the order of time. The next one is read
    /// meanwhile.
    fn one_after_another(&self, mut segments: ReplaySegments<'a>, watcher: &mut dyn ReplayObserver) -> SegmentResult {
        let mut all = None;
        let mut next = segments.next(1).pop();
        while let Some(ReplaySegment { from, inputs, to }) = next {
            let (part, goes_on) = rayon::scope(|tasks| {
                let ahead = ReadAhead::begin(tasks, move || {
                    let next = segments.next(1).pop();
                    (segments, next)
                });
                let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, Some(&mut *watcher));
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
            let found = after(all, part);
            match goes_on {
                Some(read) => (all, (segments, next)) = (Some(found), read),
                None => return found,
            }
        }
        self.to_end(segments.take_rest(), JoinedSegments { part: all, watcher: Some(watcher) })
    }
}

/// The merged results of the segments so far.
struct JoinedSegments<'w> {
    part: Option<SegmentResult>,
    /// The observer of the whole run.
    watcher: Option<&'w mut dyn ReplayObserver>,
}

impl JoinedSegments<'_> {
    /// Segments, each with a watcher of its own.
    fn watched<'a>(
        &self,
        segments: Vec<ReplaySegment<'a>>,
    ) -> Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + '_>>)> {
        watched(self.watcher.as_deref(), segments)
    }

    /// Adds what was found in the next ones.
    fn add(&mut self, (part, seen): (SegmentResult, Option<ObserverState>)) {
        self.part = Some(after(self.part.take(), part));
        for (watcher, seen) in self.watcher.iter_mut().zip(seen) {
            watcher.merge(seen);
        }
    }
}

/// Segments, each with a watcher of its own.
fn watched<'a, 'w>(
    watcher: Option<&'w dyn ReplayObserver>,
    segments: Vec<ReplaySegment<'a>>,
) -> Vec<(ReplaySegment<'a>, Option<Box<dyn SegmentObserver + 'w>>)> {
    segments.into_iter().map(|segment| (segment, watcher.and_then(ReplayObserver::fork_for_segment))).collect()
}

/// Returns the number of segments that this process replays at a time.
fn at_a_time() -> usize {
    rayon::current_num_threads().clamp(1, MOST_AT_A_TIME)
}

/// Merges the result of the preceding segments, if any, with that of the next one.
fn after(before: Option<SegmentResult>, part: SegmentResult) -> SegmentResult {
    match before {
        Some(before) => before.and(part),
        None => part,
    }
}
