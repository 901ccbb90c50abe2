//! Caches facts about a rank's threads that are needed before its log is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lbprof_collector::poll_gaps::GapUses;
use parking_lot::Mutex;

pub(super) type KnownThreads = Arc<Mutex<BTreeMap<u32, Arc<RankThreads>>>>;

/// The facts about a rank's threads that are needed before its log is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankThreads {
    /// Threads whose records are merged with the first thread's.
    pub(crate) leading: BTreeSet<u32>,
    pub(crate) gap_uses: Arc<GapUses>,
}

impl RankThreads {
    pub(crate) fn is_first(&self, thread: u32) -> bool {
        thread == 0 || self.leading.contains(&thread)
    }
}
