//! The losses.

use serde_json::{Value, json};

use crate::report::text;
use crate::report::{Loss, Report};

pub(super) fn rows(report: &Report) -> Value {
    report.losses.iter().map(|loss| row(report, loss)).collect()
}

fn row(report: &Report, loss: &Loss) -> Value {
    let ranks: Vec<Value> = loss.ranks.iter().map(|(rank, share)| json!({"rank": rank, "share": share})).collect();
    let waits_at = loss.at.as_ref().map(|(operation, place)| {
        json!({
            "operation": operation,
            "function": place.function,
            "file": place.file,
            "line": place.line,
            "module": place.module,
            "offset": place.offset,
        })
    });
    let elapsed_s = report.verdict.elapsed_s;
    json!({
        "kind": loss.kind.name(),
        "lost_s": loss.lost_s,
        "share": (elapsed_s > 0.0).then(|| loss.lost_s / elapsed_s),
        "measured": loss.measured,
        "ranks": ranks,
        "region": loss.region,
        "waits_at": waits_at,
        "saved_s": loss.remedy.as_ref().map(|row| row.saved_s),
        "text": text::loss(report, loss),
    })
}
