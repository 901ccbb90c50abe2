//! Verbs of one-sided communication (MPI-4.1 chapter 12). `tag` holds the window's id.

use lbprof_collector::record::CallFlags;

use super::io::create_object;
use super::polls::FlagTest;
use super::{AfterCall, VerbCall, VerbEvent, complete_event, event_with_work, free_object, object_arguments};
use crate::handles::groups;
use crate::handles::objects::WINDOWS;
use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::lang::ConvertedHandle;
use crate::mpi::predefined::{PredefinedHandle, is_predefined};
use crate::recording::slot::CallArguments;

#[inline(always)]
fn window_arguments<C: VerbCall>(call: C, win: Word) -> CallArguments {
    object_arguments(WINDOWS.find(call.handle(win, ConvertedHandle::Win)))
}

/// Returns the facts of a call that moves data to or from a target, which may be MPI_PROC_NULL.
#[inline(always)]
fn target_arguments<C: VerbCall>(call: C, target_rank: Word, win: Word) -> CallArguments {
    let mut facts = window_arguments(call, win);
    facts.peer = call.int(target_rank);
    if facts.peer < 0 {
        facts.flags |= CallFlags::NOTHING.0;
    }
    facts
}

/// Records data sent to a target.
#[inline(always)]
pub fn put<C: VerbCall>(call: C, target_rank: Word, win: Word, count: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.sent = call.bytes(count, datatype);
    }
    complete_event(facts)
}

/// Records data fetched from a target.
#[inline(always)]
pub fn get<C: VerbCall>(call: C, target_rank: Word, win: Word, count: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.received = call.bytes(count, datatype);
    }
    complete_event(facts)
}

/// Records data fetched from a target, and data sent there unless the operation is MPI_NO_OP.
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
    if !is_predefined(PredefinedHandle::NoOp, call.handle(op, ConvertedHandle::Op)) {
        event.facts.sent = event.facts.received;
    }
    event
}

#[inline(always)]
pub fn fetch_one<C: VerbCall>(call: C, target_rank: Word, win: Word, datatype: Word, op: Word) -> VerbEvent<()> {
    let mut event = swap(call, target_rank, win, datatype);
    if is_predefined(PredefinedHandle::NoOp, call.handle(op, ConvertedHandle::Op)) {
        event.facts.sent = 0;
    }
    event
}

/// Records a compare-and-swap, which sends an element to a target and fetches another.
#[inline(always)]
pub fn swap<C: VerbCall>(call: C, target_rank: Word, win: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = target_arguments(call, target_rank, win);
    if facts.peer >= 0 {
        facts.sent = call.size(datatype);
        facts.received = facts.sent;
    }
    complete_event(facts)
}

/// Records synchronisation of the window's ranks, with all ranks, or with the ranks of the epoch.
#[inline(always)]
pub fn act_on_window<C: VerbCall>(call: C, win: Word) -> VerbEvent<()> {
    complete_event(window_arguments(call, win))
}

#[inline(always)]
pub fn address_rank<C: VerbCall>(call: C, rank: Word, win: Word) -> VerbEvent<()> {
    let mut facts = window_arguments(call, win);
    facts.peer = call.int(rank);
    complete_event(facts)
}

#[inline(always)]
pub fn lock_window<C: VerbCall>(call: C, lock_type: Word, rank: Word, win: Word) -> VerbEvent<()> {
    let mut event = address_rank(call, rank, win);
    if call.int(lock_type) == current_abi().lock_exclusive {
        event.facts.flags |= CallFlags::EXCLUSIVE.0;
    }
    event
}

/// Records synchronisation with a group, which MPI is asked about once the call has succeeded: then its handle is good.
#[inline(always)]
pub fn address_group<C: VerbCall>(call: C, group: Word, win: Word) -> VerbEvent<impl AfterCall> {
    let group = call.handle(group, ConvertedHandle::Group);
    event_with_work(window_arguments(call, win), move |record, ok| {
        if ok && let Some(id) = call.cold(|| groups::group_id(group)) {
            record.count = id + 1;
        }
    })
}

/// Records a test whether an exposure epoch is over.
#[inline(always)]
pub fn test_window<C: VerbCall>(call: C, win: Word, flag: Word) -> VerbEvent<FlagTest> {
    VerbEvent { facts: window_arguments(call, win), after: FlagTest { out: flag } }
}

#[inline(always)]
pub fn create_window<C: VerbCall>(call: C, comm: Word, win: Word) -> VerbEvent<impl AfterCall> {
    create_object(call, comm, &WINDOWS, ConvertedHandle::Win, win, 0)
}

#[inline(always)]
pub fn free_window<C: VerbCall>(call: C, win: Word) -> VerbEvent<()> {
    free_object(call, &WINDOWS, win, ConvertedHandle::Win)
}
