//! Wrong arguments: the recorder looks at what a program passes before MPI has checked it, and must stand whatever it finds.
//!
//! tests/programs/arguments/refused.c calls every function of interpose/calls.table with one wrong argument at a time. With all values
//! against a library that refuses every call, so that a crash is the recorder's; with those that MPI looks at against MPI itself,
//! where the recorder must not change the answer. tests/programs/arguments/refused_fortran.f90 does the latter through mpif.h and `use mpi`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::{calls_of_table, shared_object};
use lbprof_tests::{place, run, suite};
use libtest_mimic::Trial;

/// A library that has every function of the table by both of its names, and refuses all calls (with an error code that no MPI gives by itself) while
/// `lbtest_refusing` is set.
fn refusing_library(mpi: &Mpi) -> anyhow::Result<PathBuf> {
    const WORDS: &str = "long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n";
    let mut source = format!(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\nint lbtest_refusing;\ntypedef long function({WORDS});\n\
         #define REFUSES(name) long name({WORDS}) {{ if (lbtest_refusing) return 1; \
         function *real = (function *)dlsym(RTLD_NEXT, #name); return real(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }}\n"
    );
    for function in calls_of_table()? {
        source += &format!("REFUSES(MPI_{function})\nREFUSES(PMPI_{function})\n");
    }
    let path = place::binaries(&mpi.name).join("refuses.c");
    fs::create_dir_all(place::binaries(&mpi.name))?;
    fs::write(&path, source)?;
    shared_object(&["cc".into()], &path.to_string_lossy(), mpi)
}

/// The outcome of each case: the lines of the program. A process that a call has ended is followed by another one.
fn outcomes(job: &Job, is_recorded: bool, name: &str) -> anyhow::Result<Vec<String>> {
    /// Processes, at most: each takes a second to start.
    const MOST: usize = 12;
    let (path, skipped) = (job.folder.join(name), job.folder.join("skipped"));
    let mut first = 0;
    for _ in 0..MOST {
        let mut job = job.clone();
        let table = place::workspace().join("interpose/calls.table");
        job.command.extend([table.into(), path.clone().into(), first.to_string().into(), skipped.clone().into()]);
        // How it ends says nothing: MPI may be in any state.
        if is_recorded {
            job.recorded()?
        } else {
            job.bare()?
        };
        let text = fs::read_to_string(&path).context("the program did not start")?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let last = lines.last().context("no case was tried")?;
        if last == "end" {
            return Ok(lines);
        }
        first = last.split(' ').next().context("a number")?.parse::<usize>()? + 1;
        if text.ends_with(": ") {
            fs::write(&path, format!("{text}ended\n"))?;
        }
    }
    anyhow::bail!("more than {MOST} calls ended the process: {}", path.display())
}

fn survived(line: &str) -> bool {
    line.contains(": class ") || line == "end"
}

fn no_wrong_argument_makes_the_recorder_crash(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let library = refusing_library(mpi)?;
    let yielding = shared_object(&["cc".into()], "support/yielding.c", mpi)?;
    let job = Job::new(mpi, 1, program, folder)
        .with_env("LD_PRELOAD", format!("{}:{}", library.display(), yielding.display()));
    let lines = outcomes(&job, true, "refused")?;
    let crashed: Vec<&String> = lines.iter().filter(|line| !survived(line)).collect();
    ensure!(crashed.is_empty(), "the recorder crashed:\n{crashed:#?}");
    ensure!(lines.iter().all(|line| line == "end" || line.ends_with("handled 0")), "an error handler was called");
    // Each is in the log, which can be read whatever the numbers are.
    let report = run::report(&job.run_folder()?)?;
    let calls = report["run"]["calls"].as_u64().context("calls")?;
    ensure!(lines.len() > 3000 && calls >= lines.len() as u64, "{} cases, {calls} calls", lines.len());
    Ok(())
}

fn mpi_gives_the_same_answer_to_a_wrong_argument(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let job = Job::new(mpi, 1, program, folder);
    let bare = outcomes(&job, false, "bare")?;
    let numbers = bare.iter().filter(|line| !survived(line)).filter_map(|line| line.split(' ').next());
    fs::write(folder.join("skipped"), numbers.collect::<Vec<_>>().join("\n"))?;
    let recorded = outcomes(&job, true, "recorded")?;
    let bare: Vec<&String> = bare.iter().filter(|line| survived(line)).collect();
    let different: Vec<_> = bare.iter().zip(&recorded).filter(|(bare, recorded)| **bare != *recorded).collect();
    ensure!(different.is_empty() && bare.len() == recorded.len(), "bare, and recorded:\n{different:#?}");
    ensure!(bare.len() > 100, "only {} cases: {bare:?}", bare.len());
    Ok(())
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        let c = "arguments/refused.c";
        let crash = no_wrong_argument_makes_the_recorder_crash;
        let same = mpi_gives_the_same_answer_to_a_wrong_argument;
        trials.push(suite::of_program(&mpi, "no_wrong_argument_makes_the_recorder_crash", c, crash));
        trials.push(suite::of_program(&mpi, "mpi_gives_the_same_answer_to_a_wrong_argument", c, same));
        if mpi.fortran.is_some() {
            let name = "mpi_gives_the_same_answer_to_a_wrong_argument_in_fortran";
            trials.push(suite::of_program(&mpi, name, "arguments/refused_fortran.f90", same));
        }
    }
    Ok(trials)
}
