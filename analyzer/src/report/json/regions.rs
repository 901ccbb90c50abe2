//! The regions.

use std::collections::BTreeMap;

use lbprof_collector::definition::RegionKind;
use serde_json::{Value, json};

use super::efficiency;
use crate::report::{RegionRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    report.regions.iter().map(row).collect()
}

fn row(row: &RegionRow) -> Value {
    let kind = match row.kind {
        RegionKind::Useful => "useful",
        RegionKind::Control => "control",
        RegionKind::Serial => "serial",
    };
    let activities: BTreeMap<&str, Value> = row
        .activities
        .iter()
        .map(|(activity, mean_s, max_s)| {
            (activity.name(), json!({ "mean_s": mean_s, "max_s": max_s, "id": Value::Null }))
        })
        .collect();
    json!({
        "path": row.path,
        "source": if row.found { "found" } else { "marked" },
        "kind": kind,
        "iterated": row.iterated,
        "time_s": row.time_s,
        "share": row.share,
        "inclusive_s": row.inclusive_s,
        "activities": activities,
        "id_c": Value::Null,
        "sid_c": Value::Null,
        "efficiency": efficiency::object(&row.efficiency),
        "slowest_rank": row.slowest_rank,
        "iterations": row.iterations,
        "invocations": row.totals.invocations,
        "operations": row.totals.operations,
        "quanta": row.totals.quanta,
        "max_resident_bytes": row.totals.max_resident,
        "max_swapped_bytes": row.totals.max_swapped,
    })
}
