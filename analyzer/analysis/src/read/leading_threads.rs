//! Finds the threads that take the place of a rank's first thread while it sleeps, as in pthread_join or at a condition variable.
//!
//! A rank's time is that of the thread that called MPI_Init, unless that one sleeps for most of the run and others, one after the other, call MPI
//! meanwhile: then the rank is what these do. The summaries at a log's end show it.

use std::collections::BTreeSet;

use lbprof_collector::Activity;
use lbprof_collector::format::LogHeader;
use lbprof_collector::summary::ThreadSummary;
use lbprof_collector::trailer::AtEnd;
use lbprof_thresholds::metrics::MIN_SLEEP_OF_FIRST_THREAD;

use crate::read::definitions::RankDefinitions;

/// Returns the threads whose records are to be merged with those of the first one; none where it is itself at work.
pub(super) fn leading_threads(header: &LogHeader, found: &AtEnd) -> BTreeSet<u32> {
    let Some(first) = found.summaries.iter().find(|summary| summary.thread() == 0) else {
        return BTreeSet::new();
    };
    let mut definitions = RankDefinitions::default();
    for definition in found.definitions.iter().cloned() {
        definitions.add(definition);
    }
    let window_ticks =
        definitions.window_end.zip(definitions.window_begin).map_or(0, |(end, begin)| end.saturating_sub(begin));
    let tick_ns = definitions.clock(header).tick_s() * 1e9;
    let Some((before, after)) = definitions.usage.0.as_ref().zip(definitions.usage.1.as_ref()) else {
        return BTreeSet::new();
    };
    let used_ns =
        (after.thread_ns + after.thread_delayed_ns).saturating_sub(before.thread_ns + before.thread_delayed_ns);
    let asleep_ns = window_ticks.saturating_sub(mpi_ticks(first)) as f64 * tick_ns - used_ns as f64;
    let most_ticks = MIN_SLEEP_OF_FIRST_THREAD * window_ticks as f64;
    // A thread that polls does so instead of the others, or beside them.
    if asleep_ns < most_ticks * tick_ns || first.batch.profile.polls.polls > 0 {
        return BTreeSet::new();
    }
    let mut others: Vec<&ThreadSummary> = found.summaries.iter().filter(|summary| summary.thread() != 0).collect();
    others.sort_by_key(|summary| (std::cmp::Reverse(recorded_ticks(summary)), summary.thread()));
    let mut chosen: Vec<&ThreadSummary> = Vec::new();
    for summary in others {
        if chosen.iter().all(|one| !overlap(one, summary)) {
            chosen.push(summary);
        }
    }
    let is_most = chosen.iter().map(|summary| recorded_ticks(summary)).sum::<u64>() as f64 >= most_ticks;
    let calls: u64 = chosen.iter().map(|summary| summary.batch.profile.calls).sum();
    match is_most && calls >= first.batch.profile.calls {
        true => chosen.iter().map(|summary| summary.thread()).collect(),
        false => BTreeSet::new(),
    }
}

/// Returns the ticks that a thread spent in MPI.
fn mpi_ticks(summary: &ThreadSummary) -> u64 {
    let cells = &summary.batch.profile.cells;
    let in_mpi = cells.iter().filter(|(key, _)| key.activity != Activity::Computation as u8);
    in_mpi.fold(0, |sum, (_, cell)| sum.saturating_add(cell.ticks))
}

/// Returns the ticks from a thread's first record to its last.
fn recorded_ticks(summary: &ThreadSummary) -> u64 {
    summary.batch.next.previous_end.saturating_sub(summary.batch.head.previous_end)
}

/// Returns whether two threads recorded at the same time.
fn overlap(one: &ThreadSummary, other: &ThreadSummary) -> bool {
    one.batch.head.previous_end < other.batch.next.previous_end
        && other.batch.head.previous_end < one.batch.next.previous_end
}
