//! The report on one run, in all its forms.

mod arguments;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::output::atomic_file::replace_file;
use anyhow::Context;
use lbprof_analysis::analyse::{self, Analysis};
use lbprof_analysis::model::code::loops::NoLoopReason;
use lbprof_analysis::read::first_look::AnalysisEstimate;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::names::no_call_site;
use lbprof_analysis::structure::code::symbols::CodePlace;
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::text::any_table::list_as_table;
use lbprof_report::text::csv;
use lbprof_report::time::iteration_groups;
use lbprof_report::{Report, html, json, text};
use lbprof_study::compare::condition::{FailCondition, JudgedCondition};
use lbprof_study::compare::{ComparisonSide, NamedRun};
use lbprof_thresholds::metrics::MIN_TIME_OF_FIRST_LOOK_S;

use self::arguments::OutputArguments;
pub use self::arguments::{ReportArguments, SelectionArguments};
use crate::commands::compare;
use crate::exit::{ReportExit, print_note, refuse_usage};
use crate::opening;
use crate::output::{
    A_BROWSER, CommonOptions, IN_A_FILE, announce_output, default_columns, print_text, write_file, write_to,
};
use crate::run::{analyse_run, open_run};
use crate::watch;
use crate::watch::live;

/// Maximum seconds between two updates of --watch.
const LONGEST_WAIT_S: f64 = 86_400.0;

const SUMMARY: &str = "summary";

/// Suggests a command if several folders are given: another command, or the one that was mistyped.
fn several_folders(arguments: &ReportArguments, grammar: &clap::Command) -> Option<String> {
    let folders: Vec<&PathBuf> = arguments.dir.iter().chain(&arguments.more).collect();
    let words: Vec<String> = folders.iter().map(|path| text::escape_message(&path.display().to_string())).collect();
    let [first, second, ..] = words.as_slice() else { return None };
    let names: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
    if names.contains(&second.as_str()) {
        return Some(format!("a command stands before the folder: lb-report {second} DIR"));
    }
    if !folders[0].exists() {
        // An unknown word before two or more runs, e.g. diff, means to compare them. So may cmp, which differs from dump in only two letters.
        let compares = folders.len() >= 3 && folders[1..].iter().all(|folder| folder.is_dir());
        let command = match similar_command(first, &names, 1) {
            None if compares => Some("compare"),
            None => similar_command(first, &names, 2),
            close => close,
        };
        if let Some(command) = command {
            let others = words[1..].join(" ");
            return Some(format!("there is no command {first}; did you mean: lb-report {command} {others}"));
        }
    }
    Some(match folders.iter().all(|folder| folder.is_dir()) {
        true => format!("one folder at a time; to compare runs: lb-report compare {}", words.join(" ")),
        false => {
            format!("one folder at a time: {second} needs a call of its own; lb-report compare A B compares two runs")
        }
    })
}

/// Returns the command that starts with a word, or differs from it in at most `letters` letters.
fn similar_command<'a>(word: &str, names: &[&'a str], letters: usize) -> Option<&'a str> {
    let abbreviated = names.iter().find(|name| word.len() >= 2 && name.starts_with(word));
    let similar = abbreviated.or_else(|| names.iter().find(|name| strsim::damerau_levenshtein(word, name) <= letters));
    similar.copied()
}

pub fn run_report(
    arguments: &ReportArguments,
    common: &CommonOptions,
    grammar: &clap::Command,
) -> anyhow::Result<ReportExit> {
    if let Some(message) = several_folders(arguments, grammar) {
        return refuse_usage(message);
    }
    if let Some(every_s) = arguments.output.watch {
        let every = Duration::from_secs_f64(every_s.min(LONGEST_WAIT_S));
        return watch::watch_job(arguments.dir.as_deref(), every, common);
    }
    if let Some(message) = folder_in_place_of_file(&arguments.output) {
        return refuse_usage(message);
    }
    let run = open_run(arguments.dir.as_deref(), common.quiet)?.polling(arguments.judging.polling);
    let first_look = first_look(&run, arguments);
    let run = if first_look.is_some() { run.first_look() } else { run };
    let selection = arguments.selection.selection();
    let options = analyse::AnalysisOptions {
        symbols: !common.no_symbols,
        wanted: arguments.iterations.wanted(),
        asked: (!arguments.judging.no_blocking && first_look.is_none()).then(|| arguments.judging.what_if.clone()),
        watch: arguments.output.html.is_some(),
        ..analyse::AnalysisOptions::default()
    };
    let Analysis { mut model, names, watched } = analyse_run(&run, &selection, &options, common)?;
    if let (Some(summary), Some((asked, estimate))) = (&mut model.facts.summary, first_look) {
        (summary.asked, summary.estimate) = (asked, estimate);
    }
    if model.facts.selected.is_all() {
        model.facts.seen_at_s = live::running_until(&model, &run.dir);
    }
    let most_iterations = if arguments.output.full { usize::MAX } else { iteration_groups::MOST_ROWS };
    let report = Report::with_iterations(&model, &names, most_iterations);
    let judged = match arguments.judging.fail_if.as_slice() {
        [] => Vec::new(),
        conditions => judge_run(conditions, lbprof_study::RunMetrics::new(&report, &model))?,
    };
    if !common.quiet {
        warn_of_no_loop(&report, &names.places, arguments.iterations.loop_at.as_deref());
    }
    if let Some(path) = &arguments.output.html {
        // Readers without scripts get the text at the width of a file.
        let again = ReportArguments::again();
        let options = text::TextOptions { columns: IN_A_FILE, ..text_options(arguments, &again) };
        let views = html::page_views(&report, &model, &names, watched, arguments.output.source)?;
        replace_file(path, |out| html::write_page(&report, &views, &options, out))
            .with_context(|| path.display().to_string())?;
        if !common.quiet {
            announce_output(path, A_BROWSER);
        }
    }
    write_report(&report, arguments, common)?;
    Ok(compare::exit_for_conditions(&judged, report.data.complete))
}

/// Writes the report as CSV, as JSON or as text.
fn write_report(report: &Report, arguments: &ReportArguments, common: &CommonOptions) -> anyhow::Result<()> {
    let OutputArguments { csv, json, full, .. } = &arguments.output;
    if let Some(folder) = csv {
        write_csv(report, folder).with_context(|| folder.display().to_string())?;
    }
    match json {
        None if csv.is_some() || common.quiet && !arguments.is_text_wanted() => Ok(()),
        None => write_text(report, arguments, common),
        Some(path) if path == Path::new(SUMMARY) => {
            write_to(io::stdout(), |out| json::write_pretty(&json::RunSummary::new(report), out))
                .context("standard output")
        }
        Some(path) => {
            let bounds = if *full { ListBounds::ALL } else { ListBounds::SMALL };
            write_file(path, |out| json::write_report_json(report, &bounds, out))
        }
    }
}

/// Refuses a folder where a file is to be written.
fn folder_in_place_of_file(output: &OutputArguments) -> Option<String> {
    let files = [("--json", &output.json, ""), ("--html", &output.html, " report.html")];
    let (option, path, name) =
        files.into_iter().find(|(_, path, _)| path.as_ref().is_some_and(|path| path.is_dir()))?;
    let folder = text::escape_message(&path.as_ref()?.display().to_string());
    Some(format!("{option} wants a file to write, and {folder} is a folder: lb-report {folder} {option}{name}"))
}

/// Returns whether the user asked for a first look, and the estimated cost of the whole analysis; `None` if that is to be made.
fn first_look(run: &RecordedRun, arguments: &ReportArguments) -> Option<(bool, AnalysisEstimate)> {
    let asked = arguments.judging.summary == Some(true);
    // A group of processes is meant to analyse all events.
    if !asked && (!arguments.allow_first_look() || opening::is_distributed()) {
        return None;
    }
    let estimate = run.estimate();
    (asked || estimate.estimated_s > MIN_TIME_OF_FIRST_LOOK_S).then_some((asked, estimate))
}

/// Judges conditions on one run, and reports failures.
fn judge_run(conditions: &[FailCondition], run: lbprof_study::RunMetrics) -> anyhow::Result<Vec<JudgedCondition>> {
    let side = ComparisonSide { runs: vec![NamedRun { name: String::new(), run }] };
    let judged = conditions.iter().map(|condition| condition.judge(&side, None)).collect::<Result<Vec<_>, _>>()?;
    compare::report_failures(&judged);
    Ok(judged)
}

/// Writes each table as a file into a folder.
fn write_csv(report: &Report, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    // Tables of an earlier report are removed, other files are not.
    let facts = fs::read_to_string(folder.join("facts.csv"));
    let is_ours = facts.is_ok_and(|facts| facts.starts_with(csv::HEAD));
    let mut written = BTreeSet::new();
    for table in csv::csv_tables(report) {
        let path = folder.join(format!("{}.csv", table.name));
        replace_file(&path, |out| csv::write_csv_table(&table, out))?;
        written.insert(path);
    }
    for entry in fs::read_dir(folder)?.flatten().filter(|_| is_ours) {
        let path = entry.path();
        if path.extension() == Some("csv".as_ref()) && !written.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Warns that no call matches --loop, and suggests similar ones.
fn warn_of_no_loop(report: &Report, places: &[CodePlace], wanted: Option<&str>) {
    if let Some(wanted) = wanted.filter(|_| report.loops.without == NoLoopReason::NoSuchCallSite) {
        let functions = places.iter().map(CodePlace::function_label).filter(|name| !name.is_empty());
        print_note(text::escape_message(&no_call_site(wanted, functions)));
    }
}

fn write_text(report: &Report, arguments: &ReportArguments, common: &CommonOptions) -> anyhow::Result<()> {
    let again = ReportArguments::again();
    let options = text_options(arguments, &again);
    let rendered = match &arguments.output.table {
        Some(name) => list_as_table(report, name, &options, arguments.output.markdown)?,
        None if arguments.output.markdown => text::render_markdown(report),
        None => text::render_text(report, &options),
    };
    print_text(&rendered, common.color)
}

fn text_options<'a>(arguments: &ReportArguments, command: &'a str) -> text::TextOptions<'a> {
    let output = &arguments.output;
    text::TextOptions {
        command,
        columns: output.width.map_or_else(default_columns, usize::from),
        first_screen: output.top.is_none() && !output.full,
        all_tables: output.full,
        asked: !arguments.judging.what_if.is_empty(),
        top: output.top.map_or(usize::MAX, |top| top as usize),
        full: output.full && output.top.is_none(),
    }
}
