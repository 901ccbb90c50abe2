//! How lb-report ends.

use std::io::{self, Write};
use std::process::ExitCode;

use lbprof_analyzer::compare::condition::ConditionError;
use lbprof_analyzer::open::RunError;
use lbprof_analyzer::report::text;
use lbprof_analyzer::selection::SelectionError;

/// How lb-report ends. The numbers are documented in its help and in docs/reading-a-report.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The report was made.
    Good = 0,
    /// lb-report itself failed: a mistake of ours.
    Bug = 1,
    /// The command line was wrong, or selects what the run does not have.
    Usage = 2,
    /// A condition to fail on holds, or is not known.
    Condition = 3,
    /// The report was made, from incomplete data.
    Incomplete = 4,
    /// There is no run that can be read.
    NoData = 5,
    /// The report could not be written.
    Output = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Tells an error, and says how to end with it.
pub fn fail(error: &anyhow::Error) -> Exit {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return Exit::Good;
    }
    let message = text::plain(&format!("{error:#}"));
    let _ = writeln!(io::stderr(), "lb-report: {message}");
    if error.is::<RunError>() {
        Exit::NoData
    } else if error.is::<SelectionError>() || error.is::<ConditionError>() {
        Exit::Usage
    } else if io.is_some() {
        Exit::Output
    } else {
        Exit::Bug
    }
}
