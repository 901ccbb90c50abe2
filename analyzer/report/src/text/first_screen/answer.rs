//! Writes the answer.

use anstyle::{AnsiColor, Style};

use crate::Report;
use crate::findings::{AnswerText, FindingTone};
use crate::rows::words::wrap_text;
use crate::text::{DIM, TextOptions};

/// Width of a label with its margin.
const LABEL: usize = 11;

/// Maximum number of lines of notes on the first screen.
const MAX_NOTE_LINES: usize = 2;

pub(in crate::text) fn answer_section(report: &Report, options: &TextOptions) -> String {
    let colour = match report.findings.first().map(|answer| answer.tone) {
        Some(FindingTone::Good) => AnsiColor::Green,
        Some(FindingTone::Bad) => AnsiColor::Red,
        Some(FindingTone::Unclear) | None => AnsiColor::Yellow,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let answer = AnswerText::new(report);
    let sentence = wrap_text(&answer.sentence, options.columns, 0);
    let mut text = format!("{style}{sentence}{style:#}\n");
    let mut note_lines = 0;
    for line in &answer.lines {
        let label = format!("{:<width$}", line.label, width = LABEL - 2);
        let mut words = wrap_text(&line.text, options.columns - LABEL, 0);
        if line.label == "note" && options.first_screen {
            words = first_lines(&words, options.columns - LABEL);
            note_lines += words.lines().count();
            if note_lines > MAX_NOTE_LINES {
                continue;
            }
        }
        let words = words.replace('\n', &format!("\n{:LABEL$}", ""));
        text.push_str(&format!("  {DIM}{label}{DIM:#}{words}\n"));
    }
    text.push('\n');
    text
}

/// Returns the first two lines of a text, with an ellipsis if more follow.
pub(in crate::text) fn first_lines(words: &str, columns: usize) -> String {
    let lines: Vec<&str> = words.lines().collect();
    match lines.as_slice() {
        [first, second, _, ..] => {
            let kept: String = second.chars().take(columns.saturating_sub(2)).collect();
            format!("{first}\n{} …", kept.trim_end())
        }
        _ => words.to_owned(),
    }
}
