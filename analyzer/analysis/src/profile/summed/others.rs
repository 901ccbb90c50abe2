//! The threads of a rank other than the one that called MPI_Init: only their total is of interest.
//!
//! A program may create threads for ever, and a log may name as many as it has records. So once there are too many, the sums of all are added up.
//! A thread with more records starts again at the head of its batch.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::format::BatchHead;

use crate::profile::summed::sums::{ThreadSums, ThreadTotals};
use crate::read::span::TickSpan;

/// Maximum number of threads whose sums are kept apart; each takes some 10 kB.
const MOST_APART: usize = 256;

#[derive(Default)]
pub(in crate::profile) struct OtherThreadSums {
    apart: BTreeMap<u32, ThreadSums>,
    /// The sums of the threads that are no longer apart.
    sums: ThreadTotals,
    /// Numbers of the threads that have records.
    numbers: BTreeSet<u32>,
}

impl OtherThreadSums {
    pub(in crate::profile) fn thread_sums_mut(&mut self, head: &BatchHead, span: TickSpan) -> &mut ThreadSums {
        // Adding to long lists is slow: the longer they are, the more is added at once.
        if self.apart.len() >= MOST_APART.max(self.sums.rest.sites.len() / 64) && !self.apart.contains_key(&head.thread)
        {
            self.add_up();
        }
        self.apart.entry(head.thread).or_insert_with(|| ThreadSums::new(head, span, None))
    }

    fn add_up(&mut self) {
        let mut all = Vec::with_capacity(self.apart.len());
        for (number, thread) in std::mem::take(&mut self.apart) {
            let sums = thread.finish();
            if sums.rest.records > 0 {
                self.numbers.insert(number);
            }
            all.push(sums);
        }
        // By halves, so that each list is merged only a few times.
        while all.len() > 1 {
            let mut halves = all.into_iter();
            let mut added = Vec::new();
            while let Some(mut one) = halves.next() {
                if let Some(other) = halves.next() {
                    one.add_other(other);
                }
                added.push(one);
            }
            all = added;
        }
        for one in all {
            self.sums.add_other(one);
        }
    }

    pub(in crate::profile) fn finish(mut self) -> (u32, ThreadTotals) {
        self.add_up();
        (u32::try_from(self.numbers.len()).unwrap_or(u32::MAX), self.sums)
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::{Operation, Record};

    use super::*;

    #[test]
    fn threads_add_up_to_the_same_however_many_there_are() {
        let mut others = OtherThreadSums::default();
        // Each thread makes a call that lasts 10 ticks, and another one when all have made theirs.
        let n = 3 * MOST_APART as u32;
        for (first, begin) in [(0, 100), (1, 1000)] {
            for thread in 1..=n {
                let head = BatchHead { thread, first, previous_end: begin, ..BatchHead::default() };
                let call = Record { end: begin + 10, ..Record::new(Operation::Barrier, begin) };
                others.thread_sums_mut(&head, TickSpan::ALL).records(&head, &[call]);
                assert!(others.apart.len() <= MOST_APART);
            }
        }
        let (found, sums) = others.finish();
        assert_eq!((found, sums.rest.calls, sums.rest.records), (n, 2 * u64::from(n), 2 * u64::from(n)));
        let ticks: u64 = sums.rest.sites.iter().map(|(_, cell)| cell.ticks).sum();
        assert_eq!(ticks, 20 * u64::from(n));
    }
}
