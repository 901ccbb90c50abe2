//! Calls that complete, test, look at, cancel or free one request.

use super::finished::{store_completed, take_completed};
use crate::calls::verbs::point_to_point::status_or_own;
use crate::calls::verbs::polls::{found_nothing, nothing_active};
use crate::calls::verbs::{AfterCall, VerbCall, VerbEvent, event_with_work, request_arguments};
use crate::handles::requests;
use crate::machine::word::{Word, int_at};
use crate::mpi::lang::ConvertedHandle;
use crate::mpi::predefined::{self, PredefinedHandle, is_predefined};
use crate::recording::slot::CallArguments;
use lbprof_collector::record::{CallFlags, NONE, Record};

#[derive(Clone, Copy)]
pub struct RequestCompletion {
    request: Word,
    handle: Word,
    status: Word,
    /// Address of the flag; 0 if the call waits.
    flag: Word,
}

/// Records a wait for one request, or a test. Unsuccessful tests in a row fold into one record.
#[inline(always)]
pub fn try_complete<C: VerbCall>(
    call: C,
    request: Word,
    flag: Word,
    status: &mut Word,
) -> VerbEvent<RequestCompletion> {
    let status = status_or_own(call, status);
    let handle = call.handle_at(request, 0, ConvertedHandle::Request);
    VerbEvent { facts: CallArguments::empty(), after: RequestCompletion { request, handle, status, flag } }
}

impl AfterCall for RequestCompletion {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0
            && unsafe { int_at(self.flag) == 0 }
            && !is_predefined(PredefinedHandle::RequestNull, self.handle)
    }

    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and the status of a completed request are filled.
        unsafe {
            let thread = call.thread();
            if is_predefined(PredefinedHandle::RequestNull, self.handle) {
                (*slot).flags |= CallFlags::NOTHING;
                if ok {
                    nothing_active(thread, slot);
                }
                return;
            }
            // A failed request is complete, and null. Others are left as they were.
            let completed = if ok {
                self.flag == 0 || int_at(self.flag) != 0
            } else {
                call.handle_at(self.request, 0, ConvertedHandle::Request) != self.handle
            };
            if !completed {
                // The kind of wait is known all the same.
                if let Some(polled) = requests::peek_polled(self.handle) {
                    (*slot).comm = polled.comm;
                    (*slot).request = polled.id;
                    (*slot).flags = (*slot).flags.with_activity_number(polled.activity);
                }
                if ok {
                    found_nothing(thread, slot);
                }
                return;
            }
            let open = take_completed(self.handle);
            let was_inactive = open.is_some_and(|open| open.is_inactive());
            store_completed(slot, self.handle, if ok { self.status } else { 0 }, open);
            if was_inactive && ok {
                nothing_active(thread, slot);
            }
        }
    }
}

/// Records a look at a request, which leaves it as it is (MPI_Request_get_status, MPI_Parrived).
#[inline(always)]
pub fn look_at_request<C: VerbCall>(call: C, request: Word, flag: Word) -> VerbEvent<LooksAt> {
    let handle = call.handle(request, ConvertedHandle::Request);
    VerbEvent { facts: CallArguments::empty(), after: LooksAt { handle, flag } }
}

#[derive(Clone, Copy)]
pub struct LooksAt {
    handle: Word,
    flag: Word,
}

impl AfterCall for LooksAt {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        unsafe { int_at(self.flag) == 0 }
    }

    #[inline]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: a successful call has filled the flag.
        unsafe {
            let open = requests::peek_request(self.handle);
            if let Some(open) = open {
                (*slot).request = open.id;
                (*slot).comm = open.comm;
            }
            if !ok {
            } else if int_at(self.flag) == 0 {
                found_nothing(call.thread(), slot);
            } else if is_predefined(PredefinedHandle::RequestNull, self.handle)
                || open.is_some_and(|open| open.is_inactive())
            {
                nothing_active(call.thread(), slot);
            }
        }
    }
}

/// Records that a request is freed. Nothing shows when it completes. It is taken out of the table before the call, because its handle may belong to
/// another one afterwards, and put back if MPI refuses the call.
#[inline(always)]
pub fn free_request<C: VerbCall>(call: C, request: Word) -> VerbEvent<impl AfterCall> {
    let handle = call.handle_at(request, 0, ConvertedHandle::Request);
    let open = requests::take_request(handle);
    event_with_work(request_arguments(open, predefined::is_shared_request(handle)), move |_, ok| {
        if let (false, Some(open)) = (ok, open) {
            requests::insert_request(handle, open);
        }
    })
}

/// Records the cancellation of a request. Its completion shows whether it succeeded.
#[inline(always)]
pub fn cancel_request<C: VerbCall>(call: C, request: Word) -> VerbEvent<impl AfterCall> {
    with_request(call.handle_at(request, 0, ConvertedHandle::Request))
}

/// Stores the id of the request that a call is about.
pub(super) fn with_request(handle: Word) -> VerbEvent<impl AfterCall> {
    let open = requests::peek_request(handle);
    let facts = request_arguments(open, predefined::is_shared_request(handle));
    event_with_work(facts, move |record, _| record.request = open.map_or(NONE, |open| open.id))
}
