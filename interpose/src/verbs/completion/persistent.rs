//! Persistent and partitioned requests (MPI-4.1 §§3.9, 4.2).

use super::parts::Parts;
use super::single::{LooksAt, WithRequest, looks_at, with_request};
use crate::handles::requests::{self, ACTIVE, Open};
use crate::mpi::lang::{Convert, Language};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::verbs::{After, Call, Event};
use crate::word::Word;
use lbprof_collector::Operation;
use lbprof_collector::record::{Flags, NONE, Record};

/// Starts one persistent or partitioned request.
#[derive(Clone, Copy)]
pub struct StartsPersistent {
    handle: Word,
}

/// MPI_Start.
#[inline(always)]
pub fn starts<C: Call>(call: C, request: Word) -> Event<StartsPersistent> {
    let handle = call.handle_at(request, 0, Convert::Request);
    Event { facts: Facts::none(), after: StartsPersistent { handle } }
}

/// Marks a persistent request as started, under a new id; gives what is known of it.
fn activate(handle: Word) -> Option<Open> {
    let open = requests::take(handle)?;
    let open = Open { id: requests::new_id(), kind: open.kind | ACTIVE, ..open };
    requests::insert(handle, open);
    Some(open)
}

/// Puts what a start starts into its record.
///
/// # Safety
/// `record` is live.
unsafe fn store_started(record: *mut Record, open: Option<Open>) {
    // SAFETY: a live record.
    unsafe {
        (*record).flags |= Flags::PERSISTENT;
        match open {
            None => (*record).flags |= Flags::UNKNOWN_REQUEST,
            Some(open) => {
                (*record).request = open.id;
                (*record).comm = open.comm;
                (*record).peer = open.peer;
                (*record).tag = open.tag;
                (*record).sent = open.sent;
                (*record).received = open.received;
                (*record).flags = Flags((*record).flags.0 & !7) | open.flags();
            }
        }
    }
}

impl After for StartsPersistent {
    #[inline]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the slot is this call's.
        unsafe {
            if ok {
                store_started(slot, activate(self.handle));
            }
        }
    }
}

/// Starts several persistent requests; each is a part of the call.
#[derive(Clone, Copy)]
pub struct StartsAll<L> {
    count: usize,
    requests: Word,
    language: std::marker::PhantomData<L>,
}

/// MPI_Startall.
#[inline(always)]
pub fn starts_all<C: Call>(call: C, count: Word, array_of_requests: Word) -> Event<StartsAll<C::Language>> {
    let count = usize::try_from(call.int(count)).unwrap_or(0);
    let after = StartsAll { count, requests: array_of_requests, language: std::marker::PhantomData };
    Event { facts: Facts::none(), after }
}

impl<L: Language> After for StartsAll<L> {
    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: persistent handles stay in the array.
        unsafe {
            if !ok {
                return;
            }
            let mut parts = Parts::of(slot, Operation::Started);
            for i in 0..self.count {
                let open = activate(L::handle_at(self.requests, i, Convert::Request));
                let comm = open.map_or(NONE, |open| open.comm);
                parts.started(thread, comm, |part| store_started(part, open));
            }
            parts.finish(thread);
        }
    }
}

/// Partitions of a request are made ready (MPI-4.1 §4.2.2).
#[inline(always)]
pub fn ready<C: Call>(call: C, request: Word) -> Event<WithRequest> {
    with_request(call.handle(request, Convert::Request))
}

/// A test whether a partition has arrived.
#[inline(always)]
pub fn arrived<C: Call>(call: C, request: Word, flag: Word) -> Event<LooksAt> {
    looks_at(call, request, flag)
}
