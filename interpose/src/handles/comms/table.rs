//! The communicators that are known, by handle.

use std::collections::{HashMap, VecDeque};

use parking_lot::{Mutex, RwLock};

use crate::state::comm::CommInfo;
use crate::word::Word;

/// Communicators in use, by handle. Memory of a description is used again, but not soon, because another thread may be in a call with it.
static COMMS: RwLock<Option<HashMap<Word, &'static CommInfo, foldhash::fast::FixedState>>> = RwLock::new(None);

/// Descriptions of communicators that were freed, the oldest first.
static FREED: Mutex<VecDeque<&'static CommInfo>> = Mutex::new(VecDeque::new());

/// So many communicators are freed before the memory of a description is used again. A call with a communicator that another
/// thread frees is an error of the program (MPI-4.1 §7.4.3), and none lasts for so many creations and deletions.
const QUARANTINE: usize = 1024;

/// What is known of `comm`.
pub fn get(comm: Word) -> Option<&'static CommInfo> {
    COMMS.read().as_ref().and_then(|comms| comms.get(&comm).copied())
}

/// What is known of `comm` from here on.
pub fn insert(comm: Word, info: CommInfo) -> &'static CommInfo {
    let info = kept(info);
    COMMS.write().get_or_insert_default().insert(comm, info);
    info
}

/// Takes out what is known of `comm`.
pub fn remove(comm: Word) -> Option<&'static CommInfo> {
    COMMS.write().as_mut().and_then(|comms| comms.remove(&comm))
}

/// Nothing leads to a description any more: its memory may be used again, after a while.
pub fn retire(info: &'static CommInfo) {
    FREED.lock().push_back(info);
}

/// A description in memory that lasts: that of one freed long ago, or new.
fn kept(info: CommInfo) -> &'static CommInfo {
    let mut freed = FREED.lock();
    let old = if freed.len() > QUARANTINE { freed.pop_front() } else { None };
    drop(freed);
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
