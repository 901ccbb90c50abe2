//! Writes the answer.

use anstyle::{AnsiColor, Style};

use super::{DIM, TextOptions};
use crate::Report;
use crate::findings::{AnswerText, FindingTone};
use crate::words::wrap;

/// Columns of a line's label, the margin included.
const LABEL: usize = 11;

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let colour = match report.findings.first().map(|answer| answer.tone) {
        Some(FindingTone::Good) => AnsiColor::Green,
        Some(FindingTone::Bad) => AnsiColor::Red,
        Some(FindingTone::Unclear) | None => AnsiColor::Yellow,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let answer = AnswerText::new(report);
    let sentence = wrap(&answer.sentence, options.columns, 0);
    let mut text = format!("{style}{sentence}{style:#}\n");
    for line in &answer.lines {
        let label = format!("{:<width$}", line.label, width = LABEL - 2);
        let words = wrap(&line.text, options.columns - LABEL, 0).replace('\n', &format!("\n{:LABEL$}", ""));
        text.push_str(&format!("  {DIM}{label}{DIM:#}{words}\n"));
    }
    text.push('\n');
    text
}
