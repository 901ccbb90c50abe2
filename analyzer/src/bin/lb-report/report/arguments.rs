//! What the user may choose of a report.

use std::path::PathBuf;

use clap::Args;
use lbprof_analyzer::compare::condition::Condition;
use lbprof_analyzer::metrics::dispersion::Ranking;
use lbprof_analyzer::model::moment::Moment;
use lbprof_analyzer::select::asked::Asked;
use lbprof_analyzer::select::{ActivitySet, RankSet, Selection};
use lbprof_analyzer::structure::Wanted;
use lbprof_collector::polling::Polling;

/// All of it.
#[derive(Args)]
pub struct ReportArguments {
    /// Folder of the run; by default the newest lbprof-out* here.
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
    /// The command that makes this report, but for how it is put out.
    pub fn again() -> String {
        const WITH_VALUE: [&str; 7] = ["--top", "--width", "--color", "--csv", "--html", "--json", "--fail-if"];
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
pub struct SelectionArguments {
    /// Only these ranks: 0,8-15 or 0-63:4 (every fourth) or 12- or host=node1* or cluster=2, with commas between.
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<RankSet>,

    /// Only the time from here on: 1.5s, 200ms, 90 (seconds from the begin of the run), or iteration=10.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub from: Option<Moment>,

    /// Only the time up to here: a time as for --from, or iteration=20 with its end.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub to: Option<Moment>,

    /// Only this region, as if the ranks did nothing else: its path, the end of it, or a pattern with * and ?.
    #[arg(long, value_name = "PATH")]
    pub region: Option<String>,

    /// Only the time in these activities, in the tables of times: names as in the report, with commas, or mpi for all of MPI.
    #[arg(long, value_name = "NAMES")]
    pub activity: Option<ActivitySet>,
}

impl SelectionArguments {
    pub fn selection(&self) -> Selection {
        let SelectionArguments { ranks, from, to, region, activity } = self.clone();
        Selection { ranks, from, to, region, activities: activity }
    }
}

/// Which loop is the main one. Marked iterations win over those found in the calls.
#[derive(Args)]
#[command(next_help_heading = "Iterations")]
pub struct IterationArguments {
    /// Do not look for loops in the calls, nor name code by the calls around it.
    #[arg(long, conflicts_with = "loop_at")]
    pub no_detect: bool,

    /// An iteration of the main loop ends with each call whose call site has this in its label, as in 'solve (cg.c:120)'; with /3 after it,
    /// with every third of them.
    #[arg(long = "loop", value_name = "CALLSITE")]
    pub loop_at: Option<String>,

    /// The region whose iterations are the main loop's: a path, or the end of one.
    #[arg(long, value_name = "PATH")]
    pub iteration_region: Option<String>,
}

impl IterationArguments {
    pub fn wanted(&self) -> Wanted {
        Wanted { detect: !self.no_detect, loop_at: self.loop_at.clone() }
    }
}

/// How things are judged.
#[derive(Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgingArguments {
    /// Which indices of dispersion are severe: maximum, percentile=P (0 to 100) or threshold=X, of SID_A and of SID_C.
    #[arg(long, value_name = "CRITERION", default_value_t = Ranking::Maximum)]
    pub rank_by: Ranking,

    /// How many groups of like regions to form; by default as many as are clearest, from 2 up.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub groups: Option<u16>,

    /// How near ranks of one cluster are: the share, 0 to 1, of the calls of each that the other does not make; by default 0.5
    /// to 0.75, from the knee of the distances.
    #[arg(long, value_name = "SHARE", value_parser = radius)]
    pub cluster_radius: Option<f64>,

    /// Do not find out who waits for whom, nor replay the run: of very long logs the largest part of the work.
    #[arg(long, conflicts_with = "what_if")]
    pub no_blocking: bool,

    /// What the time between polls that find nothing (MPI_Test, MPI_Iprobe …) counts as: waiting, computation, or auto: what its
    /// length says. Of a run in profile mode the recorder has decided that.
    #[arg(long, value_name = "WHAT", default_value_t = Polling::Auto)]
    pub polling: Polling,

    /// How long the run would take otherwise, beside what is asked anyway: balanced=REGION, rank=N (computing no more than the mean),
    /// faster=REGION:2 or network=1.5us,10GB/s. May be given several times.
    #[arg(long, value_name = "SCENARIO")]
    pub what_if: Vec<Asked>,

    /// Fail (exit code 3) if this holds: 'parallel_efficiency < 0.9', 'regions["main/force"].load_balance < 80 %'; lb-report compare
    /// knows conditions against another run, and their metrics. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,

    /// Seconds that the same work takes on one rank, for speedup and overheads; by default the computation of all ranks.
    #[arg(long, value_name = "SECONDS", value_parser = positive, allow_hyphen_values = true)]
    pub t_seq: Option<f64>,
}

/// What is printed, and how.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Write the report as JSON to FILE instead, or to standard output where FILE is - or not given: the folder stands before it then,
    /// as in lb-report lbprof-out --json.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Also write the report as a page for a browser: one file that needs no network. With --quiet no text is printed beside it.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write each table of the report to a CSV file of its own in DIR instead, and single values to facts.csv.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub csv: Option<PathBuf>,

    /// Show all tables, N rows of long ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub top: Option<u32>,

    /// Show all tables with all rows, unless --top says how many; in JSON, each iteration also where there are more than 10,000.
    #[arg(long)]
    pub full: bool,

    /// Columns of a line; by default those of the terminal, up to 120, or 100 in a file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(60..))]
    pub width: Option<u16>,
}

/// A radius of clusters.
fn radius(text: &str) -> Result<f64, String> {
    let radius = text.parse().ok().filter(|radius| *radius > 0.0 && *radius <= 1.0);
    radius.ok_or_else(|| "a share of the calls above 0 and up to 1, as in 0.5".to_owned())
}

/// A number of seconds that is more than none.
fn positive(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds).ok_or_else(|| "must be more than 0".to_owned())
}
