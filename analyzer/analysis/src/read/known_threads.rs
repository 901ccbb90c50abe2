//! Caches facts about a rank's threads that are needed before its log is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lbprof_collector::poll_gaps::GapUses;
use parking_lot::Mutex;

/// Known facts by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownThreads(Arc<Mutex<BTreeMap<u32, Arc<RankThreads>>>>);

/// The facts about a rank's threads that are needed before its log is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankThreads {
    /// Threads whose records are merged with those of the first.
    pub(crate) leading: BTreeSet<u32>,
    /// Use of long gaps between polls.
    pub(crate) gap_uses: Arc<GapUses>,
}

impl RankThreads {
    /// Returns whether the log is read as it was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.leading.is_empty() && self.gap_uses.is_empty()
    }

    /// Returns whether a thread counts as the rank's first.
    pub(crate) fn is_first(&self, thread: u32) -> bool {
        thread == 0 || self.leading.contains(&thread)
    }
}

impl KnownThreads {
    pub(super) fn get(&self, rank: u32) -> Option<Arc<RankThreads>> {
        self.0.lock().get(&rank).cloned()
    }

    pub(super) fn insert(&self, rank: u32, facts: Arc<RankThreads>) {
        self.0.lock().insert(rank, facts);
    }
}
