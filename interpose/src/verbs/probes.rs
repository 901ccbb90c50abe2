//! Probes, and receives of what a matched probe has found (MPI-4.1 §3.8).

use super::point_to_point::{MessageReceipt, receive, status_or_own, store_arrival};
use super::polls::found_nothing;
use super::{AfterCall, PostedOperation, VerbCall, VerbEvent};
use crate::handles::requests::{self, OpenRequest, RECEIVES};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined::{NullHandle, is_null};
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::word::{Word, int_at};
use lbprof_collector::record::{CallFlags, Record};

/// Puts who sent the message into the record of a probe: the receive that follows counts its bytes.
///
/// # Safety
/// `thread` is the calling thread's state, `slot` is live, and the status filled.
#[inline(always)]
unsafe fn store_found(thread: *mut RecorderThread, slot: *mut Record, status: Word) {
    // SAFETY: as below.
    unsafe {
        store_arrival(thread, slot, status);
        (*slot).received = 0;
    }
}

/// Reads what a blocking probe found.
#[derive(Clone, Copy)]
pub struct MessageProbe {
    status: Word,
}

impl AfterCall for MessageProbe {
    #[inline(always)]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful probe has filled the status.
        unsafe {
            if ok {
                store_found(thread, slot, self.status);
            }
        }
    }
}

/// A blocking probe.
#[inline(always)]
pub fn probe<C: VerbCall>(call: C, source: Word, tag: Word, comm: Word, status: &mut Word) -> VerbEvent<MessageProbe> {
    let event = receive(call, source, tag, comm, status);
    VerbEvent { facts: event.facts, after: MessageProbe { status: event.after.status } }
}

/// A probe that may find nothing.
#[derive(Clone, Copy)]
pub struct ProbesIf {
    status: Word,
    flag: Word,
}

/// A nonblocking probe. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub fn try_probe<C: VerbCall>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    status: &mut Word,
) -> VerbEvent<ProbesIf> {
    let event = receive(call, source, tag, comm, status);
    VerbEvent { facts: event.facts, after: ProbesIf { status: event.after.status, flag } }
}

impl AfterCall for ProbesIf {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        unsafe { int_at(self.flag) == 0 }
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and, where it is set, the status are filled by a successful call.
        unsafe {
            if !ok {
            } else if int_at(self.flag) != 0 {
                store_found(thread, slot, self.status);
            } else {
                found_nothing(thread, slot);
            }
        }
    }
}

/// A matched probe: the message found goes into the table of requests, under its handle.
#[derive(Clone, Copy)]
pub struct MatchedProbe<L> {
    status: Word,
    /// Address of the flag; 0: the probe blocks and always finds.
    flag: Word,
    message: Word,
    language: std::marker::PhantomData<L>,
}

/// A blocking matched probe (MPI-4.1 §3.8.2).
#[inline(always)]
pub fn matched_probe<C: VerbCall>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    message: Word,
    status: &mut Word,
) -> VerbEvent<MatchedProbe<C::Language>> {
    try_matched_probe(call, source, tag, comm, 0, message, status)
}

/// A nonblocking matched probe.
#[inline(always)]
pub fn try_matched_probe<C: VerbCall>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    message: Word,
    status: &mut Word,
) -> VerbEvent<MatchedProbe<C::Language>> {
    let event = receive(call, source, tag, comm, status);
    let after = MatchedProbe { status: event.after.status, flag, message, language: std::marker::PhantomData };
    VerbEvent { facts: event.facts, after }
}

impl<L: ArgumentLanguage> AfterCall for MatchedProbe<L> {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0 && unsafe { int_at(self.flag) == 0 }
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: flag, message and status are filled by a successful call.
        unsafe {
            if !ok {
                return;
            }
            if self.flag != 0 && int_at(self.flag) == 0 {
                found_nothing(thread, slot);
                return;
            }
            store_found(thread, slot, self.status);
            let handle = L::handle_at(self.message, 0, ConvertedHandle::Message);
            if !is_null(NullHandle::Message, handle) && !is_null(NullHandle::MessageNoProc, handle) {
                let (comm, peer, tag) = ((*slot).comm, (*slot).peer, (*slot).tag);
                requests::insert(
                    handle,
                    OpenRequest { id: requests::new_id(), comm, peer, tag, sent: 0, received: 0, kind: RECEIVES },
                );
            }
        }
    }
}

/// Facts of the message that a matched receive takes.
fn matched<C: VerbCall>(call: C, message: Word) -> CallArguments {
    let handle = call.handle_at(message, 0, ConvertedHandle::Message);
    let mut facts = CallArguments::empty();
    match requests::take(handle) {
        Some(open) => {
            facts.comm = open.comm;
            facts.peer = open.peer;
            facts.tag = open.tag;
        }
        None if is_null(NullHandle::MessageNoProc, handle) => facts.flags |= CallFlags::NOTHING.0,
        None => facts.flags |= CallFlags::UNKNOWN_REQUEST.0,
    }
    facts
}

/// A matched receive.
#[inline(always)]
pub fn receive_matched<C: VerbCall>(call: C, message: Word, status: &mut Word) -> VerbEvent<MessageReceipt> {
    let status = status_or_own(call, status);
    VerbEvent { facts: matched(call, message), after: MessageReceipt { status } }
}

/// A nonblocking matched receive.
#[inline(always)]
pub fn post_matched_receive<C: VerbCall>(call: C, message: Word) -> VerbEvent<PostedOperation<RECEIVES>> {
    VerbEvent { facts: matched(call, message), after: PostedOperation }
}
