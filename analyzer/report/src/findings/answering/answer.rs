//! The answer of the first screen in words: one sentence, then where, what would be gained, what to try, and notes.

use serde::Serialize;

use super::notes;
use crate::Report;
use crate::findings::phrases::ranks::{
    capitalize_text, cluster_ranks, efficiency_of_unclear_polls, percent_range, short_percent,
};
use crate::findings::shared::gain;
use crate::losses::finding::{Finding, FindingCause, FindingSubject};
use crate::rows::words::{format_percent, format_plural};
use lbprof_thresholds::wording::{MIN_ONLY_PART_OF_LOSS, MIN_OTHER_LOSS, MIN_SECOND_PART_OF_LOSS};

/// The answer in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerText {
    /// The loss and its reason, in a sentence.
    pub sentence: String,
    /// Lines that support it, in the order of the first screen.
    pub lines: Vec<AnswerLine>,
}

/// A line after the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerLine {
    /// Subject of the line: `where`: places in the program, and calls; `gain`: what a change saves, by replay, or why none is predicted; `try`: a change that helps for sure; `look at`: changes that
    /// may help; `note`: a doubt, or what else must be known.
    pub label: &'static str,
    /// Its words.
    pub text: String,
}

impl AnswerText {
    /// Returns the answer to a run.
    pub fn new(report: &Report) -> AnswerText {
        let figures = figures_in_words(report);
        let Some(answer) = report.findings.first() else { return AnswerText { sentence: figures, lines: Vec::new() } };
        let place = answer.place.as_ref().map(|place| ("where", place.text.clone()));
        let gain = answer.gain.as_ref().map(|gain| gain.text.clone());
        let gain = gain.or_else(|| Some(format!("not predicted: {}", gain::why_not_predicted(report, answer)?)));
        let gain = gain.map(|text| ("gain", text));
        let advice = answer.advice.as_ref().map(|advice| {
            let (label, text) = advice.label_and_text();
            (label, text.to_owned())
        });
        let notes = notes::note_lines(report, answer, &figures).into_iter().map(|text| ("note", text));
        let lines = place.into_iter().chain(gain).chain(advice).chain(notes);
        let sentence = match &answer.cause {
            // It says itself what is missing.
            FindingCause::Sentence(sentence) if answer.subject == FindingSubject::End => sentence.clone(),
            FindingCause::Sentence(sentence) => format!("{}{sentence}", of_what(report)),
            _ => format!("{}{figures}", of_what(report)),
        };
        AnswerText { sentence, lines: lines.map(|(label, text)| AnswerLine { label, text }).collect() }
    }

    /// Returns the answer as one text.
    pub fn in_one_line(&self) -> String {
        let lines = self.lines.iter().map(|line| {
            let end = if line.text.ends_with(['.', '!', '?']) { "" } else { "." };
            format!(" {}: {}{end}", capitalize_text(line.label), line.text)
        });
        std::iter::once(self.sentence.clone()).chain(lines).collect()
    }
}

/// Returns the answer of a report as one text.
pub fn answer_in_words(report: &Report) -> String {
    AnswerText::new(report).in_one_line()
}

/// Returns the findings that the answer names, whatever the run's condition: the first one, and the next if that is a part worth naming.
pub fn named_findings(report: &Report) -> (Option<&Finding>, Option<&Finding>) {
    let mut findings = report.findings.iter().filter(|one| one.before_figures.is_none());
    let Some(first) = findings.next() else { return (None, None) };
    let second = findings.find(|one| one.is_part()).filter(|second| {
        let is_all = first.seconds >= MIN_ONLY_PART_OF_LOSS * report.verdict.lost_s;
        first.is_part() && !is_all && share_of_time(report, second) >= MIN_SECOND_PART_OF_LOSS
    });
    (Some(first), second)
}

/// Returns the sentence that the figures give, whatever the run's condition: the total once, and each part as a part.
fn figures_in_words(report: &Report) -> String {
    let (Some(first), second) = named_findings(report) else { return String::new() };
    let share = share_of_time(report, first);
    // The total is larger than what the sentence gives a cause for.
    let is_only_part = report.verdict.lost_share.unwrap_or(0.0) - share >= MIN_OTHER_LOSS;
    match &first.cause {
        FindingCause::Sentence(sentence) => sentence.clone(),
        _ if second.is_some() || is_only_part => {
            let first = format!("{} {}", short_percent(share), part_in_words(first, true));
            let second = second.map_or_else(String::new, |second| {
                format!("; {} {}", short_percent(share_of_time(report, second)), part_in_words(second, false))
            });
            format!("{}: {first}{second}.", how_much(report))
        }
        FindingCause::Because(because) => format!("{}: {because}.", how_much(report)),
        FindingCause::To(what, how) if how.is_empty() => format!("{} to {what}.", how_much(report)),
        FindingCause::To(what, how) => format!("{} to {what}: {how}.", how_much(report)),
    }
}

/// Returns a part of what is lost after its share: `because rank 1 has twice the average work`, `to communication`; `is_whole`: with what is known of it.
pub fn part_in_words(finding: &Finding, is_whole: bool) -> String {
    match &finding.cause {
        FindingCause::Sentence(sentence) => sentence.clone(),
        FindingCause::Because(because) => format!("because {because}"),
        FindingCause::To(what, how) if is_whole && !how.is_empty() => format!("to {what} ({how})"),
        FindingCause::To(what, _) => format!("to {what}"),
    }
}

/// Returns the share of the recorded time that a finding explains.
pub fn share_of_time(report: &Report, finding: &Finding) -> f64 {
    crate::fraction_of(finding.seconds, report.verdict.elapsed_s)
}

/// Returns the words of a finding by itself: a sentence, or its share and cause.
pub fn finding_in_words(report: &Report, finding: &Finding) -> String {
    match &finding.cause {
        FindingCause::Sentence(sentence) => sentence.clone(),
        _ => format!(
            "{} of the time is lost {}.",
            short_percent(share_of_time(report, finding)),
            part_in_words(finding, true)
        ),
    }
}

/// The part of the run that the figures describe, if data are missing, as the start of a sentence.
fn of_what(report: &Report) -> String {
    let data = &report.data;
    let all = format_plural(u64::from(report.facts.n_ranks), "rank");
    let mut missing = Vec::new();
    if u64::from(data.ranks_present) < data.ranks_recorded {
        missing.push(format!("logs of {} of {}", data.ranks_present, format_plural(data.ranks_recorded, "rank")));
    }
    if data.unknown_share > 0.005 {
        missing.push(format!("{} of the time unknown", format_percent(data.unknown_share)));
    }
    if data.dropped_events > 0 {
        missing.push(format!("{} dropped", format_plural(data.dropped_events, "event")));
    }
    match (data.complete, missing.is_empty()) {
        (true, _) if data.ranks_recorded < u64::from(report.facts.n_ranks) => {
            format!("Of {} of {all}: ", data.ranks_recorded)
        }
        (true, _) => String::new(),
        (false, true) => "From incomplete data (see below): ".to_owned(),
        (false, false) => format!("From incomplete data ({}): ", missing.join(", ")),
    }
}

/// The lost share of the time: `Half of the time (50 %) is lost`; where it is not known, between which shares: `10 % to 72 % of the time is lost`.
fn how_much(report: &Report) -> String {
    let share = report.verdict.lost_share.unwrap_or(0.0);
    if let Some((least, most)) = efficiency_of_unclear_polls(report) {
        let range = percent_range(1.0 - most, 1.0 - least);
        return format!(
            "{range} of the time is lost (it is not clear whether ranks compute or wait between their polls)"
        );
    }
    let per_cent = short_percent(share);
    let named = [
        (0.25, "A quarter"),
        (1.0 / 3.0, "A third"),
        (0.5, "Half"),
        (2.0 / 3.0, "Two thirds"),
        (0.75, "Three quarters"),
    ];
    let named = named.into_iter().find(|(part, _)| (share - part).abs() < 0.012);
    let whose =
        report.verdict.cluster.as_ref().map_or_else(String::new, |cluster| format!(" of {}", cluster_ranks(cluster)));
    match named {
        Some((_, words)) => format!("{words} of the time{whose} ({per_cent}) is lost"),
        None => format!("{per_cent} of the time{whose} is lost"),
    }
}
