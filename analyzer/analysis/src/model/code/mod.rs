//! The code of a run: regions, loops, call sites.

pub(super) mod code_name;
pub mod loops;
pub(super) mod region;
pub mod region_state;
pub mod sites;
