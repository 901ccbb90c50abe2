//! Communicators: handles → facts.

pub mod creation;
mod members;
mod table;

use crate::handles::cache::{cache_slot, forget_cached};
use crate::handles::comms::creation::known_or_defined;
use crate::mpi::predefined::{PredefinedHandle, is_predefined};
use crate::recording::registry;
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::state::thread::{RecorderThread, UNSEEN, thread_tables};
use crate::word::Word;

/// Returns the facts about `comm`.
///
/// # Safety
/// `thread` is the calling thread's state; `comm` is a valid handle or a null one.
#[inline(always)]
pub unsafe fn find_comm(thread: *mut RecorderThread, comm: Word) -> &'static CommInfo {
    // SAFETY: the caller's.
    unsafe { if let Some(last) = last_used(thread, comm) { last } else { look_up(thread, comm) } }
}

/// Returns the facts about the communicator that was used last, if that is `comm`: a handle, or the word that was passed.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn last_used(thread: *mut RecorderThread, comm: Word) -> Option<&'static CommInfo> {
    // SAFETY: a thread with a ring has a communicator there, if only the unknown one. Descriptions are never freed.
    unsafe { if comm == (*thread).comm_handle { (*thread).comm.as_ref() } else { None } }
}

/// # Safety
/// As [`find_comm`].
#[cold]
#[inline(never)]
pub unsafe fn look_up(thread: *mut RecorderThread, comm: Word) -> &'static CommInfo {
    // SAFETY: the thread's own state; see `find`.
    unsafe {
        let cached = (&raw mut (*thread_tables(thread)).comms).cast::<(Word, *const CommInfo)>().add(cache_slot(comm));
        let info = if (*cached).0 == comm && !(*cached).1.is_null() {
            (*cached).1
        } else {
            let info: *const CommInfo =
                crate::harmless::enter::enter_cold(thread, || known_or_seen(thread, comm)).unwrap_or(&UNKNOWN);
            if std::ptr::eq(info, &UNKNOWN) {
                return &UNKNOWN;
            }
            *cached = (comm, info);
            info
        };
        (*thread).comm_handle = comm;
        (*thread).comm = info;
        (*thread).comm_id = (*info).id;
        &*info
    }
}

/// Looks up a communicator in the table. A new handle is unknown until a call with it has succeeded ([`crate::recording::slot::learn_arguments`]).
///
/// # Safety
/// As [`find_comm`].
#[cold]
unsafe fn known_or_seen(thread: *mut RecorderThread, comm: Word) -> Option<&'static CommInfo> {
    // SAFETY: the thread's own state.
    unsafe {
        if (*thread).asking || comm == 0 || is_predefined(PredefinedHandle::CommNull, comm) {
            return Some(known_or_defined(comm));
        }
        let known = table::known_comm(comm);
        if known.is_none() {
            (*thread).unusual |= UNSEEN;
        }
        known
    }
}

/// Forgets a communicator that is about to be freed.
///
/// # Safety
/// `comm` is valid.
pub unsafe fn forget_comm(comm: Word) {
    let known = table::remove_comm(comm);
    // SAFETY: the states of registered threads are live.
    registry::for_each_thread(|thread| unsafe {
        forget_cached(&raw mut (*thread).comm_handle, comm);
        let cached = (&raw mut (*thread_tables(thread)).comms).cast::<(Word, *const CommInfo)>().add(cache_slot(comm));
        forget_cached(&raw mut (*cached).0, comm);
    });
    // Nothing leads to it any more.
    if let Some(known) = known {
        table::retire_comm(known);
    }
}
