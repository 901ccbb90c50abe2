//! Handles the program's markers: phases, parameters, pauses, also before MPI_Init.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lbprof_collector::definition::{Definition, RegionKind};
use lbprof_collector::problem::ProblemKind;

use crate::harmless::signals::HandlerLock;
use crate::harmless::{enter, guard};
use crate::log;
use crate::markers::pause;
use crate::markers::stack::{self, MAX_DEPTH};
use crate::recording::{nested, room};
use crate::state::stage::{RecordingState, state};
use crate::state::thread::{self, RecorderThread};

/// Phases begun before MPI_Init, outermost first: they are open when the window begins.
static EARLY: HandlerLock<Vec<(String, RegionKind, bool)>> = HandlerLock::new(Vec::new());

/// Parameters that may be given before MPI_Init.
const MAX_EARLY_PARAMS: usize = 4096;

/// Parameters given before MPI_Init.
static EARLY_PARAMS: HandlerLock<Vec<(String, f64)>> = HandlerLock::new(Vec::new());

/// True if recording was stopped before MPI_Init.
static EARLY_PAUSE: AtomicBool = AtomicBool::new(false);

/// Runs a marker on the calling thread, unless it comes from within an MPI call. The thread has its ring by then.
pub fn marked(work: impl FnOnce(*mut RecorderThread)) {
    let thread = thread::current();
    let frame = thread::Canary::uninit();
    // SAFETY: the thread's own state.
    unsafe {
        if state() != RecordingState::Recording {
            return;
        }
        if (*thread).busy != 0 {
            nested::found_at_work(thread);
            return;
        }
        if nested::in_call(thread, &frame) {
            guard::count(ProblemKind::MarkerInsideCall, 1);
            return;
        }
        enter::recording(thread, || {
            if !(*thread).log.is_null() || !room::refill(thread).is_null() {
                work(thread);
            }
        });
    }
}

/// Opens on the first thread what was begun before MPI_Init, writes the parameters given before, and stops recording if that
/// was asked for.
pub fn replay_early(thread: *mut RecorderThread) {
    for (name, kind, iterated) in EARLY.lock().map(|mut early| std::mem::take(&mut *early)).unwrap_or_default() {
        stack::enter(thread, &name, kind, iterated);
    }
    for (name, value) in EARLY_PARAMS.lock().map(|mut early| std::mem::take(&mut *early)).unwrap_or_default() {
        log::define(Definition::Param(name, value));
    }
    if EARLY_PAUSE.load(Relaxed) {
        // SAFETY: the thread's own state.
        unsafe { pause::pause(thread) };
    }
}

/// A phase begins.
pub fn begin(name: &str, kind: RegionKind, iterated: bool) {
    match state() {
        RecordingState::Idle => {
            let Some(mut early) = EARLY.lock() else { return };
            if early.len() < MAX_DEPTH {
                early.push((name.to_owned(), kind, iterated));
            }
        }
        RecordingState::Recording => marked(|thread| stack::enter(thread, name, kind, iterated)),
        RecordingState::Done => {}
    }
}

/// A phase ends.
pub fn end(name: &str) {
    match state() {
        RecordingState::Idle => {
            let Some(mut early) = EARLY.lock() else { return };
            if let Some(depth) = early.iter().rposition(|(open, ..)| open == name) {
                early.truncate(depth);
            }
        }
        RecordingState::Recording => marked(|thread| stack::leave(thread, name)),
        RecordingState::Done => {}
    }
}

/// Recording stops or goes on, on the calling thread; before MPI_Init on the one that will call it.
pub fn record(on: bool) {
    if state() == RecordingState::Idle {
        EARLY_PAUSE.store(!on, Relaxed);
        return;
    }
    marked(|thread| {
        // SAFETY: the thread's own state.
        unsafe { if on { pause::resume(thread) } else { pause::pause(thread) } }
    });
}

/// A parameter of the run.
pub fn param(name: String, value: f64) {
    match state() {
        RecordingState::Idle => {
            let Some(mut early) = EARLY_PARAMS.lock() else { return };
            if early.len() < MAX_EARLY_PARAMS {
                early.push((name, value));
            }
        }
        RecordingState::Recording => log::define(Definition::Param(name, value)),
        RecordingState::Done => {}
    }
}

/// A C string as text; bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `name` is one, or null.
pub unsafe fn text<'a>(name: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the program passes a C string or null, and keeps it while the marker runs.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}
