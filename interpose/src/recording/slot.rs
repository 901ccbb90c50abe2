//! The slot of a call's record in the thread's ring: filled before the real call, ended after it.
//!
//! A record is filled so that the ring is right at every instant: `begin` is stored last before the real call,
//! `end` first after it. So the recorder's own time counts as computation, not as MPI.

use std::sync::atomic::{Ordering::Release, compiler_fence};

use lbprof_collector::record::{CallFlags, NO_PEER, NONE, Record};

use crate::recording::call_path;
use crate::state::thread::RecorderThread;

#[derive(Clone, Copy)]
pub struct CallArguments {
    /// Peer, see [`Record::peer`].
    pub peer: i32,
    /// Tag, see [`Record::tag`].
    pub tag: i32,
    /// Communicator, see [`Record::comm`].
    pub comm: u32,
    /// Bytes sent, see [`Record::sent`].
    pub sent: u64,
    /// Bytes received, see [`Record::received`].
    pub received: u64,
    /// Flags besides the activity, see [`Record::flags`].
    pub flags: u16,
}

impl CallArguments {
    /// Nothing known but the communicator.
    #[inline(always)]
    pub fn on(comm: u32) -> Self {
        CallArguments { peer: NO_PEER, tag: NO_PEER, comm, sent: 0, received: 0, flags: 0 }
    }

    /// Nothing known at all.
    #[inline(always)]
    pub fn empty() -> Self {
        Self::on(NONE)
    }
}

/// Fills the reserved slot, all but its begin.
///
/// # Safety
/// `slot` came from [`reserve`](super::room::reserve_slot) on this thread.
#[inline(always)]
pub unsafe fn fill_slot(
    thread: &RecorderThread,
    slot: *mut Record,
    operation: u16,
    activity: u16,
    facts: CallArguments,
) {
    // SAFETY: the slot is this thread's own until the ring wraps.
    unsafe {
        // `end` is 0 since the slot was cleared.
        (*slot).call_site = call_path::current_path(thread);
        (*slot).sent = facts.sent;
        (*slot).received = facts.received;
        (*slot).peer = facts.peer;
        (*slot).tag = facts.tag;
        (*slot).comm = facts.comm;
        // Volatile, so that it is not stored together with facts that are constants, too: they would be loaded from a cache line in another page.
        (&raw mut (*slot).request).write_volatile(NONE);
        (*slot).operation = operation;
        (*slot).flags = CallFlags(facts.flags | activity);
        (*slot).count = 0;
    }
}

/// Stores the begin of a filled record, in ticks, just before the real call.
///
/// # Safety
/// `slot` came from [`reserve`](super::room::reserve_slot) on this thread.
#[inline(always)]
pub unsafe fn begin_slot(slot: *mut Record, ticks: u64) {
    compiler_fence(Release);
    // SAFETY: as above.
    unsafe { (&raw mut (*slot).begin).write_volatile(ticks) };
}

/// Reads the arguments of the call at `slot` anew by `facts`. The call was successful, so MPI may be asked about its handles.
///
/// # Safety
/// `slot` came from [`reserve`](super::room::reserve_slot) on this thread and its call has just returned.
pub unsafe fn learn_arguments(thread: &RecorderThread, slot: *mut Record, facts: impl FnOnce() -> CallArguments) {
    thread.asking.set(true);
    let facts = facts();
    thread.asking.set(false);
    // SAFETY: as above.
    unsafe { correct_slot(slot, facts) };
}

/// Stores the facts of a call anew: some were not known when its record was filled.
///
/// # Safety
/// `slot` came from [`reserve`](super::room::reserve_slot) on this thread.
pub unsafe fn correct_slot(slot: *mut Record, facts: CallArguments) {
    // SAFETY: as above.
    unsafe {
        (*slot).sent = facts.sent;
        (*slot).received = facts.received;
        (*slot).peer = facts.peer;
        (*slot).comm = facts.comm;
        (*slot).flags |= CallFlags(facts.flags);
    }
}

/// Stores the end of a call, in ticks, first of all that follows it.
///
/// # Safety
/// `slot` came from [`reserve`](super::room::reserve_slot) on this thread and its call has just returned.
#[inline(always)]
pub unsafe fn close_slot(slot: *mut Record, ticks: u64) {
    // SAFETY: as above.
    unsafe { (&raw mut (*slot).end).write_volatile(ticks) };
}

/// Stores a whole record in a slot that was taken for it.
///
/// # Safety
/// The slot is this thread's own.
#[inline(always)]
pub unsafe fn store_record(slot: *mut Record, record: Record) {
    // SAFETY: the caller's promise.
    unsafe {
        slot.write(Record { begin: 0, ..record });
        compiler_fence(Release);
        (&raw mut (*slot).begin).write_volatile(record.begin);
    }
}

/// Publishes a part whose facts are stored: its start, which is its end, makes it valid.
///
/// # Safety
/// `slot` came from [`add_part`](super::room::add_part) and is not null.
#[inline(always)]
pub unsafe fn publish_part(slot: *mut Record) {
    compiler_fence(Release);
    // SAFETY: the caller's promise.
    unsafe { (&raw mut (*slot).begin).write_volatile((*slot).end) };
}

/// Takes back the slot of the call that has just ended; its record is part of an earlier one.
///
/// # Safety
/// `slot` is the newest record of this thread's ring.
pub unsafe fn take_back(thread: &RecorderThread, slot: *mut Record) {
    // SAFETY: the caller's promise.
    unsafe {
        (&raw mut (*slot).begin).write_volatile(0);
        (*slot).end = 0;
    }
    thread.cursor.set(slot);
}
