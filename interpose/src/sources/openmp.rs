//! Parallel regions of OpenMP ([`crate::openmp`]).

use super::TimeSource;
use crate::log::OpenLog;
use crate::openmp::team::{self, RegionFrame};
use crate::run::settings::RecorderSettings;
use crate::state::thread::RecorderThread;
use crate::word::Word;

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
        crate::openmp::start_openmp(settings.openmp);
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
        crate::openmp::end_openmp(log);
    }
}
