//! The table of ranks: where each spent its time, and how it ended.

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;

use crate::gather::operation_name;
use crate::metrics::load_balance::Times;
use crate::model::{Model, RankModel, Seconds, Usage};
use crate::symbols::Place;

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
    /// Operation and place of the call in which it was when its log ended without an end.
    pub in_call: Option<(String, Place)>,
    /// Time by activity.
    pub seconds: Seconds,
    /// Time outside of its window.
    pub idle_s: f64,
    /// Time for which recording was stopped.
    pub paused_s: f64,
    /// Its computation less the mean of all, as a share of the mean; `None` where no rank computes.
    pub over_mean: Option<f64>,
    /// Records.
    pub events: u64,
    /// Threads beside the first that called MPI, and their time in it.
    pub other_threads: (u32, f64),
    /// Resources used.
    pub usage: Option<Usage>,
}

/// One row a rank, by number; `times` are the run's.
pub(super) fn rows(model: &Model, places: &[Place], times: &Times) -> Vec<RankRow> {
    let window = model.window_s();
    let mean = times.avg_computation_s;
    let row = |rank: &RankModel| {
        let seconds = rank.inclusive(0);
        let computation = seconds[Activity::Computation as usize];
        RankRow {
            rank: rank.rank,
            host: rank.host.clone(),
            pid: rank.pid,
            begin_s: rank.begin_s - window.0,
            end_s: rank.end_s - window.0,
            end_reason: rank.end_reason,
            in_call: rank.pending.filter(|_| rank.end_reason.is_none()).map(|call| {
                let place = call.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
                (operation_name(call.operation), place)
            }),
            seconds,
            idle_s: rank.idle_s(window),
            paused_s: rank.paused_s,
            over_mean: (mean > 0.0).then(|| computation / mean - 1.0),
            events: rank.records,
            other_threads: (rank.other_threads, rank.other_threads_mpi_s),
            usage: rank.usage,
        }
    };
    model.ranks.iter().map(row).collect()
}
