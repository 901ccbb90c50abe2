//! Sums over records and samples.

pub(super) mod others;
pub(super) mod rank_summaries;
pub mod samples;
pub mod span;
pub mod sums;
pub mod times;
