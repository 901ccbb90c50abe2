//! Files (MPI-4.1 chapter 14). `tag` holds the file's id.

use std::ffi::CStr;

use lbprof_collector::record::{NONE, Record};

use super::point_to_point::status_or_own;
use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event};
use crate::handles::objects::{FILES, ObjectIds};
use crate::handles::requests::{READS, WRITES};
use crate::harmless::enter;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::status;
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::word::Word;

fn facts(file: ObjectIds) -> CallArguments {
    let mut facts = CallArguments::on(file.comm);
    if file.id != NONE {
        facts.tag = file.id as i32;
    }
    facts
}

/// Facts of a call on a file.
#[inline(always)]
fn on<C: VerbCall>(call: C, fh: Word) -> CallArguments {
    facts(FILES.find(call.handle(fh, ConvertedHandle::File)))
}

/// A file is opened.
#[derive(Clone, Copy)]
pub struct FileOpening<L> {
    filename: Word,
    fh: Word,
    language: std::marker::PhantomData<L>,
}

/// See [`FileOpening`].
#[inline(always)]
pub fn open_file<C: VerbCall>(call: C, comm: Word, filename: Word, fh: Word) -> VerbEvent<FileOpening<C::Language>> {
    let comm = call.comm(comm);
    VerbEvent {
        facts: CallArguments::on(comm.id),
        after: FileOpening { filename, fh, language: std::marker::PhantomData },
    }
}

impl<L: ArgumentLanguage> AfterCall for FileOpening<L> {
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call stored the handle; in C the name ends with a NUL. Fortran's has a hidden length and is not read.
        unsafe {
            if ok {
                let name = if L::FORTRAN || self.filename == 0 {
                    String::new()
                } else {
                    CStr::from_ptr(self.filename as *const std::ffi::c_char).to_string_lossy().into_owned()
                };
                let handle = L::handle_at(self.fh, 0, ConvertedHandle::File);
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
pub fn close_file<C: VerbCall>(call: C, fh: Word) -> VerbEvent<()> {
    let handle = call.handle_at(fh, 0, ConvertedHandle::File);
    let file = FILES.find(handle);
    call.cold(|| FILES.forget(handle));
    complete_event(facts(file))
}

/// Any other call on a file that can block.
#[inline(always)]
pub fn act_on_file<C: VerbCall>(call: C, fh: Word) -> VerbEvent<()> {
    complete_event(on(call, fh))
}

/// Takes the bytes transferred from the status.
#[derive(Clone, Copy)]
pub struct FileTransfer {
    status: Word,
    reads: bool,
}

impl AfterCall for FileTransfer {
    #[inline(always)]
    unsafe fn after(self, _: *mut RecorderThread, slot: *mut Record, ok: bool) {
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
fn transfers<C: VerbCall>(call: C, fh: Word, status: &mut Word, reads: bool) -> VerbEvent<FileTransfer> {
    let status = status_or_own(call, status);
    VerbEvent { facts: on(call, fh), after: FileTransfer { status, reads } }
}

/// A blocking read.
#[inline(always)]
pub fn read_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    transfers(call, fh, status, true)
}

/// A blocking write.
#[inline(always)]
pub fn write_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    transfers(call, fh, status, false)
}

/// A nonblocking or split read; what was read is known at its end.
#[inline(always)]
pub fn post_read<C: VerbCall>(call: C, fh: Word) -> VerbEvent<PostedOperation<READS>> {
    VerbEvent { facts: on(call, fh), after: PostedOperation }
}

/// A nonblocking or split write.
#[inline(always)]
pub fn post_write<C: VerbCall>(call: C, fh: Word, count: Word, datatype: Word) -> VerbEvent<PostedOperation<WRITES>> {
    let mut facts = on(call, fh);
    facts.sent = call.bytes(count, datatype);
    VerbEvent { facts, after: PostedOperation }
}

/// The end of a split read.
#[inline(always)]
pub fn end_read<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    transfers(call, fh, status, true)
}

/// The end of a split write.
#[inline(always)]
pub fn end_write<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    transfers(call, fh, status, false)
}
