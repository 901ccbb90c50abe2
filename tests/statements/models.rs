//! The models of a study, of a real program whose laws are known: examples/matmul, which sleeps for each of its operations.
//!
//! #op and #q are counted, so these relations are exact; of times it is known that a sleep is never too short.

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

/// Nanoseconds for an operation: so many that a rank which wakes some milliseconds late on a busy machine does not matter.
const DELTA_NS: f64 = 1000.0;

/// n and numbers of ranks: five sizes on two ranks, one size on four numbers of ranks.
const RUNS: [(u32, usize); 8] = [(40, 2), (60, 2), (80, 2), (100, 2), (120, 2), (80, 1), (80, 4), (80, 8)];

fn recorded(mpi: &Mpi, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let source = place::workspace().join("examples/matmul/matmul.c");
    let program = Program { head: vec![("link".into(), "-lm".into())], ..Program::read(&source)? }.compiled(mpi)?;
    let mut runs = Vec::new();
    for (n, ranks) in RUNS {
        let own = place::subfolder(folder, &format!("{n}-{ranks}"))?;
        let mut job = Job::new(mpi, ranks, &program, &own);
        job.command.extend([n.to_string(), "--sleep".into(), DELTA_NS.to_string()].map(Into::into));
        job.urgent = true;
        job.recorded()?.must_succeed()?;
        runs.push(job.run_folder()?);
    }
    Ok(runs)
}

fn lb_report(arguments: &[&str], study: &Path, rest: &[PathBuf]) -> anyhow::Result<String> {
    let (command, options) = arguments.split_at(2);
    run::printed(Command::new(place::built("lb-report")?).args(command).arg(study).args(rest).args(options))
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

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::of_mpis(&[("the_laws_of_a_multiplication_are_found", the_laws_are_found)])
}
