//! Creation and freeing of communicators (MPI-4.1 chapters 7, 8, 11), and other calls that can block.

use std::ffi::{CStr, c_char};

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::Definition;
use lbprof_collector::record::{NONE, Record};

use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event};
use crate::handles::comms;
use crate::handles::comms::creation::{self, CommOrigin};
use crate::handles::requests::MAKES_COMM;
use crate::log;
use crate::mpi::call::call2;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::recording::slot::CallArguments;
use crate::word::Word;

#[derive(Clone, Copy)]
pub struct CommCreation {
    /// The parent's handle; 0 if there is no parent.
    parent: Word,
    newcomm: Word,
    birth: CommOrigin,
}

#[inline(always)]
fn create_with_origin<C: VerbCall>(call: C, parent: Word, newcomm: Word, birth: CommOrigin) -> VerbEvent<CommCreation> {
    let facts = CallArguments::on(call.comm(parent).id);
    let parent = call.handle(parent, ConvertedHandle::Comm);
    VerbEvent { facts, after: CommCreation { parent, newcomm, birth } }
}

impl AfterCall for CommCreation {
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        if !ok {
            return;
        }
        let handle = call.handle_at(self.newcomm, 0, ConvertedHandle::Comm);
        // SAFETY: a successful call stored the handle.
        let info = call.cold(|| Some(unsafe { creation::define_created(self.parent, handle, self.birth) }));
        if self.parent == 0 {
            // SAFETY: the slot is this call's.
            unsafe { (*slot).comm = info.map_or(NONE, |info| info.id) };
        }
    }
}

/// Records a call of all members of `comm` that creates a communicator.
#[inline(always)]
pub fn create_comm<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<CommCreation> {
    create_with_origin(call, comm, newcomm, CommOrigin::FromParent)
}

/// Records a call of the new communicator's members alone.
#[inline(always)]
pub fn create_comm_in_group<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<CommCreation> {
    create_with_origin(call, comm, newcomm, CommOrigin::InGroup)
}

#[inline(always)]
pub fn create_intercomm<C: VerbCall>(call: C, local_comm: Word, newcomm: Word) -> VerbEvent<CommCreation> {
    create_with_origin(call, local_comm, newcomm, CommOrigin::Inter)
}

#[derive(Clone, Copy)]
pub struct ProcessSpawning {
    creates: CommCreation,
    /// The program's name; 0 if the call starts several.
    command: Word,
    root: Word,
    comm: Word,
}

/// Records a new inter-communicator to processes that the call starts (MPI-4.1 §11.8). `command` is 0 if they run several programs.
#[inline(always)]
pub fn spawn<C: VerbCall>(
    call: C,
    command: Word,
    root: Word,
    comm: Word,
    intercomm: Word,
) -> VerbEvent<ProcessSpawning> {
    let event = create_with_origin(call, comm, intercomm, CommOrigin::FromParent);
    VerbEvent { facts: event.facts, after: ProcessSpawning { creates: event.after, command, root, comm } }
}

impl AfterCall for ProcessSpawning {
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: the inner one's; a successful call's arguments are good.
        unsafe {
            self.creates.after(call, slot, ok);
            if ok {
                call.cold(|| self.log_spawned(call));
            }
        }
    }
}

impl ProcessSpawning {
    /// Writes to the log how many processes of which program were started. Does so at the root, where the arguments are significant.
    ///
    /// # Safety
    /// The call has succeeded.
    unsafe fn log_spawned<C: VerbCall>(self, call: C) {
        let (mut rank, mut started) = (-1i32, 0i32);
        // SAFETY: the call was successful, so both communicators are good; the command is a string at the root.
        unsafe {
            let comm = call.handle(self.comm, ConvertedHandle::Comm);
            call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word);
            if rank != call.int(self.root) {
                return;
            }
            let children = call.handle_at(self.creates.newcomm, 0, ConvertedHandle::Comm);
            call2(c"PMPI_Comm_remote_size", children, &raw mut started as Word);
            // Fortran's names have no end.
            let program = if C::Language::FORTRAN || self.command == 0 {
                String::new()
            } else {
                format!(" of {}", CStr::from_ptr(self.command as *const c_char).to_string_lossy())
            };
            let detail = format!("{started} process{}{program}", if started == 1 { "" } else { "es" });
            log::define_now(Definition::Problem(ProblemKind::Spawned as u16, 1, detail));
        }
    }
}

/// Records a communicator made from a group (MPI-4.1 §7.4.2), from two groups, or over a socket.
#[inline(always)]
pub fn create_comm_without_parent<C: VerbCall>(_: C, newcomm: Word) -> VerbEvent<CommCreation> {
    VerbEvent { facts: CallArguments::empty(), after: CommCreation { parent: 0, newcomm, birth: CommOrigin::InGroup } }
}

/// Remembers the request, and the communicator that it makes.
#[derive(Clone, Copy)]
pub struct DeferredCommCreation {
    parent: Word,
    newcomm: Word,
    starts: super::RequestStart,
}

/// Records MPI_Comm_idup. MPI may be asked about the communicator only when the request has completed.
#[inline(always)]
pub fn create_comm_later<C: VerbCall>(
    call: C,
    comm: Word,
    newcomm: Word,
    request: Word,
) -> VerbEvent<DeferredCommCreation> {
    let facts = CallArguments::on(call.comm(comm).id);
    let parent = call.handle(comm, ConvertedHandle::Comm);
    let inner = VerbEvent { facts, after: PostedOperation::<MAKES_COMM> };
    let starts = super::start_request(call, request, inner).after;
    VerbEvent { facts, after: DeferredCommCreation { parent, newcomm, starts } }
}

impl AfterCall for DeferredCommCreation {
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: as for a start; the address of the new handle stays good until the request completes (MPI-4.1 §7.4.2).
        unsafe {
            self.starts.after(call, slot, ok);
            if ok {
                let request = (*slot).request;
                call.cold(|| {
                    creation::begin_later(request, self.parent, self.newcomm, |address| {
                        C::Language::handle_at(address, 0, ConvertedHandle::Comm)
                    })
                });
            }
        }
    }
}

#[inline(always)]
pub fn free_comm<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    let handle = call.handle_at(comm, 0, ConvertedHandle::Comm);
    // SAFETY: the calling thread's state, and the handle of a communicator, or what MPI will refuse.
    let info = unsafe { comms::find_comm(call.thread(), handle) };
    // SAFETY: as above.
    call.cold(|| unsafe { comms::forget_comm(handle) });
    complete_event(CallArguments::on(info.id))
}

/// Records a call of which only the time is known.
#[inline(always)]
pub fn act_without_comm<C: VerbCall>(_: C) -> VerbEvent<()> {
    complete_event(CallArguments::empty())
}
