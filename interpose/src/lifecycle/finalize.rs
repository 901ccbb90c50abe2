//! The end of MPI_Finalize: what the log gets after it was closed.
//!
//! A program may exit in a function that MPI_Finalize calls, also from a signal handler: nothing is allocated, no lock is taken.

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::log::closed;
use crate::recording::in_finalize;

/// MPI_Finalize has returned, or the process exits in it: the log gets the number of calls in it as one more block.
pub fn end() {
    let calls = in_finalize::end();
    if calls != 0 {
        closed::append(&Definition::Problem(ProblemKind::InFinalize as u16, calls, String::new()));
    }
}
