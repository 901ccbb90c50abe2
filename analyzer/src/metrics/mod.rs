//! Metrics: pure functions from times to figures, a file or folder for each section of METRICS.

pub mod dispersion;
pub mod load_balance;
pub mod preemption;
