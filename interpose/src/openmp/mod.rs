//! Records the threads of OpenMP's parallel regions.
//!
//! LLVM's and Intel's run-time libraries report it ([`ompt`]). The GNU library (libgomp) does not:
//!
//! A compiler turns a region into a function, and its begin into a call of the run-time library that passes the function. That call
//! arrives here, and the library gets a function of ours in its place ([`team`]): each thread notes when it enters and leaves the region. What
//! it waits for in between arrives here as well ([`waits`]), and tasks, which a thread may run while it waits ([`tasks`]). The thread
//! that has started the region adds up what all have noted ([`sums`]), writes the sums to the log once a second and at the end ([`written_sums`]), and marks each
//! instance in its ring ([`marks`]).
//!
//! Only outermost regions count: what a thread of theirs does in an inner one is its own time, and the other threads of inner teams are left out.
//!
//! A program may load several such libraries. [`runtime`] finds the one that a call was meant for.

mod marks;
pub mod mutexes;
pub mod ompt;
mod placement;
pub mod region_code;
pub mod reporting;
pub mod runtime;
pub mod sums;
mod switch;
pub mod tasks;
pub mod team;
pub mod waits;
mod written_sums;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::problem::ProblemKind;

use crate::log::{self, OpenLog};
use crate::run::settings::RegionRecording;
use crate::sampling::pools;
pub use switch::is_on;
use switch::{WANTED, WANTS_EACH_THREAD};

/// Number of thread routines in the program that were looked at: whether they belong to a run-time library that is linked into it. [`usize::MAX`]: one does.
static ROUTINES_SEEN: AtomicUsize = AtomicUsize::new(0);

/// Functions with which run-time libraries start their threads.
const THREAD_STARTS: [&str; 2] = ["gomp_thread_start", "__kmp_launch_worker"];

/// Returns whether the program may have a run-time library in itself that was not looked for: it has started a thread with a routine of its own
/// file, as few others do, and recording is on.
pub fn may_have_linked_library() -> bool {
    pools::routines_in_program() > ROUTINES_SEEN.load(Relaxed) && is_on()
}

/// Reads the program's symbols and writes to the log if a run-time library is linked into it: now, for the process may be killed.
pub fn report_linked_library() {
    let n = pools::routines_in_program();
    if ROUTINES_SEEN.fetch_max(n, Relaxed) < n && pools::has_routine_named(&THREAD_STARTS) {
        ROUTINES_SEEN.store(usize::MAX, Relaxed);
        log::define_now(Definition::Problem(ProblemKind::StaticOpenmp as u16, 1, String::new()));
    }
}

pub fn start_openmp(recording: RegionRecording) {
    let wanted = recording != RegionRecording::Off;
    WANTED.store(wanted, Relaxed);
    WANTS_EACH_THREAD.store(recording == RegionRecording::EachThread, Relaxed);
    if wanted {
        ompt::register_callbacks();
        report_linked_library();
    }
}

/// Recording ends: the log, where there is one, gets the sums that it lacks.
pub fn end_openmp(log: Option<&mut Option<OpenLog>>) {
    let Some(log) = log.and_then(Option::as_mut) else { return };
    if WANTED.swap(false, Relaxed) {
        written_sums::write_openmp_sums(log);
    }
}
