//! Programs with and without the recorder: they end and print alike, and the report says what their heads say.
//!
//! Keys of these heads, beside those of [`crate::program`]:
//!
//! - `env:`, `buffer:` a variable of the environment; the same, LBPROF_BUFFER;
//! - `wrapper:` words before the program, `_` for a blank inside of one;
//! - `tool:` sources of tools that are preloaded, too, in this order; `before:` of one that is preloaded before the recorder;
//! - `plugin:` sources of shared objects, compiled with the MPI; their paths are in LBTEST_PLUGIN, with `:` between them;
//! - `records:` how many records each rank has of an operation: `Allreduce 10`, or at least as many: `Allreduce>= 10`;
//! - `calls:` how many calls the report counts, of all ranks and threads;
//! - `end:`, `abort-code:` how at least one rank ended; where by MPI_Finalize, all did;
//! - `exit-status:` the status that at least one rank ended with, as the report has it; `none`: that of no rank is known;
//! - `says:`, `says-not:` what is, and is not, in the verdict's words;
//! - `problems:` all kinds that the report shows, each of them; `maybe:` kinds that it may show, too;
//! - `times:` how often a kind of problem was met: `Spawned 1`;
//! - `report:` how lb-report ends, 0 unless given; 5: there is no run;
//! - `seconds:` how long a run may take, where that is longer than usual;
//! - `stderr:` how many lines the recorder says on stderr, none unless given; or several numbers, each of which may be.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::facts::check_words;
use crate::launch::{Job, Outcome};
use crate::program::shared_object;
use crate::suite::Case;
use crate::{known_outcome, place, run};

/// Kinds of problem that depend on how busy the machine is.
const OF_THE_MACHINE: [&str; 5] = ["Preempted", "NoCore", "Disturbed", "SlowClock", "ClocksUnknown"];

pub const NO_RUN: i32 = 5;

/// Runs the program of a case with and without the recorder, compares, and checks the report against the program's head.
///
/// Errors: the first difference.
pub fn with_and_without_the_same(case: &Case) -> anyhow::Result<()> {
    let program = &case.program;
    let binary = program.compiled(&case.mpi)?;
    let folder = place::fresh_folder(&case.name)?;
    let mut job = Job::new(&case.mpi, case.ranks, &binary, &folder).run_by_interpreter_of(program);
    if let Some(plugins) = program.value("plugin") {
        let paths = plugins.split_whitespace().map(|source| shared_object(&case.mpi.cc, source, &case.mpi));
        let paths = paths.map(|path| Ok(path?.display().to_string())).collect::<anyhow::Result<Vec<_>>>()?;
        job = job.with_env("LBTEST_PLUGIN", paths.join(":"));
    }
    let wrapper = program.value("wrapper").unwrap_or("").split_whitespace();
    job.wrapper = wrapper.map(|word| OsString::from(word.replace('_', " "))).collect();
    if let Some(buffer) = program.value("buffer") {
        job = job.with_env("LBPROF_BUFFER", buffer);
    }
    if let Some(seconds) = program.value("seconds") {
        job.timeout = Duration::from_secs(seconds.parse()?);
    }
    for assignment in program.values("env") {
        let (name, value) = assignment.split_once('=').context("env: without `=`")?;
        job = job.with_env(name, value);
    }
    let object = |source: &str| shared_object(&["cc".into()], source, &case.mpi).map(|path| path.display().to_string());
    if let Some(tools) = program.value("tool") {
        let tools = tools.split_whitespace().chain(["support/yielding.c"]);
        job = job.with_env("LD_PRELOAD", tools.map(object).collect::<anyhow::Result<Vec<_>>>()?.join(":"));
    }
    if let Some(first) = program.value("before") {
        let script = format!("LD_PRELOAD={}:$LD_PRELOAD exec \"$@\"", object(first)?);
        job.wrapper = ["sh", "-c", &script, "sh"].map(OsString::from).to_vec();
    }
    let growth = |how: &str| folder.join(format!("growth-{how}"));
    let bare = known_outcome::of_bare(&job.clone().with_env("LBTEST_GROWTH", growth("bare")))?;
    let recorded = job.clone().with_env("LBTEST_GROWTH", growth("recorded")).recorded()?;
    recorded.must_equal(&bare, &case.mpi)?;
    let lines: Vec<usize> =
        program.value("stderr").unwrap_or("0").split(' ').map(str::parse).collect::<Result<_, _>>()?;
    must_say(&recorded, &lines)?;
    check_growth(&growth("bare"), &growth("recorded"), case.ranks)?;
    check_report(case, &job.logs())
}

/// Returns whether a line is the one that the first rank says when it ends.
pub fn is_end_line(line: &str) -> bool {
    line.contains("lbprof: ") && line.contains("; read it with: lb-report")
}

/// Returns what the recorder says on stderr besides that line.
pub fn lines_of_recorder(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains("lbprof: ") && !is_end_line(line)).collect()
}

/// The recorder says as many lines on stderr as one of these, besides the one in the end.
///
/// Errors: it does not, with what it says.
pub fn must_say(outcome: &Outcome, times: &[usize]) -> anyhow::Result<()> {
    let lines = lines_of_recorder(&outcome.stderr);
    ensure!(times.contains(&lines.len()), "{} lines on stderr, not {times:?}:\n{}", lines.len(), lines.join("\n"));
    Ok(())
}

/// What the program says of its memory: with the recorder each rank may grow by 1 MiB more than without.
fn check_growth(bare: &Path, recorded: &Path, ranks: usize) -> anyhow::Result<()> {
    const ROOM_KIB: i64 = 1024;
    for rank in 0..ranks {
        let read = |path: &Path| fs::read_to_string(path.with_extension(rank.to_string()));
        let Ok(bare) = read(bare) else { return Ok(()) };
        let (bare, recorded): (i64, i64) = (bare.trim().parse()?, read(recorded)?.trim().parse()?);
        ensure!(recorded <= bare + ROOM_KIB, "rank {rank} grew by {recorded} KiB, without the recorder by {bare} KiB");
    }
    Ok(())
}

/// How lb-report ends, and what it prints.
///
/// Errors: it failed by itself.
pub fn lb_report(folder: &Path) -> anyhow::Result<(i32, String)> {
    let output = Command::new(place::built("lb-report")?).arg(folder).stdin(Stdio::null()).output()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = output.status.code().with_context(|| format!("lb-report was ended by a signal: {text}"))?;
    ensure!(code != 1 && !text.contains("panicked"), "lb-report failed: {text}");
    Ok((code, text))
}

fn check_report(case: &Case, logs: &Path) -> anyhow::Result<()> {
    let program = &case.program;
    let (code, text) = lb_report(logs)?;
    let expected: i32 = program.value("report").map_or(Ok(0), str::parse)?;
    ensure!(code == expected, "lb-report ends with {code}, not {expected}:\n{text}");
    if expected == NO_RUN {
        return Ok(());
    }
    let report = run::report(logs)?;
    let words = |key| program.value(key).unwrap_or("").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let maybe = words("maybe");
    let mut found = run::problems(&report);
    found.retain(|kind| !maybe.contains(kind) && !OF_THE_MACHINE.contains(&kind.as_str()));
    let mut problems = words("problems");
    problems.sort();
    ensure!(found == problems, "the report shows {found:?}, not {problems:?}: {}", report["run"]["problems"]);
    for pair in words("times").chunks(2) {
        let [kind, times] = pair else { bail!("times: a kind without a number") };
        let rows = report["run"]["problems"].as_array().context("problems")?;
        let found = rows.iter().find(|row| row["kind"] == **kind).and_then(|row| row["count"].as_u64());
        ensure!(found == Some(times.parse()?), "{kind} was met {found:?} times, not {times}");
    }
    let ranks = report["ranks"].as_array().context("ranks")?;
    ensure!(ranks.len() == case.ranks, "the report has {} ranks", ranks.len());
    if let Some(end) = program.value("end") {
        let end = if end == "null" { Value::Null } else { end.into() };
        let ends: Vec<&Value> = ranks.iter().map(|rank| &rank["end"]).collect();
        let as_said = if end == "finalize" { ends.iter().all(|one| **one == end) } else { ends.contains(&&end) };
        ensure!(as_said, "the ranks end by {ends:?}, not {end}");
    }
    if let Some(code) = program.value("abort-code") {
        let code: i64 = code.parse()?;
        ensure!(ranks.iter().any(|rank| rank["abort_code"] == code), "no rank has the code {code}: {ranks:?}");
    }
    if let Some(status) = program.value("exit-status") {
        let found: Vec<&Value> = ranks.iter().map(|rank| &rank["exit_status"]).filter(|one| !one.is_null()).collect();
        let as_said = if status == "none" { found.is_empty() } else { found.contains(&&status.parse::<i64>()?.into()) };
        ensure!(as_said, "the ranks end with {found:?}, not {status}");
    }
    let wrong = check_words(program, &report)?;
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    if let Some(calls) = program.value("calls") {
        let calls: u64 = calls.parse()?;
        ensure!(report["run"]["calls"] == calls, "the report counts {} calls, not {calls}", report["run"]["calls"]);
    }
    let dump = run::dump(logs)?;
    dump.check_invariants()?;
    for pair in words("records").chunks(2) {
        let [operation, count] = pair else { bail!("records: an operation without a number") };
        let (operation, at_least) = operation.strip_suffix(">=").map_or((operation.as_str(), false), |op| (op, true));
        let count: usize = count.parse()?;
        for rank in 0..case.ranks as u32 {
            let found = dump.calls_of(rank).iter().filter(|record| record.operation == operation).count();
            let is_right = found == count || at_least && found > count;
            ensure!(is_right, "rank {rank} has {found} records of {operation}, not {count}");
        }
    }
    Ok(())
}
