//! The parts of a call that starts or completes several requests.

use super::finished::{store_completed_here, take_completed};
use crate::harmless::guard;
use crate::mpi::predefined;
use crate::recording::{room, slot};
use crate::state::thread::Thread;
use crate::word::Word;
use lbprof_collector::record::{NONE, Record};
use lbprof_collector::{Activity, Operation, ProblemKind};

/// The parts of a call that completed several requests.
pub(super) struct CompletedParts {
    pub(super) template: Record,
    pub(super) completed: u32,
    /// Activity of the requests; the last collective or one-sided one where they are mixed.
    pub(super) activity: Activity,
    pub(super) comm: u32,
}

impl CompletedParts {
    /// Of the call at `slot`, which has returned.
    ///
    /// # Safety
    /// `slot` is that of the call that has just returned.
    pub(super) unsafe fn of(slot: *mut Record) -> Self {
        // SAFETY: a live record.
        let mut template = unsafe { *slot };
        template.operation = Operation::Completed as u16;
        template.begin = template.end;
        CompletedParts { template, completed: 0, activity: Activity::PointToPoint, comm: NONE }
    }

    /// One request was completed.
    ///
    /// # Safety
    /// `thread` is the calling thread's state. `status` is 0 or a filled one's address.
    pub(super) unsafe fn add(&mut self, thread: *mut Thread, handle: Word, status: Word) {
        // SAFETY: a filled status; the part is a local copy.
        unsafe {
            let open = take_completed(handle);
            match open {
                Some(open) => {
                    self.comm = open.comm;
                    // A persistent request that was not active did not complete anything.
                    if open.is_inactive() {
                        return;
                    }
                }
                None if predefined::is_shared_request(handle) => {
                    self.completed += 1;
                    return;
                }
                None => guard::count(ProblemKind::UnknownRequest, 1),
            }
            self.completed += 1;
            let part = room::add_part(thread, &self.template);
            if part.is_null() {
                return;
            }
            // Where there was a flush before this part, those that follow come after it, too.
            self.template.end = (*part).end;
            store_completed_here(part, handle, status, open);
            if open.is_some() {
                self.activity = (*part).activity();
            }
            slot::publish_part(part);
        }
    }

    /// All parts are written. The call's slot may have been flushed while they were; then its count stays 0.
    ///
    /// # Safety
    /// `slot` is that which [`CompletedParts::of`] was given.
    pub(super) unsafe fn finish(self, slot: *mut Record) {
        // SAFETY: the slot lies in the ring; where a flush intervened it holds nothing or another record, maybe one of the parts.
        unsafe {
            let is_call = (*slot).operation != self.template.operation && (*slot).call_site == self.template.call_site;
            if is_call && (*slot).end == self.template.end {
                (*slot).count = self.completed;
                (*slot).flags = (*slot).flags.with_activity(self.activity);
                (*slot).comm = self.comm;
            }
        }
    }
}
