//! The times of a region's iterations on a rank.

use lbprof_collector::profile;
use lbprof_collector::record::NONE;

/// The bounds of an iteration of a region, in ticks.
#[derive(Clone, Copy)]
pub(in crate::profile) struct IterationBounds {
    pub(in crate::profile) number: u32,
    /// The number of the iteration around it.
    pub(in crate::profile) outer: u32,
    pub(in crate::profile) begin: Option<u64>,
    pub(in crate::profile) end: Option<u64>,
}

impl IterationBounds {
    pub(in crate::profile) fn from_iteration(one: &profile::RegionInvocation) -> Self {
        IterationBounds { number: one.iteration, outer: one.outer, begin: Some(one.begin), end: Some(one.end) }
    }

    pub(in crate::profile) fn last_of_each(mut all: Vec<IterationBounds>) -> Vec<IterationBounds> {
        all.reverse();
        all.sort_by_key(|one| one.number);
        all.dedup_by_key(|one| one.number);
        all
    }

    /// Returns the iteration around iteration `number`; `all` is sorted.
    pub(in crate::profile) fn outer(all: &[IterationBounds], number: u32) -> Option<u32> {
        let found = all.binary_search_by_key(&number, |one| one.number).ok()?;
        Some(all[found].outer).filter(|&outer| outer != NONE)
    }
}
