//! Speedup and efficiency against a base (docs/metrics.md §3; strong scaling: the same work on more ranks, weak: work that grows with them).

use super::figures::{Figures, line};
use super::grouping::{RunGroup, comparable};
use super::{Column, Line, Section, TableCell, Unit, Wanted};
use crate::store::Kept;

/// What a column's runs are compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Numbers of the runs.
    pub runs: Vec<u32>,
    /// P of the base.
    pub n_ranks: u32,
    /// T of the base, in seconds; of repeated runs the median.
    pub elapsed_s: f64,
}

impl Base {
    fn of(runs: &[&Kept], region: Option<&str>) -> Option<Base> {
        let times = runs.iter().filter_map(|run| Figures::of(run, &[], region).times);
        Some(Base {
            runs: runs.iter().map(|run| run.number).collect(),
            n_ranks: runs.first()?.run.n_ranks,
            elapsed_s: TableCell::of(times.map(|times| times.elapsed_s))?.value,
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
pub fn bases(group: &RunGroup, all: &[Kept], wanted: &Wanted) -> Vec<Option<Base>> {
    let region = wanted.region.as_deref();
    if let Some(number) = wanted.base {
        let base = all.iter().find(|run| run.number == number);
        let base = base.filter(|run| run.run.program() == group.program);
        let base = base.and_then(|run| Base::of(&alike(run, &comparable(run, group, all), true), region));
        return vec![base; group.columns.len()];
    }
    if wanted.weak {
        let least = group.columns.iter().min_by_key(|runs| runs.first().map(|run| run.run.n_ranks));
        let base = least.and_then(|runs| Base::of(runs, region));
        return vec![base.filter(|_| group.columns.len() > 1); group.columns.len()];
    }
    let of_column = |runs: &Vec<&Kept>| {
        let run = runs.first()?;
        least_ranks(run, &comparable(run, group, all), region)
    };
    group.columns.iter().map(of_column).collect()
}

/// The runs with the fewest ranks among those with the parameters of `run` whose time is known; `None` where all have as many ranks.
fn least_ranks(run: &Kept, all: &[Kept], region: Option<&str>) -> Option<Base> {
    let is_known = |run: &&Kept| Figures::of(run, &[], region).times.is_some_and(|times| times.elapsed_s.is_finite());
    let alike: Vec<&Kept> = alike(run, all, false).into_iter().filter(is_known).collect();
    let least = alike.iter().map(|run| run.run.n_ranks).min()?;
    let differ = alike.iter().any(|run| run.run.n_ranks != least);
    let of_least: Vec<&Kept> = alike.into_iter().filter(|run| run.run.n_ranks == least).collect();
    Base::of(&of_least, region).filter(|_| differ)
}

/// Runs of the same program with the same parameters, and where wanted as many ranks.
fn alike<'a>(run: &Kept, all: &'a [Kept], same_ranks: bool) -> Vec<&'a Kept> {
    let is_alike = |other: &&Kept| {
        other.run.program() == run.run.program()
            && other.run.params == run.run.params
            && (!same_ranks || other.run.n_ranks == run.run.n_ranks)
    };
    all.iter().filter(is_alike).collect()
}

/// Name of the section.
pub const SCALING: &str = "Scaling";

/// Speedup and efficiency of each column against its base; `None` where no column has one.
pub fn section(bases: &[Option<Base>], columns: &[Column], figures: &[Vec<Figures>], weak: bool) -> Option<Section> {
    bases.iter().any(Option::is_some).then_some(())?;
    let lines = |name, of: &dyn Fn(&Base, f64, u32) -> Option<f64>| {
        let one = |(at, runs): (usize, &Vec<Figures>)| {
            let (base, column) = (bases.get(at)?.as_ref()?, columns.get(at)?);
            let of_run = |run: &Figures| of(base, run.times?.elapsed_s, column.n_ranks);
            line(name, true, std::slice::from_ref(runs), of_run).cells.first().copied().flatten()
        };
        Line { name, more_is_better: Some(true), cells: figures.iter().enumerate().map(one).collect() }
    };
    let efficiency = lines("efficiency", &|base, elapsed_s, n_ranks| base.efficiency(elapsed_s, n_ranks, weak));
    let speedup = lines("speedup", &|base, elapsed_s, _| base.speedup(elapsed_s));
    let lines = if weak { vec![efficiency] } else { vec![speedup, efficiency] };
    Some(Section { name: SCALING, unit: Unit::Ratio, lines })
}
