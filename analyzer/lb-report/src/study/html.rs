//! `lb-report study html`: a page for a browser.

use std::path::PathBuf;

use crate::atomic_file::replace;
use anyhow::Context;
use clap::Args;
use lbprof_study::{NotInStudy, StudyFile, html};

use crate::exit::ReportExit;
use crate::output::{A_BROWSER, announce};

/// Of what, and where to.
#[derive(Args)]
pub struct HtmlArguments {
    /// The study's file.
    study: PathBuf,

    /// The page's file.
    file: PathBuf,
}

/// Writes the page.
pub fn run(arguments: &HtmlArguments) -> anyhow::Result<ReportExit> {
    let HtmlArguments { study, file } = arguments;
    let runs = StudyFile::open(study)?.runs()?;
    if runs.is_empty() {
        anyhow::bail!(NotInStudy::NoRuns);
    }
    let name = study.file_name().unwrap_or(study.as_os_str()).to_string_lossy();
    replace(file, |out| html::write(&name, &runs, out)).with_context(|| file.display().to_string())?;
    announce(file, A_BROWSER);
    Ok(ReportExit::for_completeness(runs.iter().all(|kept| kept.run.complete)))
}
