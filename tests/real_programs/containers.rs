//! Two containers may have the same host name and process numbers, and write into one folder: their jobs keep apart (docs/harmless.md, "Who may do what to a
//! recorded job"). Each has a /proc of its own, or sees the outer one, where its processes have other numbers.
//!
//! The tests need root, to make namespaces. Otherwise they are ignored.

use std::path::Path;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::unharmed::lines_of_recorder;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

const RANKS: usize = 3;

/// In a container: gives it the name that all have, and memory and files that others do not share, which the MPIs need; then runs the rest of the command.
const ENTER: &str = "hostname twin && mount -t tmpfs none /dev/shm && mount -t tmpfs none /var/tmp && export TMPDIR=/var/tmp && exec \"$@\"";

/// The MPI, with its launcher in a container that has a /proc of its own or the outer one.
fn contained(mpi: &Mpi, has_own_proc: bool) -> Mpi {
    let mut launcher = vec!["unshare", "--fork", "--pid", "--uts", "--mount"];
    if has_own_proc {
        launcher.push("--mount-proc");
    }
    launcher.extend(["sh", "-c", ENTER, "sh"]);
    // Shared memory of MPICH is opened by a link in /proc, unless that is forbidden.
    let env = mpi.env.iter().cloned().chain([("UCX_POSIX_USE_PROC_LINK".to_owned(), "n".to_owned())]).collect();
    let launcher = launcher.into_iter().map(str::to_owned).chain(mpi.launcher.iter().cloned()).collect();
    Mpi { launcher, env, ..mpi.clone() }
}

fn jobs_keep_apart(mpi: &Mpi, place_of_proc: &str) -> anyhow::Result<()> {
    let program = Program::read(Path::new("settings/mixed.c"))?.compiled(mpi)?;
    let folder = place::fresh_folder(&format!("containers::{place_of_proc}::{}", mpi.name))?;
    let mpi = contained(mpi, place_of_proc == "own_proc");
    let folders = ["first", "second"].map(|name| folder.join(name));
    folders.iter().try_for_each(std::fs::create_dir)?;
    let jobs =
        folders.each_ref().map(|own| Job::new(&mpi, RANKS, &program, own).with_env("LBPROF_DIR", folder.join("logs")));
    let outcomes = std::thread::scope(|scope| {
        let running = jobs.each_ref().map(|job| scope.spawn(|| job.recorded()));
        running.map(|job| job.join().expect("running a job does not panic"))
    });
    for outcome in outcomes {
        let outcome = outcome?.must_succeed()?;
        let lines = lines_of_recorder(&outcome.stderr);
        ensure!(lines.iter().all(|line| line.contains("the logs go to")), "{}", outcome.stderr);
    }
    let runs = run::runs_in(&folder)?;
    ensure!(runs.len() == 2, "{runs:?}");
    for folder in runs {
        ensure!(folder.join(".job").exists(), "the ranks did not find their launcher in /proc");
        let report = run::report(&folder)?;
        ensure!(report["run"]["complete"] == Value::Bool(true), "{}", report["run"]);
        ensure!(report["run"]["ranks"].as_u64() == Some(RANKS as u64), "{}", report["run"]);
    }
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        for place_of_proc in ["own_proc", "outer_proc"] {
            let name = format!("jobs_keep_apart::{place_of_proc}::{}", mpi.name);
            let mpi = mpi.clone();
            let check = move || jobs_keep_apart(&mpi, place_of_proc).context("two containers");
            trials.push(suite::needing_root(suite::trial(name, check)));
        }
    }
    Ok(trials)
}
