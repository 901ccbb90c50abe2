//! Compares runs, and evaluates conditions on their differences.

use std::path::{Path, PathBuf};

use clap::Args;
use lbprof_report::text::escape_message;
use lbprof_study::compare::condition::{ConditionOutcome, FailCondition, JudgedCondition};
use lbprof_study::compare::noise::NoiseLimits;
use lbprof_study::compare::output::{html, json, junit, markdown, text};
use lbprof_study::compare::{ComparisonSide, ComparisonSides, NamedRun, RunComparison};
use lbprof_study::{StoreError, StudyFile, key};

use crate::exit::{ReportExit, print_note, refuse_usage};
use crate::output::{A_BROWSER, CommonOptions, announce_output, default_columns, print_text, write_file};
use crate::run::run_figures;

/// Default number of rows of a table.
const ROWS: usize = 5;

#[derive(Args)]
pub struct CompareArguments {
    /// The run before and the run after, each a folder or STUDY:NUMBER.
    ///
    /// With --with, these are all the runs before.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// The runs after; several runs on each side separate change from noise.
    #[arg(long, value_name = "RUN", num_args = 1..)]
    with: Vec<PathBuf>,

    /// Exit with code 3 if this holds: 'elapsed_s > base * 1.05'.
    ///
    /// Also 'parallel_efficiency < 0.9' or 'regions["main/force"].time_s > base * 1.1'. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<FailCondition>,

    /// Changes below this percentage of the elapsed time count as noise when there is only one run on each side.
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    noise: f64,

    #[command(flatten)]
    output: CompareOutput,

    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct CompareOutput {
    /// Also write the comparison as JSON to FILE; without FILE, or with -, to standard output in place of the text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Likewise as Markdown, for the summary of a CI job.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    markdown: Option<PathBuf>,

    /// Also write the comparison to FILE as a page that needs nothing beside it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the results of the conditions to FILE as JUnit XML, one test per condition.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Show at most N rows of each table.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,

    /// Show all rows.
    #[arg(long)]
    full: bool,

    /// Width of a line in columns [default: the terminal's, up to 120; 100 in a file].
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u16).range(60..))]
    width: Option<u16>,
}

impl CompareOutput {
    fn options(&self) -> text::ComparisonTextOptions {
        let rows = if self.full { usize::MAX } else { ROWS };
        text::ComparisonTextOptions {
            columns: self.width.map_or_else(default_columns, usize::from),
            top: self.top.map_or(rows, |top| top as usize),
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim_end().parse().ok();
    percent.filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(|| "0 to 100 per cent, as in 2".to_owned())
}

pub fn run_compare(arguments: &CompareArguments) -> anyhow::Result<ReportExit> {
    let Some((base, new)) = compared_sides(arguments) else {
        return refuse_usage(
            "two runs are compared, lb-report compare BASE NEW, or several: lb-report compare BASE… --with NEW…",
        );
    };
    let output = &arguments.output;
    let to_stdout = [&output.json, &output.markdown].into_iter().flatten().filter(|path| path.as_os_str() == "-");
    let n_on_stdout = to_stdout.count();
    if n_on_stdout > 1 {
        return refuse_usage("only one of --json and --markdown can go to standard output");
    }
    let common = &arguments.common;
    let sides = ComparisonSides { base: load_side(base, common)?, new: load_side(new, common)? };
    if let Some((first, again)) = find_repeated_run(&sides.base).or_else(|| find_repeated_run(&sides.new)) {
        let (first, again) = (escape_message(&first.name), escape_message(&again.name));
        return refuse_usage(format!("{first} and {again} are the same run: twice on a side it gives no noise"));
    }
    let comparison = RunComparison::new(sides, NoiseLimits { share: arguments.noise / 100.0 });
    let sides = &comparison.sides;
    let conditions = arguments.fail_if.iter().map(|condition| condition.judge(&sides.new, Some(&sides.base)));
    let judged = conditions.collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &output.json {
        write_file(path, |out| json::write_comparison(&comparison, &judged, out))?;
    }
    if let Some(path) = &output.markdown {
        write_file(path, |out| out.write_all(markdown::render_markdown(&comparison, &judged).as_bytes()))?;
    }
    if let Some(path) = &output.html {
        write_file(path, |out| html::write(&comparison, &judged, &output.options(), out))?;
        if !common.quiet {
            announce_output(path, A_BROWSER);
        }
    }
    if let Some(path) = &output.junit {
        write_file(path, |out| junit::write_junit(&comparison, &judged, out))?;
    }
    let files = [&output.json, &output.markdown, &output.html, &output.junit];
    let writes_files = files.iter().any(|file| file.is_some());
    if common.quiet && (writes_files || !judged.is_empty()) {
        report_failures(&judged);
    } else if n_on_stdout == 0 {
        let rendered = text::render_comparison(&comparison, &judged, &output.options());
        print_text(&rendered, common.color)?;
    }
    Ok(exit_for_conditions(&judged, comparison.complete()))
}

/// Reports failed conditions on standard error, because programs may read standard output.
pub fn report_failures(judged: &[JudgedCondition]) {
    for failed in judged.iter().filter(|judged| judged.outcome != ConditionOutcome::Passes) {
        print_note(failed.sentence());
    }
}

pub fn exit_for_conditions(judged: &[JudgedCondition], complete: bool) -> ReportExit {
    match judged.iter().all(|judged| judged.outcome == ConditionOutcome::Passes) {
        false => ReportExit::Condition,
        true => ReportExit::for_completeness(complete),
    }
}

/// Returns the runs of both sides, or `None` if the sides are not clear.
fn compared_sides(arguments: &CompareArguments) -> Option<(&[PathBuf], &[PathBuf])> {
    match (arguments.runs.as_slice(), arguments.with.as_slice()) {
        ([base, new], []) => Some((std::slice::from_ref(base), std::slice::from_ref(new))),
        (_, []) => None,
        (base, new) => Some((base, new)),
    }
}

fn load_side(runs: &[PathBuf], common: &CommonOptions) -> anyhow::Result<ComparisonSide> {
    let runs: anyhow::Result<Vec<NamedRun>> = runs.iter().map(|path| load_named_run(path, common)).collect();
    Ok(ComparisonSide { runs: runs? })
}

/// Finds a run that is given twice, which would look like a repetition without noise.
fn find_repeated_run(side: &ComparisonSide) -> Option<(&NamedRun, &NamedRun)> {
    for (at, again) in side.runs.iter().enumerate().filter(|(_, run)| run.run.id != 0) {
        if let Some(first) = side.runs[..at].iter().find(|first| first.run.id == again.run.id) {
            return Some((first, again));
        }
    }
    None
}

/// Returns a run in a folder, or in a study, e.g. `scaling.study:3`.
fn load_named_run(path: &Path, common: &CommonOptions) -> anyhow::Result<NamedRun> {
    let name = path.display().to_string();
    let in_study = path.to_str().and_then(|text| text.rsplit_once(':')).filter(|_| !path.exists());
    let Some((study, number)) = in_study else { return Ok(NamedRun { name, run: run_figures(path, common)? }) };
    let runs = StudyFile::open(Path::new(study))?.runs()?;
    let wanted = key::find_run_number(&runs, number);
    let found = runs.into_iter().find(|kept| Some(kept.number) == wanted);
    let kept = found.ok_or_else(|| StoreError::NoRun(PathBuf::from(study), number.to_owned()))?;
    Ok(NamedRun { name, run: kept.run })
}
