//! Persistent and partitioned requests (MPI-4.1 §§3.9, 4.2).

use super::parts::CompletionParts;
use super::single::with_request;
use crate::calls::verbs::{AfterCall, VerbCall, VerbEvent, event_with_work};
use crate::handles::requests::{self, ACTIVE, OpenRequest};
use crate::machine::word::Word;
use crate::mpi::lang::ConvertedHandle;
use crate::recording::slot::CallArguments;
use lbprof_collector::Operation;
use lbprof_collector::record::{CallFlags, NONE, Record};

#[inline(always)]
pub fn start<C: VerbCall>(call: C, request: Word) -> VerbEvent<impl AfterCall> {
    let handle = call.handle_at(request, 0, ConvertedHandle::Request);
    event_with_work(CallArguments::empty(), move |record, ok| {
        if ok {
            store_started(record, activate_request(handle));
        }
    })
}

/// Marks a persistent request as started, under a new id.
fn activate_request(handle: Word) -> Option<OpenRequest> {
    let open = requests::take_request(handle)?;
    let open = OpenRequest { id: requests::new_id(), kind: open.kind | ACTIVE, ..open };
    requests::insert_request(handle, open);
    Some(open)
}

/// Stores a started request in its record.
fn store_started(record: &mut Record, open: Option<OpenRequest>) {
    record.flags |= CallFlags::PERSISTENT;
    let Some(open) = open else {
        record.flags |= CallFlags::UNKNOWN_REQUEST;
        return;
    };
    (record.request, record.comm) = (open.id, open.comm);
    (record.peer, record.tag) = (open.peer, open.tag);
    (record.sent, record.received) = (open.sent, open.received);
    record.flags = record.flags.with_activity_number(0) | open.flags();
}

/// Starts several persistent requests. Each is a part of the call.
#[derive(Clone, Copy)]
pub struct StartsAll {
    count: usize,
    requests: Word,
}

#[inline(always)]
pub fn start_all<C: VerbCall>(call: C, count: Word, array_of_requests: Word) -> VerbEvent<StartsAll> {
    let count = usize::try_from(call.int(count)).unwrap_or(0);
    VerbEvent { facts: CallArguments::empty(), after: StartsAll { count, requests: array_of_requests } }
}

impl AfterCall for StartsAll {
    #[inline]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: persistent handles stay in the array.
        unsafe {
            if !ok {
                return;
            }
            let mut parts = CompletionParts::new(slot, Operation::Started);
            for i in 0..self.count {
                let open = activate_request(call.handle_at(self.requests, i, ConvertedHandle::Request));
                let comm = open.map_or(NONE, |open| open.comm);
                parts.started(call.thread(), comm, |part| store_started(&mut *part, open));
            }
            parts.finish(call.thread());
        }
    }
}

/// Records that partitions of a request are ready (MPI-4.1 §4.2.2).
#[inline(always)]
pub fn mark_ready<C: VerbCall>(call: C, request: Word) -> VerbEvent<impl AfterCall> {
    with_request(call.handle(request, ConvertedHandle::Request))
}
