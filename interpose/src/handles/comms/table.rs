//! The communicators that are known, by handle.

use std::collections::{HashMap, VecDeque};

use crate::harmless::signals::HandlerLock;
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::word::Word;

/// Communicators in use, by handle. Memory of a description is used again, but not soon, because another thread may be in a call with it.
static COMMS: HandlerLock<Option<HashMap<Word, &'static CommInfo, foldhash::fast::FixedState>>> =
    HandlerLock::new(None);

/// Descriptions of communicators that were freed, the oldest first.
static FREED: HandlerLock<VecDeque<&'static CommInfo>> = HandlerLock::new(VecDeque::new());

/// So many communicators are freed before the memory of a description is used again. A call with a communicator that another
/// thread frees is an error of the program (MPI-4.1 §7.4.3), and none lasts for so many creations and deletions.
const QUARANTINE: usize = 1024;

/// Looks up the facts about `comm`.
pub fn get(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|comms| comms.as_ref()?.get(&comm).copied())
}

/// Sets the facts about `comm`, and returns them where they stay.
pub fn insert(comm: Word, info: CommInfo) -> &'static CommInfo {
    let info = kept(info);
    remember(comm, info);
    info
}

/// `comm` is no communicator: MPI is not asked about it again.
pub fn insert_unknown(comm: Word) {
    remember(comm, &UNKNOWN);
}

fn remember(comm: Word, info: &'static CommInfo) {
    if let Some(mut comms) = COMMS.lock() {
        comms.get_or_insert_default().insert(comm, info);
    }
}

/// Takes out what is known of `comm`.
pub fn remove(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|mut comms| comms.as_mut()?.remove(&comm))
}

/// Nothing leads to a description any more: its memory may be used again, after a while.
pub fn retire(info: &'static CommInfo) {
    if !std::ptr::eq(info, &UNKNOWN)
        && let Some(mut freed) = FREED.lock()
    {
        freed.push_back(info);
    }
}

/// A description in memory that lasts: that of one freed long ago, or new.
fn kept(info: CommInfo) -> &'static CommInfo {
    let old = FREED.lock().and_then(|mut freed| if freed.len() > QUARANTINE { freed.pop_front() } else { None });
    match old {
        // SAFETY: made by the line below; no handle and no cache leads to it, and no call that could still read it goes on, see above.
        Some(old) => unsafe {
            let memory = std::ptr::from_ref(old).cast_mut();
            memory.write(info);
            &*memory
        },
        None => Box::leak(Box::new(info)),
    }
}
