//! What to look at next, as commands.

use std::fmt::Write;

use lbprof_collector::ProblemKind;

use super::{BOLD, DIM, Options};
use crate::read::definitions::WHOLE_PROGRAM;
use crate::report::verdict::LossKind;
use crate::report::verdict::VerdictKind;
use crate::report::words::{clean, width};
use crate::report::{ProblemRow, Report};

/// Columns of a command beside which there is room for what it shows.
const SHORT: usize = 52;

pub(super) fn section(report: &Report, options: &Options) -> String {
    let mut text = format!("{BOLD}Next{BOLD:#}\n");
    let run = clean(options.command);
    for (more, what) in commands(report) {
        let command = format!("{run} {more}");
        match width(&command) <= SHORT && SHORT + 4 + width(what) <= options.columns {
            true => writeln!(text, "  {command:<SHORT$}  {DIM}{what}{DIM:#}").ok(),
            false => writeln!(text, "  {command}\n      {DIM}{what}{DIM:#}").ok(),
        };
    }
    text.push('\n');
    text
}

/// Options of lb-report that show more of what matters here, and what each shows.
fn commands(report: &Report) -> Vec<(String, &'static str)> {
    let mut commands = Vec::new();
    let good = matches!(report.verdict.kind, VerdictKind::Good | VerdictKind::Doubtful | VerdictKind::Nothing);
    let first = report.losses.first().filter(|_| !good);
    if report.blocking.is_some()
        && is_on_hosts(report)
        && first.is_some_and(|loss| loss.kind == LossKind::Communication)
    {
        commands.push(("--what-if network=2us,10GB/s".to_owned(), "how long it would take on that network"));
    }
    let all_regions = report.facts.selected.region.is_none();
    if let Some(region) = largest_region(report).filter(|_| !good && all_regions) {
        commands.push((format!("--top 8 --region='{region}'"), "what the ranks do there"));
    }
    commands.push(("--top 8".to_owned(), "all tables; --full: with all rows"));
    commands.push(("--html report.html".to_owned(), "a page to explore"));
    commands
}

/// Whether ranks of several hosts communicate, each on a core of its own: else what calls take is hardly the network's.
fn is_on_hosts(report: &Report) -> bool {
    let several = report.ranks.windows(2).any(|two| two[0].host != two[1].host);
    let lacks = |row: &ProblemRow| matches!(row.kind, ProblemKind::NoCore | ProblemKind::Preempted);
    several && !report.problems.iter().any(lacks)
}

/// The region of the largest loss that has one, in the shortest way that --region takes; `None` where it is all of the program.
fn largest_region(report: &Report) -> Option<String> {
    let loss = report.losses.iter().find(|loss| matches!(loss.kind, LossKind::Imbalance | LossKind::Control))?;
    let path = loss.region.as_deref().filter(|path| *path != WHOLE_PROGRAM)?;
    let is_end = |end: &str| {
        let ends = |path: &str| path == end || path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
        report.regions.iter().filter(|row| ends(&row.path)).count() == 1
    };
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]).rev();
    let shortest = ends.into_iter().find(|end| is_end(end)).unwrap_or(path);
    // What would need more than quotes to be taken literally is better typed by hand.
    let literal = !shortest.contains(['\'', '*', '?']) && clean(shortest) == shortest;
    literal.then(|| shortest.to_owned())
}
