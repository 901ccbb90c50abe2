//! Metrics: pure functions from times to figures, a file or folder for each section of docs/metrics.md.

pub mod blocking;
pub mod findings;
pub mod hardware;
pub mod overhead;
pub mod sampled;
pub mod serialization;
pub mod spread;
pub(crate) mod statistics;
pub mod threads;
