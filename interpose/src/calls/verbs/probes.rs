//! Probes, and receives of matched messages (MPI-4.1 §3.8).

use super::point_to_point::{MessageReceipt, receive, status_or_own, store_arrival};
use super::polls::found_nothing;
use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, request_arguments};
use crate::handles::requests::{self, OpenRequest, RECEIVES};
use crate::machine::word::{Word, int_at};
use crate::mpi::lang::ConvertedHandle;
use crate::mpi::predefined::{PredefinedHandle, is_predefined};
use crate::recording::slot::CallArguments;
use lbprof_collector::record::Record;

/// Reads the result of a probe. The message of a matched probe goes into the table of requests, under its handle.
#[derive(Clone, Copy)]
pub struct MessageProbe {
    status: Word,
    /// Address of the flag; 0 if the probe blocks and always finds.
    flag: Word,
    /// Address of the message's handle; 0 if the probe matches none.
    message: Word,
}

/// Records a probe. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub fn probe<C: VerbCall>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    message: Word,
    status: &mut Word,
) -> VerbEvent<MessageProbe> {
    let event = receive(call, source, tag, comm, status);
    VerbEvent { facts: event.facts, after: MessageProbe { status: event.after.status, flag, message } }
}

impl AfterCall for MessageProbe {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0 && unsafe { int_at(self.flag) == 0 }
    }

    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call has filled the flag and, if it found a message, its handle and the status.
        unsafe {
            if !ok {
                return;
            }
            if self.is_empty() {
                found_nothing(call.thread(), slot);
                return;
            }
            store_arrival(call.thread(), slot, self.status);
            // The receive that follows counts the bytes.
            (*slot).received = 0;
            if self.message == 0 {
                return;
            }
            let handle = call.handle_at(self.message, 0, ConvertedHandle::Message);
            if !is_predefined(PredefinedHandle::MessageNull, handle)
                && !is_predefined(PredefinedHandle::MessageNoProc, handle)
            {
                let Record { comm, peer, tag, .. } = *slot;
                requests::insert_request(
                    handle,
                    OpenRequest { id: requests::new_id(), comm, peer, tag, sent: 0, received: 0, kind: RECEIVES },
                );
            }
        }
    }
}

/// Takes the message of a matched receive out of the table of requests, and returns its facts.
fn take_matched<C: VerbCall>(call: C, message: Word) -> CallArguments {
    let handle = call.handle_at(message, 0, ConvertedHandle::Message);
    request_arguments(requests::take_request(handle), is_predefined(PredefinedHandle::MessageNoProc, handle))
}

#[inline(always)]
pub fn receive_matched<C: VerbCall>(call: C, message: Word, status: &mut Word) -> VerbEvent<MessageReceipt> {
    let status = status_or_own(call, status);
    VerbEvent { facts: take_matched(call, message), after: MessageReceipt { status } }
}

#[inline(always)]
pub fn post_matched_receive<C: VerbCall>(call: C, message: Word) -> VerbEvent<PostedOperation<RECEIVES>> {
    VerbEvent { facts: take_matched(call, message), after: PostedOperation }
}
