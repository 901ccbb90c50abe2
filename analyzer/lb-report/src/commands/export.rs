//! `lb-report export`: a run in a format that other programs read.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use lbprof_analysis::analyse::exported::EventExport;
use lbprof_analysis::analyse::{self, Analysis, AnalysisError};
use lbprof_analysis::model::ranks::samples::SampledThreads;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::{Selection, SelectionError};
use lbprof_collector::format::RecordingMode;
use lbprof_export::folded::{self, FoldedOptions, StackWeight};
use lbprof_export::otf2::Otf2Trace;
use lbprof_export::otf2::library::Otf2Library;
use lbprof_export::paraver::{ParaverWriter, TraceFiles};
use lbprof_export::perfetto::{MOST_CALLS, PerfettoWriter};
use lbprof_export::{AnalysedRun, parquet, talp};
use lbprof_report::Report;
use lbprof_report::rows::words::format_count;

use crate::commands::report::SelectionArguments;
use crate::exit::{ReportExit, print_note, refuse_usage};
use crate::output::atomic_file::{NewFolder, WholeFolder};
use crate::output::{CommonOptions, announce_output, write_file};
use crate::run::{analyse_run, open_run, plain_options, run_passes};

#[derive(Args)]
pub struct ExportArguments {
    /// The format.
    format: ExportFormat,

    /// Folder of the run [default: the newest lbprof-out* in this folder].
    dir: Option<PathBuf>,

    /// File to write [default: standard output]; paraver: the .prv file, beside which .pcf and .row are written; parquet: folder to write
    /// tables into; otf2: new folder.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArguments,

    /// Folded: what stacks are weighted by [default: time].
    #[arg(long, value_name = "WHAT", hide_default_value = true, default_value = StackWeight::Time.name(), value_parser = weights())]
    weight: StackWeight,

    /// Folded: put the stacks of each rank under a frame of its own.
    #[arg(long)]
    by_rank: bool,

    #[command(flatten)]
    common: CommonOptions,
}

/// The formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Stacks with a weight each, for flame graphs: flamegraph.pl, inferno, speedscope.
    Folded,
    /// OTF2, the trace format of Score-P, for Vampir, Scalasca and ViTE: a folder. Needs OTF2's library.
    Otf2,
    /// Paraver's trace format, for wxparaver and Dimemas: the files .prv, .pcf and .row.
    Paraver,
    /// Tables as Parquet files, for pandas, polars, DuckDB, R: ranks, regions, call paths, iterations; and of events: waits, messages, calls.
    Parquet,
    /// Perfetto's trace format, for ui.perfetto.dev and trace_processor.
    Perfetto,
    /// The JSON of DLB's TALP, for TALP-Pages: efficiencies of the program and of each region.
    Talp,
}

impl ExportFormat {
    fn needs_events(self) -> bool {
        matches!(self, ExportFormat::Otf2 | ExportFormat::Paraver | ExportFormat::Perfetto)
    }

    /// Returns advice if the format cannot go to standard output.
    fn advice_on_output(self) -> Option<&'static str> {
        match self {
            ExportFormat::Otf2 => Some("an archive is a folder: name a new one: -o trace"),
            ExportFormat::Paraver => Some("a trace is three files: name the first: -o run.prv"),
            ExportFormat::Parquet => Some("the tables are several files: name a folder for them: -o tables"),
            ExportFormat::Perfetto if io::stdout().is_terminal() => {
                Some("a trace is no text: name a file for it: -o run.pftrace")
            }
            ExportFormat::Folded | ExportFormat::Perfetto | ExportFormat::Talp => None,
        }
    }
}

fn weights() -> impl TypedValueParser<Value = StackWeight> {
    let values = StackWeight::ALL.map(|weight| PossibleValue::new(weight.name()).help(weight.meaning()));
    PossibleValuesParser::new(values).try_map(|name| {
        StackWeight::ALL.into_iter().find(|weight| weight.name() == name).ok_or("no weight has this name")
    })
}

pub fn run_export(arguments: &ExportArguments) -> anyhow::Result<ReportExit> {
    let is_to_stdout = arguments.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
    if let Some(advice) = arguments.format.advice_on_output().filter(|_| is_to_stdout) {
        return refuse_usage(advice);
    }
    let run = open_run(arguments.dir.as_deref(), arguments.common.quiet)?;
    let selection = arguments.selection.selection();
    let waits = arguments.format == ExportFormat::Folded && arguments.weight == StackWeight::Waiting;
    if (arguments.format.needs_events() || waits) && has_only_sums(&run) {
        return Err(SelectionError::OnlySums.into());
    }
    let (write, opened_by): (fn(&_, &_, &_) -> _, _) = match arguments.format {
        ExportFormat::Folded => (export_folded, "https://www.speedscope.app, flamegraph.pl or inferno"),
        ExportFormat::Otf2 => (export_otf2, "Vampir, ViTE or otf2-print (its file traces.otf2)"),
        ExportFormat::Paraver => (export_paraver, "wxparaver"),
        ExportFormat::Parquet => (export_parquet, "pandas, polars, DuckDB or R"),
        ExportFormat::Perfetto => (export_perfetto, "https://ui.perfetto.dev"),
        ExportFormat::Talp => (export_talp, "TALP-Pages"),
    };
    let analysis = write(&run, &selection, arguments)?;
    if let Some(path) = arguments.output.as_deref().filter(|_| !is_to_stdout && !arguments.common.quiet) {
        announce_output(path, opened_by);
    }
    let report = Report::new(&analysis.model, &analysis.names);
    Ok(ReportExit::for_completeness(report.data.complete))
}

/// Returns whether all calls were recorded as sums.
fn has_only_sums(run: &RecordedRun) -> bool {
    run.headers.iter().all(|header| header.mode == RecordingMode::Profile)
}

/// Replays the selected part, and passes what ranks do in it to `format`.
fn export_events(
    run: &RecordedRun,
    selection: &Selection,
    arguments: &ExportArguments,
    format: &mut dyn EventExport,
) -> Result<Analysis, AnalysisError> {
    run_passes(run, &plain_options(&arguments.common, true), &arguments.common, |options, show| {
        analyse::export_part(run, selection, options, format, show)
    })
}

fn export_folded(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let weight = arguments.weight;
    let analysis = analyse_run(
        run,
        selection,
        &plain_options(&arguments.common, weight == StackWeight::Waiting),
        &arguments.common,
    )?;
    let (model, names) = (&analysis.model, &analysis.names);
    let has_samples = (model.ranks.iter())
        .any(|rank| SampledThreads::ALL.iter().any(|&threads| !rank.samples.times(threads).is_empty()));
    if weight == StackWeight::Cpu && !has_samples {
        return Err(SelectionError::NoSamples.into());
    }
    let options = FoldedOptions { weight, by_rank: arguments.by_rank };
    write_file(&arguments.file(), |out| folded::write_folded_stacks(model, names, options, out))?;
    Ok(analysis)
}

fn export_talp(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let analysis = analyse_run(run, selection, &plain_options(&arguments.common, false), &arguments.common)?;
    write_file(&arguments.file(), |out| talp::write_talp(&analysis.model, out))?;
    Ok(analysis)
}

fn export_perfetto(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let (mut analysis, mut calls) = (None, 0);
    let written = write_file(&arguments.file(), |out| {
        let mut trace = PerfettoWriter::new(out);
        let result = export_events(run, selection, arguments, &mut trace);
        // Without a selected part there is no file.
        calls = trace.calls();
        let done = if result.is_ok() { trace.finish() } else { Err(io::Error::other("no part")) };
        analysis = Some(result);
        done
    });
    if calls > MOST_CALLS && !arguments.common.quiet && written.is_ok() {
        print_note(format!(
            "the trace has {} calls, which may be too many for the page: select a part with --ranks, --from and --to or --region",
            format_count(calls)
        ));
    }
    match analysis {
        Some(Err(error)) => Err(error.into()),
        Some(Ok(analysis)) => written.map(|()| analysis),
        None => Err(written.err().unwrap_or_else(|| anyhow::anyhow!("nothing was written"))),
    }
}

fn export_paraver(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let path = arguments.file();
    let stem = if path.extension().is_some_and(|end| end == "prv") { path.with_extension("") } else { path.clone() };
    let (folder, name) = (stem.parent().unwrap_or(Path::new("")), stem.file_name());
    let name = name.with_context(|| path.display().to_string())?.to_string_lossy().into_owned();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let whole = WholeFolder::existing(folder).with_context(|| path.display().to_string())?;
    let mut trace = ParaverWriter::new(folder.to_owned());
    let analysis = export_events(run, selection, arguments, &mut trace)?;
    let [prv, pcf, row] = ["prv", "pcf", "row"].map(|end| whole.file(&format!("{name}.{end}")));
    let files = prv.and_then(|prv| Ok(TraceFiles { prv, pcf: pcf?, row: row? }));
    let finished = files.and_then(|files| trace.finish(files)).and_then(|()| whole.finish(&[], |_| false));
    finished.with_context(|| path.display().to_string())?;
    Ok(analysis)
}

fn export_otf2(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let library = Otf2Library::open()?;
    let path = arguments.file();
    let folder = NewFolder::create(&path).with_context(|| path.display().to_string())?;
    let mut trace = Otf2Trace::new(folder.parent.clone());
    let analysis = export_events(run, selection, arguments, &mut trace)?;
    let finished = trace.finish(&library, &folder.unfinished()).and_then(|()| folder.finish());
    finished.with_context(|| path.display().to_string())?;
    Ok(analysis)
}

fn open_table(folder: &WholeFolder, table: &str) -> io::Result<File> {
    folder.file(&format!("{table}.parquet"))
}

/// Writes Parquet tables. Tables of events are omitted if calls were recorded as sums.
fn export_parquet(run: &RecordedRun, selection: &Selection, arguments: &ExportArguments) -> anyhow::Result<Analysis> {
    let path = arguments.file();
    let name = path.display().to_string();
    let folder = WholeFolder::create(&path).context(name.clone())?;
    let analysis = if has_only_sums(run) {
        if !arguments.common.quiet {
            let missing = parquet::EVENTS.map(|table| table.name).join(", ");
            print_note(format!(
                "the run has sums in place of records (LBPROF_MODE=profile): there are no tables {missing}"
            ));
        }
        analyse_run(run, selection, &plain_options(&arguments.common, false), &arguments.common)?
    } else {
        let mut events = parquet::EventTables::new(|table| open_table(&folder, table)).context(name.clone())?;
        let analysis = export_events(run, selection, arguments, &mut events)?;
        events.finish().context(name.clone())?;
        analysis
    };
    let Analysis { model, names, .. } = &analysis;
    let analysed = AnalysedRun { model, places: &names.places, calls: &names.calls };
    parquet::write_sums(&analysed, |table| open_table(&folder, table)).context(name.clone())?;
    let others: Vec<String> =
        parquet::EVENTS.iter().chain(&parquet::PARALLEL).map(|table| format!("{}.parquet", table.name)).collect();
    folder.finish(&others, parquet::is_ours).context(name)?;
    Ok(analysis)
}

impl ExportArguments {
    /// Returns the file to write. `-` is standard output.
    fn file(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| "-".into())
    }
}
