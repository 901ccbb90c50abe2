//! Files (MPI-4.1 chapter 14). `tag` holds the file's id.

use std::ffi::CStr;

use lbprof_collector::record::{NONE, Record};

use super::point_to_point::status_or_own;
use super::{After, Call, Event, Posted, known};
use crate::handles::objects::{FILES, Known};
use crate::handles::requests::{READS, WRITES};
use crate::harmless::enter;
use crate::mpi::lang::{Convert, Language};
use crate::mpi::status;
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::word::Word;

fn facts(file: Known) -> Facts {
    let mut facts = Facts::on(file.comm);
    if file.id != NONE {
        facts.tag = file.id as i32;
    }
    facts
}

/// Facts of a call on a file.
#[inline(always)]
fn on<C: Call>(call: C, fh: Word) -> Facts {
    facts(FILES.find(call.handle(fh, Convert::File)))
}

/// A file is opened.
#[derive(Clone, Copy)]
pub struct Opens<L> {
    filename: Word,
    fh: Word,
    language: std::marker::PhantomData<L>,
}

/// See [`Opens`].
#[inline(always)]
pub fn opens<C: Call>(call: C, comm: Word, filename: Word, fh: Word) -> Event<Opens<C::Language>> {
    let comm = call.comm(comm);
    Event { facts: Facts::on(comm.id), after: Opens { filename, fh, language: std::marker::PhantomData } }
}

impl<L: Language> After for Opens<L> {
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle; in C the name ends with a NUL. Fortran's has a hidden length and is not read.
        unsafe {
            if ok {
                let name = if L::FORTRAN || self.filename == 0 {
                    String::new()
                } else {
                    CStr::from_ptr(self.filename as *const std::ffi::c_char).to_string_lossy().into_owned()
                };
                let handle = L::handle_at(self.fh, 0, Convert::File);
                let comm = (*slot).comm;
                if let Some(file) = enter::cold(thread, || Some(FILES.created(handle, comm, name))) {
                    (*slot).tag = file.id as i32;
                }
            }
        }
    }
}

/// A file is closed.
#[inline(always)]
pub fn closes<C: Call>(call: C, fh: Word) -> Event<()> {
    let handle = call.handle_at(fh, 0, Convert::File);
    let file = FILES.find(handle);
    call.cold(|| FILES.forget(handle));
    known(facts(file))
}

/// Any other call on a file that can block.
#[inline(always)]
pub fn acts_on<C: Call>(call: C, fh: Word) -> Event<()> {
    known(on(call, fh))
}

/// Takes the bytes transferred from the status.
#[derive(Clone, Copy)]
pub struct Transfers {
    status: Word,
    reads: bool,
}

impl After for Transfers {
    #[inline(always)]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call filled the status.
        unsafe {
            if ok {
                let bytes = status::read_status(self.status).bytes;
                if self.reads {
                    (*slot).received = bytes;
                } else {
                    (*slot).sent = bytes;
                }
            }
        }
    }
}

#[inline(always)]
fn transfers<C: Call>(call: C, fh: Word, status: &mut Word, reads: bool) -> Event<Transfers> {
    let status = status_or_own(call, status);
    Event { facts: on(call, fh), after: Transfers { status, reads } }
}

/// A blocking read.
#[inline(always)]
pub fn reads<C: Call>(call: C, fh: Word, status: &mut Word) -> Event<Transfers> {
    transfers(call, fh, status, true)
}

/// A blocking write.
#[inline(always)]
pub fn writes<C: Call>(call: C, fh: Word, status: &mut Word) -> Event<Transfers> {
    transfers(call, fh, status, false)
}

/// A nonblocking or split read; what was read is known at its end.
#[inline(always)]
pub fn posts_read<C: Call>(call: C, fh: Word) -> Event<Posted<READS>> {
    Event { facts: on(call, fh), after: Posted }
}

/// A nonblocking or split write.
#[inline(always)]
pub fn posts_write<C: Call>(call: C, fh: Word, count: Word, datatype: Word) -> Event<Posted<WRITES>> {
    let mut facts = on(call, fh);
    facts.sent = call.bytes(count, datatype);
    Event { facts, after: Posted }
}

/// The end of a split read.
#[inline(always)]
pub fn ends_read<C: Call>(call: C, fh: Word, status: &mut Word) -> Event<Transfers> {
    transfers(call, fh, status, true)
}

/// The end of a split write.
#[inline(always)]
pub fn ends_write<C: Call>(call: C, fh: Word, status: &mut Word) -> Event<Transfers> {
    transfers(call, fh, status, false)
}
