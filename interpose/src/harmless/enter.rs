//! Entering the recorder for what is rare.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{Ordering::SeqCst, fence};

use crate::harmless::guard;
use crate::harmless::signals::run_critical_section;
use crate::mpi::nesting;
use crate::state::stage::{self, RecordingState, recording_state};
use crate::state::thread::{self, Canary, CancelState, RecorderThread};

/// Runs `work`, which does not unwind, with the thread marked busy, `errno` kept and the thread's cancellation put off.
///
/// Writing and opening files are cancellation points. A cancelled thread unwinds, which must not begin in the recorder: it
/// would find `catch_unwind` in its way, or leave a lock taken.
pub fn enter_quietly<T>(work: impl FnOnce() -> T) -> T {
    let thread = thread::current_thread();
    // SAFETY: the thread's own state, errno and cancellation.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let mut canary = Canary::uninit();
        let frame = canary.as_mut_ptr();
        if thread.at_work.get() != 0 && (thread.busy.get() == 0 || frame as usize >= thread.at_work.get()) {
            is_interrupted(thread);
        }
        frame.write_volatile(thread.address());
        let mut nested_cancellation = CancelState::UNKNOWN;
        let is_outermost = thread.at_work.get() == 0;
        let cancellation = if is_outermost {
            thread.cancellation.set(CancelState::UNKNOWN);
            thread.first_at_work.set(frame as usize);
            thread.cancellation.as_ptr()
        } else {
            &raw mut nested_cancellation
        };
        // From here on a handler that leaves by siglongjmp leaves a mark by which the thread notices that, and restores its cancellation.
        let outer = thread.at_work.replace(frame as usize);
        put_off_cancellation(cancellation);
        thread.busy.set(thread.busy.get() + 1);
        let result = work();
        thread.busy.set(thread.busy.get() - 1);
        *errno = kept;
        restore_cancellation(*cancellation);
        thread.at_work.set(outer);
        result
    }
}

/// Runs `work` as [`enter_quietly`] does, unless recording was given up. A panic in it ends recording.
pub fn enter_cold<T: Default>(work: impl FnOnce() -> T) -> T {
    if stage::is_disabled() {
        guard::report_waits();
        return T::default();
    }
    enter_quietly(|| guard::run_guarded(work))
}

/// Runs `work`, which may use the thread's log, as [`enter_cold`] does, unless recording has ended: then the log is no
/// longer the thread's own, see [`crate::recording::close`].
pub fn enter_recording(work: impl FnOnce()) {
    enter_cold(|| {
        // Either we see here that recording has ended, or the thread that ended it sees that we are busy, and waits.
        fence(SeqCst);
        if recording_state() == RecordingState::Recording {
            work();
        }
    });
}

/// Runs `work` as [`enter_recording`] does, as a critical section.
pub fn run_critical(work: impl FnOnce()) {
    enter_recording(|| run_critical_section(work));
}

/// Returns whether the recorder's last frame on this thread is there still, so that a handler has interrupted it. If not, a handler has left it by
/// siglongjmp, and this restores the state that it would have restored. The thread's `at_work` is not 0.
#[cold]
#[inline(never)]
pub fn is_interrupted(thread: &RecorderThread) -> bool {
    if nesting::frame_is_there(thread.at_work.get(), thread.address()) {
        return true;
    }
    if thread.busy.get() == 0 {
        // At its border, where it holds nothing.
        forget_frames(thread);
    } else {
        was_left(thread);
    }
    false
}

/// Ends recording because the recorder was left by siglongjmp while it was at work on this thread, which may be cancelled again as before.
pub fn was_left(thread: &RecorderThread) {
    guard::give_up_after_jump();
    thread.left.set(true);
    forget_frames(thread);
}

/// Restores what the recorder's frames, which are gone, would have restored.
fn forget_frames(thread: &RecorderThread) {
    restore_cancellation(thread.cancellation.get());
    thread.at_work.set(0);
}

/// Puts off the thread's cancellation. `before` gets its state, each part just before it is changed (glibc and musl both
/// store the old value first), so that it can be restored from any instant on.
unsafe fn put_off_cancellation(before: *mut CancelState) {
    // SAFETY: live arguments.
    unsafe {
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &raw mut (*before).kind);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut (*before).state);
        if (*before).kind == PTHREAD_CANCEL_ASYNCHRONOUS && (*before).state != PTHREAD_CANCEL_DISABLE {
            receive_cancellation();
        }
    }
}

/// Restores the thread's cancellation. A part that is not known stays as it is, because the C library refuses its number.
fn restore_cancellation(before: CancelState) {
    let mut ours = 0;
    // SAFETY: live arguments. The type comes last: that ends a thread that was cancelled meanwhile.
    unsafe {
        pthread_setcancelstate(before.state, &mut ours);
        pthread_setcanceltype(before.kind, &mut ours);
    }
}

/// Waits for the signal of an asynchronous cancellation that was sent before cancellation was disabled.
///
/// The signal's handler in glibc 2.36 (nptl/pthread_cancel.c) looks at the cancellation type alone, and during any cancellation point
/// the type is asynchronous: the thread would end in the recorder's next `write`. A cancellation point returns only when no signal
/// is under way, so one that does nothing comes first. It may end the thread, which holds nothing yet.
#[cold]
#[inline(never)]
unsafe fn receive_cancellation() {
    // SAFETY: no file has this descriptor.
    unsafe { write(-1, std::ptr::null(), 0) };
}

// From pthread.h; the same in glibc and musl.
const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;
const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

// All of them may end a thread whose cancellation is asynchronous.
unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
}
