//! `lb-report dump`: every record of a run.

use std::io;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use lbprof_analysis::analyse::Analysis;
use lbprof_analysis::read::open::RunError;
use lbprof_analysis::select::Selection;
use lbprof_export::dump::write_dump;
use lbprof_report::Report;

use crate::exit::ReportExit;
use crate::output::{CommonOptions, write_to};
use crate::run::{analyse_run, open_run, plain_options};

#[derive(Args)]
pub struct DumpArguments {
    /// Folder of the run [default: the newest lbprof-out* in this folder].
    dir: Option<PathBuf>,

    /// Print this rank only.
    #[arg(long, value_name = "N")]
    rank: Option<u32>,

    #[command(flatten)]
    common: CommonOptions,
}

pub fn run_dump(arguments: &DumpArguments) -> anyhow::Result<ReportExit> {
    let run = open_run(arguments.dir.as_deref(), arguments.common.quiet)?;
    if let Some(rank) = arguments.rank
        && !run.headers.iter().any(|header| header.rank == rank)
    {
        anyhow::bail!(RunError::NoRank { path: run.dir, rank });
    }
    let options = plain_options(&arguments.common, false);
    let Analysis { model, names, .. } = analyse_run(&run, &Selection::default(), &options, &arguments.common)?;
    write_to(io::stdout(), |out| write_dump(&run, &model, &names.places, arguments.rank, out))
        .context("standard output")?;
    let report = Report::new(&model, &names);
    Ok(ReportExit::for_completeness(report.data.complete))
}
