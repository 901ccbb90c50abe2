//! The activities.

use serde_json::{Value, json};

use super::dispersion::path;
use crate::report::{ActivityRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    let row = |row: &ActivityRow| {
        let at = row.activity as usize;
        let dispersion = &report.dispersion;
        let index = dispersion.views.activities[at];
        let extremes = dispersion.extremes[at];
        json!({
            "name": row.activity.name(),
            "time_s": row.time_s,
            "share": row.share,
            "mean_s": row.mean_s,
            "max_s": row.max_s,
            "max_rank": row.max_rank,
            "calls": row.calls,
            "sent_bytes": row.sent,
            "received_bytes": row.received,
            "id_a": index.map(|index| index.id),
            "sid_a": index.and_then(|index| index.sid),
            "severe": dispersion.severe_activities[at],
            "worst_region": extremes.and_then(|found| path(report, found.worst)),
            "best_region": extremes.and_then(|found| path(report, found.best)),
        })
    };
    report.activities.iter().map(row).collect()
}
