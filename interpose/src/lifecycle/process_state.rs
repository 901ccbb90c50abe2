//! State that is kept from the start of recording to its end.

use crate::harmless::signals::HandlerLock;
use crate::run::settings::RecorderSettings;
use crate::state::stage::{RecordingState, recording_state};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The process that records; a fork is another one.
pub static PID: AtomicU32 = AtomicU32::new(0);

/// The instant before MPI_Init: ticks, nanoseconds.
pub static BEFORE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Ticks at which MPI's own MPI_Init returned.
pub static LEFT_INIT: AtomicU64 = AtomicU64::new(0);

/// Initialisations under way or done, less finalisations: MPI_Init counts one, each session one.
pub static MODELS: AtomicI32 = AtomicI32::new(0);

pub static SETTINGS: HandlerLock<Option<RecorderSettings>> = HandlerLock::new(None);

/// Returns whether MPI_Pcontrol's second argument is a label.
pub fn pcontrol_labels() -> bool {
    SETTINGS.with(|settings| settings.pcontrol_labels) == Some(true)
}

/// True if the log is open: recording may have ended already, while MPI_Finalize is under way.
pub static OPEN: AtomicBool = AtomicBool::new(false);

pub fn at_work() -> bool {
    recording_state() == RecordingState::Recording && PID.load(Relaxed) == std::process::id()
}
