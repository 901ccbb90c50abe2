//! Files (MPI-4.1 chapter 14). `tag` holds the file's id.

use super::point_to_point::status_or_own;
use super::{
    AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event, event_with_work, free_object, object_arguments,
};
use crate::handles::objects::{FILES, ObjectTable};
use crate::handles::requests::{READS, WRITES};
use crate::machine::word::Word;
use crate::mpi::lang::ConvertedHandle;
use crate::mpi::status;
use crate::recording::slot::CallArguments;

#[inline(always)]
fn file_arguments<C: VerbCall>(call: C, fh: Word) -> CallArguments {
    object_arguments(FILES.find(call.handle(fh, ConvertedHandle::File)))
}

#[inline(always)]
pub fn open_file<C: VerbCall>(call: C, comm: Word, filename: Word, fh: Word) -> VerbEvent<impl AfterCall> {
    create_object(call, comm, &FILES, ConvertedHandle::File, fh, filename)
}

/// Records the creation of a window, or the opening of a file, whose name is at an address; 0 if it has none.
#[inline(always)]
pub(super) fn create_object<C: VerbCall>(
    call: C,
    comm: Word,
    table: &'static ObjectTable,
    convert: ConvertedHandle,
    created: Word,
    name: Word,
) -> VerbEvent<impl AfterCall> {
    event_with_work(CallArguments::on(call.comm(comm).id), move |record, ok| {
        let handle = if ok { call.handle_at(created, 0, convert) } else { return };
        if let Some(object) = call.cold(|| Some(table.created(handle, record.comm, call.text(name)))) {
            record.tag = object.id as i32;
        }
    })
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

/// Records a blocking read, or the end of a split one. The status has the transferred bytes.
#[inline(always)]
pub fn read_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<impl AfterCall + use<C>> {
    let status = status_or_own(call, status);
    event_with_work(file_arguments(call, fh), move |record, ok| {
        if ok {
            // SAFETY: a successful call has filled the status.
            record.received = unsafe { status::read_status(status) }.bytes;
        }
    })
}

/// Records a blocking write, or the end of a split one.
#[inline(always)]
pub fn write_file<C: VerbCall>(call: C, fh: Word, status: &mut Word) -> VerbEvent<impl AfterCall + use<C>> {
    let status = status_or_own(call, status);
    event_with_work(file_arguments(call, fh), move |record, ok| {
        if ok {
            // SAFETY: as above.
            record.sent = unsafe { status::read_status(status) }.bytes;
        }
    })
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
