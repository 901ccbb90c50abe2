//! The end of MPI_Finalize, and of the process after it: what the log gets after it was closed.
//!
//! A program may exit in a function that MPI_Finalize calls, also from a signal handler: nothing is allocated, no lock is taken.

use lbprof_collector::definition::{Definition, LifetimePoint};
use lbprof_collector::problem::ProblemKind;

use crate::lifecycle::exit_status;
use crate::log::closed_log;
use crate::recording::in_finalize;
use crate::system::clock::ticks;

/// Adds that MPI_Finalize has returned, and how many calls were made in it.
pub fn note_return() {
    let now = ticks();
    if note_calls() {
        closed_log::append(&Definition::Lifetime(LifetimePoint::LeftFinalize, now));
    }
}

/// Adds that the process exits, with which status, and where that happens in MPI_Finalize how many calls were made in it.
pub fn note_exit() {
    let now = ticks();
    note_calls();
    exit_status::append();
    closed_log::append(&Definition::Lifetime(LifetimePoint::Ended, now));
}

/// Adds how many calls were made in MPI_Finalize. Returns whether it was under way.
fn note_calls() -> bool {
    let calls = in_finalize::end();
    if let Some(calls) = calls.filter(|&calls| calls != 0) {
        closed_log::append(&Definition::Problem(ProblemKind::InFinalize as u16, calls, String::new()));
    }
    calls.is_some()
}
