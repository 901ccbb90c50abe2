//! Programs that know how long each of their functions computed: the samples say the same.
//!
//! The functions are found by `nm` in the program, so that nothing of lb-report but its dump is asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use lbprof_tests::launch::{Job, is_root};
use lbprof_tests::run;
use lbprof_tests::stored::{self, RunSource};
use lbprof_tests::suite::{self, Case};
use libtest_mimic::Trial;
use serde_json::Value;

const PER_SECOND: f64 = 1000.0;

/// The functions of a program by their addresses, without what compilers append to the names of copies.
fn functions(program: &Path) -> anyhow::Result<BTreeMap<u64, String>> {
    let output = Command::new("nm").arg("--defined-only").arg(program).output().context("nm")?;
    let text = String::from_utf8(output.stdout)?;
    let function = |line: &str| {
        let [address, kind, name] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        (kind == "t" || kind == "T")
            .then(|| Some((u64::from_str_radix(address, 16).ok()?, name.split('.').next()?.to_owned())))?
    };
    Ok(text.lines().filter_map(function).collect())
}

/// Seconds of CPU time that the samples of a rank give each function of the program.
fn sampled(lines: &[Value], rank: u64, program: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    let functions = functions(program)?;
    let mut seconds = BTreeMap::new();
    for sample in lines.iter().filter(|line| line["rank"] == rank) {
        if sample["module"].as_str().is_some_and(|module| Path::new(module) == program) {
            let offset = sample["offset"].as_u64().context("an offset")?;
            let function = functions.range(..=offset).next_back().context("a function")?.1;
            *seconds.entry(function.clone()).or_default() += sample["weight_s"].as_f64().context("a weight")?;
        }
    }
    Ok(seconds)
}

/// The states of each rank's computation have the shares that its own clocks say, within five points.
fn states_are_as_long_as_the_program_says(report: &Value, truth: &Path) -> anyhow::Result<()> {
    for rank in report["ranks"].as_array().context("ranks")? {
        let number = rank["rank"].as_u64().context("a rank's number")?;
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for line in fs::read_to_string(truth.with_extension(number.to_string()))?.lines() {
            let (state, seconds) = line.rsplit_once(' ').context("a state and its time")?;
            // The system lets root alone see whether a thread is stopped.
            let state = if state == "stopped" && !is_root() { "asleep" } else { state };
            *expected.entry(state.to_owned()).or_default() += seconds.parse::<f64>()?;
        }
        let all_s: f64 = expected.values().sum();
        let computation_s = rank["computation_s"].as_f64().context("computation")?;
        for (state, seconds) in &expected {
            let found = rank["core_states"][state].as_f64().unwrap_or(0.0) / computation_s;
            let share = seconds / all_s;
            ensure!((found - share).abs() <= 0.05, "rank {number}: {state} {found}, not {share}: {rank}");
        }
    }
    Ok(())
}

fn samples_say_what_the_program_does(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled(&case.mpi)?;
    let mut job = Job::of_case(case)?.with_env("LBPROF_SAMPLE", PER_SECOND.to_string());
    let truth = job.folder.join("truth");
    job = job.with_env("LBTEST_TRUTH", &truth);
    job.urgent = true;
    if case.program.value("states").is_some() && suite::is_all() && stored::source() == RunSource::Launched {
        // A minute in place of some seconds.
        job.command.extend(["100000".into(), "60".into()]);
        job.timeout = Duration::from_secs(300);
    }
    job.recorded()?.must_succeed()?;
    let dump = run::dump(&job.run_folder()?)?;
    let of = |kind: &str| dump.others.get(kind).map(Vec::as_slice).unwrap_or_default();
    let definitions: Vec<_> = of("definition").iter().filter(|line| line["definition"] == "sampling").collect();
    ensure!(definitions.iter().all(|line| line["value"]["outcome"] == "sampled"), "not sampled: {definitions:?}");
    // A rank that waits for a core in an MPI that spins does not come to take its samples over: the shares of states show whether that matters.
    let may_lose = case.program.value("states").is_some();
    ensure!(may_lose || !of("problem").iter().any(|line| line["kind"] == "SamplesLost"), "samples were lost");
    if let Some(completed) = case.program.value("waitall") {
        let completed: u32 = completed.parse()?;
        let of = |name| dump.records.iter().filter(move |one| one.operation == name);
        let others = of("Waitall").filter(|one| one.count != completed).count();
        // Where the ring was full in the midst of a call, its record was gone when its parts were counted.
        ensure!(others <= of("Flush").count(), "{others} calls have other counts than {completed}");
    }
    if case.program.value("states").is_some() {
        return states_are_as_long_as_the_program_says(&run::report(&job.run_folder()?)?, &truth);
    }
    for rank in 0..case.ranks {
        let found = sampled(of("sample"), rank as u64, &program)?;
        for line in fs::read_to_string(truth.with_extension(rank.to_string()))?.lines() {
            let (function, seconds) = line.split_once(' ').context("a function and its time")?;
            let (seconds, found): (f64, f64) = (seconds.parse()?, found.get(function).copied().unwrap_or(0.0));
            // Samples are a count: three standard deviations of it. Some of the time is in the system, which the program's clock counts.
            let allowed = 3.0 * (seconds / PER_SECOND).sqrt() + 0.04 * seconds;
            ensure!((found - seconds).abs() <= allowed, "rank {rank}: {function} {found} s of {seconds} s");
        }
    }
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("sampling", "sampling", samples_say_what_the_program_does)
}
