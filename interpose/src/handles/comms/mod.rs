//! Communicators: handles → facts.

pub mod creation;
mod members;
mod table;

use crate::handles::comms::creation::known_or_defined;
use crate::harmless::enter::enter_cold;
use crate::machine::word::Word;
use crate::mpi::predefined::{PredefinedHandle, is_predefined};
use crate::recording::registry;
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::state::handle_cache::forget_handle;
use crate::state::thread::RecorderThread;

/// Returns the facts about `comm`.
#[inline(always)]
pub fn find_comm(thread: &RecorderThread, comm: Word) -> &'static CommInfo {
    if let Some(last) = last_used(thread, comm) { last } else { look_up(thread, comm) }
}

/// Returns the facts about the communicator that was used last, if that is `comm`: a handle, or the word that was passed.
#[inline(always)]
pub fn last_used(thread: &RecorderThread, comm: Word) -> Option<&'static CommInfo> {
    // SAFETY: a thread with a ring has a communicator there, if only the unknown one. Descriptions are never freed.
    if comm == thread.comm_handle.get() { unsafe { thread.comm.get().as_ref() } } else { None }
}

#[cold]
#[inline(never)]
fn look_up(thread: &RecorderThread, comm: Word) -> &'static CommInfo {
    let comms = &thread.tables().comms;
    // SAFETY: see `last_used`.
    let known = comms.find(comm).and_then(|info| unsafe { info.as_ref() });
    let info = known.unwrap_or_else(|| enter_cold(|| known_or_seen(thread, comm)).unwrap_or(&UNKNOWN));
    if !std::ptr::eq(info, &UNKNOWN) {
        comms.keep(comm, info);
        thread.comm_handle.set(comm);
        thread.comm.set(info);
        thread.comm_id.set(info.id);
    }
    info
}

/// Looks up a communicator in the table. A new handle is unknown until a call with it has succeeded ([`crate::recording::slot::learn_arguments`]).
#[cold]
fn known_or_seen(thread: &RecorderThread, comm: Word) -> Option<&'static CommInfo> {
    if thread.asking.get() || comm == 0 || is_predefined(PredefinedHandle::CommNull, comm) {
        return Some(known_or_defined(comm));
    }
    let known = table::known_comm(comm);
    if known.is_none() {
        thread.note_unseen();
    }
    known
}

/// Forgets a communicator that is about to be freed.
pub fn forget_comm(comm: Word) {
    let known = table::remove_comm(comm);
    registry::for_each_thread(|thread| {
        forget_handle(&thread.comm_handle, comm);
        thread.tables().comms.forget(comm);
    });
    // Nothing leads to it any more.
    if let Some(known) = known {
        table::retire_comm(known);
    }
}
