//! The options of a report.

use std::path::PathBuf;

use clap::Args;
use lbprof_analysis::model::run::moment::WindowBoundary;
use lbprof_analysis::select::scenario::AskedScenario;
use lbprof_analysis::select::{RankSet, Selection};
use lbprof_analysis::structure::StructureOptions;
use lbprof_collector::polling::PollGapRule;
use lbprof_study::compare::condition::FailCondition;

/// The arguments of a report.
#[derive(Args)]
pub struct ReportArguments {
    /// Folder of the run [default: the newest lbprof-out* in this folder].
    pub dir: Option<PathBuf>,

    #[arg(hide = true)]
    pub more: Vec<PathBuf>,

    #[command(flatten)]
    pub selection: SelectionArguments,

    #[command(flatten)]
    pub iterations: IterationArguments,

    #[command(flatten)]
    pub judging: JudgingArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}

impl ReportArguments {
    /// Returns whether a first look may replace the report on a long run: the user asks for nothing that it lacks.
    pub fn allow_first_look(&self) -> bool {
        let JudgingArguments { no_blocking, summary, polling, what_if, fail_if } = &self.judging;
        let SelectionArguments { from, to, .. } = &self.selection;
        let asks =
            *no_blocking || *summary == Some(false) || *polling != PollGapRule::Auto || from.is_some() || to.is_some();
        !asks && what_if.is_empty() && fail_if.is_empty() && self.iterations.loop_at.is_none()
    }

    /// Returns whether the user wants the text, not only a page or the result of conditions.
    pub fn is_text_wanted(&self) -> bool {
        let OutputArguments { html, top, full, table, markdown, .. } = &self.output;
        let asks = top.is_some() || *full || table.is_some() || *markdown;
        html.is_none() && (self.judging.fail_if.is_empty() || asks)
    }

    /// Returns the command that makes this report, without options of its output.
    pub fn again() -> String {
        const WITH_VALUE: [&str; 8] =
            ["--top", "--table", "--width", "--color", "--csv", "--html", "--json", "--fail-if"];
        const ALONE: [&str; 5] = ["--full", "--markdown", "--quiet", "--source", "-q"];
        let mut words = vec!["lb-report".to_owned()];
        let mut given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).peekable();
        while let Some(word) = given.next() {
            if WITH_VALUE.contains(&word.as_str()) {
                // The file of --json is optional.
                given.next_if(|value| word != "--json" || !value.starts_with("--"));
            } else if !ALONE.contains(&word.as_str())
                && !WITH_VALUE.contains(&word.split('=').next().unwrap_or_default())
            {
                words.push(word);
            }
        }
        // Words with a NUL byte cannot occur.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| "lb-report".to_owned())
    }
}

/// The selected part of a run: all of it where nothing is said.
#[derive(Args, Clone)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArguments {
    /// Take these ranks only: 0,8-15, 0-63:4, host=node1*, cluster=2.
    ///
    /// A comma-separated list of single ranks, ranges (8-15, or 12- up to the last rank), every fourth rank of a range (0-63:4), the
    /// ranks of hosts (host=node1*) or of a cluster that the report shows (cluster=2).
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<RankSet>,

    /// Take the time from here on: 1.5s, 200ms, iteration=10.
    ///
    /// A time since the start of the run (90 means seconds), or the start of an iteration of the main loop.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub from: Option<WindowBoundary>,

    /// Take the time up to here: a moment as for --from; iteration=20 is included.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub to: Option<WindowBoundary>,

    /// Take this region only: its path or its end, or a pattern (* and ?).
    ///
    /// All figures are computed as if the ranks did nothing else.
    #[arg(long, value_name = "PATH")]
    pub region: Option<String>,
}

impl SelectionArguments {
    pub fn selection(&self) -> Selection {
        let SelectionArguments { ranks, from, to, region } = self.clone();
        Selection { ranks, from, to, region }
    }
}

/// Choice of the main loop. Marked iterations win over those found in the calls.
#[derive(Args)]
#[command(next_help_heading = "Iterations")]
pub struct IterationArguments {
    /// Do not look for loops in the calls, and do not name code by the calls around it.
    #[arg(long, conflicts_with = "loop_at", hide_short_help = true)]
    pub no_detect: bool,

    /// End each iteration of the main loop at this call: 'solve (cg.c:120)', or 'solve/3'.
    ///
    /// Takes any part of a call site's label. Where the program makes that call three times per iteration, add /3: an iteration ends with
    /// every third call.
    #[arg(long = "loop", value_name = "CALLSITE")]
    pub loop_at: Option<String>,
}

impl IterationArguments {
    pub fn wanted(&self) -> StructureOptions {
        StructureOptions { detect: !self.no_detect, loop_at: self.loop_at.clone() }
    }
}

/// Options of judgement.
#[derive(Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgingArguments {
    /// Skip wait-state analysis and replay (most of the time on long logs).
    #[arg(long, conflicts_with = "what_if")]
    pub no_blocking: bool,

    /// Take a first look, from what the ranks summed up when they ended, without reading their events; --summary=no analyses all events.
    ///
    /// A first look is without causes of waiting, critical path, predictions, functions, and loops and regions that are not marked. The events of
    /// ranks without a summary are added up. lb-report does this by itself if analysing all events is estimated to take longer than a minute; the
    /// first lines of the report then say so.
    #[arg(
        long,
        value_name = "yes|no",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        value_parser = clap::builder::BoolishValueParser::new(),
        hide_possible_values = true,
        conflicts_with_all = ["what_if", "from", "to", "loop_at", "polling"]
    )]
    pub summary: Option<bool>,

    /// Count the time between unsuccessful polls (MPI_Test, MPI_Iprobe …) as waiting, computation or auto.
    ///
    /// auto decides by the length of each gap between two polls, and whether the thread sleeps in longer ones. In a run recorded in profile mode the recorder has already decided
    /// on shorter ones.
    #[arg(long, hide_short_help = true, value_name = "WHAT", default_value_t = PollGapRule::Auto)]
    pub polling: PollGapRule,

    /// Predict the run with a change: balanced=REGION, rank=N, faster=REGION:2, network=1.5us,10GB/s, threads-balanced, parallel=FUNCTION.
    ///
    /// balanced=REGION: all ranks compute equally long in a region. rank=N: a rank computes no more than the mean. faster=REGION:2:
    /// computation in a region, in a function or in a state of the thread (kernel, asleep, no core) is twice as fast. network=LATENCY,BANDWIDTH: another network. threads-balanced, or
    /// threads-balanced=PARALLEL-REGION: threads work equally long. parallel=FUNCTION: a function that one thread of a rank runs outside of parallel
    /// regions runs on all of them. May be given several times; the
    /// predictions that the report makes by itself remain.
    #[arg(long, value_name = "SCENARIO")]
    pub what_if: Vec<AskedScenario>,

    /// Exit with code 3 if this holds: 'parallel_efficiency < 0.9'.
    ///
    /// Also for a region: 'regions["main/force"].load_balance < 80 %'. May be given several times. lb-report compare --help lists
    /// the metrics, and has conditions against another run.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<FailCondition>,
}

/// Options of the output.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Write the report as JSON to FILE, or to standard output, not as text.
    ///
    /// Without FILE, or with -, it goes to standard output; the run's folder then comes before the option: lb-report lbprof-out --json. --json=summary prints
    /// the answer, the efficiencies and three findings in 4 kB at most.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Print the answer, the efficiencies, three findings and a picture of the ranks as Markdown, for merge requests and chats.
    #[arg(long, conflicts_with_all = ["json", "csv", "top", "full"], hide_short_help = true)]
    pub markdown: bool,

    /// Show a running job every 2 seconds: its efficiencies, the load of ranks.
    ///
    /// Also the rank that computes longest with its function, what recurs, and ranks that wait for long. On a terminal it fills the screen until q is pressed or the job ends; otherwise it prints a line each time. Only what is new in the run's files is
    /// read, and the job does not notice.
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2",
        value_parser = positive,
        conflicts_with_all = ["json", "markdown", "html", "csv", "top", "full", "summary", "ranks", "from", "to", "region"]
    )]
    pub watch: Option<f64>,

    /// Also write the report as an HTML page: one file that works offline.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Put the source lines around sampled ones into the page of --html, of files that are found here.
    #[arg(long, requires = "html", hide_short_help = true)]
    pub source: bool,

    /// Write each table as a CSV file into DIR, in place of the text.
    ///
    /// Single values go to facts.csv.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub csv: Option<PathBuf>,

    /// Show the tables that most users need, with at most N rows each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub top: Option<u32>,

    /// Show all tables.
    ///
    /// These are also waiting and its causes, critical path, activities, loops and call sites. Rows of less than 0.1 %, and those after the first 12, are one row with their sum; of more than 32 ranks the slowest and the fastest are shown; --top sets another number, --table shows all. In JSON, more than 4,000 iterations, 1,000 ranks, and 1,000 causes of waiting or pairs of ranks
    /// are listed one by one only with this option.
    #[arg(long)]
    pub full: bool,

    /// Show a list of the JSON as a table: regions, overheads.phases, dispersion.patterns, communication.pairs.
    ///
    /// Its columns are the keys, as in --csv. An unknown name prints the names of all lists.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "csv", "top", "full"])]
    pub table: Option<String>,

    /// Width of a line in columns [default: the terminal's, up to 120; 100 in a file].
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u16).range(60..))]
    pub width: Option<u16>,
}

fn positive(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds).ok_or_else(|| "must be more than 0".to_owned())
}
