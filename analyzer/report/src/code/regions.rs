//! The table of regions.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;
use lbprof_thresholds::verdict::MAX_EXCESS_BY_NOISE;

use crate::DispersionRows;
use crate::balance::efficiency::EfficiencyRow;
use crate::rows::serial;
use crate::{fraction_of, index_of_largest};
use lbprof_analysis::metrics::sampled::core_time::{CoreTime, RankCoreTimes};
use lbprof_analysis::model::{
    CodeName, IterationSeries, Model, OwnLoops, RankModel, RegionCounters, RegionIdx, Seconds, code_name,
};

/// A region.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct RegionRow {
    /// Its index in the model.
    #[serde(skip)]
    pub idx: RegionIdx,
    /// Its names from the outermost on, joined with `/`.
    pub path: String,
    /// Its own name, the last of the path.
    #[serde(skip)]
    pub name: String,
    /// The calls around code of one function, in words.
    #[serde(skip)]
    pub between: Option<String>,
    /// The region around it; of the whole program itself.
    #[serde(skip)]
    pub parent: RegionIdx,
    /// Its name without lines, the same in all versions of the program; null for a marked region.
    pub code: Option<CodeName>,
    /// `marked`: by a marker; also the whole program. `found`: in the calls, a loop or code between calls.
    #[serde(rename = "source", serialize_with = "source_name")]
    #[schemars(with = "String")]
    pub found: bool,
    /// Kind of the region, as it was marked: `useful` work, the default; `control` of parallelism, partitioning and the like; `serial` work.
    #[serde(serialize_with = "kind_name")]
    #[schemars(with = "String")]
    pub kind: RegionKind,
    /// True if its invocations are iterations.
    pub iterated: bool,
    /// Time in it, inner regions excluded.
    pub time_s: f64,
    /// Fraction of ranks × elapsed time.
    pub share: f64,
    /// The mean of `time_s` over ranks.
    pub mean_s: f64,
    /// Time in it and its inner regions.
    pub inclusive_s: f64,
    /// By activity, inner regions excluded.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "std::collections::BTreeMap<String, RegionActivity>")]
    pub activities: Vec<RegionActivity>,
    /// Its computation by the state of the ranks' first threads, inner regions excluded, the mean over ranks; null if that is not known of a rank.
    #[serde(serialize_with = "serial::by_core_state")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, f64>>")]
    pub core_states: Option<CoreTime>,
    /// Differences between the ranks in the region.
    #[serde(flatten)]
    pub dispersion: RegionDispersion,
    /// Efficiencies of the region, inner regions included; elapsed time is the longest that a rank spends in it. If some ranks have a found
    /// loop of their own, which shares no call with the loop of the others, the efficiencies of its regions are of these ranks alone.
    pub efficiency: EfficiencyRow,
    /// The rank that computes longest in it.
    pub slowest_rank: Option<u32>,
    /// True if that is more than noise: its computation exceeds the mean by more than 1 % of itself.
    pub slowest_stands_out: bool,
    /// Iterations of the rank with most; null if it is not iterated.
    pub iterations: Option<usize>,
    /// Invocations and work summed over ranks, memory the largest of any.
    #[serde(flatten)]
    pub totals: RegionCounters,
    /// `operations` per second of computation of all ranks in it, inner regions included; null if nothing is computed.
    pub operations_per_s: Option<f64>,
    /// `quanta` per second of that.
    pub quanta_per_s: Option<f64>,
    /// Times it was entered, all ranks together; null if no entry was seen: for the whole program, and in a part of the time if ranks had
    /// entered the region before, or if it is a loop inside the main one, whose iterations are counted in the whole run only.
    pub invocations: Option<u64>,
}

/// An activity in a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct RegionActivity {
    /// The activity.
    #[serde(skip)]
    pub activity: Activity,
    /// Mean over ranks.
    pub mean_s: f64,
    /// Longest of a rank.
    pub max_s: f64,
    /// ID: index of dispersion of the ranks' times, 0 where they are equal, √(1 − 1/P) where one of P ranks has all; null for the recorder.
    pub id: Option<f64>,
}

fn source_name<S: Serializer>(&found: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if found { "found" } else { "marked" })
}

fn kind_name<S: Serializer>(kind: &RegionKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

fn by_name<S: Serializer>(activities: &[RegionActivity], serializer: S) -> Result<S::Ok, S::Error> {
    let by_name: BTreeMap<&str, &RegionActivity> = activities.iter().map(|one| (one.activity.name(), one)).collect();
    by_name.serialize(serializer)
}

/// Dispersion of the ranks in a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct RegionDispersion {
    /// Its share of the elapsed time, inner regions excluded, the recorder's own time left out; null if no time is spent in the region alone.
    pub share_c: Option<f64>,
    /// ID_C: mean of the indices of its activities, weighted by time; null if no time is spent in the region alone.
    pub id_c: Option<f64>,
    /// SID_C: `id_c` × `share_c`.
    pub sid_c: Option<f64>,
    /// True if `sid_c` is severe: the largest of all regions.
    pub severe: bool,
    /// Its group of regions that spend their time alike, from 1, the heaviest; null if there are no groups, or no time is spent in the region
    /// alone.
    pub group: Option<u32>,
    /// The rank whose distribution of time over activities in the region differs most from the others; null if there is no single one, as
    /// always with two ranks.
    pub most_imbalanced: Option<MostImbalancedRank>,
}

/// The rank whose distribution of time over activities differs most from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct MostImbalancedRank {
    /// The rank.
    pub rank: u32,
    /// ID_P: the distance of its shares by activity from the mean of all ranks'.
    pub id_p: f64,
    /// Its own time in the region alone.
    pub time_s: f64,
}

pub(crate) fn add_dispersion(rows: &mut [RegionRow], model: &Model, dispersion: &DispersionRows) {
    for row in rows {
        let at = row.idx as usize;
        let index = dispersion.views.regions.get(at).copied().flatten();
        let cells = dispersion.views.rows.get(at).copied().unwrap_or_default();
        for one in &mut row.activities {
            one.id = cells[one.activity as usize].map(|cell| cell.id);
        }
        let most_imbalanced = dispersion.views.most_imbalanced.get(at).copied().flatten();
        row.dispersion = RegionDispersion {
            share_c: index.filter(|_| dispersion.elapsed_s > 0.0).map(|index| index.time_s / dispersion.elapsed_s),
            id_c: index.map(|index| index.id),
            sid_c: index.and_then(|index| index.sid),
            severe: dispersion.severe_regions.get(at).copied().unwrap_or(false),
            group: dispersion.groups.as_ref().and_then(|groups| groups.of.get(at).copied().flatten()),
            most_imbalanced: most_imbalanced.and_then(|found| {
                let rank = model.ranks.get(found.rank)?.rank;
                Some(MostImbalancedRank { rank, id_p: found.id, time_s: found.time_s })
            }),
        };
    }
}

impl RegionRow {
    /// Returns whether ranks spent time in it or entered it. In a time window, some regions do not occur.
    pub fn occurs(&self) -> bool {
        self.idx == 0 || self.inclusive_s > 0.0 || self.invocations.is_some()
    }

    /// Returns the mean exclusive time in `activity`.
    pub fn mean_in_s(&self, activity: Activity) -> f64 {
        self.activities.iter().find(|one| one.activity == activity).map_or(0.0, |one| one.mean_s)
    }

    /// Returns the exclusive computation of `rank` above the mean.
    pub(crate) fn excess_computation_s(&self, rank: &RankModel) -> f64 {
        rank.exclusive(self.idx)[Activity::Computation as usize] - self.mean_in_s(Activity::Computation)
    }
}

/// Returns a row per region, outer regions before inner ones.
pub(crate) fn region_rows(model: &Model) -> Vec<RegionRow> {
    let own_loops = OwnLoops::from_model(model);
    let core_times: Option<Vec<RankCoreTimes>> = model.ranks.iter().map(RankCoreTimes::new).collect();
    let rows = (0..model.regions.len() as u32).map(|idx| RegionRow {
        core_states: core_times
            .as_ref()
            .map(|ranks| CoreTime::mean(&ranks.iter().map(|rank| rank.in_region(Some(idx))).collect::<Vec<_>>())),
        ..region_row(model, &own_loops, idx)
    });
    rows.collect()
}

fn region_row(model: &Model, own_loops: &OwnLoops, idx: RegionIdx) -> RegionRow {
    let facts = &model.regions[idx as usize];
    let n = model.ranks.len().max(1) as f64;
    let mut sums = Seconds::default();
    let mut longest = Seconds::default();
    let mut totals = RegionCounters::default();
    for rank in &model.ranks {
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
    let time_s: f64 = sums.iter().sum();
    let computation = model.inclusive_s(idx, Activity::Computation);
    let computation_s: f64 = computation.iter().sum();
    let efficiency = match own_loops.ranks_in(model, idx) {
        Some(ranks) => EfficiencyRow::of_ranks(model, ranks, idx),
        None => EfficiencyRow::new(model, idx),
    };
    let longest_s = efficiency.times.max_computation_s;
    let occurring = Activity::ALL.into_iter().filter(|&activity| sums[activity as usize] > 0.0);
    let occurring = occurring.map(|activity| {
        let [sum_s, max_s] = [sums, longest].map(|seconds| seconds[activity as usize]);
        RegionActivity { activity, mean_s: sum_s / n, max_s, id: None }
    });
    RegionRow {
        idx,
        path: facts.path.clone(),
        name: facts.name.clone(),
        between: facts.between.clone(),
        code: code_name(&model.regions, idx),
        parent: facts.parent,
        found: facts.found,
        kind: facts.kind,
        iterated: facts.iterated,
        time_s,
        mean_s: time_s / n,
        share: fraction_of(time_s, model.elapsed_s() * n),
        inclusive_s: model.ranks.iter().map(|rank| rank.inclusive(idx).iter().sum::<f64>()).sum(),
        activities: occurring.collect(),
        core_states: None,
        dispersion: RegionDispersion::default(),
        slowest_stands_out: longest_s - efficiency.times.avg_computation_s > MAX_EXCESS_BY_NOISE * longest_s,
        efficiency,
        slowest_rank: index_of_largest(&computation).map(|at| model.ranks[at].rank),
        iterations: facts.iterated.then(|| {
            model.ranks.iter().filter_map(|rank| rank.series(idx)).map(IterationSeries::iterations).max().unwrap_or(0)
        }),
        operations_per_s: (computation_s > 0.0).then(|| totals.operations / computation_s),
        quanta_per_s: (computation_s > 0.0).then(|| totals.quanta / computation_s),
        invocations: Some(totals.invocations).filter(|&entered| entered > 0),
        totals,
    }
}
