//! The call sites.

use serde_json::{Value, json};

use crate::report::{Report, SiteRow};
use crate::structure::symbols::Place;

pub(super) fn rows(report: &Report) -> Value {
    let blocked_s =
        |one: &SiteRow| report.blocking.as_ref().map(|table| table.waits_at(one.id, &one.operation).blocked_s());
    report.call_sites.iter().map(|one| row(one, blocked_s(one))).collect()
}

fn row(row: &SiteRow, blocked_s: Option<f64>) -> Value {
    let Place { function, file, line, module, offset } = &row.place;
    json!({
        "id": row.id,
        "function": function,
        "file": file,
        "line": line,
        "module": module,
        "offset": row.id.map(|_| offset),
        "operation": row.operation,
        "activity": row.activity.name(),
        "calls": row.sum.calls,
        "time_s": row.sum.seconds,
        "max_s": row.max_s,
        "max_rank": row.max_rank,
        "blocked_s": blocked_s,
        "bytes": row.sum.sent.saturating_add(row.sum.received),
        "sent_bytes": row.sum.sent,
        "received_bytes": row.sum.received,
        "other_threads": {
            "calls": row.other_threads.calls,
            "time_s": row.other_threads.seconds,
            "sent_bytes": row.other_threads.sent,
            "received_bytes": row.other_threads.received,
        },
    })
}
