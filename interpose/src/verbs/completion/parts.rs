//! The parts of a call that starts or completes several requests.

use std::hint;
use std::sync::atomic::{Ordering::Release, compiler_fence};

use super::finished::{store_completed_here, take_completed};
use crate::handles::requests::{self, OpenRequest};
use crate::harmless::guard;
use crate::mpi::abi::{SharedRequests, abi};
use crate::mpi::predefined;
use crate::processor::rare_branch;
use crate::recording::room;
use crate::recording::slot::publish_part;
use crate::state::thread::RecorderThread;
use crate::word::Word;
use lbprof_collector::joined::{JOINED_COMPLETED, can_join_completed};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::{Activity, Operation, ProblemKind};

/// Records the requests that a call has completed, up to the first that is not a usual one, or for which the ring has no room: the first in the call's own record, each
/// further one in a part. The call's record counts those that are complete. Returns the first handle that it has not recorded, and the last record; null: there
/// is none.
///
/// # Safety
/// `slot` is that of the call that has just returned on `thread`, the calling one. The handles are those from `next` to `end`, whose statuses are filled.
#[unsafe(link_section = ".text.hot.lbprof_c.in_turn")]
#[inline(never)] // One for all languages.
pub(super) unsafe fn complete_usual(
    thread: *mut RecorderThread,
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
                    if !is_first && (*thread).cursor == (*thread).limit {
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
                        // Last of all: whoever finds it so finds the request.
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
            status = status.wrapping_add(abi().status_bytes as usize);
        }
        (next, last)
    }
}

/// Takes the next slot for a part of the call at `slot`, which had these flags, and fills all that [`store_usual`] does not.
///
/// # Safety
/// The ring of `thread`, the calling one, has a free slot.
#[inline(always)]
unsafe fn next_part(thread: *mut RecorderThread, slot: *mut Record, flags: CallFlags) -> *mut Record {
    // SAFETY: the caller's promise.
    unsafe {
        let part = (*thread).cursor;
        (*thread).cursor = part.add(1);
        (*part).end = (*slot).end;
        (*part).call_site = (*slot).call_site;
        (*part).received = 0;
        (*part).operation = Operation::Completed as u16;
        (*part).flags = flags;
        (*part).count = 0;
        part
    }
}

/// Gives back the slot of a part that nothing was stored in, unless a handler has made a call meanwhile: a slot without a record is left out.
///
/// # Safety
/// `part` comes from [`next_part`].
#[cold]
#[inline(never)]
unsafe fn take_back_part(thread: *mut RecorderThread, part: *mut Record) {
    // SAFETY: the caller's promise.
    unsafe {
        (*part).end = 0;
        if (*thread).cursor == part.add(1) {
            (*thread).cursor = part;
        }
    }
}

/// Stores the facts of a completed request in a record that has the flags of its call, if it is a usual one; whether it did.
///
/// # Safety
/// `record` is live; `status` is a filled one's address.
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

/// Returns whether two records have the same communicator and activity.
///
/// # Safety
/// Live records.
#[inline(always)]
pub(super) unsafe fn is_alike(one: *const Record, other: *const Record) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*one).comm == (*other).comm && (*one).flags.activity_number() == (*other).flags.activity_number() }
}

/// The parts of a call that starts or completes several requests. The first request that was completed is in the call's own record
/// ([`lbprof_collector::joined`]).
///
/// What is rare works on a copy of it, so that it stays in registers.
#[derive(Clone, Copy)]
pub(super) struct CompletionParts {
    /// The call's record. Where a flush intervened it holds nothing or another one, maybe a part.
    slot: *mut Record,
    call_site: u64,
    /// The call's flags before it had parts.
    flags: CallFlags,
    part: Operation,
    /// End of the call; where there was a flush before a part, that of the part, for those that follow come after it, too.
    end: u64,
    /// Requests that were started or completed, also those without a part.
    pub(super) count: u32,
    /// True if there is a part, in the call's record or after it.
    has_parts: bool,
    /// Activity and communicator of the last request.
    activity: u16,
    comm: u32,
}

impl CompletionParts {
    /// Of the call at `slot`, which has returned.
    ///
    /// # Safety
    /// `slot` is that of the call that has just returned.
    #[inline(always)]
    pub(super) unsafe fn new(slot: *mut Record, part: Operation) -> Self {
        // SAFETY: a live record.
        let (call_site, flags, end) = unsafe { ((*slot).call_site, (*slot).flags, (*slot).end) };
        let activity = Activity::PointToPoint as u16;
        CompletionParts { slot, call_site, flags, part, end, count: 0, has_parts: false, activity, comm: NONE }
    }

    /// Of the call at `slot`, which had these flags; what it has completed so far is recorded, the last of it in the record `last`; null: in none.
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
    /// `thread` is the calling thread's state. `status` is 0 or a filled one's address.
    #[inline(always)]
    pub(super) unsafe fn completed(
        &mut self,
        thread: *mut RecorderThread,
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
                // Last of all: whoever finds it so finds the part.
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
        thread: *mut RecorderThread,
        handle: Word,
        status: Word,
        open: &Option<OpenRequest>,
    ) {
        let open = *open;
        match open {
            Some(open) => {
                self.comm = open.comm;
                // A persistent request that was not active did not complete anything.
                if open.is_inactive() {
                    return;
                }
            }
            None => guard::count(ProblemKind::UnknownRequest, 1),
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

    /// Records a started request: `store` puts it into its part.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    pub(super) unsafe fn started(&mut self, thread: *mut RecorderThread, comm: u32, store: impl FnOnce(*mut Record)) {
        self.count += 1;
        self.comm = comm;
        // SAFETY: the caller's.
        self.activity = unsafe { self.add(thread, store) }.unwrap_or(self.activity);
    }

    /// Adds a part that `store` fills; gives its activity. `None`: the thread does not record.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    #[inline(always)]
    unsafe fn add(&mut self, thread: *mut RecorderThread, store: impl FnOnce(*mut Record)) -> Option<u16> {
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

    /// Finishes after the last part. The call's slot may have been flushed while parts were written; then its count is that of the parts
    /// until then.
    ///
    /// # Safety
    /// `thread` is the calling thread's state.
    #[inline(always)]
    pub(super) unsafe fn finish(self, thread: *mut RecorderThread) {
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

    /// Gives the call's record the activity and the communicator of the last request. Where they are not those of the first, which is in the
    /// record, that gets a part of its own.
    ///
    /// # Safety
    /// As [`CompletionParts::finish`], of a record that has not been flushed.
    #[inline(never)]
    unsafe fn stand_for_all(&mut self, thread: *mut RecorderThread) {
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
