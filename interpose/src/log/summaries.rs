//! Writes the trailer of the log: the summaries of the threads, if all of their records were folded.

use lbprof_collector::format::{BatchHead, LogHeader};
use lbprof_collector::profile::ProfileBatch;
use lbprof_collector::summary::{SummarySums, ThreadSummary, most_iterations};

use crate::run::settings::SummaryPolicy as Wanted;

/// Records that are folded at the end if none were before, which takes some 100 µs.
const CHEAP: usize = 4096;

pub struct EndedThreads {
    wanted: Wanted,
    run_id: u64,
    rank: u32,
    most_iterations: usize,
    /// Threads that have written records or sums, and the summaries of those that have ended.
    begun: usize,
    ended: Vec<ThreadSummary>,
    /// True if records could not be written: the log has fewer than were folded, or others.
    is_partial: bool,
}

impl EndedThreads {
    /// Creates an empty list for the rank whose log has this header.
    pub fn new(wanted: Wanted, header: &LogHeader) -> Self {
        let most_iterations = most_iterations(header.n_ranks);
        let LogHeader { run_id, rank, .. } = *header;
        EndedThreads { wanted, run_id, rank, most_iterations, begun: 0, ended: Vec::new(), is_partial: false }
    }

    /// Returns whether records that are written as events are folded, too, from the start.
    pub fn is_folding_events(&self) -> bool {
        self.wanted == Wanted::On
    }

    /// Returns whether `n` records, which are all of a thread, are folded when they are written at its end.
    pub fn is_folding_last(&self, n: usize) -> bool {
        self.wanted == Wanted::Auto && n <= CHEAP
    }

    /// Notes that the log has the records that follow `head`.
    pub fn wrote(&mut self, head: &BatchHead) {
        self.begun += usize::from(head.first == 0);
    }

    /// Notes that records could not be written, or were not folded.
    pub fn give_up(&mut self) {
        self.is_partial = true;
    }

    /// Adds what was folded of a thread to its summary so far.
    pub fn add(&self, sums: &mut Option<SummarySums>, batch: ProfileBatch) {
        if self.wanted != Wanted::Off {
            sums.get_or_insert_with(|| SummarySums::new(self.run_id, self.rank, self.most_iterations)).add(batch);
        }
    }

    pub fn end(&mut self, sums: Option<SummarySums>) {
        self.ended.extend(sums.and_then(|mut sums| sums.take()));
    }

    /// Takes the summaries for the log; none if one is missing.
    pub fn take(&mut self) -> Vec<ThreadSummary> {
        let are_all = !self.is_partial && self.ended.len() == self.begun;
        std::mem::take(&mut self.ended).into_iter().filter(|_| are_all).collect()
    }
}
