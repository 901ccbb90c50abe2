//! A run: opened, analysed, and what a study keeps of it.

use std::io::{self, Write};
use std::path::Path;

use lbprof_analysis::analyse::{self, Analysis, AnalysisStage};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_report::{Report, text};

use crate::on_disk::OnDisk;
use crate::output::CommonOptions;
use crate::progress::TerminalProgress;
use crate::{code_reader, opening, processor};

/// Opens the run, and reports which one it is if the user named none.
pub fn open(dir: Option<&Path>, quiet: bool) -> anyhow::Result<RecordedRun> {
    let run = match dir {
        Some(dir) => open_bounded(dir)?,
        None => open_bounded(&RecordedRun::newest()?)?,
    };
    if dir.is_none() && !quiet {
        let _ =
            writeln!(io::stderr(), "lb-report: the newest run here is {}", text::plain(&run.dir.display().to_string()));
    }
    Ok(run)
}

/// Opens the run in `dir`. Memory and processor time are limited before its first byte is read.
pub fn open_bounded(dir: &Path) -> anyhow::Result<RecordedRun> {
    let on_disk = OnDisk::of_folder(dir);
    processor::bound_by(on_disk);
    opening::open(dir, on_disk)
}

/// Analyses a part of a run.
pub fn analysed(
    run: &RecordedRun,
    selection: &Selection,
    options: &analyse::AnalysisOptions,
    common: &CommonOptions,
) -> anyhow::Result<Analysis> {
    let analysis = passes(run, options, common, processor::allow_for, |options, show| {
        analyse::analyse(run, selection, options, show)
    });
    processor::writes();
    Ok(analysis?)
}

/// Runs passes over a run, with progress on the terminal, within the time that `allow` gives each stage.
pub fn passes<T>(
    run: &RecordedRun,
    options: &analyse::AnalysisOptions,
    common: &CommonOptions,
    allow: fn(AnalysisStage),
    passes: impl FnOnce(&analyse::AnalysisOptions, &(dyn Fn(AnalysisStage) + Sync)) -> T,
) -> T {
    let bar = TerminalProgress::new(run, common.quiet);
    let options = analyse::AnalysisOptions {
        names_within: processor::for_names(),
        code_readers: code_reader::code_readers(),
        passes: opening::passes(),
        ..options.clone()
    };
    let done = passes(&options, &|stage| {
        allow(stage);
        bar.show(stage);
    });
    bar.finish();
    done
}

/// The figures of the run in `dir`, as in its report.
pub fn figures(dir: &Path, common: &CommonOptions) -> anyhow::Result<lbprof_study::RunMetrics> {
    let run = open_bounded(dir)?;
    let options = analyse::AnalysisOptions {
        symbols: !common.no_symbols,
        statistics: false,
        ..analyse::AnalysisOptions::default()
    };
    let Analysis { model, names, .. } = analysed(&run, &Selection::default(), &options, common)?;
    Ok(lbprof_study::RunMetrics::new(&Report::new(&model, &names), &model))
}
