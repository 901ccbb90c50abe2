//! Determines the work of each rank that can be brought to the mean: over all of a run, and in each iteration.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbprof_collector::Activity;
use lbprof_thresholds::replay::{MAX_COMPUTATION_OF_IDLE_RANK, MIN_COMPUTATION_OF_PLACE};

use super::branches::BranchGroups;
use super::edges;
use super::mean::{factors, mean_of_who_computes};
use super::pace::{BalancedIterations, ComputationPace, IterationMeans, IterationValues};
use crate::model::{Model, RegionIdx};

/// Seconds that each rank computes in some regions of which none lies in another, inner ones included.
pub fn computation_s(model: &Model, regions: &[RegionIdx]) -> Vec<f64> {
    let mut sums = vec![0.0; model.ranks.len()];
    for &region in regions {
        let own = model.inclusive_s(region, Activity::Computation);
        for (sum, time) in sums.iter_mut().zip(own) {
            *sum += time;
        }
    }
    sums
}

/// By place of the rank: how many times as long its computation takes, by time, where each iteration of some regions, none of which lies in
/// another, is balanced; with `edges` also what ranks compute at the edges of found loops.
pub fn balanced_each<'a>(model: &'a Model, regions: &[RegionIdx], edges: bool) -> Vec<ComputationPace<'a>> {
    let places = BranchGroups::from_model(model);
    let means: Vec<Arc<IterationMeans>> =
        regions.iter().map(|&region| Arc::new(means(model, &places, region))).collect();
    let edges = if edges { edges::factors(model, regions) } else { vec![1.0; model.ranks.len()] };
    let mut paces = Vec::with_capacity(model.ranks.len());
    for (rank, &outside) in model.ranks.iter().zip(&edges) {
        let iterations = regions.iter().zip(&means).filter_map(|(&region, means)| {
            let series = rank.series(region)?;
            Some(BalancedIterations { series, means: Arc::clone(means) })
        });
        paces.push(ComputationPace::new(iterations.collect(), outside));
    }
    paces
}

/// Returns the computation of each rank in a region after balancing, in seconds, by their `times`: the mean of those who compute, because
/// who does nothing somewhere would not be given work there. A marked phase that one rank alone computes is serial: it is spread over all
/// ranks.
pub fn balanced_s(model: &Model, region: RegionIdx, times: &[f64]) -> f64 {
    match is_serial(model, region, times) {
        true => times.iter().sum::<f64>() / times.len() as f64,
        false => mean_of_who_computes(times),
    }
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
    /// Finds the ranks that compute at each place of the program.
    pub fn new(model: &Model, places: &BranchGroups) -> SharedWork {
        let all_s: f64 = model.inclusive_s(0, Activity::Computation).iter().sum();
        let regions = (0..model.regions.len() as RegionIdx).map(|region| (region, places.branches_at(region)));
        let much = regions.filter(|(region, place)| place.first() == Some(region)).filter_map(|(_, place)| {
            let times = exclusive_s(model, &place);
            (times.iter().sum::<f64>() > MIN_COMPUTATION_OF_PLACE * all_s).then(|| who_computes(&times))
        });
        SharedWork { places: much.collect() }
    }

    /// Returns whether work can be moved between the ranks that compute at a place, `times` being theirs there: no others compute somewhere
    /// else instead.
    pub fn is_shared(&self, times: &[f64]) -> bool {
        let own = who_computes(times);
        !self.places.iter().any(|other| own.iter().zip(other).all(|(own, other)| !(*own && *other)))
    }
}

/// By place of the rank: whether it computes as long as is worth a word, of seconds by rank.
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
            let factors = factors(&times, mean_of_who_computes(&times));
            for inner in place {
                by_region[inner as usize].clone_from(&factors);
            }
        }
    }
    by_region
}

/// Returns how many times as long a rank computes in each region, without inner ones, where it computes no more than the mean of all ranks: what it
/// computes more is taken away in the regions in which it does, in proportion to that. Regions that ranks pass at one place of the program are one.
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
    own_s - times.iter().sum::<f64>() / times.len().max(1) as f64
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

/// Seconds that a run takes at least with a region balanced that is a serial phase; 0 of any other. The parts of the phase that other ranks
/// would compute have no place in the replay: it takes them to lie where these ranks wait. Where they compute meanwhile, that takes too
/// little; but no run takes less than what its ranks compute on average.
pub fn serial_least_s(model: &Model, region: RegionIdx) -> f64 {
    let times = model.inclusive_s(region, Activity::Computation);
    let all_s = model.inclusive_s(0, Activity::Computation);
    if is_serial(model, region, &times) { all_s.iter().sum::<f64>() / all_s.len().max(1) as f64 } else { 0.0 }
}

/// By iteration of a region: sum and number of the computation of the ranks that compute in it.
fn sum_by_iteration(model: &Model, region: RegionIdx) -> IterationValues<(f64, u32)> {
    let mut sums: IterationValues<(f64, u32)> = IterationValues::default();
    for_each_iteration(model, region, |(number, place), own_s| {
        let sum = sums.entry(number, place);
        *sum = (sum.0 + own_s, sum.1 + 1);
    });
    sums
}

/// Returns the balanced computation in each iteration of a region: the mean of the ranks that compute in it, in all and in the regions in
/// it.
fn means(model: &Model, places: &BranchGroups, region: RegionIdx) -> IterationMeans {
    let sums = sum_by_iteration(model, region);
    let mut part_sums: BTreeMap<RegionIdx, IterationValues<f64>> = BTreeMap::new();
    let mut place_of: BTreeMap<RegionIdx, RegionIdx> = BTreeMap::new();
    for series in model.ranks.iter().filter_map(|rank| rank.series(region)) {
        for (part, column) in &series.parts {
            let place =
                *place_of.entry(*part).or_insert_with(|| places.branches_at(*part).first().copied().unwrap_or(*part));
            let of_place = part_sums.entry(place).or_default();
            for (at, (&number, &own_s)) in series.numbers.iter().zip(column).enumerate() {
                *of_place.entry(number, at) += f64::from(own_s);
            }
        }
    }
    let parts = part_sums
        .into_iter()
        .map(|(place, own)| {
            (
                place,
                ({
                    own.map_numbered(|number, at, sum_s| {
                        sum_s / f64::from(sums.get(number, at).map_or(1, |(_, n)| n).max(1))
                    })
                }),
            )
        })
        .collect();
    IterationMeans { parts, place_of, all: sums.map(|(sum, n)| sum / f64::from(n)) }
}

/// Returns by how much the longest computation exceeds the mean in each iteration of a region, in seconds, summed over iterations.
pub fn excess_each(model: &Model, region: RegionIdx) -> f64 {
    let mut longest: IterationValues<f64> = IterationValues::default();
    for_each_iteration(model, region, |(number, place), own_s| {
        let known = longest.entry(number, place);
        *known = known.max(own_s);
    });
    let means = sum_by_iteration(model, region).map(|(sum, n)| sum / f64::from(n));
    longest.ascending().sum::<f64>() - means.ascending().sum::<f64>()
}

/// Calls `take` with the number and the place of each iteration of a region in which a rank computes, and how long.
fn for_each_iteration(model: &Model, region: RegionIdx, mut take: impl FnMut((u32, usize), f64)) {
    for series in model.ranks.iter().filter_map(|rank| rank.series(region)) {
        for (at, &number) in series.numbers.iter().enumerate() {
            let own_s = series.seconds_at(Activity::Computation, at);
            if own_s > 0.0 {
                take((number, at), own_s);
            }
        }
    }
}
