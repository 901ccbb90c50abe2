//! Wrong arguments: the recorder looks at what a program passes before MPI has checked it, and must stand whatever it finds.
//!
//! tests/programs/arguments/refused.c calls every function of interpose/calls.table with one wrong argument at a time. With all values
//! against a library that refuses every call, so that a crash is the recorder's; with those that MPI looks at against MPI itself,
//! where the recorder must not change the answer. tests/programs/arguments/refused_fortran.f90 does the latter through mpif.h and `use mpi`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use lbprof_tests::launch::Job;
use lbprof_tests::mpi::{self, Mpi};
use lbprof_tests::program::{Program, shared_object};
use lbprof_tests::suite;
use lbprof_tests::{place, run};
use libtest_mimic::Trial;

/// A test under one MPI: in a folder, of a program.
type Check = fn(&Mpi, &Path, &Path) -> anyhow::Result<()>;

/// A library that has every function of the table by both of its names, and refuses all calls (with an error code that no MPI gives by itself) while
/// `lbtest_refusing` is set.
fn refusing_library(mpi: &Mpi, table: &Path) -> anyhow::Result<PathBuf> {
    const WORDS: &str = "long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n";
    let mut source = format!(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\nint lbtest_refusing;\ntypedef long function({WORDS});\n\
         #define REFUSES(name) long name({WORDS}) {{ if (lbtest_refusing) return 1; \
         function *real = (function *)dlsym(RTLD_NEXT, #name); return real(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }}\n"
    );
    for line in fs::read_to_string(table)?.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let function = words.next().context("a row without a function")?;
        let large = (words.next() == Some("c")).then(|| format!("{function}_c"));
        for function in [Some(function.to_owned()), large].into_iter().flatten() {
            writeln!(source, "REFUSES(MPI_{function})\nREFUSES(PMPI_{function})")?;
        }
    }
    let path = place::binaries(&mpi.name).join("refuses.c");
    fs::create_dir_all(place::binaries(&mpi.name))?;
    fs::write(&path, source)?;
    shared_object(&["cc".into()], &path.to_string_lossy(), mpi)
}

/// How the program is to be run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Bare,
    Recorded,
}

/// The outcome of each case: the lines of the program. A process that a call has ended is followed by another one.
fn outcomes(job: &Job, how: How, name: &str) -> anyhow::Result<Vec<String>> {
    /// Processes, at most: each takes a second to start.
    const MOST: usize = 12;
    let (path, skipped) = (job.folder.join(name), job.folder.join("skipped"));
    let mut first = 0;
    for _ in 0..MOST {
        let mut job = job.clone();
        let table = place::workspace().join("interpose/calls.table");
        job.command.extend([table.into(), path.clone().into(), first.to_string().into(), skipped.clone().into()]);
        // How it ends says nothing: MPI may be in any state.
        if how == How::Bare {
            job.bare()?
        } else {
            job.recorded()?
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

/// The number of a case, where the process came through it.
fn survived(line: &str) -> bool {
    line.contains(": class ") || line == "end"
}

fn no_wrong_argument_makes_the_recorder_crash(mpi: &Mpi, program: &Path, folder: &Path) -> anyhow::Result<()> {
    let library = refusing_library(mpi, &place::workspace().join("interpose/calls.table"))?;
    let yielding = shared_object(&["cc".into()], "support/yielding.c", mpi)?;
    let job = Job::new(mpi, 1, program, folder)
        .with_env("LD_PRELOAD", format!("{}:{}", library.display(), yielding.display()));
    let lines = outcomes(&job, How::Recorded, "refused")?;
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
    let bare = outcomes(&job, How::Bare, "bare")?;
    let numbers = bare.iter().filter(|line| !survived(line)).filter_map(|line| line.split(' ').next());
    fs::write(folder.join("skipped"), numbers.collect::<Vec<_>>().join("\n"))?;
    let recorded = outcomes(&job, How::Recorded, "recorded")?;
    let bare: Vec<&String> = bare.iter().filter(|line| survived(line)).collect();
    let different: Vec<_> = bare.iter().zip(&recorded).filter(|(bare, recorded)| **bare != *recorded).collect();
    ensure!(different.is_empty() && bare.len() == recorded.len(), "bare, and recorded:\n{different:#?}");
    ensure!(bare.len() > 100, "only {} cases: {bare:?}", bare.len());
    Ok(())
}

/// The tests of this suite.
///
/// Errors: the programs or MPIs cannot be listed.
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    mpi::all().map(|mpis| {
        let same: Check = mpi_gives_the_same_answer_to_a_wrong_argument;
        let tests: [(&str, &str, Check); 3] = [
            ("no_wrong_argument_makes_the_recorder_crash", "refused.c", no_wrong_argument_makes_the_recorder_crash),
            ("mpi_gives_the_same_answer_to_a_wrong_argument", "refused.c", same),
            ("mpi_gives_the_same_answer_to_a_wrong_argument_in_fortran", "refused_fortran.f90", same),
        ];
        mpis.into_iter()
            .flat_map(|mpi| {
                let has_fortran = mpi.fortran.is_some();
                let tests = tests.into_iter().filter(move |(_, source, _)| has_fortran || !source.ends_with(".f90"));
                tests.map(move |(name, source, check)| {
                    let mpi = mpi.clone();
                    suite::trial(format!("{name}::{}", mpi.name), move || {
                        let folder = place::fresh_folder(&format!("arguments::{name}::{}", mpi.name))?;
                        let program = Program::read(&Path::new("arguments").join(source))?.compiled(&mpi)?;
                        check(&mpi, &program, &folder)
                    })
                })
            })
            .collect::<Vec<Trial>>()
    })
}
