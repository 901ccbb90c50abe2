//! The switches of measuring parallel regions.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::state::stage::{RecordingState, recording_state};

pub(super) static WANTED: AtomicBool = AtomicBool::new(false);
/// True if the times of each thread are to be recorded, for each instance.
pub(super) static WANTS_EACH_THREAD: AtomicBool = AtomicBool::new(false);

/// Returns whether regions are to be measured as soon as recording has started.
pub(super) fn is_wanted() -> bool {
    WANTED.load(Relaxed)
}

/// Returns whether regions are measured now.
#[inline(always)]
pub fn is_on() -> bool {
    WANTED.load(Relaxed) && recording_state() == RecordingState::Recording
}
