//! lb-report as a process of its own, with colours as in a pipe.

use std::path::Path;

use assert_cmd::Command;

/// Returns lb-report with these arguments, in the folder `here`.
pub fn lb_report(here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lb-report").expect("lb-report is built");
    command.args(arguments).current_dir(here).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Returns the standard output of lb-report, which ends with `code`.
#[track_caller]
pub fn stdout_of(here: &Path, arguments: &[&str], code: i32) -> String {
    let output = lb_report(here, arguments).assert().code(code).get_output().stdout.clone();
    String::from_utf8(output).expect("the output is UTF-8")
}

/// Asserts that lb-report ends with `code`, and `says` this on standard error only.
#[track_caller]
pub fn assert_fails(here: &Path, arguments: &[&str], code: i32, says: &str) {
    let output = lb_report(here, arguments).assert().code(code).get_output().clone();
    let message = String::from_utf8(output.stderr).expect("the message is UTF-8");
    assert!(message.contains(says), "{message:?} does not say {says:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}

pub fn text_of(path: &Path) -> &str {
    path.to_str().expect("a folder's name is UTF-8")
}
