//! The models of a study, of a real program whose laws are known: examples/matmul, which sleeps for each of its operations.
//!
//! #op and #q are counted, so these relations are exact; of times it is known that a sleep is never too short.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

/// Nanoseconds for an operation: so many that a rank which wakes some milliseconds late on a busy machine does not matter.
const DELTA_NS: f64 = 1000.0;

/// n and numbers of ranks: five sizes on two ranks, one size on four numbers of ranks.
const RUNS: [(u32, usize); 8] = [(40, 2), (60, 2), (80, 2), (100, 2), (120, 2), (80, 1), (80, 4), (80, 8)];

/// The program's runs, in folders of their own.
fn recorded(mpi: &Mpi, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let source = place::workspace().join("examples/matmul/matmul.c");
    let program = Program { head: vec![("link".into(), "-lm".into())], ..Program::read(&source)? }.compiled(mpi)?;
    let one = |(n, ranks): (u32, usize)| {
        let own = folder.join(format!("{n}-{ranks}"));
        std::fs::create_dir_all(&own)?;
        let mut job = Job::new(mpi, ranks, &program, &own);
        job.command.extend([n.to_string(), "--sleep".into(), DELTA_NS.to_string()].map(Into::into));
        job.urgent = true;
        job.recorded()?.must_succeed()?;
        job.run_folder()
    };
    RUNS.into_iter().map(one).collect()
}

fn lb_report(arguments: &[&str], study: &Path, rest: &[PathBuf]) -> anyhow::Result<String> {
    let output = Command::new(place::built("lb-report")?)
        .args(&arguments[..2])
        .arg(study)
        .args(rest)
        .args(&arguments[2..])
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "lb-report {arguments:?}: {stderr}");
    Ok(String::from_utf8(output.stdout)?)
}

fn relation<'a>(models: &'a Value, from: &str, to: &str) -> anyhow::Result<&'a Value> {
    let phases = models["phases"].as_array().context("phases")?;
    let mut all = phases.iter().filter_map(|phase| phase["relations"].as_array()).flatten();
    all.find(|one| one["from"] == from && one["to"] == to).with_context(|| format!("no {from} → {to}"))
}

fn degree(models: &Value, from: &str, to: &str) -> anyhow::Result<u64> {
    let relation = relation(models, from, to)?;
    relation["polynomial"]["fit"]["degree"].as_u64().with_context(|| format!("{from} → {to}: {relation}"))
}

fn the_laws_are_found(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let study = folder.join("matmul.study");
    lb_report(&["study", "add"], &study, &recorded(mpi, folder)?)?;
    let models: Value = serde_json::from_str(&lb_report(&["study", "model", "--json", "-"], &study, &[])?)?;

    // What is counted is exact.
    ensure!(degree(&models, "n", "#op main/multiply")? == 3);
    ensure!(degree(&models, "P", "#op main/multiply")? == 0);
    ensure!(degree(&models, "n", "#q main/broadcast")? == 2);
    let quanta = &relation(&models, "P", "#q main/broadcast")?["points"];
    // n²·(r + c − 2) of 1·1, 1·2, 2·2 and 2·4 ranks.
    ensure!(*quanta == serde_json::json!([[1.0, 0.0], [2.0, 6400.0], [4.0, 12800.0], [8.0, 25600.0]]), "{quanta}");

    ensure!(degree(&models, "n", "T_comp main/multiply")? == 3);
    ensure!(degree(&models, "#op main/multiply", "T_comp main/multiply")? == 1);
    let law = &relation(&models, "#op main/multiply", "T_comp main/multiply")?["linear"];
    let delta = law["delta"].as_f64().context("delta")?;
    let longest = DELTA_NS * 1e-9 * (1.0 + run::TOLERANCE);
    ensure!((DELTA_NS * 1e-9..longest).contains(&delta), "δ = {law}");

    let totals = models["totals"].as_array().context("totals")?;
    ensure!(totals.len() == RUNS.len());
    for totals in totals {
        let difference = totals["difference"].as_f64().context("difference")?;
        // Times are whole nanoseconds, rounded by phase.
        ensure!(difference.abs() < 1e-6, "E = 1 / Σ Ovh: {totals}");
    }
    let graph = lb_report(&["study", "graph"], &study, &[])?;
    ensure!(graph.contains("E = 1 / Σ Ovh holds in all runs"), "{graph}");
    Ok(())
}

/// The tests of this suite.
///
/// Errors: the programs or MPIs cannot be listed.
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let trial = |mpi: Mpi| {
        let name = format!("the_laws_of_a_multiplication_are_found::{}", mpi.name);
        suite::trial(name.clone(), move || the_laws_are_found(&mpi, &place::fresh_folder(&format!("models::{name}"))?))
    };
    Ok(mpi::all()?.into_iter().map(trial).collect())
}
