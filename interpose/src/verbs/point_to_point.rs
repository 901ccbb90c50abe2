//! Sends, receives, probes (MPI-4.1 chapter 3).

use lbprof_collector::Operation;
use lbprof_collector::record::{Flags, Record};

use super::{After, Event, Posted, known};
use crate::handles::requests::{self, Open, RECEIVES};
use crate::handles::{comms, datatypes};
use crate::mpi::abi::abi;
use crate::mpi::lang::{Convert, Language};
use crate::mpi::predefined::{Null, is_null};
use crate::mpi::status::{self, Arrived};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::word::{Word, int_at};

/// Facts of a message to or from `peer`.
#[inline(always)]
unsafe fn message<L: Language>(thread: *mut Thread, peer: Word, tag: Word, comm: Word) -> Facts {
    // SAFETY: the verbs' contract.
    unsafe {
        let comm = comms::find(thread, L::handle(comm, Convert::Comm));
        let mut facts = Facts::on(comm.id);
        facts.peer = L::int(peer);
        facts.tag = L::int(tag);
        facts
    }
}

/// Facts of a message from `source`, with the wildcards marked.
#[inline(always)]
unsafe fn incoming<L: Language>(thread: *mut Thread, source: Word, tag: Word, comm: Word) -> Facts {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = message::<L>(thread, source, tag, comm);
        if facts.peer < 0 {
            if facts.peer == abi().any_source {
                facts.flags |= Flags::ANY_SOURCE.0;
            } else {
                facts.flags |= Flags::NOTHING.0;
            }
        }
        if facts.tag == abi().any_tag {
            facts.flags |= Flags::ANY_TAG.0;
        }
        facts
    }
}

/// Bytes of `count` elements of `datatype`.
#[inline(always)]
pub(super) unsafe fn bytes<L: Language>(thread: *mut Thread, count: Word, datatype: Word) -> u64 {
    // SAFETY: the verbs' contract.
    unsafe { L::count(count).wrapping_mul(datatypes::size(thread, L::handle(datatype, Convert::Datatype))) }
}

/// A send, blocking or not.
#[inline(always)]
pub unsafe fn sends<L: Language>(
    thread: *mut Thread,
    dest: Word,
    tag: Word,
    comm: Word,
    count: Word,
    datatype: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract.
    unsafe {
        let mut facts = message::<L>(thread, dest, tag, comm);
        // No rank is negative: MPI_PROC_NULL, to which nothing is sent.
        if facts.peer < 0 {
            facts.flags |= Flags::NOTHING.0;
        } else {
            facts.sent = bytes::<L>(thread, count, datatype);
        }
        known(facts)
    }
}

/// A partitioned send is made (MPI-4.1 §4.2): `partitions` × `count` elements.
#[inline(always)]
pub unsafe fn sends_parts<L: Language>(
    thread: *mut Thread,
    partitions: Word,
    dest: Word,
    tag: Word,
    comm: Word,
    count: Word,
    datatype: Word,
) -> Event<()> {
    // SAFETY: the verbs' contract. `partitions` is an int and `count` an MPI_Count, in every variant.
    unsafe {
        let mut facts = message::<L>(thread, dest, tag, comm);
        if facts.peer < 0 {
            facts.flags |= Flags::NOTHING.0;
        } else {
            let count = if L::FORTRAN { (count as *const i64).read() } else { count as i64 };
            let elements =
                u64::try_from(count).unwrap_or(0).wrapping_mul(u64::try_from(L::int(partitions)).unwrap_or(0));
            facts.sent = elements.wrapping_mul(datatypes::size(thread, L::handle(datatype, Convert::Datatype)));
        }
        known(facts)
    }
}

/// The receiving side of [`sends_parts`].
#[inline(always)]
pub unsafe fn receives_parts<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
) -> Event<Posted<RECEIVES>> {
    // SAFETY: the verbs' contract.
    unsafe { posts_receive::<L>(thread, source, tag, comm) }
}

/// A nonblocking or persistent receive; what arrives is known at its completion.
#[inline(always)]
pub unsafe fn posts_receive<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
) -> Event<Posted<RECEIVES>> {
    // SAFETY: the verbs' contract.
    unsafe { Event { facts: incoming::<L>(thread, source, tag, comm), after: Posted } }
}

/// Reads what arrived from the status.
#[derive(Clone, Copy)]
pub struct Receives {
    status: Word,
}

/// A status that can be read afterwards: the program's, or one of our own where the program wants none.
#[inline(always)]
pub(super) unsafe fn status_or_own<L: Language>(thread: *mut Thread, status: &mut Word) -> Word {
    // SAFETY: the thread's own scratch status, which only its outermost call uses.
    unsafe {
        if L::status_ignored(*status) {
            *status = (&raw mut (*thread).status) as Word;
        }
    }
    *status
}

/// A blocking receive.
#[inline(always)]
pub unsafe fn receives<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
    status: &mut Word,
) -> Event<Receives> {
    // SAFETY: the verbs' contract.
    unsafe {
        let status = status_or_own::<L>(thread, status);
        Event { facts: incoming::<L>(thread, source, tag, comm), after: Receives { status } }
    }
}

impl After for Receives {
    #[inline(always)]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful receive has filled the status; the slot is this call's.
        unsafe {
            if ok {
                store_arrival(slot, self.status);
            }
        }
    }
}

/// Puts who sent the message into the record of a probe: the receive that follows counts its bytes.
#[inline(always)]
unsafe fn store_found(slot: *mut Record, status: Word) {
    // SAFETY: as below.
    unsafe {
        store_arrival(slot, status);
        (*slot).received = 0;
    }
}

/// Puts who sent what into the record of a receive.
#[inline(always)]
pub(super) unsafe fn store_arrival(slot: *mut Record, status: Word) {
    // SAFETY: the caller's: a filled status and a live slot.
    unsafe { store_arrived(slot, status::read_status(status)) };
}

/// The same of a status that was read.
#[inline(always)]
pub(super) unsafe fn store_arrived(slot: *mut Record, arrived: Arrived) {
    // SAFETY: the caller's: a live slot.
    unsafe {
        if arrived.source < 0 {
            // MPI_PROC_NULL: an empty message from nobody.
            (*slot).flags |= Flags::NOTHING;
            return;
        }
        (*slot).peer = arrived.source;
        (*slot).tag = arrived.tag;
        (*slot).received = arrived.bytes;
    }
}

/// The receiving half of a combined send and receive, written as a part after the call.
#[derive(Clone, Copy)]
pub struct Exchanges {
    status: Word,
    facts: Facts,
}

/// A combined send and receive: the record is the send, a part the receive.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Sendrecv")]
pub unsafe fn exchanges<L: Language>(
    thread: *mut Thread,
    dest: Word,
    sendtag: Word,
    sendcount: Word,
    sendtype: Word,
    source: Word,
    recvtag: Word,
    comm: Word,
    status: &mut Word,
) -> Event<Exchanges> {
    // SAFETY: the verbs' contract.
    unsafe {
        let status = status_or_own::<L>(thread, status);
        let facts = incoming::<L>(thread, source, recvtag, comm);
        let send = sends::<L>(thread, dest, sendtag, comm, sendcount, sendtype);
        Event { facts: send.facts, after: Exchanges { status, facts } }
    }
}

impl After for Exchanges {
    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: as for a receive; the part is a copy of the finished record.
        unsafe {
            let mut part = *slot;
            part.operation = Operation::Received as u16;
            part.begin = part.end;
            part.sent = 0;
            part.peer = self.facts.peer;
            part.tag = self.facts.tag;
            part.flags = Flags(self.facts.flags).with_activity(Operation::Received.activity());
            if ok {
                store_arrival(&mut part, self.status);
            }
            crate::recording::room::append(thread, part);
        }
    }
}

/// A nonblocking combined send and receive (MPI-4.1 §3.7.6). The record is the send; the completion tells what arrived.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Isendrecv")]
pub unsafe fn posts_exchange<L: Language>(
    thread: *mut Thread,
    dest: Word,
    sendtag: Word,
    sendcount: Word,
    sendtype: Word,
    source: Word,
    recvtag: Word,
    comm: Word,
) -> Event<Posted<RECEIVES>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let incoming = incoming::<L>(thread, source, recvtag, comm);
        let mut event = sends::<L>(thread, dest, sendtag, comm, sendcount, sendtype);
        event.facts.flags |= incoming.flags & (Flags::ANY_SOURCE.0 | Flags::ANY_TAG.0);
        Event { facts: event.facts, after: Posted }
    }
}

/// Reads what a blocking probe found.
#[derive(Clone, Copy)]
pub struct Probes {
    status: Word,
}

impl After for Probes {
    #[inline(always)]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: a successful probe has filled the status.
        unsafe {
            if ok {
                store_found(slot, self.status);
            }
        }
    }
}

/// A blocking probe.
#[inline(always)]
pub unsafe fn probes<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
    status: &mut Word,
) -> Event<Probes> {
    // SAFETY: the verbs' contract.
    unsafe {
        let event = receives::<L>(thread, source, tag, comm, status);
        Event { facts: event.facts, after: Probes { status: event.after.status } }
    }
}

/// A probe that may find nothing.
#[derive(Clone, Copy)]
pub struct ProbesIf {
    status: Word,
    flag: Word,
}

/// A nonblocking probe. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub unsafe fn probes_if<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    status: &mut Word,
) -> Event<ProbesIf> {
    // SAFETY: the verbs' contract.
    unsafe {
        let event = receives::<L>(thread, source, tag, comm, status);
        Event { facts: event.facts, after: ProbesIf { status: event.after.status, flag } }
    }
}

impl After for ProbesIf {
    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and, where it is set, the status are filled by a successful call.
        unsafe {
            if !ok {
            } else if int_at(self.flag) != 0 {
                store_found(slot, self.status);
            } else {
                super::polls::found_nothing(thread, slot);
            }
        }
    }
}

/// A matched probe: the message found goes into the table of requests, under its handle.
#[derive(Clone, Copy)]
pub struct Matches<L> {
    status: Word,
    /// Address of the flag; 0: the probe blocks and always finds.
    flag: Word,
    message: Word,
    language: std::marker::PhantomData<L>,
}

/// A blocking matched probe (MPI-4.1 §3.8.2).
#[inline(always)]
pub unsafe fn matches<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
    message: Word,
    status: &mut Word,
) -> Event<Matches<L>> {
    // SAFETY: the verbs' contract.
    unsafe { matches_if::<L>(thread, source, tag, comm, 0, message, status) }
}

/// A nonblocking matched probe.
#[inline(always)]
pub unsafe fn matches_if<L: Language>(
    thread: *mut Thread,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    message: Word,
    status: &mut Word,
) -> Event<Matches<L>> {
    // SAFETY: the verbs' contract.
    unsafe {
        let event = receives::<L>(thread, source, tag, comm, status);
        let after = Matches { status: event.after.status, flag, message, language: std::marker::PhantomData };
        Event { facts: event.facts, after }
    }
}

impl<L: Language> After for Matches<L> {
    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: flag, message and status are filled by a successful call.
        unsafe {
            if !ok {
                return;
            }
            if self.flag != 0 && int_at(self.flag) == 0 {
                super::polls::found_nothing(thread, slot);
                return;
            }
            store_found(slot, self.status);
            let handle = L::handle_at(self.message, 0, Convert::Message);
            if !is_null(Null::Message, handle) && !is_null(Null::MessageNoProc, handle) {
                let (comm, peer, tag) = ((*slot).comm, (*slot).peer, (*slot).tag);
                requests::insert(
                    handle,
                    Open { id: requests::new_id(), comm, peer, tag, sent: 0, received: 0, kind: RECEIVES },
                );
            }
        }
    }
}

/// Facts of the message that a matched receive takes.
unsafe fn matched<L: Language>(message: Word) -> Facts {
    // SAFETY: the verbs' contract: the address of a message handle.
    unsafe {
        let handle = L::handle_at(message, 0, Convert::Message);
        let mut facts = Facts::none();
        match requests::take(handle) {
            Some(open) => {
                facts.comm = open.comm;
                facts.peer = open.peer;
                facts.tag = open.tag;
            }
            None if is_null(Null::MessageNoProc, handle) => facts.flags |= Flags::NOTHING.0,
            None => facts.flags |= Flags::UNKNOWN_REQUEST.0,
        }
        facts
    }
}

/// A matched receive.
#[inline(always)]
pub unsafe fn receives_matched<L: Language>(thread: *mut Thread, message: Word, status: &mut Word) -> Event<Receives> {
    // SAFETY: the verbs' contract.
    unsafe {
        let status = status_or_own::<L>(thread, status);
        Event { facts: matched::<L>(message), after: Receives { status } }
    }
}

/// A nonblocking matched receive.
#[inline(always)]
pub unsafe fn posts_matched<L: Language>(_: *mut Thread, message: Word) -> Event<Posted<RECEIVES>> {
    // SAFETY: the verbs' contract.
    unsafe { Event { facts: matched::<L>(message), after: Posted } }
}
