//! The threads' activities and waits in a batch, as they are handed to the wait analysis.

use super::causes::DelaySource;
use super::history::EndedBy;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::{WaitKey, WaitSums};
use crate::replay::fetch::fetch;

/// A thread that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistoryStart {
    pub at: Ns,
    /// True if this is the first thread of its rank and others began at 0.
    pub late: bool,
    /// Nanoseconds before that count as its wait.
    pub counted: Ns,
    /// The place of the rank whose first thread it is.
    pub rank: Option<u32>,
}

/// An interval of a thread's time, from the end of the one before.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchInterval {
    pub end: Ns,
    pub kind: RegionState,
    /// True if it is the next of the thread's waits.
    pub waits: bool,
}

/// A blocking interval: a wait.
#[derive(Clone, Copy, Debug)]
pub struct BlockingInterval {
    /// The waiting thread, with the place and reason of the wait.
    pub key: WaitKey,
    /// From when.
    pub begin: Ns,
    /// Waiting before and after the need was satisfied; together until the wait was over.
    pub sums: WaitSums,
    /// The counted part of the waiting: what lies in the selected part of the run.
    pub counted: WaitSums,
    /// Nanoseconds of it in the selected time, in any region; 0 unless a region is selected.
    pub in_any_region: Ns,
    /// The thread that ended the wait.
    pub by: EndedBy,
}

impl BlockingInterval {
    /// Until when.
    pub fn end(&self) -> Ns {
        self.begin + self.sums.waiting + self.sums.delay
    }
}

/// A batch of the threads' histories. Of each thread it is known in the order of time; waits are in the order in which they were found out,
/// so that what caused one was found out before it.
#[derive(Debug, Default)]
pub struct HistoryBatch {
    /// Threads that begin, by number.
    pub(super) begins: Vec<HistoryStart>,
    /// By number of the thread.
    pub(super) intervals: Vec<Vec<BatchInterval>>,
    /// Each with the number of its sources.
    pub(super) waits: Vec<(BlockingInterval, usize)>,
    pub(super) sources: Vec<DelaySource>,
}

impl HistoryBatch {
    /// Adds the next thread, which begins at a time. `counted` nanoseconds before that count as its wait.
    pub fn begin(&mut self, at: Ns, late: bool, counted: Ns) {
        self.begins.push(HistoryStart { at, late, counted, rank: None });
    }

    /// Marks the thread that was added last as the first one of the rank with this index.
    pub fn mark_first_of(&mut self, rank: u32) {
        if let Some(begin) = self.begins.last_mut() {
            begin.rank = Some(rank);
        }
    }

    /// Adds an interval of a thread in one state, until `end`.
    #[inline]
    pub fn spend(&mut self, thread: u32, kind: RegionState, end: Ns) {
        self.push_interval(thread, BatchInterval { end, kind, waits: false });
    }

    /// A thread waits, because of these.
    pub fn wait(&mut self, wait: BlockingInterval, sources: impl Iterator<Item = DelaySource>) {
        let end = wait.end();
        if end <= wait.begin {
            return;
        }
        let before = self.sources.len();
        self.sources.extend(sources);
        self.waits.push((wait, self.sources.len() - before));
        self.push_interval(wait.key.thread, BatchInterval { end, kind: wait.key.kind, waits: true });
    }

    /// Has the processor fetch what says where the next interval of a thread goes.
    #[inline]
    pub fn fetch_early(&self, thread: u32) {
        if let Some(intervals) = self.intervals.get(thread as usize) {
            fetch(intervals);
        }
    }

    /// Has the processor fetch the end of the intervals of a thread that was fetched before.
    #[inline]
    pub fn fetch_end_early(&self, thread: u32) {
        if let Some(last) = self.intervals.get(thread as usize).and_then(|intervals| intervals.last()) {
            fetch(last);
        }
    }

    #[inline]
    fn push_interval(&mut self, thread: u32, interval: BatchInterval) {
        match self.intervals.get_mut(thread as usize) {
            Some(intervals) => intervals.push(interval),
            None => self.push_first_interval(thread, interval),
        }
    }

    #[cold]
    fn push_first_interval(&mut self, thread: u32, interval: BatchInterval) {
        self.intervals.resize_with(thread as usize + 1, Vec::new);
        self.intervals[thread as usize].push(interval);
    }

    /// Returns the number of threads, up to and with the last that has done anything.
    pub fn threads(&self) -> usize {
        self.intervals.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.begins.clear();
        self.intervals.iter_mut().for_each(Vec::clear);
        self.waits.clear();
        self.sources.clear();
    }
}
