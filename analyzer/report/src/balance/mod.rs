//! Differences between ranks: efficiencies, dispersion, groups of ranks that are alike, the cost of phases.

pub mod activities;
pub mod clusters;
pub mod core_states;
pub mod counters;
pub mod dispersion;
pub mod efficiency;
pub mod overheads;
pub(super) mod task_givers;
