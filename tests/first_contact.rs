//! Runs as a user makes first: of programs that hardly do anything, or most of what they do outside of MPI's lifetime.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::Program;
use lbprof_tests::suite::{self, Company};
use lbprof_tests::unharmed::lb_report;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;
use serde_json::Value;

/// A test of a program, compiled with an MPI, in a folder of its own.
type Check = fn(&Mpi, &Path, &Path) -> anyhow::Result<()>;

/// The name of each test, its program and what it checks.
const TESTS: [(&str, &str, Check); 1] =
    [("time_outside_of_the_window_is_reported", "late_init.c", time_outside_of_the_window_is_reported)];

fn number(value: &Value, what: &str) -> anyhow::Result<f64> {
    value.as_f64().with_context(|| format!("{what} is not known"))
}

fn time_outside_of_the_window_is_reported(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 2, program, folder);
    let begin = Instant::now();
    job.recorded()?.must_succeed()?;
    let wall_s = begin.elapsed().as_secs_f64();
    let report = run::report(&job.run_folder()?)?;
    let of_rank = |rank: usize, phase: &str| number(&report["ranks"][rank]["lifetime"][phase], phase);
    // The system says to 10 ms when a process began.
    let late_s = of_rank(1, "before_init_s")? - of_rank(0, "before_init_s")?;
    ensure!(of_rank(1, "before_init_s")? >= 0.59, "{}", report["ranks"][1]["lifetime"]);
    let waited_s = of_rank(0, "init_s")? - of_rank(1, "init_s")?;
    ensure!((late_s - waited_s).abs() < 0.25, "rank 1 came {late_s} s later, rank 0 waited {waited_s} s");
    ensure!(of_rank(0, "after_finalize_s")? >= 0.5, "{}", report["ranks"][0]["lifetime"]);
    for rank in 0..2 {
        ensure!(of_rank(rank, "recorder_start_s")? >= 0.0 && of_rank(rank, "finalize_s")? >= 0.0);
    }
    let elapsed_s = number(&report["lifetime"]["elapsed_s"], "lifetime.elapsed_s")?;
    ensure!((1.1..=wall_s + 0.01).contains(&elapsed_s), "{elapsed_s} s of a job of {wall_s} s");
    let described = number(&report["run"]["elapsed_s"], "run.elapsed_s")? / elapsed_s;
    let share = number(&report["lifetime"]["described_share"], "lifetime.described_share")?;
    ensure!((share - described).abs() < 1e-9 && share < 0.8, "{share}, {described}");
    let (_, text) = lb_report(&job.run_folder()?)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["The efficiencies describe ", "before MPI_Init", "(rank 1: ", "after MPI_Finalize"] {
        ensure!(text.contains(words), "no \"{words}\" in {text}");
    }
    ensure!(!text.contains("Nothing to gain here"), "{text}");
    Ok(())
}

fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        for (name, source, check) in TESTS {
            let (mpi, name) = (mpi.clone(), format!("{name}::{}", mpi.name));
            trials.push(suite::trial(name.clone(), move || {
                let program = Program::read(&Path::new("first_contact").join(source))?.compiled(&mpi)?;
                check(&mpi, &program, &place::fresh_folder(&format!("first_contact::{name}"))?)
            }));
        }
    }
    Ok(trials)
}

fn main() {
    suite::main(Company::Welcome, trials());
}
