//! The report as JSON, schema "lbprof-report/1". docs/report-json.md describes every key; a test compares the two.
//!
//! Keys whose figures this version does not compute are null. Numbers have all their digits, times are in seconds.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbprof_collector::definition::{EndReason, RegionKind};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use serde_json::{Value, json};

use super::{EfficiencyRow, RankRow, RegionRow, Report, SiteRow};
use crate::model::Seconds;
use crate::symbols::Place;
use lbprof_collector::Activity;

/// Name and version of the schema.
pub const SCHEMA: &str = "lbprof-report/1";

/// Writes the report as one JSON document that ends with a new line.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_with(&document(report), Escaping(PrettyFormatter::new()), out)?;
    out.write_all(b"\n")
}

/// Writes a value on one line, without a new line at its end.
pub(crate) fn write_compact(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_with(value, Escaping(CompactFormatter), out)
}

fn write_with(value: &impl Serialize, formatter: impl Formatter, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(out, formatter)).map_err(io::Error::from)
}

/// A formatter that also escapes the control characters that JSON lets pass but terminals obey.
struct Escaping<F>(F);

macro_rules! forward {
    ($($name:ident($($arg:ident: $of:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $arg: $of)*) -> io::Result<()> {
            self.0.$name(writer $(, $arg)*)
        })*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    forward! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(super::text::is_hostile) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut chars = tail.chars();
            let mut units = [0; 2];
            for unit in chars.next().map_or(&[][..], |found| found.encode_utf16(&mut units)) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The report as a JSON value.
pub fn document(report: &Report) -> Value {
    json!({
        "schema": SCHEMA,
        "generator": concat!("lb-report ", env!("CARGO_PKG_VERSION")),
        "run": run(report),
        "verdict": verdict(report),
        "efficiency": efficiency(&report.efficiency),
        "ranks": report.ranks.iter().map(rank).collect::<Vec<_>>(),
        "activities": activities(report),
        "regions": report.regions.iter().map(region).collect::<Vec<_>>(),
        "iterations": iterations(report),
        "blocking": Value::Null,
        "clusters": Value::Null,
        "callsites": report.call_sites.iter().map(call_site).collect::<Vec<_>>(),
        "counters": counters(report),
    })
}

fn run(report: &Report) -> Value {
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
        "common_clock": facts.common_clock,
        "clock_error_s": facts.clock_error_s,
    })
}

fn problems(report: &Report) -> Value {
    let row = |problem: &super::ProblemRow| {
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

fn verdict(report: &Report) -> Value {
    let verdict = &report.verdict;
    let worst = verdict.worst.as_ref().map(|worst| {
        json!({
            "rank": worst.rank,
            "computation_s": worst.computation_s,
            "over_mean_s": worst.over_mean_s,
            "region": worst.region.as_ref().map(|(path, _)| path),
            "region_over_mean_s": worst.region.as_ref().map(|(_, excess)| excess),
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
        "text": super::text::verdict(report),
        "not_recorded_s": verdict.not_recorded_s,
        "lost_s": verdict.lost_s,
        "imbalance_s": verdict.imbalance_s,
        "serialization_s": verdict.serialization_s,
        "recorder_s": verdict.recorder_s,
        "communication_s": verdict.communication_s,
        "worst": worst,
        "waits_at": waits_at,
    })
}

fn efficiency(row: &EfficiencyRow) -> Value {
    let times = &row.times;
    json!({
        "load_balance": times.load_balance(),
        "micro_load_balance": times.micro_load_balance(),
        "transfer": times.transfer(),
        "communication": times.communication(),
        "parallel": times.parallel(),
        "elapsed_s": times.elapsed_s,
        "t_ideal_s": times.t_ideal_s,
        "t_ideal_phase_profile_s": row.phase_profile.map(|ideal| ideal.seconds),
        "t_ideal_phase_profile_error_s": row.phase_profile.map(|ideal| ideal.error_s),
        "t_ideal_phase_profile_bound_s": row.phase_profile.map(|ideal| ideal.bound_s),
        "t_ideal_replay_s": Value::Null,
        "max_computation_s": times.max_computation_s,
        "avg_computation_s": times.avg_computation_s,
    })
}

fn by_activity(seconds: &Seconds) -> BTreeMap<&'static str, f64> {
    let spent = Activity::ALL.into_iter().filter(|&activity| seconds[activity as usize] > 0.0);
    spent.map(|activity| (activity.name(), seconds[activity as usize])).collect()
}

fn rank(row: &RankRow) -> Value {
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
        "in_call": row.in_call.as_ref().map(|(operation, place)| json!({
            "operation": operation,
            "function": place.function,
            "file": place.file,
            "line": place.line,
        })),
        "computation_s": row.seconds[Activity::Computation as usize],
        "over_mean": row.over_mean,
        "activities": by_activity(&row.seconds),
        "idle_s": row.idle_s,
        "paused_s": row.paused_s,
        "blocked_s": Value::Null,
        "cluster": Value::Null,
        "events": row.events,
        "other_threads": row.other_threads.0,
        "other_threads_mpi_s": row.other_threads.1,
        "usage": usage,
    })
}

fn activities(report: &Report) -> Value {
    let row = |row: &super::ActivityRow| {
        json!({
            "name": row.activity.name(),
            "time_s": row.time_s,
            "share": row.share,
            "mean_s": row.mean_s,
            "max_s": row.max_s,
            "max_rank": row.max_rank,
            "calls": row.calls,
            "sent_bytes": row.sent,
            "received_bytes": row.received,
            "id_a": Value::Null,
            "sid_a": Value::Null,
        })
    };
    report.activities.iter().map(row).collect()
}

fn region(row: &RegionRow) -> Value {
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
        "kind": kind,
        "iterated": row.iterated,
        "time_s": row.time_s,
        "share": row.share,
        "inclusive_s": row.inclusive_s,
        "activities": activities,
        "id_c": Value::Null,
        "sid_c": Value::Null,
        "efficiency": efficiency(&row.efficiency),
        "slowest_rank": row.slowest_rank,
        "iterations": row.iterations,
        "invocations": row.totals.invocations,
        "operations": row.totals.operations,
        "quanta": row.totals.quanta,
        "max_resident_bytes": row.totals.max_resident,
        "max_swapped_bytes": row.totals.max_swapped,
    })
}

fn iterations(report: &Report) -> Value {
    let Some(iterations) = &report.iterations else {
        return json!({ "source": "none", "region": null, "count": 0, "per_iteration": [] });
    };
    let row = |row: &super::IterationRow| {
        json!({
            "iteration": row.iteration,
            "max_s": row.max_s,
            "mean_s": row.mean_s,
            "slowest_rank": row.slowest_rank,
            "ranks": row.ranks,
        })
    };
    json!({
        "source": "marked",
        "region": iterations.region,
        "count": iterations.rows.len(),
        "per_iteration": iterations.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn call_site(row: &SiteRow) -> Value {
    let Place { function, file, line, module, offset } = &row.place;
    json!({
        "id": row.id,
        "function": function,
        "file": file,
        "line": line,
        "module": module,
        "offset": row.id.map(|_| offset),
        "operation": row.operation,
        "activity": row.activity.name(),
        "calls": row.sum.calls,
        "time_s": row.sum.seconds,
        "max_s": row.max_s,
        "max_rank": row.max_rank,
        "blocked_s": Value::Null,
        "bytes": row.sum.sent.saturating_add(row.sum.received),
        "sent_bytes": row.sum.sent,
        "received_bytes": row.sum.received,
        "other_threads": {
            "calls": row.other_threads.calls,
            "time_s": row.other_threads.seconds,
            "sent_bytes": row.other_threads.sent,
            "received_bytes": row.other_threads.received,
        },
    })
}

fn counters(report: &Report) -> Value {
    let row = |row: &super::CounterRow| {
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
