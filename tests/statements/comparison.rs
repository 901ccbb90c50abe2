//! Comparisons of real runs: code that moved past a call is one reason.

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

fn compared(base: &[PathBuf], new: &[PathBuf]) -> anyhow::Result<(Value, String)> {
    let compare = |options: &[&str]| {
        let mut command = Command::new(place::built("lb-report")?);
        run::printed(command.arg("compare").args(base).arg("--with").args(new).args(options))
    };
    Ok((serde_json::from_str(&compare(&["--json", "-"])?)?, compare(&["--width", "400"])?))
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
    suite::of_mpis(&[("code_between_other_calls_is_one_reason", code_between_other_calls_is_one_reason)])
}
