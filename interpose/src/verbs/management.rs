//! Making and freeing communicators (MPI-4.1 chapters 7, 8, 11), and other calls that can block.

use std::ffi::{CStr, c_char};

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::Definition;
use lbprof_collector::record::Record;

use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event};
use crate::handles::comms;
use crate::handles::comms::creation::{self, CommOrigin};
use crate::handles::requests::MAKES_COMM;
use crate::harmless::enter;
use crate::log;
use crate::mpi::call::call2;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::word::Word;

/// Learns a new communicator.
#[derive(Clone, Copy)]
pub struct CommCreation<L> {
    parent: Word,
    newcomm: Word,
    birth: CommOrigin,
    language: std::marker::PhantomData<L>,
}

#[inline(always)]
fn creating<C: VerbCall>(
    call: C,
    parent: Word,
    newcomm: Word,
    birth: CommOrigin,
) -> VerbEvent<CommCreation<C::Language>> {
    let info = call.comm(parent);
    let parent = call.handle(parent, ConvertedHandle::Comm);
    VerbEvent {
        facts: CallArguments::on(info.id),
        after: CommCreation { parent, newcomm, birth, language: std::marker::PhantomData },
    }
}

impl<L: ArgumentLanguage> AfterCall for CommCreation<L> {
    unsafe fn after(self, thread: *mut RecorderThread, _: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.newcomm, 0, ConvertedHandle::Comm);
                enter::cold(thread, || {
                    creation::created(self.parent, handle, self.birth);
                });
            }
        }
    }
}

/// A new communicator by a call of all members of `comm`.
#[inline(always)]
pub fn create_comm<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<CommCreation<C::Language>> {
    creating(call, comm, newcomm, CommOrigin::FromParent)
}

/// A new communicator by a call of its members alone.
#[inline(always)]
pub fn create_comm_in_group<C: VerbCall>(call: C, comm: Word, newcomm: Word) -> VerbEvent<CommCreation<C::Language>> {
    creating(call, comm, newcomm, CommOrigin::InGroup)
}

/// A new inter-communicator.
#[inline(always)]
pub fn create_intercomm<C: VerbCall>(call: C, local_comm: Word, newcomm: Word) -> VerbEvent<CommCreation<C::Language>> {
    creating(call, local_comm, newcomm, CommOrigin::Inter)
}

/// A call that starts other programs.
#[derive(Clone, Copy)]
pub struct ProcessSpawning<L> {
    creates: CommCreation<L>,
    /// The program, where it is one and the call is C's: Fortran's names have no end.
    command: Option<Word>,
    root: Word,
    comm: Word,
}

/// A new inter-communicator to processes of one program that the call start (MPI-4.1 §11.8).
#[inline(always)]
pub fn spawn<C: VerbCall>(
    call: C,
    command: Word,
    root: Word,
    comm: Word,
    intercomm: Word,
) -> VerbEvent<ProcessSpawning<C::Language>> {
    let event = creating(call, comm, intercomm, CommOrigin::FromParent);
    let command = (!C::Language::FORTRAN).then_some(command);
    VerbEvent { facts: event.facts, after: ProcessSpawning { creates: event.after, command, root, comm } }
}

/// Records the start of several programs by one call (MPI-4.1 §11.8).
#[inline(always)]
pub fn spawn_multiple<C: VerbCall>(
    call: C,
    root: Word,
    comm: Word,
    intercomm: Word,
) -> VerbEvent<ProcessSpawning<C::Language>> {
    let event = creating(call, comm, intercomm, CommOrigin::FromParent);
    VerbEvent { facts: event.facts, after: ProcessSpawning { creates: event.after, command: None, root, comm } }
}

impl<L: ArgumentLanguage> AfterCall for ProcessSpawning<L> {
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: the inner one's; a successful call's arguments are good.
        unsafe {
            self.creates.after(thread, slot, ok);
            if ok {
                enter::cold(thread, || self.say_what());
            }
        }
    }
}

impl<L: ArgumentLanguage> ProcessSpawning<L> {
    /// The log says how many processes of what program were started. At the root, where the arguments are significant.
    ///
    /// # Safety
    /// The call has succeeded.
    unsafe fn say_what(self) {
        let (mut rank, mut started) = (-1i32, 0i32);
        // SAFETY: the call was successful, so both communicators are good; the command is a string at the root.
        unsafe {
            let comm = L::handle(self.comm, ConvertedHandle::Comm);
            call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word);
            if rank != L::int(self.root) {
                return;
            }
            let children = L::handle_at(self.creates.newcomm, 0, ConvertedHandle::Comm);
            call2(c"PMPI_Comm_remote_size", children, &raw mut started as Word);
            let program = match self.command {
                Some(command) if command != 0 => {
                    format!(" of {}", CStr::from_ptr(command as *const c_char).to_string_lossy())
                }
                _ => String::new(),
            };
            let detail = format!("{started} process{}{program}", if started == 1 { "" } else { "es" });
            log::define(Definition::Problem(ProblemKind::Spawned as u16, 1, detail));
        }
    }
}

/// A new communicator without a parent.
#[derive(Clone, Copy)]
pub struct CommCreationFromParent<L> {
    newcomm: Word,
    language: std::marker::PhantomData<L>,
}

impl<L: ArgumentLanguage> AfterCall for CommCreationFromParent<L> {
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.newcomm, 0, ConvertedHandle::Comm);
                let info = enter::cold(thread, || Some(creation::created(0, handle, CommOrigin::InGroup)));
                (*slot).comm = info.map_or(lbprof_collector::record::NONE, |info| info.id);
            }
        }
    }
}

/// From a group (MPI-4.1 §7.4.2), from two, or over a socket.
#[inline(always)]
pub fn create_comm_without_parent<C: VerbCall>(_: C, newcomm: Word) -> VerbEvent<CommCreationFromParent<C::Language>> {
    VerbEvent {
        facts: CallArguments::empty(),
        after: CommCreationFromParent { newcomm, language: std::marker::PhantomData },
    }
}

/// Remembers the request, and what it makes.
#[derive(Clone, Copy)]
pub struct DeferredCommCreation<L: ArgumentLanguage> {
    parent: Word,
    newcomm: Word,
    starts: super::RequestStart<L, false>,
}

/// MPI_Comm_idup: the communicator may be asked only when the request has completed.
#[inline(always)]
pub fn create_comm_later<C: VerbCall>(
    call: C,
    comm: Word,
    newcomm: Word,
    request: Word,
) -> VerbEvent<DeferredCommCreation<C::Language>> {
    let info = call.comm(comm);
    let parent = call.handle(comm, ConvertedHandle::Comm);
    let inner = VerbEvent { facts: CallArguments::on(info.id), after: PostedOperation::<MAKES_COMM> };
    let starts = super::start_request::<C, _>(call, request, inner);
    VerbEvent { facts: starts.facts, after: DeferredCommCreation { parent, newcomm, starts: starts.after } }
}

impl<L: ArgumentLanguage> AfterCall for DeferredCommCreation<L> {
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: as for a start; the address of the new handle stays good until the request complete (MPI-4.1 §7.4.2).
        unsafe {
            self.starts.after(thread, slot, ok);
            if ok {
                let request = (*slot).request;
                enter::cold(thread, || {
                    creation::begin_later(request, self.parent, self.newcomm, |address| {
                        L::handle_at(address, 0, ConvertedHandle::Comm)
                    })
                });
            }
        }
    }
}

/// A communicator is freed.
#[inline(always)]
pub fn free_comm<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    let handle = call.handle_at(comm, 0, ConvertedHandle::Comm);
    // SAFETY: the calling thread's state, and the handle of a communicator, or what MPI will refuse.
    let info = unsafe { comms::find(call.thread(), handle) };
    // SAFETY: as above.
    call.cold(|| unsafe { comms::forget(handle) });
    complete_event(CallArguments::on(info.id))
}

/// Another call on a communicator.
#[inline(always)]
pub fn manage<C: VerbCall>(call: C, comm: Word) -> VerbEvent<()> {
    complete_event(CallArguments::on(call.comm(comm).id))
}

/// A call of which only the time is known.
#[inline(always)]
pub fn manage_without_comm<C: VerbCall>(_: C) -> VerbEvent<()> {
    complete_event(CallArguments::empty())
}
