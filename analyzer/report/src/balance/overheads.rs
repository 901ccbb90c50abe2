//! Overheads, efficiency and speedup, and waiting due to imbalance.

use lbprof_collector::Activity;
use serde::Serialize;

use super::efficiency::EfficiencyRow;
use crate::index_of_largest;
use crate::rows::bounds::{ListBounds, first_entries, per_entry};
use lbprof_analysis::metrics::overhead::{self, OverheadBreakdown};
use lbprof_analysis::metrics::spread::imbalance::{IdealTimes, ImbalanceSplit, split_imbalance};
use lbprof_analysis::metrics::spread::load_balance::is_above_elapsed;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::solo_time::SoloTime;

/// Overheads of the run.
#[derive(Clone, Debug)]
pub struct OverheadTable {
    /// Phases, time on one rank, efficiency and speedup.
    pub overheads: OverheadBreakdown,
    /// Waiting that follows from imbalance, in its parts.
    pub imbalance: ImbalanceSplit,
    /// Time for which ranks work alone, or `None` if it is not known.
    pub alone: Option<SoloTime>,
}

/// Overheads, efficiency and speedup, as they are written.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub(crate) struct OverheadFigures {
    /// Time of the same work on one rank, assumed to be the computation of all ranks in regions that are useful or serial work.
    t_seq_s: f64,
    /// 1 / sum of the ratios of all phases; null if nothing is computed.
    efficiency: Option<f64>,
    /// Speedup: that time × ranks.
    speedup: Option<f64>,
    /// An object per phase that occurs.
    phases: Vec<OverheadPhase>,
    /// Time that ranks wait for others that compute; a part of the phases above.
    imbalance: ImbalanceRow,
    /// Time in which one rank alone computes; null if calls were not recorded, or clocks cannot be compared.
    alone: Option<AloneRow>,
}

/// A phase and its overhead.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub(crate) struct OverheadPhase {
    /// `useful work`, `serial work`, `control of parallelism`: computation by kind of region; an activity; `idle`; `not recorded`.
    phase: &'static str,
    /// Time in it.
    time_s: f64,
    /// Its mean over ranks.
    mean_s: f64,
    /// `time_s` / `t_seq_s`.
    ratio: Option<f64>,
    /// Time of each rank / (`t_seq_s` / ranks), in the order of the ranks; of several successive ranks the largest.
    ratio_by_rank: Option<Vec<f64>>,
    /// Number of ranks that an entry stands for, the last maybe for fewer: 1, but for more than 512 ranks without `--full`.
    ranks_per_ratio: usize,
    /// The largest of these.
    ratio_max: Option<f64>,
    /// The rank with that, the lowest of several.
    ratio_max_rank: Option<u32>,
}

/// Waiting that follows from imbalance.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ImbalanceRow {
    /// Sum of the known parts.
    all: ImbalancePart,
    /// Waiting while one rank works alone; null if that is not known.
    amdahl: Option<ImbalancePart>,
    /// Waiting because total computation differs between ranks, minus the above.
    global: ImbalancePart,
    /// Waiting because it differs within iterations, minus the above; null if no iterations are known, or the found loop is unsure.
    temporal: Option<ImbalancePart>,
    /// Waiting because ranks depend on each other within iterations: the rest of ranks × ideal time by replay; null if iterations, likewise, or
    /// the replay are not known.
    chains: Option<ImbalancePart>,
    /// Waiting for one of these two reasons, of which it is not known which; null if they are known, or the ideal time is not.
    unsplit: Option<ImbalancePart>,
}

/// A part of the waiting that follows from imbalance.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct ImbalancePart {
    /// Its time.
    time_s: f64,
    /// The mean over ranks.
    mean_s: f64,
    /// `time_s` / `t_seq_s`.
    ratio: Option<f64>,
}

/// The time that one rank alone computes.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct AloneRow {
    /// For any reason.
    alone_s: f64,
    /// While the others have nothing to do.
    serial_s: f64,
    /// Two standard errors of `serial_s`.
    error_s: f64,
    /// Time between the samples that these come from.
    step_s: f64,
    /// Number of ranks that work alone.
    serial_ranks: usize,
    /// Ranks that work alone, an object each, the longest first; 1,000 at most unless `--full` is given.
    serial: Vec<RankSeconds>,
}

/// A rank and the time for which it works alone.
#[derive(Debug, Serialize, crate::JsonSchema)]
struct RankSeconds {
    /// The rank.
    rank: u32,
    /// Time on it.
    time_s: f64,
}

impl ImbalancePart {
    fn new(time_s: f64, overheads: &OverheadBreakdown, n_ranks: f64) -> ImbalancePart {
        ImbalancePart { time_s, mean_s: time_s / n_ranks, ratio: overheads.ratio_of(time_s) }
    }
}

fn largest_value(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

impl OverheadFigures {
    /// `ranks` are the numbers of the ranks.
    pub(crate) fn new(table: &OverheadTable, ranks: &[u32], bounds: &ListBounds) -> OverheadFigures {
        let overheads = &table.overheads;
        let ImbalanceSplit { amdahl_s, global_s, temporal_s, chains_s, unsplit_s } = table.imbalance;
        let known = [amdahl_s, Some(global_s), temporal_s, chains_s, unsplit_s];
        let n_ranks = ranks.len().max(1) as f64;
        let n = per_entry(ranks.len(), bounds.values);
        let phases = overheads.phases.iter().map(|phase| {
            let ratios = overheads.ratios_by_rank(phase);
            let at = ratios.as_deref().and_then(index_of_largest);
            OverheadPhase {
                phase: phase.phase.name(),
                time_s: phase.total_s(),
                mean_s: phase.total_s() / n_ranks,
                ratio: overheads.ratio(phase),
                ratio_max: ratios.as_deref().map(largest_value),
                ratio_max_rank: at.and_then(|at| ranks.get(at).copied()),
                ratio_by_rank: ratios.map(|ratios| ratios.chunks(n).map(largest_value).collect()),
                ranks_per_ratio: n,
            }
        });
        OverheadFigures {
            t_seq_s: overheads.t_seq_s,
            efficiency: overheads.efficiency(),
            speedup: overheads.speedup(),
            phases: phases.collect(),
            imbalance: ImbalanceRow {
                all: ImbalancePart::new(known.into_iter().flatten().sum(), overheads, n_ranks),
                amdahl: amdahl_s.map(|time_s| ImbalancePart::new(time_s, overheads, n_ranks)),
                global: ImbalancePart::new(global_s, overheads, n_ranks),
                temporal: temporal_s.map(|time_s| ImbalancePart::new(time_s, overheads, n_ranks)),
                chains: chains_s.map(|time_s| ImbalancePart::new(time_s, overheads, n_ranks)),
                unsplit: unsplit_s.map(|time_s| ImbalancePart::new(time_s, overheads, n_ranks)),
            },
            alone: table.alone.as_ref().map(|alone| AloneRow {
                alone_s: alone.alone_s,
                serial_s: alone.serial_s(),
                error_s: alone.error_s,
                step_s: alone.step_s,
                serial_ranks: alone.serial.len(),
                serial: first_entries(&alone.serial, bounds.entries)
                    .iter()
                    .map(|&(rank, time_s)| RankSeconds { rank, time_s })
                    .collect(),
            }),
        }
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
        OverheadTable { overheads, imbalance, alone }
    }
}
