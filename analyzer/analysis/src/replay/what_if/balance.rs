//! Determines the work of each rank that can be brought to the mean: over all of a run, and in each iteration.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbprof_collector::Activity;
use lbprof_thresholds::replay::{MAX_COMPUTATION_OF_IDLE_RANK, MIN_COMPUTATION_OF_PLACE};

use super::branches::BranchGroups;
use super::edges;
use super::mean::{factors_to_mean, mean_of_who_computes, mean_time};
use super::pace::{BalancedIterations, ComputationPace, IterationMeans, IterationValues};
use crate::model::{Model, RegionIdx};

/// Returns the seconds that each rank computes in some regions, inner ones included. No region lies in another.
pub fn computation_s(model: &Model, regions: &[RegionIdx]) -> Vec<f64> {
    let mut sums = vec![0.0; model.ranks.len()];
    for &region in regions {
        for (sum, time) in sums.iter_mut().zip(model.inclusive_s(region, Activity::Computation)) {
            *sum += time;
        }
    }
    sums
}

/// Returns the factor of each rank's computation over time if each iteration of some regions is balanced; with `edges` also the computation at
/// the edges of found loops. No region lies in another.
pub fn balanced_each<'a>(model: &'a Model, regions: &[RegionIdx], edges: bool) -> Vec<ComputationPace<'a>> {
    let places = BranchGroups::from_model(model);
    let means: Vec<Arc<IterationMeans>> =
        regions.iter().map(|&region| Arc::new(balanced_iterations(model, &places, region))).collect();
    let edges = if edges { edges::edge_factors(model, regions) } else { vec![1.0; model.ranks.len()] };
    let paces = model.ranks.iter().zip(edges).map(|(rank, outside)| {
        let iterations = regions.iter().zip(&means).filter_map(|(&region, means)| {
            let series = rank.series(region)?;
            Some(BalancedIterations { series, means: Arc::clone(means) })
        });
        ComputationPace::new(iterations.collect(), outside)
    });
    paces.collect()
}

/// Returns the computation of each rank in a region after balancing, in seconds, by their `times`: the mean of the ranks that compute, because
/// an idle rank would not be given work there. A marked phase that one rank alone computes is serial: it is spread over all
/// ranks.
pub fn balanced_s(model: &Model, region: RegionIdx, times: &[f64]) -> f64 {
    if is_serial(model, region, times) { mean_time(times) } else { mean_of_who_computes(times) }
}

/// The regions in which groups of ranks share work, which can be moved between them.
///
/// ```text
///   rank 0, 3   |== A ==|send|== A ==|send|        where some ranks compute in A alone and others in B alone, as the first and the last
///   rank 1, 2   |recv|== B ==|send|recv|== B ==|   rank of a pipeline do, A and B may be the same work, and their ranks be slow in turn
/// ```
pub struct SharedWork {
    /// By place of the program with much computation: for each rank, whether it computes there.
    places: Vec<Vec<bool>>,
}

impl SharedWork {
    pub fn new(model: &Model, places: &BranchGroups) -> SharedWork {
        let all_s: f64 = model.inclusive_s(0, Activity::Computation).iter().sum();
        let regions = (0..model.regions.len() as RegionIdx).map(|region| (region, places.branches_at(region)));
        let much = regions.filter(|(region, place)| place.first() == Some(region)).filter_map(|(_, place)| {
            let times = exclusive_s(model, &place);
            (times.iter().sum::<f64>() > MIN_COMPUTATION_OF_PLACE * all_s).then(|| who_computes(&times))
        });
        SharedWork { places: much.collect() }
    }

    /// Returns whether work can be moved between the ranks that compute at a place for these times: no other ranks compute somewhere else
    /// instead.
    pub fn is_shared(&self, times: &[f64]) -> bool {
        let own = who_computes(times);
        !self.places.iter().any(|other| own.iter().zip(other).all(|(own, other)| !(*own && *other)))
    }
}

/// Returns whether each rank computes for a considerable time.
fn who_computes(times: &[f64]) -> Vec<bool> {
    let least_s = MAX_COMPUTATION_OF_IDLE_RANK * mean_of_who_computes(times);
    times.iter().map(|&time_s| time_s > least_s).collect()
}

/// Returns how many times as long each rank computes in a region without inner ones, by index of the region and place of the rank, where
/// every region of shared work is balanced by itself; regions that ranks pass at one place of the program as one.
pub fn balanced_regions(model: &Model, places: &BranchGroups) -> Vec<Vec<f64>> {
    let mut by_region = vec![Vec::new(); model.regions.len()];
    let work = SharedWork::new(model, places);
    for region in 0..model.regions.len() as RegionIdx {
        let place = places.branches_at(region);
        let times = exclusive_s(model, &place);
        if place.first() == Some(&region) && work.is_shared(&times) {
            let factors = factors_to_mean(&times, mean_of_who_computes(&times));
            for inner in place {
                by_region[inner as usize].clone_from(&factors);
            }
        }
    }
    by_region
}

/// Returns the factor of a rank's computation in each region, without inner ones, if the rank computes no more than the mean of all ranks. Its
/// excess is taken away in the regions that have one, in proportion. Regions that ranks pass at one place of the program are one.
pub fn rank_as_mean(model: &Model, places: &BranchGroups, rank: u32) -> Vec<f64> {
    let mut factors = vec![1.0; model.regions.len()];
    let all_over_s = over_mean_s(&model.inclusive_s(0, Activity::Computation), rank);
    let mut excesses: Vec<(Vec<RegionIdx>, f64, f64)> = Vec::new();
    for region in 0..model.regions.len() as RegionIdx {
        let place = places.branches_at(region);
        if place.first() != Some(&region) {
            continue;
        }
        let times = exclusive_s(model, &place);
        let over_s = over_mean_s(&times, rank);
        if over_s > 0.0 {
            excesses.push((place, times.get(rank as usize).copied().unwrap_or(0.0), over_s));
        }
    }
    let sum_s: f64 = excesses.iter().map(|(_, _, over_s)| over_s).sum();
    if all_over_s > 0.0 && sum_s > 0.0 {
        let taken = (all_over_s / sum_s).min(1.0);
        for (place, own_s, over_s) in excesses {
            for region in place {
                factors[region as usize] = 1.0 - taken * over_s / own_s;
            }
        }
    }
    factors
}

/// Returns by how much the time of the rank at this place is above the mean of all ranks.
fn over_mean_s(times: &[f64], rank: u32) -> f64 {
    let own_s = times.get(rank as usize).copied().unwrap_or(0.0);
    own_s - mean_time(times)
}

/// Returns the seconds that each rank computes in some regions, without inner ones.
pub fn exclusive_s(model: &Model, regions: &[RegionIdx]) -> Vec<f64> {
    model
        .ranks
        .iter()
        .map(|rank| regions.iter().map(|&one| rank.exclusive(one)[Activity::Computation as usize]).sum())
        .collect()
}

/// Returns whether a region is a marked phase that one rank alone computes.
fn is_serial(model: &Model, region: RegionIdx, times: &[f64]) -> bool {
    let is_marked = model.regions.get(region as usize).is_some_and(|region| !region.found);
    is_marked && times.iter().filter(|&&time| time > 0.0).count() == 1
}

/// Returns the minimum seconds that a run takes with a balanced region, if the region is a serial phase, else 0. The parts of the phase that other ranks
/// would compute have no place in the replay: it takes them to lie where these ranks wait. Where they compute meanwhile, that takes too
/// little; but no run takes less than what its ranks compute on average.
pub fn serial_least_s(model: &Model, region: RegionIdx) -> f64 {
    let times = model.inclusive_s(region, Activity::Computation);
    if is_serial(model, region, &times) { mean_time(&model.inclusive_s(0, Activity::Computation)) } else { 0.0 }
}

/// Returns the sum of the computation in each iteration of a region, and the number of ranks that compute in it.
fn sum_by_iteration(model: &Model, region: RegionIdx) -> IterationValues<(f64, u32)> {
    let mut sums: IterationValues<(f64, u32)> = IterationValues::default();
    for (number, own_s) in computed_iterations(model, region) {
        let (sum, n) = sums.entry(number).or_default();
        (*sum, *n) = (*sum + own_s, *n + 1);
    }
    sums
}

/// Returns the balanced computation in each iteration of a region: the mean of the ranks that compute in it, in all and in the regions in
/// it.
fn balanced_iterations(model: &Model, places: &BranchGroups, region: RegionIdx) -> IterationMeans {
    let sums = sum_by_iteration(model, region);
    let mut parts: BTreeMap<RegionIdx, IterationValues<f64>> = BTreeMap::new();
    let mut place_of: BTreeMap<RegionIdx, RegionIdx> = BTreeMap::new();
    for series in model.ranks.iter().filter_map(|rank| rank.series(region)) {
        for (part, column) in &series.parts {
            let place =
                *place_of.entry(*part).or_insert_with(|| places.branches_at(*part).first().copied().unwrap_or(*part));
            let of_place = parts.entry(place).or_default();
            for (&number, &own_s) in series.numbers.iter().zip(column) {
                *of_place.entry(number).or_default() += f64::from(own_s);
            }
        }
    }
    for (number, sum_s) in parts.values_mut().flatten() {
        *sum_s /= f64::from(sums.get(number).map_or(1, |(_, n)| *n));
    }
    let all = sums.into_iter().map(|(number, (sum, n))| (number, sum / f64::from(n)));
    IterationMeans { parts, place_of, all: all.collect() }
}

/// Returns by how much the longest computation exceeds the mean in each iteration of a region, in seconds, summed over iterations.
pub fn excess_each(model: &Model, region: RegionIdx) -> f64 {
    let mut longest: BTreeMap<u32, f64> = BTreeMap::new();
    for (number, own_s) in computed_iterations(model, region) {
        let known = longest.entry(number).or_default();
        *known = known.max(own_s);
    }
    let sums = sum_by_iteration(model, region);
    let means = longest.keys().map(|number| sums[number]).map(|(sum, n)| sum / f64::from(n));
    longest.values().sum::<f64>() - means.sum::<f64>()
}

/// Returns the number of each iteration of a region in which a rank computes, and the seconds that it computes.
fn computed_iterations(model: &Model, region: RegionIdx) -> impl Iterator<Item = (u32, f64)> {
    let all = model.ranks.iter().filter_map(move |rank| rank.series(region));
    let numbered = all.flat_map(|series| (0..).zip(&series.numbers).map(move |(at, &number)| (series, at, number)));
    numbered
        .map(|(series, at, number)| (number, series.seconds_at(Activity::Computation, at)))
        .filter(|&(_, own_s)| own_s > 0.0)
}
