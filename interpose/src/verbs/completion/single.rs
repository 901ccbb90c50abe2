//! Calls about one request: it is completed, tested, looked at, cancelled, freed.

use super::finished::{store_completed, take_completed};
use crate::handles::requests::{self, OpenRequest};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined::{self, NullHandle, is_null};
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::verbs::point_to_point::status_or_own;
use crate::verbs::polls::{found_nothing, nothing_active};
use crate::verbs::{AfterCall, VerbCall, VerbEvent};
use crate::word::{Word, int_at};
use lbprof_collector::record::{CallFlags, NONE, Record};

/// A completion of one request, maybe of an array.
#[derive(Clone, Copy)]
pub struct RequestCompletion<L> {
    request: Word,
    handle: Word,
    status: Word,
    /// Address of the flag, 0 where the call waits.
    flag: Word,
    language: std::marker::PhantomData<L>,
}

/// A wait for one request.
#[inline(always)]
pub fn complete<C: VerbCall>(call: C, request: Word, status: &mut Word) -> VerbEvent<RequestCompletion<C::Language>> {
    try_complete(call, request, 0, status)
}

/// A test of one request. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub fn try_complete<C: VerbCall>(
    call: C,
    request: Word,
    flag: Word,
    status: &mut Word,
) -> VerbEvent<RequestCompletion<C::Language>> {
    let status = status_or_own(call, status);
    let handle = call.handle_at(request, 0, ConvertedHandle::Request);
    VerbEvent {
        facts: CallArguments::empty(),
        after: RequestCompletion { request, handle, status, flag, language: std::marker::PhantomData },
    }
}

impl<L: ArgumentLanguage> AfterCall for RequestCompletion<L> {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0 && unsafe { int_at(self.flag) == 0 } && !is_null(NullHandle::Request, self.handle)
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and the status of a completed request are filled.
        unsafe {
            if is_null(NullHandle::Request, self.handle) {
                (*slot).flags |= CallFlags::NOTHING;
                if ok {
                    nothing_active(thread, slot);
                }
                return;
            }
            // The request that an error is about is complete, and null; others are left as they were.
            let completed = if ok {
                self.flag == 0 || int_at(self.flag) != 0
            } else {
                L::handle_at(self.request, 0, ConvertedHandle::Request) != self.handle
            };
            if !completed {
                // What kind of wait it is, is known all the same.
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

/// A look at a request that leaves it as it is (MPI_Request_get_status).
#[inline(always)]
pub fn look_at_request<C: VerbCall>(call: C, request: Word, flag: Word) -> VerbEvent<LooksAt> {
    let handle = call.handle(request, ConvertedHandle::Request);
    VerbEvent { facts: CallArguments::empty(), after: LooksAt { handle, flag } }
}

/// Folds unsuccessful looks.
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
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag is filled by a successful call.
        unsafe {
            let open = requests::peek(self.handle);
            if let Some(open) = open {
                (*slot).request = open.id;
                (*slot).comm = open.comm;
            }
            if !ok {
            } else if int_at(self.flag) == 0 {
                found_nothing(thread, slot);
            } else if is_null(NullHandle::Request, self.handle) || open.is_some_and(|open| open.is_inactive()) {
                nothing_active(thread, slot);
            }
        }
    }
}

/// A request is freed: nothing shows when it completes.
#[inline(always)]
pub fn free_request<C: VerbCall>(call: C, request: Word) -> VerbEvent<RequestFreeing> {
    let handle = call.handle_at(request, 0, ConvertedHandle::Request);
    let open = requests::take(handle);
    VerbEvent { facts: of_request(handle, open), after: RequestFreeing { handle, open } }
}

/// Takes a request out of the table before the call, for afterwards its handle may be another's; puts it back where MPI
/// has refused the call.
#[derive(Clone, Copy)]
pub struct RequestFreeing {
    handle: Word,
    open: Option<OpenRequest>,
}

impl AfterCall for RequestFreeing {
    #[inline]
    unsafe fn after(self, _: *mut RecorderThread, _: *mut Record, ok: bool) {
        if let (false, Some(open)) = (ok, self.open) {
            requests::insert(self.handle, open);
        }
    }
}

/// A request is cancelled; its completion says whether it was.
#[inline(always)]
pub fn cancel_request<C: VerbCall>(call: C, request: Word) -> VerbEvent<WithRequest> {
    with_request(call.handle_at(request, 0, ConvertedHandle::Request))
}

/// Stores the id of the request that a call is about.
#[derive(Clone, Copy)]
pub struct WithRequest(u32);

pub(super) fn with_request(handle: Word) -> VerbEvent<WithRequest> {
    let open = requests::peek(handle);
    VerbEvent { facts: of_request(handle, open), after: WithRequest(open.map_or(NONE, |open| open.id)) }
}

fn of_request(handle: Word, open: Option<OpenRequest>) -> CallArguments {
    let mut facts = CallArguments::empty();
    match open {
        Some(open) => {
            facts.comm = open.comm;
            facts.peer = open.peer;
            facts.tag = open.tag;
        }
        None if predefined::is_shared_request(handle) => facts.flags |= CallFlags::NOTHING.0,
        None => facts.flags |= CallFlags::UNKNOWN_REQUEST.0,
    }
    facts
}

impl AfterCall for WithRequest {
    #[inline(always)]
    unsafe fn after(self, _: *mut RecorderThread, slot: *mut Record, _: bool) {
        // SAFETY: the slot is this call's.
        unsafe { (*slot).request = self.0 };
    }
}
