//! Logs made to keep their reader busy: lb-report ends soon, in little memory, and says what is wrong.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

use super::kinds::KINDS;
use lbprof_collector::format::{log_name, rings_name};
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::written;

/// Bytes that a file claims to have.
const CLAIMED: u64 = 100 << 30;

/// lb-report on the folder, with 20 s of processor time and 1.5 GiB of addresses. A development build is several times slower than what
/// users have, and needs as much memory.
fn bounded(folder: &Path, max_memory: &str) -> Output {
    limited(&[folder.as_os_str()], max_memory)
}

fn limited(arguments: &[&OsStr], max_memory: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("lb-report");
    let limits = "ulimit -t 20 && ulimit -v 1572864 && exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limits, "sh"]).arg(program).args(arguments).env("LB_REPORT_MAX_MEMORY", max_memory);
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
    claim(run.path(), &rings_name(1));
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
    assert!(errors.contains("this needs more memory than the 8 MiB of LB_REPORT_MAX_MEMORY"), "{errors}");
    let output = bounded(run.path(), "0");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
}

/// A run of a kind, with so many of what it is about.
fn hostile(kind: &str, size: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let kind = KINDS.iter().find(|one| one.name == kind).expect("it is a kind");
    (kind.write)(dir.path(), size).unwrap();
    dir
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn each_kind_of_hostile_run_ends_with_a_report() {
    // 60 MB a block is for a release build.
    for kind in KINDS.iter().filter(|kind| kind.name != "unpacking") {
        let dir = hostile(kind.name, (kind.size / 1000).clamp(1, 200));
        let (page, json) = (dir.path().join("page.html"), dir.path().join("report.json"));
        let output = limited(
            &[dir.path().as_os_str(), "--html".as_ref(), page.as_os_str(), "--json".as_ref(), json.as_os_str()],
            "",
        );
        let is_made = output.status.code().is_some_and(|code| code == 0 || code == 4) && page.exists() && json.exists();
        let is_refused =
            output.status.code() == Some(5) && words(&output.stderr).contains("no record that can be read");
        assert!(is_made || is_refused, "{}: {output:?}", kind.name);
    }
}

#[test]
fn threads_without_number_take_little_memory() {
    let dir = hostile("threads", 6000);
    let output = bounded(dir.path(), "96M");
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let report = words(&output.stdout);
    assert!(report.contains("other threads of rank 0 work, too"), "{report}");
}

#[test]
fn a_run_of_thousands_of_ranks_is_no_hostile_one() {
    let dir = hostile("many_ranks", 4096);
    let output = Command::new(assert_cmd::cargo::cargo_bin("lb-report")).arg(dir.path()).output().unwrap();
    assert!(output.status.code() != Some(5), "{}", words(&output.stderr));
}

#[test]
fn more_open_regions_than_the_recorder_opens_are_reported() {
    for (kind, size) in [("nested", 1000), ("nested_heads", 1), ("region_chain", 1000)] {
        let dir = hostile(kind, size);
        let output = bounded(dir.path(), "");
        let report = words(&output.stdout) + &words(&output.stderr);
        assert!(report.contains("cannot be understood") || report.contains("share one"), "{kind}: {report}");
    }
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    super::kinds::not_files(dir.path()).unwrap();
    for name in [log_name(6), rings_name(2)] {
        assert!(Command::new("mkfifo").arg(dir.path().join(name)).status().unwrap().success());
    }
    let output = bounded(dir.path(), "");
    let message = words(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{message}{}", words(&output.stdout));
    assert!(message.contains("not a regular file"), "{message}");
}
