//! Facts about the data, in a sentence at the end.

use lbprof_collector::ProblemKind;

use crate::Report;
use crate::rows::words::{format_count, format_plural, format_seconds, shorten_text, wrap_text};
use crate::run::data::DataFacts;
use crate::text::{DIM, TextOptions};
use lbprof_analysis::model::PollTimes;

pub(in crate::text) fn data_section(report: &Report, options: &TextOptions) -> String {
    let data = &report.data;
    let n_ranks = u64::from(report.facts.n_ranks);
    let mut parts = vec![format!("{} of {}", data.ranks_present, format_plural(n_ranks, "rank"))];
    if report.facts.selected.ranks.is_some() {
        parts.push(format!("{} selected", format_count(data.ranks_recorded)));
    } else if data.ranks_recorded < n_ranks {
        parts.push(format!("{} recorded (LBPROF_RANKS)", data.ranks_recorded));
    }
    if options.first_screen {
        parts.push(format_plural(data.events, "event"));
    } else {
        parts.push(format!("{}, {} of MPI", format_plural(data.events, "event"), format_plural(data.calls, "call")));
    }
    parts.push(match data.dropped_events {
        0 => "none dropped".to_owned(),
        n => format!("{} dropped", format_count(n)),
    });
    let (took, share) = (format_seconds(data.recorder_s), 100.0 * data.recorder_share);
    if options.first_screen {
        parts.push(format!("writing the logs took {share:.2} %"));
        return format!("{DIM}{}{DIM:#}\n", shorten_text(&format!("Data: {}", parts.join("; ")), options.columns));
    }
    parts.push(format!("writing the logs took {took} ({share:.2} %)"));
    parts.extend(cost_in_calls(data));
    parts.push(match (report.facts.common_clock, report.facts.clock_error_s) {
        (true, Some(error)) if error > 0.0 => format!("clocks agree within {}", format_seconds(error)),
        (true, _) => "one clock".to_owned(),
        (false, _) => "clocks of hosts unknown".to_owned(),
    });
    let polls = &data.polls;
    if polls.waits > 0 {
        parts.push(poll_facts(polls));
    }
    let preempted = report.problems.iter().find(|problem| problem.kind == ProblemKind::Preempted);
    if let Some(problem) = preempted {
        parts.push(format!("{} preempted", format_plural(problem.ranks.len() as u64, "rank")));
    }
    format!("{DIM}{}{DIM:#}\n", wrap_text(&format!("Data: {}", parts.join("; ")), options.columns, 6))
}

/// Describes the recorder's cost besides writing logs, if samples show it.
fn cost_in_calls(data: &DataFacts) -> Option<String> {
    let (cost_s, error_s) = data.recorder_in_calls_s.zip(data.recorder_in_calls_error_s)?;
    let whole_s = data.elapsed_s * f64::from(data.ranks_present);
    (cost_s > 0.0 && whole_s > 0.0).then(|| {
        let [cost, error] = [cost_s, error_s].map(|part_s| 100.0 * part_s / whole_s);
        format!("recording calls took {} ({cost:.2} ± {error:.2} %)", format_seconds(cost_s))
    })
}

/// Describes polls by sums over all of them, not by the time between two.
fn poll_facts(polls: &PollTimes) -> String {
    let [found_nothing, waits] = [format_plural(polls.polls, "unsuccessful poll"), format_plural(polls.waits, "wait")];
    let between = [(polls.waiting_s, "waiting"), (polls.computation_s, "computation")];
    let between = between.iter().filter(|(sum_s, _)| *sum_s > 0.0);
    let between: Vec<String> = between.map(|(sum_s, what)| format!("{} of {what}", format_seconds(*sum_s))).collect();
    match between.is_empty() {
        true => format!("{found_nothing} ({waits})"),
        false => format!("{found_nothing} ({waits}), in total {} between polls", between.join(" and ")),
    }
}
