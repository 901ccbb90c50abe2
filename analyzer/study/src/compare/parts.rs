//! The parts of a change as rows: how much each adds to it, and on which ranks.

use std::collections::{BTreeMap, BTreeSet};

use super::reasons::{ComponentCost, Parts, TimeComponent};
use super::regions::RegionList;
use super::{ChangeJudge, ComparisonSide, ComparisonSides, FigureChange};
use lbprof_thresholds::study::MIN_PART_OF_SECOND_RANK;

/// A part of the change of the elapsed time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeContribution {
    /// The component.
    pub what: TimeComponent,
    /// Path of the region in the new runs, or in the base's where they have none.
    pub region: Option<String>,
    /// Own and caused time together: means over ranks, in seconds. Over all parts they add up to the elapsed time.
    pub total: FigureChange,
    /// Change of its own time, the mean over ranks.
    pub own_s: f64,
    /// Change of the waiting that it causes, divided by the number of ranks.
    pub caused_s: f64,
    /// On which ranks.
    pub whose: AffectedRanks,
}

/// On which ranks something changed.
#[derive(Clone, Debug, PartialEq)]
pub enum AffectedRanks {
    /// The ranks that account for most of the change, and the change of each one's own time; the largest comes first.
    Ranks(Vec<(u32, f64)>),
    /// On all alike; by how much own time changed in the mean.
    All(f64),
    /// The numbers of ranks differ: the rank that spends most time in it in the new runs, by how much more than the mean, and the same of
    /// the base.
    Longest {
        /// Its number.
        rank: u32,
        /// In the new runs.
        over_mean_s: f64,
        /// In the base runs.
        base_over_mean_s: f64,
    },
    /// The change is no rank's.
    Nobody,
}

/// The parts of the change, the largest first. `of_runs` has the parts of each run, the base runs first.
pub(super) fn contribution_rows(
    of_runs: &[Parts],
    sides: &ComparisonSides,
    regions: &RegionList,
    judge: &ChangeJudge,
) -> Vec<TimeContribution> {
    let (base, new) = of_runs.split_at(sides.base.runs.len().min(of_runs.len()));
    let all: BTreeSet<TimeComponent> = of_runs.iter().flat_map(|parts| parts.keys().copied()).collect();
    let mut rows: Vec<TimeContribution> =
        all.into_iter().map(|what| time_contribution(what, base, new, sides, regions)).collect();
    judge.judge(&mut rows.iter_mut().map(|part| &mut part.total).collect::<Vec<_>>());
    rows.sort_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|part| part.total.difference().abs());
        b_s.total_cmp(&a_s).then(a.what.cmp(&b.what))
    });
    rows
}

fn time_contribution(
    what: TimeComponent,
    base: &[Parts],
    new: &[Parts],
    sides: &ComparisonSides,
    regions: &RegionList,
) -> TimeContribution {
    let total = cost_change(what, base, new, ComponentCost::total_s);
    let whose = affected_ranks(what, base, new, sides, total.difference());
    TimeContribution {
        what,
        region: what.region().and_then(|idx| regions.paths.get(idx).cloned()),
        own_s: cost_change(what, base, new, |cost| cost.own_s).difference(),
        caused_s: cost_change(what, base, new, |cost| cost.caused_s).difference(),
        total,
        whose,
    }
}

/// A figure of a component in all runs; 0 in those that do not have the component.
fn cost_change(what: TimeComponent, base: &[Parts], new: &[Parts], of: fn(&ComponentCost) -> f64) -> FigureChange {
    let [base, new] = [base, new].map(|runs| runs.iter().map(|parts| parts.get(&what).map_or(0.0, of)).collect());
    FigureChange { base, new, beyond_noise: false }
}

fn affected_ranks(
    what: TimeComponent,
    base: &[Parts],
    new: &[Parts],
    sides: &ComparisonSides,
    difference: f64,
) -> AffectedRanks {
    let own = [base, new].map(|runs| means_by_rank(runs, what, |cost| &cost.own_by_rank));
    let parts = [base, new].map(|runs| means_by_rank(runs, what, |cost| &cost.by_rank));
    if parts.iter().all(BTreeMap::is_empty) {
        return AffectedRanks::Nobody;
    }
    let [base_numbers, numbers] = [&sides.base, &sides.new].map(|side| {
        let ranks = side.runs.first().into_iter().flat_map(|named| &named.run.ranks);
        ranks.map(|rank| rank.rank).collect::<Vec<u32>>()
    });
    if base_numbers != numbers {
        return longest_rank(&own, sides);
    }
    let mut changed: Vec<(u32, f64)> =
        numbers.iter().map(|&rank| (rank, rank_change(&parts, rank) * difference.signum())).collect();
    changed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = changed.first().map_or(0.0, |one| one.1);
    changed.retain(|&(_, seconds)| seconds > 0.0 && seconds >= MIN_PART_OF_SECOND_RANK * largest);
    if changed.len() == numbers.len() && numbers.len() > 1 {
        let own_s: f64 = numbers.iter().map(|&rank| rank_change(&own, rank)).sum();
        return AffectedRanks::All(own_s / numbers.len() as f64);
    }
    AffectedRanks::Ranks(changed.into_iter().map(|(rank, _)| (rank, rank_change(&own, rank))).collect())
}

fn means_by_rank(
    runs: &[Parts],
    what: TimeComponent,
    by_rank: fn(&ComponentCost) -> &BTreeMap<u32, f64>,
) -> BTreeMap<u32, f64> {
    let mut means: BTreeMap<u32, f64> = BTreeMap::new();
    for (&rank, &seconds) in runs.iter().filter_map(|parts| parts.get(&what)).flat_map(by_rank) {
        *means.entry(rank).or_default() += seconds / runs.len().max(1) as f64;
    }
    means
}

/// By how much the seconds of `rank` grew from the base to the new runs.
fn rank_change([base, new]: &[BTreeMap<u32, f64>; 2], rank: u32) -> f64 {
    new.get(&rank).copied().unwrap_or(0.0) - base.get(&rank).copied().unwrap_or(0.0)
}

/// The rank that spends most time in something, where ranks cannot be compared by their numbers.
fn longest_rank([base, new]: &[BTreeMap<u32, f64>; 2], sides: &ComparisonSides) -> AffectedRanks {
    let Some((rank, over_mean_s)) = longest_over_mean(new, &sides.new) else { return AffectedRanks::Nobody };
    let base_over_mean_s = longest_over_mean(base, &sides.base).map_or(0.0, |(_, seconds)| seconds);
    AffectedRanks::Longest { rank, over_mean_s, base_over_mean_s }
}

/// The rank with most of the seconds in `own`, and by how much that is more than the mean over the ranks of `side`.
fn longest_over_mean(own: &BTreeMap<u32, f64>, side: &ComparisonSide) -> Option<(u32, f64)> {
    let n = side.runs.first().map_or(1, |named| named.run.ranks.len().max(1)) as f64;
    let (rank, longest_s) = own.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    Some((*rank, longest_s - own.values().sum::<f64>() / n))
}
