//! Markers of a region's instance in the ring of the thread that starts it, where the log has records.
//!
//! A thread without a ring makes no MPI calls, and gets none for regions alone: these are in the sums.

use lbprof_collector::parallel::{MAX_MEMBERS, MemberTimes};
use lbprof_collector::parallel_marks::{InstanceThread, ParallelInstance};
use lbprof_collector::record::NONE;
use std::sync::atomic::Ordering::Relaxed;

use crate::log::is_writing_records;
use crate::machine::system::clock::read_ticks;
use crate::recording::room::append_record;
use crate::sources::openmp::switch::WANTS_EACH_THREAD;
use crate::state::thread::RecorderThread;

/// Marks the begin of an instance, and returns its time, in ticks.
#[inline]
pub fn mark_region_begin(thread: &RecorderThread, call_site: u32) -> u64 {
    if is_marked(thread) {
        append_record(thread, ParallelInstance::begin_record(read_ticks(), in_ring(call_site)));
    }
    read_ticks()
}

/// Marks the end of an instance, in which the threads of the team had these times.
#[inline]
pub fn mark_region_end<'a>(
    thread: &RecorderThread,
    instance: &ParallelInstance,
    team: impl Iterator<Item = &'a MemberTimes>,
) {
    if !is_marked(thread) {
        return;
    }
    if WANTS_EACH_THREAD.load(Relaxed) {
        for (number, times) in (0..MAX_MEMBERS as u32).zip(team) {
            for record in InstanceThread::from_times(number, instance.begin, times).records(instance) {
                append_record(thread, record);
            }
        }
    }
    for record in instance.end_records() {
        append_record(thread, record);
    }
}

/// Returns whether the calling thread has a ring whose records the log gets as they are.
#[inline(always)]
fn is_marked(thread: &RecorderThread) -> bool {
    is_writing_records() && thread.has_log()
}

pub fn in_ring(call_site: u32) -> u64 {
    if call_site == NONE { 0 } else { u64::from(call_site) + 1 }
}
