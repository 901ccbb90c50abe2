//! `lb-report study model`: the laws that runs follow.

use std::path::{Path, PathBuf};

use clap::Args;
use lbprof_study::models::{StudyModels, json, text, variables};
use lbprof_study::{RunCondition, StoredRun, StudyFile, key};

use crate::exit::ReportExit;
use crate::output::{DisplayOptions, write_file};

/// Of what, and how.
#[derive(Args)]
pub struct ModelArguments {
    /// The study's file.
    study: PathBuf,

    /// Show models of this region only: its path, or the end of its path.
    #[arg(long, value_name = "PATH")]
    region: Option<String>,

    /// Show only what depends on this: P, a parameter, #op or #q.
    #[arg(long, value_name = "NAME")]
    against: Option<String>,

    /// Use these runs only: n=512, ranks=4, run=3, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,

    /// Write all models and points as JSON to FILE; - is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    #[command(flatten)]
    display: DisplayOptions,
}

/// Prints the models.
pub fn run(arguments: &ModelArguments) -> anyhow::Result<ReportExit> {
    let (models, exit) = fit_models(&arguments.study, &arguments.conditions)?;
    if let Some(path) = &arguments.json {
        let document = json::models(&models)?;
        write_file(path, |out| out.write_all(document.as_bytes()))?;
        return Ok(exit);
    }
    let against = arguments.against.as_ref().map(|name| if name == key::RANKS { variables::RANKS } else { name });
    let shown = text::ShownModels { region: arguments.region.clone(), against: against.map(str::to_owned) };
    arguments.display.print(&text::models(&models, &shown, arguments.display.columns())?)?;
    Ok(exit)
}

/// The models of those runs of a study that meet all conditions, and whether they are complete.
pub fn fit_models(study: &Path, conditions: &[RunCondition]) -> anyhow::Result<(StudyModels, ReportExit)> {
    let all = StudyFile::open(study)?.runs()?;
    let runs = key::selected(&all, conditions)?;
    let exit = ReportExit::for_completeness(runs.iter().all(|kept: &StoredRun| kept.run.complete));
    Ok((StudyModels::of_study(&runs, &all)?, exit))
}
