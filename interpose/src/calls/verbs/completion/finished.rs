//! Completed requests: their records, and their removal from the table of requests.

use crate::calls::verbs::point_to_point::store_arrived;
use crate::handles::comms::creation;
use crate::handles::requests::{self, ACTIVE, OpenRequest, PERSISTENT, READS, RECEIVES, WRITES};
use crate::machine::processor::rare_branch;
use crate::machine::word::Word;
use crate::mpi::abi::{AbiFamily, current_abi};
use crate::mpi::{predefined, status};
use lbprof_collector::Activity;
use lbprof_collector::record::{CallFlags, Record};

/// Fills the record of a completed request.
///
/// # Safety
/// `record` is live; `status` is 0 or the address of a filled status.
#[inline(never)]
pub(super) unsafe fn store_completed(record: *mut Record, handle: Word, status: Word, open: Option<OpenRequest>) {
    // SAFETY: the caller's promise.
    unsafe { store_completed_here(record, handle, status, open) };
}

/// Fills the record of a completed request, inlined for the parts of a call that completed several. `status` is 0 if the call failed,
/// because it is not known which statuses are filled then.
///
/// # Safety
/// As [`store_completed`].
#[inline(always)]
pub(super) unsafe fn store_completed_here(record: *mut Record, handle: Word, status: Word, open: Option<OpenRequest>) {
    // SAFETY: a live record; a filled status.
    unsafe {
        let Some(open) = open else {
            (*record).flags |= CallFlags::NOTHING;
            if predefined::is_shared_request(handle) {
                return;
            }
            (*record).flags |= CallFlags::UNKNOWN_REQUEST;
            if status != 0 {
                store_arrived(record, status::read_status(status));
            }
            return;
        };
        (*record).comm = open.comm;
        (*record).flags = (*record).flags.with_activity_number(0) | open.flags();
        if open.is_inactive() {
            (*record).flags |= CallFlags::NOTHING;
            return;
        }
        (*record).request = open.id;
        (*record).peer = open.peer;
        (*record).tag = open.tag;
        (*record).sent = open.sent;
        if !open.is_usual() {
            store_unusual(record, status, open.kind, open.id);
        } else if status != 0 && Activity::number_in(open.kind) == Activity::PointToPoint as u16 {
            if current_abi().kind == AbiFamily::Standard {
                return store_standard_message(record, status, open.kind);
            }
            store_message(record, status, open.kind);
        }
    }
}

/// Stores the status of a message that was sent or received.
///
/// # Safety
/// As [`store_completed`].
#[inline(always)]
unsafe fn store_message(record: *mut Record, status: Word, kind: u64) {
    // SAFETY: a live record; a filled status.
    unsafe {
        let arrived = status::read_status(status);
        if arrived.cancelled {
            rare_branch();
            (*record).flags |= CallFlags::CANCELLED;
            (*record).sent = 0;
        } else if kind & RECEIVES != 0 {
            store_arrived(record, arrived);
        }
    }
}

/// Stores such a status if the library has to be asked about it. It is a function of its own, so that others need no registers for that.
///
/// # Safety
/// As [`store_completed`].
#[cold]
#[inline(never)]
unsafe fn store_standard_message(record: *mut Record, status: Word, kind: u64) {
    // SAFETY: the caller's promise.
    unsafe { store_message(record, status, kind) };
}

/// Stores the status of a request that is persistent, makes a communicator, reads or writes. File transfers cannot be cancelled (MPI-4.1
/// §3.8.4), and Open MPI 4 leaves that part of their status unset.
///
/// # Safety
/// As [`store_completed`].
#[inline(never)]
unsafe fn store_unusual(record: *mut Record, status: Word, kind: u64, id: u32) {
    // SAFETY: a live record; a filled status.
    unsafe {
        let message = Activity::number_in(kind) == Activity::PointToPoint as u16;
        if status == 0 {
        } else if kind & READS != 0 {
            (*record).received = status::read_status(status).bytes;
        } else if kind & WRITES != 0 {
            (*record).sent = status::read_status(status).bytes;
        } else if message || kind & RECEIVES != 0 {
            store_message(record, status, kind);
        }
        if kind & requests::MAKES_COMM != 0 {
            creation::finish_later(id);
        }
    }
}

/// Takes the completed request out of the table. A persistent one stays, inactive.
#[inline(always)]
pub(super) fn take_completed(handle: Word) -> Option<OpenRequest> {
    let open = requests::take_request(handle)?;
    if open.kind & PERSISTENT != 0 {
        requests::insert_request(handle, OpenRequest { kind: open.kind & !ACTIVE, ..open });
    }
    Some(open)
}
