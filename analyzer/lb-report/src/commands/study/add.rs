//! `lb-report study add`: runs into a study.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use lbprof_report::text;
use lbprof_study::key::BUILT_IN;
use lbprof_study::models::observations::variables::RANKS;
use lbprof_study::{StoreError, StudyFile};

use crate::exit::{ReportExit, print_note, refuse_usage, report_failure};
use crate::opening;
use crate::output::CommonOptions;
use crate::run::run_figures;

/// The runs to add, and the study to add them to.
#[derive(Args)]
pub struct AddArguments {
    /// The study's file.
    study: PathBuf,

    /// Folders of runs.
    #[arg(required = true)]
    dirs: Vec<PathBuf>,

    /// Set a numeric parameter of these runs: n=512.
    ///
    /// It overrides what the program stated by LBPROF_PARAM. May be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = param)]
    params: Vec<(String, f64)>,

    /// Label these runs, for example by the commit of the source: --label "$(git rev-parse --short HEAD)".
    ///
    /// The page's history and the list show it.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    label: String,

    /// Count these runs for the program NAME, as those of a program that was renamed.
    ///
    /// Tables, history and models keep programs apart by their names.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,

    /// Replace runs that are already in the study.
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    common: CommonOptions,
}

fn param(text: &str) -> Result<(String, f64), String> {
    const EXPECTED: &str = "a name and a number, as in n=512 or dt=1e-3";
    let (name, value) = text.split_once('=').ok_or(EXPECTED)?;
    let (name, value) = (name.trim(), value.trim().parse().ok().filter(|value: &f64| value.is_finite()));
    if name == RANKS {
        return Err(format!("{RANKS} is the number of ranks in models: choose another name"));
    }
    if BUILT_IN.contains(&name) {
        return Err(format!("{name} is known of each run anyway: choose another name"));
    }
    match value {
        Some(value) if !name.is_empty() => Ok((name.to_owned(), value)),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// Adds each run by itself, so that a failure does not affect the others.
pub fn run_study_add(arguments: &AddArguments) -> anyhow::Result<ReportExit> {
    let mut names = BTreeSet::new();
    if let Some((name, _)) = arguments.params.iter().find(|(name, _)| !names.insert(name)) {
        return refuse_usage(format!(
            "--param {} is given twice: a run has one value of it",
            text::escape_message(name)
        ));
    }
    // The first readable run creates the study.
    let mut study = arguments.study.exists().then(|| StudyFile::open_or_create(&arguments.study)).transpose()?;
    let mut exit = ReportExit::Good;
    for dir in &arguments.dirs {
        let added = match add_run(&mut study, dir, arguments) {
            Ok(added) => added,
            Err(error) => match error.downcast_ref() {
                None | Some(StoreError::Twice { .. }) => report_failure(&error),
                // An error of the study concerns all runs.
                Some(_) => return Err(error),
            },
        };
        exit = if exit == ReportExit::Good || exit == ReportExit::Incomplete && added != ReportExit::Good {
            added
        } else {
            exit
        };
    }
    Ok(exit)
}

fn add_run(study: &mut Option<StudyFile>, dir: &Path, arguments: &AddArguments) -> anyhow::Result<ReportExit> {
    // Reading a long run takes a while: check first whether it is wanted.
    let id = opening::open_recorded_run(dir)?.headers.first().map_or(0, |header| header.run_id);
    let number = study.as_ref().map(|study| study.number_of(id)).transpose()?.flatten();
    if let Some(number) = number
        && !arguments.replace
    {
        anyhow::bail!(StoreError::Twice { path: arguments.study.clone(), id, number });
    }
    let mut run = run_figures(dir, &arguments.common)?;
    run.label.clone_from(&arguments.label);
    run.counted_for.clone_from(&arguments.program);
    run.params.extend(arguments.params.iter().cloned());
    let study = match study {
        Some(study) => study,
        none => none.insert(StudyFile::open_or_create(&arguments.study)?),
    };
    let others: Vec<String> = study.programs()?.into_iter().filter(|program| program != run.program()).collect();
    let number = study.add(&run, arguments.replace)?;
    if !arguments.common.quiet {
        let mut message = format!("run {number}: {}", text::escape_message(&lbprof_study::text::one_line(&run)));
        if run.params.contains_key(RANKS) {
            message.push_str(&format!(
                "\nlb-report: {RANKS} is the number of ranks in models, which do not see the program's parameter of that name"
            ));
        }
        if !others.is_empty() {
            message.push_str(&format!(
                "\nlb-report: the study also holds runs of {}: tables keep the programs apart",
                text::escape_message(&others.join(", "))
            ));
        }
        print_note(message);
    }
    Ok(ReportExit::for_completeness(run.complete))
}
