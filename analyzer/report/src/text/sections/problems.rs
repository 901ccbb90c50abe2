//! Missing and doubtful data, one line each.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use lbprof_collector::ProblemKind;
use lbprof_collector::problem::Severity;

use crate::findings::phrases::ranks::named_ranks;
use crate::rows::words::{escape_name, format_count, text_width, wrap_text};
use crate::text::TextOptions;
use crate::text::first_screen::answer::first_lines;
use crate::{ProblemRow, Report};
use lbprof_analysis::read::open::list_ranks;

pub(in crate::text) fn problems_section(report: &Report, options: &TextOptions) -> String {
    let mut text = String::new();
    let shown = report.problems.iter().filter(|problem| {
        let is_minor = options.first_screen && problem.kind.severity() == Severity::Note;
        !is_minor && (!options.is_for_all() || !is_in_answer(report, problem))
    });
    for problem in shown {
        let (colour, mark) = match problem.kind.severity() {
            Severity::Note => (Style::new().dimmed(), "note"),
            Severity::Partial => (AnsiColor::Yellow.on_default().bold(), "incomplete"),
            Severity::Doubtful => (AnsiColor::Yellow.on_default().bold(), "doubtful"),
        };
        let columns = options.columns.saturating_sub(text_width(mark) + 2);
        // A doubt about figures gets two lines, missing data all.
        let is_brief = options.first_screen && problem.kind.severity() == Severity::Doubtful;
        let most_details = match (is_brief, options.full) {
            (true, _) => 0,
            (false, true) => ALL_DETAILS,
            (false, false) => SHOWN_DETAILS,
        };
        let line = wrap_text(&problem_line(problem, most_details), columns, 0);
        let line = if is_brief { first_lines(&line, columns) } else { line };
        let line = line.replace('\n', "\n  ");
        writeln!(text, "{colour}{mark}:{colour:#} {line}").ok();
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Returns whether a note after the answer reports the problem.
fn is_in_answer(report: &Report, problem: &ProblemRow) -> bool {
    match problem.kind {
        ProblemKind::NoCore | ProblemKind::Preempted => report.has_crowded_cores(),
        ProblemKind::NotClosed | ProblemKind::Unfinished => report.facts.seen_at_s.is_some(),
        _ => false,
    }
}

/// Default number of details per kind, and with --full.
const SHOWN_DETAILS: usize = 2;
const ALL_DETAILS: usize = 8;

fn problem_line(problem: &ProblemRow, most_details: usize) -> String {
    let ranks = match problem.ranks.as_slice() {
        [] => String::new(),
        ranks => format!("{}: ", named_ranks(ranks)),
    };
    // Details repeat their rank, which is already named if there is only one.
    let details = problem.details.iter().take(most_details);
    let details: Vec<String> =
        details.map(|detail| escape_name(detail.strip_prefix(&ranks).unwrap_or(detail))).collect();
    let details = match (details.is_empty(), problem.count) {
        (true, 0 | 1) => String::new(),
        (true, n) if n == problem.ranks.len() as u64 => String::new(),
        (true, n) => format!(" ({} times)", format_count(n)),
        (false, _) => {
            format!(" ({}{})", details.join("; "), if problem.ranks.len() > details.len() { " …" } else { "" })
        }
    };
    let meaning = problem.kind.meaning().trim_end_matches('.');
    let what = match (meaning.strip_prefix("The rank "), problem.ranks.as_slice()) {
        (Some(did), [one]) => format!("rank {one} {did}"),
        (Some(did), [_, _, ..]) => format!("ranks {} each {did}", list_ranks(&problem.ranks)),
        _ => format!("{ranks}{meaning}"),
    };
    format!("{what}{details} → {}", problem.kind.advice())
}
