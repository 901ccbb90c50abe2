//! Regions that compilers before GCC 4.9 start: by a call that returns, after which thread 0 runs the region's function itself.
//!
//! ```text
//!   main      GOMP_parallel_start       the region's function     GOMP_parallel_end
//!   |--call-->| begin |-call-| enter |  |== thread 0 works ==|    | leave |-call, waits for the team-| end |
//!                        |--starts--> member, on the other threads
//! ```
//!
//! Only outermost regions are measured, as elsewhere; inner ones are counted, to know which end is whose.

use crate::openmp::team::{self, RegionFrame};
use crate::state::thread::RecorderThread;
use crate::word::Word;

/// The calling thread starts a region. Returns its frame, or `None` if it is not measured.
///
/// # Safety
/// As [`team::begin`].
pub unsafe fn begin(
    thread: *mut RecorderThread,
    function: Word,
    data: Word,
    threads: Word,
) -> Option<*mut RegionFrame> {
    // SAFETY: the caller's promise; the room was made with the slots that the frame has, for this thread alone.
    unsafe {
        (*thread).team.starts += 1;
        if (*thread).team.depth > 0 || (*thread).team.measured_start > 0 {
            return None;
        }
        let frame = team::begin(thread, function, data, threads).filter(team::is_outermost)?;
        let room = (*thread).team.started.cast::<RegionFrame>();
        room.write(frame);
        (*thread).team.measured_start = (*thread).team.starts;
        Some(room)
    }
}

/// The library has started the other threads.
///
/// # Safety
/// `thread` is the calling thread's state, and `frame` what [`begin`] has returned.
pub unsafe fn enter(thread: *mut RecorderThread, frame: *mut RegionFrame) {
    // SAFETY: the caller's promise.
    unsafe { team::enter_first(thread, &*frame) };
}

/// The calling thread has run the function of the region that it has started last. Returns the region's frame, or `None` if it is not measured.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn leave(thread: *mut RecorderThread) -> Option<*mut RegionFrame> {
    // SAFETY: the thread's own state, and its own frame.
    unsafe {
        let own = &mut (*thread).team;
        let is_measured = own.measured_start > 0 && own.measured_start == own.starts;
        own.starts = own.starts.saturating_sub(1);
        if !is_measured {
            return None;
        }
        own.measured_start = 0;
        let frame = own.started.cast::<RegionFrame>();
        team::leave_first(thread, &*frame);
        Some(frame)
    }
}

/// The team has come to the end.
///
/// # Safety
/// `thread` is the calling thread's state, and `frame` what [`leave`] has returned.
pub unsafe fn end(thread: *mut RecorderThread, frame: *mut RegionFrame) {
    // SAFETY: the caller's promise.
    unsafe { team::end(thread, &*frame) };
}
