//! Merges the records of a rank's first thread with records of threads that take its place while it sleeps.
//!
//! ```text
//!   first thread   |Init|............... pthread_join ...............|Finalize|
//!   a worker             |== computes ==|Sendrecv|== computes ==|Sendrecv|
//!   merged         |Init|== computes ===|Sendrecv|== computes ==|Sendrecv|....|
//! ```
//!
//! To readers, the merged records are records of the first thread, with new sequence numbers. The caller decides which threads are merged.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::definition::Definition;
use crate::format::BatchHead;
use crate::operation::Operation;
use crate::reader::LogItem;
use crate::record::{NONE, Record};

const BATCH: usize = 4096;

/// A stream of a log's items, of which records are still to come.
#[derive(Default)]
struct RecordQueue {
    records: VecDeque<Record>,
    is_at_end: bool,
}

impl RecordQueue {
    fn needs_more(&self) -> bool {
        self.records.is_empty() && !self.is_at_end
    }
}

#[derive(Default)]
pub(crate) struct ThreadMerge {
    threads: BTreeSet<u32>,
    own: RecordQueue,
    others: RecordQueue,
    head: Option<BatchHead>,
    is_in_others: bool,
    end: u64,
    /// The number of the next iteration, by region: each thread numbers its own.
    next_iterations: HashMap<u32, u32>,
}

impl ThreadMerge {
    pub(crate) fn new(threads: BTreeSet<u32>) -> Self {
        ThreadMerge { threads, ..ThreadMerge::default() }
    }

    /// Returns the next item. `own` reads the log, and `others` reads it a second time for the records of the other threads, which lie elsewhere in it.
    pub(crate) fn next_item(
        &mut self,
        mut own: impl FnMut() -> Option<LogItem>,
        mut others: impl FnMut() -> Option<LogItem>,
    ) -> Option<LogItem> {
        loop {
            if self.own.needs_more() {
                match own() {
                    Some(LogItem::Records { head, records }) if head.thread == 0 => {
                        self.head.get_or_insert(head);
                        self.own.records.extend(records);
                    }
                    Some(LogItem::Records { head, .. }) if self.threads.contains(&head.thread) => {}
                    // A summary is of one thread.
                    Some(LogItem::Summary(_)) => {}
                    Some(item) => return Some(item),
                    None => self.own.is_at_end = true,
                }
            } else if self.others.needs_more() {
                match others() {
                    Some(LogItem::Records { head, records }) if self.threads.contains(&head.thread) => {
                        self.others.records.extend(records);
                    }
                    Some(LogItem::Definitions(list)) => {
                        return Some(LogItem::Definitions(list.into_iter().filter(is_referred_to).collect()));
                    }
                    Some(_) => {}
                    None => self.others.is_at_end = true,
                }
            } else {
                return self.merge_batch();
            }
        }
    }

    /// Returns the next merged records, as far as their order is known, or `None` at the end.
    fn merge_batch(&mut self) -> Option<LogItem> {
        let mut records = Vec::new();
        while records.len() < BATCH
            && !self.own.needs_more()
            && !self.others.needs_more()
            && let Some(mut record) = self.take_next()
        {
            // If threads overlap, each instant belongs to the call that began first.
            record.begin = record.begin.max(self.end);
            record.end = if record.end == 0 { 0 } else { record.end.max(record.begin) };
            self.end = record.begin.max(record.end);
            self.number_iteration(&mut record);
            records.push(record);
        }
        if records.is_empty() {
            return None;
        }
        let mut head = self.head.take().unwrap_or_default();
        let mut next = head.clone();
        next.advance(&records);
        head.thread = 0;
        self.head = Some(next);
        Some(LogItem::Records { head, records })
    }

    /// Numbers the iteration that a marker begins or ends, if any, after the iterations of the threads before.
    fn number_iteration(&mut self, record: &mut Record) {
        if record.count == NONE {
            return;
        }
        match record.operation() {
            Some(Operation::RegionEnter) => {
                let next = self.next_iterations.entry(record.request).or_insert(record.count);
                record.count = *next;
                *next = next.wrapping_add(1);
            }
            Some(Operation::RegionLeave) => {
                let next = self.next_iterations.get(&record.request);
                record.count = next.map_or(record.count, |next| next.wrapping_sub(1));
            }
            _ => {}
        }
    }

    fn take_next(&mut self) -> Option<Record> {
        let (own, others) = (self.own.records.front(), self.others.records.front());
        let current = if self.is_in_others { others } else { own };
        self.is_in_others = match (own, others) {
            _ if current.is_some_and(Record::is_part) => self.is_in_others,
            (Some(own), Some(others)) => others.begin < own.begin,
            (own, _) => own.is_none(),
        };
        if self.is_in_others { self.others.records.pop_front() } else { self.own.records.pop_front() }
    }
}

/// Returns whether records refer to a definition. It must come before them, and may come twice.
fn is_referred_to(definition: &Definition) -> bool {
    use Definition::{CallSite, Communicator, Counter, Function, Group, Module, Neighbours, Object, Region};
    matches!(
        definition,
        Module(_)
            | CallSite(_)
            | Region(_)
            | Communicator(_)
            | Object(_)
            | Counter(..)
            | Function(_)
            | Group(_)
            | Neighbours(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(begin: u64, end: u64) -> Record {
        Record { end, ..Record::new(Operation::Barrier, begin) }
    }

    fn batch(thread: u32, first: u64, records: &[Record]) -> LogItem {
        LogItem::Records { head: BatchHead { thread, first, ..BatchHead::default() }, records: records.to_vec() }
    }

    fn merge(items: &[fn() -> LogItem], threads: &[u32]) -> (Vec<Record>, Vec<BatchHead>, usize) {
        let (mut own, mut others) = (items.iter(), items.iter());
        let mut merge = ThreadMerge::new(threads.iter().copied().collect());
        let (mut records, mut heads, mut rest) = (Vec::new(), Vec::new(), 0);
        while let Some(item) = merge.next_item(|| own.next().map(|item| item()), || others.next().map(|item| item())) {
            match item {
                LogItem::Records { head, records: found } if head.thread == 0 => {
                    heads.push(head);
                    records.extend(found);
                }
                _ => rest += 1,
            }
        }
        (records, heads, rest)
    }

    #[test]
    fn records_are_merged_by_time_wherever_they_stand() {
        let part = || Record { end: 35, ..Record::new(Operation::Completed, 35) };
        let items: [fn() -> LogItem; 4] = [
            || batch(1, 0, &[call(20, 22), call(30, 35)]),
            || batch(1, 2, &[Record { end: 35, ..Record::new(Operation::Completed, 35) }, call(50, 60)]),
            || batch(2, 0, &[call(1, 2)]),
            || batch(0, 0, &[call(10, 12), call(33, 34), call(70, 71)]),
        ];
        let (records, heads, rest) = merge(&items, &[1]);
        // A call that begins within another one follows it; parts stay with their call.
        let expected = [call(10, 12), call(20, 22), call(30, 35), part(), call(35, 35), call(50, 60), call(70, 71)];
        assert_eq!(records, expected);
        assert_eq!(rest, 1, "the third thread's batch");
        let (mut first, ends) = (0, heads.iter().skip(1).map(|head| head.first).chain([7]));
        for (head, end) in heads.iter().zip(ends) {
            assert_eq!(head.first, first);
            first = end;
        }
    }

    #[test]
    fn iterations_of_threads_are_numbered_after_one_another() {
        fn iteration(begin: u64, number: u32) -> [Record; 2] {
            let marker = |operation, at| Record { request: 5, count: number, ..Record::new(operation, at) };
            [marker(Operation::RegionEnter, begin), marker(Operation::RegionLeave, begin + 5)]
        }
        let items: [fn() -> LogItem; 3] = [
            || batch(1, 0, &[iteration(20, 0), iteration(30, 1)].concat()),
            || batch(2, 0, &[iteration(40, 0), iteration(50, 1)].concat()),
            || batch(0, 0, &[call(10, 12)]),
        ];
        let (records, ..) = merge(&items, &[1, 2]);
        let numbers: Vec<u32> = records[1..].iter().map(|record| record.count).collect();
        assert_eq!(numbers, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn nothing_is_merged_where_there_is_nothing() {
        let items: [fn() -> LogItem; 1] = [|| batch(0, 0, &[call(10, 12)])];
        assert_eq!(merge(&items, &[1]).0, [call(10, 12)]);
        assert!(merge(&[], &[1]).0.is_empty());
    }
}
