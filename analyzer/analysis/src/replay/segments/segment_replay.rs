//! The replay of segments on all cores of this process.

use std::sync::Arc;

use bincode::{Decode, Encode};
use rayon::prelude::*;

use super::reading::{ReplaySegment, ReplaySegments};
use super::surveyed_run::{SurveyedRun, open_rank_steps};
use crate::partial_result::PartialResult;
use crate::read::pass::ProgressReport;
use crate::replay::cut::consistent_cut::ConsistentCut;
use crate::replay::cut::segment_result::SegmentResult;
use crate::replay::engine::{ReplayEngine, ReplaySetting};
use crate::replay::observers::observer::{ReplayObserver, SegmentObserver};
use crate::replay::timeline::RunIds;

const MAX_AT_A_TIME: usize = 8;

/// Maximum number of ranks in all segments that all processes replay at a time, if there is more than one segment. Each segment needs memory for
/// the state of all ranks.
const MOST_RANKS_AT_A_TIME: usize = 1 << 18;

pub(crate) struct SegmentReplay<'a> {
    pub(crate) surveyed: SurveyedRun<'a>,
    pub(crate) ids: RunIds<'a>,
    pub(crate) setting: &'a ReplaySetting<'a>,
    pub(crate) progress: ProgressReport<'a>,
}

/// The output of one or more segments; `T`: the observations.
#[derive(Encode, Decode)]
pub(crate) struct SegmentOutput<T> {
    pub(crate) result: SegmentResult,
    pub(crate) observed: Option<T>,
}

/// The start of a segment, or `None` at the start of the run.
pub(crate) type SegmentStart = Option<Arc<ConsistentCut>>;

/// The output of a segment, or its start if the run cannot be cut at its end.
pub(crate) type SegmentOutcome<T> = Result<SegmentOutput<T>, SegmentStart>;

impl<'a> SegmentReplay<'a> {
    /// Replays as many segments at a time as there are cores, within the limits of [`segments_at_a_time`], each with its own observer. The next ones
    /// are read meanwhile.
    pub(crate) fn side_by_side<W: SegmentObserver>(
        &self,
        mut segments: ReplaySegments<'a>,
        observer: Option<&mut W>,
    ) -> SegmentResult {
        let at_a_time = segments_at_a_time(self.setting.model.ranks.len(), 1, rayon::current_num_threads());
        let mut merged = MergedSegments { result: None, observer };
        let mut next = segments.next(at_a_time);
        while !next.is_empty() {
            let observer = merged.observer.as_deref();
            let (outcomes, read) = rayon::join(|| self.segments(next, observer), || segments.next(at_a_time));
            let joined = outcomes.into_iter().try_for_each(|outcome| outcome.map(|output| merged.add(output)));
            if let Err(from) = joined {
                drop((segments, read));
                return merged.with_last(self, self.rest_from(from));
            }
            next = read;
        }
        let rest = segments.take_rest().unwrap_or_else(|from| self.rest_from(from));
        merged.with_last(self, rest)
    }

    /// Replays segments that end with a cut, each on one core. A fork of the observer sees each of them.
    pub(crate) fn segments<W: SegmentObserver>(
        &self,
        segments: Vec<ReplaySegment<'a>>,
        observer: Option<&W>,
    ) -> Vec<SegmentOutcome<W::Observations>> {
        segments
            .into_par_iter()
            .map(|segment| {
                let mut observer = observer.map(W::fork);
                let result = self.segment(segment, observer.as_mut().map(|one| one as &mut dyn ReplayObserver))?;
                Ok(SegmentOutput { result, observed: observer.map(W::into_observations) })
            })
            .collect()
    }

    /// Replays a segment that ends with a cut. Returns its start if the run cannot be cut there.
    pub(crate) fn segment(
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

    pub(crate) fn last_segment(
        &self,
        segment: ReplaySegment<'a>,
        observer: Option<&mut dyn ReplayObserver>,
    ) -> SegmentResult {
        let ReplaySegment { from, inputs, .. } = segment;
        rayon::scope(|tasks| {
            let observer = observer.map(|observer| observer as &mut dyn ReplayObserver);
            let mut engine = ReplayEngine::new(self.setting, tasks, from.as_deref(), inputs, observer);
            engine.follow_to_end(self.progress);
            engine.finish()
        })
    }

    /// Reads the remainder of the run from a cut on once more.
    pub(crate) fn rest_from(&self, cut: Option<Arc<ConsistentCut>>) -> ReplaySegment<'a> {
        let logs = self.setting.model.ranks.iter().map(|rank| open_rank_steps(self.surveyed, self.ids, rank));
        ReplaySegment::all_from(cut, logs.collect())
    }
}

pub(crate) struct MergedSegments<'w, W> {
    pub(crate) result: Option<SegmentResult>,
    pub(crate) observer: Option<&'w mut W>,
}

impl<W: SegmentObserver> MergedSegments<'_, W> {
    pub(crate) fn add(&mut self, later: SegmentOutput<W::Observations>) {
        self.result = Some(merge_after(self.result.take(), later.result));
        if let Some((observer, observed)) = self.observer.as_mut().zip(later.observed) {
            observer.merge(observed);
        }
    }

    pub(crate) fn with_last<'a>(self, replay: &SegmentReplay<'a>, segment: ReplaySegment<'a>) -> SegmentResult {
        let observer = self.observer.map(|observer| observer as &mut dyn ReplayObserver);
        merge_after(self.result, replay.last_segment(segment, observer))
    }
}

/// Returns the number of segments that all processes together, each with this number of threads, replay at a time.
pub(crate) fn segments_at_a_time(ranks: usize, processes: usize, threads: usize) -> usize {
    let all = threads.clamp(1, MAX_AT_A_TIME).saturating_mul(processes);
    all.min((MOST_RANKS_AT_A_TIME / ranks.max(1)).max(1))
}

/// Merges the result of the preceding segments, if any, with the next one's.
pub(crate) fn merge_after(before: Option<SegmentResult>, next: SegmentResult) -> SegmentResult {
    match before {
        Some(before) => before.merge(next),
        None => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_at_a_time_have_2_to_the_18_ranks_on_however_many_processes() {
        for (ranks, most) in [(1 << 17, 2), (100_000, 2), (1 << 16, 4), (10_000, 26)] {
            assert_eq!(segments_at_a_time(ranks, 256, 8), most, "{ranks} ranks on 256 processes");
            assert!(most * ranks <= 1 << 18);
        }
        assert_eq!([1, 2, 4].map(|processes| segments_at_a_time(100_000, processes, 1)), [1, 2, 2]);
        assert_eq!([(1 << 17) + 1, 1 << 18, 1 << 24].map(|ranks| segments_at_a_time(ranks, 4, 2)), [1; 3], "one it is");
        assert_eq!(segments_at_a_time(64, 4, 2), 8, "as many as there are threads");
        assert_eq!(segments_at_a_time(64, 1, 128), 8, "of a process no more than that");
    }
}
