//! Files (MPI-4.1 chapter 14). `tag` holds the file's id.

use std::ffi::{CStr, c_char};

use lbprof_collector::record::Record;

use super::point_to_point::status_or_own;
use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event, free_object, object_arguments};
use crate::handles::objects::{FILES, ObjectTable};
use crate::handles::requests::{READS, WRITES};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::status;
use crate::recording::slot::CallArguments;
use crate::word::Word;

#[inline(always)]
fn file_arguments<C: VerbCall>(call: C, fh: Word) -> CallArguments {
    object_arguments(FILES.find(call.handle(fh, ConvertedHandle::File)))
}

/// The creation of a window, or the opening of a file.
#[derive(Clone, Copy)]
pub struct ObjectCreation {
    pub(super) table: &'static ObjectTable,
    pub(super) convert: ConvertedHandle,
    pub(super) handle: Word,
    /// The object's name; 0 if it has none.
    pub(super) name: Word,
}

#[inline(always)]
pub fn open_file<C: VerbCall>(call: C, comm: Word, filename: Word, fh: Word) -> VerbEvent<ObjectCreation> {
    VerbEvent {
        facts: CallArguments::on(call.comm(comm).id),
        after: ObjectCreation { table: &FILES, convert: ConvertedHandle::File, handle: fh, name: filename },
    }
}

impl AfterCall for ObjectCreation {
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        if !ok {
            return;
        }
        // SAFETY: in C the name ends with a NUL. Fortran's has a hidden length and is not read. The slot is this call's.
        unsafe {
            let name = if C::Language::FORTRAN || self.name == 0 {
                String::new()
            } else {
                CStr::from_ptr(self.name as *const c_char).to_string_lossy().into_owned()
            };
            let handle = call.handle_at(self.handle, 0, self.convert);
            let comm = (*slot).comm;
            if let Some(object) = call.cold(|| Some(self.table.created(handle, comm, name))) {
                (*slot).tag = object.id as i32;
            }
        }
    }
}

#[inline(always)]
pub fn close_file<C: VerbCall>(call: C, fh: Word) -> VerbEvent<()> {
    free_object(call, &FILES, fh, ConvertedHandle::File)
}

/// Records another call on a file that can block.
#[inline(always)]
pub fn act_on_file<C: VerbCall>(call: C, fh: Word) -> VerbEvent<()> {
    complete_event(file_arguments(call, fh))
}

/// Takes the transferred bytes from the status.
#[derive(Clone, Copy)]
pub struct FileTransfer {
    status: Word,
    reads: bool,
}

impl AfterCall for FileTransfer {
    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, _: C, slot: *mut Record, ok: bool) {
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

/// Records a blocking read, or the end of a split one.
#[inline(always)]
pub fn read_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    let status = status_or_own(call, status);
    VerbEvent { facts: file_arguments(call, fh), after: FileTransfer { status, reads: true } }
}

/// Records a blocking write, or the end of a split one.
#[inline(always)]
pub fn write_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<FileTransfer> {
    let status = status_or_own(call, status);
    VerbEvent { facts: file_arguments(call, fh), after: FileTransfer { status, reads: false } }
}

/// Records a nonblocking or split read. Its bytes are known at its end.
#[inline(always)]
pub fn post_read<C: VerbCall>(call: C, fh: Word) -> VerbEvent<PostedOperation<READS>> {
    VerbEvent { facts: file_arguments(call, fh), after: PostedOperation }
}

/// Records a nonblocking or split write.
#[inline(always)]
pub fn post_write<C: VerbCall>(call: C, fh: Word, count: Word, datatype: Word) -> VerbEvent<PostedOperation<WRITES>> {
    let mut facts = file_arguments(call, fh);
    facts.sent = call.bytes(count, datatype);
    VerbEvent { facts, after: PostedOperation }
}
