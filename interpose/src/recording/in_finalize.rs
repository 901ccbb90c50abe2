//! MPI calls inside of MPI_Finalize: functions that delete attributes of MPI_COMM_SELF run there first of all, while MPI is still
//! initialised (MPI-4.1 §11.2.4).
//!
//! The recorded time and the log have ended at its entry. So these calls are only counted, without a lock or an allocation.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::mpi::nesting;
use crate::state::thread::RecorderThread;

/// True if MPI_Finalize of a recorded rank is under way.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// Number of calls that the program made in it.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// The log is closed, and MPI's own function follows.
pub fn begin_finalize() {
    UNDER_WAY.store(true, Release);
}

/// Returns whether calls without a slot are to be counted.
#[inline(always)]
pub fn is_under_way() -> bool {
    UNDER_WAY.load(Relaxed)
}

/// A call has no slot: counts it where that is because MPI_Finalize is under way. Calls between MPI's own libraries do not count.
pub fn count_in_finalize(thread: &RecorderThread) {
    if is_under_way() && thread.busy.get() == 0 && !nesting::is_any_mpi(thread.caller.get()) {
        CALLS.fetch_add(1, Relaxed);
    }
}

/// Ends counting, because MPI_Finalize has returned or the process exits in it. Returns how many calls were counted, once, or `None` if it was
/// not under way.
pub fn end_finalize() -> Option<u64> {
    UNDER_WAY.swap(false, Acquire).then(|| CALLS.swap(0, Relaxed))
}
