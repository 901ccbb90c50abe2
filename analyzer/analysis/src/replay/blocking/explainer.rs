//! Explains the waits of a segment batch by batch: records the threads' histories, finds the causes of each wait, and sums them up.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::batch::{BlockingInterval, HistoryBatch, HistoryStart};
use super::causes::{CauseFinder, DelaySource, ThreadWait};
use super::critical_path::CriticalPathFinder;
use super::delays::{DelaySums, DelayTotals, TimedSample};
use super::history::{StateDuration, ThreadHistory};
use super::states::ThreadStates;
use super::tables::{WaitTotals, WaitsAndCauses, add_each};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::exact_sum::ExactNs;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::waits::{WaitKey, WaitState, WaitSums};
use crate::partial_result::PartialResult;

/// Intervals and causes of all histories together from which on old ones are forgotten.
pub const MAX_INTERVALS: usize = 1 << 22;
/// Intervals and causes per thread below which nothing is forgotten.
const MIN_PER_THREAD: usize = 1 << 8;

#[derive(Default)]
pub struct WaitExplainer {
    states: ThreadStates,
    histories: Vec<ThreadHistory>,
    causes: CauseFinder,
    path: CriticalPathFinder,
    sums: WaitTotals,
    delays: DelayTotals,
    /// The critical path, once its end is known; at a cut one for each rank that entered last.
    paths: Vec<PathToEnd>,
    /// Intervals and causes from which on old ones are forgotten.
    most: usize,
    kept: usize,
}

#[derive(Debug, Encode, Decode)]
pub struct ExplainedWaits {
    pub waits: WaitsAndCauses,
    /// The critical path; at a cut one for each rank that entered last, since the path goes on from any of them.
    pub paths: Vec<PathToEnd>,
    /// The code by which threads make others wait, where they were sampled.
    pub delays: DelaySums,
    pub kept: usize,
}

#[derive(Clone, Debug, Encode, Decode)]
pub struct PathToEnd {
    origin: u32,
    end: u32,
    /// Nanoseconds on it, by thread and kind.
    pub sums: BTreeMap<(u32, RegionState), ExactNs>,
}

impl PathToEnd {
    /// Prepends the path of `before` that ends where this one begins: the first, where that thread came to the cut before the last did.
    fn prepend(mut self, before: &[PathToEnd]) -> PathToEnd {
        if let Some(before) = before.iter().find(|path| path.end == self.origin).or(before.first()) {
            add_each(&mut self.sums, before.sums.clone());
            self.origin = before.origin;
        }
        self
    }
}

impl PartialResult for ExplainedWaits {
    fn merge(mut self, after: ExplainedWaits) -> ExplainedWaits {
        self.waits.add(after.waits);
        self.paths = after.paths.into_iter().map(|path| path.prepend(&self.paths)).collect();
        self.delays = self.delays.merge(after.delays);
        self.kept = self.kept.max(after.kept);
        self
    }
}

impl WaitExplainer {
    /// Creates an explainer with empty histories. Critical paths begin at `from`. If all histories have `most` intervals and causes, old ones
    /// are forgotten. The samples of the ranks' first threads, by rank, show the code that makes others wait.
    pub fn new(from: Ns, most: usize, samples: Arc<Vec<Vec<TimedSample>>>) -> Self {
        let causes = CauseFinder::new(samples.iter().any(|samples| !samples.is_empty()));
        let (path, delays) = (CriticalPathFinder::new(from), DelayTotals::new(samples));
        WaitExplainer { path, most, causes, delays, ..WaitExplainer::default() }
    }

    /// Takes in a batch, which continues the last one. The intervals of all threads are added before the first wait is explained: its paths end
    /// before it, so that later intervals do not matter.
    pub fn take(&mut self, batch: &HistoryBatch) {
        for begin in batch.begins.iter() {
            self.begin(begin);
        }
        for ((thread, history), intervals) in (0..).zip(&mut self.histories).zip(&batch.intervals) {
            for interval in intervals {
                let state = self.states.intern(thread, interval.kind);
                if interval.waits {
                    history.wait(interval.end, state);
                } else {
                    history.spend(interval.end, state);
                }
            }
        }
        let mut sources = batch.sources.as_slice();
        for (wait, n) in &batch.waits {
            let (own, others) = sources.split_at(*n);
            sources = others;
            self.explain(wait, own);
        }
    }

    /// Forgets old history where there is too much of it; `now`: all threads have been followed until then.
    pub fn forget(&mut self, now: Ns) {
        let all: usize = self.histories.iter().map(ThreadHistory::size).sum();
        self.kept = self.kept.max(all);
        if all < self.most.max(MIN_PER_THREAD * self.histories.len()) {
            return;
        }
        // Threads that ended long ago have nothing left to forget.
        let begin = self.histories.iter().filter(|one| one.size() > 0).map(ThreadHistory::begin).min().unwrap_or(0);
        let middle = begin + (now - begin).max(0) / 2;
        self.path.sum_up(&self.states, &self.histories, middle);
        for history in self.histories.iter_mut() {
            history.forget_before(middle);
        }
    }

    /// Follows the critical path back from the end of the window. `ends` are threads, and when the window of each ended. If several ended last at
    /// the same time, the path ends at one that did not wait then.
    pub fn follow_path(&mut self, ends: &[(u32, Ns)]) {
        if let Some((end, _, Reverse(last))) = ends
            .iter()
            .filter_map(|&(thread, end)| {
                let past = self.histories.get(thread as usize)?.backwards(Ns::MIN, end).next();
                Some((end, past.is_none_or(|past| past.wait.is_none()), Reverse(thread)))
            })
            .max()
        {
            self.paths = vec![self.path_to(last, end)];
        }
    }

    /// Follows a path back from `time` for each of `threads`, which were the last to come to a cut, at that time.
    pub fn follow_paths_to(&mut self, threads: &[u32], time: Ns) {
        self.paths = threads.iter().map(|&thread| self.path_to(thread, time)).collect();
    }

    fn path_to(&self, end: u32, time: Ns) -> PathToEnd {
        let (path, origin) = self.path.to(&self.states, &self.histories, end, time);
        let sums = path.into_iter().map(|(key, ns)| (key, ExactNs::from_f64(ns)));
        PathToEnd { origin, end, sums: sums.collect() }
    }

    pub fn finish(self) -> ExplainedWaits {
        ExplainedWaits {
            waits: self.sums.finish(&self.states),
            delays: self.delays.finish(&self.states),
            paths: self.paths,
            kept: self.kept,
        }
    }

    fn begin(&mut self, &HistoryStart { at, late, counted, rank }: &HistoryStart) {
        self.delays.begin(rank);
        let thread = self.histories.len() as u32;
        let mut history = ThreadHistory::new(if late { 0 } else { at });
        if late && at > 0 {
            let kind = RegionState::new(0, Activity::Management);
            let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::LateBegin };
            let cause = StateDuration::new(self.states.intern(thread, kind), at as f64);
            let counted = WaitSums { count: 1, waiting: counted, delay: 0 };
            self.sums.add(&self.states, key, at, counted, &[cause]);
            history.wait(at, cause.state);
            history.explain(None, &[cause]);
        }
        self.histories.push(history);
    }

    /// Finds the causes of a wait, which is the first unexplained one of its thread.
    fn explain(&mut self, wait: &BlockingInterval, sources: &[DelaySource]) {
        let (thread, end) = (wait.key.thread, wait.end());
        let waiting = ThreadWait { histories: &self.histories, thread, time: TimeInterval::new(wait.begin, end) };
        let found = self.causes.find_causes(&mut self.states, waiting, sources);
        self.sums.add(&self.states, wait.key, end - wait.begin, wait.counted, found);
        let share = wait.in_any_region as f64 / (end - wait.begin) as f64;
        self.sums.add_in_any_region(&self.states, share, found);
        self.histories[thread as usize].explain(Some(wait.by), found);
        let share = (wait.counted.waiting + wait.counted.delay) as f64 / (end - wait.begin) as f64;
        for own in self.causes.own_causes().iter().filter(|_| share > 0.0) {
            self.delays.add(&self.histories, own, share);
        }
    }
}
