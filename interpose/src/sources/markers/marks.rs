//! The program's markers: phases, parameters and pauses, also before MPI_Init.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lbprof_collector::definition::{Definition, RegionKind};
use lbprof_collector::problem::ProblemKind;

use crate::harmless::signals::{HandlerLock, LockGuard};
use crate::harmless::{enter, guard};
use crate::log;
use crate::recording::{nested, room};
use crate::sources::markers::pause;
use crate::sources::markers::stack::{self, MAX_DEPTH};
use crate::state::stage::{RecordingState, recording_state};
use crate::state::thread::{self, RecorderThread};

/// Phases started before MPI_Init, outermost first. They are open when the window starts.
static EARLY: HandlerLock<Vec<(String, RegionKind, bool)>> = HandlerLock::new(Vec::new());

const MAX_EARLY_PARAMS: usize = 4096;

static EARLY_PARAMS: HandlerLock<Vec<(String, f64)>> = HandlerLock::new(Vec::new());

static EARLY_PAUSE: AtomicBool = AtomicBool::new(false);

/// Runs a marker on the calling thread, which has its ring by then. Does nothing inside an MPI call.
pub fn run_marker(work: impl FnOnce(&RecorderThread)) {
    let thread = thread::current_thread();
    let frame = thread::Canary::uninit();
    if recording_state() != RecordingState::Recording {
        return;
    }
    if thread.busy.get() != 0 {
        nested::found_at_work(thread);
        return;
    }
    if nested::in_call(thread, &frame) {
        guard::count_problem(ProblemKind::MarkerInsideCall, 1);
        return;
    }
    enter::enter_recording(|| {
        if thread.has_log() || !room::refill(thread).is_null() {
            work(thread);
        }
    });
}

/// Opens the phases that were started before MPI_Init on the first thread, writes the parameters given before, and stops recording if the
/// program has asked for that.
pub fn replay_early(thread: &RecorderThread) {
    for (name, kind, iterated) in take_early(&EARLY) {
        stack::enter_phase(thread, &name, kind, iterated);
    }
    for (name, value) in take_early(&EARLY_PARAMS) {
        log::define_now(Definition::Param(name, value));
    }
    if EARLY_PAUSE.load(Relaxed) {
        pause::pause_recording(thread);
    }
}

/// Locks markers that are kept until MPI_Init, or returns `None` after it.
fn lock_early<T>(early: &HandlerLock<Vec<T>>) -> Option<LockGuard<'_, Vec<T>>> {
    if recording_state() == RecordingState::Idle { early.lock() } else { None }
}

fn take_early<T>(early: &HandlerLock<Vec<T>>) -> Vec<T> {
    early.lock().map(|mut early| std::mem::take(&mut *early)).unwrap_or_default()
}

pub fn begin_phase(name: &str, kind: RegionKind, iterated: bool) {
    if let Some(mut early) = lock_early(&EARLY) {
        if early.len() < MAX_DEPTH {
            early.push((name.to_owned(), kind, iterated));
        }
    } else {
        run_marker(|thread| stack::enter_phase(thread, name, kind, iterated));
    }
}

pub fn end_phase(name: &str) {
    if let Some(mut early) = lock_early(&EARLY) {
        if let Some(depth) = early.iter().rposition(|(open, ..)| open == name) {
            early.truncate(depth);
        }
    } else {
        run_marker(|thread| stack::leave_phase(thread, name));
    }
}

/// Stops or resumes recording on the calling thread, which before MPI_Init is the one that will call it.
pub fn set_recording(on: bool) {
    if recording_state() == RecordingState::Idle {
        EARLY_PAUSE.store(!on, Relaxed);
        return;
    }
    run_marker(if on { pause::resume_recording } else { pause::pause_recording });
}

pub fn set_param(name: String, value: f64) {
    if let Some(mut early) = lock_early(&EARLY_PARAMS) {
        if early.len() < MAX_EARLY_PARAMS {
            early.push((name, value));
        }
    } else if recording_state() == RecordingState::Recording {
        log::define_now(Definition::Param(name, value));
    }
}

/// Converts a C string to text. Replaces bytes that are not UTF-8.
///
/// # Safety
/// `name` is a C string or null.
pub unsafe fn marker_text<'a>(name: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the program passes a C string or null, and keeps it while the marker runs.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}
