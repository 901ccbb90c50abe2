//! Differences between the values of ranks: dispersion, clusters, trends, outliers.

pub mod cluster;
pub mod dispersion;
pub mod imbalance;
pub mod load_balance;
pub mod median;
pub(crate) mod outliers;
pub mod pseudo_random;
pub mod trend;
