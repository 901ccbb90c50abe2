//! Overheads, efficiency and speedup, and the parts of waiting from imbalance.

use serde_json::{Value, json};

use crate::metrics::overhead::PhaseTime;
use crate::report::Report;

pub(super) fn object(report: &Report) -> Value {
    let table = &report.overheads;
    let overheads = &table.overheads;
    let phase = |phase: &PhaseTime| {
        json!({
            "phase": phase.phase.name(),
            "time_s": phase.total_s(),
            "ratio": overheads.ratio(phase),
            "ratio_by_rank": overheads.ratios_by_rank(phase),
        })
    };
    let ratio = |seconds: Option<f64>| seconds.and_then(|seconds| overheads.ratio_of(seconds));
    let imbalance = &table.imbalance;
    let alone = table.alone.as_ref().ok();
    json!({
        "t_seq_s": overheads.t_seq_s,
        "t_seq": if overheads.is_given { "given" } else { "assumed" },
        "efficiency": overheads.efficiency(),
        "speedup": overheads.speedup(),
        "phases": overheads.phases.iter().map(phase).collect::<Vec<_>>(),
        "imbalance": {
            "amdahl_s": imbalance.amdahl_s,
            "amdahl_ratio": ratio(imbalance.amdahl_s),
            "global_s": imbalance.global_s,
            "global_ratio": ratio(Some(imbalance.global_s)),
            "temporal_s": imbalance.temporal_s,
            "temporal_ratio": ratio(imbalance.temporal_s),
            "chains_s": imbalance.chains_s,
            "chains_ratio": ratio(imbalance.chains_s),
        },
        "alone": alone.map(|alone| json!({
            "alone_s": alone.alone_s,
            "serial_s": alone.serial_s(),
            "error_s": alone.error_s,
            "step_s": alone.step_s,
            "serial": alone.serial.iter().map(|(rank, seconds)| json!({ "rank": rank, "time_s": seconds })).collect::<Vec<_>>(),
        })),
    })
}
