//! MPI calls, which the wrappers made from `calls.table` record in the thread's ring.

use std::ptr::NonNull;

use lbprof_collector::record::Record;

use super::TimeSource;
use crate::forward::{self, fortran_names};
use crate::log::OpenLog;
use crate::mpi::nesting;
use crate::recording::{nested, room};
use crate::run::settings::RecorderSettings;
use crate::state::thread::{Canary, RecorderThread};

/// The outermost MPI calls of each thread.
pub struct MpiCalls;

impl TimeSource for MpiCalls {
    /// A word of the wrapper's frame, by which it is known whether the call is under way.
    type Entry = *mut Canary;
    /// The slot of the call's record.
    type Open = NonNull<Record>;

    fn install(_: &RecorderSettings) {
        forward::resolve_c();
        fortran_names::resolve_referenced();
        nesting::find_mpi();
    }

    #[inline(always)]
    unsafe fn enter(thread: &RecorderThread, canary: *mut Canary) -> Option<NonNull<Record>> {
        // SAFETY: the caller's promise.
        if nested::is_call_nested(thread, canary) { None } else { unsafe { room::reserve_slot(thread, canary) } }
    }

    #[inline(always)]
    unsafe fn leave(thread: &RecorderThread, _: &NonNull<Record>) {
        nested::release_call(thread);
    }

    fn drain(_: &mut OpenLog) {}
}
