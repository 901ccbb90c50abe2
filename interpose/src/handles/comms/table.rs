//! The known communicators, by handle.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

use crate::harmless::signals::HandlerLock;
use crate::machine::word::Word;
use crate::state::comm::{CommInfo, UNKNOWN};

/// The known communicators. Memory of a description is used again, but not soon, because another thread may be in a call with it.
struct CommTable {
    /// Communicators in use, by handle.
    by_handle: HashMap<Word, &'static CommInfo, FixedState>,
    /// Descriptions of communicators that were freed, the oldest first.
    freed: VecDeque<&'static CommInfo>,
}

impl CommTable {
    /// Keeps a description in memory that lasts: new, or used for a communicator that was freed long ago.
    fn keep(&mut self, info: CommInfo) -> &'static CommInfo {
        let old = if self.freed.len() > QUARANTINE { self.freed.pop_front() } else { None };
        match old {
            // SAFETY: made by the line below. No handle and no cache leads to it, and calls that could still read it have ended, see
            // [`QUARANTINE`].
            Some(old) => unsafe {
                let memory = std::ptr::from_ref(old).cast_mut();
                memory.write(info);
                &*memory
            },
            None => Box::leak(Box::new(info)),
        }
    }
}

static COMMS: HandlerLock<CommTable> =
    HandlerLock::new(CommTable { by_handle: HashMap::with_hasher(FixedState::with_seed(0)), freed: VecDeque::new() });

/// Communicators that are freed before the memory of a description is used again. A call with a communicator that another thread frees is an
/// error of the program (MPI-4.1 §7.4.3), and no call lasts for that many creations and deletions.
const QUARANTINE: usize = 1024;

pub fn known_comm(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|comms| comms.by_handle.get(&comm).copied())
}

/// Sets the facts about `comm`, and returns them at their lasting address.
pub fn insert_comm(comm: Word, info: CommInfo) -> &'static CommInfo {
    let Some(mut comms) = COMMS.lock() else { return &UNKNOWN };
    let info = comms.keep(info);
    comms.by_handle.insert(comm, info);
    info
}

/// Notes that `comm` is no communicator, so that MPI is not asked about it again.
pub fn insert_unknown(comm: Word) {
    if let Some(mut comms) = COMMS.lock() {
        comms.by_handle.insert(comm, &UNKNOWN);
    }
}

pub fn remove_comm(comm: Word) -> Option<&'static CommInfo> {
    COMMS.lock().and_then(|mut comms| comms.by_handle.remove(&comm))
}

/// Gives back a description to which nothing leads any more. Its memory is used again after a while.
pub fn retire_comm(info: &'static CommInfo) {
    if !std::ptr::eq(info, &UNKNOWN)
        && let Some(mut comms) = COMMS.lock()
    {
        comms.freed.push_back(info);
    }
}
