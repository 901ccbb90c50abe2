//! `lb-report study graph`: what depends on what.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::RunCondition;
use lbprof_study::models::causal::CausalGraph;
use lbprof_study::models::{json, text};

use super::model::fit_models;
use crate::exit::ReportExit;
use crate::output::{DisplayOptions, write_file};

/// Of what, and how.
#[derive(Args)]
pub struct GraphArguments {
    /// The study's file.
    study: PathBuf,

    /// Use these runs only: n=512, ranks=4, run=3, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,

    /// Write it as JSON to FILE; - is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(flatten)]
    display: DisplayOptions,
}

/// Prints the graph.
pub fn run(arguments: &GraphArguments) -> anyhow::Result<ReportExit> {
    let (models, exit) = fit_models(&arguments.study, &arguments.conditions)?;
    let graph = CausalGraph::from_models(&models);
    match &arguments.json {
        Some(path) => {
            let document = json::graph(&graph)?;
            write_file(path, |out| out.write_all(document.as_bytes()))?;
        }
        None => arguments.display.print(&text::graph(&graph, arguments.display.columns()))?,
    }
    Ok(exit)
}
