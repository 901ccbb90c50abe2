//! Suites: one named test of each program, MPI and number of ranks, and which of them a short run of the tests has.

use std::cell::Cell;

use libtest_mimic::{Arguments, Trial};

use crate::mpi::Mpi;
use crate::program::Program;
use crate::stored::{self, RunSource};
use crate::{mpi, program};

/// What a test is given: the program, the MPI, the number of ranks, the test's name.
pub struct Case {
    /// The program.
    pub program: Program,
    /// The MPI.
    pub mpi: Mpi,
    /// How many ranks.
    pub ranks: usize,
    /// The test's name, also that of its folder.
    pub name: String,
}

/// How the programs of a suite are run where a test says nothing of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunDefaults {
    /// Whether programs are sampled, as those of users are. Reports take longer with samples, so this is for tests of what sampling may do to programs.
    pub samples: bool,
    /// Where runs come from.
    pub source: RunSource,
}

/// Tests about one subject.
#[derive(Clone, Copy)]
pub struct Suite {
    /// The first part of its tests' names.
    pub name: &'static str,
    /// Makes the tests.
    pub trials: fn() -> anyhow::Result<Vec<Trial>>,
    /// How programs are run.
    pub defaults: RunDefaults,
}

impl Suite {
    /// A suite whose programs are run in the common way.
    pub const fn new(name: &'static str, trials: fn() -> anyhow::Result<Vec<Trial>>) -> Suite {
        let defaults = RunDefaults { samples: false, source: RunSource::Launched };
        Suite { name, trials, defaults }
    }

    /// The same suite with sampled programs.
    pub const fn with_samples(mut self) -> Suite {
        self.defaults.samples = true;
        self
    }

    /// The same suite with its runs from this source.
    #[must_use]
    pub fn with_source(mut self, source: RunSource) -> Suite {
        self.defaults.source = source;
        self
    }

    /// Returns the suite's tests. What is wrong with their list is itself a failed test, so that it is seen.
    fn collect(&self) -> Vec<Trial> {
        COLLECTED.set(self.name);
        DEFAULTS.set(self.defaults);
        let trials = (self.trials)().unwrap_or_else(|error| {
            let error = format!("{error:#}");
            vec![trial("the list of tests".into(), move || Err(anyhow::anyhow!(error)))]
        });
        DEFAULTS.set(RunDefaults::default());
        trials
    }
}

thread_local! {
    /// The suite whose tests are being made on this thread.
    static COLLECTED: Cell<&'static str> = const { Cell::new("") };
    /// How programs are run by this thread's test.
    static DEFAULTS: Cell<RunDefaults> = Cell::default();
}

/// Returns how programs are run by this thread's test.
pub fn defaults() -> RunDefaults {
    DEFAULTS.get()
}

/// The tests of all programs of `folder`, under `suite`.
///
/// Errors: what is wrong with the programs' sources or with `LBPROF_TEST_MPIS`.
pub fn cases(suite: &str, folder: &str, check: fn(&Case) -> anyhow::Result<()>) -> anyhow::Result<Vec<Trial>> {
    cases_of_variant(suite, "", folder, check)
}

/// The same, of which `variant` is the first part of each name.
///
/// Errors: as [`cases`].
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
pub fn main(suites: &[Suite], threads: usize, is_in_short_run: fn(&str) -> bool) -> ! {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(threads));
    let mut trials: Vec<Trial> = suites.iter().flat_map(Suite::collect).collect();
    if !is_all() && arguments.filter.is_none() {
        trials.retain(|trial| is_in_short_run(trial.name()));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
