//! Programs whose ranks write into files of their node: they end as without the recorder, and what they did is in the report, however they end.
//!
//! The programs are those of programs/harmless; [`lbprof_tests::unharmed`] says what their heads say.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use lbprof_collector::format::log_name;
use lbprof_collector::node::frame::{node_name, node_rings_name};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Family, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite;
use lbprof_tests::unharmed::{must_say, with_and_without_the_same};
use lbprof_tests::{place, run};
use libtest_mimic::Trial;

/// Programs of several ranks that end in some way, have threads, or do something to files.
const PROGRAMS: [&str; 9] = [
    "exit_code",
    "kill9",
    "leaves_others_waiting",
    "mpi_abort",
    "normal",
    "odd_threads",
    "sigterm",
    "some_exit",
    "underscore_exit",
];

/// Calls of MPI_Allreduce that normal.c makes on each rank.
const CALLS: usize = 1000;

/// The names in a run's folder, without those that begin with a dot.
fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<anyhow::Result<_>>()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

/// Each of four ranks has made its calls.
fn all_calls_are_there(folder: &Path) -> anyhow::Result<()> {
    let dump = run::dump(folder)?;
    dump.check_invariants()?;
    for rank in 0..4 {
        let calls = dump.calls_of(rank).iter().filter(|call| call.operation == "Allreduce").count();
        ensure!(calls == CALLS, "{calls} calls of rank {rank}");
    }
    Ok(())
}

fn a_run_is_one_file_and_its_rings_go(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 4, program, folder);
    let bare = job.bare()?.must_succeed()?;
    let recorded = job.recorded()?;
    recorded.must_equal(&bare, mpi)?;
    must_say(&recorded, &[0])?;
    let logs = job.run_folder()?;
    ensure!(names(&logs)? == [node_name(0)], "{:?}", names(&logs)?);
    all_calls_are_there(&logs)
}

/// A rank that the others do not find writes a file of its own: here because its sockets are in a network of its own. Open MPI needs the
/// network to start.
fn a_rank_that_is_not_found_writes_its_own_file(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut job = Job::new(mpi, 4, program, folder);
    let script = "if [ \"$PMI_RANK\" = 2 ]; then exec unshare -n \"$@\"; fi; exec \"$@\"";
    job.wrapper = ["sh", "-c", script, "sh"].map(Into::into).to_vec();
    let bare = job.bare()?.must_succeed()?;
    job.recorded()?.must_equal(&bare, mpi)?;
    let logs = job.run_folder()?;
    ensure!(names(&logs)? == [node_name(0), log_name(2)], "{:?}", names(&logs)?);
    all_calls_are_there(&logs)
}

/// All ranks of the node die at once: what they did is in the node's file and in its rings.
fn killed_ranks_leave_all_that_they_did(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("node_files/all_are_killed.c"))?.compiled(mpi)?;
    let job = Job::new(mpi, 4, &program, folder);
    let recorded = job.recorded()?;
    ensure!(recorded.code != Some(0), "it was killed");
    let logs = job.run_folder()?;
    ensure!(names(&logs)? == [node_name(0), node_rings_name(0)], "{:?}", names(&logs)?);
    let dump = run::dump(&logs)?;
    for rank in 0..4 {
        let calls = dump.calls_of(rank).iter().filter(|call| call.operation == "Allreduce").count();
        ensure!(calls == 2600, "{calls} calls of rank {rank}");
    }
    let problems = run::problems(&run::report(&logs)?);
    ensure!(problems.iter().any(|kind| kind == "NotClosed"), "{problems:?}");
    ensure!(!problems.iter().any(|kind| kind == "Damaged" || kind == "Gap" || kind == "Truncated"), "{problems:?}");
    Ok(())
}

/// Somebody empties the file of all threads' rings: records that are in it are lost, which is reported, and recording goes on.
fn an_emptied_file_of_rings_costs_records_and_no_more(mpi: &Mpi, _: &Path, folder: &Path) -> anyhow::Result<()> {
    let program = Program::read(Path::new("node_files/empties_rings.c"))?.compiled(mpi)?;
    for how in [&[][..], &["and fill it"]] {
        let folder = folder.join(how.len().to_string());
        fs::create_dir_all(&folder)?;
        let mut job = Job::new(mpi, 3, &program, &folder).with_env("LBPROF_BUFFER", "32K");
        job.command.extend(how.iter().map(Into::into));
        let bare = job.bare()?.must_succeed()?;
        let recorded = job.recorded()?;
        recorded.must_equal(&bare, mpi)?;
        must_say(&recorded, &[3])?;
        let logs = job.run_folder()?;
        let dump = run::dump(&logs)?;
        for rank in 0..3 {
            let calls = dump.calls_of(rank).iter().filter(|call| call.operation == "Allreduce").count();
            ensure!((3700 - 512..=3700).contains(&calls), "{calls} calls of rank {rank}");
        }
        let report = run::report(&logs)?;
        let problems = report["run"]["problems"].as_array().context("problems")?;
        let lost = problems.iter().find(|problem| problem["kind"] == "RingLost").context("no RingLost")?;
        ensure!(lost["rank_count"] == 3, "{lost}");
    }
    Ok(())
}

/// A test of normal.c, or of a program of its own, under one MPI.
type Check = fn(&Mpi, &Path, &Path) -> anyhow::Result<()>;

/// The tests of this suite.
///
/// Errors: the programs or MPIs cannot be listed.
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = suite::cases("node_files", "harmless", with_and_without_the_same)?;
    trials.retain(|trial| PROGRAMS.iter().any(|program| trial.name().starts_with(&format!("{program}::"))));
    let checks: [(&str, Check); 4] = [
        ("an_emptied_file_of_rings_costs_records_and_no_more", an_emptied_file_of_rings_costs_records_and_no_more),
        ("a_run_is_one_file_and_its_rings_go", a_run_is_one_file_and_its_rings_go),
        ("a_rank_that_is_not_found_writes_its_own_file", a_rank_that_is_not_found_writes_its_own_file),
        ("killed_ranks_leave_all_that_they_did", killed_ranks_leave_all_that_they_did),
    ];
    let own_network = Command::new("unshare").args(["-n", "true"]).status().is_ok_and(|status| status.success());
    for mpi in mpi::all()? {
        for (name, check) in checks {
            let is_late = name.starts_with("a_rank_that_is_not_found");
            if mpi.family != Family::Mpich && is_late {
                continue;
            }
            let (mpi, name) = (mpi.clone(), format!("{name}::{}", mpi.name));
            trials.push(
                suite::trial(name.clone(), move || {
                    let program = Program::read(Path::new("harmless/normal.c"))?.compiled(&mpi)?;
                    check(&mpi, &program, &place::fresh_folder(&format!("node_files::{name}"))?)
                })
                .with_ignored_flag(is_late && !own_network),
            );
        }
    }
    Ok(trials)
}
