//! CPU time by samples: which code ranks ran where.
//!
//! A sample stands for the CPU time between it and the one before it on its thread. How many of them hit a function is a count, so that its
//! CPU time is an estimate: of n samples that stand for w₁ … wₙ seconds it is Σ wᵢ, with a variance of Σ wᵢ² (Poisson; the standard error of n equal ones is
//! w √n). Samples that are equally spaced scatter less, never more.

use bincode::{Decode, Encode};
use lbprof_collector::sample::{SamplingOutcome, SamplingSetup};
use lbprof_collector::{Activity, CoreState};

use crate::model::code::region::RegionIdx;

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct CpuTime {
    /// Number of samples.
    pub samples: u64,
    /// CPU time for which they stand, in seconds.
    pub seconds: f64,
    /// Sum of the squares of what each stands for, in s²: the variance of `seconds`.
    pub squares: f64,
    /// Hardware counters in that time.
    pub counted: HardwareCounters,
}

/// Hardware counters; all 0 where it counts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct HardwareCounters {
    /// Instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// CPU time in which they were counted, in seconds.
    pub seconds: f64,
}

impl HardwareCounters {
    /// Adds others.
    pub fn add(&mut self, other: &HardwareCounters) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.cycles = self.cycles.saturating_add(other.cycles);
        self.seconds += other.seconds;
    }
}

impl CpuTime {
    /// Creates a sample that stands for `seconds`.
    pub fn sample(seconds: f64) -> CpuTime {
        CpuTime { samples: 1, seconds, squares: seconds * seconds, counted: HardwareCounters::default() }
    }

    /// Adds others.
    pub fn add(&mut self, other: &CpuTime) {
        self.samples = self.samples.saturating_add(other.samples);
        self.seconds += other.seconds;
        self.squares += other.squares;
        self.counted.add(&other.counted);
    }

    /// Standard error of `seconds`.
    pub fn error_s(&self) -> f64 {
        self.squares.sqrt()
    }
}

/// The position of samples: what the rank's first thread did then, and the code that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct SampledAt {
    /// The region.
    pub region: RegionIdx,
    /// The first thread's activity.
    pub activity: Activity,
    /// The code, as a node of the run's sampled code.
    pub node: u32,
}

/// A function of the program that MPI called, such as a user-defined reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct CalledBackAt {
    /// The operation of the program's call, within which MPI called the function.
    pub operation: u16,
    /// The function, as an index in the run's sampled code.
    pub function: u32,
}

/// The threads of a rank that samples belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SampledThreads {
    /// The one that called MPI_Init.
    First,
    /// Further threads that call MPI.
    WithMpi,
    /// Threads that do not call MPI: of OpenMP, of libraries.
    WithoutMpi,
    /// Any, at times for which nothing is known of the first one: calls were recorded as sums, records are missing, or recording was paused. Region and activity
    /// say nothing.
    Unplaced,
}

impl SampledThreads {
    /// The groups of threads.
    pub const ALL: [SampledThreads; 4] =
        [SampledThreads::First, SampledThreads::WithMpi, SampledThreads::WithoutMpi, SampledThreads::Unplaced];
}

/// The samples of some threads of a rank together.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct ThreadSamples {
    /// Number of threads.
    pub threads: u32,
    /// Sampled CPU time, by the state of the rank's first thread; sorted.
    pub times: Vec<(SampledAt, CpuTime)>,
}

/// The samples of a rank.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct RankSamples {
    /// The sampling settings, if the log states them.
    pub sampling: Option<SamplingSetup>,
    /// By [`SampledThreads`].
    pub of: [ThreadSamples; SampledThreads::ALL.len()],
    /// CPU time of the first thread in the recorder's code, but for the writing of logs, whose time the records have.
    pub recorder: CpuTime,
    /// CPU time of the first thread in functions of the program that MPI called, and in what these called; sorted.
    pub called_back: Vec<(CalledBackAt, CpuTime)>,
    /// Time that the first thread was in states of computation, if the log has it.
    pub off_core: Option<OffCoreSums>,
}

/// The time for which a rank's first thread was off its core, or in a state of computation that the recorder has seen begin and end.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct OffCoreSums {
    /// Seconds by region, without inner ones, and activity; sorted.
    pub places: Vec<((RegionIdx, Activity, CoreState), f64)>,
    /// Seconds for which it is known when the thread was off its core.
    pub known_s: f64,
}

impl OffCoreSums {
    /// Returns the seconds in a state outside of MPI, in `region` without inner ones or, without a region, in all of them.
    pub fn in_computation_s(&self, region: Option<RegionIdx>, state: CoreState) -> f64 {
        let begin = region.map_or(0, |region| self.places.partition_point(|(at, _)| at.0 < region));
        let end = region.map_or(self.places.len(), |region| self.places.partition_point(|(at, _)| at.0 <= region));
        let in_state = self.places[begin..end].iter().filter(|(at, _)| (at.1, at.2) == (Activity::Computation, state));
        in_state.map(|&(_, seconds)| seconds).sum()
    }
}

impl RankSamples {
    /// CPU time between two samples, in seconds, where the rank was sampled.
    pub fn period_s(&self) -> Option<f64> {
        let sampling = self.sampling.filter(|sampling| sampling.outcome == SamplingOutcome::Sampled);
        sampling.map(|sampling| sampling.period_ns as f64 * 1e-9)
    }

    /// Returns the sampled CPU time of some threads.
    pub fn times(&self, threads: SampledThreads) -> &[(SampledAt, CpuTime)] {
        &self.of[threads as usize].times
    }

    /// Returns the CPU time of some threads, in seconds.
    pub fn seconds(&self, threads: SampledThreads) -> f64 {
        self.times(threads).iter().map(|(_, time)| time.seconds).sum()
    }

    /// Returns the sampled CPU time of one region, inner regions excluded.
    pub fn within(&self, threads: SampledThreads, region: RegionIdx) -> &[(SampledAt, CpuTime)] {
        let times = self.times(threads);
        let begin = times.partition_point(|(at, _)| at.region < region);
        let end = times.partition_point(|(at, _)| at.region <= region);
        &times[begin..end]
    }
}

/// CPU time over ranks, of those that have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct CpuTimeOverRanks {
    /// Number of ranks.
    pub ranks: u32,
    /// The sum over all of them.
    pub sum: CpuTime,
    /// The least of them, in seconds.
    pub min_s: f64,
    /// The most, and the first rank that has it.
    pub max_s: f64,
    /// See above.
    pub max_rank: u32,
}

impl CpuTimeOverRanks {
    /// Creates the sums of one rank.
    pub fn from_rank(rank: u32, time: &CpuTime) -> CpuTimeOverRanks {
        CpuTimeOverRanks { ranks: 1, sum: *time, min_s: time.seconds, max_s: time.seconds, max_rank: rank }
    }

    /// Adds the time of higher ranks.
    pub fn add(&mut self, other: &CpuTimeOverRanks) {
        if self.ranks == 0 {
            *self = *other;
            return;
        }
        self.ranks += other.ranks;
        self.sum.add(&other.sum);
        self.min_s = self.min_s.min(other.min_s);
        if other.max_s > self.max_s {
            (self.max_s, self.max_rank) = (other.max_s, other.max_rank);
        }
    }
}

/// CPU time by line of the source, of first threads in computation only: whose, in which region, and the line as a leaf of the run's sampled code.
pub type SampledLine = (SampledThreads, RegionIdx, u32);
