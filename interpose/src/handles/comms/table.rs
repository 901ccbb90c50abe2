//! The communicators that are known, by handle.

use std::collections::{HashMap, VecDeque};

use crate::harmless::signals::HandlerLock;
use crate::state::comm::{CommInfo, UNKNOWN};
use crate::word::Word;

/// The known communicators. Memory of a description is used again, but not soon, because another thread may be in a call with it.
#[derive(Default)]
struct CommTable {
    /// Communicators in use, by handle.
    by_handle: HashMap<Word, &'static CommInfo, foldhash::fast::FixedState>,
    /// Descriptions of communicators that were freed, the oldest first.
    freed: VecDeque<&'static CommInfo>,
}

impl CommTable {
    /// A description in memory that lasts: that of one freed long ago, or new.
    fn keep(&mut self, info: CommInfo) -> &'static CommInfo {
        let old = if self.freed.len() > QUARANTINE { self.freed.pop_front() } else { None };
        match old {
            // SAFETY: made by the line below; no handle and no cache leads to it, and no call that could still read it goes on, see [`QUARANTINE`].
            Some(old) => unsafe {
                let memory = std::ptr::from_ref(old).cast_mut();
                memory.write(info);
                &*memory
            },
            None => Box::leak(Box::new(info)),
        }
    }
}

static COMMS: HandlerLock<Option<CommTable>> = HandlerLock::new(None);

/// So many communicators are freed before the memory of a description is used again. A call with a communicator that another
/// thread frees is an error of the program (MPI-4.1 §7.4.3), and none lasts for so many creations and deletions.
const QUARANTINE: usize = 1024;

/// Looks up the facts about `comm`.
pub fn get(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|comms| comms.as_ref()?.by_handle.get(&comm).copied())
}

/// Sets the facts about `comm`, and returns them where they stay.
pub fn insert(comm: Word, info: CommInfo) -> &'static CommInfo {
    let Some(mut comms) = COMMS.lock() else { return &UNKNOWN };
    let comms = comms.get_or_insert_default();
    let info = comms.keep(info);
    comms.by_handle.insert(comm, info);
    info
}

/// `comm` is no communicator: MPI is not asked about it again.
pub fn insert_unknown(comm: Word) {
    if let Some(mut comms) = COMMS.lock() {
        comms.get_or_insert_default().by_handle.insert(comm, &UNKNOWN);
    }
}

/// Takes out what is known of `comm`.
pub fn remove(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|mut comms| comms.as_mut()?.by_handle.remove(&comm))
}

/// Nothing leads to a description any more: its memory may be used again, after a while.
pub fn retire(info: &'static CommInfo) {
    if !std::ptr::eq(info, &UNKNOWN)
        && let Some(mut comms) = COMMS.lock()
    {
        comms.get_or_insert_default().freed.push_back(info);
    }
}
