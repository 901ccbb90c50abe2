//! Measures how long calls waited for their needs, for which rank and why. Waits that count are handed on to be explained.

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::explanation_queue::ExplanationQueue;
use super::sync_times::{PairSync, SyncTimes};
use super::{ContinuedThread, NewThread};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::waits::{WaitKey, WaitState, WaitSums};
use crate::replay::blocking::{BlockingInterval, DelaySource, EndedBy, ExplainedWaits, HistoryStart};
use crate::replay::comm_members::CommMembers;
use crate::replay::ended_call::{CallWait, EndedCall};
use crate::replay::observers::scope::ReplayScope;
use crate::replay::timeline::TimelineStep;

pub struct WaitAnalysis<'a, 'scope> {
    scope: &'a ReplayScope,
    ranks: Vec<u32>,
    sync_times: SyncTimes<'a>,
    explaining: ExplanationQueue<'a, 'scope>,
    /// If the last call waited: its thread, and the thread that ended the wait.
    last_wait: Option<(u32, u32)>,
    has_ended: bool,
}

impl<'a, 'scope> WaitAnalysis<'a, 'scope> {
    pub fn new(scope: &'a ReplayScope, members: &'a CommMembers<'a>, explaining: ExplanationQueue<'a, 'scope>) -> Self {
        let sync_times = SyncTimes::new(members);
        WaitAnalysis { scope, ranks: Vec::new(), sync_times, explaining, last_wait: None, has_ended: false }
    }

    /// Lets what is known be explained: all threads have been followed until `now`. `ends`: once all threads have passed the ends of
    /// their windows, these, for the critical path; looked at once.
    pub fn hand_over(&mut self, now: Ns, ends: impl FnOnce() -> Option<Vec<(u32, Ns)>>) {
        let ends = self.new_ends(ends);
        self.explaining.hand_over(now, ends);
    }

    pub fn finish(mut self, ends: impl FnOnce() -> Option<Vec<(u32, Ns)>>) -> ExplainedWaits {
        let ends = self.new_ends(ends);
        self.explaining.finish(&ends).finish()
    }

    /// Returns the explained waits, and the critical paths to `threads`, which were the last to come to a cut, at `time`.
    pub fn finish_at(self, threads: &[u32], time: Ns) -> ExplainedWaits {
        let mut explainer = self.explaining.finish(&[]);
        explainer.follow_paths_to(if self.scope.has_path() { threads } else { &[] }, time);
        explainer.finish()
    }

    /// Returns the time at which all members of a communicator last synchronised.
    pub fn last_collective(&self, comm: u32) -> Option<Ns> {
        self.sync_times.last_collective(comm)
    }

    fn new_ends(&mut self, ends: impl FnOnce() -> Option<Vec<(u32, Ns)>>) -> Vec<(u32, Ns)> {
        let is_wanted = !self.has_ended && self.scope.has_path();
        let ends = is_wanted.then(ends).flatten();
        self.has_ended |= ends.is_some();
        ends.unwrap_or_default()
    }

    /// Returns a wait from `begin` until the awaited event was `done`, and from there until `end`.
    fn blocking_interval(&self, key: WaitKey, begin: Ns, done: Ns, end: Ns, by: EndedBy) -> BlockingInterval {
        let rank = self.ranks[key.thread as usize];
        let [first, waiting, delay] = [(begin, begin.saturating_add(1)), (begin, done), (done, end)]
            .map(|(begin, end)| self.scope.counts(rank, key.kind, key.operation != 0, TimeInterval { begin, end }));
        BlockingInterval {
            key,
            begin,
            sums: WaitSums { count: 1, waiting: done - begin, delay: end - done },
            counted: WaitSums { count: u64::from(first > 0), waiting, delay },
            in_any_region: self.scope.counts_in_any_region(rank, TimeInterval::new(begin, end)),
            by,
        }
    }

    fn add_wait(&mut self, call: &EndedCall, wait: CallWait) {
        let TimeInterval { begin, end } = call.time;
        let all: f64 = call.waited_for().map(|need| (need.by.at.min(end) - begin) as f64).sum();
        let last = wait.last;
        let &TimelineStep { kind, site, operation, .. } = call.step;
        let key = WaitKey { thread: call.thread, kind, site, operation, state: last.state };
        let sync_times = &self.sync_times;
        let sources = call.waited_for().map(|need| DelaySource {
            by: need.by,
            since: match need.state {
                WaitState::Lock => begin,
                _ => sync_times.last_before(call.thread, need.by.thread, need.by.at).min(begin),
            },
            share: (need.by.at.min(end) - begin) as f64 / all,
            // Other messages may have come long before.
            delay: need.delay.filter(|_| need.by.at == last.by.at),
        });
        let interval = self.blocking_interval(key, begin, last.by.at.min(wait.until), wait.until, last.by);
        self.explaining.batch.wait(interval, sources);
    }

    pub fn on_thread_start(&mut self, thread: NewThread) {
        let NewThread { rank_idx: rank, world_rank, number, begin, goes_on } = thread;
        self.ranks.push(rank);
        self.sync_times.add_thread(world_rank);
        let of_rank = Some(rank).filter(|_| number == 0);
        let batch = &mut self.explaining.batch;
        match goes_on {
            None => {
                let before = TimeInterval::new(0, begin);
                let counted = self.scope.counts(rank, RegionState::new(0, Activity::Management), false, before);
                batch.begins.push(HistoryStart { at: begin, late: number == 0, counted, rank: of_rank });
            }
            Some(ContinuedThread { since, kind }) => {
                batch.begins.push(HistoryStart { at: since, late: false, counted: 0, rank: of_rank });
                batch.spend(self.ranks.len() as u32 - 1, kind, begin);
            }
        }
    }

    #[inline]
    pub fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval) {
        if !time.is_empty() {
            self.explaining.batch.spend(thread, kind, time.end);
        }
    }

    #[inline]
    pub fn on_call(&mut self, call: &EndedCall) {
        self.last_wait = call.wait.map(|wait| (call.thread, wait.last.by.thread));
        if let Some(wait) = call.wait {
            self.add_wait(call, wait);
        }
        self.explaining.batch.spend(call.thread, call.step.kind, call.time.end);
    }

    #[inline]
    pub fn on_pair_sync(&mut self, sync: PairSync) {
        let sync = self.last_wait.map_or(sync, |(waited, ended_by)| sync.with_wait(waited, ended_by));
        self.sync_times.record_pair(sync);
    }

    pub fn on_collective_sync(&mut self, comm: u32, at: Ns) {
        self.sync_times.record_collective(comm, at);
    }

    pub fn on_early_end(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        let TimeInterval { begin, end } = idle;
        let by = EndedBy { thread: last, at: end };
        let since = self.sync_times.last_before(thread, last, end).min(begin);
        let kind = RegionState::new(0, Activity::Management);
        let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::EarlyEnd };
        let source = DelaySource { by, since, share: 1.0, delay: None };
        let wait = self.blocking_interval(key, begin, end, end, by);
        self.explaining.batch.wait(wait, std::iter::once(source));
    }
}
