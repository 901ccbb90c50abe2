//! The status with which the process ends: the argument of exit(), or the result of main.
//!
//! exit() hands it to the functions that were registered by on_exit(), then runs `.fini_array`, where the log is ended
//! ([`crate::lifecycle::end`]). A log that MPI_Finalize has closed gets it as one more block, and only where it says something: a
//! status other than 0.
//!
//! Programs call exit() from signal handlers, too. So these functions only store a number, or make system calls that POSIX allows
//! there: nothing is allocated, no lock is taken.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::mpi::symbols::find_symbol;

/// Value of [`STATUS`] before the process begins to exit.
const UNKNOWN: i64 = i64::MAX;

/// The status, once exit() was called.
static STATUS: AtomicI64 = AtomicI64::new(UNKNOWN);

/// Has exit() pass on its status from now on. Without on_exit(), as in musl, the status is never known.
pub fn watch_exit_status() {
    call_at_exit(note_exit_status);
}

/// Has exit() call `function` with the status, before the functions that were registered so far. Returns whether it will.
pub fn call_at_exit(function: extern "C" fn(c_int, *mut c_void)) -> bool {
    type OnExit = unsafe extern "C" fn(extern "C" fn(c_int, *mut c_void), *mut c_void) -> c_int;
    let address = find_symbol(c"on_exit");
    // SAFETY: on_exit(3) has this signature wherever there is one. This library is never unloaded: it was preloaded.
    address != 0 && unsafe { std::mem::transmute::<usize, OnExit>(address)(function, std::ptr::null_mut()) } == 0
}

extern "C" fn note_exit_status(status: c_int, _: *mut c_void) {
    STATUS.store(i64::from(status), Relaxed);
}

/// Returns the status with which the process is ending, or `None` if it does not end by exit().
pub fn exit_status() -> Option<i32> {
    i32::try_from(STATUS.load(Relaxed)).ok()
}
