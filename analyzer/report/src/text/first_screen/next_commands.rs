//! Suggests further commands.

use std::fmt::Write;

use crate::losses::finding::Finding;
use crate::rows::words::{escape_name, text_width};
use crate::text::{BOLD, DIM, TextOptions};
use crate::{ProblemRow, Report};
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;

const MAX_COMMANDS: usize = 2;

const MAX_NAME: usize = 80;

const LABEL: usize = 6;

pub(in crate::text) fn next_commands_section(report: &Report, options: &TextOptions) -> String {
    let mut text = String::new();
    let run = escape_name(options.command);
    let room = options.columns.saturating_sub(LABEL + text_width(&run) + 1);
    let commands: Vec<(String, &str)> = further_commands(report, room)
        .into_iter()
        .take(MAX_COMMANDS)
        .map(|(more, what)| (format!("{run} {more}"), what))
        .collect();
    let longest = commands.iter().map(|(command, _)| text_width(command)).max().unwrap_or(0);
    for (at, (command, what)) in commands.iter().enumerate() {
        let head = if at == 0 { "Next" } else { "" };
        let room = options.columns.saturating_sub(LABEL + 2 + text_width(what));
        let width = if longest <= room { longest } else { text_width(command) };
        let pad = width - text_width(command);
        let what = if width <= room { format!("{:pad$}  {DIM}{what}{DIM:#}", "") } else { String::new() };
        writeln!(text, "{BOLD}{head:<LABEL$}{BOLD:#}{command}{what}").ok();
    }
    text
}

/// Returns options that show more details of this run, with descriptions. A region's name is left out where there is no `room` for it.
fn further_commands(report: &Report, room: usize) -> Vec<(String, &'static str)> {
    let mut commands = Vec::new();
    let good = report.verdict.is_good() || report.verdict.is_of_nothing();
    let first = report.findings.iter().find(|one| one.is_part()).filter(|_| !good);
    if report.blocking.is_some() && is_on_hosts(report) && first.is_some_and(Finding::is_of_messages) {
        commands.push(("--what-if network=2us,10GB/s".to_owned(), "how long it would take on that network"));
    }
    let all_regions = report.facts.selected.region.is_none();
    let region = largest_region(report).map(|region| format!("--top 8 --region='{region}'"));
    commands.extend(
        region
            .filter(|options| !good && all_regions && text_width(options) <= room)
            .map(|options| (options, "what the ranks do there")),
    );
    if report.facts.summary.is_some_and(|summary| !summary.asked) {
        commands.push(("--summary=no".to_owned(), "why ranks wait, critical path, predictions"));
    }
    commands.push(("--top 8".to_owned(), "tables; --full: all of them"));
    commands.push(("--html report.html".to_owned(), "a page to explore"));
    commands
}

/// Returns whether ranks on several hosts communicate and have their own cores. Otherwise the network hardly matters.
fn is_on_hosts(report: &Report) -> bool {
    let several = report.ranks.windows(2).any(|two| two[0].host != two[1].host);
    several && !report.problems.iter().any(ProblemRow::is_of_cores)
}

/// Returns the region of the largest finding, in the shortest form that --region accepts.
fn largest_region(report: &Report) -> Option<String> {
    let places = report.findings.iter().filter_map(|finding| finding.place.as_ref());
    let path = places.filter_map(|place| place.region.as_deref()).find(|path| *path != WHOLE_PROGRAM)?;
    let mut ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]).rev();
    let unique = ends.find(|end| report.regions.iter().filter(|row| has_end(&row.path, end)).count() == 1);
    let shortest = unique.unwrap_or(path);
    // Names that need more than quotes, or are very long, are left to the user.
    let is_plain = !shortest.contains(['\'', '*', '?']) && escape_name(shortest) == shortest;
    (is_plain && text_width(shortest) <= MAX_NAME).then(|| shortest.to_owned())
}

/// Returns whether the last names of a path are `end`.
fn has_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}
