//! Programs whose truth is known, because they sleep or compute by a plan: what reports state of them.
//!
//! `scripts/test` judges stored runs ([`lbprof_tests::stored`]); `scripts/test --all` runs the programs under each MPI, those that need the cores one after
//! the other.

mod clocks;
mod comparison;
mod functions;
mod laboratory;
mod models;
mod oracle;
mod places;
mod sampling;
mod styles;
mod threads;
mod truth;

use lbprof_tests::stored::RunSource;
use lbprof_tests::suite::{self, Suite};

/// Tests at a time where programs are run: two of them compile or make reports while the programs of the third run.
const TESTS_WITH_PROGRAMS: usize = 3;

/// What a short run leaves out: runs that are not stored.
fn is_in_short_run(test: &str) -> bool {
    !test.contains("::mpich")
}

fn main() {
    let source = RunSource::from_env();
    let suites: [Suite; 11] = [
        ("truth", truth::trials),
        ("styles", styles::trials),
        ("laboratory", laboratory::trials),
        ("oracle", oracle::trials),
        ("models", models::trials),
        ("comparison", comparison::trials),
        ("threads", threads::trials),
        ("places", places::trials),
        ("functions", functions::trials),
        ("sampling", sampling::trials),
        ("clocks", clocks::trials),
    ];
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if source == RunSource::Stored { cores } else { TESTS_WITH_PROGRAMS };
    suite::main(&suites, source, threads, is_in_short_run);
}
