//! The clusters of ranks.

use serde_json::{Value, json};

use crate::report::clusters::{CodeName, OwnCodeRow};
use crate::report::{ClusterRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    let row = |row: &ClusterRow| {
        json!({
            "id": row.id,
            "ranks": row.ranks,
            "efficiency": row.efficiency,
            "iterations": row.iterations.as_ref().map(|(region, count)| json!({ "region": region, "count": count })),
            "own_code": row.own_code.iter().map(own_code).collect::<Vec<_>>(),
        })
    };
    report.clusters.rows.iter().map(row).collect()
}

/// How the clusters were found, and the ranks of none.
pub(super) fn object(report: &Report) -> Value {
    let clusters = &report.clusters;
    let alone = |row: &ClusterRow| {
        json!({
            "rank": row.ranks.first(),
            "own_code": row.own_code.iter().map(own_code).collect::<Vec<_>>(),
        })
    };
    json!({
        "different_code": clusters.differ(),
        "iterate_together": clusters.iterate_together,
        "radius": clusters.radius.map(|radius| radius.value),
        "radius_given": clusters.radius.is_some_and(|radius| radius.given),
        "profiles": clusters.profiles,
        "profiles_clustered": clusters.clustered,
        "of_no_cluster": clusters.alone.iter().map(alone).collect::<Vec<_>>(),
    })
}

fn own_code(row: &OwnCodeRow) -> Value {
    let (region, operation, place) = match &row.code {
        CodeName::Region(path) => (Some(path), None, None),
        CodeName::Call(operation, place) => (None, Some(operation), place.as_ref()),
    };
    json!({
        "region": region,
        "operation": operation,
        "function": place.and_then(|place| place.function.as_ref()),
        "file": place.and_then(|place| place.file.as_ref()),
        "line": place.and_then(|place| place.line),
        "share": row.share,
    })
}
