//! Calls that complete, test or look at requests in an array.

use super::finished::{store_completed, take_completed};
use super::parts::{CompletionParts, complete_usual};
use crate::calls::verbs::call::stored_int;
use crate::calls::verbs::point_to_point::status_or_own;
use crate::calls::verbs::polls::{FlagTest, found_nothing, nothing_active};
use crate::calls::verbs::{AfterCall, VerbCall, VerbEvent};
use crate::harmless::enter;
use crate::machine::processor::rare_branch;
use crate::machine::word::Word;
use crate::mpi::abi::{AbiFamily, current_abi};
use crate::mpi::lang::{ArgumentLanguage, ConvertedHandle};
use crate::mpi::predefined::{self, PredefinedHandle, is_predefined};
use crate::recording::slot::CallArguments;
use crate::state::buffers::GrowingArray;
use crate::state::thread::{FEW, RecorderThread};
use lbprof_collector::Operation;
use lbprof_collector::record::{CallFlags, Record};

/// Copies the handles of an array before MPI overwrites them. Returns null if there is no memory, or if MPI will refuse the call.
///
/// MPI looks at the handles in turn, up to the first invalid one: after it there may be no array, whatever the count says.
#[inline(always)]
fn keep_requests<C: VerbCall>(call: C, count: usize, array: Word) -> *const Word {
    let thread = call.thread();
    // SAFETY: the array has `count` handles, or an invalid one before its end; they are copied to where there is room.
    unsafe {
        let kept = if count <= FEW {
            thread.few_requests.as_ptr().cast()
        } else {
            room_for::<C>(&thread.requests, count, array)
        };
        if kept.is_null() {
            return kept;
        }
        let handles = C::Language::handles(array, ConvertedHandle::Request);
        let keep = |may_be_request: fn(Word) -> bool| {
            (0..count).all(|i| {
                let handle = handles.handle_at(i);
                kept.add(i).write(handle);
                may_be_request(handle)
            })
        };
        // Each kind of check has its own loop, so that the loops do not branch.
        let all_may = if current_abi().kind == AbiFamily::Mpich {
            keep(|handle| predefined::may_be_request(AbiFamily::Mpich, handle))
        } else {
            keep(|handle| predefined::may_be_request(AbiFamily::OpenMpi, handle))
        };
        if all_may { kept } else { std::ptr::null() }
    }
}

/// Makes room for copies of `count` handles of the array. Returns null under the conditions of [`keep_requests`].
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn room_for<C: VerbCall>(requests: &GrowingArray, count: usize, array: Word) -> *mut Word {
    let handles = C::Language::handles(array, ConvertedHandle::Request);
    let bytes = count * size_of::<Word>();
    // SAFETY: the array has `count` handles, or an invalid one before its end.
    let mut present = (0..count).map(|i| unsafe { handles.handle_at(i) });
    if !requests.has_room(bytes) && present.all(|handle| predefined::may_be_request(current_abi().kind, handle)) {
        // The thread is not cancelled within malloc.
        enter::enter_quietly(|| requests.grow(bytes));
    }
    if requests.has_room(bytes) { requests.start().cast() } else { std::ptr::null_mut() }
}

/// Returns statuses that can be read afterwards: the program's, or ours if it ignores them; 0 if there is no memory.
#[inline(always)]
fn statuses_or_own<C: VerbCall>(call: C, count: usize, statuses: &mut Word) -> Word {
    let thread = call.thread();
    if !call.statuses_ignored(*statuses) {
        return *statuses;
    }
    // If INTEGER has 8 bytes, Fortran's statuses are twice as wide as C's.
    let width = if C::Language::FORTRAN { 2 } else { 1 };
    if count <= FEW / width {
        *statuses = thread.tables().few_statuses.as_ptr() as Word;
        return *statuses;
    }
    let bytes = count * current_abi().status_bytes as usize * width;
    if !thread.statuses.has_room(bytes) {
        enter::enter_quietly(|| thread.statuses.grow(bytes));
    }
    if !thread.statuses.has_room(bytes) {
        return 0;
    }
    *statuses = thread.statuses.start() as Word;
    *statuses
}

#[derive(Clone, Copy)]
pub struct CompletesSeveral<const WHICH: u8> {
    requests: Word,
    kept: *const Word,
    count: usize,
    statuses: Word,
    /// Address of the flag (all), outcount (some) or index (any); 0 if there is none.
    out: Word,
    /// Address of the indices (some) or of the flag (any).
    indices: Word,
}

const ALL: u8 = 0;
const SOME: u8 = 1;
const ANY: u8 = 2;

#[inline(always)]
fn complete_several<C: VerbCall, const WHICH: u8>(
    call: C,
    count: Word,
    requests: Word,
    out: Word,
    indices: Word,
    statuses: &mut Word,
) -> VerbEvent<CompletesSeveral<WHICH>> {
    let count = usize::try_from(call.int(count)).unwrap_or(0);
    let kept = keep_requests(call, count, requests);
    let statuses = if WHICH == ANY {
        status_or_own(call, statuses)
    } else if kept.is_null() {
        *statuses
    } else {
        statuses_or_own(call, count, statuses)
    };
    let after = CompletesSeveral { requests, kept, count, statuses, out, indices };
    VerbEvent { facts: CallArguments::empty(), after }
}

/// Records a wait for all requests, or a test of all.
#[inline(always)]
pub fn try_complete_all<C: VerbCall>(
    call: C,
    count: Word,
    array_of_requests: Word,
    flag: Word,
    statuses: &mut Word,
) -> VerbEvent<CompletesSeveral<ALL>> {
    complete_several(call, count, array_of_requests, flag, 0, statuses)
}

/// Records a wait or test for some requests.
#[inline(always)]
pub fn complete_some<C: VerbCall>(
    call: C,
    incount: Word,
    array_of_requests: Word,
    outcount: Word,
    array_of_indices: Word,
    statuses: &mut Word,
) -> VerbEvent<CompletesSeveral<SOME>> {
    complete_several(call, incount, array_of_requests, outcount, array_of_indices, statuses)
}

/// Records a wait or test for any one request.
#[inline(always)]
pub fn try_complete_any<C: VerbCall>(
    call: C,
    count: Word,
    array_of_requests: Word,
    index: Word,
    flag: Word,
    status: &mut Word,
) -> VerbEvent<CompletesSeveral<ANY>> {
    complete_several(call, count, array_of_requests, index, flag, status)
}

impl<const WHICH: u8> AfterCall for CompletesSeveral<WHICH> {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag or the count.
        unsafe {
            let found = match WHICH {
                ANY => self.indices,
                _ => self.out,
            };
            !self.kept.is_null() && self.count > 0 && found != 0 && stored_int(found) == 0
        }
    }

    #[inline(always)]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: see the arms; `kept` holds `count` handles or is null.
        unsafe {
            let thread = call.thread();
            if self.kept.is_null() {
                rare_branch();
                if ok && self.count == 0 {
                    nothing_active(thread, slot);
                }
            } else if !ok {
                // A copy, here and below, so that the other one can stay in registers.
                CompletesSeveral { ..self }.failed(call, slot);
            } else {
                match WHICH {
                    ANY => self.any(call, slot),
                    SOME => self.some(call, slot),
                    _ => self.complete_every(thread, slot),
                }
            }
        }
    }
}

impl<const WHICH: u8> CompletesSeveral<WHICH> {
    /// Records that one request was completed, or none.
    ///
    /// # Safety
    /// As [`AfterCall::after`], of a successful call.
    #[inline(always)]
    unsafe fn any<C: VerbCall>(self, call: C, slot: *mut Record) {
        // SAFETY: a successful call has filled flag and index, and the status where it completed one.
        unsafe {
            let flag = self.indices;
            if flag != 0 && stored_int(flag) == 0 {
                found_nothing(call.thread(), slot);
            } else if let Some(i) = self.index(call, self.out, 0) {
                let handle = self.kept.add(i).read();
                store_completed(slot, handle, self.statuses, take_completed(handle));
            } else {
                // MPI_UNDEFINED: no request of the array is active.
                nothing_active(call.thread(), slot);
            }
        }
    }

    /// Records that some requests were completed.
    ///
    /// # Safety
    /// As [`AfterCall::after`], of a successful call.
    #[inline(always)]
    unsafe fn some<C: VerbCall>(self, call: C, slot: *mut Record) {
        // SAFETY: a successful call has filled the count, and as many indices and statuses.
        unsafe {
            let thread = call.thread();
            // Negative is MPI_UNDEFINED: no request of the array is active.
            let outcount = match usize::try_from(stored_int(self.out)) {
                Ok(outcount) if self.count > 0 => outcount.min(self.count),
                _ => return nothing_active(thread, slot),
            };
            if outcount == 0 {
                return found_nothing(thread, slot);
            }
            let mut parts = CompletionParts::new(slot, Operation::Completed);
            let (shared, (first, bytes)) = (predefined::shared_requests(), self.all_statuses());
            for k in 0..outcount {
                if let Some(i) = self.index(call, self.indices, k) {
                    parts.completed(thread, self.kept.add(i).read(), shared, first + k * bytes);
                }
            }
            parts.finish(thread);
        }
    }

    /// Records that all requests were completed, unless a flag says that none was.
    ///
    /// # Safety
    /// As [`AfterCall::after`], of a successful call.
    #[inline(always)]
    unsafe fn complete_every(self, thread: &RecorderThread, slot: *mut Record) {
        // SAFETY: a successful call has filled the flag, and the statuses where it is set.
        unsafe {
            if self.out != 0 && stored_int(self.out) == 0 {
                return found_nothing(thread, slot);
            }
            let (flags, end) = ((*slot).flags, self.kept.add(self.count));
            let (first, last) = if self.statuses == 0 {
                rare_branch();
                (self.kept, std::ptr::null_mut())
            } else {
                complete_usual(thread, slot, self.kept, end, self.statuses)
            };
            // The call's record stands for all requests if the last one has its communicator and activity.
            if first == end
                && !last.is_null()
                && (*last).comm == (*slot).comm
                && (*last).flags.activity_number() == (*slot).flags.activity_number()
            {
                return;
            }
            CompletesSeveral { ..self }.complete_unusual(thread, slot, flags, first, last);
        }
    }

    /// Records whatever [`complete_usual`] has left: all requests from `first` on, or that the call's record stands for requests of several
    /// kinds or for none.
    ///
    /// # Safety
    /// As [`AfterCall::after`], of a successful call.
    #[cold]
    #[inline(never)]
    unsafe fn complete_unusual(
        self,
        thread: &RecorderThread,
        slot: *mut Record,
        flags: CallFlags,
        first: *const Word,
        last: *mut Record,
    ) {
        // SAFETY: as of `complete_every`; `first` and `last` come from `complete_usual`.
        unsafe {
            let first = first.offset_from_unsigned(self.kept);
            let parts = CompletionParts::after_usual(slot, flags, last);
            if first < self.count {
                self.others(thread, slot, first, parts);
            } else if !last.is_null() {
                parts.finish(thread);
            } else if (*slot).count == 0 {
                nothing_active(thread, slot);
            }
        }
    }

    /// Records the remaining completed requests. The requests before `first` are in `parts`.
    ///
    /// # Safety
    /// As [`AfterCall::after`], of a successful call.
    #[inline(always)]
    unsafe fn others(self, thread: &RecorderThread, slot: *mut Record, first: usize, mut parts: CompletionParts) {
        // SAFETY: a successful call has filled the statuses.
        unsafe {
            let shared = predefined::shared_requests();
            let (first_status, bytes) = self.all_statuses();
            for i in first..self.count {
                let handle = self.kept.add(i).read();
                if handle != shared.null {
                    parts.completed(thread, handle, shared, first_status + i * bytes);
                }
            }
            parts.finish(thread);
            if parts.count == 0 {
                nothing_active(thread, slot);
            }
        }
    }

    /// Records a failed call. It depends on the error and on the MPI which results are filled, but completed requests are null now.
    ///
    /// # Safety
    /// As [`AfterCall::after`], for a failed call.
    #[cold]
    #[inline(never)]
    unsafe fn failed<C: VerbCall>(self, call: C, slot: *mut Record) {
        // SAFETY: both arrays have `count` handles.
        unsafe {
            let mut completed = (0..self.count).filter(|&i| {
                let now = call.handle_at(self.requests, i, ConvertedHandle::Request);
                now != self.kept.add(i).read() && is_predefined(PredefinedHandle::RequestNull, now)
            });
            if WHICH == ANY {
                if let Some(i) = completed.next_back() {
                    let handle = self.kept.add(i).read();
                    store_completed(slot, handle, 0, take_completed(handle));
                }
                return;
            }
            let mut parts = CompletionParts::new(slot, Operation::Completed);
            let shared = predefined::shared_requests();
            for i in completed {
                parts.completed(call.thread(), self.kept.add(i).read(), shared, 0);
            }
            parts.finish(call.thread());
        }
    }

    /// Returns element `k` of the indices that MPI stored, counted from 0, or `None` for MPI_UNDEFINED.
    ///
    /// Fortran counts from 1, but mpi_f08 of MPICH 4.0 from 0: the request that changed decides.
    ///
    /// # Safety
    /// As [`AfterCall::after`]; `indices` is the address of more than `k` that a successful call has stored.
    unsafe fn index<C: VerbCall>(&self, call: C, indices: Word, k: usize) -> Option<usize> {
        // SAFETY: a successful call stored the indices; request and kept arrays have `count` elements.
        unsafe {
            let index = i64::from(call.index_at(indices, k));
            if C::Language::FORTRAN && !self.has_changed(call, index) && self.has_changed(call, index + 1) {
                return usize::try_from(index + 1).ok();
            }
            usize::try_from(index).ok().filter(|&i| i < self.count)
        }
    }

    /// Returns whether the handle at an index differs from the one before the call; false if the index is not in the array.
    ///
    /// # Safety
    /// The arrays of requests and of kept handles have `count` elements.
    unsafe fn has_changed<C: VerbCall>(&self, call: C, index: i64) -> bool {
        let Some(i) = usize::try_from(index).ok().filter(|&i| i < self.count) else { return false };
        // SAFETY: the caller's promise.
        unsafe { call.handle_at(self.requests, i, ConvertedHandle::Request) != self.kept.add(i).read() }
    }

    /// Returns the address of the first status that MPI has filled, and the bytes from one to the next. If there was no memory for them, it is
    /// an empty one, for all.
    #[inline(always)]
    fn all_statuses(&self) -> (Word, usize) {
        static NO_STATUS: [u64; 8] = [0; 8];
        if self.statuses == 0 {
            (NO_STATUS.as_ptr() as Word, 0)
        } else {
            (self.statuses, current_abi().status_bytes as usize)
        }
    }
}

/// Records a look at requests of an array (MPI-4.1 §3.7.6): all, any, or some. `out` is the flag or outcount.
#[inline(always)]
pub fn look_at_requests<C: VerbCall>(_: C, out: Word) -> VerbEvent<FlagTest> {
    VerbEvent { facts: CallArguments::empty(), after: FlagTest { out } }
}
