//! `lb-report study list`: which runs a study holds.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::{StudyFile, text};

use crate::exit::ReportExit;
use crate::output::DisplayOptions;

/// Of what, and how.
#[derive(Args)]
pub struct ListArguments {
    /// The study's file.
    study: PathBuf,

    #[command(flatten)]
    display: DisplayOptions,
}

/// Prints a line for each run.
pub fn run(arguments: &ListArguments) -> anyhow::Result<ReportExit> {
    let runs = StudyFile::open(&arguments.study)?.heads()?;
    arguments.display.print(&text::list(&runs, arguments.display.columns()))?;
    Ok(ReportExit::Good)
}
