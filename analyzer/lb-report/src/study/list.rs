//! `lb-report study list`: which runs a study holds.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::{Study, text};

use crate::exit::Exit;
use crate::output::Display;

/// Of what, and how.
#[derive(Args)]
pub struct ListArguments {
    /// The study's file.
    study: PathBuf,

    #[command(flatten)]
    display: Display,
}

/// Prints a line for each run.
pub fn run(arguments: &ListArguments) -> anyhow::Result<Exit> {
    let runs = Study::open(&arguments.study)?.heads()?;
    arguments.display.print(&text::list(&runs, arguments.display.columns()))?;
    Ok(Exit::Good)
}
