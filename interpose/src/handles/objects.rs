//! RMA windows and files: handles → ids in the log, and the communicator that each was made on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use lbprof_collector::definition::{Definition, MpiObject, ObjectKind};
use lbprof_collector::record::NONE;

use crate::harmless::signals::HandlerLock;
use crate::log;
use crate::word::Word;

/// The ids of a window or file that calls need.
#[derive(Clone, Copy, Debug)]
pub struct ObjectIds {
    /// Id of its definition in the log, by kind.
    pub id: u32,
    /// Id of its communicator.
    pub comm: u32,
}

/// Objects of one kind.
pub struct ObjectTable {
    kind: ObjectKind,
    known: HandlerLock<Option<HashMap<Word, ObjectIds, foldhash::fast::FixedState>>>,
    next: AtomicU32,
}

/// RMA windows.
pub static WINDOWS: ObjectTable = ObjectTable::new(ObjectKind::Window);
/// Files.
pub static FILES: ObjectTable = ObjectTable::new(ObjectKind::File);

impl ObjectTable {
    const fn new(kind: ObjectKind) -> Self {
        ObjectTable { kind, known: HandlerLock::new(None), next: AtomicU32::new(0) }
    }

    /// The facts about `handle`. Its ids are NONE if nothing saw it being made.
    pub fn find(&self, handle: Word) -> ObjectIds {
        self.known
            .lock()
            .and_then(|known| known.as_ref()?.get(&handle).copied())
            .unwrap_or(ObjectIds { id: NONE, comm: NONE })
    }

    /// A new one was made on communicator `comm`.
    pub fn created(&self, handle: Word, comm: u32, name: String) -> ObjectIds {
        let known = ObjectIds { id: self.next.fetch_add(1, Relaxed), comm };
        if let Some(mut all) = self.known.lock() {
            all.get_or_insert_default().insert(handle, known);
        }
        log::define_later(Definition::Object(MpiObject { kind: self.kind, id: known.id, comm, name }));
        known
    }

    /// Forgets an object that is about to be freed.
    pub fn forget(&self, handle: Word) {
        if let Some(known) = self.known.lock().as_deref_mut().and_then(Option::as_mut) {
            known.remove(&handle);
        }
    }
}
