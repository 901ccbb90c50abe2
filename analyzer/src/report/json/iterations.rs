//! The iterations of the main loop.

use serde_json::{Value, json};

use super::course;
use crate::report::Report;
use crate::report::grouped::IterationGroup;

pub(super) fn object(report: &Report) -> Value {
    let Some(iterations) = &report.iterations else {
        return json!({ "source": "none", "region": null, "count": 0, "whole": 0, "slowest": [], "trends": [], "stride": null, "per_iteration": [] });
    };
    let row = |IterationGroup { count, row, peak_s }: &IterationGroup| {
        let known = |seconds: f64| row.is_known.then_some(seconds);
        json!({
            "iteration": row.iteration,
            "count": count,
            "max_s": known(row.max_s),
            "peak_s": known(*peak_s),
            "mean_s": known(row.mean_s),
            "imbalance_s": known(row.imbalance_s()),
            "load_balance": row.load_balance(),
            "slowest_rank": row.is_known.then_some(row.slowest_rank),
            "ranks": row.ranks,
        })
    };
    json!({
        "source": super::loops::source(report),
        "region": iterations.region,
        "count": iterations.rows.len(),
        "whole": iterations.course.iterations,
        "slowest": course::slowest(&iterations.course),
        "trends": course::trends(&iterations.course),
        "stride": iterations.groups.first().map(|group| group.count),
        "per_iteration": iterations.groups.iter().map(row).collect::<Vec<_>>(),
    })
}
