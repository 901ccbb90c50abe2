//! Definitions that the log gets after it was closed: the end of MPI_Finalize, and of the process.
//!
//! A program may exit in a function that MPI_Finalize calls, also from a signal handler: nothing is allocated, no lock is taken.

use lbprof_collector::definition::{Definition, LifetimePoint};
use lbprof_collector::problem::ProblemKind;

use crate::lifecycle::exit_status;
use crate::log::closed_log;
use crate::recording::in_finalize;
use crate::system::clock::read_ticks;

/// Adds the return of MPI_Finalize, and the number of calls in it.
pub fn note_return() {
    let now = read_ticks();
    if note_calls() {
        closed_log::append_definition(&Definition::Lifetime(LifetimePoint::LeftFinalize, now));
    }
}

/// Adds the exit of the process with its status, unless that is 0, and, if it exits in MPI_Finalize, the number of calls in it.
pub fn note_exit() {
    let now = read_ticks();
    note_calls();
    if let Some(status) = exit_status::exit_status().filter(|&status| status != 0) {
        closed_log::append_definition(&Definition::ExitStatus(status));
    }
    closed_log::append_definition(&Definition::Lifetime(LifetimePoint::Ended, now));
}

/// Adds the number of calls in MPI_Finalize. Returns whether it was under way.
fn note_calls() -> bool {
    let calls = in_finalize::end_finalize();
    if let Some(calls) = calls.filter(|&calls| calls != 0) {
        closed_log::append_definition(&Definition::Problem(ProblemKind::InFinalize as u16, calls, String::new()));
    }
    calls.is_some()
}
