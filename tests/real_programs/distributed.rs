//! lb-report-mpi on real processes, under each MPI: the report of one process, byte for byte; and where a process fails, the end of all.
//!
//! analyzer/lb-report/tests/together.rs has many more runs, with threads in place of processes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_simulator::scenario::Scenario;
use lbprof_tests::launch::{Job, Outcome};
use lbprof_tests::mpi::Mpi;
use lbprof_tests::place;
use lbprof_tests::suite;
use libtest_mimic::Trial;

/// `n` processes of lb-report-mpi with these arguments. `wrapper`: a shell's command before each of them, `$RANK` being its number.
fn run(mpi: &Mpi, n: usize, folder: &Path, wrapper: Option<&str>, arguments: &[&str]) -> anyhow::Result<Outcome> {
    let program = place::built(&format!("lb-report-mpi-{}", mpi.name))?;
    let mut job = Job::new(mpi, n, &program, folder);
    job.command.extend(arguments.iter().map(OsString::from));
    if let Some(wrapper) = wrapper {
        let script = format!("RANK=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {wrapper}");
        job.wrapper = ["sh", "-c", &script, "sh"].map(OsString::from).into();
    }
    job.bare()
}

fn nine_ranks(folder: &Path) -> anyhow::Result<PathBuf> {
    let dir = place::subfolder(folder, "run")?;
    let one = |rank: u32, script: lbprof_simulator::scenario::RankScript| {
        let script = script.batch(7).repeat(40, move |_, script| {
            let (right, left) = (((rank + 1) % 9) as i32, ((rank + 8) % 9) as i32);
            let script = script.region("force", |script| script.compute(1 + rank % 4));
            script.send(right, 1, 100, 0.1).recv(left, 1, 100, 0.2).allreduce(8, f64::from(7 - rank % 4))
        });
        if rank == 4 { script.kill(5) } else { script }
    };
    Scenario::ranks(9).hosts(|rank| format!("node{}", rank / 3)).each(one).write(&dir)?;
    Ok(dir)
}

/// Four ranks that make 150,000 calls each: more than lb-report follows as one segment.
fn long_run(folder: &Path) -> anyhow::Result<PathBuf> {
    let dir = place::subfolder(folder, "long")?;
    let one = |rank: u32, script: lbprof_simulator::scenario::RankScript| {
        script.repeat(50_000, move |at, script| {
            let (right, left) = (((rank + 1) % 4) as i32, ((rank + 3) % 4) as i32);
            let more = f64::from((rank + at) % 7) / 100.0;
            let script = script.compute(0.1 + more).send(right, 1, 100, 0.05).compute(0.1).recv(left, 1, 100, 0.1);
            script.allreduce(8, 0.2 - more)
        })
    };
    Scenario::ranks(4).each(one).write(&dir)?;
    Ok(dir)
}

fn reports_what_one_process_reports(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    for (n, dir) in [(4, nine_ranks(folder)?), (3, long_run(folder)?)] {
        let dir = dir.to_str().context("a path of UTF-8")?;
        let [own, expected] = ["together.json", "alone.json"].map(|name| folder.join(name));
        let alone = Command::new(place::built("lb-report")?).args([dir, "--full", "--json"]).arg(&expected).status()?;
        let outcome = run(mpi, n, folder, None, &[dir, "--full", "--json", own.to_str().context("UTF-8")?])?;
        ensure!(outcome.code == alone.code(), "{n} processes: {outcome:?}");
        ensure!(outcome.stdout.is_empty() && outcome.stderr.is_empty(), "{n} processes: {outcome:?}");
        ensure!(fs::read(&own)? == fs::read(&expected)?, "{n} processes report something else on {dir}");
    }
    Ok(())
}

fn refuses_what_is_no_run_once(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let missing = folder.join("missing").display().to_string();
    let cases: [(&[&str], i32, &str); 2] = [
        (&[&missing], 5, "there is no such folder"),
        (&["--no-such-option"], 2, "there is no option --no-such-option"),
    ];
    for (arguments, code, text) in cases {
        let outcome = run(mpi, 3, folder, None, arguments)?;
        ensure!(outcome.code == Some(code), "{arguments:?}: {outcome:?}");
        ensure!(outcome.stderr.matches(text).count() == 1, "{arguments:?}: {outcome:?}");
    }
    Ok(())
}

fn a_process_without_memory_ends_all(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let dir = nine_ranks(folder)?.display().to_string();
    let wrapper = r#"[ "$RANK" = 1 ] && export LB_REPORT_MAX_MEMORY=1M; exec "$@""#;
    let outcome = run(mpi, 3, folder, Some(wrapper), &[&dir])?;
    // It ends with 5; launchers mix that with how the processes ended that they killed then.
    ensure!(outcome.code != Some(0), "{outcome:?}");
    ensure!(outcome.stderr.contains("lb-report-mpi: "), "{outcome:?}");
    Ok(())
}

/// Process 0 is held by its output, which nobody reads; then process 1 is killed.
fn a_killed_process_ends_all(mpi: &Mpi, folder: &Path) -> anyhow::Result<()> {
    let dir = nine_ranks(folder)?.display().to_string();
    let wrapper = r#"case "$RANK" in
        0) "$@" | { head -c 1 > /dev/null; : > written; exec sleep 60; } ;;
        1) "$@" & while ! [ -e written ]; do sleep 0.05; done; kill -9 $!; wait $! ;;
        *) exec "$@" ;;
    esac"#;
    let outcome = run(mpi, 3, folder, Some(wrapper), &[&dir, "--full", "--json"])?;
    ensure!(folder.join("written").exists() && outcome.code != Some(0), "{outcome:?}");
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = suite::of_mpis(&[
        ("reports_what_one_process_reports", reports_what_one_process_reports),
        ("refuses_what_is_no_run_once", refuses_what_is_no_run_once),
        ("a_process_without_memory_ends_all", a_process_without_memory_ends_all),
        ("a_killed_process_ends_all", a_killed_process_ends_all),
    ])?;
    // lb-report-mpi is built for these.
    trials.retain(|trial| ["::openmpi", "::mpich"].iter().any(|mpi| trial.name().ends_with(mpi)));
    Ok(trials)
}
