//! A run: opened, analysed, and what a study keeps of it.

use std::path::Path;

use lbprof_analysis::analyse::{self, Analysis, AnalysisStage};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_report::{Report, text};

use crate::exit::print_note;
use crate::output::CommonOptions;
use crate::output::progress::TerminalProgress;
use crate::{code_reader, opening};

/// Opens the run, and reports which one it is if the user named none.
pub fn open_run(dir: Option<&Path>, quiet: bool) -> anyhow::Result<RecordedRun> {
    let run = match dir {
        Some(dir) => opening::open_recorded_run(dir)?,
        None => opening::open_recorded_run(&RecordedRun::newest()?)?,
    };
    if dir.is_none() && !quiet {
        print_note(format!("the newest run here is {}", text::escape_message(&run.dir.display().to_string())));
    }
    Ok(run)
}

/// Returns the options of an analysis without statistics. Ranks are replayed if `follow`.
pub fn plain_options(common: &CommonOptions, follow: bool) -> analyse::AnalysisOptions {
    let (symbols, asked) = (!common.no_symbols, follow.then(Vec::new));
    analyse::AnalysisOptions { symbols, asked, statistics: false, ..analyse::AnalysisOptions::default() }
}

pub fn analyse_run(
    run: &RecordedRun,
    selection: &Selection,
    options: &analyse::AnalysisOptions,
    common: &CommonOptions,
) -> anyhow::Result<Analysis> {
    Ok(run_passes(run, options, common, |options, show| analyse::analyse_run(run, selection, options, show))?)
}

/// Runs passes over a run, with progress on the terminal.
pub fn run_passes<T>(
    run: &RecordedRun,
    options: &analyse::AnalysisOptions,
    common: &CommonOptions,
    passes: impl FnOnce(&analyse::AnalysisOptions, &(dyn Fn(AnalysisStage) + Sync)) -> T,
) -> T {
    let bar = TerminalProgress::new(run, common.quiet);
    let options = analyse::AnalysisOptions {
        names_within: code_reader::naming_time(),
        code_readers: code_reader::code_readers(),
        passes: opening::pass_runner(),
        ..options.clone()
    };
    let done = passes(&options, &|stage| bar.show(stage));
    bar.finish();
    done
}

pub fn run_figures(dir: &Path, common: &CommonOptions) -> anyhow::Result<lbprof_study::RunMetrics> {
    let run = opening::open_recorded_run(dir)?;
    let Analysis { model, names, .. } = analyse_run(&run, &Selection::default(), &plain_options(common, true), common)?;
    Ok(lbprof_study::RunMetrics::new(&Report::new(&model, &names), &model))
}
