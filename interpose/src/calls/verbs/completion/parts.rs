//! Parts of a call that starts or completes several requests.

use std::hint;
use std::sync::atomic::{Ordering::Release, compiler_fence};

use super::finished::{store_completed_here, take_completed};
use crate::handles::requests::{self, OpenRequest};
use crate::harmless::guard;
use crate::machine::processor::rare_branch;
use crate::machine::word::Word;
use crate::mpi::abi::{SharedRequests, current_abi};
use crate::mpi::predefined;
use crate::recording::room;
use crate::recording::slot::publish_part;
use crate::state::thread::RecorderThread;
use lbprof_collector::joined::{JOINED_COMPLETED, can_join_completed};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::{Activity, Operation, ProblemKind};

/// Records the requests that a call has completed, up to the first that is unusual or for which the ring has no room: the first in the
/// call's own record, each further one in a part. The call's record counts the completed requests. Returns the first handle that is not
/// recorded, and the last record, which is null if there is none.
///
/// # Safety
/// `slot` is the slot of the call that has just returned on `thread`, the calling one. The handles lie between `next` and `end`, and their
/// statuses are filled.
#[unsafe(link_section = ".text.hot.lbprof_c.in_turn")]
#[inline(never)] // One for all languages.
pub(super) unsafe fn complete_usual(
    thread: &RecorderThread,
    slot: *mut Record,
    mut next: *const Word,
    end: *const Word,
    mut status: Word,
) -> (*const Word, *mut Record) {
    // SAFETY: live records of the thread's own ring; handles and statuses as the caller promises.
    unsafe {
        let flags = (*slot).flags;
        let mut last = std::ptr::null_mut::<Record>();
        if !can_join_completed(flags) {
            rare_branch();
            return (next, last);
        }
        while next != end {
            let (handle, shared) = (next.read(), predefined::shared_requests());
            if handle != shared.null {
                if !shared.contains(handle) {
                    let is_first = last.is_null();
                    if !is_first && thread.cursor.get() == thread.limit.get() {
                        rare_branch();
                        return (next, last);
                    }
                    let record = if is_first { slot } else { next_part(thread, slot, flags) };
                    if !store_usual(record, handle, status) {
                        rare_branch();
                        if !is_first {
                            take_back_part(thread, record);
                        }
                        return (next, last);
                    }
                    if is_first {
                        // Last: a reader that sees the flag finds the request complete.
                        compiler_fence(Release);
                        (*slot).operation |= JOINED_COMPLETED;
                    } else {
                        publish_part(record);
                    }
                    last = record;
                }
                (*slot).count += 1;
            }
            next = next.add(1);
            status = status.wrapping_add(current_abi().status_bytes as usize);
        }
        (next, last)
    }
}

/// Takes the next slot for a part of the call at `slot`, which had these flags, and fills all fields that [`store_usual`] does not.
///
/// # Safety
/// The ring of `thread`, the calling one, has a free slot.
#[inline(always)]
unsafe fn next_part(thread: &RecorderThread, slot: *mut Record, flags: CallFlags) -> *mut Record {
    // SAFETY: the caller's promise.
    unsafe {
        let part = thread.cursor.get();
        thread.cursor.set(part.add(1));
        (*part).end = (*slot).end;
        (*part).call_site = (*slot).call_site;
        (*part).received = 0;
        (*part).operation = Operation::Completed as u16;
        (*part).flags = flags;
        (*part).count = 0;
        part
    }
}

/// Gives back the slot of a part in which nothing was stored, unless a handler has made a call meanwhile. Readers skip a slot without a
/// record.
///
/// # Safety
/// `part` comes from [`next_part`].
#[cold]
#[inline(never)]
unsafe fn take_back_part(thread: &RecorderThread, part: *mut Record) {
    // SAFETY: the caller's promise.
    unsafe {
        (*part).end = 0;
        if thread.cursor.get() == part.add(1) {
            thread.cursor.set(part);
        }
    }
}

/// Stores the facts of a completed request in a record that has the flags of its call, if it is a usual one. Returns whether it did.
///
/// # Safety
/// `record` is live; `status` is the address of a filled status.
#[unsafe(link_section = ".text.hot.lbprof_c.in_turn")]
#[inline(never)] // So that it and its caller have all registers.
unsafe fn store_usual(record: *mut Record, handle: Word, status: Word) -> bool {
    let Some(open) = requests::take_usual(handle) else { return false };
    // SAFETY: a live record; a filled status.
    unsafe {
        hint::assert_unchecked(status != 0);
        store_completed_here(record, handle, status, Some(open));
    }
    true
}

/// The parts of a call that starts or completes several requests. The first request that was completed is in the call's own record
/// ([`lbprof_collector::joined`]).
///
/// Rare cases work on a copy, so that the original stays in registers.
#[derive(Clone, Copy)]
pub(super) struct CompletionParts {
    /// The call's record. After a flush it is empty or holds another record, maybe a part.
    slot: *mut Record,
    call_site: u64,
    /// The call's flags before it had parts.
    flags: CallFlags,
    part: Operation,
    /// End of the call. After a flush before a part, the end of that part, because the following parts come after it, too.
    end: u64,
    /// Started or completed requests, including those without a part.
    pub(super) count: u32,
    /// True if there is a part in the call's record or after it.
    has_parts: bool,
    /// Activity and communicator of the last request.
    activity: u16,
    comm: u32,
}

impl CompletionParts {
    /// Starts the parts of the call at `slot`.
    ///
    /// # Safety
    /// `slot` is the slot of the call that has just returned.
    #[inline(always)]
    pub(super) unsafe fn new(slot: *mut Record, part: Operation) -> Self {
        // SAFETY: a live record.
        let (call_site, flags, end) = unsafe { ((*slot).call_site, (*slot).flags, (*slot).end) };
        let activity = Activity::PointToPoint as u16;
        CompletionParts { slot, call_site, flags, part, end, count: 0, has_parts: false, activity, comm: NONE }
    }

    /// Continues the parts of the call at `slot`, which had these flags. `last` is the record of the last completed request so far, or null
    /// if none is recorded.
    ///
    /// # Safety
    /// As [`CompletionParts::new`]; `last` comes from [`complete_usual`].
    #[inline(always)]
    pub(super) unsafe fn after_usual(slot: *mut Record, flags: CallFlags, last: *mut Record) -> Self {
        // SAFETY: the caller's; live records.
        unsafe {
            let count = (*slot).count;
            let none = CompletionParts { flags, count, ..CompletionParts::new(slot, Operation::Completed) };
            if last.is_null() {
                return none;
            }
            CompletionParts { has_parts: true, activity: (*last).flags.activity_number(), comm: (*last).comm, ..none }
        }
    }

    /// Records a completed request. `shared` are the handles of [`shared_requests`](crate::mpi::predefined::shared_requests).
    ///
    /// # Safety
    /// `thread` is the calling thread's state. `status` is 0 or the address of a filled status.
    #[inline(always)]
    pub(super) unsafe fn completed(
        &mut self,
        thread: &RecorderThread,
        handle: Word,
        shared: SharedRequests,
        status: Word,
    ) {
        if shared.contains(handle) {
            self.count += 1;
            return;
        }
        let taken = take_completed(handle);
        // SAFETY: a filled status; before there are parts nothing was flushed.
        unsafe {
            if let Some(open) = taken
                && !self.has_parts
                && !open.is_inactive()
                && can_join_completed(self.flags)
            {
                self.has_parts = true;
                self.count += 1;
                store_completed_here(self.slot, handle, status, Some(open));
                (self.activity, self.comm) = ((*self.slot).flags.activity_number(), open.comm);
                // Last: a reader that sees the flag finds the part complete.
                compiler_fence(Release);
                (*self.slot).operation |= JOINED_COMPLETED;
                return;
            }
            let taken = taken.map(|open| OpenRequest { ..open });
            let mut parts = *self;
            parts.completed_after(thread, handle, status, &taken);
            *self = parts;
        }
    }

    /// Records a completed request that is not in the call's record.
    ///
    /// # Safety
    /// As [`CompletionParts::completed`].
    #[inline(never)]
    unsafe fn completed_after(
        &mut self,
        thread: &RecorderThread,
        handle: Word,
        status: Word,
        open: &Option<OpenRequest>,
    ) {
        let open = *open;
        match open {
            Some(open) => {
                self.comm = open.comm;
                // An inactive persistent request did not complete anything.
                if open.is_inactive() {
                    return;
                }
            }
            None => guard::count_problem(ProblemKind::UnknownRequest, 1),
        }
        self.count += 1;
        // SAFETY: the caller's.
        unsafe {
            let activity = self.add(thread, |part| store_completed_here(part, handle, status, open));
            if open.is_some() {
                self.activity = activity.unwrap_or(self.activity);
            }
        }
    }

    /// Records a started request, which `store` puts into its part.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    pub(super) unsafe fn started(&mut self, thread: &RecorderThread, comm: u32, store: impl FnOnce(*mut Record)) {
        self.count += 1;
        self.comm = comm;
        // SAFETY: the caller's.
        self.activity = unsafe { self.add(thread, store) }.unwrap_or(self.activity);
    }

    /// Adds a part that `store` fills. Returns its activity, or `None` if the thread does not record.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    #[inline(always)]
    unsafe fn add(&mut self, thread: &RecorderThread, store: impl FnOnce(*mut Record)) -> Option<u16> {
        self.has_parts = true;
        let template = Record { call_site: self.call_site, flags: self.flags, ..Record::new(self.part, self.end) };
        // SAFETY: the part is this thread's newest slot.
        unsafe {
            let part = room::add_part(thread, &template);
            if part.is_null() {
                return None;
            }
            self.end = (*part).end;
            store(part);
            publish_part(part);
            Some((*part).flags.activity_number())
        }
    }

    /// Finishes after the last part. If the call's slot was flushed while parts were written, its count is the number of parts until then.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    #[inline(always)]
    pub(super) unsafe fn finish(self, thread: &RecorderThread) {
        // SAFETY: the slot lies in the ring.
        unsafe {
            let slot = self.slot;
            let operation = (*slot).operation & !JOINED_COMPLETED;
            if operation == self.part as u16 || (*slot).call_site != self.call_site || (*slot).end != self.end {
                return;
            }
            (*slot).count = self.count;
            if (*slot).flags.activity_number() != self.activity || (*slot).comm != self.comm {
                let mut parts = self;
                parts.stand_for_all(thread);
            }
        }
    }

    /// Gives the call's record the activity and the communicator of the last request. If the first request, which is in the record, has
    /// others, it gets a part of its own.
    ///
    /// # Safety
    /// As [`CompletionParts::finish`], for a record that has not been flushed.
    #[inline(never)]
    unsafe fn stand_for_all(&mut self, thread: &RecorderThread) {
        // SAFETY: the slot is the call's until a part is added.
        unsafe {
            let slot = self.slot;
            let apart = (*slot).apart();
            let call = apart.map_or(*slot, |(call, _)| call);
            slot.write(Record { flags: call.flags.with_activity_number(self.activity), comm: self.comm, ..call });
            let Some((_, first)) = apart else { return };
            let (end, mut last) = (self.end, std::ptr::null_mut());
            self.add(thread, |part| {
                part.write(Record { begin: 0, end: (*part).end, ..first });
                last = part;
            });
            if self.end == end && !last.is_null() {
                // No flush intervened: the parts follow one another, and the first comes first.
                let parts = slot.add(1);
                std::ptr::copy(parts, parts.add(1), usize::try_from(last.offset_from(parts)).unwrap_or(0));
                parts.write(first);
            }
        }
    }
}
