//! Findings: on the first screen those that the answer does not name, one line each; with all tables, every part of the loss.

use std::fmt::Write;

use crate::Report;
use crate::findings::phrases::ranks::short_percent;
use crate::findings::{named_findings, part_in_words, share_of_time};
use crate::losses::finding::Finding;
use crate::rows::words::{escape_name, format_percent, seconds_like, wrap_text};
use crate::text::{BOLD, DIM, TextOptions};
use lbprof_thresholds::verdict::MIN_LOSS;

const MAX_LISTED: usize = 3;

/// Width of a share with its margin.
const SHARE: usize = 11;

pub(in crate::text) fn other_findings_section(report: &Report, options: &TextOptions) -> String {
    let (first, second) = named_findings(report);
    let others =
        large_parts(report).filter(|one| ![first, second].into_iter().flatten().any(|named| std::ptr::eq(named, *one)));
    let mut text = String::new();
    for finding in others.take(MAX_LISTED) {
        let place = finding.place.as_ref().map_or_else(String::new, |place| format!("; {}", place.text));
        let words = format!("{}{}", part_in_words(finding, false), escape_name(&place));
        let share = short_percent(share_of_time(report, finding));
        writeln!(text, "  {share:<width$}{}", first_line(&words, options.columns - SHARE), width = SHARE - 2).ok();
    }
    match text.is_empty() {
        true => text,
        false => format!("{BOLD}Also lost{BOLD:#}  {DIM}of the mean rank's time{DIM:#}\n{text}"),
    }
}

/// Returns the words of the first line, with an ellipsis if more follow.
fn first_line(words: &str, columns: usize) -> String {
    match wrap_text(words, columns, 0).split_once('\n') {
        None => words.to_owned(),
        Some(_) => format!("{} …", wrap_text(words, columns - 2, 0).lines().next().unwrap_or_default()),
    }
}

/// Writes all parts with their advice.
pub(in crate::text) fn whole_section(report: &Report, options: &TextOptions) -> String {
    let mut text = String::new();
    for (number, finding) in (1..).zip(large_parts(report)) {
        let advice = finding.advice.as_ref().map_or_else(String::new, |advice| {
            let (label, words) = advice.label_and_text();
            format!("; {label}: {words}")
        });
        let end = if advice.ends_with('?') { "" } else { "." };
        let words = escape_name(&format!("{number}. {}{advice}{end}", part_sentence(report, finding)));
        let lines = wrap_text(&words, options.columns - 2, 5);
        let (size, rest) = lines.split_at(lines.find(')').map_or(0, |at| at + 1));
        writeln!(text, "  {BOLD}{size}{BOLD:#}{rest}").ok();
    }
    match text.is_empty() {
        true => text,
        false => format!("{BOLD}Findings{BOLD:#}  {DIM}of the mean rank's time{DIM:#}\n{text}\n"),
    }
}

/// Returns the parts that cost at least 1 %, in the order of the findings.
pub(in crate::text) fn large_parts(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|one| one.is_part() && share_of_time(report, one) >= MIN_LOSS)
}

/// Describes a part: size, cause, place and gain.
pub(in crate::text) fn part_sentence(report: &Report, finding: &Finding) -> String {
    let lost = seconds_like(finding.seconds, report.verdict.elapsed_s);
    let share = format_percent(share_of_time(report, finding));
    let place = finding.place.as_ref().map_or_else(String::new, |place| format!("; where: {}", place.text));
    let gain = finding.gain.as_ref().map_or_else(String::new, |gain| format!("; gain: {}", gain.text));
    format!("{lost} ({share}) {}{place}{gain}", part_in_words(finding, true))
}
