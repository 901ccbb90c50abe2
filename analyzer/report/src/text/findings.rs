//! Writes the findings that the answer has not named, a line each.

use std::fmt::Write;

use super::{BOLD, DIM, TextOptions};
use crate::Report;
use crate::findings::{named_findings, part_in_words, share_of_time};
use crate::phrases::ranks::short_percent;
use crate::words::{clean, shorten};
use lbprof_thresholds::verdict::MIN_LOSS;

/// Most findings that are listed.
const MAX_LISTED: usize = 3;

/// Columns of a share, the margin included.
const SHARE: usize = 11;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let (first, second) = named_findings(report);
    let others = report.findings.iter().filter(|one| {
        let is_named = [first, second].into_iter().flatten().any(|named| std::ptr::eq(named, *one));
        one.is_part() && !is_named && share_of_time(report, one) >= MIN_LOSS
    });
    let mut text = String::new();
    for finding in others.take(MAX_LISTED) {
        let place = finding.place.as_ref().map_or_else(String::new, |place| format!("; {}", place.text));
        let words = format!("{}{}", part_in_words(finding, false), clean(&place));
        let share = short_percent(share_of_time(report, finding));
        writeln!(text, "  {share:<width$}{}", shorten(&words, options.columns - SHARE), width = SHARE - 2).ok();
    }
    match text.is_empty() {
        true => text,
        false => format!("{BOLD}Also lost{BOLD:#}  {DIM}of the mean rank's time{DIM:#}\n{text}"),
    }
}
