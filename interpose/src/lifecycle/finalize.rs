//! Definitions that the log gets after it was closed: the end of MPI_Finalize, and of the process.
//!
//! A program may exit in a function that MPI_Finalize calls, also from a signal handler: nothing is allocated, no lock is taken.

use lbprof_collector::definition::{Definition, LifetimePoint};

use crate::lifecycle::exit_status;
use crate::log::closed_log;
use crate::machine::system::clock::read_ticks;

/// Adds the return of MPI_Finalize.
pub fn note_return() {
    closed_log::append_definition(&Definition::Lifetime(LifetimePoint::LeftFinalize, read_ticks()));
}

/// Adds the exit of the process with its status, unless that is 0.
pub fn note_exit() {
    let now = read_ticks();
    if let Some(status) = exit_status::exit_status().filter(|&status| status != 0) {
        closed_log::append_definition(&Definition::ExitStatus(status));
    }
    closed_log::append_definition(&Definition::Lifetime(LifetimePoint::Ended, now));
}
