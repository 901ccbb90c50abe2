//! The notes that entries make of calls, kept when a handler interrupts a call before they have been used.
//!
//! A call is being entered from the entry's first store, of the stack pointer, to [`forget_entry`]. The entry of a call that a handler makes meanwhile finds
//! the stack pointer there and first parks the four words ([`crate::machine::processor`]); [`bring_back`] restores them. Handlers interrupt one another in turn,
//! so the parked words are a stack, and each step of either leaves them right for a handler that comes after it.
//!
//! A handler that leaves by siglongjmp leaves useless words parked. They cost the thread's calls some instructions, and go when there is no room for more.

use std::mem::offset_of;

use crate::machine::processor::{EnteredCall, MAX_PARKED};
use crate::state::thread::{RecorderThread, VolatileCell};

const _: () = assert!(offset_of!(RecorderThread, caller) == offset_of!(EnteredCall, caller));
const _: () = assert!(offset_of!(RecorderThread, next) == offset_of!(EnteredCall, next));
const _: () = assert!(offset_of!(RecorderThread, sp) == offset_of!(EnteredCall, sp));
const _: () = assert!(offset_of!(RecorderThread, bp) == offset_of!(EnteredCall, bp));
const _: () = assert!(offset_of!(RecorderThread, n_parked) == size_of::<EnteredCall>());

/// Notes a call under way that came here without an entry of ours. The thread enters no call.
pub fn note_entry(thread: &RecorderThread, call: EnteredCall) {
    // As in an entry, the stack pointer comes first.
    thread.sp.set_volatile(call.sp);
    thread.caller.set_volatile(call.caller);
    thread.bp.set_volatile(call.bp);
}

/// Forgets the entry's note: the call path of its call is known.
#[inline(always)]
pub fn forget_entry(thread: &RecorderThread) {
    thread.sp.set_volatile(0);
}

/// Restores the note of the call that this one has interrupted, if any. Calls that are made meanwhile may have done so before, and have parked it again.
/// [`forget_entry`] came before.
#[inline(always)]
pub fn bring_back(thread: &RecorderThread) {
    if thread.n_parked.get_volatile() != 0 {
        restore_entry(thread);
    }
}

/// Does the work of [`forget_entry`] and [`bring_back`].
#[inline(always)]
pub fn leave_entry_state(thread: &RecorderThread) {
    forget_entry(thread);
    bring_back(thread);
}

/// Restores the note that was parked last, of the call that this one has interrupted.
#[cold]
#[inline(never)]
fn restore_entry(thread: &RecorderThread) {
    let number = thread.n_parked.get_volatile();
    let first = std::ptr::from_ref(thread).cast::<EnteredCall>().wrapping_sub(MAX_PARKED);
    // SAFETY: the parked calls lie before the thread's state.
    let call = unsafe { first.add((number - 1) % MAX_PARKED).read_volatile() };
    // The stack pointer comes first: from then on a handler's call parks the words and restores them.
    note_entry(thread, call);
    thread.next.set_volatile(call.next);
    thread.n_parked.set_volatile(number - 1);
}
