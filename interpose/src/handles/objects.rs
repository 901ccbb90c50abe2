//! RMA windows and files: handles → ids in the log, and the communicator that each was made on.

use std::collections::HashMap;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use foldhash::fast::FixedState;
use lbprof_collector::definition::{Definition, MpiObject, ObjectKind};
use lbprof_collector::record::NONE;

use crate::harmless::signals::HandlerLock;
use crate::log;
use crate::machine::word::Word;

/// The ids of a window or file that calls need.
#[derive(Clone, Copy, Debug)]
pub struct ObjectIds {
    /// Id of its definition in the log, by kind.
    pub id: u32,
    pub comm: u32,
}

/// Maximum number of objects that are found without a lock.
const FREQUENT: usize = 16;

/// An object that is found without a lock. Threads write it while they hold the table's lock.
struct FrequentObject {
    handle: AtomicU64,
    /// Its ids, the communicator's in the upper half.
    ids: AtomicU64,
}

impl FrequentObject {
    const fn empty() -> Self {
        FrequentObject { handle: AtomicU64::new(0), ids: AtomicU64::new(0) }
    }

    /// Returns the ids if this is the object with that handle.
    #[inline]
    fn ids_of(&self, handle: Word) -> Option<ObjectIds> {
        // Values that another thread changes in between belong to another handle, or are the same handle's newer ids.
        if self.handle.load(Acquire) != handle as u64 {
            return None;
        }
        let ids = self.ids.load(Acquire);
        let known = ObjectIds { id: ids as u32, comm: (ids >> u32::BITS) as u32 };
        (self.handle.load(Acquire) == handle as u64).then_some(known)
    }

    fn forget(&self, handle: Word) {
        if self.handle.load(Relaxed) == handle as u64 {
            self.handle.store(0, Release);
        }
    }

    /// Changes to another object.
    fn become_object(&self, handle: Word, known: ObjectIds) {
        self.handle.store(0, Release);
        self.ids.store(u64::from(known.comm) << u32::BITS | u64::from(known.id), Release);
        self.handle.store(handle as u64, Release);
    }
}

pub struct ObjectTable {
    kind: ObjectKind,
    /// The latest of each hash of a handle.
    frequent: [FrequentObject; FREQUENT],
    known: HandlerLock<HashMap<Word, ObjectIds, FixedState>>,
    next: AtomicU32,
}

/// The ids of an object whose creation was not seen.
const UNSEEN: ObjectIds = ObjectIds { id: NONE, comm: NONE };

pub static WINDOWS: ObjectTable = ObjectTable::new(ObjectKind::Window);
pub static FILES: ObjectTable = ObjectTable::new(ObjectKind::File);

impl ObjectTable {
    const fn new(kind: ObjectKind) -> Self {
        let frequent = [const { FrequentObject::empty() }; FREQUENT];
        ObjectTable {
            kind,
            frequent,
            known: HandlerLock::new(HashMap::with_hasher(FixedState::with_seed(0))),
            next: AtomicU32::new(0),
        }
    }

    /// Returns the ids of `handle`, which are [`NONE`] if its creation was not seen.
    #[inline]
    pub fn find(&self, handle: Word) -> ObjectIds {
        self.place_of(handle).ids_of(handle).unwrap_or_else(|| self.look_up(handle))
    }

    #[cold]
    fn look_up(&self, handle: Word) -> ObjectIds {
        let Some(known) = self.known.lock() else { return UNSEEN };
        let Some(&found) = known.get(&handle) else { return UNSEEN };
        self.place_of(handle).become_object(handle, found);
        found
    }

    /// Returns the place of an object that is found without a lock. Handles are addresses, or small numbers.
    #[inline]
    fn place_of(&self, handle: Word) -> &FrequentObject {
        let hash = (handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - FREQUENT.ilog2());
        // SAFETY: the hash has as many bits as there are places.
        unsafe { self.frequent.get_unchecked(hash as usize) }
    }

    /// Learns an object that was made on communicator `comm`.
    pub fn created(&self, handle: Word, comm: u32, name: String) -> ObjectIds {
        let known = ObjectIds { id: self.next.fetch_add(1, Relaxed), comm };
        if let Some(mut all) = self.known.lock() {
            all.insert(handle, known);
            self.place_of(handle).become_object(handle, known);
        }
        log::define_later(Definition::Object(MpiObject { kind: self.kind, id: known.id, comm, name }));
        known
    }

    pub fn forget(&self, handle: Word) {
        let mut known = self.known.lock();
        self.place_of(handle).forget(handle);
        if let Some(known) = known.as_deref_mut() {
            known.remove(&handle);
        }
    }
}
