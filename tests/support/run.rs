//! What a recorded run left, through the eyes of `lb-report`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::launch::last_lines;
use crate::place;

/// The tolerance of a measured time or ratio against the truth.
pub const TOLERANCE: f64 = 0.02;

#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the dump's keys, which docs/report-reference.md explains")]
pub struct Record {
    pub rank: u32,
    pub thread: u32,
    pub sequence: u64,
    pub operation: String,
    pub activity: String,
    pub begin_s: f64,
    pub end_s: Option<f64>,
    pub place: Option<String>,
    pub call_site: Option<u64>,
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
    #[serde(default)]
    pub group: Option<Vec<u32>>,
    pub value: Option<Value>,
}

/// The operations of markers; all others are calls or parts of calls.
const MARKERS: &str = "RegionEnter RegionLeave Work Counter Memory Flush Pause Resume ProgramEnd ParallelBegin \
                       ParallelWaits ParallelEnd ParallelThread";

impl Record {
    fn is_of_call(&self) -> bool {
        MARKERS.split(' ').all(|marker| marker != self.operation)
    }

    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Dump {
    pub records: Vec<Record>,
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

/// Runs a command, which must succeed, and returns what it prints.
pub fn printed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output()?;
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{command:?}: {}\n{out}{errors}", output.status);
    Ok(out.into_owned())
}

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

pub fn report(folder: &Path) -> anyhow::Result<Value> {
    report_asking(folder, &[])
}

pub fn report_asking(folder: &Path, arguments: &[&str]) -> anyhow::Result<Value> {
    let (_, text) = lb_report(&[], folder, &[&["--json"], arguments].concat())?;
    Ok(serde_json::from_str(&text)?)
}

pub fn talp(folder: &Path) -> anyhow::Result<Value> {
    let (_, text) = lb_report(&["export", "talp"], folder, &[])?;
    Ok(serde_json::from_str(&text)?)
}

/// A run in another program's format, with all of its bytes; of a trace of Paraver the events.
pub fn export(folder: &Path, format: &str) -> anyhow::Result<Vec<u8>> {
    let file = folder.with_extension(format);
    printed(Command::new(place::built("lb-report")?).args(["export", format]).arg(folder).arg("-o").arg(&file))?;
    let written = if format == "paraver" { file.with_extension("paraver.prv") } else { file };
    Ok(fs::read(written)?)
}

/// The names of the kinds of problem in a report, sorted.
pub fn problems(report: &Value) -> Vec<String> {
    let rows = report["run"]["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut kinds: Vec<String> =
        rows.iter().filter_map(|row| row["kind"].as_str().or(row.as_str())).map(str::to_owned).collect();
    kinds.sort();
    kinds
}

/// Returns whether the answer is that ranks had no cores of their own, on a machine that is busy with other things.
pub fn has_crowded_cores(report: &Value) -> bool {
    report["findings"][0]["kind"] == "no cores"
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

    /// How many calls of an operation, or parts of that name, a rank's first thread made.
    pub fn count_of(&self, rank: u32, operation: &str) -> usize {
        self.calls_of(rank).iter().filter(|call| call.operation == operation).count()
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
/// is the elapsed time that was recorded; the ratios within 0 to 1; what [`check_blocking`] checks.
pub fn check_report(report: &Value) -> anyhow::Result<()> {
    let efficiency = &report["efficiency"];
    let number = |name: &str| efficiency[name].as_f64();
    let of_run = |name: &str| report["run"][name].as_f64().with_context(|| format!("run.{name}"));
    let elapsed = of_run("elapsed_s")?;
    let recorded = number("elapsed_s").context("efficiency.elapsed_s")?;
    // Clocks of several ranks agree only so well, at the begin and at the end.
    let room = 1e-6 * (1.0 + elapsed) + 2.0 * report["run"]["clock_error_s"].as_f64().unwrap_or(0.0);
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
    check_losses(report)?;
    check_blocking(report)?;
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

/// The verdict's parts, and those of serialization, add up; and so do the findings.
fn check_losses(report: &Value) -> anyhow::Result<()> {
    let verdict = |name: &str| report["verdict"][name].as_f64();
    let lost_s = verdict("lost_s").context("verdict.lost_s")?;
    let room = 1e-9 * (1.0 + lost_s);
    let parts =
        ["imbalance_s", "serialization_s", "communication_s", "recorder_s"].map(|name| verdict(name).unwrap_or(0.0));
    ensure!((parts.iter().sum::<f64>() - lost_s).abs() <= room, "{parts:?} are not the {lost_s} s lost");
    if let (Some(all_s), Some(turn_s), Some(chains_s)) =
        (verdict("serialization_s"), verdict("slow_in_turn_s"), verdict("dependency_chains_s"))
    {
        let parts_s = verdict("slow_in_parts_s").unwrap_or(0.0);
        let sum_s = turn_s + parts_s + chains_s;
        ensure!((sum_s - all_s).abs() <= room, "{turn_s} + {parts_s} + {chains_s} s are not {all_s} s");
    }
    if report["verdict"]["cluster"].is_null() {
        let findings = report["findings"].as_array().context("findings")?;
        let found_s: f64 = findings.iter().filter_map(|finding| finding["seconds"].as_f64()).sum();
        ensure!((lost_s - found_s).abs() <= room, "findings of {found_s} s, lost are {lost_s} s");
    }
    Ok(())
}

/// What must hold of any run of which ranks were followed: causes of waiting add up to the waiting, and none is negative; the replay with
/// everything as it was takes as long as the run, that on an ideal network at least as long as any rank computes.
fn check_blocking(report: &Value) -> anyhow::Result<()> {
    let Some(total) = report["blocking"]["total_s"].as_f64() else { return Ok(()) };
    let sum_of = |list: &Value, key: &str| -> anyhow::Result<f64> {
        let values = list.as_array().context("a list")?.iter().map(|one| one[key].as_f64().context("a number"));
        values
            .map(|value| value.and_then(|value| if value < 0.0 { bail!("{key} is {value}") } else { Ok(value) }))
            .sum()
    };
    let room = 1e-6 * (1.0 + total);
    let caused = sum_of(&report["blocking"]["causes"], "caused_s")?;
    ensure!((caused - total).abs() <= room, "{caused} s of waiting have causes, {total} s are waited");
    let classes = report["blocking"]["by_class"].as_object().context("by_class")?;
    let by_class: f64 = classes.values().filter_map(Value::as_f64).sum();
    ensure!((by_class - total).abs() <= room, "{by_class} s of waiting are in classes, {total} s are waited");
    let blocked = sum_of(&report["ranks"], "blocked_s")?;
    ensure!((blocked - total).abs() <= room, "ranks wait {blocked} s, {total} s are waited");
    // Where calls of some ranks are not known, or only their sums, nothing can be replayed.
    let lacks_calls = report["blocking"]["matching"]["not_recorded"].as_u64().is_some_and(|calls| calls > 0);
    if lacks_calls || problems(report).iter().any(|kind| kind == "LimitReached") {
        ensure!(report["predictions"].as_array().is_some_and(Vec::is_empty), "a replay of calls that are not known");
        return Ok(());
    }
    let time_of = |what: &str| {
        let replays = report["predictions"].as_array()?;
        replays.iter().find(|one| one["scenario"] == what)?["time_s"].as_f64()
    };
    let elapsed = report["run"]["elapsed_s"].as_f64().context("elapsed_s")?;
    let measured = time_of("as measured").context("no replay as measured")?;
    ensure!(
        (measured - elapsed).abs() <= TOLERANCE * elapsed,
        "the replay with everything as it was takes {measured} s, the run took {elapsed} s"
    );
    let efficiency = &report["efficiency"];
    if let (Some(ideal), Some(longest)) =
        (efficiency["t_ideal_replay_s"].as_f64(), efficiency["max_computation_s"].as_f64())
    {
        ensure!(ideal >= longest - 1e-6, "the ideal time is {ideal} s, a rank computes {longest} s");
    }
    Ok(())
}
