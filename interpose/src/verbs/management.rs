//! Making and freeing communicators (MPI-4.1 chapters 7, 8, 11), and other calls that can block.

use std::ffi::{CStr, c_char};

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::Definition;
use lbprof_collector::record::Record;

use super::{After, Call, Event, Posted, known};
use crate::handles::comms;
use crate::handles::comms::births::{self, Birth};
use crate::handles::requests::MAKES_COMM;
use crate::harmless::enter;
use crate::log;
use crate::mpi::call::call2;
use crate::mpi::lang::{Convert, Language};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::word::Word;

/// Learns a new communicator.
#[derive(Clone, Copy)]
pub struct Creates<L> {
    parent: Word,
    newcomm: Word,
    birth: Birth,
    language: std::marker::PhantomData<L>,
}

#[inline(always)]
fn creating<C: Call>(call: C, parent: Word, newcomm: Word, birth: Birth) -> Event<Creates<C::Language>> {
    let info = call.comm(parent);
    let parent = call.handle(parent, Convert::Comm);
    Event { facts: Facts::on(info.id), after: Creates { parent, newcomm, birth, language: std::marker::PhantomData } }
}

impl<L: Language> After for Creates<L> {
    unsafe fn after(self, thread: *mut Thread, _: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.newcomm, 0, Convert::Comm);
                enter::cold(thread, || {
                    births::created(self.parent, handle, self.birth);
                });
            }
        }
    }
}

/// A new communicator by a call of all members of `comm`.
#[inline(always)]
pub fn creates<C: Call>(call: C, comm: Word, newcomm: Word) -> Event<Creates<C::Language>> {
    creating(call, comm, newcomm, Birth::FromParent)
}

/// A new communicator by a call of its members alone.
#[inline(always)]
pub fn creates_in_group<C: Call>(call: C, comm: Word, newcomm: Word) -> Event<Creates<C::Language>> {
    creating(call, comm, newcomm, Birth::InGroup)
}

/// A new inter-communicator.
#[inline(always)]
pub fn creates_inter<C: Call>(call: C, local_comm: Word, newcomm: Word) -> Event<Creates<C::Language>> {
    creating(call, local_comm, newcomm, Birth::Inter)
}

/// Other programs are started.
#[derive(Clone, Copy)]
pub struct Spawns<L> {
    creates: Creates<L>,
    /// The program, where it is one and the call is C's: Fortran's names have no end.
    command: Option<Word>,
    root: Word,
    comm: Word,
}

/// A new inter-communicator to processes of one program that the call starts (MPI-4.1 §11.8).
#[inline(always)]
pub fn spawns<C: Call>(call: C, command: Word, root: Word, comm: Word, intercomm: Word) -> Event<Spawns<C::Language>> {
    let event = creating(call, comm, intercomm, Birth::FromParent);
    let command = (!C::Language::FORTRAN).then_some(command);
    Event { facts: event.facts, after: Spawns { creates: event.after, command, root, comm } }
}

/// The same of several programs.
#[inline(always)]
pub fn spawns_several<C: Call>(call: C, root: Word, comm: Word, intercomm: Word) -> Event<Spawns<C::Language>> {
    let event = creating(call, comm, intercomm, Birth::FromParent);
    Event { facts: event.facts, after: Spawns { creates: event.after, command: None, root, comm } }
}

impl<L: Language> After for Spawns<L> {
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the inner one's; a successful call's arguments are good.
        unsafe {
            self.creates.after(thread, slot, ok);
            if ok {
                enter::cold(thread, || self.say_what());
            }
        }
    }
}

impl<L: Language> Spawns<L> {
    /// The log says how many processes of what program were started. At the root, where the arguments are significant.
    ///
    /// # Safety
    /// The call has succeeded.
    unsafe fn say_what(self) {
        let (mut rank, mut started) = (-1i32, 0i32);
        // SAFETY: the call was successful, so both communicators are good; the command is a string at the root.
        unsafe {
            let comm = L::handle(self.comm, Convert::Comm);
            call2(c"PMPI_Comm_rank", comm, &raw mut rank as Word);
            if rank != L::int(self.root) {
                return;
            }
            let children = L::handle_at(self.creates.newcomm, 0, Convert::Comm);
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
pub struct CreatesFrom<L> {
    newcomm: Word,
    language: std::marker::PhantomData<L>,
}

impl<L: Language> After for CreatesFrom<L> {
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle.
        unsafe {
            if ok {
                let handle = L::handle_at(self.newcomm, 0, Convert::Comm);
                let info = enter::cold(thread, || Some(births::created(0, handle, Birth::InGroup)));
                (*slot).comm = info.map_or(lbprof_collector::record::NONE, |info| info.id);
            }
        }
    }
}

/// From a group (MPI-4.1 §7.4.2), from two, or over a socket.
#[inline(always)]
pub fn creates_from<C: Call>(_: C, newcomm: Word) -> Event<CreatesFrom<C::Language>> {
    Event { facts: Facts::none(), after: CreatesFrom { newcomm, language: std::marker::PhantomData } }
}

/// Remembers the request, and what it makes.
#[derive(Clone, Copy)]
pub struct CreatesLater<L: Language> {
    parent: Word,
    newcomm: Word,
    starts: super::Starts<L, false>,
}

/// MPI_Comm_idup: the communicator may be asked only when the request has completed.
#[inline(always)]
pub fn creates_later<C: Call>(call: C, comm: Word, newcomm: Word, request: Word) -> Event<CreatesLater<C::Language>> {
    let info = call.comm(comm);
    let parent = call.handle(comm, Convert::Comm);
    let inner = Event { facts: Facts::on(info.id), after: Posted::<MAKES_COMM> };
    let starts = super::starts_as::<C, _>(call, request, inner);
    Event { facts: starts.facts, after: CreatesLater { parent, newcomm, starts: starts.after } }
}

impl<L: Language> After for CreatesLater<L> {
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: as for a start; the address of the new handle stays good until the request completes (MPI-4.1 §7.4.2).
        unsafe {
            self.starts.after(thread, slot, ok);
            if ok {
                let request = (*slot).request;
                let read = |address| L::handle_at(address, 0, Convert::Comm);
                enter::cold(thread, || births::begin_later(request, self.parent, self.newcomm, read));
            }
        }
    }
}

/// A communicator is freed.
#[inline(always)]
pub fn frees_comm<C: Call>(call: C, comm: Word) -> Event<()> {
    let handle = call.handle_at(comm, 0, Convert::Comm);
    // SAFETY: the calling thread's state, and the handle of a communicator, or what MPI will refuse.
    let info = unsafe { comms::find(call.thread(), handle) };
    // SAFETY: as above.
    call.cold(|| unsafe { comms::forget(handle) });
    known(Facts::on(info.id))
}

/// Another call on a communicator.
#[inline(always)]
pub fn manages<C: Call>(call: C, comm: Word) -> Event<()> {
    known(Facts::on(call.comm(comm).id))
}

/// A call of which only the time is known.
#[inline(always)]
pub fn manages_nothing<C: Call>(_: C) -> Event<()> {
    known(Facts::none())
}
