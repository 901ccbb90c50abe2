//! The types of events that no other tool has a number for.

/// Event type of regions, as of user functions: the number of the region plus 1 where it begins, 0 where it ends.
pub(super) const REGION: u32 = 60_000_019;

/// Event type of parallel regions, as of functions that OpenMP runs: the place of the region's name plus 1 where an instance begins, 0 where it ends; and of the
/// threads of its team.
pub(super) const PARALLEL: u32 = 60_000_018;
pub(super) const TEAM: u32 = 60_000_033;

/// Event type of the iterations of the first region, to which the number of the region is added. Its value is the number of the iteration plus 1, then 0.
pub(super) const ITERATION: u32 = 91_000_000;

/// Event type of wait states, and of the rank that ended the wait, plus 1.
pub(super) const WAIT_STATE: u32 = 90_900_001;
pub(super) const DELAY_SOURCE: u32 = 90_900_002;
