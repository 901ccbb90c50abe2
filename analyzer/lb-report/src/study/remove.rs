//! `lb-report study remove`: runs out of a study.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::{StudyFile, numbers};

use crate::exit::ReportExit;

/// The runs to remove, and the study to remove them from.
#[derive(Args)]
pub struct RemoveArguments {
    /// The study's file.
    study: PathBuf,

    /// Runs, by their numbers in 'lb-report study list' or by id.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
}

/// Removes the runs, or none if one of them is not in the study.
pub fn run(arguments: &RemoveArguments) -> anyhow::Result<ReportExit> {
    let mut study = StudyFile::open(&arguments.study)?;
    let numbers = numbers(&study, &arguments.runs)?;
    study.remove(&numbers)?;
    Ok(ReportExit::Good)
}
