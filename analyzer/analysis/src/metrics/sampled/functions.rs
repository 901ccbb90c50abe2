//! Splits computation into functions by samples, and finds those in which one rank spends more than the others (docs/metrics.md §7).
//!
//! CPU time by samples is an estimate ([`CpuTime`]): x ± √v, v = Σ w² over the samples. Of P ranks with x₁ … x_P the excess of rank r over the mean is
//!
//! ```text
//!   e = x_r − (1/P) Σ x_p         variance (1 − 1/P)² v_r + (1/P²) Σ_{p≠r} v_p, but at least w² of one sample of rank r
//! ```
//!
//! because the ranks are sampled independently. An excess is significant from two standard errors on. Computation that samples do not show was
//! not spent in the rank's own code: it slept, waited for a core or was in the kernel.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::{MIN_EXCESS_OF_INNER_FUNCTION, MIN_STANDARD_ERRORS};

pub use crate::model::ranks::samples::{CalledBackAt, CpuTime, CpuTimeOverRanks, SampledThreads};
use crate::model::{Model, RankModel, RegionIdx};
use crate::structure::code::sampled_code::{SampledCode, SampledLink};

/// A figure by samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampledEstimate {
    /// The figure.
    pub seconds: f64,
    /// Its standard error.
    pub error_s: f64,
}

impl SampledEstimate {
    /// Creates the estimate of an excess over the mean of `n` ranks, with the variances of the rank and of all others together.
    fn excess(seconds: f64, own: f64, others: f64, n: f64) -> SampledEstimate {
        let variance = (1.0 - 1.0 / n).powi(2) * own + others / (n * n);
        SampledEstimate { seconds, error_s: variance.sqrt() }
    }

    /// Returns whether it differs from 0 by more than its error explains.
    pub fn is_significant(&self) -> bool {
        self.seconds.abs() >= MIN_STANDARD_ERRORS * self.error_s && self.seconds != 0.0
    }
}

/// The CPU time of all ranks in a place, and of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTimeComparison {
    /// Time of all ranks.
    pub all: CpuTime,
    /// Time of the one rank.
    pub own: CpuTime,
}

impl CpuTimeComparison {
    /// Adds the times of another place.
    pub fn add(&mut self, other: &CpuTimeComparison) {
        self.all.add(&other.all);
        self.own.add(&other.own);
    }

    /// Returns the excess of this rank over the mean of all `n` ranks, of which a sample stands for `period_s`.
    pub fn excess(&self, n: usize, period_s: f64) -> SampledEstimate {
        let n = n.max(1) as f64;
        let others = (self.all.squares - self.own.squares).max(0.0);
        let own = self.own.squares.max(period_s * period_s);
        SampledEstimate::excess(self.own.seconds - self.all.seconds / n, own, others, n)
    }
}

/// A place in the code, and a share of the excess that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExcessConcentration {
    /// The node of the function, with those that were put into it.
    pub node: u32,
    /// The rank's excess over the mean.
    pub excess: SampledEstimate,
}

/// CPU time of a function over ranks, and of one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FunctionTime {
    /// The ranks that have any.
    pub over: CpuTimeOverRanks,
    /// Time of the one rank.
    pub own: CpuTime,
}

impl FunctionTime {
    /// Compares the rank's time with the mean.
    pub fn compared(&self) -> CpuTimeComparison {
        CpuTimeComparison { all: self.over.sum, own: self.own }
    }
}

/// CPU time of the ranks' computation, by samples.
pub struct FunctionTimes<'a> {
    model: &'a Model,
    code: &'a SampledCode,
    threads: SampledThreads,
    /// Number of sampled ranks.
    pub ranks: usize,
    /// CPU time that a sample stands for, in seconds: the mean of all samples.
    pub period_s: f64,
}

impl<'a> FunctionTimes<'a> {
    /// Creates the times of the given threads of `model`'s ranks in `code`, or returns `None` if no rank was sampled.
    pub fn new(model: &'a Model, code: &'a SampledCode, threads: SampledThreads) -> Option<Self> {
        let ranks = model.ranks.iter().filter(|rank| is_sampled(rank)).count();
        let mut sum = CpuTime::default();
        for (_, time) in model.ranks.iter().flat_map(|rank| rank.samples.times(threads)) {
            sum.add(time);
        }
        let period_s = match sum.samples {
            0 => model.ranks.iter().find_map(|rank| rank.samples.period_s()).unwrap_or(0.0),
            n => sum.seconds / n as f64,
        };
        (ranks > 0).then_some(FunctionTimes { model, code, threads, ranks, period_s })
    }

    /// CPU time by function in a region, with library functions counted for their callers, inner ones not included, or in all; `at`: the place in the model's of the rank that is
    /// compared with the mean.
    pub fn by_function(&self, region: Option<RegionIdx>, at: Option<usize>) -> BTreeMap<u32, FunctionTime> {
        let mut functions: BTreeMap<u32, FunctionTime> = BTreeMap::new();
        for (position, rank) in self.model.ranks.iter().enumerate() {
            let mut of_rank: BTreeMap<u32, CpuTime> = BTreeMap::new();
            for (node, time) in executing_times(rank, self.threads, region) {
                of_rank.entry(self.code.responsible(node)).or_default().add(time);
            }
            for (function, time) in of_rank {
                let sums = functions.entry(function).or_default();
                sums.over.add(&CpuTimeOverRanks::from_rank(rank.rank, &time));
                if Some(position) == at {
                    sums.own = time;
                }
            }
        }
        functions
    }

    /// CPU time in functions of libraries, by the function of the program that called them and then by themselves, in a region or in all.
    pub fn in_libraries(&self, region: Option<RegionIdx>) -> BTreeMap<u32, BTreeMap<u32, CpuTime>> {
        self.sum_within(region, |node| {
            let called = self.code.nodes.get(node as usize).filter(|one| one.link == SampledLink::Library);
            Some(called?.function)
        })
    }

    /// CPU time of functions by the function of the program that called them and the line of the call, as far as these are known, in a region or in all.
    pub fn by_caller(&self, region: Option<RegionIdx>) -> BTreeMap<u32, BTreeMap<(u32, Option<u32>), CpuTime>> {
        self.sum_within(region, |node| self.code.caller(node))
    }

    /// Returns the CPU time of functions by what `other` finds for a node.
    fn sum_within<Other: Ord>(
        &self,
        region: Option<RegionIdx>,
        other: impl Fn(u32) -> Option<Other>,
    ) -> BTreeMap<u32, BTreeMap<Other, CpuTime>> {
        let mut sums: BTreeMap<u32, BTreeMap<Other, CpuTime>> = BTreeMap::new();
        for (node, time) in self.model.ranks.iter().flat_map(|rank| executing_times(rank, self.threads, region)) {
            if let Some(other) = other(node) {
                sums.entry(self.code.responsible(node)).or_default().entry(other).or_default().add(time);
            }
        }
        sums
    }

    /// Returns the CPU time of functions that MPI called, and of what they called.
    pub fn called_back(&self) -> BTreeMap<CalledBackAt, CpuTimeOverRanks> {
        let mut sums: BTreeMap<CalledBackAt, CpuTimeOverRanks> = BTreeMap::new();
        for rank in &self.model.ranks {
            for (at, time) in &rank.samples.called_back {
                sums.entry(*at).or_default().add(&CpuTimeOverRanks::from_rank(rank.rank, time));
            }
        }
        sums
    }

    /// Returns the CPU time by node, with the nodes in it, whatever calls led to the program's functions.
    fn by_uncalled_node(&self, region: Option<RegionIdx>, at: Option<usize>) -> Vec<CpuTimeComparison> {
        let mut nodes = vec![CpuTimeComparison::default(); self.code.nodes.len()];
        for (position, rank) in self.model.ranks.iter().enumerate() {
            for (node, time) in executing_times(rank, self.threads, region) {
                let Some(&to) = self.code.uncalled.get(node as usize) else { continue };
                let own = if Some(position) == at { *time } else { CpuTime::default() };
                nodes[to as usize].add(&CpuTimeComparison { all: *time, own });
            }
        }
        for at in (0..nodes.len()).rev() {
            let own = nodes[at];
            if let Some(parent) = self.code.nodes[at].parent {
                nodes[parent as usize].add(&own);
            }
        }
        nodes
    }

    /// The functions in which a rank exceeds the mean most, the first one first: of functions that were put into one another the innermost that has nearly
    /// all. Only those in which the excess is significant, at most `most`.
    pub fn concentrated(&self, region: Option<RegionIdx>, at: usize, most: usize) -> Vec<ExcessConcentration> {
        let inclusive = self.by_uncalled_node(region, Some(at));
        let excess: Vec<SampledEstimate> = inclusive.iter().map(|one| one.excess(self.ranks, self.period_s)).collect();
        let mut inner: Vec<Vec<u32>> = vec![Vec::new(); excess.len()];
        let mut outermost: Vec<u32> = Vec::new();
        for (at, node) in (0..).zip(&self.code.nodes) {
            match (node.parent, node.link) {
                (Some(parent), SampledLink::Inlined) => inner[parent as usize].push(at),
                (Some(_), _) => {}
                (None, _) => outermost.push(at),
            }
        }
        outermost.sort_by(|&a, &b| compare_excess(&excess, b, a).then(a.cmp(&b)));
        let found = outermost.into_iter().take(most).map(|outermost| {
            let mut node = outermost;
            let enough_s = MIN_EXCESS_OF_INNER_FUNCTION * excess[outermost as usize].seconds;
            while let Some(next) =
                inner[node as usize].iter().copied().max_by(|&a, &b| compare_excess(&excess, a, b).then(b.cmp(&a)))
                && excess[next as usize].seconds >= enough_s
            {
                node = next;
            }
            ExcessConcentration { node, excess: excess[node as usize] }
        });
        found.filter(|one| one.excess.seconds > 0.0 && one.excess.is_significant()).collect()
    }

    /// Returns the computation in a region, inner ones excluded, or in all that samples do not show: the place of each sampled rank in the model, its
    /// seconds and their squared error.
    pub fn not_running(&self, region: Option<RegionIdx>) -> Vec<(usize, f64, f64)> {
        let mut not_running = Vec::new();
        for (at, rank) in self.model.ranks.iter().enumerate().filter(|(_, rank)| is_sampled(rank)) {
            let mut sum = CpuTime::default();
            for (_, time) in computing_times(rank, region) {
                sum.add(time);
            }
            let wall = region.map_or_else(|| rank.inclusive(0), |region| rank.exclusive(region));
            let hidden_s = wall[Activity::Computation as usize] - sum.seconds;
            not_running.push((at, hidden_s, sum.squares.max(self.period_s.powi(2))));
        }
        not_running
    }

    /// Returns the part of that time by which the rank at a place exceeds the mean.
    pub fn not_running_excess(&self, region: Option<RegionIdx>, at: usize) -> Option<SampledEstimate> {
        let all = self.not_running(region);
        let n = all.len().max(1) as f64;
        let (_, own_s, own) = *all.iter().find(|one| one.0 == at)?;
        let mean_s = all.iter().map(|one| one.1).sum::<f64>() / n;
        let others: f64 = all.iter().map(|one| one.2).sum::<f64>() - own;
        Some(SampledEstimate::excess(own_s - mean_s, own, others, n))
    }
}

fn compare_excess(excess: &[SampledEstimate], a: u32, b: u32) -> Ordering {
    excess[a as usize].seconds.total_cmp(&excess[b as usize].seconds)
}

/// Returns whether a rank was sampled, as far as its log shows.
pub fn is_sampled(rank: &RankModel) -> bool {
    rank.samples.period_s().is_some() || !rank.samples.times(SampledThreads::First).is_empty()
}

/// CPU time of a rank's first thread in computation by node, in a region or in all.
pub fn computing_times(rank: &RankModel, region: Option<RegionIdx>) -> impl Iterator<Item = (u32, &CpuTime)> {
    executing_times(rank, SampledThreads::First, region)
}

/// CPU time of a rank's threads by node, in a region or in all: of the first one in computation, of others whatever the first one did.
pub fn executing_times(
    rank: &RankModel,
    threads: SampledThreads,
    region: Option<RegionIdx>,
) -> impl Iterator<Item = (u32, &CpuTime)> {
    let times = region.map_or_else(|| rank.samples.times(threads), |region| rank.samples.within(threads, region));
    let executing =
        times.iter().filter(move |(at, _)| threads != SampledThreads::First || at.activity == Activity::Computation);
    executing.map(|(at, time)| (at.node, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many samples of 10 ms.
    fn samples(n: u32) -> CpuTime {
        let mut sum = CpuTime::default();
        for _ in 0..n {
            sum.add(&CpuTime::sample(0.01));
        }
        sum
    }

    #[test]
    fn that_a_rank_has_no_sample_is_not_certain_to_be_no_time() {
        let none = CpuTimeComparison { all: samples(3), own: samples(0) };
        let excess = none.excess(4, 0.01);
        assert!(excess.seconds < 0.0 && !excess.is_significant(), "{excess:?}");
        let alone = CpuTimeComparison { all: samples(1), own: samples(1) }.excess(1, 0.01);
        assert_eq!((alone.seconds, alone.is_significant()), (0.0, false));
    }
}
