//! The ranks.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use serde_json::{Value, json};

use crate::model::Seconds;
use crate::report::{RankRow, Report};

pub(super) fn rows(report: &Report) -> Value {
    report.ranks.iter().enumerate().map(|(at, rank)| row(report, at, rank)).collect()
}

fn row(report: &Report, at: usize, row: &RankRow) -> Value {
    let imbalanced = &report.dispersion.views.ranks;
    let blocking = report.blocking.as_ref();
    let (end, abort_code) = match row.end_reason {
        Some(EndReason::Finalize) => (Some("finalize"), None),
        Some(EndReason::Exit) => (Some("exit"), None),
        Some(EndReason::Abort(code)) => (Some("abort"), Some(code)),
        None => (None, None),
    };
    let usage = row.usage.map(|usage| {
        json!({
            "elapsed_s": usage.elapsed_s,
            "thread_cpu_s": usage.thread_cpu_s,
            "thread_delayed_s": usage.thread_delayed_s,
            "user_s": usage.user_s,
            "system_s": usage.system_s,
            "thread_involuntary_switches": usage.thread_involuntary,
            "voluntary_switches": usage.voluntary,
            "max_resident_bytes": usage.max_resident,
        })
    });
    json!({
        "rank": row.rank,
        "host": row.host,
        "pid": row.pid,
        "begin_s": row.begin_s,
        "end_s": row.end_s,
        "end": end,
        "abort_code": abort_code,
        "exit_status": row.exit_status,
        "in_call": row.in_call.as_ref().map(|(operation, place)| json!({
            "operation": operation,
            "function": place.function,
            "file": place.file,
            "line": place.line,
        })),
        "computation_s": row.computation_s,
        "compared_s": row.compared_s,
        "over_mean": row.over_mean,
        "activities": by_activity(&row.seconds),
        "idle_s": row.idle_s,
        "paused_s": row.paused_s,
        "blocked_s": blocking.map(|table| table.sums.waits_s.get(&row.rank).copied().unwrap_or(0.0)),
        "blocking_caused_s": blocking.map(|table| table.sums.causes_s.get(&row.rank).copied().unwrap_or(0.0)),
        "cluster": report.clusters.of.get(at).copied().flatten(),
        "imbalanced_regions": imbalanced.regions.get(at),
        "imbalanced_s": imbalanced.seconds.get(at),
        "events": row.events,
        "other_threads": row.other_threads.0,
        "other_threads_mpi_s": row.other_threads.1,
        "usage": usage,
    })
}

fn by_activity(seconds: &Seconds) -> BTreeMap<&'static str, f64> {
    let spent = Activity::ALL.into_iter().filter(|&activity| seconds[activity as usize] > 0.0);
    spent.map(|activity| (activity.name(), seconds[activity as usize])).collect()
}
