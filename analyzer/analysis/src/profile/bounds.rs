//! The times of a region's iterations on a rank.

use lbprof_collector::profile;
use lbprof_collector::record::NONE;

/// The bounds of an iteration of a region, in ticks.
#[derive(Clone, Copy)]
pub(super) struct IterationBounds {
    pub(super) number: u32,
    /// The number of the iteration around it.
    pub(super) outer: u32,
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
}

impl IterationBounds {
    pub(super) fn from_iteration(one: &profile::RegionInvocation) -> Self {
        IterationBounds { number: one.iteration, outer: one.outer, begin: Some(one.begin), end: Some(one.end) }
    }

    pub(super) fn last_of_each(mut all: Vec<IterationBounds>) -> Vec<IterationBounds> {
        all.reverse();
        all.sort_by_key(|one| one.number);
        all.dedup_by_key(|one| one.number);
        all
    }

    /// Returns the iteration around iteration `number`; `all` is sorted.
    pub(super) fn outer(all: &[IterationBounds], number: u32) -> Option<u32> {
        let found = all.binary_search_by_key(&number, |one| one.number).ok()?;
        Some(all[found].outer).filter(|&outer| outer != NONE)
    }
}
