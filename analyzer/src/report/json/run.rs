//! The run, what its data are made of, and what is wrong with them.

use serde_json::{Value, json};

use crate::report::{ProblemRow, Report};

pub(super) fn object(report: &Report) -> Value {
    let (facts, data) = (&report.facts, &report.data);
    json!({
        "id": format!("{:016x}", facts.run_id),
        "ranks": facts.n_ranks,
        "ranks_recorded": data.ranks_recorded,
        "ranks_present": data.ranks_present,
        "hosts": data.hosts,
        "elapsed_s": data.elapsed_s,
        "mpi": facts.mpi,
        "abi": facts.abi,
        "command": facts.command,
        "started_unix_s": facts.started_unix_s,
        "recorder": facts.recorder,
        "settings": facts.settings,
        "params": facts.params,
        "complete": data.complete,
        "problems": problems(report),
        "events": data.events,
        "calls": data.calls,
        "dropped_events": data.dropped_events,
        "recorder_s": data.recorder_s,
        "idle_s": data.idle_s,
        "paused_s": data.paused_s,
        "unknown_s": data.unknown_s,
        "polling": polling(report),
        "common_clock": facts.common_clock,
        "clock_error_s": facts.clock_error_s,
    })
}

fn polling(report: &Report) -> Value {
    let polls = &report.data.polls;
    json!({
        "rule": report.facts.polling.name(),
        "polls": polls.polls,
        "waits": polls.waits,
        "within_s": polls.within_s,
        "waiting_s": polls.waiting_s,
        "maybe_computation_s": polls.maybe_computation_s,
        "computation_s": polls.computation_s,
        "maybe_waiting_s": polls.maybe_waiting_s,
    })
}

fn problems(report: &Report) -> Value {
    let row = |problem: &ProblemRow| {
        json!({
            "kind": problem.kind.name(),
            "severity": problem.kind.severity().name(),
            "ranks": problem.ranks,
            "count": problem.count,
            "meaning": problem.kind.meaning(),
            "details": problem.details,
            "advice": problem.kind.advice(),
        })
    };
    report.problems.iter().map(row).collect()
}
