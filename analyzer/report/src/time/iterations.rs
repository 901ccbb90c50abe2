//! The iterations of the main loop, one row each.

use crate::time::iteration::IterationRow;
use lbprof_collector::Activity;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

use super::course::IterationCourse;
use super::iteration_groups::{GroupRow, group_iterations};
use lbprof_analysis::model::code::loops::NoLoopReason;
use lbprof_analysis::model::{Model, RegionIdx, SlowestInIteration};

/// The iterations of the main loop.
#[derive(Clone, Debug, Default, Serialize, crate::JsonSchema)]
pub struct IterationTable {
    /// Origin of the iterations: `marked` by LBPROF_ITERATION_BEGIN, or `found` in the calls; null if none are known.
    pub source: Option<&'static str>,
    /// Path of the main loop: of the iterated regions that lie in no other, the one with most computation.
    #[serde(serialize_with = "path")]
    #[schemars(with = "Option<String>")]
    pub region: String,
    /// Iterations.
    pub count: usize,
    /// A row per iteration.
    #[serde(skip)]
    pub rows: Vec<IterationRow>,
    /// An object per iteration, or per `stride` successive ones.
    #[serde(rename = "per_iteration")]
    pub groups: Vec<GroupRow>,
    /// Computation for which ranks were off their cores, by state, as the kernel noted: for each object of `per_iteration` the seconds of an
    /// iteration, means over ranks and iterations.
    pub states: BTreeMap<&'static str, Vec<f64>>,
    /// Course of the iterations over the run.
    #[serde(flatten)]
    pub course: IterationCourse,
    /// Number of iterations that an object of `per_iteration` stands for, the last maybe for fewer: 1, but if there are more than 4,000
    /// iterations and `--full` is not given, the smallest number that leaves at most 4,000 objects; null if there are none.
    pub stride: Option<usize>,
}

fn path<S: Serializer>(path: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Some(path).filter(|path| !path.is_empty()).serialize(serializer)
}

impl IterationTable {
    /// Collects the iterations of [`Model::main_loop`] in at most `most_groups` groups. Returns `None` if there is no loop.
    pub(crate) fn new(model: &Model, most_groups: usize) -> Option<IterationTable> {
        let idx = model.main_loop()?;
        let slowest = model.slowest.get(idx as usize)?;
        let is_marked = model.loops.is_empty() && model.without_loop != NoLoopReason::Nothing;
        let sums = iteration_sums(model, idx, slowest);
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
        let course = IterationCourse::new(&rows);
        let groups = group_iterations(&rows, most_groups);
        Some(IterationTable {
            source: Some(if is_marked { "marked" } else { "found" }),
            region: model.regions[idx as usize].path.clone(),
            count: rows.len(),
            stride: groups.first().map(|group| group.count),
            rows,
            states: states_by_group(model, idx, &groups),
            groups,
            course,
        })
    }
}

/// Returns the mean seconds by state in an iteration of each group.
fn states_by_group(model: &Model, idx: RegionIdx, groups: &[GroupRow]) -> BTreeMap<&'static str, Vec<f64>> {
    let mut states = BTreeMap::new();
    for series in model.ranks.iter().filter_map(|rank| rank.series(idx)) {
        for (state, seconds) in &series.states {
            let sums = states.entry(state.name()).or_insert_with(|| vec![0.0; groups.len()]);
            for (number, seconds) in series.numbers.iter().zip(seconds) {
                let at = groups.partition_point(|group| group.iteration <= *number).saturating_sub(1);
                if let Some((sum, group)) = sums.get_mut(at).zip(groups.get(at)) {
                    *sum += f64::from(*seconds) / (group.count * model.ranks.len()) as f64;
                }
            }
        }
    }
    states
}

/// Returns the computation of all ranks in each iteration, and the number of ranks that completed it.
fn iteration_sums(model: &Model, idx: RegionIdx, slowest: &[SlowestInIteration]) -> Vec<(f64, u32)> {
    if let Some(joined) = model.joined.get(&idx) {
        let sums = slowest.iter().map(|one| joined.sum(one.iteration));
        return sums.map(|sum| (sum.computation.number() * 1e-9, sum.ranks)).collect();
    }
    let mut sums = vec![(0.0, 0); slowest.len()];
    for series in model.ranks.iter().filter_map(|rank| rank.series(idx)) {
        // Both are sorted.
        let mut place = 0;
        for (at, &number) in series.numbers.iter().enumerate() {
            place += slowest[place..].iter().take_while(|one| one.iteration < number).count();
            let found = slowest.get(place).filter(|one| one.iteration == number);
            if let Some((sum, ranks)) = found.and_then(|_| sums.get_mut(place)) {
                *sum += series.seconds_at(Activity::Computation, at);
                let ends = [series.begin_s.get(at), series.end_s.get(at)];
                *ranks += u32::from(ends.into_iter().all(|time| time.is_some_and(|time| !time.is_nan())));
            }
        }
    }
    sums
}
