//! Metrics: pure functions from times to figures, a file for each section of METRICS.

pub mod load_balance;
pub mod preemption;
