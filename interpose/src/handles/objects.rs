//! RMA windows and files: handles → ids in the log, and the communicator that each was made on.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use lbprof_collector::definition::{Definition, Object, ObjectKind};
use lbprof_collector::record::NONE;

use crate::harmless::signals::Lock;
use crate::log;
use crate::word::Word;

/// What calls need to know of a window or file.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Id of its definition in the log, by kind.
    pub id: u32,
    /// Id of its communicator.
    pub comm: u32,
}

/// Objects of one kind.
pub struct Objects {
    kind: ObjectKind,
    known: Lock<Option<HashMap<Word, Known, foldhash::fast::FixedState>>>,
    next: AtomicU32,
}

/// RMA windows.
pub static WINDOWS: Objects = Objects::of(ObjectKind::Window);
/// Files.
pub static FILES: Objects = Objects::of(ObjectKind::File);

impl Objects {
    const fn of(kind: ObjectKind) -> Self {
        Objects { kind, known: Lock::new(None), next: AtomicU32::new(0) }
    }

    /// What is known of `handle`; ids NONE where it was not seen being made.
    pub fn find(&self, handle: Word) -> Known {
        self.known
            .lock()
            .and_then(|known| known.as_ref()?.get(&handle).copied())
            .unwrap_or(Known { id: NONE, comm: NONE })
    }

    /// A new one was made on communicator `comm`.
    pub fn created(&self, handle: Word, comm: u32, name: String) -> Known {
        let known = Known { id: self.next.fetch_add(1, Relaxed), comm };
        if let Some(mut all) = self.known.lock() {
            all.get_or_insert_default().insert(handle, known);
        }
        log::define(Definition::Object(Object { kind: self.kind, id: known.id, comm, name }));
        known
    }

    /// It is about to be freed.
    pub fn forget(&self, handle: Word) {
        if let Some(known) = self.known.lock().as_deref_mut().and_then(Option::as_mut) {
            known.remove(&handle);
        }
    }
}
