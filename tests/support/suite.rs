//! One named test of each program, MPI and number of ranks.

use libtest_mimic::{Arguments, Trial};

use crate::mpi::Mpi;
use crate::program::Program;
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

/// Whether other tests may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Yes: nothing in it depends on how long things take.
    Welcome,
    /// No: it measures time.
    Alone,
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
    let programs = program::programs_in(folder)?;
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

/// A test of this name.
pub fn trial(name: String, check: impl FnOnce() -> anyhow::Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || check().map_err(|error| format!("{error:#}").into()))
}

/// Runs the tests, and ends the process with their result. Those that measure time run one after the other.
pub fn main(company: Company, trials: anyhow::Result<Vec<Trial>>) -> ! {
    let mut arguments = Arguments::from_args();
    if company == Company::Alone {
        arguments.test_threads = Some(1);
    }
    // What is wrong with the list of tests is itself a failed test, so that it is seen.
    let trials = trials.unwrap_or_else(|error| {
        let error = format!("{error:#}");
        vec![Trial::test("the list of tests", move || Err(error.into()))]
    });
    libtest_mimic::run(&arguments, trials).exit();
}
