//! What a recording thread needs besides the hot state.

use std::path::PathBuf;

use lbprof_collector::fold::Fold;
use lbprof_collector::format::BatchHead;
use lbprof_collector::record::Record;
use lbprof_collector::ring::Ring;

use crate::state::phases::Phases;
use crate::system::faults;

/// What a recording thread needs besides the hot state.
pub struct ThreadLog {
    /// Its ring.
    pub ring: Ring,
    /// The ring's file.
    pub path: PathBuf,
    /// Number of the thread in the log.
    pub number: u32,
    /// Where the ring's first slot stands.
    pub head: BatchHead,
    /// Sums of what is not written as events; `None` in events mode.
    pub fold: Option<Fold>,
    /// When the sums were last written.
    pub folded_at: u64,
    /// Open phases.
    pub phases: Phases,
    /// While recording is paused, or no thread has the ring: the ring's cursor.
    pub paused: Option<*mut Record>,
    /// Whether the records so far end within a pause.
    pub in_pause: bool,
    /// Whether recording ended, and the log has what the ring held.
    pub closed: bool,
}

impl Drop for ThreadLog {
    fn drop(&mut self) {
        faults::forget(self.number);
    }
}

impl ThreadLog {
    /// One past the last slot that is for calls.
    pub fn limit(&self) -> *mut Record {
        self.ring.slots().wrapping_add(self.ring.capacity() - 1)
    }
}
