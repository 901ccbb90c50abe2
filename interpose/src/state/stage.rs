//! The stage of recording in the process.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8};

/// The stage of recording in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordingState {
    Idle = 0,
    Recording = 1,
    /// Nothing is recorded any more, or was asked for.
    Done = 2,
}

static STATE: AtomicU8 = AtomicU8::new(RecordingState::Idle as u8);

/// Returns the stage of the process.
#[inline]
pub fn recording_state() -> RecordingState {
    match STATE.load(Relaxed) {
        0 => RecordingState::Idle,
        1 => RecordingState::Recording,
        _ => RecordingState::Done,
    }
}

pub fn set_state(state: RecordingState) {
    STATE.store(state as u8, SeqCst);
}

/// Set once the library gave up; nothing is recorded from then on.
static DISABLED: AtomicBool = AtomicBool::new(false);

/// Returns whether the library gave up.
pub fn is_disabled() -> bool {
    DISABLED.load(Relaxed)
}

/// Gives up recording from here on. Returns whether the library had done so before.
pub fn disable_recording() -> bool {
    DISABLED.swap(true, Relaxed)
}
