//! Entering the recorder for what is rare.

use std::ffi::c_int;
use std::sync::atomic::{Ordering::SeqCst, fence};

use crate::harmless::guard;
use crate::state::stage::{State, state};
use crate::state::thread::{Canary, Thread};

/// Runs `work`, which does not unwind, with the thread marked busy, `errno` kept and the thread's cancellation put off.
///
/// Writing and opening files are cancellation points. A cancelled thread unwinds, which must not begin in the recorder: it
/// would find `catch_unwind` in its way, or leave a lock taken.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn quiet<T>(thread: *mut Thread, work: impl FnOnce() -> T) -> T {
    // SAFETY: the thread's own state, errno and cancellation.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let (mut cancelled, mut ours) = (0, 0);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut cancelled);
        let mut canary = Canary::uninit();
        canary.as_mut_ptr().write_volatile(thread as usize);
        let outer = std::mem::replace(&mut (*thread).at_work, canary.as_ptr() as usize);
        (*thread).busy += 1;
        let result = work();
        (*thread).busy -= 1;
        (*thread).at_work = outer;
        *errno = kept;
        pthread_setcancelstate(cancelled, &mut ours);
        result
    }
}

/// Runs `work` as [`quiet`] does, unless recording was given up. A panic in it ends recording.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn cold<T: Default>(thread: *mut Thread, work: impl FnOnce() -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe { quiet(thread, || guard::guarded(work)) }
}

/// Runs `work`, which may use the thread's log, as [`cold`] does, unless recording has ended: then the log is no
/// longer the thread's own, see [`crate::recording::close`].
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn recording(thread: *mut Thread, work: impl FnOnce()) {
    // SAFETY: the caller's promise.
    unsafe {
        cold(thread, || {
            // Either we see here that recording has ended, or who ended it sees that we are busy, and waits.
            fence(SeqCst);
            if state() == State::Recording {
                work();
            }
        });
    }
}

/// How often the recorder is entered on a thread, be it another one than the caller.
///
/// # Safety
/// The thread's state is there.
pub unsafe fn busy(thread: *mut Thread) -> u32 {
    // SAFETY: the caller's promise; aligned words are read whole.
    unsafe { (&raw const (*thread).busy).read_volatile() }
}

/// Of pthread.h; the same in glibc and musl.
const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C-unwind" {
    /// Enabling it again may end a thread whose cancellation is asynchronous.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}
