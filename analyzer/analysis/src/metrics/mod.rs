//! Metrics: pure functions from times to figures, a file or folder for each section of docs/metrics.md.

pub mod blocking;
pub mod cluster;
pub mod code_tree;
pub mod core_time;
pub mod dispersion;
pub mod findings;
pub mod functions;
pub mod hardware;
pub mod imbalance;
pub mod load_balance;
pub mod median;
pub(crate) mod outliers;
pub mod overhead;
pub mod preemption;
pub mod pseudo_random;
pub mod serial_code;
pub mod serialization;
pub mod sleep_time;
pub(crate) mod statistics;
pub mod threads;
pub mod trend;
