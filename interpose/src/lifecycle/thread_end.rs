//! The end of a thread that records.

use std::ffi::c_void;

use crate::harmless::enter;
use crate::machine::system::clock::read_ticks;
use crate::recording::call_path;
use crate::recording::filled_slots::filled_records;
use crate::recording::flush::{close_ring, mend_records};
use crate::recording::registry;
use crate::sampling;
use crate::sources::markers::stack;
use crate::state::stage::{RecordingState, recording_state};
use crate::state::thread::RecorderThread;

/// Runs at the end of the calling thread. Another thread may have its ring from now on.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe extern "C" fn on_thread_end(thread: *mut c_void) {
    // SAFETY: still there while the thread's destructors run. Calls that it makes afterwards attach it anew.
    let thread = unsafe { &*thread.cast::<RecorderThread>() };
    thread.ends.set(thread.ends.get().saturating_add(1));
    if thread.busy.get() != 0 {
        enter::was_left(thread);
    }
    if thread.has_log() {
        enter::enter_recording(|| sampling::thread_ends(thread.id.get()));
        enter::enter_quietly(|| registry::give_back(thread, end_records));
    }
    for place in [&thread.cursor, &thread.limit, &thread.poll] {
        place.set(std::ptr::null_mut());
    }
    thread.requests.free();
    thread.statuses.free();
    call_path::free_paths(thread);
}

/// Ends the thread's records. Returns whether another thread may go on in its ring, where they stay; else the log has them.
fn end_records(thread: &RecorderThread) -> bool {
    let Some(log) = thread.log() else { return false };
    // The first thread's records are the rank's time, and its ring's head belongs to the process. If recording has just ended
    // the ring may still be open.
    if log.number == 0 || log.paused.is_some() || recording_state() != RecordingState::Recording {
        if !log.closed {
            close_ring(Some(thread), log);
        }
        return false;
    }
    if let Some(last) = filled_records(Some(thread), log).last_mut() {
        mend_records(std::slice::from_mut(last), read_ticks());
    }
    stack::end_all(thread);
    true
}
