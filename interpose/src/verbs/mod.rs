//! The verbs of calls.table, one function each: they read the arguments of a call.
//!
//! A verb reads the arguments before the call and gives an [`VerbEvent`]: the facts for the record, and what is left to do
//! after the call. It may replace an argument that it takes by `&mut` (a status that the program ignores). How it may read
//! them is the contract of [`VerbCall`]: its first argument, which stands for the call under way.

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
pub use polls::{is_unmeasured, measure};
pub use probes::*;
pub use window_spins::fold_repetition;

use crate::handles::requests::{self, OpenRequest};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined;
use crate::processor::rare_branch;
use crate::recording::slot::CallArguments;
use crate::state::thread::RecorderThread;
use crate::word::Word;

/// A call's facts, and what is left to do when it has returned.
#[derive(Clone, Copy)]
pub struct VerbEvent<A: AfterCall> {
    /// For the record.
    pub facts: CallArguments,
    /// For afterwards.
    pub after: A,
}

/// The remaining work after a call.
pub trait AfterCall: Copy {
    /// Bits for [`OpenRequest::kind`] if the operation's completion is a request's.
    const KIND: u64 = 0;

    /// Returns whether a call that has succeeded has found nothing, so that [`AfterCall::after`] passes its slot on as that of an
    /// unsuccessful poll.
    ///
    /// # Safety
    /// As of [`AfterCall::after`].
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        false
    }

    /// Completes the record at `slot`; `ok`: the call succeeded.
    ///
    /// # Safety
    /// The call has just returned on `thread`, the calling one, and `slot` is its record's. The addresses that the event has kept are the
    /// call's arguments still.
    unsafe fn after(self, thread: *mut RecorderThread, slot: *mut Record, ok: bool);
}

impl AfterCall for () {
    #[inline(always)]
    unsafe fn after(self, _: *mut RecorderThread, _: *mut Record, _: bool) {}
}

/// An event that is complete before the call.
#[inline(always)]
fn complete_event(facts: CallArguments) -> VerbEvent<()> {
    VerbEvent { facts, after: () }
}

/// An event whose request, when it completes, has `KIND`; nothing is to be done when a blocking call of it returns.
#[derive(Clone, Copy)]
pub struct PostedOperation<const KIND: u64>;

impl<const KIND: u64> AfterCall for PostedOperation<KIND> {
    const KIND: u64 = KIND;
    #[inline(always)]
    unsafe fn after(self, _: *mut RecorderThread, _: *mut Record, _: bool) {}
}

/// Remembers the request that the call returned.
#[derive(Clone, Copy)]
pub struct RequestStart<L, const PREPARED: bool> {
    request: Word,
    kind: u64,
    language: std::marker::PhantomData<L>,
}

/// A nonblocking operation: what it does, and the request that it returns.
#[inline(always)]
pub fn start_request<C: VerbCall, A: AfterCall>(
    _: C,
    request: Word,
    inner: VerbEvent<A>,
) -> VerbEvent<RequestStart<C::Language, false>> {
    VerbEvent { facts: inner.facts, after: RequestStart { request, kind: A::KIND, language: std::marker::PhantomData } }
}

/// A persistent operation is made; [`start`] starts it.
#[inline(always)]
pub fn prepare_request<C: VerbCall, A: AfterCall>(
    _: C,
    request: Word,
    inner: VerbEvent<A>,
) -> VerbEvent<RequestStart<C::Language, true>> {
    VerbEvent { facts: inner.facts, after: RequestStart { request, kind: A::KIND, language: std::marker::PhantomData } }
}

impl<L: ArgumentLanguage, const PREPARED: bool> AfterCall for RequestStart<L, PREPARED> {
    #[inline(always)]
    unsafe fn after(self, _: *mut RecorderThread, slot: *mut Record, ok: bool) {
        if !ok {
            rare_branch();
            return;
        }
        let kind = if PREPARED { self.kind | requests::PERSISTENT } else { self.kind };
        // SAFETY: the call stored the request; the slot is this call's.
        unsafe {
            remember::<L>(slot, self.request, kind);
            if PREPARED && (*slot).request != NONE {
                (*slot).flags |= CallFlags::PERSISTENT;
            }
        }
    }
}

/// Remembers the request that a call has stored at an address, under a new id. `kind` has the bits of [`OpenRequest::kind`] that the record does not show. One function
/// for all calls that start something, since they are made in turn.
///
/// # Safety
/// `slot` is that of the call that has just returned.
#[unsafe(link_section = ".text.hot.lbprof_c.in_turn")]
#[inline(never)]
unsafe fn remember<L: ArgumentLanguage>(slot: *mut Record, request: Word, kind: u64) {
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
        let concurrency = requests::concurrency();
        (*slot).request = requests::next_id(concurrency);
        if !requests::insert_at_home(handle, || opened_by(slot, kind), concurrency) {
            remember_elsewhere(slot, handle, kind);
        }
    }
}

/// Remembers a request whose place is taken, with its record made anew, so that [`remember`] needs few registers.
///
/// # Safety
/// As [`remember`].
#[cold]
#[inline(never)]
unsafe fn remember_elsewhere(slot: *mut Record, handle: Word, kind: u64) {
    // SAFETY: the caller's promise.
    requests::insert_elsewhere(handle, &unsafe { opened_by(slot, kind) });
}

/// Returns the request that a call has opened, as its record describes it.
///
/// # Safety
/// As [`remember`].
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
