//! Suites: one named test of each program, MPI and number of ranks, and which of them a short run of the tests has.

use std::cell::Cell;

use std::path::Path;

use libtest_mimic::{Arguments, Trial};

use crate::mpi::Mpi;
use crate::program::Program;
use crate::stored::{self, RunSource};
use crate::{launch, mpi, place, program};

/// A test under an MPI in a folder of its own.
pub type MpiCheck = fn(&Mpi, &Path) -> anyhow::Result<()>;

/// The same of a compiled program, which comes before the folder.
pub type ProgramCheck = fn(&Mpi, &Path, &Path) -> anyhow::Result<()>;

pub struct Case {
    pub program: Program,
    pub mpi: Mpi,
    pub ranks: usize,
    /// The test's name, also that of its folder.
    pub name: String,
}

/// How the programs of a suite are run where a test says nothing of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunDefaults {
    pub samples: bool,
    pub source: RunSource,
}

/// Suites whose programs are sampled, as those of users are, for tests of what sampling may do to programs. Reports take longer with samples.
const WITH_SAMPLES: [&str; 2] = ["harmless", "places"];

/// The first part of the names of a suite's tests, and what makes them.
pub type Suite = (&'static str, fn() -> anyhow::Result<Vec<Trial>>);

/// Returns a suite's tests. What is wrong with their list is itself a failed test, so that it is seen.
fn collect(suite: &Suite, source: RunSource) -> Vec<Trial> {
    let (name, trials) = *suite;
    COLLECTED.set(name);
    DEFAULTS.set(RunDefaults { samples: WITH_SAMPLES.contains(&name), source });
    let trials = trials().unwrap_or_else(|error| {
        let error = format!("{error:#}");
        vec![trial("the list of tests".into(), move || Err(anyhow::anyhow!(error)))]
    });
    DEFAULTS.set(RunDefaults::default());
    trials
}

thread_local! {
    /// The suite whose tests are being made on this thread.
    static COLLECTED: Cell<&'static str> = const { Cell::new("") };
    static DEFAULTS: Cell<RunDefaults> = Cell::default();
}

pub fn defaults() -> RunDefaults {
    DEFAULTS.get()
}

/// The tests of all programs of `folder`, under `suite`.
pub fn cases(suite: &str, folder: &str, check: fn(&Case) -> anyhow::Result<()>) -> anyhow::Result<Vec<Trial>> {
    cases_of_variant(suite, "", folder, check)
}

/// The same, of which `variant` is the first part of each name.
pub fn cases_of_variant(
    suite: &str,
    variant: &str,
    folder: &str,
    check: fn(&Case) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    let mut programs = program::programs_in(folder)?;
    // The modules of Python differ by machine, and so do stored runs of scripts.
    programs.retain(|program| !program.is_script() || defaults().source == RunSource::Launched);
    let python = programs.iter().any(Program::is_script).then(mpi::of_python);
    for mpi in mpi::all()? {
        let without_python = python.as_ref().and_then(|python| match python {
            Ok(found) if *found == mpi.name => None,
            Ok(found) => Some(format!("mpi4py is linked with {found} here")),
            Err(error) => Some(error.clone()),
        });
        if let Some(why) = &without_python {
            eprintln!("tests of Python under {} are ignored: {why}", mpi.name);
        }
        for program in programs.iter().filter(|program| program.runs_under(&mpi)) {
            for ranks in program.ranks() {
                let name = format!("{variant}{}::{}::{ranks}", program.name, mpi.name);
                let case = Case { program: program.clone(), mpi: mpi.clone(), ranks, name: format!("{suite}::{name}") };
                let needs_mpi4py = case.program.is_script() && case.program.value("interpreter") != Some("alone");
                let is_ignored = needs_mpi4py && without_python.is_some();
                trials.push(trial(name, move || check(&case)).with_ignored_flag(is_ignored));
            }
        }
    }
    Ok(trials)
}

/// A test `NAME::MPI` of each check under each MPI.
pub fn of_mpis(checks: &[(&'static str, MpiCheck)]) -> anyhow::Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for mpi in mpi::all()? {
        for &(name, check) in checks {
            let (mpi, name) = (mpi.clone(), format!("{name}::{}", mpi.name));
            let folder = format!("{}::{name}", COLLECTED.get());
            trials.push(trial(name, move || check(&mpi, &place::fresh_folder(&folder)?)));
        }
    }
    Ok(trials)
}

/// A test `NAME::MPI` of the program at `source`, below `tests/programs`.
pub fn of_program(mpi: &Mpi, name: &str, source: &str, check: ProgramCheck) -> Trial {
    let (mpi, name, source) = (mpi.clone(), format!("{name}::{}", mpi.name), source.to_owned());
    let folder = format!("{}::{name}", COLLECTED.get());
    trial(name, move || {
        let program = Program::read(Path::new(&source))?.compiled(&mpi)?;
        check(&mpi, &program, &place::fresh_folder(&folder)?)
    })
}

/// The same test, ignored unless root runs it.
pub fn needing_root(trial: Trial) -> Trial {
    if launch::is_root() { trial } else { trial.with_ignored_flag(true).with_kind("needs root") }
}

/// A test of this name, in the suite whose tests are being made.
pub fn trial(name: String, check: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    let name = format!("{}::{name}", COLLECTED.get());
    let defaults = defaults();
    let test = name.clone();
    Trial::test(name, move || {
        DEFAULTS.set(defaults);
        stored::with_runs(defaults.source, &test, check).map_err(|error| format!("{error:#}").into())
    })
}

/// Whether all tests are wanted (`scripts/test --all`), and not only those of a short run.
pub fn is_all() -> bool {
    std::env::var_os("LBTEST_EXTENT").is_some_and(|extent| extent == "all")
}

/// Runs the tests of `suites` that `is_in_short_run`, or all of them, with `threads` at a time, and ends the process with their result.
pub fn main(suites: &[Suite], source: RunSource, threads: usize, is_in_short_run: fn(&str) -> bool) -> ! {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(threads));
    let mut trials: Vec<Trial> = suites.iter().flat_map(|suite| collect(suite, source)).collect();
    if !is_all() && arguments.filter.is_none() {
        trials.retain(|trial| is_in_short_run(trial.name()));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
