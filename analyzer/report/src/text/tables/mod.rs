//! Tables whose rows describe their own columns.

pub(super) mod activities;
pub(super) mod blocking;
pub(super) mod call_sites;
pub(super) mod call_tree;
pub(super) mod clusters;
pub(super) mod counters;
pub(super) mod ranks;
pub(super) mod regions;
pub(super) mod thread_pools;
pub(super) mod threads;
pub(super) mod what_if;
pub(super) mod work;
