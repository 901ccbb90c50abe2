//! Programs that say what each of their calls' records must hold.

use lbprof_tests::launch::Job;
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{expected, known_outcome, place, run};
use libtest_mimic::Trial;

fn every_record_is_as_the_program_says(case: &Case) -> anyhow::Result<()> {
    let program = case.program.compiled(&case.mpi)?;
    let folder = place::fresh_folder(&case.name)?;
    let lines = folder.join("expected");
    let job = Job::new(&case.mpi, case.ranks, &program, &folder).with_env_of(&case.program);
    let bare = known_outcome::of_bare(&job)?.must_succeed()?;
    let job = job.with_env(expected::VARIABLE, &lines);
    let recorded = job.recorded()?.must_succeed()?;
    recorded.must_equal(&bare, &case.mpi)?;
    let dump = run::dump(&job.run_folder()?)?;
    expected::compare(&lines, case.ranks, &dump)?;
    dump.check_invariants()
}

/// The tests of this suite.
///
/// Errors: the programs or MPIs cannot be listed.
pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("records", "records", every_record_is_as_the_program_says)
}
