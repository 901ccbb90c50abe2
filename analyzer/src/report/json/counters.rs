//! The user's counters.

use serde_json::{Value, json};

use crate::report::{CounterRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    let row = |row: &CounterRow| {
        json!({
            "name": row.name,
            "region": row.region,
            "n": row.totals.n,
            "sum": row.totals.sum,
            "min": row.totals.min,
            "max": row.totals.max,
        })
    };
    report.counters.iter().map(row).collect()
}
