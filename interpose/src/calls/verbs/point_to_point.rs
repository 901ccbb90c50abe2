//! Sends and receive (MPI-4.1 chapter 3).

use std::sync::atomic::{Ordering::Release, compiler_fence};

use lbprof_collector::joined::JOINED;
use lbprof_collector::record::{CallFlags, Record};

use super::{AfterCall, PostedOperation, VerbCall, VerbEvent, complete_event};
use crate::handles::requests::RECEIVES;
use crate::machine::processor::rare_branch;
use crate::machine::word::Word;
use crate::mpi::abi::current_abi;
use crate::mpi::status::{self, ReceivedStatus};
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;

/// Returns the facts of a message to or from `peer`.
#[inline(always)]
fn message_arguments<C: VerbCall>(call: C, peer: Word, tag: Word, comm: Word) -> CallArguments {
    let mut facts = CallArguments::on(call.comm_id(comm));
    facts.peer = call.int(peer);
    facts.tag = call.int(tag);
    facts
}

/// Returns the facts of a message from `source`, with wildcards marked.
#[inline(always)]
fn incoming_arguments<C: VerbCall>(call: C, source: Word, tag: Word, comm: Word) -> CallArguments {
    mark_wildcards(message_arguments(call, source, tag, comm))
}

/// Marks the wildcards among the facts of a message from their peer.
#[inline(always)]
fn mark_wildcards(mut facts: CallArguments) -> CallArguments {
    if facts.peer < 0 {
        rare_branch();
        let flag = if facts.peer == current_abi().any_source { CallFlags::ANY_SOURCE } else { CallFlags::NOTHING };
        facts.flags |= flag.0;
    }
    // Tags are not negative.
    if facts.tag < 0 {
        rare_branch();
        if facts.tag == current_abi().any_tag {
            facts.flags |= CallFlags::ANY_TAG.0;
        }
    }
    facts
}

/// Records a send, blocking or not.
#[inline(always)]
pub fn send<C: VerbCall>(call: C, dest: Word, tag: Word, comm: Word, count: Word, datatype: Word) -> VerbEvent<()> {
    let mut facts = message_arguments(call, dest, tag, comm);
    // Ranks are not negative: this is MPI_PROC_NULL.
    if facts.peer < 0 {
        rare_branch();
        facts.flags |= CallFlags::NOTHING.0;
    } else {
        facts.sent = call.bytes(count, datatype);
    }
    complete_event(facts)
}

/// Prepares a partitioned send of `partitions` × `count` elements (MPI-4.1 §4.2).
#[inline(always)]
pub fn send_partitioned<C: VerbCall>(
    call: C,
    partitions: Word,
    dest: Word,
    tag: Word,
    comm: Word,
    count: Word,
    datatype: Word,
) -> VerbEvent<()> {
    let mut facts = message_arguments(call, dest, tag, comm);
    if facts.peer < 0 {
        facts.flags |= CallFlags::NOTHING.0;
    } else {
        let count = call.large_count(count);
        let elements = count.wrapping_mul(u64::try_from(call.int(partitions)).unwrap_or(0));
        facts.sent = elements.wrapping_mul(call.size(datatype));
    }
    complete_event(facts)
}

/// Records a nonblocking, persistent or partitioned receive. The message is known at its completion.
#[inline(always)]
pub fn post_receive<C: VerbCall>(call: C, source: Word, tag: Word, comm: Word) -> VerbEvent<PostedOperation<RECEIVES>> {
    VerbEvent { facts: incoming_arguments(call, source, tag, comm), after: PostedOperation }
}

#[derive(Clone, Copy)]
pub struct MessageReceipt {
    pub(super) status: Word,
}

/// Returns a status that can be read afterwards: the program's, or one of ours if the program ignores it.
#[inline(always)]
pub(super) fn status_or_own<C: VerbCall>(call: C, status: &mut Word) -> Word {
    if call.status_ignored(*status) {
        // Only the thread's outermost call uses it.
        *status = call.thread().tables().few_statuses.as_ptr() as Word;
    }
    *status
}

#[inline(always)]
pub fn receive<C: VerbCall>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    status: &mut Word,
) -> VerbEvent<MessageReceipt> {
    let status = status_or_own(call, status);
    VerbEvent { facts: incoming_arguments(call, source, tag, comm), after: MessageReceipt { status } }
}

impl AfterCall for MessageReceipt {
    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: a successful receive has filled the status; the slot is this call's.
        unsafe {
            if ok {
                store_arrival(call.thread(), slot, self.status);
            }
        }
    }
}

/// Stores the received message in the record of a receive.
///
/// # Safety
/// `thread` is the calling thread's state, `slot` is live, and the status filled.
#[inline(always)]
pub(super) unsafe fn store_arrival(thread: &RecorderThread, slot: *mut Record, status: Word) {
    // SAFETY: the caller's: a filled status and a live slot.
    unsafe { store_arrived(slot, status::read_status_of(thread.interface.get(), status)) };
}

/// Stores the contents of a status.
///
/// # Safety
/// `slot` is live.
#[inline(always)]
pub(super) unsafe fn store_arrived(slot: *mut Record, arrived: ReceivedStatus) {
    // SAFETY: the caller's: a live slot.
    unsafe {
        if arrived.source < 0 {
            rare_branch();
            // MPI_PROC_NULL: an empty message without a sender.
            (*slot).flags |= CallFlags::NOTHING;
            return;
        }
        (*slot).peer = arrived.source;
        (*slot).tag = arrived.tag;
        (*slot).received = arrived.bytes;
    }
}

/// The receiving half of a combined send and receive: a part in the call's own record ([`lbprof_collector::joined`]).
#[derive(Clone, Copy)]
pub struct ExchangeReceipt {
    status: Word,
    source: i32,
    tag: i32,
}

/// Records a combined send and receive. The record is the send, its part the receive.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Sendrecv")]
pub fn exchange<C: VerbCall>(
    call: C,
    dest: Word,
    sendtag: Word,
    sendcount: Word,
    sendtype: Word,
    source: Word,
    recvtag: Word,
    comm: Word,
    status: &mut Word,
) -> VerbEvent<ExchangeReceipt> {
    let status = status_or_own(call, status);
    let mut facts = send(call, dest, sendtag, comm, sendcount, sendtype).facts;
    let receive =
        mark_wildcards(CallArguments { peer: call.int(source), tag: call.int(recvtag), ..CallArguments::empty() });
    // The part's, in the call's own record.
    facts.flags |= receive.flags & (CallFlags::ANY_SOURCE.0 | CallFlags::ANY_TAG.0);
    VerbEvent { facts, after: ExchangeReceipt { status, source: receive.peer, tag: receive.tag } }
}

impl AfterCall for ExchangeReceipt {
    #[inline(always)]
    unsafe fn after<C: VerbCall>(mut self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call has filled the status; the slot is this call's.
        unsafe {
            let interface = call.thread().interface.get();
            let arrived = ok.then(|| status::read_status_of(interface, self.status));
            if let Some(arrived) = arrived.filter(|arrived| arrived.source >= 0) {
                (self.source, self.tag) = (arrived.source, arrived.tag);
                (*slot).received = arrived.bytes;
            }
            (*slot).request = self.source as u32;
            (*slot).count = self.tag as u32;
            // Last: a reader that sees the flag finds the part complete.
            compiler_fence(Release);
            (*slot).operation |= JOINED;
        }
    }
}

/// Records a nonblocking combined send and receive (MPI-4.1 §3.7.6). The record is the send; the completion has the received message.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Isendrecv")]
pub fn post_exchange<C: VerbCall>(
    call: C,
    dest: Word,
    sendtag: Word,
    sendcount: Word,
    sendtype: Word,
    source: Word,
    recvtag: Word,
    comm: Word,
) -> VerbEvent<PostedOperation<RECEIVES>> {
    let incoming = incoming_arguments(call, source, recvtag, comm);
    let mut event = send(call, dest, sendtag, comm, sendcount, sendtype);
    event.facts.flags |= incoming.flags & (CallFlags::ANY_SOURCE.0 | CallFlags::ANY_TAG.0);
    VerbEvent { facts: event.facts, after: PostedOperation }
}
