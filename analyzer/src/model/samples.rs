//! CPU time by samples: which code ranks ran where.
//!
//! A sample stands for the CPU time between it and the one before it on its thread. How many of them hit a function is a count, so that its
//! CPU time is an estimate: of n samples that stand for w₁ … wₙ seconds it is Σ wᵢ, with a variance of Σ wᵢ² (Poisson; the standard error of n equal ones is
//! w √n). Samples that are equally spaced scatter less, never more.

use lbprof_collector::Activity;
use lbprof_collector::sample::{Sampling, SamplingOutcome};

use super::region::RegionIdx;

/// What samples add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// How many there are.
    pub samples: u64,
    /// CPU time for which they stand, in seconds.
    pub seconds: f64,
    /// Sum of the squares of what each stands for, in s²: the variance of `seconds`.
    pub squares: f64,
    /// What the hardware counted in that time.
    pub counted: Counted,
}

/// What the hardware counted; all 0 where it counts nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// CPU time in which they were counted, in seconds.
    pub seconds: f64,
}

impl Counted {
    /// Adds others.
    pub fn add(&mut self, other: &Counted) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.cycles = self.cycles.saturating_add(other.cycles);
        self.seconds += other.seconds;
    }
}

impl CpuTime {
    /// A sample that stands for so many seconds.
    pub fn sample(seconds: f64) -> CpuTime {
        CpuTime { samples: 1, seconds, squares: seconds * seconds, counted: Counted::default() }
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

/// Where samples hit: what the rank's first thread did then, and the code that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampledAt {
    /// The region.
    pub region: RegionIdx,
    /// What the first thread did.
    pub activity: Activity,
    /// The code, as a node of the run's sampled code.
    pub node: u32,
}

/// The samples of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankSamples {
    /// How it was sampled, where its log says so.
    pub sampling: Option<Sampling>,
    /// Of its first thread; sorted.
    pub first: Vec<(SampledAt, CpuTime)>,
    /// Of its other threads together, where the first one was then; sorted.
    pub others: Vec<(SampledAt, CpuTime)>,
    /// Of all threads, at times for which nothing is known of the first one: records are missing, or recording was stopped.
    pub unplaced: CpuTime,
}

impl RankSamples {
    /// CPU time between two samples, in seconds, where the rank was sampled.
    pub fn period_s(&self) -> Option<f64> {
        let sampling = self.sampling.filter(|sampling| sampling.outcome == SamplingOutcome::Sampled);
        sampling.map(|sampling| sampling.period_ns as f64 * 1e-9)
    }

    /// CPU time of the first thread in a region alone, in an activity, by node.
    pub fn within(&self, region: RegionIdx, activity: Activity) -> impl Iterator<Item = (u32, &CpuTime)> {
        let is_before = |at: &SampledAt| (at.region, at.activity) < (region, activity);
        let from = self.first.partition_point(|(at, _)| is_before(at));
        let own = self.first[from..].iter().take_while(move |(at, _)| (at.region, at.activity) == (region, activity));
        own.map(|(at, time)| (at.node, time))
    }
}

/// CPU time over ranks, of those that have any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverRanks {
    /// How many they are.
    pub ranks: u32,
    /// Of all of them.
    pub sum: CpuTime,
    /// The least of them, in seconds.
    pub min_s: f64,
    /// The most, and the first rank that has it.
    pub max_s: f64,
    /// See above.
    pub max_rank: u32,
}

impl OverRanks {
    /// That of one rank.
    pub fn of(rank: u32, time: &CpuTime) -> OverRanks {
        OverRanks { ranks: 1, sum: *time, min_s: time.seconds, max_s: time.seconds, max_rank: rank }
    }

    /// Adds that of higher ranks.
    pub fn add(&mut self, other: &OverRanks) {
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

/// CPU time of computation by line of the source: a region, and the line as a leaf of the run's sampled code.
pub type SampledLine = (RegionIdx, u32);
