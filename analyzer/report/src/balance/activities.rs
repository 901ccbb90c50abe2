//! The table of activities.

use lbprof_collector::Activity;
use serde::Serialize;

use crate::DispersionRows;
use crate::rows::serial;
use lbprof_analysis::model::{CallTotals, Model};

/// An activity.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct ActivityRow {
    /// The activity.
    #[serde(rename = "name", serialize_with = "serial::activity")]
    #[schemars(with = "serial::ActivityName")]
    pub activity: Activity,
    /// Time in it.
    pub time_s: f64,
    /// Fraction of ranks × elapsed time.
    pub share: f64,
    /// Its mean over ranks.
    pub mean_s: f64,
    /// Its longest of a rank.
    pub max_s: f64,
    /// `max_s` − `mean_s`.
    pub over_mean_s: f64,
    /// The rank with that time, the lowest of several.
    pub max_rank: u32,
    /// Calls; of computation: intervals between calls.
    pub calls: u64,
    /// Bytes sent, written or contributed.
    #[serde(rename = "sent_bytes")]
    pub sent: u64,
    /// Bytes received, read or given.
    #[serde(rename = "received_bytes")]
    pub received: u64,
    /// ID_A: mean of its indices of dispersion in all regions, weighted by time; null for the recorder.
    pub id_a: Option<f64>,
    /// SID_A: that times its share.
    pub sid_a: Option<f64>,
    /// True if `sid_a` is severe: the largest of all activities.
    pub severe: bool,
    /// True if the ranks differ in it by 2 % of the elapsed time: their standard deviation, √P × `sid_a`, or `over_mean_s`.
    pub differs: bool,
    /// Path of the region with most of its time.
    pub worst_region: Option<String>,
    /// Path of the region with the least time in it, among those that perform it.
    pub best_region: Option<String>,
}

/// Returns a row per activity that occurs, the longest first.
pub(crate) fn activity_rows(model: &Model, dispersion: &DispersionRows) -> Vec<ActivityRow> {
    let whole = model.elapsed_s() * model.ranks.len() as f64;
    let mut rows: Vec<ActivityRow> = Vec::new();
    for activity in Activity::ALL {
        let mut sum = CallTotals::default();
        let (mut max_s, mut max_rank) = (0.0, 0);
        for rank in &model.ranks {
            let mut own = CallTotals::default();
            for (_, cell) in rank.cells.iter().filter(|((_, of), _)| *of == activity) {
                own += *cell;
            }
            if own.seconds > max_s {
                (max_s, max_rank) = (own.seconds, rank.rank);
            }
            sum += own;
        }
        if sum == CallTotals::default() {
            continue;
        }
        let index = dispersion.views.activities[activity as usize];
        let extremes = dispersion.extremes[activity as usize];
        let mean_s = sum.seconds / model.ranks.len().max(1) as f64;
        let over_mean_s = max_s - mean_s;
        rows.push(ActivityRow {
            activity,
            time_s: sum.seconds,
            share: if whole > 0.0 { sum.seconds / whole } else { 0.0 },
            mean_s,
            max_s,
            over_mean_s,
            max_rank,
            calls: sum.calls,
            sent: sum.sent,
            received: sum.received,
            id_a: index.map(|index| index.id),
            sid_a: index.and_then(|index| index.sid),
            severe: dispersion.severe_activities[activity as usize],
            differs: dispersion.is_different(activity, over_mean_s, model.ranks.len()),
            worst_region: extremes.and_then(|found| Some(model.regions.get(found.worst)?.path.clone())),
            best_region: extremes.and_then(|found| Some(model.regions.get(found.best)?.path.clone())),
        });
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}
