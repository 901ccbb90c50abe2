//! The end of a thread that records.

use std::ffi::c_void;

use crate::harmless::enter;
use crate::markers::stack;
use crate::recording::call_path;
use crate::recording::filled_slots::filled_records;
use crate::recording::flush::{close_ring, mend_records};
use crate::recording::registry;
use crate::sampling;
use crate::state::buffers;
use crate::state::stage::{RecordingState, recording_state};
use crate::state::thread::RecorderThread;
use crate::system::clock::read_ticks;

/// Runs at the end of the calling thread. Another thread may have its ring from now on.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe extern "C" fn on_thread_end(thread: *mut c_void) {
    let thread = thread.cast::<RecorderThread>();
    // SAFETY: the thread's own state, still there while its destructors run. Calls that it makes afterwards attach it anew.
    unsafe {
        (*thread).ends = (*thread).ends.saturating_add(1);
        if (*thread).busy != 0 {
            enter::was_left(thread);
        }
        if !(*thread).log.is_null() {
            enter::enter_recording(thread, || sampling::thread_ends((*thread).id));
            enter::enter_quietly(thread, || registry::give_back(thread, end_records));
        }
        (*thread).cursor = std::ptr::null_mut();
        (*thread).limit = std::ptr::null_mut();
        (*thread).poll = std::ptr::null_mut();
        buffers::free_buffers(thread);
        call_path::free_paths(thread);
    }
}

/// Ends the thread's records. Returns whether another thread may go on in its ring, where they stay; else the log has them.
///
/// # Safety
/// `thread` is the calling thread's state.
unsafe fn end_records(thread: *mut RecorderThread) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let Some(log) = (*thread).log.as_mut() else { return false };
        // The first thread's records are the rank's time, and its ring's head belongs to the process. If recording has just ended
        // the ring may still be open.
        if log.number == 0 || log.paused.is_some() || recording_state() != RecordingState::Recording {
            if !log.closed {
                close_ring(thread, log);
            }
            return false;
        }
        if let Some(last) = filled_records(thread, log).last_mut() {
            mend_records(std::slice::from_mut(last), read_ticks());
        }
        stack::end_all(thread);
        true
    }
}
