//! Time in calls that access files, and the rank that accesses storage alone.

pub mod access;
pub mod late_progress;
pub mod sole_rank;
