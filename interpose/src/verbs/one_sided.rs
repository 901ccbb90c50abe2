//! Verbs of one-sided communication (MPI-4.1 chapter 12). `tag` holds the window's id.

use lbprof_collector::record::{CallFlags, NONE, Record};

use super::{AfterCall, VerbCall, VerbEvent, complete_event};
use crate::handles::groups;
use crate::handles::objects::WINDOWS;
use crate::harmless::enter;
use crate::mpi::abi;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined::{NullHandle, is_null};
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::word::{Word, int_at};

/// Facts of a call on a window.
#[inline(always)]
fn on<C: VerbCall>(call: C, win: Word) -> CallArguments {
    let window = WINDOWS.find(call.handle(win, ConvertedHandle::Win));
    let mut facts = CallArguments::on(window.comm);
    if window.id != NONE {
        facts.tag = window.id as i32;
    }
    facts
}

/// Facts of a call on a window that moves data to or from a target; nothing where that is MPI_PROC_NULL.
#[inline(always)]
fn target_arguments<C: VerbCall>(call: C, target_rank: Word, win: Word) -> CallArguments {
    let mut facts = on(call, win);
    facts.peer = call.int(target_rank);
    if facts.peer < 0 {
        facts.flags |= CallFlags::NOTHING.0;
    }
    facts
}

/// Data go to a target.
#[inline(always)]
pub fn put<C: VerbCall>(call: C, target_rank: Word, win: Word, count: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.sent = call.bytes(count, datatype);
    }
    complete_event(facts)
}

/// Data come from a target.
#[inline(always)]
pub fn get<C: VerbCall>(call: C, target_rank: Word, win: Word, count: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.received = call.bytes(count, datatype);
    }
    complete_event(facts)
}

/// Data come from a target; others go there, unless the operation is MPI_NO_OP.
#[inline(always)]
pub fn fetch<C: VerbCall>(
    call: C,
    target_rank: Word,
    win: Word,
    count: Word,
    datatype: Word,
    op: Word,
) -> VerbEvent<()> {
    let mut event = get(call, target_rank, win, count, datatype);
    if !is_null(NullHandle::Op, call.handle(op, ConvertedHandle::Op)) {
        event.facts.sent = event.facts.received;
    }
    event
}

/// Records a fetch of one element.
#[inline(always)]
pub fn fetch_one<C: VerbCall>(call: C, target_rank: Word, win: Word, datatype: Word, op: Word) -> VerbEvent<()> {
    let mut event = swap(call, target_rank, win, datatype);
    if is_null(NullHandle::Op, call.handle(op, ConvertedHandle::Op)) {
        event.facts.sent = 0;
    }
    event
}

/// Records a compare-and-swap: an element goes to a target, another comes back.
#[inline(always)]
pub fn swap<C: VerbCall>(call: C, target_rank: Word, win: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.sent = call.size(datatype);
        facts.received = facts.sent;
    }
    complete_event(facts)
}

/// A call in which the ranks of the window synchronise.
#[inline(always)]
pub fn synchronise_window<C: VerbCall>(call: C, win: Word) -> VerbEvent<()> {
    complete_event(on(call, win))
}

/// Synchronisation with one target.
#[inline(always)]
pub fn address_rank<C: VerbCall>(call: C, rank: Word, win: Word) -> VerbEvent<()> {
    let mut facts = on(call, win);
    facts.peer = call.int(rank);
    complete_event(facts)
}

/// A lock at one target.
#[inline(always)]
pub fn lock_window<C: VerbCall>(call: C, lock_type: Word, rank: Word, win: Word) -> VerbEvent<()> {
    let mut event = address_rank(call, rank, win);
    if call.int(lock_type) == abi::lock_exclusive() {
        event.facts.flags |= CallFlags::EXCLUSIVE.0;
    }
    event
}

/// Synchronisation with a group, which is asked once the call has succeeded: then its handle is good.
#[derive(Clone, Copy)]
pub struct AddressesGroup {
    group: Word,
}

/// See [`AddressesGroup`].
#[inline(always)]
pub fn address_group<C: VerbCall>(call: C, group: Word, win: Word) -> VerbEvent<AddressesGroup> {
    VerbEvent { facts: on(call, win), after: AddressesGroup { group: call.handle(group, ConvertedHandle::Group) } }
}

impl AfterCall for AddressesGroup {
    #[inline]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: a call with the group has succeeded, so its handle is valid.
        unsafe {
            if ok && let Some(id) = enter::cold(thread, || groups::id(self.group)) {
                (*slot).count = id + 1;
            }
        }
    }
}

/// Synchronisation with all ranks, or those of the epoch.
#[inline(always)]
pub fn address_all<C: VerbCall>(call: C, win: Word) -> VerbEvent<()> {
    complete_event(on(call, win))
}

/// A test whether an exposure epoch is over.
#[derive(Clone, Copy)]
pub struct TestsOn {
    flag: Word,
}

/// See [`TestsOn`].
#[inline(always)]
pub fn test_window<C: VerbCall>(call: C, win: Word, flag: Word) -> VerbEvent<TestsOn> {
    VerbEvent { facts: on(call, win), after: TestsOn { flag } }
}

impl AfterCall for TestsOn {
    #[inline]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        unsafe { int_at(self.flag) == 0 }
    }

    #[inline]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag is filled by a successful call.
        unsafe {
            if ok && int_at(self.flag) == 0 {
                super::polls::found_nothing(thread, slot);
            }
        }
    }
}

/// A new window.
#[derive(Clone, Copy)]
pub struct CreatesWindow<L> {
    win: Word,
    language: std::marker::PhantomData<L>,
}

/// See [`CreatesWindow`].
#[inline(always)]
pub fn create_window<C: VerbCall>(call: C, comm: Word, win: Word) -> VerbEvent<CreatesWindow<C::Language>> {
    let comm = call.comm(comm);
    VerbEvent { facts: CallArguments::on(comm.id), after: CreatesWindow { win, language: std::marker::PhantomData } }
}

impl<L: ArgumentLanguage> AfterCall for CreatesWindow<L> {
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.win, 0, ConvertedHandle::Win);
                let comm = (*slot).comm;
                if let Some(window) = enter::cold(thread, || Some(WINDOWS.created(handle, comm, String::new()))) {
                    (*slot).tag = window.id as i32;
                }
            }
        }
    }
}

/// A window is freed.
#[inline(always)]
pub fn free_window<C: VerbCall>(call: C, win: Word) -> VerbEvent<()> {
    let handle = call.handle_at(win, 0, ConvertedHandle::Win);
    let window = WINDOWS.find(handle);
    call.cold(|| WINDOWS.forget(handle));
    let mut facts = CallArguments::on(window.comm);
    if window.id != NONE {
        facts.tag = window.id as i32;
    }
    complete_event(facts)
}
