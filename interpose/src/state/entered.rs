//! The notes that entries make of calls, kept when a handler interrupts a call before they have been used.
//!
//! A call is being entered from the entry's first store, of the stack pointer, to [`forget_entry`]. The entry of a call that a handler makes meanwhile finds
//! the stack pointer there and first parks the four words ([`crate::processor`]); [`bring_back`] restores them. Handlers interrupt one another in turn,
//! so the parked words are a stack, and each step of either leaves them right for a handler that comes after it.
//!
//! A handler that leaves by siglongjmp leaves useless words parked. They cost the thread's calls some instructions, and go when there is no room for more.

use std::mem::offset_of;

use crate::processor::{EnteredCall, MAX_PARKED};
use crate::state::thread::RecorderThread;

const _: () = assert!(offset_of!(RecorderThread, caller) == offset_of!(EnteredCall, caller));
const _: () = assert!(offset_of!(RecorderThread, next) == offset_of!(EnteredCall, next));
const _: () = assert!(offset_of!(RecorderThread, sp) == offset_of!(EnteredCall, sp));
const _: () = assert!(offset_of!(RecorderThread, bp) == offset_of!(EnteredCall, bp));
const _: () = assert!(offset_of!(RecorderThread, n_parked) == size_of::<EnteredCall>());

/// Notes a call that came here without an entry of ours.
///
/// # Safety
/// `thread` is the calling thread's state, which enters no call; the words belong to a call under way on it.
pub unsafe fn note_entry(thread: *mut RecorderThread, call: EnteredCall) {
    // SAFETY: the thread's own state. As in an entry, the stack pointer comes first.
    unsafe {
        (&raw mut (*thread).sp).write_volatile(call.sp);
        (&raw mut (*thread).caller).write_volatile(call.caller);
        (&raw mut (*thread).bp).write_volatile(call.bp);
    }
}

/// Forgets the entry's note: the call path of its call is known.
///
/// # Safety
/// `thread` is the calling thread's state, entered by a stub of the wrappers.
#[inline(always)]
pub unsafe fn forget_entry(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe { (&raw mut (*thread).sp).write_volatile(0) };
}

/// Restores the note of the call that this one has interrupted, if any. Calls that are made meanwhile may have done so before, and have parked it again.
///
/// # Safety
/// As [`forget_entry`], which came before.
#[inline(always)]
pub unsafe fn bring_back(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state.
    unsafe {
        if (&raw const (*thread).n_parked).read_volatile() != 0 {
            restore_entry(thread);
        }
    }
}

/// Does the work of [`forget_entry`] and [`bring_back`].
///
/// # Safety
/// As both.
#[inline(always)]
pub unsafe fn leave_entry_state(thread: *mut RecorderThread) {
    // SAFETY: the caller's promise.
    unsafe {
        forget_entry(thread);
        bring_back(thread);
    }
}

/// Restores the note that was parked last, of the call that this one has interrupted.
#[cold]
#[inline(never)]
unsafe fn restore_entry(thread: *mut RecorderThread) {
    // SAFETY: the thread's own state, before which the parked calls lie. The stack pointer comes first: from then on a handler's call parks the words and
    // restores them.
    unsafe {
        let number = (&raw const (*thread).n_parked).read_volatile();
        let first = thread.cast::<EnteredCall>().sub(MAX_PARKED);
        let call = first.add((number - 1) % MAX_PARKED).read_volatile();
        note_entry(thread, call);
        (&raw mut (*thread).next).write_volatile(call.next);
        (&raw mut (*thread).n_parked).write_volatile(number - 1);
    }
}
