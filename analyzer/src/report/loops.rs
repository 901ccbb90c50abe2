//! The loops found in the calls of a program without marked iterations: how, how many iterations, how sure.

use crate::gather::operation_name;
use crate::model::{Model, RankModel};
use crate::structure::{Loop, Without};
use crate::symbols::Place;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// One row a loop, outer ones before those in them.
    pub rows: Vec<LoopRow>,
    /// Why there are none.
    pub without: Without,
}

/// A loop, found in the calls of some ranks.
#[derive(Clone, Debug)]
pub struct LoopRow {
    /// Its name; that of its region, where it has one.
    pub name: String,
    /// The loop around it, as an index of rows.
    pub parent: Option<usize>,
    /// Whether its iterations are those of the report.
    pub main: bool,
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// Operation and place of the calls that end an iteration; of several the first.
    pub ends_at: Option<(String, Place)>,
    /// Whether an uninterrupted run of such calls ends only one iteration.
    pub ends_with_run: bool,
    /// Fewest and most iterations of a rank, counted in all its calls; of other loops than the main one estimated, from how
    /// many come in one of its iterations.
    pub iterations: (f64, f64),
    /// Iterations for each one of the main loop, on average.
    pub for_each_main: f64,
    /// Share of the ranks' time that it covers, 0..=1; of other loops than the main one estimated from a part of the calls.
    pub covered: f64,
    /// Share of the iterations that have the same kinds of calls as most have, the mean over ranks; of the main loop alone.
    pub alike: Option<f64>,
    /// How sure it is; of the main loop alone.
    pub sureness: Option<Sureness>,
}

/// How sure a found loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sureness {
    /// All its ranks count the same number of iterations, at least ten, four fifths of them are alike, they cover half of the
    /// time, and they consist of three kinds of calls at least: fewer may be a function through which all communication goes.
    Sure,
    /// Ranks differ by a fiftieth at most, and half of the iterations are alike.
    Likely,
    /// None of these.
    Unsure,
}

impl Sureness {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Sureness::Sure => "sure",
            Sureness::Likely => "likely",
            Sureness::Unsure => "unsure",
        }
    }

    /// From the fewest and the most iterations of a rank, the share that is alike, that of the time that they cover, and how many
    /// kinds of calls there are in them.
    fn of((fewest, most): (f64, f64), alike: f64, covered: f64, kinds: usize) -> Sureness {
        if fewest == most && most >= 10.0 && alike >= 0.8 && covered >= 0.5 && kinds >= 3 {
            Sureness::Sure
        } else if fewest >= 0.98 * most && most >= 3.0 && alike >= 0.5 {
            Sureness::Likely
        } else {
            Sureness::Unsure
        }
    }
}

impl Loops {
    /// The loops of `model`, whose call sites are at `places`.
    pub(super) fn new(model: &Model, places: &[Place]) -> Loops {
        let rows = model.loops.iter().map(|one| row(model, places, one));
        let without = if model.loops.is_empty() { model.without_loop } else { Without::Nothing };
        Loops { rows: rows.collect(), without }
    }
}

fn row(model: &Model, places: &[Place], one: &Loop) -> LoopRow {
    let ranks: Vec<&RankModel> =
        model.ranks.iter().filter(|rank| rank.found.is_some() && one.ranks.contains(&rank.rank)).collect();
    let counts = || ranks.iter().filter_map(|rank| rank.found).map(|found| f64::from(found.iterations));
    let fewest = counts().reduce(f64::min).unwrap_or(0.0) * one.for_each_main;
    let most = counts().fold(0.0, f64::max) * one.for_each_main;
    let alike = ranks.iter().filter_map(|rank| rank.found).filter(|found| found.iterations > 0);
    let alike: Vec<f64> = alike.map(|found| f64::from(found.alike) / f64::from(found.iterations)).collect();
    let alike = alike.iter().sum::<f64>() / alike.len().max(1) as f64;
    let covered = ranks.iter().map(|rank| covered_s(rank)).sum::<f64>() * one.share_of_main;
    let whole = ranks.iter().map(|rank| rank.end_s - rank.begin_s).sum::<f64>();
    let covered = if whole > 0.0 { (covered / whole).min(1.0) } else { 0.0 };
    LoopRow {
        name: one.name.clone(),
        parent: one.parent,
        main: one.main,
        ranks: ranks.iter().map(|rank| rank.rank).collect(),
        ends_at: one.anchor.first().map(|&(site, operation)| {
            let place = site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
            (operation_name(operation), place)
        }),
        ends_with_run: one.run,
        iterations: (fewest, most),
        for_each_main: one.for_each_main,
        covered,
        alike: one.main.then_some(alike),
        sureness: one.main.then(|| Sureness::of((fewest, most), alike, covered, one.kinds())),
    }
}

/// Seconds of a rank within the iterations of its found loop.
fn covered_s(rank: &RankModel) -> f64 {
    let series = rank.iterations.iter().map(|(_, series)| series);
    let lengths = series.flat_map(|series| series.begin_s.iter().zip(&series.end_s).map(|(begin, end)| end - begin));
    lengths.filter(|length| length.is_finite()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_sure_where_ranks_agree_and_iterations_are_alike() {
        assert_eq!(Sureness::of((500.0, 500.0), 0.95, 0.9, 12), Sureness::Sure);
        assert_eq!(Sureness::of((500.0, 500.0), 0.95, 0.3, 12), Sureness::Likely);
        assert_eq!(Sureness::of((500.0, 500.0), 0.95, 0.9, 2), Sureness::Likely);
        assert_eq!(Sureness::of((4.0, 4.0), 1.0, 0.9, 12), Sureness::Likely);
        assert_eq!(Sureness::of((99.0, 100.0), 0.6, 0.9, 12), Sureness::Likely);
        assert_eq!(Sureness::of((90.0, 100.0), 1.0, 0.9, 12), Sureness::Unsure);
        assert_eq!(Sureness::of((500.0, 500.0), 0.3, 0.9, 12), Sureness::Unsure);
    }
}
