//! Probes, and receives of what a matched probe has found (MPI-4.1 §3.8).

use super::point_to_point::{Receives, receives, status_or_own, store_arrival};
use super::polls::found_nothing;
use super::{After, Call, Event, Posted};
use crate::handles::requests::{self, Open, RECEIVES};
use crate::mpi::lang::{Convert, Language};
use crate::mpi::predefined::{Null, is_null};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::word::{Word, int_at};
use lbprof_collector::record::{Flags, Record};

/// Puts who sent the message into the record of a probe: the receive that follows counts its bytes.
///
/// # Safety
/// `slot` is live, and the status filled.
#[inline(always)]
unsafe fn store_found(slot: *mut Record, status: Word) {
    // SAFETY: as below.
    unsafe {
        store_arrival(slot, status);
        (*slot).received = 0;
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
pub fn probes<C: Call>(call: C, source: Word, tag: Word, comm: Word, status: &mut Word) -> Event<Probes> {
    let event = receives(call, source, tag, comm, status);
    Event { facts: event.facts, after: Probes { status: event.after.status } }
}

/// A probe that may find nothing.
#[derive(Clone, Copy)]
pub struct ProbesIf {
    status: Word,
    flag: Word,
}

/// A nonblocking probe. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub fn probes_if<C: Call>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    status: &mut Word,
) -> Event<ProbesIf> {
    let event = receives(call, source, tag, comm, status);
    Event { facts: event.facts, after: ProbesIf { status: event.after.status, flag } }
}

impl After for ProbesIf {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        unsafe { int_at(self.flag) == 0 }
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and, where it is set, the status are filled by a successful call.
        unsafe {
            if !ok {
            } else if int_at(self.flag) != 0 {
                store_found(slot, self.status);
            } else {
                found_nothing(thread, slot);
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
pub fn matches<C: Call>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    message: Word,
    status: &mut Word,
) -> Event<Matches<C::Language>> {
    matches_if(call, source, tag, comm, 0, message, status)
}

/// A nonblocking matched probe.
#[inline(always)]
pub fn matches_if<C: Call>(
    call: C,
    source: Word,
    tag: Word,
    comm: Word,
    flag: Word,
    message: Word,
    status: &mut Word,
) -> Event<Matches<C::Language>> {
    let event = receives(call, source, tag, comm, status);
    let after = Matches { status: event.after.status, flag, message, language: std::marker::PhantomData };
    Event { facts: event.facts, after }
}

impl<L: Language> After for Matches<L> {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0 && unsafe { int_at(self.flag) == 0 }
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: flag, message and status are filled by a successful call.
        unsafe {
            if !ok {
                return;
            }
            if self.flag != 0 && int_at(self.flag) == 0 {
                found_nothing(thread, slot);
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
fn matched<C: Call>(call: C, message: Word) -> Facts {
    let handle = call.handle_at(message, 0, Convert::Message);
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

/// A matched receive.
#[inline(always)]
pub fn receives_matched<C: Call>(call: C, message: Word, status: &mut Word) -> Event<Receives> {
    let status = status_or_own(call, status);
    Event { facts: matched(call, message), after: Receives { status } }
}

/// A nonblocking matched receive.
#[inline(always)]
pub fn posts_matched<C: Call>(call: C, message: Word) -> Event<Posted<RECEIVES>> {
    Event { facts: matched(call, message), after: Posted }
}
