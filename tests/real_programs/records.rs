//! Programs that say what each of their calls' records must hold.

use lbprof_tests::launch::Job;
use lbprof_tests::suite::{self, Case};
use lbprof_tests::{expected, known_outcome, run};
use libtest_mimic::Trial;

fn every_record_is_as_the_program_says(case: &Case) -> anyhow::Result<()> {
    let job = Job::of_case(case)?.with_env_of(&case.program);
    let lines = job.folder.join("expected");
    let bare = known_outcome::of_bare(&job)?.must_succeed()?;
    let job = job.with_env(expected::VARIABLE, &lines);
    let recorded = job.recorded()?.must_succeed()?;
    recorded.must_equal(&bare, &case.mpi)?;
    let dump = run::dump(&job.run_folder()?)?;
    expected::compare(&lines, case.ranks, &dump)?;
    dump.check_invariants()
}

pub fn trials() -> anyhow::Result<Vec<Trial>> {
    suite::cases("records", "records", every_record_is_as_the_program_says)
}
