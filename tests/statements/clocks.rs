//! Ranks whose clocks differ: what the report says of who waits for whom is as if they had one clock.
//!
//! Linux time namespaces shift CLOCK_MONOTONIC, each rank's by other seconds. Where namespaces may not be made the tests are ignored.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::Mpi;
use lbprof_tests::own_clock::{self, OwnClocks};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::{facts, mpi, place, run};
use libtest_mimic::Trial;
use serde_json::Value;

const RANKS: usize = 4;

/// Seconds by which the clock of each rank is ahead of that of the rank before it.
const AHEAD_S: i64 = 1000;

/// Runs what follows it in a time namespace of its own, as far ahead as its rank says.
const SHIFTED: &str = "exec unshare --time --monotonic \
     $((1000 * ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?the rank is not known}})) \"$@\"";

/// Most that calls may end before what they waited for. Two offsets are measured to some microseconds each on a quiet machine.
const LARGEST_VIOLATION_S: f64 = 0.001;

fn namespaces_may_be_made() -> bool {
    let tried = Command::new("unshare").args(["--time", "--monotonic", "1000", "true"]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

fn waits_are_found_whatever_the_clocks(program: &Program, mpi: &Mpi, clock: &str) -> anyhow::Result<()> {
    let binary = program.compiled(mpi)?;
    let recorded = || {
        let folder = place::fresh_folder(&format!("clocks::{}::{clock}", mpi.name))?;
        let own = folder.join("own-clock");
        let mut job = Job::new(mpi, RANKS, &binary, &folder).with_env("LBPROF_CLOCK", clock);
        job = job.with_env(own_clock::VARIABLE, &own);
        job.wrapper = ["sh", "-c", SHIFTED, "sh"].map(Into::into).to_vec();
        job.urgent = true;
        let report = job.report()?;
        let logs = job.run_folder()?;
        offsets_are_measured(&run::dump(&logs)?)?;
        run::check_report(&report)?;
        Ok((OwnClocks::read(&own, RANKS)?, report))
    };
    own_clock::judge(recorded, |_, report, astray_s| {
        clocks_are_made_one(report)?;
        facts::check(program, RANKS, report, astray_s)
    })
}

/// Each rank's clock was measured, at the begin and at the end, to be as far ahead as it is.
fn offsets_are_measured(dump: &run::Dump) -> anyhow::Result<()> {
    let definitions = dump.others.get("definition").context("no definitions")?;
    for rank in 0..RANKS as i64 {
        let of_rank = |one: &&Value| one["rank"] == rank && one["definition"] == "clock_offset";
        let offsets: Vec<i64> =
            definitions.iter().filter(of_rank).filter_map(|one| one["value"]["offset_ns"].as_i64()).collect();
        ensure!(offsets.len() == 2, "rank {rank} has {} measured offsets", offsets.len());
        for offset in offsets {
            let wrong = offset.abs() - AHEAD_S * 1_000_000_000 * rank;
            ensure!(wrong.abs() < 100_000_000, "rank {rank} is measured to be {offset} ns away from rank 0");
        }
    }
    Ok(())
}

fn clocks_are_made_one(report: &Value) -> anyhow::Result<()> {
    let run = &report["run"];
    ensure!(run["common_clock"] == true, "the ranks' times are not comparable");
    let error = run["clock_error_s"].as_f64().context("clock_error_s")?;
    ensure!(error > 0.0 && error < 0.005, "times of ranks are compared to {error} s");
    let matching = &report["blocking"]["matching"];
    let violations = matching["violations"].as_u64().context("violations")?;
    let largest = matching["largest_violation_s"].as_f64().context("largest_violation_s")?;
    let all = matching["messages"].as_u64().unwrap_or(0) + 4 * matching["collectives"].as_u64().unwrap_or(0);
    ensure!(
        violations <= all / 4 && largest < LARGEST_VIOLATION_S,
        "{violations} of {all} calls end before what they waited for, one by {largest} s"
    );
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let may = namespaces_may_be_made();
    let program = Program::read(Path::new("clocks/waits.c"))?;
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        for clock in ["monotonic", "auto"] {
            let (mpi, program) = (mpi.clone(), program.clone());
            let name = format!("waits::{}::{clock}", mpi.name);
            let check = move || waits_are_found_whatever_the_clocks(&program, &mpi, clock);
            let trial = suite::trial(name, check).with_ignored_flag(!may);
            trials.push(if may { trial } else { trial.with_kind("no time namespaces here") });
        }
    }
    Ok(trials)
}
