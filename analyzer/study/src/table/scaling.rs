//! Speedup and efficiency against a base (docs/metrics.md §3; strong scaling: the same work on more ranks, weak: work that grows with them).

use super::figures::{RunFigures, line};
use super::grouping::{RunGroup, comparable};
use super::{FigureLine, FigureUnit, RunColumn, TableCell, TableRequest, TableSection};
use crate::store::StoredRun;

/// The reference of a column's runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingBase {
    /// Numbers of the runs.
    pub runs: Vec<u32>,
    /// P of the base.
    pub n_ranks: u32,
    /// T of the base, in seconds; of repeated runs the median.
    pub elapsed_s: f64,
}

impl ScalingBase {
    fn from_runs(runs: &[&StoredRun], region: Option<&str>) -> Option<ScalingBase> {
        let times = runs.iter().filter_map(|run| RunFigures::from_run(run, &[], region).times);
        Some(ScalingBase {
            runs: runs.iter().map(|run| run.number).collect(),
            n_ranks: runs.first()?.run.n_ranks,
            elapsed_s: TableCell::from_values(times.map(|times| times.elapsed_s))?.value,
        })
    }

    /// S = T_base / T.
    pub fn speedup(&self, elapsed_s: f64) -> Option<f64> {
        (elapsed_s > 0.0).then(|| self.elapsed_s / elapsed_s)
    }

    /// E = S·P_base/P; of work that grows with the ranks E = T_base / T.
    pub fn efficiency(&self, elapsed_s: f64, n_ranks: u32, weak: bool) -> Option<f64> {
        let speedup = self.speedup(elapsed_s)?;
        if weak {
            return Some(speedup);
        }
        (n_ranks > 0).then(|| speedup * f64::from(self.n_ranks) / f64::from(n_ranks))
    }
}

/// The base of each column; `None` where there is nothing to compare it with.
pub fn bases(group: &RunGroup, all: &[StoredRun], wanted: &TableRequest) -> Vec<Option<ScalingBase>> {
    let region = wanted.region.as_deref();
    if let Some(number) = wanted.base {
        let base = all.iter().find(|run| run.number == number);
        let base = base.filter(|run| run.run.program() == group.program);
        let base = base.and_then(|run| ScalingBase::from_runs(&alike(run, &comparable(run, group, all), true), region));
        return vec![base; group.columns.len()];
    }
    if wanted.weak {
        let least = group.columns.iter().min_by_key(|runs| runs.first().map(|run| run.run.n_ranks));
        let base = least.and_then(|runs| ScalingBase::from_runs(runs, region));
        return vec![base.filter(|_| group.columns.len() > 1); group.columns.len()];
    }
    let of_column = |runs: &Vec<&StoredRun>| {
        let run = runs.first()?;
        least_ranks(run, &comparable(run, group, all), region)
    };
    group.columns.iter().map(of_column).collect()
}

/// The runs with the fewest ranks among those with the parameters of `run` whose time is known; `None` where all have as many ranks.
fn least_ranks(run: &StoredRun, all: &[StoredRun], region: Option<&str>) -> Option<ScalingBase> {
    let is_known = |run: &&StoredRun| {
        RunFigures::from_run(run, &[], region).times.is_some_and(|times| times.elapsed_s.is_finite())
    };
    let alike: Vec<&StoredRun> = alike(run, all, false).into_iter().filter(is_known).collect();
    let least = alike.iter().map(|run| run.run.n_ranks).min()?;
    let differ = alike.iter().any(|run| run.run.n_ranks != least);
    let of_least: Vec<&StoredRun> = alike.into_iter().filter(|run| run.run.n_ranks == least).collect();
    ScalingBase::from_runs(&of_least, region).filter(|_| differ)
}

/// Runs of the same program with the same parameters, and where wanted as many ranks.
fn alike<'a>(run: &StoredRun, all: &'a [StoredRun], same_ranks: bool) -> Vec<&'a StoredRun> {
    let is_alike = |other: &&StoredRun| {
        other.run.program() == run.run.program()
            && other.run.params == run.run.params
            && (!same_ranks || other.run.n_ranks == run.run.n_ranks)
    };
    all.iter().filter(is_alike).collect()
}

/// Name of the section.
pub const SCALING: &str = "Scaling";

/// Speedup and efficiency of each column against its base; `None` where no column has one.
pub fn section(
    bases: &[Option<ScalingBase>],
    columns: &[RunColumn],
    figures: &[Vec<RunFigures>],
    weak: bool,
) -> Option<TableSection> {
    bases.iter().any(Option::is_some).then_some(())?;
    let lines = |name, of: &dyn Fn(&ScalingBase, f64, u32) -> Option<f64>| {
        let one = |(at, runs): (usize, &Vec<RunFigures>)| {
            let (base, column) = (bases.get(at)?.as_ref()?, columns.get(at)?);
            let of_run = |run: &RunFigures| of(base, run.times?.elapsed_s, column.n_ranks);
            line(name, true, std::slice::from_ref(runs), of_run).cells.first().copied().flatten()
        };
        FigureLine { name, more_is_better: Some(true), cells: figures.iter().enumerate().map(one).collect() }
    };
    let efficiency = lines("efficiency", &|base, elapsed_s, n_ranks| base.efficiency(elapsed_s, n_ranks, weak));
    let speedup = lines("speedup", &|base, elapsed_s, _| base.speedup(elapsed_s));
    let lines = if weak { vec![efficiency] } else { vec![speedup, efficiency] };
    Some(TableSection { name: SCALING, unit: FigureUnit::Ratio, lines })
}
