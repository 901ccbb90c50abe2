//! The answer to the user's question: how much is lost, to what, through which rank, where.

use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{
    GOOD_CORE_EFFICIENCY, MIN_IMBALANCE_IN_PARTS, MIN_WAITING_FOR_OTHER_CLUSTERS, ROUNDING_OF_TIMES_S,
};
use serde::Serialize;

use super::base_tables::BaseTables;
use super::longest_rank::LongestRank;
use super::outside_work::OutsideWork;
use super::slow_parts;
use super::slow_parts::SlowPart;
use crate::code::functions::SampledFunctions;
use crate::code::regions;
use crate::rows::serial;
use crate::time::excess_iterations::ExcessIterations;
use crate::{ClusterRow, EfficiencyRow, RegionRow, WhatIfTable};
use lbprof_analysis::metrics::blocking::waiting_pairs;
use lbprof_analysis::metrics::serialization::SerializationTimes;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_analysis::structure::code::sampled_code::SampledCode;
use lbprof_analysis::structure::code::symbols::ResolvedNames;

/// The losses of a run, their causes and their places. All times are seconds of elapsed time, the mean over ranks.
///
/// Where ranks run different code, and do not go through the same iterations, it is that on the cluster in which most is lost besides
/// waiting for others: balance over ranks that do not share one work means nothing (docs/metrics.md §1), and ranks that serve others lose nothing
/// while these have nothing for them to do.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct Verdict {
    /// The cluster that the verdict describes: the one that loses most time over its ranks besides waiting for ranks of other clusters, or, if all
    /// lose little that way (5 % of their time), the one that computes most; null if it describes all ranks, because they run the same code or go
    /// through the same iterations.
    pub cluster: Option<VerdictCluster>,
    /// Efficiencies of these ranks.
    #[serde(skip)]
    pub efficiency: EfficiencyRow,
    /// Elapsed time that was recorded, T.
    #[serde(skip)]
    pub elapsed_s: f64,
    /// Elapsed time for which no rank has records: for all ranks `run.elapsed_s` minus `efficiency.elapsed_s`.
    pub not_recorded_s: f64,
    /// Elapsed time of these ranks, recorded or not: from the first begin of their windows to the last end.
    pub window_s: f64,
    /// Recorded elapsed time minus the mean computation; a mean over ranks, like all times of the verdict.
    pub lost_s: f64,
    /// `lost_s` / recorded elapsed time; null if nothing was recorded.
    pub lost_share: Option<f64>,
    /// Part of it: longest minus mean computation.
    pub imbalance_s: f64,
    /// To serialization, T_ideal − max T_p, and how much of it is of which kind. `None` where T_ideal is not known well.
    #[serde(flatten, serialize_with = "serial::written_as::<_, SerializationOfVerdict, _>")]
    #[schemars(with = "SerializationOfVerdict")]
    pub serialization: Option<SerializationTimes>,
    /// Why it is not known which kind of serialization it is; null if it is known, or there is none.
    #[serde(rename = "serialization_undivided")]
    pub undivided: Option<UndividedReason>,
    /// The recorder's own time.
    pub recorder_s: f64,
    /// The rest. `imbalance_s`, `serialization_s`, `recorder_s` and this add up to `lost_s`.
    pub communication_s: f64,
    /// The rank that computes longest; in the main loop, if work before or after it is a finding of its own; null on one rank.
    pub worst: Option<LongestRank>,
    /// Work before and after the main loop that is judged by itself, or `None` if there is none.
    #[serde(skip)]
    pub outside_work: Option<OutsideWork>,
    /// The regions in which a rank exceeds the mean, the largest excess first, at most 4; empty unless different ranks are slow in different parts of
    /// an iteration (`slow_in_parts_s`).
    pub slow_parts: Vec<SlowPart>,
}

/// The cluster of which the verdict is.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct VerdictCluster {
    /// Its `id` in `clusters`.
    pub id: u32,
    /// Its ranks, ascending.
    #[serde(skip)]
    pub ranks: Vec<u32>,
    /// Why it is this one.
    #[serde(skip)]
    pub chosen: ClusterChoice,
    /// The part of its loss that is waiting caused by ranks outside it, the mean over its ranks.
    pub waits_for_others_s: f64,
}

/// Why the verdict is on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterChoice {
    /// There is no other.
    Only,
    /// Most is lost in it, and no cluster waits for another one.
    LosesMost,
    /// Most is lost in it besides waiting for others.
    LosesMostByItself,
    /// In none is much lost besides waiting for others, and its ranks compute most.
    ComputesMost,
}

/// Why it is not known how much serialization is of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
pub enum UndividedReason {
    /// No iterations are known, found or marked, on all ranks that compute.
    #[serde(rename = "no iterations")]
    NoIterations,
    /// The loop found is unsure (`loops[].confidence`): with another one the kinds would have other sizes.
    #[serde(rename = "unsure loop")]
    UnsureLoop,
}

/// Serialization as it is written.
#[derive(Serialize, crate::JsonSchema)]
struct SerializationOfVerdict {
    /// Ideal time minus longest computation; null if the ideal time is not reliable.
    serialization_s: Option<f64>,
    /// Part of it: different ranks are the slowest in different iterations: sum over iterations of the longest computation, minus the longest
    /// total computation; null if no iterations are known, or the found loop is unsure (`serialization_undivided`).
    slow_in_turn_s: Option<f64>,
    /// Part of it: different ranks are the slowest in different parts of an iteration: what `regions balanced` of `predictions` saves beyond
    /// `imbalance_s`; null if that was not predicted.
    slow_in_parts_s: Option<f64>,
    /// The rest: ranks depend on each other within iterations: ideal time by replay minus that sum and `slow_in_parts_s`; null if iterations, likewise,
    /// or the replay are not known.
    dependency_chains_s: Option<f64>,
}

impl From<&Option<SerializationTimes>> for SerializationOfVerdict {
    fn from(all: &Option<SerializationTimes>) -> SerializationOfVerdict {
        SerializationOfVerdict {
            serialization_s: all.map(|all| all.total_s),
            slow_in_turn_s: all.and_then(|all| all.slow_in_turn_s),
            slow_in_parts_s: all.and_then(|all| all.slow_in_parts_s),
            dependency_chains_s: all.and_then(|all| all.chains_s),
        }
    }
}

impl Verdict {
    /// Judges a run: the cluster of its ranks that loses most, or all of them.
    pub(crate) fn from_tables(model: &Model, names: &ResolvedNames, base: &BaseTables) -> Verdict {
        let judged = Verdict::of_cluster(model, base).unwrap_or_else(|| {
            let verdict = Verdict::new(model, &base.efficiency, &base.regions, base.is_sure);
            verdict.with_divided_chains(&base.what_if).with_outside_work(model, base)
        });
        let in_parts_s = judged.serialization.and_then(|serialization| serialization.slow_in_parts_s);
        let are_slow_in_parts = in_parts_s.is_some_and(|seconds| seconds > 0.0);
        let slow_parts = match are_slow_in_parts {
            true => {
                let regions = base.regions.iter().filter(|row| judged.is_of_ranks(&row.path));
                slow_parts::slow_parts(model, regions, base.functions.as_ref())
            }
            false => Vec::new(),
        };
        Verdict { worst: judged.explained_worst(model, &names.sampled, base), slow_parts, ..judged }
    }

    /// Returns whether there is no time at all, or no computation.
    pub fn is_of_nothing(&self) -> bool {
        !self.efficiency.times.parallel().is_some_and(|parallel| parallel > 0.0)
    }

    /// Returns whether at least 95 % of the time is computation.
    pub fn is_good(&self) -> bool {
        self.efficiency.times.parallel().is_some_and(|parallel| parallel >= GOOD_CORE_EFFICIENCY)
    }

    /// Returns whether load imbalance is the largest part of what is lost besides writing the log.
    pub fn is_mostly_imbalance(&self) -> bool {
        let most_s = self.most_of_a_serialization_s().max(self.communication_s);
        self.has_large_loss() && 0.0 < self.imbalance_s && most_s <= self.imbalance_s
    }

    /// Returns whether communication is the largest part of what is lost besides writing the log.
    pub fn is_mostly_communication(&self) -> bool {
        self.has_large_loss() && self.most_of_a_serialization_s().max(self.imbalance_s).max(0.0) < self.communication_s
    }

    fn has_large_loss(&self) -> bool {
        !self.is_good() && !self.is_of_nothing()
    }

    /// Returns the time that is lost to the most costly kind of serialization.
    fn most_of_a_serialization_s(&self) -> f64 {
        let divided = self.serialization.unwrap_or_default();
        let kinds = [divided.slow_in_turn_s, divided.slow_in_parts_s, divided.chains_s];
        kinds.into_iter().flatten().fold(divided.undivided_s(), f64::max)
    }

    /// Returns the rank that computes longest, with the functions and the iterations in which it does.
    fn explained_worst(&self, model: &Model, code: &SampledCode, base: &BaseTables) -> Option<LongestRank> {
        let worst = self.worst.clone()?;
        let path = worst.region.as_ref().map(|region| region.path.as_str());
        let rows = base.iterations.as_ref().filter(|_| self.cluster.is_none()).map(|table| &table.rows);
        let explained = match &self.cluster {
            Some(cluster) => SampledFunctions::new(&model.sums_of(&cluster.ranks), code)
                .and_then(|functions| functions.explained_in(worst.rank, path)),
            None => base.functions.as_ref().and_then(|functions| functions.explained_in(worst.rank, path)),
        };
        Some(LongestRank {
            explained,
            iterations: rows.and_then(|rows| ExcessIterations::find(rows, &worst.with_equals(), worst.over_mean_s)),
            ..worst
        })
    }

    /// The verdict on the cluster of a run that loses most, or `None` if its ranks share one work.
    fn of_cluster(model: &Model, base: &BaseTables) -> Option<Verdict> {
        let clusters = &base.clusters;
        if !clusters.are_apart() {
            return None;
        }
        let waits = ClusterWaits::from_model(model);
        let row = clusters.rows.iter().max_by(|a, b| {
            waits
                .lost_besides_s(a)
                .total_cmp(&waits.lost_besides_s(b))
                .then_with(|| a.computation_s().total_cmp(&b.computation_s()))
                .then(b.id.cmp(&a.id))
        })?;
        let are_independent = clusters
            .rows
            .iter()
            .all(|row| waits.for_others_s(row) < MIN_WAITING_FOR_OTHER_CLUSTERS * row.computation_s());
        let chosen = match waits.lost_besides_s(row) {
            _ if clusters.rows.len() == 1 => ClusterChoice::Only,
            0.0 => ClusterChoice::ComputesMost,
            _ if are_independent => ClusterChoice::LosesMost,
            _ => ClusterChoice::LosesMostByItself,
        };
        let waits_for_others_s = waits.for_others_s(row) / row.ranks.len().max(1) as f64;
        let part = model.sums_of(&row.ranks);
        let verdict =
            Verdict::new(&part, &row.efficiency, &regions::region_rows(&part), base.loops.are_sure_of(&row.ranks));
        let cluster = VerdictCluster { id: row.id, ranks: row.ranks.clone(), chosen, waits_for_others_s };
        Some(Verdict { cluster: Some(cluster), ..verdict })
    }

    /// The verdict on all ranks of a model. `is_sure` is true if known iterations are certain.
    fn new(model: &Model, efficiency: &EfficiencyRow, regions: &[RegionRow], is_sure: bool) -> Verdict {
        let times = &efficiency.times;
        let (mean_s, max_s, elapsed_s) = (times.avg_computation_s, times.max_computation_s, times.elapsed_s);
        let serialization = efficiency.serialization(is_sure);
        let is_undivided = serialization.is_some_and(|all| all.undivided_s() > ROUNDING_OF_TIMES_S);
        let undivided = match efficiency.t_ideal_phase_profile_s {
            Some(_) => UndividedReason::UnsureLoop,
            None => UndividedReason::NoIterations,
        };
        let imbalance_s = max_s - mean_s;
        let rest_s = elapsed_s - max_s - serialization.map_or(0.0, |all| all.total_s);
        let recorder = model.inclusive_s(0, Activity::Recorder);
        let recorder_s = (recorder.iter().sum::<f64>() / recorder.len().max(1) as f64).min(rest_s).max(0.0);
        let communication_s = (rest_s - recorder_s).max(0.0);
        Verdict {
            cluster: None,
            efficiency: *efficiency,
            elapsed_s,
            not_recorded_s: (model.elapsed_s() - elapsed_s).max(0.0),
            window_s: model.elapsed_s().max(elapsed_s),
            lost_s: elapsed_s - mean_s,
            lost_share: (elapsed_s > 0.0).then(|| (elapsed_s - mean_s) / elapsed_s),
            imbalance_s,
            serialization,
            undivided: is_undivided.then_some(undivided),
            recorder_s,
            communication_s,
            worst: LongestRank::find(
                model,
                &model.inclusive_s(0, Activity::Computation),
                &regions.iter().collect::<Vec<_>>(),
            ),
            outside_work: None,
            slow_parts: Vec::new(),
        }
    }

    /// Judges work before and after the main loop by itself, and the ranks by what they compute in the loop.
    fn with_outside_work(self, model: &Model, base: &BaseTables) -> Verdict {
        let serialization = self.serialization.unwrap_or_default();
        let lost_s = self.imbalance_s + serialization.total_s;
        let chains_s = serialization.chains_s.unwrap_or(0.0);
        let found = OutsideWork::find(model, self.elapsed_s, lost_s, chains_s, &base.regions);
        let Some(mut found) = found.filter(|_| self.cluster.is_none()) else { return self };
        for longest in found.before.iter_mut().chain(&mut found.after) {
            let path = longest.region.as_ref().map(|region| region.path.as_str());
            longest.explained =
                base.functions.as_ref().and_then(|functions| functions.explained_in(longest.rank, path));
        }
        Verdict { worst: found.within.take(), outside_work: Some(found), ..self }
    }

    /// Returns whether a region is judged with the ranks: all are, but for work before and after the main loop that is judged by itself.
    pub fn is_of_ranks(&self, path: &str) -> bool {
        self.outside_work.as_ref().is_none_or(|work| work.is_within(path))
    }

    /// Subtracts from the chains the saving by even work in every region: there, different ranks are slow in different parts of an iteration.
    fn with_divided_chains(self, what_if: &WhatIfTable) -> Verdict {
        let Some(serialization) = self.serialization else { return self };
        let mut rows = what_if.rows.iter().filter(|row| row.scenario == WhatIfScenario::RegionsBalanced);
        let Some(row) = rows.find(|row| what_if.is_gain(row)) else { return self };
        let least_s = MIN_IMBALANCE_IN_PARTS * self.elapsed_s;
        let divided = serialization.with_parts(row.saved_s, self.imbalance_s, least_s);
        Verdict { serialization: Some(divided), ..self }
    }
}

/// The waiting of clusters of ranks for each other.
struct ClusterWaits {
    /// Seconds that the first rank waits because of the second; empty where the ranks were not followed.
    pairs: Vec<(u32, u32, f64)>,
    /// Elapsed time of the run.
    elapsed_s: f64,
}

impl ClusterWaits {
    fn from_model(model: &Model) -> ClusterWaits {
        ClusterWaits {
            pairs: model.followed.as_ref().map_or_else(Vec::new, waiting_pairs),
            elapsed_s: model.elapsed_s(),
        }
    }

    /// Seconds within its elapsed time that the ranks of a cluster wait because of ranks that are not in it.
    fn for_others_s(&self, row: &ClusterRow) -> f64 {
        let others = self.pairs.iter().filter(|&&(waits, causes, _)| row.contains(waits) && !row.contains(causes));
        // Before all of its ranks begin, and after all have ended, they wait for others as well: that is not in its elapsed time.
        let outside_s = (self.elapsed_s - row.efficiency.times.elapsed_s) * row.ranks.len() as f64;
        (others.map(|&(.., seconds)| seconds).sum::<f64>() - outside_s).max(0.0)
    }

    /// Seconds lost in a cluster besides waiting for others, or 0 if they are few.
    fn lost_besides_s(&self, row: &ClusterRow) -> f64 {
        let (times, n_ranks) = (&row.efficiency.times, row.ranks.len() as f64);
        let lost_s = (times.elapsed_s - times.avg_computation_s) * n_ranks - self.for_others_s(row);
        if lost_s > (1.0 - GOOD_CORE_EFFICIENCY) * times.elapsed_s * n_ranks { lost_s } else { 0.0 }
    }
}
