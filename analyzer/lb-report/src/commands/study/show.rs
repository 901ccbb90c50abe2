//! `lb-report study show`: runs side by side.

use std::path::PathBuf;

use clap::Args;
use lbprof_study::table::{TableRequest, make_tables};
use lbprof_study::{NotInStudy, RunCondition, StudyFile, key, text};

use crate::exit::ReportExit;
use crate::output::DisplayOptions;

#[derive(Args)]
pub struct ShowArguments {
    /// The study's file.
    study: PathBuf,

    /// Quantity that varies over the columns: a parameter, ranks or host; separate several with commas.
    ///
    /// Runs that differ in anything else are shown in separate tables. Default: the ranks, or everything that differs if no two runs
    /// differ in their ranks alone.
    #[arg(long, value_name = "PARAM", value_delimiter = ',')]
    by: Vec<String>,

    /// Show these runs only: n=512, ranks=4, run=3, program=heat, host=node1*.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,

    /// Times and efficiencies of a region in place of the whole program: its path, or the end of its path.
    #[arg(long, value_name = "PATH")]
    region: Option<String>,

    /// The run that speedup and efficiency refer to, by number or id.
    ///
    /// Default, or "smallest": the run with the fewest ranks among those with the same parameters.
    #[arg(long, value_name = "RUN")]
    base: Option<String>,

    /// Weak scaling: efficiency is the base run's time divided by the run's; the base has the fewest ranks of all.
    #[arg(long)]
    weak: bool,

    /// One column per run, even for repeated runs.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    display: DisplayOptions,
}

pub fn run_study_show(arguments: &ShowArguments) -> anyhow::Result<ReportExit> {
    let runs = StudyFile::open(&arguments.study)?.runs()?;
    let base = arguments.base.as_deref().filter(|base| *base != "smallest");
    let base = base.map(|base| key::find_run_number(&runs, base).ok_or_else(|| NotInStudy::NoRun(base.to_owned())));
    let wanted = TableRequest {
        by: arguments.by.clone(),
        conditions: arguments.conditions.clone(),
        region: arguments.region.clone(),
        base: base.transpose()?,
        weak: arguments.weak,
        each: arguments.all,
    };
    let tables = make_tables(&runs, &wanted)?;
    arguments.display.print(&text::render_tables(&tables, arguments.display.columns()))?;
    let shown: Vec<u32> =
        tables.iter().flat_map(|table| &table.columns).flat_map(|column| column.runs.clone()).collect();
    let is_complete = runs.iter().all(|stored| stored.run.complete || !shown.contains(&stored.number));
    Ok(ReportExit::for_completeness(is_complete))
}
