//! Comparisons of real runs: what changed beyond doubt is said, also beside times that scatter.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

/// Work of rank 1 in milliseconds in each run. One of the base runs was on a machine seven times as slow; the mean time differs by 67 %.
const BASE_MS: [u32; 3] = [100, 700, 100];
const NEW_MS: [u32; 3] = [100, 101, 102];
/// What rank 0 works, in per cent of that: of the base, of the new runs.
const SHARES: [u32; 2] = [2, 88];

/// Room for a load balance: ranks wake late, and compute a little before and after their work.
const ROOM: f64 = 0.05;

fn recorded(mpi: &Mpi, folder: &Path, share: u32, works_ms: &[u32]) -> anyhow::Result<Vec<PathBuf>> {
    let program = Program::read(&place::programs().join("comparison/scattered.c"))?.compiled(mpi)?;
    let mut runs = Vec::new();
    for (idx, work_ms) in works_ms.iter().enumerate() {
        let own = place::subfolder(folder, &format!("{share}-{idx}"))?;
        // By the environment: runs with different arguments are no repetitions.
        let mut job = Job::new(mpi, 2, &program, &own).with_env("LBTEST_WORK_MS", work_ms.to_string());
        job.command.push(share.to_string().into());
        job.urgent = true;
        job.recorded()?.must_succeed()?;
        runs.push(job.run_folder()?);
    }
    Ok(runs)
}

fn compared(base: &[PathBuf], new: &[PathBuf]) -> anyhow::Result<(Value, String)> {
    let compare = |options: &[&str]| {
        let mut command = Command::new(place::built("lb-report")?);
        run::printed(command.arg("compare").args(base).arg("--with").args(new).args(options))
    };
    Ok((serde_json::from_str(&compare(&["--json", "-"])?)?, compare(&["--width", "400"])?))
}

fn what_did_change_is_said_beside_times_that_scatter(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let [base, new] = SHARES;
    let (json, text) = compared(&recorded(mpi, folder, base, &BASE_MS)?, &recorded(mpi, folder, new, &NEW_MS)?)?;
    ensure!(json["elapsed"]["beyond_noise"] == false, "{}", json["elapsed"]);
    ensure!(json["noise"]["nothing_beyond"] == false, "{}: {}", json["noise"], json["efficiencies"]);
    let efficiencies = json["efficiencies"].as_array().context("efficiencies")?;
    let balance = efficiencies.iter().find(|one| one["name"] == "load balance").context("no load balance")?;
    ensure!(balance["beyond_noise"] == true, "{balance}");
    let of = |side: &str| balance[side].as_f64().with_context(|| format!("{side}: {balance}"));
    for (side, share) in [("base", base), ("new", new)] {
        let truth = (100.0 + f64::from(share)) / 200.0;
        ensure!((of(side)? - truth).abs() < ROOM, "{side} is {balance}, the truth {truth}");
    }
    let said = format!("load balance from {:.1} % to {:.1} %", 100.0 * of("base")?, 100.0 * of("new")?);
    for words in [json["verdict"].as_str().context("verdict")?, &text] {
        ensure!(words.contains("The elapsed time does not differ beyond noise"), "{words}");
        ensure!(words.contains("Beyond noise did change: ") && words.contains(&said), "{said}: {words}");
        ensure!(!words.contains("Nothing beyond noise") && !words.contains("no repetitions"), "{words}");
    }
    Ok(())
}

const MORE_S: f64 = 0.06;

fn code_between_other_calls_is_one_reason(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(&place::programs().join("comparison/moved.c"))?.compiled(mpi)?;
    let mut runs = Vec::new();
    for when in ["early", "late"] {
        let own = place::subfolder(folder, when)?;
        let mut job = Job::new(mpi, 2, &program, &own);
        job.command.push(when.into());
        job.urgent = true;
        job.recorded()?.must_succeed()?;
        runs.push(job.run_folder()?);
    }
    let (json, text) = compared(&runs[..1], &runs[1..])?;
    let reasons = json["reasons"].as_array().context("reasons")?;
    let computes = |row: &&Value| row["what"] == "computation" && row["change_s"].as_f64().unwrap_or(0.0).abs() > 0.02;
    let computing: Vec<&Value> = reasons.iter().filter(computes).collect();
    let [one] = computing.as_slice() else { anyhow::bail!("not one reason: {reasons:#?}") };
    ensure!(one["region"] == "main/exchange", "{one:#}");
    let change_s = one["change_s"].as_f64().context("change_s")?;
    ensure!((change_s - MORE_S).abs() < 0.5 * MORE_S, "{one:#}");
    ensure!(text.contains("longer on average in exchange"), "{text}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::of_mpis(&[
        ("what_did_change_is_said_beside_times_that_scatter", what_did_change_is_said_beside_times_that_scatter),
        ("code_between_other_calls_is_one_reason", code_between_other_calls_is_one_reason),
    ])
}
