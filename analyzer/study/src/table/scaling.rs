//! Speedup and efficiency against a base (docs/metrics.md §3; strong scaling: the same work on more ranks, weak: work that grows with them).

use super::figures::RunFigures;
use super::grouping::{RunGroup, comparable_runs};
use super::scaling_base::ScalingBase;
use super::{FigureLine, FigureUnit, RunColumn, TableCell, TableRequest, TableSection};
use crate::store::StoredRun;

/// Returns the base that runs with the same ranks and parameters are.
fn base_of(runs: &[&StoredRun], region: Option<&str>) -> Option<ScalingBase> {
    let times = runs.iter().filter_map(|run| RunFigures::from_run(run, &[], region).times);
    Some(ScalingBase {
        runs: runs.iter().map(|run| run.number).collect(),
        n_ranks: runs.first()?.run.n_ranks,
        elapsed_s: TableCell::from_values(times.map(|times| times.elapsed_s))?.value,
    })
}

/// The base of each column; `None` where there is nothing to compare it with.
pub fn scaling_bases(group: &RunGroup, all: &[StoredRun], wanted: &TableRequest) -> Vec<Option<ScalingBase>> {
    let region = wanted.region.as_deref();
    if let Some(number) = wanted.base {
        let base = all.iter().find(|run| run.number == number);
        let base = base.filter(|run| run.run.program() == group.program);
        let base = base.and_then(|run| base_of(&equal_runs(run, &comparable_runs(run, group, all), true), region));
        return vec![base; group.columns.len()];
    }
    if wanted.weak {
        let least = group.columns.iter().min_by_key(|runs| runs.first().map(|run| run.run.n_ranks));
        let base = least.and_then(|runs| base_of(runs, region));
        return vec![base.filter(|_| group.columns.len() > 1); group.columns.len()];
    }
    let first_runs = group.columns.iter().map(|runs| runs.first());
    first_runs.map(|run| least_ranks(run?, &comparable_runs(run?, group, all), region)).collect()
}

/// The runs with the fewest ranks among those with the parameters of `run` whose time is known; `None` where all have as many ranks.
fn least_ranks(run: &StoredRun, all: &[StoredRun], region: Option<&str>) -> Option<ScalingBase> {
    let mut alike = equal_runs(run, all, false);
    alike.retain(|run| {
        let times = RunFigures::from_run(run, &[], region).times;
        times.is_some_and(|times| times.elapsed_s.is_finite())
    });
    let least = alike.iter().map(|run| run.run.n_ranks).min()?;
    let differ = alike.iter().any(|run| run.run.n_ranks != least);
    let of_least: Vec<&StoredRun> = alike.into_iter().filter(|run| run.run.n_ranks == least).collect();
    base_of(&of_least, region).filter(|_| differ)
}

/// Runs of the same program with the same parameters, and where wanted as many ranks.
fn equal_runs<'a>(run: &StoredRun, all: &'a [StoredRun], same_ranks: bool) -> Vec<&'a StoredRun> {
    let alike = all.iter().filter(|other| {
        other.run.program() == run.run.program()
            && other.run.params == run.run.params
            && (!same_ranks || other.run.n_ranks == run.run.n_ranks)
    });
    alike.collect()
}

pub const SCALING: &str = "Scaling";

/// Speedup and efficiency of each column against its base; `None` where no column has one.
pub fn scaling_section(
    bases: &[Option<ScalingBase>],
    columns: &[RunColumn],
    figures: &[Vec<RunFigures>],
    weak: bool,
) -> Option<TableSection> {
    bases.iter().any(Option::is_some).then_some(())?;
    let (mut speedups, mut efficiencies) = (Vec::new(), Vec::new());
    for ((base, column), runs) in bases.iter().zip(columns).zip(figures) {
        let bases = base.iter().flat_map(|base| runs.iter().filter_map(move |run| Some((base, run.times?.elapsed_s))));
        speedups.push(TableCell::from_values(bases.clone().filter_map(|(base, elapsed_s)| base.speedup(elapsed_s))));
        let values = bases.filter_map(|(base, elapsed_s)| base.efficiency(elapsed_s, column.n_ranks, weak));
        efficiencies.push(TableCell::from_values(values));
    }
    let mut lines = vec![FigureLine { name: "efficiency", more_is_better: true, cells: efficiencies }];
    if !weak {
        lines.insert(0, FigureLine { name: "speedup", more_is_better: true, cells: speedups });
    }
    Some(TableSection { name: SCALING, unit: FigureUnit::Ratio, lines })
}
