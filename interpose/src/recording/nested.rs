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
#[inline(always)]
pub fn is_call_nested(thread: &RecorderThread, canary: *const Canary) -> bool {
    (canary as usize) < thread.inside.get() && is_nested(thread)
}

/// Checks a call whose frame lies further down the stack than the frame of the call under way. Apart, so that the code of other calls lies
/// together.
#[cold]
#[inline(never)]
fn is_nested(thread: &RecorderThread) -> bool {
    nesting::is_mpi(thread.caller.get()) || still_inside(thread, thread.caller.get())
}

/// Returns whether the wrapper that [`RecorderThread::inside`] names has still to return. If not, the mark is taken away.
fn still_inside(thread: &RecorderThread, caller: usize) -> bool {
    let there =
        nesting::is_any_mpi(caller) || enter_quietly(|| nesting::frame_is_there(thread.inside.get(), thread.address()));
    if !there {
        thread.inside.set(0);
    }
    there
}

/// Returns whether an MPI call is under way on this thread, as seen from a marker in `frame`, or the recorder itself runs.
pub fn in_call(thread: &RecorderThread, frame: *const Canary) -> bool {
    thread.busy.get() != 0 || ((frame as usize) < thread.inside.get() && still_inside(thread, 0))
}

/// Ends a call, all of whose facts are stored and whose wrapper is about to return.
#[inline(always)]
pub fn release_call(thread: &RecorderThread) {
    thread.inside.set(0);
    entered::bring_back(thread);
}

/// Notes that a call or marker finds the recorder at work on this thread: a handler has interrupted it, whose calls are not
/// recorded; or has left it by siglongjmp. Then its locks and the thread's log are as they were at that instant: recording ends.
#[cold]
#[inline(never)]
pub fn found_at_work(thread: &RecorderThread) {
    // Calls after the recorder gave up are not recorded, and the reason was counted once.
    if thread.at_work.get() != 0 && enter::is_interrupted(thread) && !stage::is_disabled() {
        guard::count_problem(ProblemKind::MarkerInsideCall, 1);
    }
}
