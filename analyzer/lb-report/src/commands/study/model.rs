//! `lb-report study model` and `lb-report study graph`: the laws that runs follow, and what depends on what.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::models::causal::CausalGraph;
use lbprof_study::models::observations::variables;
use lbprof_study::models::{StudyModels, json, text};
use lbprof_study::{RunCondition, StoredRun, StudyFile, key};

use crate::exit::ReportExit;
use crate::output::{DisplayOptions, write_file};

/// The runs to fit models to, and the form of what is shown.
#[derive(Args)]
pub struct ModelInput {
    /// The study's file.
    study: PathBuf,

    /// Use these runs only: n=512, ranks=4, run=3, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,

    /// Write all of it as JSON to FILE; - is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(flatten)]
    display: DisplayOptions,
}

/// The arguments of `lb-report study model`.
#[derive(Args)]
pub struct ModelArguments {
    #[command(flatten)]
    input: ModelInput,

    /// Show models of this region only: its path, or the end of its path.
    #[arg(long, value_name = "PATH")]
    region: Option<String>,

    /// Show only what depends on this: P, a parameter, #op or #q.
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
}

impl ModelInput {
    /// Returns the models, and whether the runs are complete.
    fn fit_models(&self) -> anyhow::Result<(StudyModels, ReportExit)> {
        let all = StudyFile::open(&self.study)?.runs()?;
        let runs = key::select_runs(&all, &self.conditions)?;
        let exit = ReportExit::for_completeness(runs.iter().all(|kept: &StoredRun| kept.run.complete));
        Ok((StudyModels::of_study(&runs, &all)?, exit))
    }
}

pub fn run_study_model(arguments: &ModelArguments) -> anyhow::Result<ReportExit> {
    let ModelArguments { input, region, against } = arguments;
    let (models, exit) = input.fit_models()?;
    if let Some(path) = &input.json {
        let document = json::write_document(&models)?;
        write_file(path, |out| out.write_all(document.as_bytes()))?;
        return Ok(exit);
    }
    let against = against.as_ref().map(|name| if name == key::RANKS { variables::RANKS } else { name });
    let shown = text::ShownModels { region: region.clone(), against: against.map(str::to_owned) };
    input.display.print(&text::render_models(&models, &shown, input.display.columns())?)?;
    Ok(exit)
}

pub fn show_graph(input: &ModelInput) -> anyhow::Result<ReportExit> {
    let (models, exit) = input.fit_models()?;
    let graph = CausalGraph::from_models(&models);
    if let Some(path) = &input.json {
        let document = json::write_document(&graph)?;
        write_file(path, |out| out.write_all(document.as_bytes()))?;
        return Ok(exit);
    }
    input.display.print(&text::render_graph(&graph, input.display.columns()))?;
    Ok(exit)
}
