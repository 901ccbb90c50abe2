//! One-sided communication (MPI-4.1 chapter 12). `tag` holds the window's id.

use lbprof_collector::record::{Flags, NONE, Record};

use super::point_to_point::bytes;
use super::{After, Event, known};
use crate::handles::objects::WINDOWS;
use crate::handles::{comms, datatypes, groups};
use crate::harmless::enter;
use crate::mpi::abi;
use crate::mpi::lang::{Convert, Language};
use crate::mpi::predefined::{Null, is_null};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::word::{Word, int_at};

/// Facts of a call on a window.
#[inline(always)]
unsafe fn on<L: Language>(win: Word) -> Facts {
    // SAFETY: the verbs' contract.
    unsafe {
        let window = WINDOWS.find(L::handle(win, Convert::Win));
        let mut facts = Facts::on(window.comm);
        if window.id != NONE {
            facts.tag = window.id as i32;
        }
        facts
    }
}

/// Facts of a call on a window that moves data to or from a target; nothing where that is MPI_PROC_NULL.
#[inline(always)]
unsafe fn at<L: Language>(target_rank: Word, win: Word) -> Facts {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = on::<L>(win);
        facts.peer = L::int(target_rank);
        if facts.peer < 0 {
            facts.flags |= Flags::NOTHING.0;
        }
        facts
    }
}

/// Data go to a target.
#[inline(always)]
pub unsafe fn puts<L: Language>(
    thread: *mut Thread,
    target_rank: Word,
    win: Word,
    count: Word,
    datatype: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = at::<L>(target_rank, win);
        if facts.peer >= 0 {
            facts.sent = bytes::<L>(thread, count, datatype);
        }
        known(facts)
    }
}

/// Data come from a target.
#[inline(always)]
pub unsafe fn gets<L: Language>(
    thread: *mut Thread,
    target_rank: Word,
    win: Word,
    count: Word,
    datatype: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = at::<L>(target_rank, win);
        if facts.peer >= 0 {
            facts.received = bytes::<L>(thread, count, datatype);
        }
        known(facts)
    }
}

/// Data come from a target; others go there, unless the operation is MPI_NO_OP.
#[inline(always)]
pub unsafe fn fetches<L: Language>(
    thread: *mut Thread,
    target_rank: Word,
    win: Word,
    count: Word,
    datatype: Word,
    op: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut event = gets::<L>(thread, target_rank, win, count, datatype);
        if !is_null(Null::Op, L::handle(op, Convert::Op)) {
            event.facts.sent = event.facts.received;
        }
        event
    }
}

/// The same with one element.
#[inline(always)]
pub unsafe fn fetches_one<L: Language>(
    thread: *mut Thread,
    target_rank: Word,
    win: Word,
    datatype: Word,
    op: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut event = swaps::<L>(thread, target_rank, win, datatype);
        if is_null(Null::Op, L::handle(op, Convert::Op)) {
            event.facts.sent = 0;
        }
        event
    }
}

/// One element goes to a target, another comes back.
#[inline(always)]
pub unsafe fn swaps<L: Language>(thread: *mut Thread, target_rank: Word, win: Word, datatype: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = at::<L>(target_rank, win);
        if facts.peer >= 0 {
            facts.sent = datatypes::size(thread, L::handle(datatype, Convert::Datatype));
            facts.received = facts.sent;
        }
        known(facts)
    }
}

/// All ranks of the window meet.
#[inline(always)]
pub unsafe fn meets_on<L: Language>(_: *mut Thread, win: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe { known(on::<L>(win)) }
}

/// Synchronisation with one target.
#[inline(always)]
pub unsafe fn addresses<L: Language>(_: *mut Thread, rank: Word, win: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = on::<L>(win);
        facts.peer = L::int(rank);
        known(facts)
    }
}

/// A lock at one target.
#[inline(always)]
pub unsafe fn locks<L: Language>(thread: *mut Thread, lock_type: Word, rank: Word, win: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut event = addresses::<L>(thread, rank, win);
        if L::int(lock_type) == abi::lock_exclusive() {
            event.facts.flags |= Flags::EXCLUSIVE.0;
        }
        event
    }
}

/// Synchronisation with a group, which is asked once the call has succeeded: then its handle is good.
#[derive(Clone, Copy)]
pub struct AddressesGroup {
    group: Word,
}

/// See [`AddressesGroup`].
#[inline(always)]
pub unsafe fn addresses_group<L: Language>(_: *mut Thread, group: Word, win: Word) -> Event<AddressesGroup> {
    // SAFETY: the verbs' contract.
    unsafe { Event { facts: on::<L>(win), after: AddressesGroup { group: L::handle(group, Convert::Group) } } }
}

impl After for AddressesGroup {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
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
pub unsafe fn addresses_all<L: Language>(_: *mut Thread, win: Word) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe { known(on::<L>(win)) }
}

/// A test whether an exposure epoch is over.
#[derive(Clone, Copy)]
pub struct TestsOn {
    flag: Word,
}

/// See [`TestsOn`].
#[inline(always)]
pub unsafe fn tests_on<L: Language>(_: *mut Thread, win: Word, flag: Word) -> Event<TestsOn> {
    // SAFETY: the verbs' contract.
    unsafe { Event { facts: on::<L>(win), after: TestsOn { flag } } }
}

impl After for TestsOn {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
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
pub unsafe fn creates_window<L: Language>(thread: *mut Thread, comm: Word, win: Word) -> Event<CreatesWindow<L>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let comm = comms::find(thread, L::handle(comm, Convert::Comm));
        Event { facts: Facts::on(comm.id), after: CreatesWindow { win, language: std::marker::PhantomData } }
    }
}

impl<L: Language> After for CreatesWindow<L> {
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.win, 0, Convert::Win);
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
pub unsafe fn frees_window<L: Language>(thread: *mut Thread, win: Word) -> Event<()> {
    // SAFETY: the verbs' contract: the address of the handle.
    unsafe {
        let handle = L::handle_at(win, 0, Convert::Win);
        let window = WINDOWS.find(handle);
        enter::cold(thread, || WINDOWS.forget(handle));
        let mut facts = Facts::on(window.comm);
        if window.id != NONE {
            facts.tag = window.id as i32;
        }
        known(facts)
    }
}
