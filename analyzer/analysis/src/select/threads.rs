//! Parallel regions, and functions outside of them, by the names that the user gives them.

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::{Activity, CoreState};

use super::SelectionError;
use super::names::some_of;
use crate::metrics::sampled::core_time::RankCoreTimes;
use crate::metrics::sampled::serial_code::serial_times;
use crate::metrics::threads::RankCores;
use crate::model::ranks::threads::{AskedFunction, AskedRegion};
use crate::model::{Model, RankModel, RegionIdx};
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::code::symbols::CodePlace;

/// Returns the parallel regions with a name: the name of their function, or the one in reports.
///
/// Errors: there is none.
pub fn regions_named(model: &Model, places: &[CodePlace], name: &str) -> Result<AskedRegion, SelectionError> {
    let started: BTreeSet<u32> =
        model.ranks.iter().flat_map(|rank| &rank.parallel).filter_map(|one| one.site).collect();
    let mut known = BTreeSet::new();
    let mut is_meant = vec![false; places.len()];
    for site in started {
        let Some(place) = places.get(site as usize).map(CodePlace::of_region) else { continue };
        let line = place.own_label();
        if place.function_label() == name || line == name || line.ends_with(&format!("({name})")) {
            is_meant[site as usize] = true;
        }
        known.insert(line);
    }
    if !is_meant.contains(&true) {
        let regions = some_of(known.iter().map(String::as_str));
        return Err(SelectionError::NoParallelRegion { name: name.to_owned(), regions });
    }
    Ok(AskedRegion { name: name.to_owned(), is_meant })
}

/// Returns the fraction of its time that a function saves if it runs on all cores of a rank, in place of one.
pub fn saved_by_all_cores(rank: &RankModel) -> f64 {
    1.0 - 1.0 / f64::from(RankCores::new(&rank.parallel, 0.0, rank.end_s - rank.begin_s).cores.max(1))
}

/// Returns the state of computation with a name, in which the ranks save a fraction of their time, as if it were a function. Returns `None` if
/// no state has the name, or no rank is in it.
pub fn shorter_state(model: &Model, name: &str, saved: f64) -> Option<AskedFunction> {
    let state = CoreState::ALL.into_iter().find(|state| state.name() == name)?;
    let mut saved_shares = vec![Vec::new(); model.regions.len()];
    for (place, rank) in model.ranks.iter().enumerate() {
        let Some(core_times) = RankCoreTimes::new(rank) else { continue };
        for (region, shares) in (0..).zip(&mut saved_shares) {
            let (all_s, of_state_s) =
                (rank.exclusive(region)[Activity::Computation as usize], core_times.in_region(Some(region)).get(state));
            if all_s > 0.0 && of_state_s > 0.0 {
                shares.resize(model.ranks.len(), 0.0);
                shares[place] = of_state_s / all_s * saved;
            }
        }
    }
    let is_any_in_it = saved_shares.iter().any(|shares| !shares.is_empty());
    is_any_in_it.then(|| AskedFunction { name: name.to_owned(), saved_shares })
}

/// Returns the function with a name, including the functions that it calls, from samples of ranks' first threads outside of parallel regions.
/// `saved` is the fraction of its time that each rank saves.
///
/// Errors: no such sample hit it.
pub fn function_named(
    model: &Model,
    code: &SampledCode,
    name: &str,
    saved: impl Fn(&RankModel) -> f64,
) -> Result<AskedFunction, SelectionError> {
    let mut saved_shares = vec![Vec::new(); model.regions.len()];
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    for (place, rank) in model.ranks.iter().enumerate() {
        for (region, serial) in serial_seconds(rank, code, name, &mut seconds) {
            let Some(shares) = saved_shares.get_mut(region as usize).filter(|_| serial.of_function_s > 0.0) else {
                continue;
            };
            shares.resize(model.ranks.len(), 0.0);
            shares[place] = serial.of_function_s / serial.all_s * saved(rank);
        }
    }
    if saved_shares.iter().all(Vec::is_empty) {
        let mut longest: Vec<(&str, f64)> = seconds.into_iter().collect();
        longest.sort_by(|a, b| b.1.total_cmp(&a.1));
        let functions = some_of(longest.iter().map(|(name, _)| *name));
        return Err(SelectionError::NoSerialFunction { name: name.to_owned(), functions });
    }
    Ok(AskedFunction { name: name.to_owned(), saved_shares })
}

/// CPU time of a rank's first thread outside of parallel regions.
#[derive(Clone, Copy, Default)]
struct SerialTimes {
    all_s: f64,
    of_function_s: f64,
}

/// Returns these times by region, and adds the times of functions to `seconds`.
fn serial_seconds<'a>(
    rank: &RankModel,
    code: &'a SampledCode,
    name: &str,
    seconds: &mut BTreeMap<&'a str, f64>,
) -> BTreeMap<RegionIdx, SerialTimes> {
    let mut by_region: BTreeMap<RegionIdx, SerialTimes> = BTreeMap::new();
    for time in serial_times(rank, code) {
        let sums = by_region.entry(time.region).or_default();
        sums.all_s += time.seconds;
        if time.names.contains(&name) {
            sums.of_function_s += time.seconds;
        }
        if !time.function.is_empty() {
            *seconds.entry(time.function).or_default() += time.seconds;
        }
    }
    by_region
}
