//! Only a thread's outermost MPI call records.
//!
//! That a call is under way is marked by the address of a canary in the frame of its wrapper. Calls from frames further down the stack are
//! nested, but a wrapper may have been left by longjmp or by an exception, and then the mark means nothing: a call from elsewhere than MPI
//! looks whether the frame is there ([`nesting`]).

use lbprof_collector::problem::ProblemKind;

use crate::harmless::enter::{self, enter_quietly};
use crate::harmless::guard;
use crate::mpi::nesting;
use crate::state::entered;
use crate::state::stage;
use crate::state::thread::{Canary, RecorderThread};

/// Returns whether a call entered now, with its frame at `canary`, is made from inside another one of the same thread.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn is_call_nested(thread: *mut RecorderThread, canary: *const Canary) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (canary as usize) < (*thread).inside && is_nested(thread) }
}

/// Checks a call whose frame lies further down the stack than the frame of the call under way. Apart, so that the code of other calls lies
/// together.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn is_nested(thread: *mut RecorderThread) -> bool {
    // SAFETY: the caller's promise.
    unsafe { nesting::is_mpi((*thread).caller) || still_inside(thread, (*thread).caller) }
}

/// Returns whether the wrapper that [`RecorderThread::inside`] names has still to return. If not, the mark is taken away.
///
/// # Safety
/// `thread` is the calling thread's state.
unsafe fn still_inside(thread: *mut RecorderThread, caller: usize) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let there = nesting::is_any_mpi(caller)
            || enter_quietly(thread, || nesting::frame_is_there((*thread).inside, thread as usize));
        if !there {
            (*thread).inside = 0;
        }
        there
    }
}

/// Returns whether an MPI call is under way on this thread, as seen from a marker in `frame`, or the recorder itself runs.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn in_call(thread: *mut RecorderThread, frame: *const Canary) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*thread).busy != 0 || ((frame as usize) < (*thread).inside && still_inside(thread, 0)) }
}

/// Ends a call, all of whose facts are stored.
///
/// # Safety
/// `thread` is the calling thread's state, its call's wrapper about to return.
#[inline(always)]
pub unsafe fn release_call(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        (*thread).inside = 0;
        entered::bring_back(thread);
    }
}

/// Notes that a call or marker finds the recorder at work on this thread: a handler has interrupted it, whose calls are not
/// recorded; or has left it by siglongjmp. Then its locks and the thread's log are as they were at that instant: recording ends.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn found_at_work(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        // Calls after the recorder gave up are not recorded, and the reason was counted once.
        if (*thread).at_work != 0 && enter::is_interrupted(thread) && !stage::is_disabled() {
            guard::count_problem(ProblemKind::MarkerInsideCall, 1);
        }
    }
}
