//! What changed between two runs, or between several of one kind and several of another: how the change of the elapsed time splits
//! without a rest, by reason and by place, what is beyond noise, and conditions for CI.
//!
//! Made of [`Run`]s alone; `text`, `json`, `markdown` and `junit` only format a [`Comparison`].

pub mod condition;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod noise;
pub mod reasons;
pub mod regions;
mod remarks;
pub mod text;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::load_balance::Times;
use crate::study::Run;
use noise::{Limits, mean};
use reasons::{Parts, What};
use regions::Regions;

/// A run, and what the user calls it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// Its folder, or its place in a study.
    pub name: String,
    /// Its figures.
    pub run: Run,
}

/// One or several runs of the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// The runs; at least one, or all figures are 0.
    pub runs: Vec<Named>,
}

impl Side {
    /// `of` each run.
    pub fn values(&self, of: impl Fn(&Run) -> f64) -> Vec<f64> {
        self.runs.iter().map(|named| of(&named.run)).collect()
    }

    /// The median over runs of what all of them have.
    pub fn median(&self, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let values: Option<Vec<f64>> = self.runs.iter().map(|named| of(&named.run)).collect();
        noise::median(&values?)
    }
}

/// What is compared with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// The runs to compare with.
    pub base: Side,
    /// Those of which the question is how they differ.
    pub new: Side,
}

/// A figure on both sides: one value a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Of each base run.
    pub base: Vec<f64>,
    /// Of each new run.
    pub new: Vec<f64>,
    /// Whether the difference is beyond noise.
    pub beyond_noise: bool,
}

impl Change {
    /// Mean over the base runs.
    pub fn base_mean(&self) -> f64 {
        mean(&self.base)
    }

    /// Mean over the new runs.
    pub fn new_mean(&self) -> f64 {
        mean(&self.new)
    }

    /// By how much the mean grew.
    pub fn difference(&self) -> f64 {
        self.new_mean() - self.base_mean()
    }

    /// The difference as a share of the base; `None` where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.base_mean() > 0.0).then(|| self.difference() / self.base_mean())
    }
}

/// A part of the change of the elapsed time.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub what: What,
    /// Path of the region in the new runs, or in the base's where they have none.
    pub region: Option<String>,
    /// Own and caused time together: means over ranks, in seconds. Over all parts they add up to the elapsed time.
    pub total: Change,
    /// Change of its own time, the mean over ranks.
    pub own_s: f64,
    /// Change of the waiting that it causes, divided by the number of ranks.
    pub caused_s: f64,
    /// On which ranks.
    pub whose: Whose,
}

/// On which ranks something changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Whose {
    /// Those by which most of the change is, and by how much own time of each changed; the one by which most is first.
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
    /// It is no rank's.
    Nobody,
}

/// A ratio of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Its name as in the report.
    pub name: &'static str,
    /// Median of the base runs, where all have it.
    pub base: Option<f64>,
    /// Median of the new ones.
    pub new: Option<f64>,
}

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub sides: Sides,
    /// What is taken for noise.
    pub limits: Limits,
    /// Elapsed time.
    pub elapsed: Change,
    /// Parts of its change by reason, the largest first; by place where the causes of waiting are not known on both sides.
    pub reasons: Vec<Part>,
    /// Whether `reasons` are by cause.
    pub by_cause: bool,
    /// Parts of its change by place, the largest first.
    pub places: Vec<Part>,
    /// Efficiencies.
    pub ratios: Vec<Ratio>,
    /// What else differs.
    pub remarks: Vec<String>,
}

impl Comparison {
    /// Compares `sides`.
    pub fn new(sides: Sides, limits: Limits) -> Comparison {
        let runs: Vec<&Run> = sides.base.runs.iter().chain(&sides.new.runs).map(|named| &named.run).collect();
        let regions = Regions::new(runs.iter().copied());
        let each = |of: &dyn Fn(&Run, usize) -> Option<Parts>| -> Option<Vec<Parts>> {
            runs.iter().enumerate().map(|(at, run)| of(run, at)).collect()
        };
        let places = each(&|run, at| Some(reasons::by_place(run, at, &regions))).unwrap_or_default();
        let by_reason = each(&|run, at| reasons::by_reason(run, at, &regions));
        let mut judge = Judge::new(&sides, limits);
        let mut elapsed = Change {
            base: sides.base.values(|run| run.times.elapsed_s),
            new: sides.new.values(|run| run.times.elapsed_s),
            beyond_noise: false,
        };
        judge.judge(&mut [&mut elapsed]);
        let by_cause = by_reason.is_some();
        let reasons = parts(by_reason.as_ref().unwrap_or(&places), &sides, &regions, &mut judge);
        let places = parts(&places, &sides, &regions, &mut judge);
        let mut remarks = remarks::remarks(&sides);
        remarks.extend(only_on_one_side(&regions, &sides));
        remarks.extend((!by_cause).then(|| remarks::NOT_FOLLOWED.to_owned()));
        let ratios = ratios(&sides);
        Comparison { sides, limits, elapsed, reasons, by_cause, places, ratios, remarks }
    }

    /// Whether neither the elapsed time nor a reason differs beyond noise.
    pub fn is_noise(&self) -> bool {
        !self.elapsed.beyond_noise && !self.reasons.iter().any(|part| part.total.beyond_noise)
    }

    /// Whether several runs tell their noise.
    pub fn noise_is_known(&self) -> bool {
        noise::is_known(self.sides.base.runs.len(), self.sides.new.runs.len())
    }

    /// Whether data of no run are missing.
    pub fn complete(&self) -> bool {
        self.sides.base.runs.iter().chain(&self.sides.new.runs).all(|named| named.run.complete)
    }
}

/// Judges changes by the noise of the sides.
struct Judge {
    known: bool,
    /// Seconds from which on a change counts at all.
    least_s: f64,
}

impl Judge {
    fn new(sides: &Sides, limits: Limits) -> Judge {
        let known = noise::is_known(sides.base.runs.len(), sides.new.runs.len());
        let elapsed_s = mean(&sides.base.values(|run| run.times.elapsed_s));
        Judge { known, least_s: if known { limits.relevant_s(elapsed_s) } else { limits.assumed_s(elapsed_s) } }
    }

    /// Judges changes that are told together.
    fn judge(&mut self, changes: &mut [&mut Change]) {
        let probabilities: Vec<f64> =
            changes.iter().map(|change| noise::probability(&change.base, &change.new).unwrap_or(0.0)).collect();
        let certain = noise::rejected(&probabilities);
        for (change, certain) in changes.iter_mut().zip(certain) {
            change.beyond_noise = change.difference().abs() >= self.least_s && (certain || !self.known);
        }
    }
}

/// The parts of the change, the largest first. `of_runs`: those of each run, first the base's.
fn parts(of_runs: &[Parts], sides: &Sides, regions: &Regions, judge: &mut Judge) -> Vec<Part> {
    let (base, new) = of_runs.split_at(sides.base.runs.len().min(of_runs.len()));
    let all: BTreeSet<What> = of_runs.iter().flat_map(|parts| parts.keys().copied()).collect();
    let mut rows: Vec<(f64, Part)> = all.into_iter().map(|what| part(what, base, new, sides, regions)).collect();
    judge.judge(&mut rows.iter_mut().map(|(_, part)| &mut part.total).collect::<Vec<_>>());
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.what.cmp(&b.1.what)));
    rows.into_iter().map(|(_, part)| part).collect()
}

/// A part, and its weight.
fn part(what: What, base: &[Parts], new: &[Parts], sides: &Sides, regions: &Regions) -> (f64, Part) {
    let values = |runs: &[Parts], of: fn(&reasons::Cost) -> f64| -> Vec<f64> {
        runs.iter().map(|parts| parts.get(&what).map_or(0.0, of)).collect()
    };
    let difference = |of: fn(&reasons::Cost) -> f64| mean(&values(new, of)) - mean(&values(base, of));
    let total = Change {
        base: values(base, reasons::Cost::total_s),
        new: values(new, reasons::Cost::total_s),
        beyond_noise: false,
    };
    let whose = whose(what, base, new, sides, total.difference());
    let part = Part {
        what,
        region: what.region().and_then(|idx| regions.paths.get(idx).cloned()),
        own_s: difference(|cost| cost.own_s),
        caused_s: difference(|cost| cost.caused_s),
        total,
        whose,
    };
    (part.total.difference().abs(), part)
}

/// Share of the largest rank's part from which on a rank is named beside it.
const BESIDE: f64 = 0.5;

fn whose(what: What, base: &[Parts], new: &[Parts], sides: &Sides, difference: f64) -> Whose {
    let of = |runs: &[Parts], by: fn(&reasons::Cost) -> &BTreeMap<u32, f64>| -> BTreeMap<u32, f64> {
        let mut means: BTreeMap<u32, f64> = BTreeMap::new();
        for (&rank, &seconds) in runs.iter().filter_map(|parts| parts.get(&what)).flat_map(by) {
            *means.entry(rank).or_default() += seconds / runs.len().max(1) as f64;
        }
        means
    };
    let own = [of(base, |cost| &cost.own_by_rank), of(new, |cost| &cost.own_by_rank)];
    let parts = [of(base, |cost| &cost.by_rank), of(new, |cost| &cost.by_rank)];
    if parts.iter().all(BTreeMap::is_empty) {
        return Whose::Nobody;
    }
    let ranks = |side: &Side| side.runs.first().map(|named| rank_numbers(&named.run));
    if ranks(&sides.base) != ranks(&sides.new) {
        return longest(&own, sides);
    }
    let change = |[base, new]: &[BTreeMap<u32, f64>; 2], rank: u32| {
        new.get(&rank).copied().unwrap_or(0.0) - base.get(&rank).copied().unwrap_or(0.0)
    };
    let numbers = ranks(&sides.new).unwrap_or_default();
    let mut changed: Vec<(u32, f64)> =
        numbers.iter().map(|&rank| (rank, change(&parts, rank) * difference.signum())).collect();
    changed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = changed.first().map_or(0.0, |one| one.1);
    changed.retain(|&(_, seconds)| seconds > 0.0 && seconds >= BESIDE * largest);
    if changed.len() == numbers.len() && numbers.len() > 1 {
        let own_s: f64 = numbers.iter().map(|&rank| change(&own, rank)).sum();
        return Whose::All(own_s / numbers.len() as f64);
    }
    Whose::Ranks(changed.into_iter().map(|(rank, _)| (rank, change(&own, rank))).collect())
}

fn rank_numbers(run: &Run) -> Vec<u32> {
    run.ranks.iter().map(|rank| rank.rank).collect()
}

/// The rank that spends most time in something, where ranks cannot be compared by their numbers.
fn longest([base, new]: &[BTreeMap<u32, f64>; 2], sides: &Sides) -> Whose {
    let over_mean = |own: &BTreeMap<u32, f64>, side: &Side| {
        let n = side.runs.first().map_or(1, |named| named.run.ranks.len().max(1)) as f64;
        let longest = own.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
        Some((*longest.0, longest.1 - own.values().sum::<f64>() / n))
    };
    match over_mean(new, &sides.new) {
        Some((rank, over_mean_s)) => {
            let base_over_mean_s = over_mean(base, &sides.base).map_or(0.0, |(_, seconds)| seconds);
            Whose::Longest { rank, over_mean_s, base_over_mean_s }
        }
        None => Whose::Nobody,
    }
}

/// Names of the ratios, and how they follow from a run's times.
const RATIOS: [(&str, fn(&Times) -> Option<f64>); 5] = [
    ("parallel efficiency", Times::parallel),
    ("load balance", Times::load_balance),
    ("communication", Times::communication),
    ("micro load balance", Times::micro_load_balance),
    ("transfer", Times::transfer),
];

fn ratios(sides: &Sides) -> Vec<Ratio> {
    let of = |side: &Side, of: fn(&Times) -> Option<f64>| side.median(|run| of(&run.times));
    RATIOS
        .into_iter()
        .map(|(name, times)| Ratio { name, base: of(&sides.base, times), new: of(&sides.new, times) })
        .collect()
}

/// Marked and found regions that none of the other side's runs has.
fn only_on_one_side(regions: &Regions, sides: &Sides) -> Vec<String> {
    let n = sides.base.runs.len();
    let (base, new) = (0..n, n..n + sides.new.runs.len());
    let only = |here: std::ops::Range<usize>, there: std::ops::Range<usize>| -> Vec<&str> {
        let is_only = |idx: &usize| {
            here.clone().any(|run| regions.has(run, *idx)) && !there.clone().any(|run| regions.has(run, *idx))
        };
        let paths = (0..regions.paths.len()).filter(is_only);
        paths.filter_map(|idx| regions.paths.get(idx)).map(String::as_str).collect()
    };
    let (in_base, in_new) = (only(base.clone(), new.clone()), only(new, base));
    [remarks::unmatched("base", &in_base), remarks::unmatched("new", &in_new)].into_iter().flatten().collect()
}
