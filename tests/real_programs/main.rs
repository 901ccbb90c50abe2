//! Programs run for real under each MPI, with and without the recorder: what is recorded of them, and that they notice nothing.
//!
//! `scripts/test` runs them under Open MPI and a sample under MPICH; `scripts/test --all` runs all.

mod arguments;
mod containers;
mod coverage;
mod distributed;
mod exports;
mod first_contact;
mod harmless;
mod interrupted;
mod languages;
mod other_users;
mod paths;
mod records;
mod same_calls;
mod settings;
mod watch;

use lbprof_tests::stored::RunSource;
use lbprof_tests::suite::{self, Suite};

/// Tests at a time for each core: programs that start, wait and end leave cores idle most of the time.
const TESTS_PER_CORE: usize = 3;

/// Suites and tests that a short run leaves out: those that wait for long or keep all cores busy, those that build packages, and those about how fast a
/// machine is.
const ONLY_OF_ALL: [&str; 24] = [
    "distributed::",
    "watch::",
    "coverage::every_wrapped",
    "exports::",
    "harmless::disk_hangs",
    "harmless::a_disk_that_fills_up",
    "harmless::many_objects",
    "harmless::many_threads",
    "harmless::odd_threads",
    "harmless::on_a_bad_disk",
    "harmless::ranks_without_the_recorder_hold_nobody_up",
    "harmless::thread_herd",
    "harmless::threads_end",
    "harmless::takes_turns",
    "harmless::r_works",
    "harmless::kill9_with_objects",
    "languages::markers_rs",
    "languages::rsmpi",
    "languages::threads",
    "paths::bits",
    "settings::buffer_is_the_size",
    "settings::the_clock_asked_for",
    "settings::samples_are_as_many",
    "arguments::no_wrong_argument",
];

/// Suites that a short run has under MPICH, too: what is recorded of each kind of call, and the first screen of small programs.
const UNDER_MPICH: [&str; 2] = ["records::", "first_contact::"];

fn is_in_short_run(test: &str) -> bool {
    let is_among = |names: &[&str]| names.iter().any(|name| test.starts_with(name));
    !is_among(&ONLY_OF_ALL) && (!test.contains("::mpich") || is_among(&UNDER_MPICH))
}

fn main() {
    let suites: [Suite; 15] = [
        ("records", records::trials),
        ("same_calls", same_calls::trials),
        ("paths", paths::trials),
        ("coverage", coverage::trials),
        ("harmless", harmless::trials),
        ("settings", settings::trials),
        ("languages", languages::trials),
        ("interrupted", interrupted::trials),
        ("arguments", arguments::trials),
        ("first_contact", first_contact::trials),
        ("containers", containers::trials),
        ("other_users", other_users::trials),
        ("exports", exports::trials),
        ("watch", watch::trials),
        ("distributed", distributed::trials),
    ];
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    suite::main(&suites, RunSource::Launched, TESTS_PER_CORE * cores, is_in_short_run);
}
