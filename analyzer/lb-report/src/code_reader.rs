//! The process that reads programs and shared objects ([`lbprof_analysis::structure::code::code_readers`]): lb-report itself with a hidden argument.

use std::io::{stdin, stdout};
use std::process::{Command, ExitCode};
use std::time::Duration;

use lbprof_analysis::structure::code::code_readers::{CodeReaders, answer_requests};
use lbprof_analysis::structure::code::symbols;

use crate::limits::{limit_processor_time, limit_worker};

const ARGUMENT: &str = "--code-reader";

/// Variable with the user's limit of processor time for names, in seconds; 0 means none.
const VARIABLE: &str = "LB_REPORT_MAX_CPU";

/// Development builds are several times slower.
const SLOWER: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Serves as a reader if this process was started as one.
pub fn serve_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        return None;
    }
    limit_worker();
    answer_requests(stdin(), stdout(), limit_processor_time);
    Some(ExitCode::SUCCESS)
}

/// Returns the readers of programs and shared objects.
pub fn code_readers() -> CodeReaders {
    CodeReaders::apart(reader_command)
}

/// Returns the processor time for looking up names.
pub fn naming_time() -> Duration {
    match std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok()) {
        None => symbols::MOST_TIME.saturating_mul(SLOWER),
        Some(0) => Duration::MAX,
        Some(seconds) => Duration::from_secs(seconds),
    }
}

/// Starts this very file, even if another one has its name by now.
fn reader_command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(ARGUMENT);
    command
}
