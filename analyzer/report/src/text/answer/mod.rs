//! The answer of the first screen: one sentence, then where, what would be gained, what to try, and notes.

mod advice;
mod end;
mod gain;
mod line;
mod notes;
mod phrases;
mod place;
mod sentence;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

pub use self::line::{AnswerLabel, AnswerLine};
use self::phrases::capitalized;
use super::{DIM, TextOptions};
use crate::Report;
use crate::situation::RunSituation;
use crate::words::wrap;

/// Columns of a line's label, the margin included.
const LABEL: usize = 11;

/// The answer in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerText {
    /// The loss and its reason, in a sentence.
    pub sentence: String,
    /// Lines that support it, in the order of the first screen.
    pub lines: Vec<AnswerLine>,
}

impl AnswerText {
    /// Returns the answer to a run.
    pub fn new(report: &Report) -> AnswerText {
        let situation = RunSituation::new(report);
        let mut lines = Vec::new();
        lines.extend(place::line(report, situation));
        lines.extend(gain::line(report, situation));
        lines.extend(advice::line(report, situation));
        lines.extend(notes::lines(report, situation).into_iter().map(|text| AnswerLine::new(AnswerLabel::Note, text)));
        AnswerText { sentence: sentence::sentence(report, situation), lines }
    }

    /// Returns the answer as one text.
    pub fn in_one_line(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let end = if line.text.ends_with(['.', '!', '?']) { "" } else { "." };
            format!(" {}: {}{end}", capitalized(line.label.word()), line.text)
        });
        std::iter::once(self.sentence.clone()).chain(lines).collect()
    }
}

/// Returns the answer of a report as one text.
pub fn answer_in_words(report: &Report) -> String {
    AnswerText::new(report).in_one_line()
}

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    use RunSituation::{
        Asleep, Balanced, FewCalls, MasterAndWorkers, NoCores, Nothing, OneRank, StillRunning, UnclearPolls,
    };
    let colour = match RunSituation::new(report) {
        Balanced | MasterAndWorkers => AnsiColor::Green,
        Asleep | FewCalls | NoCores | Nothing | OneRank | StillRunning | UnclearPolls => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let answer = AnswerText::new(report);
    let sentence = wrap(&answer.sentence, options.columns, 0);
    let mut text = format!("{style}{sentence}{style:#}\n");
    for line in &answer.lines {
        let label = format!("{:<width$}", line.label.word(), width = LABEL - 2);
        let words = wrap(&line.text, options.columns - LABEL, 0).replace('\n', &format!("\n{:LABEL$}", ""));
        text.push_str(&format!("  {DIM}{label}{DIM:#}{words}\n"));
    }
    text.push('\n');
    text
}
