//! The iterations of the main loop, one row each.

use crate::report::iteration::IterationRow;
use lbprof_collector::Activity;

use super::course::Course;
use super::grouped::{IterationGroup, grouped};
use crate::model::{Model, RegionIdx, Slowest};

/// The iterations of the main loop.
#[derive(Clone, Debug)]
pub struct Iterations {
    /// Path of the iterated region.
    pub region: String,
    /// One row an iteration.
    pub rows: Vec<IterationRow>,
    /// The same in a bounded number of rows, unless the user wants all.
    pub groups: Vec<IterationGroup>,
    /// What they show over the run.
    pub course: Course,
}

impl Iterations {
    /// Those of [`Model::main_loop`], in at most `most_groups` groups; `None` where none is known.
    pub(super) fn new(model: &Model, most_groups: usize) -> Option<Iterations> {
        let idx = model.main_loop()?;
        let slowest = model.slowest.get(idx as usize)?;
        let sums = sums(model, idx, slowest);
        let entering = model.entering(idx);
        let n = model.ranks.len().max(1) as f64;
        let rows = slowest.iter().zip(sums).map(|(slowest, (sum, ranks))| IterationRow {
            iteration: slowest.iteration,
            is_known: !entering.contains(&slowest.iteration),
            max_s: slowest.computation_s,
            mean_s: sum / n,
            slowest_rank: slowest.rank,
            ranks,
        });
        let rows: Vec<IterationRow> = rows.collect();
        let course = Course::new(&rows);
        let groups = grouped(&rows, most_groups);
        Some(Iterations { region: model.regions[idx as usize].path.clone(), rows, groups, course })
    }
}

/// Of each of these iterations of a region the computation of all ranks, and how many went through it to its end.
fn sums(model: &Model, idx: RegionIdx, slowest: &[Slowest]) -> Vec<(f64, u32)> {
    let mut sums = vec![(0.0, 0); slowest.len()];
    for series in model.ranks.iter().filter_map(|rank| rank.series(idx)) {
        let is_known = |times: &[f64], at: usize| times.get(at).is_some_and(|time| !time.is_nan());
        // Both are sorted.
        let mut place = 0;
        for (at, &number) in series.numbers.iter().enumerate() {
            place += slowest[place..].iter().take_while(|one| one.iteration < number).count();
            let found = slowest.get(place).filter(|one| one.iteration == number);
            if let Some((sum, ranks)) = found.and_then(|_| sums.get_mut(place)) {
                *sum += series.seconds_at(Activity::Computation, at);
                *ranks += u32::from(is_known(&series.begin_s, at) && is_known(&series.end_s, at));
            }
        }
    }
    sums
}
