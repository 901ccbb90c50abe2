//! `lb-report study`: several runs, their figures in one file. Each command is a file.

mod add;
mod export;
mod graph;
mod html;
mod list;
mod model;
mod remove;
mod show;

use clap::{Args, Subcommand};

use crate::examples;
use crate::exit::ReportExit;

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
    List(list::ListArguments),
    /// Show runs side by side: times, efficiencies, overheads, speedup.
    #[command(after_help = examples::MORE, after_long_help = examples::SHOW)]
    Show(show::ShowArguments),
    /// Fit models to the runs: how work and times depend on ranks and parameters.
    Model(model::ModelArguments),
    /// Show the causal model: which figure depends on which, with equations.
    Graph(graph::GraphArguments),
    /// Write an HTML page with scaling, models and the causal model: one file that works offline.
    Html(html::HtmlArguments),
    /// Remove runs from a study.
    Remove(remove::RemoveArguments),
    /// Export everything in a study as JSON or CSV.
    Export(export::StudyExportArguments),
}

/// Runs the command.
pub fn run(arguments: &StudyArguments) -> anyhow::Result<ReportExit> {
    match &arguments.command {
        StudyCommand::Add(arguments) => add::run(arguments),
        StudyCommand::List(arguments) => list::run(arguments),
        StudyCommand::Show(arguments) => show::run(arguments),
        StudyCommand::Model(arguments) => model::run(arguments),
        StudyCommand::Graph(arguments) => graph::run(arguments),
        StudyCommand::Html(arguments) => html::run(arguments),
        StudyCommand::Remove(arguments) => remove::run(arguments),
        StudyCommand::Export(arguments) => export::run(arguments),
    }
}
