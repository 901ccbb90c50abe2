//! Finds the threads that take the place of a rank's first thread while it sleeps, as in pthread_join or at a condition variable.
//!
//! A rank's time is the time of the thread that called MPI_Init, unless this thread sleeps for most of the run while others, one after the
//! other, call MPI: then these stand for the rank. The summaries at a log's end show it, or else its records.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::format::{BatchHead, LogHeader};
use lbprof_collector::summary::ThreadSummary;
use lbprof_collector::trailer::AtEnd;
use lbprof_collector::{Activity, CallFlags, Operation, Record};
use lbprof_thresholds::metrics::MIN_SLEEP_OF_FIRST_THREAD;

use crate::read::definitions::RankDefinitions;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ThreadExtent {
    thread: u32,
    /// Start of its first record, or an earlier time before all records, in ticks.
    begin: u64,
    end: u64,
    in_mpi: u64,
    calls: u64,
    has_polled: bool,
}

impl From<&ThreadSummary> for ThreadExtent {
    fn from(summary: &ThreadSummary) -> ThreadExtent {
        let profile = &summary.batch.profile;
        let in_mpi = profile.cells.iter().filter(|(key, _)| key.activity != Activity::Computation as u8);
        ThreadExtent {
            thread: summary.thread(),
            begin: summary.batch.head.previous_end,
            end: summary.batch.next.previous_end,
            in_mpi: in_mpi.fold(0, |sum, (_, cell)| sum.saturating_add(cell.ticks)),
            calls: profile.calls,
            has_polled: profile.polls.polls > 0,
        }
    }
}

impl ThreadExtent {
    fn ticks(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Returns whether two threads recorded at the same time.
    fn overlaps(&self, other: &ThreadExtent) -> bool {
        self.begin < other.end && other.begin < self.end
    }

    fn add(&mut self, record: &Record) {
        self.end = self.end.max(record.begin).max(record.end);
        if record.is_call() {
            self.calls += 1;
            self.in_mpi = self.in_mpi.saturating_add(record.end.saturating_sub(record.begin));
            self.has_polled |= Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING);
        }
    }
}

/// The extents of a rank's threads by its records, for logs without summaries.
#[derive(Default)]
pub(super) struct ThreadExtents(BTreeMap<u32, ThreadExtent>);

impl ThreadExtents {
    pub(super) fn add(&mut self, head: &BatchHead, records: &[Record]) {
        let Some(first) = records.first() else { return };
        let new = ThreadExtent { thread: head.thread, begin: first.begin, end: first.begin, ..ThreadExtent::default() };
        let extent = self.0.entry(head.thread).or_insert(new);
        for record in records {
            extent.add(record);
        }
    }

    pub(super) fn leading(&self, header: &LogHeader, definitions: &RankDefinitions) -> BTreeSet<u32> {
        choose_leading(header, definitions, &self.0.values().copied().collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// Returns the threads whose records are to be merged with the first one's, by the summaries of a log; none if the first one works itself.
pub(super) fn leading_threads(header: &LogHeader, found: &AtEnd) -> BTreeSet<u32> {
    let threads: Vec<_> = found.summaries.iter().map(ThreadExtent::from).collect();
    choose_leading(header, &definitions_at_end(found), &threads).unwrap_or_default()
}

pub(super) fn definitions_at_end(found: &AtEnd) -> RankDefinitions {
    let mut definitions = RankDefinitions::default();
    definitions.extend(found.definitions.iter().cloned());
    definitions
}

/// Returns the nanoseconds for which the first thread of a rank neither ran nor waited for a core, and the length of the rank's window. Returns
/// `None` if they are not known.
fn off_core_ns(header: &LogHeader, definitions: &RankDefinitions) -> Option<(f64, f64)> {
    let window_ticks =
        definitions.window_end.zip(definitions.window_begin).map_or(0, |(end, begin)| end.saturating_sub(begin));
    let window_ns = window_ticks as f64 * definitions.clock(header).tick_s() * 1e9;
    let (before, after) = definitions.usage.0.as_ref().zip(definitions.usage.1.as_ref())?;
    let used_ns =
        (after.thread_ns + after.thread_delayed_ns).saturating_sub(before.thread_ns + before.thread_delayed_ns);
    Some((window_ns - used_ns as f64, window_ns))
}

/// Returns whether the first thread of a rank may have slept for most of the run, while other threads called MPI.
pub(super) fn may_have_leading_threads(header: &LogHeader, definitions: &RankDefinitions) -> bool {
    definitions.threads.len() > 1
        && off_core_ns(header, definitions)
            .is_some_and(|(off_core_ns, window_ns)| off_core_ns >= MIN_SLEEP_OF_FIRST_THREAD * window_ns)
}

fn choose_leading(
    header: &LogHeader,
    definitions: &RankDefinitions,
    threads: &[ThreadExtent],
) -> Option<BTreeSet<u32>> {
    let first = threads.iter().find(|thread| thread.thread == 0)?;
    let (off_core_ns, window_ns) = off_core_ns(header, definitions)?;
    let tick_ns = definitions.clock(header).tick_s() * 1e9;
    let asleep_ns = off_core_ns - first.in_mpi as f64 * tick_ns;
    // A thread that polls does so instead of the others, or beside them.
    if asleep_ns < MIN_SLEEP_OF_FIRST_THREAD * window_ns || first.has_polled {
        return None;
    }
    let mut others: Vec<&ThreadExtent> = threads.iter().filter(|thread| thread.thread != 0).collect();
    others.sort_by_key(|thread| (std::cmp::Reverse(thread.ticks()), thread.thread));
    let mut chosen: Vec<&ThreadExtent> = Vec::new();
    for thread in others {
        if chosen.iter().all(|one| !one.overlaps(thread)) {
            chosen.push(thread);
        }
    }
    let is_most = chosen.iter().map(|thread| thread.ticks()).sum::<u64>() as f64 * tick_ns
        >= MIN_SLEEP_OF_FIRST_THREAD * window_ns;
    let calls: u64 = chosen.iter().map(|thread| thread.calls).sum();
    (is_most && calls >= first.calls).then(|| chosen.iter().map(|thread| thread.thread).collect())
}
