//! Creation and freeing of communicators (MPI-4.1 chapters 7, 8, 11), and other calls that can block.

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::Definition;
use lbprof_collector::record::NONE;

use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event, event_with_work};
use crate::handles::comms;
use crate::handles::comms::creation::{self, CommOrigin};
use crate::handles::requests::MAKES_COMM;
use crate::log;
use crate::machine::word::Word;
use crate::mpi::call::ask_mpi;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::recording::slot::CallArguments;

#[inline(always)]
fn create_with_origin<C: VerbCall>(
    call: C,
    parent: Word,
    newcomm: Word,
    birth: CommOrigin,
) -> VerbEvent<impl AfterCall> {
    let facts = CallArguments::on(call.comm(parent).id);
    learn_created(call, facts, call.handle(parent, ConvertedHandle::Comm), newcomm, birth)
}

/// Has the new communicator defined. `parent` is its parent's handle; 0 if there is no parent.
#[inline(always)]
fn learn_created<C: VerbCall>(
    call: C,
    facts: CallArguments,
    parent: Word,
    newcomm: Word,
    birth: CommOrigin,
) -> VerbEvent<impl AfterCall> {
    event_with_work(facts, move |record, ok| {
        let handle = if ok { call.handle_at(newcomm, 0, ConvertedHandle::Comm) } else { return };
        let info = call.cold(|| Some(creation::define_created(parent, handle, birth)));
        if parent == 0 {
            record.comm = info.map_or(NONE, |info| info.id);
        }
    })
}

/// Records a call of all members of `comm` that creates a communicator.
#[inline(always)]
pub fn create_comm<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<impl AfterCall> {
    create_with_origin(call, comm, newcomm, CommOrigin::FromParent)
}

/// Records a call of the new communicator's members alone.
#[inline(always)]
pub fn create_comm_in_group<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<impl AfterCall> {
    create_with_origin(call, comm, newcomm, CommOrigin::InGroup)
}

#[inline(always)]
pub fn create_intercomm<C: VerbCall>(call: C, local_comm: Word, newcomm: Word) -> VerbEvent<impl AfterCall> {
    create_with_origin(call, local_comm, newcomm, CommOrigin::Inter)
}

/// Records a new inter-communicator to processes that the call starts (MPI-4.1 §11.8). `command` is 0 if they run several programs.
#[inline(always)]
pub fn spawn<C: VerbCall>(
    call: C,
    command: Word,
    root: Word,
    comm: Word,
    intercomm: Word,
) -> VerbEvent<impl AfterCall> {
    let VerbEvent { facts, after } = create_with_origin(call, comm, intercomm, CommOrigin::FromParent);
    event_with_work(facts, move |record, ok| {
        // SAFETY: the slot is this call's.
        unsafe { after.after(call, record, ok) };
        if ok {
            call.cold(|| log_spawned(call, command, root, comm, intercomm));
        }
    })
}

/// Writes to the log how many processes of which program a successful call has started. Does so at the root, where the arguments are significant.
fn log_spawned<C: VerbCall>(call: C, command: Word, root: Word, comm: Word, intercomm: Word) {
    let rank = ask_mpi(c"PMPI_Comm_rank", [call.handle(comm, ConvertedHandle::Comm)], -1i32);
    if rank != call.int(root) {
        return;
    }
    let children = call.handle_at(intercomm, 0, ConvertedHandle::Comm);
    let started = ask_mpi(c"PMPI_Comm_remote_size", [children], 0i32);
    let program = Some(call.text(command)).filter(|name| !name.is_empty()).map(|name| format!(" of {name}"));
    let detail = format!("{started} process{}{}", if started == 1 { "" } else { "es" }, program.unwrap_or_default());
    log::define_now(Definition::Problem(ProblemKind::Spawned as u16, 1, detail));
}

/// Records a communicator made from a group (MPI-4.1 §7.4.2), from two groups, or over a socket.
#[inline(always)]
pub fn create_comm_without_parent<C: VerbCall>(call: C, newcomm: Word) -> VerbEvent<impl AfterCall> {
    learn_created(call, CallArguments::empty(), 0, newcomm, CommOrigin::InGroup)
}

/// Records MPI_Comm_idup. MPI may be asked about the communicator only when the request has completed.
#[inline(always)]
pub fn create_comm_later<C: VerbCall>(call: C, comm: Word, newcomm: Word, request: Word) -> VerbEvent<impl AfterCall> {
    let facts = CallArguments::on(call.comm(comm).id);
    let parent = call.handle(comm, ConvertedHandle::Comm);
    let starts = super::start_request(call, request, VerbEvent { facts, after: PostedOperation::<MAKES_COMM> }).after;
    event_with_work(facts, move |record, ok| {
        // SAFETY: the slot is this call's.
        unsafe { starts.after(call, record, ok) };
        if ok {
            call.cold(|| {
                creation::begin_later(record.request, parent, newcomm, |address| {
                    // SAFETY: the address of the new handle stays good until the request completes (MPI-4.1 §7.4.2).
                    unsafe { C::Language::handle_at(address, 0, ConvertedHandle::Comm) }
                })
            });
        }
    })
}

#[inline(always)]
pub fn free_comm<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    let handle = call.handle_at(comm, 0, ConvertedHandle::Comm);
    let info = comms::find_comm(call.thread(), handle);
    call.cold(|| comms::forget_comm(handle));
    complete_event(CallArguments::on(info.id))
}

/// Records a call of which only the time is known.
#[inline(always)]
pub fn act_without_comm<C: VerbCall>(_: C) -> VerbEvent<()> {
    complete_event(CallArguments::empty())
}
