//! `lb-report study show`: runs side by side.

use std::path::PathBuf;

use clap::Args;
use lbprof_analyzer::study::table::{Wanted, tables};
use lbprof_analyzer::study::{Condition, Kept, NotInStudy, Study, key, text};

use crate::exit::Exit;
use crate::output::Display;

/// Of what, and how.
#[derive(Args)]
pub struct ShowArguments {
    /// The study's file.
    study: PathBuf,

    /// What columns are distinguished by: a parameter, ranks or host; several with commas. What else differs makes tables of its own.
    /// By default the ranks, or all that differs where no two runs differ by their ranks alone.
    #[arg(long, value_name = "PARAM", value_delimiter = ',')]
    by: Vec<String>,

    /// Only runs that have this: n=512, ranks=4, run=3, program=heat, host=node1*. Of several for one name any will do.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<Condition>,

    /// Times and efficiencies of a region instead of the whole program: its path, or the end of it.
    #[arg(long, value_name = "PATH")]
    region: Option<String>,

    /// The run that speedup and efficiency are against, by number or id; by default, or where it is "smallest", of runs with the
    /// same parameters, that with the smallest number of ranks.
    #[arg(long, value_name = "RUN")]
    base: Option<String>,

    /// The work grows with the ranks: efficiency is the time of the base over the run's, against the fewest ranks of all.
    #[arg(long)]
    weak: bool,

    /// A column for each run, also where several have the same parameters and ranks.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    display: Display,
}

/// Prints the tables.
pub fn run(arguments: &ShowArguments) -> anyhow::Result<Exit> {
    let runs = Study::open(&arguments.study)?.runs()?;
    let base = arguments.base.as_deref().filter(|base| *base != "smallest");
    let base = base.map(|base| key::number(&runs, base).ok_or_else(|| NotInStudy::NoRun(base.to_owned())));
    let wanted = Wanted {
        by: arguments.by.clone(),
        conditions: arguments.conditions.clone(),
        region: arguments.region.clone(),
        base: base.transpose()?,
        weak: arguments.weak,
        each: arguments.all,
    };
    let tables = tables(&runs, &wanted)?;
    arguments.display.print(&text::show(&tables, arguments.display.columns()))?;
    let shown: Vec<u32> =
        tables.iter().flat_map(|table| &table.columns).flat_map(|column| column.runs.clone()).collect();
    let is_incomplete = |kept: &Kept| shown.contains(&kept.number) && !kept.run.complete;
    Ok(Exit::made(!runs.iter().any(is_incomplete)))
}
