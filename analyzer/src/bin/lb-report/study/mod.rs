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
use crate::exit::Exit;

/// What to do with a study.
#[derive(Args)]
#[command(after_help = examples::STUDY, arg_required_else_help = true)]
pub struct StudyArguments {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Subcommand)]
enum StudyCommand {
    /// Adds runs to a study, which is begun where there is none.
    #[command(after_help = examples::ADD)]
    Add(add::AddArguments),
    /// Lists the runs of a study.
    List(list::ListArguments),
    /// Shows runs side by side: times, efficiencies, overheads, speedup.
    #[command(after_help = examples::SHOW)]
    Show(show::ShowArguments),
    /// Shows the laws that runs follow, and what runs with other P and parameters would take.
    Model(model::ModelArguments),
    /// Shows what depends on what, with equations.
    Graph(graph::GraphArguments),
    /// Writes a page for a browser: scaling, models, the causal model. One file that needs no network.
    Html(html::HtmlArguments),
    /// Removes runs from a study.
    Remove(remove::RemoveArguments),
    /// Writes all that a study holds as JSON or CSV.
    Export(export::ExportArguments),
}

/// Does it.
pub fn run(arguments: &StudyArguments) -> anyhow::Result<Exit> {
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
