//! Logs made to keep their reader busy: lb-report ends soon, in little memory, and says what is wrong.

mod support;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

use lbprof_collector::format::{log_name, ring_name};
use lbprof_collector::scenario::Scenario;
use support::written;

/// Bytes that a file claims to have.
const CLAIMED: u64 = 100 << 30;

/// lb-report on the folder, with 20 s of processor time and 1.5 GiB of addresses. A development build is several times slower than what
/// users have, and needs as much memory.
fn bounded(folder: &Path, max_memory: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("lb-report");
    let limits = "ulimit -t 20 -v 1572864; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limits, "sh"]).arg(program).arg(folder).env("LB_REPORT_MAX_MEMORY", max_memory);
    command.output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn claim(folder: &Path, name: &str) {
    File::options().append(true).open(folder.join(name)).unwrap().set_len(CLAIMED).unwrap();
}

#[test]
fn holes_in_files_are_not_read() {
    let run = written(Scenario::ranks(2).each(|rank, script| {
        let script = script.compute(5).allreduce(8, 0.1).compute(5).allreduce(8, 0.1);
        script.kill(if rank == 1 { 1 } else { 0 })
    }));
    claim(run.path(), &log_name(0));
    claim(run.path(), &log_name(1));
    claim(run.path(), &ring_name(1, 0));
    let output = bounded(run.path(), "");
    let (report, errors) = (words(&output.stdout), words(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{report}{errors}");
    assert!(report.contains("a hole of ") && report.contains(" bytes in the log's file"), "{report}");
    assert!(report.contains("2 of 2 ranks"), "{report}");
}

#[test]
fn a_run_that_needs_more_memory_than_it_may_take_is_refused() {
    // Each thread, each region of which has an iteration of its own.
    let run = written(Scenario::ranks(1).each(|_, script| {
        script.repeat(3000, |step, script| {
            let name = format!("region {step}");
            script.iteration("step", move |script| script.region(&name, |script| script.compute(1)))
        })
    }));
    let output = bounded(run.path(), "8M");
    let errors = words(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(errors.contains("the run needs more than 8 MiB of memory, though its logs are small"), "{errors}");
    let output = bounded(run.path(), "0");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
}
