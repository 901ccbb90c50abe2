//! What threads did and whom they waited for, as it is handed to who explains it.

use super::causes::DelaySource;
use super::history::EndedBy;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::{WaitKey, WaitSums};

/// A thread that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistoryStart {
    pub at: Ns,
    /// As the first of its rank, and others began at 0.
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
    /// Whether it is the next of the thread's waits.
    pub waits: bool,
}

/// A blocking interval: a wait.
#[derive(Clone, Copy, Debug)]
pub struct BlockingInterval {
    /// Who waited, where and why.
    pub key: WaitKey,
    /// From when.
    pub begin: Ns,
    /// How long before and after what it waited for; together until the wait was over.
    pub sums: WaitSums,
    /// As much of that as counts: what lies in the selected part of the run.
    pub counted: WaitSums,
    /// Nanoseconds of it in the selected time, in any region; 0 unless a region is selected.
    pub in_any_region: Ns,
    /// Who ended it last.
    pub by: EndedBy,
}

impl BlockingInterval {
    /// Until when.
    pub fn end(&self) -> Ns {
        self.begin + self.sums.waiting + self.sums.delay
    }
}

/// What happened. Of each thread it is known in the order of time; waits are in the order in which they were found out, so that what
/// caused one was found out before it.
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
    /// A further thread begins at a time; its number is the next one. `counted` nanoseconds before that count as its wait.
    pub fn begin(&mut self, at: Ns, late: bool, counted: Ns) {
        self.begins.push(HistoryStart { at, late, counted, rank: None });
    }

    /// The thread that began last is the first one of the rank at this place.
    pub fn is_first_of(&mut self, rank: u32) {
        self.begins.last_mut().into_iter().for_each(|begin| begin.rank = Some(rank));
    }

    /// A thread goes on until `end` with time of a kind.
    #[inline]
    pub fn spend(&mut self, thread: u32, kind: RegionState, end: Ns) {
        self.goes_on(thread, BatchInterval { end, kind, waits: false });
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
        self.goes_on(wait.key.thread, BatchInterval { end, kind: wait.key.kind, waits: true });
    }

    #[inline]
    fn goes_on(&mut self, thread: u32, interval: BatchInterval) {
        match self.intervals.get_mut(thread as usize) {
            Some(intervals) => intervals.push(interval),
            None => self.goes_on_first(thread, interval),
        }
    }

    #[cold]
    fn goes_on_first(&mut self, thread: u32, interval: BatchInterval) {
        self.intervals.resize_with(thread as usize + 1, Vec::new);
        self.intervals[thread as usize].push(interval);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.begins.clear();
        self.intervals.iter_mut().for_each(Vec::clear);
        self.waits.clear();
        self.sources.clear();
    }
}
