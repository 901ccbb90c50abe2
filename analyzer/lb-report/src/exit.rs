//! The exit codes of lb-report.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use lbprof_analysis::analyse::AnalysisError;
use lbprof_analysis::analyse::ProcessFailure;
use lbprof_analysis::read::open::RunError;
use lbprof_analysis::select::SelectionError;
use lbprof_collector::words::SystemError;
use lbprof_report::text;
use lbprof_report::text::any_table::NoSuchTable;
use lbprof_study::compare::condition::ConditionError;
use lbprof_study::extrap::NoMeasurements;
use lbprof_study::models::ModelError;
use lbprof_study::{NotInStudy, StoreError};

/// The exit code. Its numbers are documented in the help and in docs/report-reference.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReportExit {
    /// The report was made.
    Good = 0,
    /// lb-report itself failed: a mistake of ours.
    Bug = 1,
    /// The command line was wrong, or selects what the run or the study does not have.
    Usage = 2,
    /// A condition to fail on holds, or is not known.
    Condition = 3,
    /// The report was made, from incomplete data.
    Incomplete = 4,
    /// There is no run, or no study, that can be read in the memory that it may take.
    NoData = 5,
    /// The report or the study could not be written.
    Output = 6,
    /// A process of lb-report-mpi failed.
    Process = 7,
}

impl ReportExit {
    /// Returns the exit of a report.
    pub fn for_completeness(complete: bool) -> ReportExit {
        if complete { ReportExit::Good } else { ReportExit::Incomplete }
    }
}

impl From<ReportExit> for ExitCode {
    fn from(exit: ReportExit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

static NAME: OnceLock<&str> = OnceLock::new();

/// Sets the name of this program, if it is not lb-report.
pub fn set_name(name: &'static str) {
    let _ = NAME.set(name);
}

/// Returns the name of this program.
pub fn program_name() -> &'static str {
    NAME.get().copied().unwrap_or("lb-report")
}

/// Prints a note or an error on standard error.
pub fn print_note(note: impl Display) {
    let _ = writeln!(io::stderr(), "{}: {note}", program_name());
}

/// Refuses a command line.
pub fn refuse_usage(reason: impl Display) -> anyhow::Result<ReportExit> {
    print_note(reason);
    Ok(ReportExit::Usage)
}

/// Reports an error and returns the exit for it.
pub fn report_failure(error: &anyhow::Error) -> ReportExit {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return ReportExit::Good;
    }
    let message = text::escape_message(&error.chain().map(in_words).collect::<Vec<_>>().join(": "));
    print_note(message);
    if let Some(error) = error.downcast_ref::<StoreError>() {
        of_study(error)
    } else if error.is::<RunError>()
        || matches!(error.downcast_ref(), Some(NotInStudy::NoRuns))
        || matches!(error.downcast_ref(), Some(AnalysisError::NoRecords { .. }))
    {
        ReportExit::NoData
    } else if error.is::<ProcessFailure>() || matches!(error.downcast_ref(), Some(AnalysisError::Failure(_))) {
        ReportExit::Process
    } else if is_usage(error) {
        ReportExit::Usage
    } else if io.is_some() {
        ReportExit::Output
    } else {
        ReportExit::Bug
    }
}

fn in_words(cause: &(dyn Error + 'static)) -> String {
    cause.downcast_ref().map_or_else(|| cause.to_string(), |error| SystemError(error).to_string())
}

/// Returns whether the user's request caused the error.
fn is_usage(error: &anyhow::Error) -> bool {
    let of_study = error.is::<NotInStudy>() || error.is::<ModelError>();
    let of_run = error.is::<SelectionError>() || matches!(error.downcast_ref(), Some(AnalysisError::Selection(_)));
    let of_output = error.is::<NoSuchTable>() || error.is::<NoMeasurements>();
    of_study || of_run || of_output || error.is::<ConditionError>()
}

fn of_study(error: &StoreError) -> ReportExit {
    match error {
        StoreError::Twice { .. } | StoreError::NoRun { .. } => ReportExit::Usage,
        StoreError::Busy { .. } | StoreError::Full { .. } | StoreError::Unwritable { .. } => ReportExit::Output,
        _ => ReportExit::NoData,
    }
}
