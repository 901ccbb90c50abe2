//! What a recorded run left, through the eyes of `lb-report`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::formula::evaluate;
use crate::launch::last_lines;
use crate::place;
use crate::program::Program;

/// The tolerance of a measured time or ratio against the truth.
pub const TOLERANCE: f64 = 0.02;

/// A record, as `lb-report dump` prints it.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the dump's keys, which docs/reading-a-report.md explains")]
pub struct Record {
    pub rank: u32,
    pub thread: u32,
    pub sequence: u64,
    pub operation: String,
    pub activity: String,
    pub begin_s: f64,
    pub end_s: Option<f64>,
    pub place: Option<String>,
    pub comm_uid: Option<String>,
    pub comm_size: Option<u64>,
    pub peer: Option<u32>,
    pub peer_in_comm: Option<i32>,
    pub tag: Option<i32>,
    pub sent: u64,
    pub received: u64,
    pub request: Option<u32>,
    pub count: u32,
    pub flags: Vec<String>,
    pub region: String,
    pub iteration: Option<u32>,
    pub value: Option<Value>,
}

/// The operations of markers; all others are calls or parts of calls.
const MARKERS: [&str; 9] =
    ["RegionEnter", "RegionLeave", "Work", "Counter", "Memory", "Flush", "Pause", "Resume", "ProgramEnd"];

impl Record {
    /// Whether it is a call or a part of one.
    pub fn is_of_call(&self) -> bool {
        !MARKERS.contains(&self.operation.as_str())
    }

    /// Whether this fact holds.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

/// All that `lb-report dump` prints of a run.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Records, by rank and thread in order.
    pub records: Vec<Record>,
    /// Lines of other types, by type.
    pub others: BTreeMap<String, Vec<Value>>,
}

fn lb_report(before: &[&str], folder: &Path, after: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let output = Command::new(place::built("lb-report")?).args(before).arg(folder).args(after).output()?;
    let arguments = [before, after].concat();
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(!stderr.contains("panicked"), "lb-report {arguments:?} {}: {stderr}", folder.display());
    let stdout = String::from_utf8(output.stdout)?;
    if stdout.is_empty() {
        bail!("lb-report {arguments:?} {} printed nothing:\n{}", folder.display(), last_lines(&stderr));
    }
    Ok((output.status.code(), stdout))
}

/// The records of the run in `folder`.
pub fn dump(folder: &Path) -> anyhow::Result<Dump> {
    let (_, text) = lb_report(&["dump"], folder, &[])?;
    let mut dump = Dump::default();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).with_context(|| format!("a line of the dump: {line}"))?;
        match value["type"].as_str() {
            Some("record") => dump.records.push(serde_json::from_value(value).with_context(|| line.to_owned())?),
            Some(kind) => dump.others.entry(kind.to_owned()).or_default().push(value),
            None => bail!("a line of the dump without a type: {line}"),
        }
    }
    Ok(dump)
}

/// The report, as `lb-report --json` prints it.
pub fn report(folder: &Path) -> anyhow::Result<Value> {
    let (_, text) = lb_report(&[], folder, &["--json"])?;
    Ok(serde_json::from_str(&text)?)
}

/// The names of the kinds of problem in a report, sorted.
pub fn problems(report: &Value) -> Vec<String> {
    let rows = report["run"]["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut kinds: Vec<String> =
        rows.iter().filter_map(|row| row["kind"].as_str().or(row.as_str())).map(str::to_owned).collect();
    kinds.sort();
    kinds
}

/// The runs in a folder: `logs`, `logs-2` … in order.
pub fn runs_in(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let mut runs: Vec<_> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("logs"))
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    Ok(runs)
}

impl Dump {
    /// Calls and parts of calls of a rank's first thread, in order.
    pub fn calls_of(&self, rank: u32) -> Vec<&Record> {
        self.records.iter().filter(|record| record.rank == rank && record.thread == 0 && record.is_of_call()).collect()
    }

    /// What must hold of any run: times in order, windows closed, requests completed that were started.
    pub fn check_invariants(&self) -> anyhow::Result<()> {
        let mut last: HashMap<(u32, u32), (u64, f64)> = HashMap::new();
        let mut started: HashMap<(u32, u32), &Record> = HashMap::new();
        let mut paused: HashSet<u32> = HashSet::new();
        for record in &self.records {
            let at = format!("{record:?}");
            if let Some(&(sequence, begin_s)) = last.get(&(record.rank, record.thread)) {
                ensure!(sequence < record.sequence, "sequence numbers repeat or fall: {at}");
                // Half a microsecond: what printing and clock fits may cost.
                ensure!(begin_s <= record.begin_s + 5e-7, "begins before the record before it: {at}");
            }
            last.insert((record.rank, record.thread), (record.sequence, record.begin_s));
            if let Some(end_s) = record.end_s {
                ensure!(record.begin_s <= end_s, "ends before it begins: {at}");
            } else {
                ensure!(record.has("unfinished") || record.operation == "Abort", "has no end: {at}");
            }
            if record.operation == "Pause" {
                paused.insert(record.rank);
            }
            let Some(request) = record.request else { continue };
            let completes = matches!(
                record.operation.as_str(),
                "Completed" | "Wait" | "Waitany" | "Test" | "Testany" | "Request_free" | "Cancel"
            );
            if !completes {
                started.insert((record.rank, request), record);
            } else if let Some(start) = started.get(&(record.rank, request)) {
                ensure!(
                    record.has("nothing") || record.comm_uid == start.comm_uid,
                    "completes on another communicator than it started on: {at}, {start:?}"
                );
            } else {
                // What is started in a pause has no record.
                ensure!(paused.contains(&record.rank), "completes a request that was never started: {at}");
            }
        }
        Ok(())
    }
}

/// What must hold of any report: activities and what is not recorded fill all ranks' time; LB · µLB · transfer = avg / T, where T
/// is the elapsed time that was recorded; the ratios within 0 to 1.
pub fn check_report(report: &Value) -> anyhow::Result<()> {
    let efficiency = &report["efficiency"];
    let number = |name: &str| efficiency[name].as_f64();
    let of_run = |name: &str| report["run"][name].as_f64().with_context(|| format!("run.{name}"));
    let elapsed = of_run("elapsed_s")?;
    let recorded = number("elapsed_s").context("efficiency.elapsed_s")?;
    let room = 1e-6 * (1.0 + elapsed);
    let not_recorded = of_run("paused_s")? + of_run("unknown_s")?;
    ensure!(
        (-room..=not_recorded + room).contains(&(elapsed - recorded)),
        "{recorded} of {elapsed} s recorded, {not_recorded} s not"
    );
    for name in ["load_balance", "parallel", "communication"] {
        if let Some(value) = number(name) {
            ensure!((0.0..=1.0 + 1e-9).contains(&value), "{name} is {value}");
        }
    }
    let average = number("avg_computation_s").context("efficiency.avg_computation_s")?;
    if let (Some(lb), Some(micro), Some(transfer)) =
        (number("load_balance"), number("micro_load_balance"), number("transfer"))
    {
        let product = lb * micro * transfer;
        ensure!(
            (product - average / recorded).abs() < 1e-9,
            "LB·µLB·transfer = {product}, avg/T = {}",
            average / recorded
        );
    }
    let mut filled = of_run("idle_s")? + not_recorded;
    for rank in report["ranks"].as_array().context("ranks")? {
        let activities = rank["activities"].as_object().context("activities")?;
        let sum: f64 = activities.values().filter_map(Value::as_f64).sum();
        filled += sum;
        ensure!(sum <= elapsed + room, "rank {} has {sum} s of activities in {elapsed} s", rank["rank"]);
    }
    let all = of_run("ranks_present")? * elapsed;
    ensure!((filled - all).abs() <= 10.0 * room, "{filled} s of {all} s of all ranks are accounted for");
    Ok(())
}

/// Checks the `expect:` lines of a program's head against the report of its run.
///
/// `name = formula` is a value of `efficiency`, or `iterations`, their number, or `clusters`, theirs; `cluster 2 name = formula`
/// is such a value of the cluster with this id; `name[p] = formula` is the time of an activity on each rank p. P is the number
/// of ranks. A value must lie within 2 % of the formula's; where the formula gives 0, within 2 % of the elapsed time. With `none`
/// in place of a formula there must be no value.
pub fn check_expectations(program: &Program, ranks: usize, report: &Value) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    let elapsed = report["run"]["elapsed_s"].as_f64().context("run.elapsed_s")?;
    let mut compare = |what: String, found: Option<f64>, truth: f64| {
        let room = TOLERANCE * if truth == 0.0 { elapsed } else { truth.abs() };
        match found {
            Some(found) if (found - truth).abs() <= room => {}
            Some(found) => wrong.push(format!("{what} is {found:.5}, the truth {truth:.5} ± {room:.5}")),
            None => wrong.push(format!("{what} is not in the report, the truth is {truth:.5}")),
        }
    };
    let n = ranks as f64;
    for expectation in program.values("expect") {
        let (name, formula) = expectation.split_once('=').with_context(|| format!("expect: {expectation}"))?;
        let name = name.trim();
        if let Some(activity) = name.strip_suffix("[p]") {
            for (p, rank) in report["ranks"].as_array().context("ranks")?.iter().enumerate() {
                let truth = evaluate(formula, &[("P", n), ("p", p as f64)])?;
                let found = if activity == "computation" {
                    rank["computation_s"].as_f64()
                } else {
                    Some(rank["activities"][activity].as_f64().unwrap_or(0.0))
                };
                compare(format!("{activity} of rank {p}"), found, truth);
            }
        } else if formula.trim() == "none" {
            ensure!(value_of(name, report).is_none(), "{name} is in the report: {:?}", value_of(name, report));
        } else {
            compare(name.to_owned(), value_of(name, report), evaluate(formula, &[("P", n)])?);
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The value of a name that stands in the head of a program.
fn value_of(name: &str, report: &Value) -> Option<f64> {
    let cluster = name.strip_prefix("cluster ").and_then(|rest| rest.split_once(' '));
    match (name, cluster) {
        (_, Some((id, name))) => {
            let id: u64 = id.parse().ok()?;
            let cluster = report["clusters"].as_array()?.iter().find(|cluster| cluster["id"] == id)?;
            match name {
                "iterations" => cluster["iterations"]["count"].as_f64(),
                _ => cluster["efficiency"][name].as_f64(),
            }
        }
        ("clusters", _) => Some(report["clusters"].as_array()?.len() as f64),
        ("iterations", _) => report["iterations"]["count"].as_f64(),
        ("elapsed_s", _) => report["run"]["elapsed_s"].as_f64(),
        _ => report["efficiency"][name].as_f64(),
    }
}
