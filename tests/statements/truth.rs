//! Programs that sleep for their computation: what the report says of them, against the truth.
//!
//! What the report says must agree with the program's own clock, and with what the program's head states. A machine that is busy
//! with other things delays ranks, in a computation, which contradicts the head, or between two calls, where the program's clock
//! does not look: then the run is repeated, and judged in the end by what went astray. An error of ours is there in every run.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::own_clock::{self, OwnClocks};
use lbprof_tests::program::{Program, shared_object};
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{facts, run};
use libtest_mimic::Trial;
use serde_json::Value;

fn the_report_says_the_truth(case: &Case) -> anyhow::Result<()> {
    let recorded = || {
        let mut job = Job::of_case(case)?.with_env_of(&case.program);
        let own = job.folder.join("own-clock");
        job = job.with_env(own_clock::VARIABLE, &own);
        if let Some(plugin) = case.program.value("plugin") {
            job = job.with_env("LBTEST_PLUGIN", plugin_of(plugin, &case.mpi)?);
        }
        job.urgent = true;
        let report = job.report()?;
        run::dump(&job.run_folder()?)?.check_invariants()?;
        run::check_report(&report)?;
        Ok((OwnClocks::read(&own, case.ranks)?, report))
    };
    own_clock::judge(recorded, |own, report, astray_s| {
        check_own_clocks(own, &case.program, report, astray_s)?;
        facts::check(&case.program, case.ranks, report, astray_s)
    })
}

/// A shared object that a program loads: `plugin:` in its head, in C or Fortran.
fn plugin_of(source: &str, mpi: &Mpi) -> anyhow::Result<PathBuf> {
    let compiler = if source.ends_with(".f90") { mpi.fortran.as_ref() } else { Some(&mpi.cc) };
    shared_object(compiler.context("an MPI without Fortran")?, source, mpi)
}

/// Each rank's computation is what its own clock says, and the ratios are those of these computations.
fn check_own_clocks(own: &OwnClocks, program: &Program, report: &Value, astray_s: f64) -> anyhow::Result<()> {
    let own = &own.computations_s;
    let elapsed_s = report["run"]["elapsed_s"].as_f64().context("run.elapsed_s")?;
    let astray_of_ratios = 2.0 * astray_s / elapsed_s;
    let close = |what: &str, found: &Value, truth: f64, room: f64| {
        let found = found.as_f64().with_context(|| format!("{what} is not in the report"))?;
        let room = run::TOLERANCE * truth + room;
        ensure!(
            (found - truth).abs() <= room,
            "{what} is {found:.5}, by the program's own clock {truth:.5} ± {room:.5}"
        );
        anyhow::Ok(())
    };
    let by_rank: Vec<f64> = own.iter().map(|works| works.iter().sum()).collect();
    let ranks = report["ranks"].as_array().context("ranks")?;
    ensure!(ranks.len() == own.len(), "{} ranks in the report", ranks.len());
    for (p, (rank, &truth)) in ranks.iter().zip(&by_rank).enumerate() {
        // Beside the tolerance, 5 ms for what lies before the schedule's begin and after its end.
        close(&format!("computation of rank {p}"), &rank["computation_s"], truth, 0.005 + astray_s)?;
    }
    let max = by_rank.iter().copied().fold(0.0, f64::max);
    let mean = by_rank.iter().sum::<f64>() / by_rank.len() as f64;
    close("load_balance", &report["efficiency"]["load_balance"], mean / max, astray_of_ratios)?;
    // Where each iteration holds one computation, the estimate of the ideal time is the sum of the longest ones.
    let iterations = report["iterations"]["count"].as_u64().unwrap_or(0) as usize;
    let estimated = program.values("expect").any(|line| line.starts_with("t_ideal_phase_profile_s"));
    if estimated && iterations > 0 && own.iter().all(|works| works.len() == iterations) {
        let longest = |k: usize| own.iter().map(|works| works[k]).fold(0.0, f64::max);
        let ideal: f64 = (0..iterations).map(longest).sum();
        close("t_ideal_phase_profile_s", &report["efficiency"]["t_ideal_phase_profile_s"], ideal, 0.005 + astray_s)?;
    }
    if let Some(ideal) = report["efficiency"]["t_ideal_s"].as_f64() {
        close("micro_load_balance", &report["efficiency"]["micro_load_balance"], max / ideal, astray_of_ratios)?;
    }
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("truth", "truth", the_report_says_the_truth)
}
