//! The verbs of calls.table, one function each: they read the arguments of a call.
//!
//! A verb reads the arguments before the call and returns a [`VerbEvent`]: the facts for the record, and the work that remains after the
//! call. It may replace an argument that it takes by `&mut` (a status that the program ignores). Its first argument stands for the call
//! under way. The contract of [`VerbCall`] says how a verb may read the others.

mod call;
mod collective;
mod completion;
mod io;
mod management;
mod one_sided;
mod point_to_point;
mod polls;
mod probes;
mod window_spins;

use lbprof_collector::record::{CallFlags, NONE, Record};

pub use call::{ThisCall, VerbCall};
pub use collective::*;
pub use completion::*;
pub use io::*;
pub use management::*;
pub use one_sided::*;
pub use point_to_point::*;
pub use polls::{is_unmeasured, measure_poll};
pub use probes::*;
pub use window_spins::fold_repetition;

use crate::handles::objects::{ObjectIds, ObjectTable};
use crate::handles::requests::{self, OpenRequest};
use crate::machine::processor::rare_branch;
use crate::machine::word::Word;
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined;
use crate::recording::slot::CallArguments;

/// A call's facts, and the work that remains when it has returned.
#[derive(Clone, Copy)]
pub struct VerbEvent<A: AfterCall> {
    pub facts: CallArguments,
    pub after: A,
}

/// The remaining work after a call.
pub trait AfterCall: Copy {
    /// Bits for [`OpenRequest::kind`] if the operation completes by a request.
    const KIND: u64 = 0;

    /// Returns whether a successful call has found nothing, so that [`AfterCall::after`] passes its slot on as an unsuccessful poll.
    ///
    /// # Safety
    /// As of [`AfterCall::after`].
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        false
    }

    /// Completes the record at `slot`. `ok` is true if the call succeeded.
    ///
    /// # Safety
    /// `call` has just returned, and `slot` is the slot of its record. The addresses that the event has kept are still the call's
    /// arguments.
    #[inline(always)]
    #[expect(unused_variables, reason = "nothing remains unless a type says so")]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {}
}

impl AfterCall for () {}

/// Makes an event that is complete before the call.
#[inline(always)]
fn complete_event(facts: CallArguments) -> VerbEvent<()> {
    VerbEvent { facts, after: () }
}

/// The remaining work of a call that programs make seldom.
#[derive(Clone, Copy)]
pub struct AfterWork<F>(F);

impl<F: FnOnce(&mut Record, bool) + Copy> AfterCall for AfterWork<F> {
    #[inline]
    unsafe fn after<C: VerbCall>(self, _: C, slot: *mut Record, ok: bool) {
        // SAFETY: the slot is this call's.
        (self.0)(unsafe { &mut *slot }, ok);
    }
}

/// Makes an event after which `work` completes the record; its second argument says whether the call succeeded.
#[inline(always)]
fn event_with_work<F: FnOnce(&mut Record, bool) + Copy>(facts: CallArguments, work: F) -> VerbEvent<AfterWork<F>> {
    VerbEvent { facts, after: AfterWork(work) }
}

/// An event whose request, when it completes, has `KIND`. Nothing remains to be done when a blocking call returns.
#[derive(Clone, Copy)]
pub struct PostedOperation<const KIND: u64>;

impl<const KIND: u64> AfterCall for PostedOperation<KIND> {
    const KIND: u64 = KIND;
}

#[derive(Clone, Copy)]
pub struct RequestStart {
    request: Word,
    kind: u64,
}

/// Starts a nonblocking operation, which returns a request.
#[inline(always)]
pub fn start_request<C: VerbCall, A: AfterCall>(_: C, request: Word, inner: VerbEvent<A>) -> VerbEvent<RequestStart> {
    VerbEvent { facts: inner.facts, after: RequestStart { request, kind: A::KIND } }
}

/// Prepares a persistent operation, which [`start`] starts.
#[inline(always)]
pub fn prepare_request<C: VerbCall, A: AfterCall>(_: C, request: Word, inner: VerbEvent<A>) -> VerbEvent<RequestStart> {
    VerbEvent { facts: inner.facts, after: RequestStart { request, kind: A::KIND | requests::PERSISTENT } }
}

impl AfterCall for RequestStart {
    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, _: C, slot: *mut Record, ok: bool) {
        if !ok {
            rare_branch();
            return;
        }
        // SAFETY: the call stored the request; the slot is this call's.
        unsafe {
            remember_request::<C::Language>(slot, self.request, self.kind);
            if self.kind & requests::PERSISTENT != 0 && (*slot).request != NONE {
                (*slot).flags |= CallFlags::PERSISTENT;
            }
        }
    }
}

/// Remembers the request that a call has stored at an address, under a new id. `kind` has the bits of [`OpenRequest::kind`] that the
/// record does not show. One function serves all calls that start something, because programs make them in turn.
///
/// # Safety
/// `slot` is the slot of the call that has just returned.
#[unsafe(link_section = ".text.hot.lbprof_c.in_turn")]
#[inline(never)]
unsafe fn remember_request<L: ArgumentLanguage>(slot: *mut Record, request: Word, kind: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        if request == 0 {
            rare_branch();
            return;
        }
        let handle = L::handle_at(request, 0, ConvertedHandle::Request);
        let shared = predefined::shared_requests();
        if handle == shared.null || shared.contains(handle) {
            // Complete already: its wait, if there is one, returns at once.
            return;
        }
        let is_concurrent = requests::is_concurrent();
        (*slot).request = requests::next_id(is_concurrent);
        if !requests::insert_at_home(handle, || opened_by(slot, kind), is_concurrent) {
            remember_elsewhere(slot, handle, kind);
        }
    }
}

/// Remembers a request whose place is taken. Makes its description anew, so that [`remember_request`] needs few registers.
///
/// # Safety
/// As [`remember_request`].
#[cold]
#[inline(never)]
unsafe fn remember_elsewhere(slot: *mut Record, handle: Word, kind: u64) {
    // SAFETY: the caller's promise.
    requests::insert_elsewhere(handle, &unsafe { opened_by(slot, kind) });
}

/// Returns the request that a call has opened, as its record describes it.
///
/// # Safety
/// As [`remember_request`].
#[inline(always)]
unsafe fn opened_by(slot: *mut Record, kind: u64) -> OpenRequest {
    // SAFETY: the caller's promise.
    let record = unsafe { &*slot };
    OpenRequest {
        id: record.request,
        comm: record.comm,
        peer: record.peer,
        tag: record.tag,
        sent: record.sent,
        received: record.received,
        kind: kind | requests::kind_of(record.flags),
    }
}

/// Returns the facts of a call that takes an open request or matched message. `is_nothing` is true if the handle is known to stand for
/// nothing.
fn request_arguments(open: Option<OpenRequest>, is_nothing: bool) -> CallArguments {
    let mut facts = CallArguments::empty();
    match open {
        Some(open) => (facts.comm, facts.peer, facts.tag) = (open.comm, open.peer, open.tag),
        None if is_nothing => facts.flags |= CallFlags::NOTHING.0,
        None => facts.flags |= CallFlags::UNKNOWN_REQUEST.0,
    }
    facts
}

fn object_arguments(object: ObjectIds) -> CallArguments {
    let mut facts = CallArguments::on(object.comm);
    if object.id != NONE {
        facts.tag = object.id as i32;
    }
    facts
}

/// Frees a window or file whose handle is at an address.
fn free_object<C: VerbCall>(call: C, table: &ObjectTable, handle: Word, convert: ConvertedHandle) -> VerbEvent<()> {
    let handle = call.handle_at(handle, 0, convert);
    let object = table.find(handle);
    call.cold(|| table.forget(handle));
    complete_event(object_arguments(object))
}
