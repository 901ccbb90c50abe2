//! Markers of a region's instance in the ring of the thread that starts it, where the log has records.
//!
//! A thread without a ring makes no MPI calls, and gets none for regions alone: these are in the sums.

use lbprof_collector::parallel_marks::ParallelInstance;
use lbprof_collector::record::NONE;

use crate::log::is_writing_records;
use crate::recording::room::append;
use crate::state::thread::RecorderThread;
use crate::system::clock::ticks;

/// Marks the begin of an instance. Returns when it begins, in ticks.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub unsafe fn begin(thread: *mut RecorderThread, call_site: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        if is_marked(thread) {
            append(thread, ParallelInstance::begin_record(ticks(), in_ring(call_site)));
        }
    }
    ticks()
}

/// Marks the end of an instance.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline]
pub unsafe fn end(thread: *mut RecorderThread, instance: &ParallelInstance) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_marked(thread) {
            for record in instance.end_records() {
                append(thread, record);
            }
        }
    }
}

/// Returns whether the calling thread has a ring whose records the log gets as they are.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
unsafe fn is_marked(thread: *mut RecorderThread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { is_writing_records() && !(*thread).log.is_null() }
}

/// A call site as it is in a ring.
pub fn in_ring(call_site: u32) -> u64 {
    if call_site == NONE { 0 } else { u64::from(call_site) + 1 }
}
