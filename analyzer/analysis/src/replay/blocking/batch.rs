//! The threads' activities and waits in a batch, as they are handed to the wait analysis.

use super::causes::DelaySource;
use super::history::EndedBy;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::replayed::waits::{WaitKey, WaitSums};

#[derive(Clone, Copy, Debug)]
pub struct HistoryStart {
    pub at: Ns,
    /// True if this is the first thread of its rank and others began at 0.
    pub late: bool,
    /// Nanoseconds before that count as its wait.
    pub counted: Ns,
    pub rank: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BatchInterval {
    pub end: Ns,
    pub kind: RegionState,
    pub waits: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct BlockingInterval {
    pub key: WaitKey,
    pub begin: Ns,
    /// Waiting before and after the need was satisfied; together until the wait was over.
    pub sums: WaitSums,
    /// The part of the wait in the selected part of the run.
    pub counted: WaitSums,
    /// Nanoseconds of the wait in the selected time, in any region; 0 unless a region is selected.
    pub in_any_region: Ns,
    pub by: EndedBy,
}

impl BlockingInterval {
    pub fn end(&self) -> Ns {
        self.begin + self.sums.waiting + self.sums.delay
    }
}

/// A batch of the threads' histories. The intervals of each thread are in the order of time; waits are in the order in which they were found,
/// so that the causes of a wait were found before it.
#[derive(Debug, Default)]
pub struct HistoryBatch {
    /// Threads that begin, by number.
    pub begins: Vec<HistoryStart>,
    /// By number of the thread.
    pub(super) intervals: Vec<Vec<BatchInterval>>,
    /// Each with the number of its sources.
    pub(super) waits: Vec<(BlockingInterval, usize)>,
    pub(super) sources: Vec<DelaySource>,
}

impl HistoryBatch {
    #[inline]
    pub fn spend(&mut self, thread: u32, kind: RegionState, end: Ns) {
        self.push_interval(thread, BatchInterval { end, kind, waits: false });
    }

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

    #[inline]
    fn push_interval(&mut self, thread: u32, interval: BatchInterval) {
        if self.intervals.len() <= thread as usize {
            self.intervals.resize_with(thread as usize + 1, Vec::new);
        }
        self.intervals[thread as usize].push(interval);
    }

    /// Returns the number of threads, up to and with the last that has done anything.
    pub fn threads(&self) -> usize {
        self.intervals.len()
    }

    pub fn clear(&mut self) {
        self.begins.clear();
        for intervals in &mut self.intervals {
            intervals.clear();
        }
        self.waits.clear();
        self.sources.clear();
    }
}
