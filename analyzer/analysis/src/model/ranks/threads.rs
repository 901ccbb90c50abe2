//! The threads of a rank in OpenMP parallel regions.

use bincode::{Decode, Encode};
use lbprof_collector::parallel::MutexKind;
use serde::Serialize;

/// Parts of thread time, in seconds. In a region they add up to elapsed time × threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TeamSeconds {
    /// Work of all threads. This and the parts that follow add up to `team` × `elapsed_s`.
    pub useful_s: f64,
    /// Time in MPI, and in the recorder.
    pub mpi_s: f64,
    /// Waiting at barriers while another thread of the team is in MPI.
    pub idle_for_mpi_s: f64,
    /// Waiting at barriers because other threads work longer.
    pub imbalance_s: f64,
    /// Waiting because of critical sections, atomic operations and locks.
    pub mutex_s: f64,
    /// Waiting because of ordered sections.
    pub ordered_s: f64,
    /// Waiting for tasks.
    pub tasks_s: f64,
    /// Until threads have begun, and after the last one has come to the end.
    pub fork_join_s: f64,
}

impl TeamSeconds {
    /// Adds `factor` times the times of other threads.
    pub fn add_scaled(&mut self, other: &TeamSeconds, factor: f64) {
        self.useful_s += factor * other.useful_s;
        self.mpi_s += factor * other.mpi_s;
        self.idle_for_mpi_s += factor * other.idle_for_mpi_s;
        self.imbalance_s += factor * other.imbalance_s;
        self.mutex_s += factor * other.mutex_s;
        self.ordered_s += factor * other.ordered_s;
        self.tasks_s += factor * other.tasks_s;
        self.fork_join_s += factor * other.fork_join_s;
    }
}

impl std::ops::AddAssign for TeamSeconds {
    fn add_assign(&mut self, other: TeamSeconds) {
        self.add_scaled(&other, 1.0);
    }
}

/// A parallel region: all instances that one thread starts from one call site with one size of team.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct ParallelRegion {
    /// Index in [`crate::model::Model::sites`]; `None` where the recorder did not know it.
    pub site: Option<u32>,
    /// True if the thread that called MPI_Init starts it.
    pub is_of_first: bool,
    /// Threads of a team.
    pub team: u32,
    /// The most threads of other teams of the rank that were in regions when an instance began.
    pub beside: u32,
    /// Instances.
    pub instances: u64,
    /// Elapsed time of all of them.
    pub elapsed_s: f64,
    /// Their thread time.
    pub time: TeamSeconds,
    /// The longest work of a thread, summed over instances.
    pub longest_s: f64,
    /// Members of the team, by number.
    pub members: Vec<RegionMember>,
    /// The mutexes that its threads waited for, the longest time first; none where only a part of the time counts.
    pub mutexes: Vec<RegionMutex>,
}

/// Waits for a mutex in the instances of a parallel region.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct RegionMutex {
    /// Kind of the mutex.
    pub kind: MutexKind,
    /// Its name; empty where it has none.
    pub name: String,
    /// Place of the first wait, an index of [`crate::model::Model::sites`].
    pub site: Option<u32>,
    /// Number of waits.
    pub waits: u64,
    /// Their time, all threads together.
    pub wait_s: f64,
}

/// The times of a thread in a parallel region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct RegionMember {
    /// Work.
    pub useful_s: f64,
    /// MPI, and the recorder.
    pub mpi_s: f64,
    /// Waiting for a mutex, a turn or tasks.
    pub waits_s: f64,
    /// Instances in which it works longest.
    pub longest: u64,
}

/// Parallel regions, and functions outside of them, that the user asks about.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct AskedThreads {
    /// Parallel regions of one name.
    pub regions: Vec<AskedRegion>,
    /// Functions.
    pub functions: Vec<AskedFunction>,
}

/// The parallel regions of one name.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct AskedRegion {
    /// The name.
    pub name: String,
    /// By index of the call site: whether it stands for one of them.
    pub is_meant: Vec<bool>,
}

/// A function that one thread of a rank runs outside of parallel regions.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct AskedFunction {
    /// Its name.
    pub name: String,
    /// By index of the region without inner ones, and by place of the rank: the share of the rank's time outside of parallel regions that would be saved
    /// if the function ran on all cores.
    pub saved_shares: Vec<Vec<f64>>,
}

/// The cores on which the threads of a rank's largest team may run.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct ThreadPlacement {
    /// Threads of the team.
    pub team: u32,
    /// Cores on which at least one thread of the rank may run.
    pub cores: u32,
    /// Variables that the run-time library reads, as NAME=value.
    pub settings: Vec<String>,
    /// Path of the run-time library.
    pub library: String,
}
