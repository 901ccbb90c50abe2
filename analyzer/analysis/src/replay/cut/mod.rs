//! Cuts of a run into segments that are replayed apart.

pub(crate) mod consistent_cut;
pub(crate) mod segment_result;
