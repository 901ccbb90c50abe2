//! The table of ranks: where each spent its time, and how it ended.

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;

use crate::model::{Model, RankModel, Seconds, Usage};
use crate::profile::operation_name;
use crate::structure::symbols::Place;

/// A rank.
#[derive(Clone, Debug)]
pub struct RankRow {
    /// Its number.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Begin of its window, from the run's.
    pub begin_s: f64,
    /// End of its window.
    pub end_s: f64,
    /// How its log ended, where it says so.
    pub end_reason: Option<EndReason>,
    /// The status with which its process ended, where that is known.
    pub exit_status: Option<i32>,
    /// Operation and place of the call in which it was when its log ended without an end.
    pub in_call: Option<(String, Place)>,
    /// Its computation.
    pub computation_s: f64,
    /// The time by which ranks are compared: computation, or that of the selected activities.
    pub compared_s: f64,
    /// Time by activity, of the selected ones.
    pub seconds: Seconds,
    /// Time outside of its window.
    pub idle_s: f64,
    /// Time for which recording was stopped.
    pub paused_s: f64,
    /// `compared_s` less the mean of all, as a share of the mean; `None` where that is zero.
    pub over_mean: Option<f64>,
    /// Records.
    pub events: u64,
    /// Threads beside the first that called MPI, and their time in it.
    pub other_threads: (u32, f64),
    /// Resources used.
    pub usage: Option<Usage>,
}

/// One row a rank, by number. `times` is the same model of some activities alone or of all.
pub(super) fn rows(model: &Model, times: &Model, places: &[Place]) -> Vec<RankRow> {
    let window = model.window_s();
    let compared = |rank: &RankModel| {
        let seconds = rank.inclusive(0);
        model.facts.selected.compared().iter().map(|&activity| seconds[activity as usize]).sum::<f64>()
    };
    let mean = times.ranks.iter().map(compared).sum::<f64>() / times.ranks.len().max(1) as f64;
    let row = |(rank, times): (&RankModel, &RankModel)| {
        let seconds = times.inclusive(0);
        let compared_s = compared(times);
        RankRow {
            rank: rank.rank,
            host: rank.host.clone(),
            pid: rank.pid,
            begin_s: rank.begin_s - window.0,
            end_s: rank.end_s - window.0,
            end_reason: rank.end_reason,
            exit_status: rank.exit_status,
            in_call: rank.pending.filter(|_| rank.end_reason.is_none()).map(|call| {
                let place = call.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
                (operation_name(call.operation), place)
            }),
            computation_s: rank.inclusive(0)[Activity::Computation as usize],
            compared_s,
            seconds,
            idle_s: rank.idle_s(window),
            paused_s: rank.paused_s,
            over_mean: (mean > 0.0).then(|| compared_s / mean - 1.0),
            events: rank.records,
            other_threads: (rank.other_threads, rank.other_threads_mpi_s),
            usage: rank.usage,
        }
    };
    model.ranks.iter().zip(&times.ranks).map(row).collect()
}
