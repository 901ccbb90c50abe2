//! The verdict.

use serde_json::{Value, json};

use crate::report::{Report, text};

pub(super) fn object(report: &Report) -> Value {
    let verdict = &report.verdict;
    let worst = verdict.worst.as_ref().map(|worst| {
        json!({
            "rank": worst.rank,
            "computation_s": worst.computation_s,
            "over_mean_s": worst.over_mean_s,
            "region": worst.region.as_ref().map(|region| &region.path),
            "region_over_mean_s": worst.region.as_ref().map(|region| region.excess_s),
        })
    });
    let waits_at = verdict.waits_at.as_ref().map(|site| {
        json!({
            "operations": site.operations,
            "function": site.place.function,
            "file": site.place.file,
            "line": site.place.line,
            "several": site.several,
            "mean_s": site.mean_s,
        })
    });
    json!({
        "kind": verdict.kind.name(),
        "cluster": verdict.cluster.as_ref().map(|cluster| cluster.id),
        "waits_for_others_s": verdict.cluster.as_ref().map(|cluster| cluster.waits_for_others_s),
        "text": text::verdict(report),
        "doubts": report.doubts.iter().map(|doubt| json!({ "kind": doubt.name(), "text": text::doubt(report, doubt) })).collect::<Vec<_>>(),
        "advised": !report.is_only_described(),
        "not_recorded_s": verdict.not_recorded_s,
        "lost_s": verdict.lost_s,
        "imbalance_s": verdict.imbalance_s,
        "serialization_s": verdict.serialization.map(|all| all.total_s),
        "slow_in_turn_s": verdict.serialization.and_then(|all| all.slow_in_turn_s),
        "dependency_chains_s": verdict.serialization.and_then(|all| all.chains_s),
        "recorder_s": verdict.recorder_s,
        "communication_s": verdict.communication_s,
        "worst": worst,
        "waits_at": waits_at,
    })
}
