//! The basis and the limits of a first look, which shows less than all events.

use anstyle::{AnsiColor, Style};

use crate::Report;
use crate::rows::words::{format_count, format_plural, wrap_text};
use crate::text::TextOptions;
use lbprof_analysis::model::run::summary::SummaryFacts;

pub(in crate::text) fn first_look_section(report: &Report, options: &TextOptions) -> String {
    const STYLE: Style = AnsiColor::Yellow.on_default().bold();
    let Some(facts) = &report.facts.summary else { return String::new() };
    let text =
        [source_sentence(facts), reason_sentence(facts), missing_sentence(facts), without_iterations(facts)].concat();
    format!("{STYLE}{}{STYLE:#}\n\n", wrap_text(&text, options.columns, 2))
}

fn source_sentence(facts: &SummaryFacts) -> String {
    match (facts.ranks_from_summaries, facts.ranks_from_events) {
        (0, _) => "First look: the sums of all events, because the logs have no summaries.".to_owned(),
        (n, 0) => format!("First look: from the summaries of {}.", format_plural(n.into(), "rank")),
        (n, others) => format!(
            "First look: from the summaries of {}, and the events of {} without a usable summary.",
            format_plural(n.into(), "rank"),
            format_plural(others.into(), "rank")
        ),
    }
}

fn reason_sentence(facts: &SummaryFacts) -> String {
    let estimate = &facts.estimate;
    match facts.asked {
        true => String::new(),
        false => format!(
            " The analysis of all {} records would take about {:.0} s; --summary=no makes it.",
            format_count(estimate.records),
            estimate.estimated_s
        ),
    }
}

fn missing_sentence(facts: &SummaryFacts) -> String {
    let of_events = match facts.ranks_from_summaries {
        0 => "",
        _ => ", serial work, functions, loops and regions that are not marked",
    };
    let how = if facts.asked { " (leave out --summary for them)" } else { "" };
    format!(" Not analysed: causes of waiting, critical path, predictions{of_events}{how}.")
}

fn without_iterations(facts: &SummaryFacts) -> String {
    match facts.ranks_without_iterations {
        0 => String::new(),
        n => format!(
            " The summaries of {} have no iterations, because there were too many: nothing is known by iteration, nor micro load balance.",
            format_plural(n.into(), "rank")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbprof_analysis::read::first_look::AnalysisEstimate;

    #[test]
    fn a_first_look_says_what_it_is_made_from_and_what_it_lacks() {
        let estimate = AnalysisEstimate { records: 180_000_000, estimated_s: 120.0 };
        let facts = SummaryFacts { estimate, ranks_from_summaries: 3, ranks_from_events: 1, ..SummaryFacts::default() };
        assert_eq!(
            [source_sentence(&facts), reason_sentence(&facts)].concat(),
            "First look: from the summaries of 3 ranks, and the events of 1 rank without a usable summary. The analysis of all 180,000,000 records \
             would take about 120 s; --summary=no makes it."
        );
        assert!(missing_sentence(&facts).contains("causes of waiting, critical path, predictions, serial work"));
        let asked = SummaryFacts { asked: true, ranks_from_summaries: 0, ..facts };
        assert_eq!(reason_sentence(&asked), "");
        assert!(missing_sentence(&asked).ends_with("predictions (leave out --summary for them)."));
        assert!(without_iterations(&SummaryFacts { ranks_without_iterations: 2, ..facts }).contains("of 2 ranks have"));
    }
}
