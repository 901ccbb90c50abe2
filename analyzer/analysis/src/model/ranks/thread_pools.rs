//! The threads that a rank has started with one routine: pools of `std::thread`, TBB, Kokkos, or of the program's own.

use bincode::{Decode, Encode};

use super::samples::{CpuTime, SampledAt};

/// Threads that a rank has started with one routine.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct SampledPool {
    /// The routine, an index of [`crate::model::Model::sites`]; `None` if it is not known.
    pub routine: Option<u32>,
    /// The most of them that there were at a time.
    pub threads: u32,
    /// Number of threads, of the whole run.
    pub started: u64,
    /// Their sampled CPU time, by the state of the rank's first thread; sorted.
    pub times: Vec<(SampledAt, CpuTime)>,
    /// CPU time of threads that have ended for which there are no samples, of the whole run.
    pub unsampled_s: f64,
}
