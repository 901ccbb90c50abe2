//! `lb-report study`: several runs, their figures in one file. Each larger command is a file.

mod add;
mod export;
mod model;
mod show;

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use lbprof_study::{NotInStudy, StudyFile, html, run_numbers, text};

use crate::examples;
use crate::exit::ReportExit;
use crate::output::atomic_file::replace_file;
use crate::output::{A_BROWSER, DisplayOptions, announce_output};

/// The command about a study.
#[derive(Args)]
#[command(after_help = examples::MORE, after_long_help = examples::STUDY, arg_required_else_help = true)]
pub struct StudyArguments {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Subcommand)]
enum StudyCommand {
    /// Add runs to a study; creates the study if needed.
    #[command(after_help = examples::MORE, after_long_help = examples::ADD)]
    Add(add::AddArguments),
    /// List the runs of a study.
    List {
        /// The study's file.
        study: PathBuf,

        #[command(flatten)]
        display: DisplayOptions,
    },
    /// Show runs side by side: times, efficiencies, overheads, speedup.
    #[command(after_help = examples::MORE, after_long_help = examples::SHOW)]
    Show(show::ShowArguments),
    /// Fit models to the runs: how work and times depend on ranks and parameters.
    Model(model::ModelArguments),
    /// Show the causal model: which figure depends on which, with equations.
    Graph(model::ModelInput),
    /// Write an HTML page with scaling, models and the causal model: one file that works offline.
    Html {
        /// The study's file.
        study: PathBuf,

        /// The page's file.
        file: PathBuf,
    },
    /// Remove runs from a study.
    Remove {
        /// The study's file.
        study: PathBuf,

        /// Runs, by their numbers in 'lb-report study list' or by id.
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
    },
    /// Export a study as measurements for Extra-P.
    Export(export::StudyExportArguments),
}

pub fn run_study(arguments: &StudyArguments) -> anyhow::Result<ReportExit> {
    match &arguments.command {
        StudyCommand::Add(arguments) => return add::run_study_add(arguments),
        StudyCommand::Show(arguments) => return show::run_study_show(arguments),
        StudyCommand::Model(arguments) => return model::run_study_model(arguments),
        StudyCommand::Graph(input) => return model::show_graph(input),
        StudyCommand::Export(arguments) => export::run_study_export(arguments)?,
        StudyCommand::List { study, display } => {
            display.print(&text::list_runs(&StudyFile::open(study)?.heads()?, display.columns()))?;
        }
        StudyCommand::Html { study, file } => {
            let runs = StudyFile::open(study)?.runs()?;
            if runs.is_empty() {
                anyhow::bail!(NotInStudy::NoRuns);
            }
            let name = study.file_name().unwrap_or(study.as_os_str()).to_string_lossy();
            replace_file(file, |out| html::write_study_page(&name, &runs, out))
                .with_context(|| file.display().to_string())?;
            announce_output(file, A_BROWSER);
            return Ok(ReportExit::for_completeness(runs.iter().all(|kept| kept.run.complete)));
        }
        // If one is not in the study, none is removed.
        StudyCommand::Remove { study, runs } => {
            let mut study = StudyFile::open(study)?;
            let numbers = run_numbers(&study, runs)?;
            study.remove(&numbers)?;
        }
    }
    Ok(ReportExit::Good)
}
