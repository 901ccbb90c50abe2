//! Programs that sleep for their computation: what the report says of them, against the truth.
//!
//! What the report says must agree with the program's own clock, always. It must also agree with what the program's head states.
//! A machine that is busy with other things delays a run: then the program's own clock contradicts the head, too, and the
//! run is repeated.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::suite::{self, Case, Company};
use lbprof_tests::{place, run};
use serde_json::Value;

/// Runs before a disturbed run is a failed test.
const ATTEMPTS: usize = 5;

fn the_report_tells_the_truth(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled(&case.mpi)?;
    let mut disturbances = Vec::new();
    for _ in 0..ATTEMPTS {
        let folder = place::fresh_folder(&case.name)?;
        let own = folder.join("own-clock");
        let mut job = Job::new(&case.mpi, case.ranks, &program, &folder).with_env("LBTEST_TRUTH", &own);
        job.urgent = true;
        job.recorded()?.must_succeed()?;
        let logs = job.run_folder()?;
        run::dump(&logs)?.check_invariants()?;
        let report = run::report(&logs)?;
        run::check_report(&report)?;
        check_own_clock(&own, &report).with_context(|| logs.display().to_string())?;
        match run::check_expectations(&case.program, case.ranks, &report) {
            Ok(()) => return Ok(()),
            Err(error) => disturbances.push(format!("{error:#}")),
        }
    }
    bail!("{ATTEMPTS} runs; each time:\n{}", disturbances.join("\n\n"))
}

/// Each rank's computation is what its own clock says.
fn check_own_clock(path: &Path, report: &Value) -> anyhow::Result<()> {
    for (p, rank) in report["ranks"].as_array().context("ranks")?.iter().enumerate() {
        let own: f64 = fs::read_to_string(path.with_extension(p.to_string()))?.trim().parse()?;
        let found = rank["computation_s"].as_f64().context("computation_s")?;
        // Beside the tolerance, 5 ms for what lies before the schedule's begin and after its end.
        let room = run::TOLERANCE * own + 0.005;
        ensure!((found - own).abs() <= room, "rank {p} computes {found:.5} s, by its own clock {own:.5} s");
    }
    Ok(())
}

fn main() {
    suite::main(Company::Alone, suite::cases("truth", "truth", Company::Alone, the_report_tells_the_truth));
}
