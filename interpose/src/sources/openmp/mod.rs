//! Records the threads of OpenMP's parallel regions.
//!
//! LLVM's and Intel's run-time libraries report it ([`ompt`]). The GNU library (libgomp) does not:
//!
//! A compiler turns a region into a function, and its begin into a call of the run-time library that passes the function. That call
//! arrives here, and the library gets a function of ours in its place ([`team`]): each thread notes when it enters and leaves the region. What
//! it waits for in between arrives here as well ([`waits`]), and tasks, which a thread may run while it waits ([`tasks`]). The thread
//! that has started the region adds up what all have noted ([`sums`]), writes the sums to the log once a slot of sums and at the end ([`written_sums`]), and marks each
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

use std::sync::atomic::Ordering::Relaxed;

use crate::log::OpenLog;
use crate::machine::word::Word;
use crate::run::settings::{RecorderSettings, RegionRecording};
use crate::sources::TimeSource;
use crate::sources::openmp::team::RegionFrame;
use crate::state::thread::RecorderThread;
pub use switch::is_on;
use switch::{WANTED, WANTS_EACH_THREAD};

/// The outermost parallel regions of each thread.
pub struct OpenmpRegions;

/// The arguments of the call that starts a region.
#[derive(Clone, Copy)]
pub struct RegionStart {
    /// The function that a compiler made of the region.
    pub function: Word,
    /// Its argument, which is null or has at least one word.
    pub data: Word,
    /// Number of threads; 0: as many as usual.
    pub threads: Word,
}

impl TimeSource for OpenmpRegions {
    type Entry = RegionStart;
    type Open = RegionFrame;

    fn install(settings: &RecorderSettings) {
        let wanted = settings.openmp != RegionRecording::Off;
        WANTED.store(wanted, Relaxed);
        WANTS_EACH_THREAD.store(settings.openmp == RegionRecording::EachThread, Relaxed);
        if wanted {
            ompt::register_callbacks();
        }
    }

    #[inline]
    unsafe fn enter(thread: &RecorderThread, start: RegionStart) -> Option<RegionFrame> {
        // SAFETY: the caller's promises.
        unsafe { team::begin_region(thread, start.function, start.data, start.threads) }
    }

    #[inline]
    unsafe fn leave(thread: &RecorderThread, frame: &RegionFrame) {
        // SAFETY: the caller's promises.
        unsafe { team::end_region(thread, frame) };
    }

    fn drain(log: &mut OpenLog) {
        if WANTED.swap(false, Relaxed) {
            written_sums::write_openmp_sums(log);
        }
    }
}
