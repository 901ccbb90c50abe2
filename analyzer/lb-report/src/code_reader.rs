//! The process by which lb-report has programs and shared objects read ([`lbprof_analysis::structure::code_readers`]): it is lb-report itself, with an argument
//! that users do not give.

use std::io::{stdin, stdout};
use std::process::{Command, ExitCode};
use std::time::Duration;

use lbprof_analysis::structure::code_readers::{CodeReaders, serve};
use lbprof_analysis::structure::symbols;

use crate::limits::{limit_processor_time, limit_worker};

/// The argument.
const ARGUMENT: &str = "--code-reader";

/// The variable with the user's own limit of processor time for the names of a run: seconds; 0: none.
const VARIABLE: &str = "LB_REPORT_MAX_CPU";

/// A development build is several times slower than what users have.
const SLOWER: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Serves as a reader if this process was started as one.
pub fn serve_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        return None;
    }
    limit_worker();
    serve(stdin(), stdout(), limit_processor_time);
    Some(ExitCode::SUCCESS)
}

/// The readers of programs and shared objects.
pub fn code_readers() -> CodeReaders {
    CodeReaders::apart(command)
}

/// Returns the processor time after which no more names are looked up.
pub fn naming_time() -> Duration {
    match std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok()) {
        None => symbols::MOST_TIME.saturating_mul(SLOWER),
        Some(0) => Duration::MAX,
        Some(seconds) => Duration::from_secs(seconds),
    }
}

/// Returns the command that starts a reader: the file that runs here, even if another one has its name by now.
fn command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(ARGUMENT);
    command
}
