//! `lb-report study badge`: one figure of the newest run as a small picture.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lbprof_study::badge::{BadgeMetric, RunBadge};
use lbprof_study::{NotInStudy, RunCondition, StoredRun, StudyFile, key};

use crate::atomic_file::replace;
use crate::exit::ReportExit;

/// Of what, and where to.
#[derive(Args)]
pub struct BadgeArguments {
    /// The study's file.
    study: PathBuf,

    /// The picture's file.
    file: PathBuf,

    /// The figure.
    #[arg(long, value_parser = metrics(), default_value = BadgeMetric::ALL[0].key())]
    metric: BadgeMetric,

    /// The newest of these runs: ranks=4, program=heat, run=3.
    ///
    /// May be given several times; of several values for one name, any matches.
    #[arg(long = "where", value_name = "NAME=VALUE")]
    conditions: Vec<RunCondition>,
}

/// Returns the figures, by the names that they have as arguments.
fn metrics() -> impl TypedValueParser<Value = BadgeMetric> {
    let names = PossibleValuesParser::new(BadgeMetric::ALL.map(BadgeMetric::key));
    names.try_map(|name| {
        let named = BadgeMetric::ALL.into_iter().find(|metric| metric.key() == name);
        named.ok_or_else(|| format!("{name} is no figure of a badge"))
    })
}

/// Writes the badge of the run that started last.
pub fn run(arguments: &BadgeArguments) -> anyhow::Result<ReportExit> {
    let BadgeArguments { study, file, metric, conditions } = arguments;
    let runs = StudyFile::open(study)?.heads()?;
    if runs.is_empty() {
        anyhow::bail!(NotInStudy::NoRuns);
    }
    let chosen: Vec<StoredRun> = key::selected(&runs, conditions)?;
    let newest = chosen.iter().max_by_key(|kept| (kept.run.started_unix_s, kept.number)).context(NotInStudy::NoRuns)?;
    let badge = RunBadge::new(*metric, &newest.run);
    replace(file, |out| write!(out, "{badge}")).with_context(|| file.display().to_string())?;
    Ok(ReportExit::for_completeness(newest.run.complete))
}
