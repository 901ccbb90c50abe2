//! The scenarios that a user can request, and the conditions of their replays.

use std::sync::Arc;

use crate::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::Activity;
use lbprof_thresholds::replay::{MIN_CALLS_OF_STAR_CENTER, MIN_GAIN_OF_SCENARIO};

use super::alignment;
use super::balance::{
    SharedWork, balanced_each, balanced_regions, balanced_s, computation_s, excess_each, exclusive_s, rank_as_mean,
};
use super::branches::BranchGroups;
use super::conditions::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use super::mean::{factors_to_mean, mean_of_who_computes, mean_time};
use super::threads::ThreadChange;
use crate::model::ranks::threads::ParallelRegion;
use crate::model::{Model, OwnLoops, RankModel, RegionIdx};

/// Maximum number of regions, and of ranks, in default scenarios.
const MOST: usize = 4;

/// Returns the conditions of the replays of some scenarios.
pub fn replay_conditions<'a>(
    scenarios: &[WhatIfScenario],
    model: &'a Model,
) -> Vec<(WhatIfScenario, ScenarioConditions<'a>)> {
    scenarios.iter().map(|&scenario| (scenario, scenario_condition(scenario, model))).collect()
}

fn scenario_condition(scenario: WhatIfScenario, model: &Model) -> ScenarioConditions<'_> {
    match scenario {
        WhatIfScenario::Ideal => ScenarioConditions::IDEAL,
        WhatIfScenario::Measured => ScenarioConditions::MEASURED,
        WhatIfScenario::Network(latency_s, bytes_per_s) => ScenarioConditions {
            network: ScenarioNetwork::Given { latency_s, bytes_per_s },
            ..ScenarioConditions::MEASURED
        },
        WhatIfScenario::Balanced(region) => {
            let place = BranchGroups::from_model(model).branches_at(region);
            let times = computation_s(model, &place);
            let factors = factors_to_mean(&times, balanced_s(model, region, &times));
            with_work(ScenarioWork::Region { regions: with_inner(model, &place), factors })
        }
        WhatIfScenario::BalancedEach(region) => with_work(ScenarioWork::Times(balanced_each(model, &[region], false))),
        WhatIfScenario::RunBalancedEach => {
            with_work(ScenarioWork::Times(balanced_each(model, &model.outermost_iterated, true)))
        }
        WhatIfScenario::RegionsBalanced => {
            with_work(ScenarioWork::Regions(balanced_regions(model, &BranchGroups::from_model(model))))
        }
        WhatIfScenario::RankAsMean(rank) => {
            with_work(ScenarioWork::Rank(rank, rank_as_mean(model, &BranchGroups::from_model(model), rank)))
        }
        WhatIfScenario::RankFaster(rank, times) => {
            with_work(ScenarioWork::Rank(rank, vec![1.0 / times; model.regions.len()]))
        }
        WhatIfScenario::ThreadsBalanced(asked) => {
            let meant = asked.and_then(|asked| model.asked_threads.regions.get(asked as usize));
            with_work(ScenarioWork::Threads(ThreadChange::Balanced(
                meant.map(|region| Arc::from(region.is_meant.as_slice())),
            )))
        }
        WhatIfScenario::Spread(asked) | WhatIfScenario::FunctionFaster(asked, _) => {
            let function = model.asked_threads.functions.get(asked as usize);
            let shares = function.map(|function| function.saved_shares.clone()).unwrap_or_default();
            with_work(ScenarioWork::Threads(ThreadChange::Spread(shares)))
        }
        WhatIfScenario::Faster(region, times) => {
            let factors = vec![1.0 / times; model.ranks.len()];
            with_work(ScenarioWork::Region { regions: with_inner(model, &[region]), factors })
        }
    }
}

fn with_work(work: ScenarioWork<'_>) -> ScenarioConditions<'_> {
    ScenarioConditions { work, ..ScenarioConditions::MEASURED }
}

/// Returns whether each iteration of some regions can be balanced, and the ranks' excess in them is more than `least` seconds.
fn can_balance_each(model: &Model, regions: &[RegionIdx], least: f64) -> bool {
    let over_s: f64 = regions.iter().map(|&region| excess_each(model, region)).sum();
    !regions.is_empty()
        && over_s > least
        && regions.iter().all(|&region| model.ranks.iter().all(|rank| rank.series(region).is_some()))
        && alignment::is_known(model, regions)
}

/// Lists the default scenarios, then the user's: the ideal and the measured run first; then the regions, and the ranks, whose longest
/// computation is farthest above the mean. Work cannot be moved between ranks that have loops of their own, so that such a run has no scenarios
/// for all ranks, but one for each loop among its ranks.
pub fn plan_scenarios(model: &Model, asked: &[WhatIfScenario]) -> Vec<WhatIfScenario> {
    let mut scenarios = vec![WhatIfScenario::Ideal, WhatIfScenario::Measured];
    let least = MIN_GAIN_OF_SCENARIO * model.recorded_s();
    let together = OwnLoops::from_model(model).is_empty();
    let places = BranchGroups::from_model(model);
    let work = SharedWork::new(model, &places);
    let mut regions: Vec<(f64, RegionIdx)> = (RegionIdx::from(!together)..model.regions.len() as RegionIdx)
        .map(|region| (region, places.branches_at(region)))
        .filter(|(region, place)| place.first() == Some(region))
        .map(|(region, place)| (region, computation_s(model, &place)))
        // If a function holds only the edges of a loop, the computation there is part of the loop's.
        .filter(|(region, _)| !is_function(model, *region) || !places.divides_place(model, *region))
        .filter(|(region, times)| !together || is_marked(model, *region) || work.is_shared(times))
        .map(|(region, times)| (excess_over_balanced(model, region, &times), region))
        .filter(|&(excess, _)| excess > least)
        .collect();
    regions.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    // Balancing a region that is all there is to balance in the one around it is the same scenario.
    let mut kept: Vec<(f64, RegionIdx)> = Vec::new();
    for (excess, region) in regions {
        let is_kept = kept
            .iter()
            .any(|&(known, other)| (known - excess).abs() < 0.02 * known && model.chain(other).contains(&region));
        if !is_kept && kept.len() < MOST {
            kept.push((excess, region));
        }
    }
    scenarios.extend(kept.into_iter().map(|(_, region)| WhatIfScenario::Balanced(region)));
    if together && has_several_excesses(model, &places, &work, least) {
        scenarios.push(WhatIfScenario::RegionsBalanced);
    }
    if together && can_balance_each(model, &model.outermost_iterated, least) {
        scenarios.push(WhatIfScenario::RunBalancedEach);
    }
    let main = model.main_loop().filter(|&region| can_balance_each(model, &[region], least));
    scenarios.extend(main.map(WhatIfScenario::BalancedEach));
    let times = model.inclusive_s(0, Activity::Computation);
    let mean = mean_time(&times);
    let mut ranks: Vec<(f64, u32)> = times.iter().map(|time| time - mean).zip(0..).collect();
    ranks.retain(|&(over, _)| together && over > least);
    ranks.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scenarios.extend(ranks.into_iter().take(MOST).map(|(_, rank)| WhatIfScenario::RankAsMean(rank)));
    if let Some(rank) = star_center(model) {
        scenarios.extend([2.0, f64::INFINITY].map(|times| WhatIfScenario::RankFaster(rank, times)));
    }
    if threads_excess_s(model) > least {
        scenarios.push(WhatIfScenario::ThreadsBalanced(None));
    }
    scenarios.extend(asked.iter().filter(|scenario| !scenarios.contains(scenario)).copied().collect::<Vec<_>>());
    scenarios
}

/// Returns the index of the rank that exchanges messages with all others, which exchange next to none among each other: it makes about as many
/// point-to-point calls as they do together.
fn star_center(model: &Model) -> Option<u32> {
    let calls: Vec<u64> = model.ranks.iter().map(messages_of).collect();
    let all: u64 = calls.iter().sum();
    let (center, &most) = (0..).zip(&calls).max_by_key(|&(_, calls)| calls)?;
    let others = (all - most) as f64;
    let is_busy = model.ranks.len() > 2 && others > 0.0 && most as f64 >= MIN_CALLS_OF_STAR_CENTER * others;
    is_busy.then_some(center)
}

/// Returns the number of messages that a rank sends and receives, by its calls.
fn messages_of(rank: &RankModel) -> u64 {
    let calls = rank
        .sites
        .iter()
        .filter(|(at, totals)| at.activity == Activity::PointToPoint && (totals.sent > 0 || totals.received > 0));
    calls.map(|(_, totals)| totals.calls).sum()
}

/// Lists the default scenarios of a region, then the user's: the measured run first; the region and its inner regions balanced, and the region
/// twice as fast. All refer to the whole run.
pub fn plan_within(model: &Model, region: RegionIdx, asked: &[WhatIfScenario]) -> Vec<WhatIfScenario> {
    const TWICE: f64 = 2.0;
    let mut scenarios =
        vec![WhatIfScenario::Measured, WhatIfScenario::Balanced(region), WhatIfScenario::Faster(region, TWICE)];
    let inner = plan_scenarios(model, &[]).into_iter().filter(|scenario| match *scenario {
        WhatIfScenario::Balanced(one) | WhatIfScenario::BalancedEach(one) => model.chain(one).contains(&region),
        _ => false,
    });
    for scenario in inner.chain(asked.iter().copied()) {
        if !scenarios.contains(&scenario) {
            scenarios.push(scenario);
        }
    }
    scenarios
}

/// Returns the seconds that threads with more work than the mean of their team cost a rank: the maximum over ranks.
fn threads_excess_s(model: &Model) -> f64 {
    let regions = model.ranks.iter().map(|rank| rank.parallel.iter().filter(|region| region.is_of_first));
    regions.map(|of_rank| of_rank.map(longest_thread_excess_s).sum()).fold(0.0, f64::max)
}

/// Returns the seconds by which the threads with most work exceed the mean of their teams in a parallel region.
fn longest_thread_excess_s(region: &ParallelRegion) -> f64 {
    region.longest_s - region.time.useful_s / f64::from(region.team.max(1))
}

fn is_function(model: &Model, region: RegionIdx) -> bool {
    model.regions.get(region as usize).is_some_and(|one| one.is_function)
}

/// Returns whether the program marks a region: then all that ranks compute there is one work.
fn is_marked(model: &Model, region: RegionIdx) -> bool {
    model.regions.get(region as usize).is_some_and(|one| !one.found)
}

/// Returns whether there is more to balance in the regions than in the one with the largest excess, inner regions apart.
fn has_several_excesses(model: &Model, places: &BranchGroups, work: &SharedWork, least: f64) -> bool {
    let regions = (0..model.regions.len() as RegionIdx).map(|region| (region, places.branches_at(region)));
    let times =
        regions.filter(|(region, place)| place.first() == Some(region)).map(|(_, place)| exclusive_s(model, &place));
    let excesses = times
        .filter(|times| work.is_shared(times))
        .map(|times| times.iter().copied().fold(0.0, f64::max) - mean_of_who_computes(&times));
    let (sum, most) = excesses.fold((0.0, 0.0_f64), |(sum, most), one| (sum + one, most.max(one)));
    sum - most > least
}

/// Returns by how much the longest computation in a region exceeds the balanced one.
fn excess_over_balanced(model: &Model, region: RegionIdx, times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max) - balanced_s(model, region, times)
}

/// Returns by index whether a region is one of these or lies in one.
fn with_inner(model: &Model, regions: &[RegionIdx]) -> Vec<bool> {
    (0..model.regions.len() as RegionIdx)
        .map(|inner| regions.iter().any(|region| *region == inner || model.chain(inner).contains(region)))
        .collect()
}
