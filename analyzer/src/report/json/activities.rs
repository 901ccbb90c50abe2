//! The activities.

use serde_json::{Value, json};

use crate::report::{ActivityRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    let row = |row: &ActivityRow| {
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
            "id_a": Value::Null,
            "sid_a": Value::Null,
        })
    };
    report.activities.iter().map(row).collect()
}
