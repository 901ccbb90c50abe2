//! MPI calls inside of MPI_Finalize: functions that delete attributes of MPI_COMM_SELF run there first of all, while MPI is still
//! initialised (MPI-4.1 §11.2.4).
//!
//! The recorded time and the log have ended at its entry. So these calls are only counted, and the log gets their number as one more
//! block. A program may exit in such a function, also from a signal handler: nothing is allocated, no lock is taken.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::lifecycle::exit_status;
use crate::mpi::nesting;
use crate::recording::thread::Thread;

/// Whether MPI_Finalize of a recorded rank is under way.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// How many calls the program made in it.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// The log is closed, and MPI's own function follows.
pub fn begin() {
    UNDER_WAY.store(true, Release);
}

/// Whether calls without a slot are to be counted.
#[inline(always)]
pub fn is_under_way() -> bool {
    UNDER_WAY.load(Relaxed)
}

/// A call has no slot: counts it where that is because MPI_Finalize is under way. Calls between MPI's own libraries do not count.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn count(thread: *mut Thread) {
    // SAFETY: the thread's own state.
    let (busy, caller) = unsafe { ((*thread).busy, (*thread).caller) };
    if is_under_way() && busy == 0 && !nesting::is_any_mpi(caller) {
        CALLS.fetch_add(1, Relaxed);
    }
}

/// MPI_Finalize has returned, or the process exits in it.
pub fn end() {
    if !UNDER_WAY.swap(false, Acquire) {
        return;
    }
    let calls = CALLS.swap(0, Relaxed);
    if calls != 0 {
        exit_status::append_to_closed(&Definition::Problem(ProblemKind::InFinalize as u16, calls, String::new()));
    }
}
