//! Overheads, efficiency and speedup, and waiting due to imbalance.

use lbprof_collector::Activity;
use serde::Serialize;

use super::efficiency::EfficiencyRow;
use crate::index_of_largest;
use crate::rows::bounds::{ListBounds, per_entry};
use lbprof_analysis::metrics::overhead::{self, OverheadBreakdown};
use lbprof_analysis::metrics::spread::imbalance::{IdealTimes, ImbalanceSplit, split_imbalance};
use lbprof_analysis::metrics::spread::load_balance::is_above_elapsed;
use lbprof_analysis::model::replayed::solo_time::SoloTime;
use lbprof_analysis::model::{Model, RankModel};

/// Overheads of the run.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct OverheadTable {
    /// Phases, time on one rank, efficiency and speedup.
    #[serde(skip)]
    pub overheads: OverheadBreakdown,
    /// Waiting that follows from imbalance, in its parts.
    #[serde(skip)]
    pub imbalance: ImbalanceSplit,
    /// Time for which ranks work alone, or `None` if it is not known.
    #[serde(skip)]
    pub alone: Option<SoloTime>,
    /// The figures that follow from these.
    #[serde(flatten)]
    pub figures: OverheadFigures,
}

/// Overheads, efficiency and speedup.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct OverheadFigures {
    /// Time of the same work on one rank, assumed to be the computation of all ranks in regions that are useful or serial work.
    pub t_seq_s: f64,
    /// 1 / sum of the ratios of all phases; null if nothing is computed.
    pub efficiency: Option<f64>,
    /// Speedup: that time × ranks.
    pub speedup: Option<f64>,
    /// An object per phase that occurs.
    pub phases: Vec<OverheadPhase>,
    /// Time that ranks wait for others that compute; a part of the phases above.
    pub imbalance: ImbalanceRow,
    /// Time in which one rank alone computes; null if calls were not recorded, or clocks cannot be compared.
    pub alone: Option<AloneRow>,
}

/// A phase and its overhead.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct OverheadPhase {
    /// `useful work`, `serial work`, `control of parallelism`: computation by kind of region; an activity; `idle`; `not recorded`.
    pub phase: &'static str,
    /// Time in it.
    pub time_s: f64,
    /// Its mean over ranks.
    pub mean_s: f64,
    /// `time_s` / `t_seq_s`.
    pub ratio: Option<f64>,
    /// Time of each rank / (`t_seq_s` / ranks), in the order of the ranks; of several successive ranks the largest.
    pub ratio_by_rank: Option<Vec<f64>>,
    /// Number of ranks that an entry stands for, the last maybe for fewer: 1, but for more than 512 ranks without `--full`.
    pub ranks_per_ratio: usize,
    /// The largest of these.
    pub ratio_max: Option<f64>,
    /// The rank with that, the lowest of several.
    pub ratio_max_rank: Option<u32>,
}

/// Waiting that follows from imbalance.
#[derive(Clone, Copy, Debug, Serialize, crate::JsonSchema)]
pub struct ImbalanceRow {
    /// Sum of the known parts.
    pub all_s: f64,
    /// The mean of `all_s` over ranks.
    pub all_mean_s: f64,
    /// `all_s` / `t_seq_s`.
    pub all_ratio: Option<f64>,
    /// Waiting while one rank works alone; null if that is not known.
    pub amdahl_s: Option<f64>,
    /// The mean of `amdahl_s` over ranks.
    pub amdahl_mean_s: Option<f64>,
    /// `amdahl_s` / `t_seq_s`.
    pub amdahl_ratio: Option<f64>,
    /// Waiting because total computation differs between ranks, minus the above.
    pub global_s: f64,
    /// The mean of `global_s` over ranks.
    pub global_mean_s: f64,
    /// `global_s` / `t_seq_s`.
    pub global_ratio: Option<f64>,
    /// Waiting because it differs within iterations, minus the above; null if no iterations are known, or the found loop is unsure.
    pub temporal_s: Option<f64>,
    /// The mean of `temporal_s` over ranks.
    pub temporal_mean_s: Option<f64>,
    /// `temporal_s` / `t_seq_s`.
    pub temporal_ratio: Option<f64>,
    /// Waiting because ranks depend on each other within iterations: the rest of ranks × ideal time by replay; null if iterations, likewise, or
    /// the replay are not known.
    pub chains_s: Option<f64>,
    /// The mean of `chains_s` over ranks.
    pub chains_mean_s: Option<f64>,
    /// `chains_s` / `t_seq_s`.
    pub chains_ratio: Option<f64>,
    /// Waiting for one of these two reasons, of which it is not known which; null if they are known, or the ideal time is not.
    pub unsplit_s: Option<f64>,
    /// The mean of `unsplit_s` over ranks.
    pub unsplit_mean_s: Option<f64>,
    /// `unsplit_s` / `t_seq_s`.
    pub unsplit_ratio: Option<f64>,
}

/// The time that one rank alone computes.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct AloneRow {
    /// For any reason.
    pub alone_s: f64,
    /// While the others have nothing to do.
    pub serial_s: f64,
    /// Two standard errors of `serial_s`.
    pub error_s: f64,
    /// Time between the samples that these come from.
    pub step_s: f64,
    /// Number of ranks that work alone.
    pub serial_ranks: usize,
    /// Ranks that work alone, an object each, the longest first; 1,000 at most unless `--full` is given.
    pub serial: Vec<RankSeconds>,
}

/// A rank and the time for which it works alone.
#[derive(Clone, Copy, Debug, Serialize, crate::JsonSchema)]
pub struct RankSeconds {
    /// The rank.
    pub rank: u32,
    /// Time on it.
    pub time_s: f64,
}

impl OverheadFigures {
    fn new(
        overheads: &OverheadBreakdown,
        imbalance: &ImbalanceSplit,
        alone: Option<&SoloTime>,
        ranks: &[RankModel],
    ) -> OverheadFigures {
        let ImbalanceSplit { amdahl_s, global_s, temporal_s, chains_s, unsplit_s } = *imbalance;
        let known = [amdahl_s, Some(global_s), temporal_s, chains_s, unsplit_s];
        let all_s: f64 = known.into_iter().flatten().sum();
        let n_ranks = ranks.len().max(1) as f64;
        let phases = overheads.phases.iter().map(|phase| {
            let ratio_by_rank = overheads.ratios_by_rank(phase);
            let at = ratio_by_rank.as_deref().and_then(index_of_largest);
            OverheadPhase {
                phase: phase.phase.name(),
                time_s: phase.total_s(),
                mean_s: phase.total_s() / n_ranks,
                ratio: overheads.ratio(phase),
                ratio_max: at.and_then(|at| ratio_by_rank.as_ref()?.get(at).copied()),
                ratio_max_rank: at.and_then(|at| Some(ranks.get(at)?.rank)),
                ratio_by_rank,
                ranks_per_ratio: 1,
            }
        });
        OverheadFigures {
            t_seq_s: overheads.t_seq_s,
            efficiency: overheads.efficiency(),
            speedup: overheads.speedup(),
            phases: phases.collect(),
            imbalance: ImbalanceRow {
                all_s,
                all_mean_s: all_s / n_ranks,
                all_ratio: overheads.ratio_of(all_s),
                amdahl_s,
                amdahl_mean_s: amdahl_s.map(|time_s| time_s / n_ranks),
                amdahl_ratio: amdahl_s.and_then(|time_s| overheads.ratio_of(time_s)),
                global_s,
                global_mean_s: global_s / n_ranks,
                global_ratio: overheads.ratio_of(global_s),
                temporal_s,
                temporal_mean_s: temporal_s.map(|time_s| time_s / n_ranks),
                temporal_ratio: temporal_s.and_then(|time_s| overheads.ratio_of(time_s)),
                chains_s,
                chains_mean_s: chains_s.map(|time_s| time_s / n_ranks),
                chains_ratio: chains_s.and_then(|time_s| overheads.ratio_of(time_s)),
                unsplit_s,
                unsplit_mean_s: unsplit_s.map(|time_s| time_s / n_ranks),
                unsplit_ratio: unsplit_s.and_then(|time_s| overheads.ratio_of(time_s)),
            },
            alone: alone.map(|alone| AloneRow {
                alone_s: alone.alone_s,
                serial_s: alone.serial_s(),
                error_s: alone.error_s,
                step_s: alone.step_s,
                serial_ranks: alone.serial.len(),
                serial: alone.serial.iter().map(|&(rank, time_s)| RankSeconds { rank, time_s }).collect(),
            }),
        }
    }
}

impl OverheadFigures {
    pub(crate) fn bounded(&self, bounds: &ListBounds) -> OverheadFigures {
        let mut all = self.clone();
        for phase in &mut all.phases {
            if let Some(ratios) = &mut phase.ratio_by_rank {
                let n = per_entry(ratios.len(), bounds.values);
                *ratios =
                    ratios.chunks(n).map(|chunk| chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
                phase.ranks_per_ratio = n;
            }
        }
        if let Some(alone) = &mut all.alone {
            alone.serial_ranks = alone.serial.len();
            alone.serial.truncate(bounds.entries);
        }
        all
    }
}

impl OverheadTable {
    /// `is_sure` says whether the iterations are certain.
    pub(crate) fn new(model: &Model, efficiency: &EfficiencyRow, is_sure: bool) -> OverheadTable {
        let alone = model.alone.clone().filter(|_| model.ranks.len() > 1);
        let serial_s = alone.as_ref().map(SoloTime::serial_s);
        // An estimate above the elapsed time shows that ranks do not wait for each other's iterations. Only a replay shows how much they do.
        let elapsed_s = efficiency.times.elapsed_s;
        let replay_s = efficiency.t_ideal_replay_s.map(|replay_s| replay_s.min(elapsed_s));
        let by_iteration_s = efficiency.t_ideal_phase_profile_s;
        let by_iteration_s =
            by_iteration_s.filter(|ideal_s| replay_s.is_some() || !is_above_elapsed(*ideal_s, elapsed_s));
        let by_iteration_s = by_iteration_s.map(|ideal_s| ideal_s.min(elapsed_s));
        let ideal = IdealTimes { by_iteration_s, replay_s, is_sure };
        let computation = model.inclusive_s(0, Activity::Computation);
        let overheads = overhead::overhead_breakdown(model);
        let imbalance = split_imbalance(&computation, ideal, serial_s);
        let figures = OverheadFigures::new(&overheads, &imbalance, alone.as_ref(), &model.ranks);
        OverheadTable { overheads, imbalance, alone, figures }
    }
}
