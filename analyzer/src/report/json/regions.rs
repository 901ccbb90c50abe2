//! The regions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::report::{RegionRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    report.regions.iter().map(|region| row(report, region)).collect()
}

fn row(report: &Report, row: &RegionRow) -> Value {
    let (at, dispersion) = (row.idx as usize, &report.dispersion);
    let index = dispersion.views.regions.get(at).copied().flatten();
    let cells = dispersion.views.rows.get(at).copied().unwrap_or_default();
    let activities: BTreeMap<&str, Value> = row
        .activities
        .iter()
        .map(|(activity, mean_s, max_s)| {
            let id = cells[*activity as usize].map(|cell| cell.id);
            (activity.name(), json!({ "mean_s": mean_s, "max_s": max_s, "id": id }))
        })
        .collect();
    let most_imbalanced = dispersion.views.most_imbalanced.get(at).copied().flatten().map(|found| {
        json!({
            "rank": report.ranks.get(found.rank).map(|row| row.rank),
            "id_p": found.id,
            "time_s": found.time_s,
        })
    });
    json!({
        "path": row.path,
        "source": if row.found { "found" } else { "marked" },
        "kind": row.kind.name(),
        "iterated": row.iterated,
        "time_s": row.time_s,
        "share": row.share,
        "inclusive_s": row.inclusive_s,
        "activities": activities,
        "id_c": index.map(|index| index.id),
        "sid_c": index.and_then(|index| index.sid),
        "severe": dispersion.severe_regions.get(at).copied().unwrap_or(false),
        "group": dispersion.groups.as_ref().and_then(|groups| groups.of.get(at).copied().flatten()),
        "most_imbalanced": most_imbalanced,
        "efficiency": row.efficiency,
        "compared_mean_s": row.compared.mean_s,
        "compared_max_s": row.compared.max_s,
        "compared_max_rank": row.compared.max_rank,
        "slowest_rank": row.slowest_rank,
        "iterations": row.iterations,
        "invocations": row.invocations,
        "operations": row.totals.operations,
        "quanta": row.totals.quanta,
        "max_resident_bytes": row.totals.max_resident,
        "max_swapped_bytes": row.totals.max_swapped,
    })
}
