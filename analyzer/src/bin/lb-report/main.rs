//! `lb-report`: arguments, progress, exit codes, nothing else. Each command is a file, with what the user may choose of it.
//!
//! The same modules are those of `lb-report-mpi` (`analyzer-mpi/`), but for `opening`.

mod command_line;
mod compare;
mod dump;
mod examples;
mod exit;
mod export;
mod memory;
mod on_disk;
mod opening;
mod output;
mod processor;
mod progress;
mod report;
mod run;
mod shell;
mod study;
mod whole_file;

use std::process::ExitCode;

use crate::command_line::{parsed, run};

fn main() -> ExitCode {
    // To follow all ranks their logs are open at once. What the system refuses is reported where a log cannot be opened.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    parsed(true).map_or_else(|exit| exit, |arguments| run(&arguments)).into()
}
