//! A rank's run as one profile a thread: what its log ends with, so that a first look at a large run needs nothing else of it.
//!
//! ```text
//!   batches of the thread     |— first —|— second —|— … —|— last —|
//!   its summary               |———————— sums of all of them ——————|
//! ```
//!
//! It is bounded: of more iterations than [`most_iterations`] only the sums over all of them are kept, and the summary says so.

use bincode::{Decode, Encode};

use crate::format::LogHeader;
use crate::profile::{ProfileBatch, ProfileCell, ThreadProfile, merge_equal_keys};
use crate::record::NONE;

/// The profile of a thread's whole run.
#[derive(Clone, Debug, PartialEq, Default, Encode, Decode)]
pub struct ThreadSummary {
    /// The run's id.
    pub run_id: u64,
    /// The rank.
    pub rank: u32,
    /// Iterations that were too many to be kept one by one: the sums have no iterations then. 0: all are there.
    pub left_out: u64,
    /// The sums, and where the thread's records begin and end.
    pub batch: ProfileBatch,
}

/// Returns the maximum number of iterations, over all regions, that a thread's summary keeps. Larger runs keep fewer, so that the summaries of all ranks
/// fit into memory.
pub fn most_iterations(n_ranks: u32) -> usize {
    const OF_ALL: usize = 1 << 25;
    (OF_ALL / n_ranks.max(1) as usize).clamp(128, 4096)
}

/// A summary while its thread records.
#[derive(Debug)]
pub struct SummarySums {
    run_id: u64,
    rank: u32,
    most: usize,
    sums: Option<ThreadSummary>,
    is_broken: bool,
}

impl SummarySums {
    /// Creates empty sums of a thread of this run and rank, which keep at most `most_iterations` iterations.
    pub fn new(run_id: u64, rank: u32, most_iterations: usize) -> Self {
        SummarySums { run_id, rank, most: most_iterations, sums: None, is_broken: false }
    }

    /// Adds the next batch. If records are missing before it, there will be no summary.
    pub fn add(&mut self, batch: ProfileBatch) {
        let Some(all) = &mut self.sums else {
            self.is_broken |= batch.head.first != 0;
            let SummarySums { run_id, rank, most, .. } = *self;
            self.sums = Some(limit_iterations(ThreadSummary { run_id, rank, left_out: 0, batch }, most));
            return;
        };
        self.is_broken |= batch.head.first != all.batch.next.first;
        if self.is_broken {
            return;
        }
        let ProfileBatch { head: _, next, entered, profile } = batch;
        let before = std::mem::take(&mut all.batch.profile);
        let added = if all.left_out > 0 { without_iterations(profile, &mut all.left_out) } else { profile };
        (all.batch.next, all.batch.entered) = (next, entered);
        all.batch.profile = before.merge(added);
        if let Some(all) = self.sums.take() {
            self.sums = Some(limit_iterations(all, self.most));
        }
    }

    /// Takes the summary, or returns `None` if nothing was folded or records are missing.
    pub fn take(&mut self) -> Option<ThreadSummary> {
        self.sums.take().filter(|_| !self.is_broken)
    }
}

fn limit_iterations(mut summary: ThreadSummary, most: usize) -> ThreadSummary {
    let profile = &summary.batch.profile;
    let in_iterations = profile.cells.iter().filter(|(key, _)| key.iteration != NONE).map(|(key, _)| *key);
    let rows = in_iterations.map(|key| (key.region, key.iteration)).collect::<Vec<_>>();
    // The cells are sorted by key.
    let n_rows = rows.chunk_by(|a, b| a == b).count();
    if summary.left_out == 0 && n_rows.max(profile.iterations.len()) > most {
        let profile = std::mem::take(&mut summary.batch.profile);
        summary.batch.profile = without_iterations(profile, &mut summary.left_out);
    }
    summary
}

/// Keeps only the sums of regions; adds the dropped iterations to `left_out`.
fn without_iterations(mut profile: ThreadProfile, left_out: &mut u64) -> ThreadProfile {
    *left_out = left_out.saturating_add((profile.iterations.len() as u64).max(1));
    profile.iterations.clear();
    for (key, _) in &mut profile.cells {
        key.iteration = NONE;
    }
    merge_equal_keys(&mut profile.cells, ProfileCell::add);
    profile
}

impl ThreadSummary {
    /// Returns the number of the thread.
    pub fn thread(&self) -> u32 {
        self.batch.head.thread
    }

    /// Returns whether it is of the rank whose log has this header.
    pub fn is_of(&self, header: &LogHeader) -> bool {
        (self.run_id, self.rank) == (header.run_id, header.rank)
    }

    /// Returns the number of records that it states.
    pub fn records(&self) -> u64 {
        self.batch.profile.records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::BatchHead;
    use crate::profile::{CellKey, RegionInvocation};

    /// A profile of `n` iterations of region 1 from number `from` on, each with a tick of computation, and one tick outside of them.
    fn batch(from: u32, n: u32) -> ProfileBatch {
        let cell = ProfileCell { ticks: 1, calls: 1, sent: 0, received: 0 };
        let key = |region, iteration| CellKey { region, iteration, activity: 0 };
        let mut cells = vec![(key(0, NONE), cell)];
        cells.extend((from..from + n).map(|iteration| (key(1, iteration), cell)));
        let iteration = |iteration| RegionInvocation { region: 1, iteration, outer: NONE, begin: 0, end: 1 };
        let profile = ThreadProfile {
            cells,
            iterations: (from..from + n).map(iteration).collect(),
            records: u64::from(n),
            ..ThreadProfile::default()
        };
        let head = |first: u32| BatchHead { first: first.into(), ..BatchHead::default() };
        ProfileBatch { head: head(from), next: head(from + n), entered: Vec::new(), profile }
    }

    #[test]
    fn of_too_many_iterations_the_sums_stay() {
        let mut sums = SummarySums::new(7, 3, 8);
        [(0, 3), (3, 6), (9, 2)].into_iter().for_each(|(from, n)| sums.add(batch(from, n)));
        let summary = sums.take().unwrap();
        assert_eq!((summary.left_out, summary.records()), (11, 11));
        let cells: Vec<_> =
            summary.batch.profile.cells.iter().map(|(key, cell)| (key.region, key.iteration, cell.ticks)).collect();
        assert_eq!(cells, [(0, NONE, 3), (1, NONE, 11)]);
        assert_eq!(summary.batch.profile.iterations, []);
    }

    #[test]
    fn where_a_batch_is_missing_there_is_no_summary() {
        for missing in [[(1, 3), (4, 4)], [(0, 3), (4, 4)]] {
            let mut sums = SummarySums::new(7, 3, 8);
            missing.into_iter().for_each(|(from, n)| sums.add(batch(from, n)));
            assert_eq!(sums.take(), None);
        }
    }

    #[test]
    fn fewer_iterations_are_kept_of_more_ranks() {
        assert_eq!([1, 4096, 100_000, u32::MAX].map(most_iterations), [4096, 4096, 335, 128]);
    }
}
