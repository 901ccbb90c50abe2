//! `lb-report`: lb-report in one process.

use std::process::ExitCode;

use lb_report::code_reader;
use lb_report::command_line::{parsed, run};

fn main() -> ExitCode {
    if let Some(exit) = code_reader::serve_if_asked() {
        return exit;
    }
    // To follow all ranks their logs are open at once. What the system refuses is reported where a log cannot be opened.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    parsed(true).map_or_else(|exit| exit, |arguments| run(&arguments)).into()
}
