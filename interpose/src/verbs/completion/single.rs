//! Calls about one request: it is completed, tested, looked at, cancelled, freed.

use super::finished::{store_completed, take_completed};
use crate::handles::requests::{self, Open};
use crate::mpi::lang::{Convert, Language};
use crate::mpi::predefined::{self, Null, is_null};
use crate::recording::slot::Facts;
use crate::state::thread::Thread;
use crate::verbs::point_to_point::status_or_own;
use crate::verbs::polls::{found_nothing, nothing_active};
use crate::verbs::{After, Call, Event};
use crate::word::{Word, int_at};
use lbprof_collector::record::{Flags, NONE, Record};

/// A completion of one request, maybe of an array.
#[derive(Clone, Copy)]
pub struct Completes<L> {
    request: Word,
    handle: Word,
    status: Word,
    /// Address of the flag, 0 where the call waits.
    flag: Word,
    language: std::marker::PhantomData<L>,
}

/// A wait for one request.
#[inline(always)]
pub fn completes<C: Call>(call: C, request: Word, status: &mut Word) -> Event<Completes<C::Language>> {
    completes_if(call, request, 0, status)
}

/// A test of one request. Unsuccessful ones in a row fold into one record.
#[inline(always)]
pub fn completes_if<C: Call>(call: C, request: Word, flag: Word, status: &mut Word) -> Event<Completes<C::Language>> {
    let status = status_or_own(call, status);
    let handle = call.handle_at(request, 0, Convert::Request);
    Event {
        facts: Facts::none(),
        after: Completes { request, handle, status, flag, language: std::marker::PhantomData },
    }
}

impl<L: Language> After for Completes<L> {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        self.flag != 0 && unsafe { int_at(self.flag) == 0 } && !is_null(Null::Request, self.handle)
    }

    #[inline(always)]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
        // SAFETY: the flag and the status of a completed request are filled.
        unsafe {
            if is_null(Null::Request, self.handle) {
                (*slot).flags |= Flags::NOTHING;
                if ok {
                    nothing_active(thread, slot);
                }
                return;
            }
            // The request that an error is about is complete, and null; others are left as they were.
            let completed = if ok {
                self.flag == 0 || int_at(self.flag) != 0
            } else {
                L::handle_at(self.request, 0, Convert::Request) != self.handle
            };
            if !completed {
                // What kind of wait it is, is known all the same.
                if let Some(polled) = requests::peek_polled(self.handle) {
                    (*slot).comm = polled.comm;
                    (*slot).request = polled.id;
                    (*slot).flags = Flags((*slot).flags.0 & !7 | polled.activity);
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
pub fn looks_at<C: Call>(call: C, request: Word, flag: Word) -> Event<LooksAt> {
    let handle = call.handle(request, Convert::Request);
    Event { facts: Facts::none(), after: LooksAt { handle, flag } }
}

/// Folds unsuccessful looks.
#[derive(Clone, Copy)]
pub struct LooksAt {
    handle: Word,
    flag: Word,
}

impl After for LooksAt {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag.
        unsafe { int_at(self.flag) == 0 }
    }

    #[inline]
    unsafe fn after(self, thread: *mut Thread, slot: *mut Record, ok: bool) {
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
            } else if is_null(Null::Request, self.handle) || open.is_some_and(|open| open.is_inactive()) {
                nothing_active(thread, slot);
            }
        }
    }
}

/// A request is freed: nothing shows when it completes.
#[inline(always)]
pub fn frees_request<C: Call>(call: C, request: Word) -> Event<Frees> {
    let handle = call.handle_at(request, 0, Convert::Request);
    let open = requests::take(handle);
    Event { facts: of_request(handle, open), after: Frees { handle, open } }
}

/// Takes a request out of the table before the call, for afterwards its handle may be another's; puts it back where MPI
/// has refused the call.
#[derive(Clone, Copy)]
pub struct Frees {
    handle: Word,
    open: Option<Open>,
}

impl After for Frees {
    #[inline]
    unsafe fn after(self, _: *mut Thread, _: *mut Record, ok: bool) {
        if let (false, Some(open)) = (ok, self.open) {
            requests::insert(self.handle, open);
        }
    }
}

/// A request is cancelled; its completion says whether it was.
#[inline(always)]
pub fn cancels<C: Call>(call: C, request: Word) -> Event<WithRequest> {
    with_request(call.handle_at(request, 0, Convert::Request))
}

/// Stores the id of the request that a call is about.
#[derive(Clone, Copy)]
pub struct WithRequest(u32);

pub(super) fn with_request(handle: Word) -> Event<WithRequest> {
    let open = requests::peek(handle);
    Event { facts: of_request(handle, open), after: WithRequest(open.map_or(NONE, |open| open.id)) }
}

fn of_request(handle: Word, open: Option<Open>) -> Facts {
    let mut facts = Facts::none();
    match open {
        Some(open) => {
            facts.comm = open.comm;
            facts.peer = open.peer;
            facts.tag = open.tag;
        }
        None if predefined::is_shared_request(handle) => facts.flags |= Flags::NOTHING.0,
        None => facts.flags |= Flags::UNKNOWN_REQUEST.0,
    }
    facts
}

impl After for WithRequest {
    #[inline(always)]
    unsafe fn after(self, _: *mut Thread, slot: *mut Record, _: bool) {
        // SAFETY: the slot is this call's.
        unsafe { (*slot).request = self.0 };
    }
}
