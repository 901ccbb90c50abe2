//! The table of regions: time, activities and efficiencies of each.

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;

use super::efficiency::EfficiencyRow;
use super::largest;
use crate::model::{Model, OwnLoops, RegionIdx, Seconds, Totals};

/// A region.
#[derive(Clone, Debug)]
pub struct RegionRow {
    /// Its index in the model.
    pub idx: RegionIdx,
    /// Its path.
    pub path: String,
    /// Its own name, the last of the path.
    pub name: String,
    /// The region around it; of the whole program itself.
    pub parent: RegionIdx,
    /// Whether it was found in the calls, not marked.
    pub found: bool,
    /// Its kind.
    pub kind: RegionKind,
    /// Whether it is iterated.
    pub iterated: bool,
    /// Time in it alone, summed over ranks.
    pub time_s: f64,
    /// That of ranks × elapsed time, 0..=1.
    pub share: f64,
    /// Time in it and the regions within, summed over ranks.
    pub inclusive_s: f64,
    /// Time in it alone by activity: mean and longest over ranks; of those that occur.
    pub activities: Vec<(Activity, f64, f64)>,
    /// Efficiencies, inner regions included; within a loop that some ranks have by themselves, of these.
    pub efficiency: EfficiencyRow,
    /// The rank that computes longest in it, inner regions included.
    pub slowest_rank: Option<u32>,
    /// Iterations, where it is iterated: the most of any rank.
    pub iterations: Option<usize>,
    /// The time by which ranks are compared, inner regions included.
    pub compared: Compared,
    /// Invocations and work summed over ranks, memory the largest of any.
    pub totals: Totals,
    /// Times it was entered, all ranks together. `None` where none was seen: ranks were in it already when the selected time began, or it is a
    /// loop within the main one, whose iterations are counted in the whole run alone, or all of the program.
    pub invocations: Option<u64>,
}

impl RegionRow {
    /// Whether ranks spent time in it, or entered it: in a part of the time not all regions of the run occur.
    pub fn occurs(&self) -> bool {
        self.idx == 0 || self.inclusive_s > 0.0 || self.invocations.is_some()
    }

    /// Time in it alone in `activity`, the mean over ranks.
    pub fn mean_s(&self, activity: Activity) -> f64 {
        self.activities.iter().find(|(of, ..)| *of == activity).map_or(0.0, |(_, mean_s, _)| *mean_s)
    }
}

/// One row a region, an outer one before its inner ones.
///
/// Efficiencies are of `model`; times are of `times`, the same model of some activities alone or of all.
pub(super) fn rows(model: &Model, times: &Model) -> Vec<RegionRow> {
    let own_loops = OwnLoops::of(model);
    (0..model.regions.len() as u32).map(|idx| row(model, times, &own_loops, idx)).collect()
}

fn row(model: &Model, times: &Model, own_loops: &OwnLoops, idx: RegionIdx) -> RegionRow {
    let facts = &model.regions[idx as usize];
    let n = model.ranks.len().max(1) as f64;
    let mut sums = Seconds::default();
    let mut longest = Seconds::default();
    let mut totals = Totals::default();
    for rank in &times.ranks {
        for ((sum, max), seconds) in sums.iter_mut().zip(&mut longest).zip(rank.exclusive(idx)) {
            *sum += seconds;
            *max = seconds.max(*max);
        }
        let own = rank.totals(idx);
        totals.invocations = totals.invocations.saturating_add(own.invocations);
        totals.operations += own.operations;
        totals.quanta += own.quanta;
        totals.max_resident = totals.max_resident.max(own.max_resident);
        totals.max_swapped = totals.max_swapped.max(own.max_swapped);
    }
    let whole = model.elapsed_s() * n;
    let time_s: f64 = sums.iter().sum();
    let compared = Compared::new(times, idx);
    let computation = model.inclusive_s(idx, Activity::Computation);
    let occurring = Activity::ALL.into_iter().filter(|&activity| sums[activity as usize] > 0.0);
    RegionRow {
        idx,
        path: facts.path.clone(),
        name: facts.name.clone(),
        parent: facts.parent,
        found: facts.found,
        kind: facts.kind,
        iterated: facts.iterated,
        time_s,
        share: if whole > 0.0 { time_s / whole } else { 0.0 },
        inclusive_s: times.ranks.iter().map(|rank| rank.inclusive(idx).iter().sum::<f64>()).sum(),
        activities: occurring.map(|of| (of, sums[of as usize] / n, longest[of as usize])).collect(),
        efficiency: match own_loops.ranks_in(model, idx) {
            Some(ranks) => EfficiencyRow::of_ranks(model, ranks, idx),
            None => EfficiencyRow::new(model, idx),
        },
        slowest_rank: largest(&computation).map(|at| model.ranks[at].rank),
        iterations: facts.iterated.then(|| {
            model.ranks.iter().filter_map(|rank| rank.series(idx)).map(|series| series.numbers.len()).max().unwrap_or(0)
        }),
        compared,
        invocations: Some(totals.invocations).filter(|&entered| entered > 0),
        totals,
    }
}

/// The time by which ranks are compared, in a region and those in it: computation, or that of the selected activities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// The mean over ranks.
    pub mean_s: f64,
    /// The longest of a rank.
    pub max_s: f64,
    /// That rank, the lowest of several; `None` where none spends any.
    pub max_rank: Option<u32>,
}

impl Compared {
    fn new(times: &Model, idx: RegionIdx) -> Compared {
        let compared = times.facts.selected.compared();
        let sum = |seconds: Seconds| compared.iter().map(|&activity| seconds[activity as usize]).sum::<f64>();
        let own: Vec<f64> = times.ranks.iter().map(|rank| sum(rank.inclusive(idx))).collect();
        let at = largest(&own);
        Compared {
            mean_s: own.iter().sum::<f64>() / own.len().max(1) as f64,
            max_s: at.map_or(0.0, |at| own[at]),
            max_rank: at.map(|at| times.ranks[at].rank),
        }
    }
}
