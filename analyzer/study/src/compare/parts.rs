//! The parts of a change as rows: how much each adds to it, and on which ranks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::names::reasons::{ComponentCost, Parts, TimeComponent};
use super::names::regions::RegionList;
use super::{ChangeJudge, ComparisonSide, ComparisonSides, FigureChange};
use lbprof_thresholds::study::MIN_PART_OF_SECOND_RANK;

/// A part of the change of the elapsed time.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
#[schemars(rename = "ReasonRow")]
pub struct TimeContribution {
    /// `computation` (or another activity by place), `calls besides waiting`, `waiting for ranks in calls`, `messages in transit`, `recorder`,
    /// `idle` or `not recorded`.
    #[serde(serialize_with = "component_name")]
    #[schemars(with = "String")]
    pub what: TimeComponent,
    /// Path of the region in the new runs, or in the base runs if only these have it; of several regions that are the same code, the path of the function;
    /// null if no region is concerned.
    pub region: Option<String>,
    /// Own time and waiting that it causes, means over ranks. Over all parts it adds up to the elapsed time.
    #[serde(flatten)]
    pub total: FigureChange,
    /// The part as a share of `elapsed.change_s`; negative if it offsets other parts.
    pub share: Option<f64>,
    /// Of `change_s`, its own time.
    pub own_change_s: f64,
    /// Of `change_s`, the waiting that it causes; 0 by place.
    pub caused_change_s: f64,
    /// The ranks on which it changed.
    #[serde(flatten)]
    pub whose: AffectedRanks,
}

/// The ranks on which something changed; none if the change is no rank's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct AffectedRanks {
    /// True if all ranks contribute about equally.
    pub all_ranks: bool,
    /// The ranks that contribute most, largest first; empty if all contribute, if the numbers of ranks differ, or if no rank is concerned.
    pub ranks: Vec<RankChange>,
    /// If the numbers of ranks differ: the rank that spends most time there in the new runs.
    pub longest: Option<LongestRankChange>,
}

/// A rank's part in a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RankChange {
    /// The rank.
    pub rank: u32,
    /// By how much its own time there changed.
    pub own_change_s: f64,
}

/// The rank that spends most time in a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct LongestRankChange {
    /// Its number.
    pub rank: u32,
    /// By how much it exceeds the mean of all ranks.
    pub over_mean_s: f64,
    /// Excess of the longest rank of the base runs.
    pub base_over_mean_s: f64,
}

fn component_name<S: Serializer>(what: &TimeComponent, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(what.name())
}

/// The parts of the change, the largest first. `of_runs` has the parts of each run, the base runs first.
pub(super) fn contribution_rows(
    of_runs: &[Parts],
    sides: &ComparisonSides,
    regions: &RegionList,
    judge: &ChangeJudge,
    elapsed: &FigureChange,
) -> Vec<TimeContribution> {
    let (base, new) = of_runs.split_at(sides.base.runs.len().min(of_runs.len()));
    let all: BTreeSet<TimeComponent> = of_runs.iter().flat_map(|parts| parts.keys().copied()).collect();
    let mut rows: Vec<TimeContribution> =
        all.into_iter().map(|what| time_contribution(what, base, new, sides, regions)).collect();
    for row in rows.iter_mut().filter(|_| elapsed.change_s != 0.0) {
        row.share = Some(row.total.change_s / elapsed.change_s);
    }
    judge.judge(&mut rows.iter_mut().map(|part| &mut part.total).collect::<Vec<_>>());
    rows.sort_by(|a, b| {
        let [a_s, b_s] = [a, b].map(|part| part.total.change_s.abs());
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
    let whose = affected_ranks(what, base, new, sides, total.change_s);
    TimeContribution {
        what,
        region: what.region().and_then(|idx| regions.paths.get(idx).cloned()),
        share: None,
        own_change_s: cost_change(what, base, new, |cost| cost.own_s).change_s,
        caused_change_s: cost_change(what, base, new, |cost| cost.caused_s).change_s,
        total,
        whose,
    }
}

/// A figure of a component in all runs; 0 in those that do not have the component.
fn cost_change(what: TimeComponent, base: &[Parts], new: &[Parts], of: fn(&ComponentCost) -> f64) -> FigureChange {
    let [base, new] = [base, new].map(|runs| runs.iter().map(|parts| parts.get(&what).map_or(0.0, of)).collect());
    FigureChange::new(base, new)
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
        return AffectedRanks::default();
    }
    let [base_numbers, numbers] = [&sides.base, &sides.new].map(|side| {
        let ranks = side.runs.first().into_iter().flat_map(|named| &named.run.ranks);
        ranks.map(|rank| rank.rank).collect::<Vec<u32>>()
    });
    if base_numbers != numbers {
        return AffectedRanks { longest: longest_rank(&own, sides), ..AffectedRanks::default() };
    }
    let mut changed: Vec<(u32, f64)> =
        numbers.iter().map(|&rank| (rank, rank_change(&parts, rank) * difference.signum())).collect();
    changed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = changed.first().map_or(0.0, |one| one.1);
    changed.retain(|&(_, seconds)| seconds > 0.0 && seconds >= MIN_PART_OF_SECOND_RANK * largest);
    if changed.len() == numbers.len() && numbers.len() > 1 {
        return AffectedRanks { all_ranks: true, ..AffectedRanks::default() };
    }
    let ranks = changed.into_iter().map(|(rank, _)| RankChange { rank, own_change_s: rank_change(&own, rank) });
    AffectedRanks { ranks: ranks.collect(), ..AffectedRanks::default() }
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
fn longest_rank([base, new]: &[BTreeMap<u32, f64>; 2], sides: &ComparisonSides) -> Option<LongestRankChange> {
    let (rank, over_mean_s) = longest_over_mean(new, &sides.new)?;
    let base_over_mean_s = longest_over_mean(base, &sides.base).map_or(0.0, |(_, seconds)| seconds);
    Some(LongestRankChange { rank, over_mean_s, base_over_mean_s })
}

/// The rank with most of the seconds in `own`, and by how much that is more than the mean over the ranks of `side`.
fn longest_over_mean(own: &BTreeMap<u32, f64>, side: &ComparisonSide) -> Option<(u32, f64)> {
    let n = side.runs.first().map_or(1, |named| named.run.ranks.len().max(1)) as f64;
    let (rank, longest_s) = own.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    Some((*rank, longest_s - own.values().sum::<f64>() / n))
}
