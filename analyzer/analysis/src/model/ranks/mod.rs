//! The ranks of a run: their time, samples and threads.

pub(crate) mod exact_sum;
pub mod interval;
pub(crate) mod joined_iterations;
pub mod lifetime;
pub(super) mod rank;
pub mod samples;
pub(super) mod series;
pub mod thread_pools;
pub mod threads;
