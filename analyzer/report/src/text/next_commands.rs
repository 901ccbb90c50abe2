//! Suggests further commands.

use std::fmt::Write;

use wildmatch::WildMatch;

use super::{BOLD, DIM, TextOptions};
use crate::finding::Finding;
use crate::short_name::without_template_arguments;
use crate::words::{clean, width};
use crate::{ProblemRow, Report};
use lbprof_analysis::read::definitions::WHOLE_PROGRAM;

/// Most commands.
const MAX_COMMANDS: usize = 2;

/// Columns before a command.
const LABEL: usize = 6;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let mut text = String::new();
    let run = clean(options.command);
    let commands: Vec<(String, &str)> =
        commands(report).into_iter().take(MAX_COMMANDS).map(|(more, what)| (format!("{run} {more}"), what)).collect();
    let longest = commands.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
    for (at, (command, what)) in commands.iter().enumerate() {
        let head = if at == 0 { "Next" } else { "" };
        let what = if LABEL + longest + 2 + width(what) <= options.columns { *what } else { "" };
        writeln!(text, "{BOLD}{head:<LABEL$}{BOLD:#}{command:<longest$}  {DIM}{what}{DIM:#}").ok();
    }
    text
}

/// Options of lb-report that show more details of this run, with their descriptions.
fn commands(report: &Report) -> Vec<(String, &'static str)> {
    let mut commands = Vec::new();
    let good = report.verdict.is_good() || report.verdict.is_of_nothing();
    let first = report.findings.iter().find(|one| one.is_part()).filter(|_| !good);
    if report.blocking.is_some() && is_on_hosts(report) && first.is_some_and(Finding::is_of_messages) {
        commands.push(("--what-if network=2us,10GB/s".to_owned(), "how long it would take on that network"));
    }
    let all_regions = report.facts.selected.region.is_none();
    if let Some(region) = largest_region(report).filter(|_| !good && all_regions) {
        commands.push((format!("--top 8 --region='{region}'"), "what the ranks do there"));
    }
    if report.facts.summary.is_some_and(|summary| !summary.asked) {
        commands.push(("--summary=no".to_owned(), "why ranks wait, critical path, predictions"));
    }
    commands.push(("--top 8".to_owned(), "tables; --full: all of them"));
    commands.push(("--html report.html".to_owned(), "a page to explore"));
    commands
}

/// Returns whether ranks of several hosts communicate, each on a core of its own. Otherwise the time of calls is hardly due to the network.
fn is_on_hosts(report: &Report) -> bool {
    let several = report.ranks.windows(2).any(|two| two[0].host != two[1].host);
    several && !report.problems.iter().any(ProblemRow::is_of_cores)
}

/// The region of the largest finding that is in one, in the shortest form that --region accepts, or `None` if there is none.
fn largest_region(report: &Report) -> Option<String> {
    let places = report.findings.iter().filter_map(|finding| finding.place.as_ref());
    let path = places.filter_map(|place| place.region.as_deref()).find(|path| *path != WHOLE_PROGRAM)?;
    let mut ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]).rev();
    let unique = ends.find(|end| report.regions.iter().filter(|row| has_end(&row.path, end)).count() == 1);
    let shortest = unique.unwrap_or(path);
    // What would need more than quotes to be taken literally is better typed by hand.
    let literal = !shortest.contains(['\'', '*', '?']) && clean(shortest) == shortest;
    let paths = report.regions.iter().map(|row| row.path.as_str());
    literal.then(|| short_pattern(shortest, paths).unwrap_or_else(|| shortest.to_owned()))
}

/// Returns whether the last names of a path are those of `end`.
fn has_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// A long name of a region with `*` for the arguments of templates, or `None` if other `paths` match it, too.
fn short_pattern<'a>(name: &str, paths: impl Iterator<Item = &'a str>) -> Option<String> {
    const LONG: usize = 80;
    let short = without_template_arguments(name);
    if width(name) <= LONG || short == name {
        return None;
    }
    let pattern = short.replace("<…>", "<*>");
    let (whole, end) = (WildMatch::new(&pattern), WildMatch::new(&format!("*/{pattern}")));
    let fits = paths.filter(|path| whole.matches(path) || end.matches(path)).count();
    (fits == 1).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_of_templates_is_a_pattern_that_fits_one_region() {
        let arguments = "double, int, ".repeat(8);
        let solve = |lines: &str| format!("solve<A<{arguments}B>, C> (cg.hpp:{lines})");
        let paths =
            [format!("main/loop/{}", solve("3 → 7")), format!("main/loop/{}", solve("7 → 9")), "main".to_owned()];
        let pattern = |name: &str| short_pattern(name, paths.iter().map(String::as_str));
        assert_eq!(pattern(&solve("3 → 7")).as_deref(), Some("solve<*> (cg.hpp:3 → 7)"));
        assert_eq!(pattern("solve<A>"), None);
        // Two instances of one template, or a region and one in it.
        let twice = [paths[0].clone(), paths[0].replace("B", "D")];
        assert_eq!(short_pattern(&solve("3 → 7"), twice.iter().map(String::as_str)), None);
    }
}
