//! Load balance, micro load balance, transfer (docs/metrics.md §1; "Detailed Load Balance Analysis of Large Scale Parallel
//! Applications" (2010), eqs 1–6).
//!
//! ```text
//!            iteration 0     iteration 1          T_p    rank 0: 3 + 1 = 4, rank 1: 1 + 3 = 4
//!   rank 0   |===3===|.1.|   |=1=|.......|  .     max T_p = 4, so load balance = 1: in all, both do the same,
//!   rank 1   |=1=|.......|   |===3===|.1.|  .     but T_ideal = 3 + 3 = 6, so micro load balance = 4/6:
//!                                                 in each iteration one waits for the other;
//!                                                 T = 8, so transfer = 6/8 is what the network costs.
//! ```
//!
//! The product is the parallel efficiency, mean T_p / T = 4/8.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::Activity;
use lbprof_thresholds::metrics::MAX_IDEAL_TIME;
use serde::Serialize;

use crate::model::{Model, RankModel, RegionIdx, SlowestInIteration, recorded_s};

/// Load balance: the mean of the ranks' computation time over its maximum.
///
/// `computation[p]`: seconds that rank p computes in the region, inclusively; one entry a rank, none negative.
/// The result lies in 0..=1, 1 being perfect balance; `None` where no rank computes, for then the ratio means nothing.
///
/// Source: docs/metrics.md §1, eq. 3 of the paper.
pub fn load_balance(computation: &[f64]) -> Option<f64> {
    EfficiencyTimes::from_computation(computation, 0.0, None).load_balance()
}

/// The times of a run, a region or a group of ranks from which its efficiencies follow, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EfficiencyTimes {
    /// T: elapsed time for which at least one rank has records.
    pub elapsed_s: f64,
    /// max_p T_p: the longest computation of a rank.
    pub max_computation_s: f64,
    /// avg_p T_p: the mean computation of all ranks.
    pub avg_computation_s: f64,
    /// T_ideal, the time that the same would take on an ideal network, which the ratios use: the best that is known, by replay or estimated
    /// from iterations; null if neither is.
    pub t_ideal_s: Option<f64>,
}

impl EfficiencyTimes {
    /// The times of ranks that compute `computation` seconds each, one entry a rank.
    pub fn from_computation(computation: &[f64], elapsed_s: f64, t_ideal_s: Option<f64>) -> EfficiencyTimes {
        let n = computation.len().max(1) as f64;
        EfficiencyTimes {
            elapsed_s,
            max_computation_s: computation.iter().copied().fold(0.0, f64::max),
            avg_computation_s: computation.iter().sum::<f64>() / n,
            t_ideal_s,
        }
    }

    /// LB = avg / max, in 0..=1; eq. 3.
    pub fn load_balance(&self) -> Option<f64> {
        quotient_of(self.avg_computation_s, self.max_computation_s)
    }

    /// µLB = max / T_ideal, eq. 4; at most 1 where T_ideal is not below max, as no exact one is. POP: serialization
    /// efficiency.
    pub fn micro_load_balance(&self) -> Option<f64> {
        quotient_of(self.max_computation_s, self.t_ideal_s?)
    }

    /// Transfer = T_ideal / T, eq. 5; above 1 where the estimate of T_ideal assumes more synchronisation than there is, as
    /// in a region that only computes, whose T is not what its iterations take.
    pub fn transfer(&self) -> Option<f64> {
        self.micro_load_balance()?;
        quotient_of(self.t_ideal_s?, self.elapsed_s)
    }

    /// Communication efficiency = max / T, in 0..=1; eq. 2. It is µLB · transfer.
    pub fn communication(&self) -> Option<f64> {
        quotient_of(self.max_computation_s, self.elapsed_s)
    }

    /// Parallel efficiency η = avg / T, in 0..=1; eq. 6. It is LB · communication, and LB · µLB · transfer.
    pub fn parallel(&self) -> Option<f64> {
        quotient_of(self.avg_computation_s, self.elapsed_s)
    }
}

/// A quotient, where there is one.
pub fn quotient_of(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Load balance within hosts and between them: their product is the load balance.
///
/// With u the mean computation of the ranks of the host where it is largest: within = u / longest of a rank, between = mean of all ranks / u.
/// So a host with much more work than others is imbalance between hosts, a rank with more than others of that host one within. `None`
/// where no rank computes.
///
/// Source: TALP (DLB's `mpiLoadBalanceIn` and `mpiLoadBalanceOut`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostBalance {
    /// Within hosts.
    pub within: Option<f64>,
    /// Between hosts.
    pub between: Option<f64>,
}

impl HostBalance {
    /// Computes the load balance of the model's ranks, which compute `computation` seconds each, one entry a rank.
    pub fn new(model: &Model, computation: &[f64]) -> HostBalance {
        let mut hosts: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (rank, seconds) in model.ranks.iter().zip(computation) {
            let (sum, n) = hosts.entry(&rank.host).or_default();
            (*sum, *n) = (*sum + seconds, *n + 1.0);
        }
        let most_loaded = hosts.values().map(|(sum, n)| sum / n).fold(0.0, f64::max);
        let EfficiencyTimes { avg_computation_s: mean, max_computation_s: longest, .. } =
            EfficiencyTimes::from_computation(computation, 0.0, None);
        HostBalance { within: quotient_of(most_loaded, longest), between: quotient_of(mean, most_loaded) }
    }
}

/// Returns whether an ideal time is above the elapsed time, both in seconds, by more than clocks may differ by.
///
/// No ideal network makes a run slower. Such an estimate assumes that ranks wait for each other at the end of each iteration where they do
/// not, and is not used.
pub fn is_above_elapsed(ideal_s: f64, elapsed_s: f64) -> bool {
    ideal_s > MAX_IDEAL_TIME * elapsed_s
}

/// An estimate of T_ideal from phase profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseProfileIdeal {
    /// The estimate, in seconds; never below the longest computation of a rank.
    pub seconds: f64,
    /// Bound of its error where ranks meet within iterations, in seconds: the time in MPI, in each iteration, of the rank that
    /// computes longest in it, summed (docs/metrics.md §1). The slowest rank of an iteration that ends in a meeting does not
    /// wait; its waits for other ranks are not in the estimate.
    pub bound_s: f64,
}

/// T_ideal of `region` by phase profile. `None` where there are no iterations in or around it, or where not all ranks that
/// compute have them: ranks that run different code do not wait for each other's iterations.
///
/// - In a region that is iterated, or lies in one: Σ_k max_p t_pk over the iterations k, t_pk being the computation of
///   rank p in the region in iteration k.
/// - In a region that holds iterated ones, as the whole program mostly does: the sum of that over the outermost iterated
///   regions in it, and the maximum over ranks of their computation outside of those.
///
/// In both cases computation that belongs to no iteration counts by its maximum over ranks. So the estimate assumes that
/// ranks meet at the end of each iteration, and nowhere else. Computation before the first call of a found loop is outside of
/// the loop, but ranks do not meet between: it counts together with the iteration that the rank enters the loop with ([`IterationSeries::entering`]).
pub fn phase_profile_ideal(model: &Model, region: RegionIdx) -> Option<PhaseProfileIdeal> {
    let inside = outermost_iterated(model, region);
    all_iterate(model.ranks.iter(), region, &inside).then(|| {
        let slowest = inside.iter().map(|&idx| slowest_ranks(model, idx));
        PhaseProfileIdeal::from_slowest(slowest, &IterationEdges::measure(model.ranks.iter(), region, &inside))
    })
}

/// [`phase_profile_ideal`] of some ranks, as if there were no others: `ranks` are indices in [`Model::ranks`], ascending.
///
/// For all ranks it is the same. For some, regions that none of them iterates do not count, and it is `None` also for a region that is not iterated itself but lies in one that is: time
/// of single ranks by iteration is kept of iterated regions alone. Where that is joined in blocks, it is the sum over blocks, which is less.
pub fn phase_profile_ideal_of(model: &Model, ranks: &[usize], region: RegionIdx) -> Option<PhaseProfileIdeal> {
    let is_all = ranks.len() == model.ranks.len();
    let mut inside = outermost_iterated(model, region);
    let chosen = chosen_ranks(model, ranks);
    inside.retain(|idx| chosen.clone().any(|rank| has_iterations(rank, *idx)));
    if !inside.iter().all(|&idx| model.regions[idx as usize].iterated) {
        return phase_profile_ideal(model, region).filter(|_| is_all);
    }
    all_iterate(chosen.clone(), region, &inside).then(|| {
        let slowest = inside.iter().map(|&idx| match is_all {
            true => Cow::from(slowest_ranks(model, idx)),
            false => Cow::from(slowest_of(chosen.clone(), idx)),
        });
        PhaseProfileIdeal::from_slowest(slowest, &IterationEdges::measure(chosen.clone(), region, &inside))
    })
}

impl PhaseProfileIdeal {
    /// From the slowest rank of each iteration of some regions, and what lies outside of all.
    fn from_slowest(regions: impl Iterator<Item: AsRef<[SlowestInIteration]>>, edges: &IterationEdges) -> Self {
        let mut ideal = PhaseProfileIdeal { seconds: edges.outside_s, ..PhaseProfileIdeal::default() };
        for (at, slowest) in regions.enumerate() {
            for slowest in slowest.as_ref() {
                let slowest = edges.entering.get(&(at, slowest.iteration)).unwrap_or(slowest);
                ideal.seconds += slowest.computation_s;
                ideal.bound_s += slowest.mpi_s;
            }
        }
        ideal
    }
}

/// Time outside of the iterations of some regions.
///
/// ```text
///   rank 0   |=5=|send|barrier|=5=|send|barrier|         the first 5 s come before its first call: they are outside of the loop
///   rank 1   |recv    |=5=|barrier|recv    |=5=|         its first 5 s are of iteration 0
///
///   one interval up to the first barrier: max(5 + 0, 0 + 5) = 5 s, not 5 s outside and 5 s in iteration 0
/// ```
#[derive(Default)]
struct IterationEdges {
    /// Iterations with which a rank enters a found loop, by the region's place and their number: the slowest rank, what it computes outside
    /// included. Where it enters one several times, it is not known before which entry it computed how much: that is shared out evenly.
    entering: BTreeMap<(usize, u32), SlowestInIteration>,
    /// Seconds outside, the longest of a rank, where there is no such iteration.
    outside_s: f64,
}

impl IterationEdges {
    /// Measures the edges of the iterated regions `inside`, which lie in `region`. Where ranks have blocks of iterations, all time outside counts apart.
    fn measure<'a>(
        ranks: impl Iterator<Item = &'a RankModel> + Clone,
        region: RegionIdx,
        inside: &[RegionIdx],
    ) -> IterationEdges {
        let mut numbers: BTreeSet<(usize, u32)> = BTreeSet::new();
        for rank in ranks.clone() {
            for (at, &idx) in inside.iter().enumerate() {
                let Some(series) = rank.series(idx).filter(|series| series.joined == 0) else { continue };
                // A window of time may start after an iteration that the rank entered the loop with.
                let entered = series.entering.iter().filter(|number| series.numbers.binary_search(number).is_ok());
                numbers.extend(entered.map(|&number| (at, number)));
            }
        }
        if numbers.is_empty() {
            let outside_s = ranks.map(|rank| outside_s(rank, region, inside)).fold(0.0, f64::max);
            return IterationEdges { outside_s, ..IterationEdges::default() };
        }
        let shared_s: Vec<f64> =
            ranks.clone().map(|rank| outside_s(rank, region, inside) / numbers.len() as f64).collect();
        let mut entering: BTreeMap<(usize, u32), SlowestInIteration> = BTreeMap::new();
        for &(at, number) in &numbers {
            for (rank, shared_s) in ranks.clone().zip(&shared_s) {
                let series = rank.series(inside[at]);
                let alone = series.map(|series| series.slowest_in(rank.rank, number)).unwrap_or_default();
                let computation_s = alone.computation_s + shared_s;
                let with_outside = SlowestInIteration { iteration: number, rank: rank.rank, computation_s, ..alone };
                let slowest = entering.entry((at, number)).or_insert(with_outside);
                if computation_s > slowest.computation_s {
                    *slowest = with_outside;
                }
            }
        }
        IterationEdges { entering, outside_s: 0.0 }
    }
}

fn chosen_ranks<'a>(model: &'a Model, ranks: &'a [usize]) -> impl Iterator<Item = &'a RankModel> + Clone {
    ranks.iter().filter_map(|&at| model.ranks.get(at))
}

/// Returns whether each of `ranks` that computes in `region` has all the iterated regions `inside`, of which there is at least one.
fn all_iterate<'a>(mut ranks: impl Iterator<Item = &'a RankModel>, region: RegionIdx, inside: &[RegionIdx]) -> bool {
    !inside.is_empty()
        && ranks.all(|rank| {
            rank.inclusive(region)[Activity::Computation as usize] == 0.0
                || inside.iter().all(|&idx| has_iterations(rank, idx))
        })
}

/// Returns whether time of `rank` in a region is known by iteration.
fn has_iterations(rank: &RankModel, region: RegionIdx) -> bool {
    rank.in_iterations.binary_search_by_key(&region, |&(idx, _)| idx).is_ok()
}

/// Seconds that a rank computes in `region` in no iteration of the regions `inside`.
fn outside_s(rank: &RankModel, region: RegionIdx, inside: &[RegionIdx]) -> f64 {
    let in_iterations_s: f64 = inside.iter().map(|&idx| rank.in_iterations_s(idx)).sum();
    (rank.inclusive(region)[Activity::Computation as usize] - in_iterations_s).max(0.0)
}

fn slowest_ranks(model: &Model, idx: RegionIdx) -> &[SlowestInIteration] {
    model.slowest.get(idx as usize).map_or(&[][..], Vec::as_slice)
}

/// The slowest of `ranks` in each iteration of the iterated region `idx`.
fn slowest_of<'a>(ranks: impl Iterator<Item = &'a RankModel>, idx: RegionIdx) -> Vec<SlowestInIteration> {
    let each = ranks.filter_map(|rank| Some(rank.series(idx)?.slowest(rank.rank)));
    each.reduce(SlowestInIteration::slower_of).unwrap_or_default()
}

/// The region itself where its time is known by iteration, else the outermost such regions in it.
fn outermost_iterated(model: &Model, region: RegionIdx) -> Vec<RegionIdx> {
    if model.is_by_iteration(region) {
        return vec![region];
    }
    model.outermost_iterated.iter().copied().filter(|&inner| model.chain(inner).contains(&region)).collect()
}

/// The times of `region`, all ranks together.
pub fn region_efficiency_times(model: &Model, region: RegionIdx) -> EfficiencyTimes {
    let ideal_s = phase_profile_ideal(model, region).map(|ideal| ideal.seconds);
    let computation = model.inclusive_s(region, Activity::Computation);
    EfficiencyTimes::from_computation(&computation, model.region_elapsed_s(region), ideal_s)
}

/// The times of `region`, of some ranks as if there were no others: `ranks` are indices in [`Model::ranks`], ascending.
///
/// The elapsed time of the whole program is then from the first begin of a window of these ranks to the last end of one, less the
/// time of which none of them has records.
pub fn times_of(model: &Model, ranks: &[usize], region: RegionIdx) -> EfficiencyTimes {
    let chosen = chosen_ranks(model, ranks);
    let computation: Vec<f64> =
        chosen.clone().map(|rank| rank.inclusive(region)[Activity::Computation as usize]).collect();
    let elapsed_s = match region {
        0 => recorded_s(chosen),
        _ => chosen.map(|rank| rank.inclusive(region).iter().sum()).fold(0.0, f64::max),
    };
    let ideal_s = phase_profile_ideal_of(model, ranks, region).map(|ideal| ideal.seconds);
    EfficiencyTimes::from_computation(&computation, elapsed_s, ideal_s)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_computation_there_is_no_load_balance() {
        assert_eq!(load_balance(&[0.0, 0.0]), None);
        assert_eq!(load_balance(&[]), None);
    }

    #[test]
    fn without_an_ideal_time_there_is_no_micro_load_balance() {
        let times = EfficiencyTimes::from_computation(&[1.0, 3.0], 4.0, None);
        assert_eq!((times.micro_load_balance(), times.transfer()), (None, None));
        assert_eq!((times.communication(), times.parallel()), (Some(0.75), Some(0.5)));
    }

    #[test]
    fn nothing_is_defined_in_no_time() {
        let times = EfficiencyTimes::from_computation(&[0.0], 0.0, Some(0.0));
        assert_eq!((times.transfer(), times.communication(), times.parallel()), (None, None, None));
    }

    proptest! {}
}
