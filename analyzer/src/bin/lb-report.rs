//! `lb-report`: arguments, progress, exit codes, nothing else.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anyhow::Context;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lbprof_analyzer::analyse::{self, Analysis, Step};
use lbprof_analyzer::dump::dump;
use lbprof_analyzer::metrics::dispersion::Ranking;
use lbprof_analyzer::open::{Run, RunError};
use lbprof_analyzer::pass::Progress;
use lbprof_analyzer::report::{Choices, Report, csv, html, json, text};
use lbprof_analyzer::selection::asked::Asked;
use lbprof_analyzer::selection::{ActivitySet, Moment, RankSet, Selection, SelectionError};
use lbprof_analyzer::structure::Wanted;
use lbprof_analyzer::views::Views;

/// How lb-report ends. The numbers are documented in its help and in docs/reading-a-report.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Exit {
    /// The report was made.
    Good = 0,
    /// lb-report itself failed: a mistake of ours.
    Bug = 1,
    /// The command line was wrong, or selects what the run does not have.
    Usage = 2,
    /// A condition on the run does not hold. Reserved for comparisons.
    #[expect(dead_code, reason = "the number is promised to comparisons")]
    Condition = 3,
    /// The report was made, from incomplete data.
    Incomplete = 4,
    /// There is no run that can be read.
    NoData = 5,
    /// The report could not be written.
    Output = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

const EXAMPLES: &str = "\
EXAMPLES
  Record a run, then read its report:
      mpirun -n 4 lb-run ./program
      lb-report

  The same as a page for a browser, in one file that can be sent:
      lb-report --html report.html

  Of a certain run, all tables, of long ones the first 8 rows; with all rows:
      lb-report lbprof-out-2 --top 8
      lb-report lbprof-out-2 --full

  Its tables for a spreadsheet:
      lb-report --csv tables

  The same as data, for a script:
      lb-report lbprof-out --json | jq .efficiency
      lb-report lbprof-out --json report.json

  Of every fourth rank alone; of the ranks of some hosts:
      lb-report --ranks 0-:4
      lb-report --ranks 'host=node1*'

  Of a second of the run; of iterations 10 to 20 of its main loop, both with their ends:
      lb-report --from 1.5s --to 2.5s
      lb-report --from iteration=10 --to iteration=20

  Of one region alone; what ranks do in collective calls:
      lb-report --region force
      lb-report --activity collective

  How long the run would take with a region twice as fast:
      lb-report --what-if faster=force:2

  Complete lb-report's options in bash; its manual:
      source <(lb-report completions bash)
      lb-report man | man -l -

  Every call of rank 3, as JSON lines:
      lb-report dump lbprof-out --rank 3

EXIT CODES
  0  the report was made
  1  lb-report itself failed; please report it
  2  the command line was wrong, or selects what the run does not have
  3  (reserved) a condition on the run does not hold
  4  the report was made, from incomplete data
  5  there is no run that can be read
  6  the report could not be written

docs/reading-a-report.md explains every figure, docs/report-json.md every key of the JSON.";

/// Reports how well the work of a recorded MPI run was balanced, what is lost, and where.
#[derive(Parser)]
#[command(name = "lb-report", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    common: Common,
}

#[derive(Subcommand)]
enum Command {
    /// Prints every record of a run as JSON lines.
    Dump(DumpArguments),
    /// Prints what a shell needs to complete options.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual in the format of man; with DIR, writes it there, a file for each command.
    Man {
        /// The folder.
        dir: Option<PathBuf>,
    },
}

#[derive(Args)]
struct ReportArguments {
    /// Folder of the run; by default the newest lbprof-out* here.
    dir: Option<PathBuf>,

    #[arg(hide = true)]
    more: Vec<PathBuf>,

    #[command(flatten)]
    selection: SelectionArguments,

    #[command(flatten)]
    iterations: IterationArguments,

    #[command(flatten)]
    judging: JudgingArguments,

    #[command(flatten)]
    output: OutputArguments,
}

impl ReportArguments {
    /// The command that makes this report, but for how it is put out.
    fn again() -> String {
        const WITH_VALUE: [&str; 6] = ["--top", "--width", "--color", "--csv", "--html", "--json"];
        const ALONE: [&str; 3] = ["--full", "--quiet", "-q"];
        let mut words = vec!["lb-report".to_owned()];
        let mut given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).peekable();
        while let Some(word) = given.next() {
            if WITH_VALUE.contains(&word.as_str()) {
                // The file of --json may be left out.
                given.next_if(|value| word != "--json" || !value.starts_with("--"));
            } else if !ALONE.contains(&word.as_str())
                && !WITH_VALUE.contains(&word.split('=').next().unwrap_or_default())
            {
                words.push(word);
            }
        }
        // A word with a NUL byte, of which the shell can make nothing, there is not.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| "lb-report".to_owned())
    }
}

/// What to report on; all of the run where nothing is said.
#[derive(Args, Clone)]
#[command(next_help_heading = "Selection (what everything is computed from)")]
struct SelectionArguments {
    /// Only these ranks: 0,8-15 or 0-63:4 (every fourth) or 12- or host=node1* or cluster=2, with commas between.
    #[arg(long, value_name = "LIST")]
    ranks: Option<RankSet>,

    /// Only the time from here on: 1.5s, 200ms, 90 (seconds from the begin of the run), or iteration=10.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    from: Option<Moment>,

    /// Only the time up to here: a time as for --from, or iteration=20 with its end.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    to: Option<Moment>,

    /// Only this region, as if the ranks did nothing else: its path, the end of it, or a pattern with * and ?.
    #[arg(long, value_name = "PATH")]
    region: Option<String>,

    /// Only the time in these activities, in the tables of times: names as in the report, with commas, or mpi for all of MPI.
    #[arg(long, value_name = "NAMES")]
    activity: Option<ActivitySet>,
}

impl SelectionArguments {
    fn selection(&self) -> Selection {
        let SelectionArguments { ranks, from, to, region, activity } = self.clone();
        Selection { ranks, from, to, region, activities: activity }
    }
}

/// Which loop is the main one. Marked iterations win over those found in the calls.
#[derive(Args)]
#[command(next_help_heading = "Iterations")]
struct IterationArguments {
    /// Do not look for loops in the calls, nor name code by the calls around it.
    #[arg(long, conflicts_with = "loop_at")]
    no_detect: bool,

    /// An iteration of the main loop ends with each call whose call site has this in its label, as in 'solve (cg.c:120)'.
    #[arg(long = "loop", value_name = "CALLSITE")]
    loop_at: Option<String>,

    /// The region whose iterations are the main loop's: a path, or the end of one.
    #[arg(long, value_name = "PATH")]
    iteration_region: Option<String>,
}

impl IterationArguments {
    fn wanted(&self) -> Wanted {
        Wanted { detect: !self.no_detect, loop_at: self.loop_at.clone() }
    }
}

/// How things are judged.
#[derive(Args)]
#[command(next_help_heading = "Judging")]
struct JudgingArguments {
    /// Which indices of dispersion are severe: maximum, percentile=P (0 to 100) or threshold=X, of SID_A and of SID_C.
    #[arg(long, value_name = "CRITERION", default_value_t = Ranking::Maximum)]
    rank_by: Ranking,

    /// How many groups of like regions to form; by default as many as are clearest, from 2 up.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    groups: Option<u16>,

    /// How near ranks of one cluster are: the share, 0 to 1, of the calls of each that the other does not make; by default 0.5
    /// to 0.75, from the knee of the distances.
    #[arg(long, value_name = "SHARE", value_parser = radius)]
    cluster_radius: Option<f64>,

    /// Do not find out who waits for whom, nor replay the run: of very long logs the largest part of the work.
    #[arg(long, conflicts_with = "what_if")]
    no_blocking: bool,

    /// How long the run would take otherwise, beside what is asked anyway: balanced=REGION, rank=N (computing no more than the mean),
    /// faster=REGION:2 or network=1.5us,10GB/s. May be given several times.
    #[arg(long, value_name = "QUESTION")]
    what_if: Vec<Asked>,

    /// Seconds that the same work takes on one rank, for speedup and overheads; by default the computation of all ranks.
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    t_seq: Option<f64>,
}

/// What is printed, and how.
#[derive(Args)]
#[command(next_help_heading = "Output")]
struct OutputArguments {
    /// Write the report as JSON to FILE instead, or to standard output where FILE is - or not given.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Also write the report as a page for a browser: one file that needs no network. With --quiet no text is printed beside it.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write each table of the report to a CSV file of its own in DIR instead, and single values to facts.csv.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    csv: Option<PathBuf>,

    /// Show all tables, N rows of long ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,

    /// Show all tables with all rows, unless --top says how many; in JSON, each iteration also where there are more than 10,000.
    #[arg(long)]
    full: bool,

    /// Columns of a line; by default those of the terminal, up to 120, or 100 in a file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(60..))]
    width: Option<u16>,
}

/// A radius of clusters.
fn radius(text: &str) -> Result<f64, String> {
    let radius = text.parse().ok().filter(|radius| *radius > 0.0 && *radius <= 1.0);
    radius.ok_or_else(|| "a share of the calls above 0 and up to 1, as in 0.5".to_owned())
}

#[derive(Args)]
struct DumpArguments {
    /// Folder of the run; by default the newest lbprof-out* here.
    dir: Option<PathBuf>,

    /// Only this rank.
    #[arg(long, value_name = "N")]
    rank: Option<u32>,

    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
struct Common {
    /// Do not look up functions and lines: call sites stay modules and offsets.
    #[arg(long)]
    no_symbols: bool,

    /// Nothing on standard error but errors.
    #[arg(short, long)]
    quiet: bool,

    /// When to colour [default: auto, on a terminal unless NO_COLOR is set].
    #[arg(long, value_name = "WHEN", hide_default_value = true, default_value = "auto")]
    color: Color,
}

/// A number of seconds that is more than none.
fn positive(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds).ok_or_else(|| "must be more than 0".to_owned())
}

#[derive(Clone, Copy, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

fn main() -> ExitCode {
    // To follow all ranks their logs are open at once. What the system refuses is told where a log cannot be opened.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            // Help that nobody reads to its end is no error.
            let _ = error.print();
            return exit.into();
        }
    };
    let result = match &arguments.command {
        Some(Command::Dump(dump)) => run_dump(dump),
        Some(Command::Completions { shell }) => completions(*shell),
        Some(Command::Man { dir }) => manual(dir.as_deref()),
        None => run_report(&arguments.report, &arguments.common),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => fail(&error).into(),
    }
}

/// Tells an error, and says how to end with it.
fn fail(error: &anyhow::Error) -> Exit {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return Exit::Good;
    }
    let message = text::plain(&format!("{error:#}"));
    let _ = writeln!(io::stderr(), "lb-report: {message}");
    if error.is::<RunError>() {
        Exit::NoData
    } else if error.is::<SelectionError>() {
        Exit::Usage
    } else if io.is_some() {
        Exit::Output
    } else {
        Exit::Bug
    }
}

/// Opens the run; says which where the user did not.
fn open(dir: Option<&Path>, quiet: bool) -> anyhow::Result<Run> {
    let run = Run::open(dir)?;
    if dir.is_none() && !quiet {
        let _ =
            writeln!(io::stderr(), "lb-report: the newest run here is {}", text::plain(&run.dir.display().to_string()));
    }
    Ok(run)
}

fn run_report(arguments: &ReportArguments, common: &Common) -> anyhow::Result<Exit> {
    if let [other, ..] = arguments.more.as_slice() {
        let other = text::plain(&other.display().to_string());
        let _ = writeln!(io::stderr(), "lb-report: one folder at a time: {other} needs a call of its own");
        return Ok(Exit::Usage);
    }
    let OutputArguments { json, html, .. } = &arguments.output;
    for (option, path) in [("--json", json), ("--html", html)] {
        if let Some(folder) = path.as_deref().filter(|path| path.is_dir()) {
            let name = if option == "--html" { " report.html" } else { "" };
            let folder = text::plain(&folder.display().to_string());
            let _ = writeln!(
                io::stderr(),
                "lb-report: {option} wants a file to write, and {folder} is a folder: lb-report {folder} {option}{name}"
            );
            return Ok(Exit::Usage);
        }
    }
    let run = open(arguments.dir.as_deref(), common.quiet)?;
    let selection = arguments.selection.selection();
    let options = analyse::Options {
        symbols: !common.no_symbols,
        wanted: arguments.iterations.wanted(),
        iteration_region: arguments.iterations.iteration_region.clone(),
        cluster_radius: arguments.judging.cluster_radius,
        asked: (!arguments.judging.no_blocking).then(|| arguments.judging.what_if.clone()),
        watch: arguments.output.html.is_some(),
    };
    let Analysis { mut model, places, watched } = analysed(&run, &selection, &options, common)?;
    model.facts.t_seq_s = arguments.judging.t_seq;
    let judging = &arguments.judging;
    let choices = Choices {
        ranking: judging.rank_by,
        groups: judging.groups.map(usize::from),
        cluster_radius: judging.cluster_radius,
        all_iterations: arguments.output.full,
    };
    let report = Report::with(&model, &places, &choices);
    if let Some(path) = &arguments.output.html {
        let views = Views::new(&model, &report.clusters.of, watched);
        let content = html::Content { report: &report, views: &views, model: &model, places: &places };
        // The text in it is for readers without scripts: as wide as in a file.
        let again = ReportArguments::again();
        let options = text::Options { columns: IN_A_FILE, ..text_options(arguments, &again) };
        html::replace(path, |out| html::write(&content, &options, out)).with_context(|| path.display().to_string())?;
    }
    if let Some(folder) = &arguments.output.csv {
        write_csv(&report, folder).with_context(|| folder.display().to_string())?;
    }
    match &arguments.output.json {
        None if arguments.output.csv.is_some() || arguments.output.html.is_some() && common.quiet => {}
        None => write_text(&report, arguments, common)?,
        Some(path) if path.as_os_str() == "-" => {
            write_to(io::stdout().lock(), |out| json::write(&report, out)).context("standard output")?;
        }
        Some(path) => {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            write_to(file, |out| json::write(&report, out)).with_context(|| path.display().to_string())?;
        }
    }
    Ok(if report.data.complete { Exit::Good } else { Exit::Incomplete })
}

/// Each table of the report as a file in a folder, which is made where it is missing.
fn write_csv(report: &Report, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    // Tables of an earlier report must not stay beside those of this one. What is not of ours is left alone.
    if fs::read_to_string(folder.join("facts.csv")).is_ok_and(|facts| facts.starts_with(csv::HEAD)) {
        for entry in fs::read_dir(folder)?.flatten().filter(|entry| entry.path().extension() == Some("csv".as_ref())) {
            fs::remove_file(entry.path())?;
        }
    }
    for table in csv::tables(report) {
        let file = File::create(folder.join(format!("{}.csv", table.name)))?;
        write_to(file, |out| csv::write(&table, out))?;
    }
    Ok(())
}

fn write_text(report: &Report, arguments: &ReportArguments, common: &Common) -> anyhow::Result<()> {
    let rendered = text::render(report, &text_options(arguments, &ReportArguments::again()));
    let mut out = AutoStream::new(io::stdout(), common.color.choice()).lock();
    out.write_all(rendered.as_bytes()).and_then(|()| out.flush()).context("standard output")
}

/// How the user wants the text.
fn text_options<'a>(arguments: &ReportArguments, command: &'a str) -> text::Options<'a> {
    let output = &arguments.output;
    text::Options {
        command,
        columns: output.width.map_or_else(default_columns, usize::from),
        first_screen: output.top.is_none() && !output.full,
        asked: !arguments.judging.what_if.is_empty(),
        top: output.top.map_or(usize::MAX, |top| top as usize),
        full: output.full && output.top.is_none(),
    }
}

/// Columns of a line in a file.
const IN_A_FILE: usize = 100;

/// Columns of a line where the user does not say: those of the terminal, within what is readable.
fn default_columns() -> usize {
    let on_terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    on_terminal.map_or(IN_A_FILE, |(width, _)| usize::from(width.0).clamp(60, 120))
}

fn write_to(sink: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(sink);
    write(&mut out)?;
    out.flush()
}

fn run_dump(arguments: &DumpArguments) -> anyhow::Result<Exit> {
    let run = open(arguments.dir.as_deref(), arguments.common.quiet)?;
    if let Some(rank) = arguments.rank
        && !run.headers.iter().any(|header| header.rank == rank)
    {
        anyhow::bail!(RunError::NoRank { path: run.dir, rank });
    }
    let options =
        analyse::Options { symbols: !arguments.common.no_symbols, asked: None, ..analyse::Options::default() };
    let Analysis { model, places, .. } = analysed(&run, &Selection::default(), &options, &arguments.common)?;
    write_to(io::stdout().lock(), |out| dump(&run, &model, &places, arguments.rank, out)).context("standard output")?;
    let report = Report::new(&model, &places);
    Ok(if report.data.complete { Exit::Good } else { Exit::Incomplete })
}

fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "lb-report", &mut script);
    io::stdout().lock().write_all(&script).context("standard output")?;
    Ok(Exit::Good)
}

fn manual(dir: Option<&Path>) -> anyhow::Result<Exit> {
    let command = Arguments::command();
    match dir {
        Some(dir) => {
            let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
            written.with_context(|| dir.display().to_string())?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            io::stdout().lock().write_all(&page).context("standard output")?;
        }
    }
    Ok(Exit::Good)
}

/// A part of a run, analysed.
fn analysed(run: &Run, selection: &Selection, options: &analyse::Options, common: &Common) -> anyhow::Result<Analysis> {
    let bar = Bar::new(run, common.quiet);
    let analysis = analyse::analyse_part(run, selection, options, |step| bar.tell(step));
    bar.bar.finish_and_clear();
    Ok(analysis?)
}

/// Progress on standard error; shown only on a terminal, and only where the work is long: a bar that flashes by is noise.
struct Bar {
    bar: ProgressBar,
    records: AtomicU64,
    /// Done once, when the bar is first shown.
    shown: Once,
    wanted: bool,
}

impl Bar {
    fn new(run: &Run, quiet: bool) -> Bar {
        // Each rank's log is read three times.
        let bar = ProgressBar::with_draw_target(Some(3 * run.headers.len() as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %, {msg}, {elapsed}") {
            bar.set_style(style);
        }
        let wanted = !quiet && io::stderr().is_terminal();
        Bar { bar, records: AtomicU64::new(0), shown: Once::new(), wanted }
    }

    fn tell(&self, step: Step) {
        match step {
            Step::Surveying(progress) => self.read("surveying", progress),
            Step::Naming => self.say(|| "looking up the names of functions".to_owned()),
            Step::Gathering(progress) => self.read("adding up", progress),
            Step::Following(progress) => self.read("following", progress),
        }
    }

    fn read(&self, what: &str, progress: Progress) {
        match progress {
            Progress::Records(n) => {
                let records = self.records.fetch_add(n, Ordering::Relaxed) + n;
                self.say(|| format!("{what}, {} events read", HumanCount(records)));
            }
            Progress::Rank => self.bar.inc(1),
        }
    }

    fn say(&self, message: impl FnOnce() -> String) {
        const SHOWN_AFTER: Duration = Duration::from_millis(400);
        if self.wanted && self.bar.elapsed() > SHOWN_AFTER {
            self.bar.set_message(message());
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        }
    }
}
