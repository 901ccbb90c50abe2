//! Workers wait for a coordinator that needs long for each request.

use crate::Report;
use crate::findings::phrases::ranks::{cluster_ranks, named_ranks};
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{coordinator, gain};
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};
use crate::rows::words::{format_seconds, seconds_like};

/// Detects that the judged ranks wait for the work of a coordinator.
pub fn find_busy_coordinator(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = parts.coordinator.as_ref().filter(|found| !found.sleeps_between_polls)?;
    let waiting = report.verdict.cluster.as_ref().map_or_else(|| "the others".to_owned(), cluster_ranks);
    let what = found.unit();
    let named = named_ranks(&found.ranks);
    let [need, run, compute, its] = match found.ranks.len() > 1 {
        true => ["need", "run", "compute", "their"],
        false => ["needs", "runs", "computes", "its"],
    };
    let each = match found.messages {
        0 => format!(
            ", which {run} code of {its} own and {compute} {}",
            seconds_like(found.computation_s, report.verdict.elapsed_s)
        ),
        n => format!(", which {need} {} for each {what}", format_seconds(found.computation_s / n as f64)),
    };
    let change = match (found.polls, found.answers) {
        (true, _) => {
            format!("let {named} look for messages more often in {its} work, or answer them from another thread")
        }
        (false, true) => format!(
            "shorten the work of {named} for each request, hand out several tasks at once, or let more ranks coordinate"
        ),
        (false, false) => {
            format!("shorten the work of {named} for each message, send less often, or let two ranks receive")
        }
    };
    let is_for_messages = found.messages != 0;
    let advice = match is_for_messages {
        true => FindingAdvice::Try(change),
        false => FindingAdvice::LookAt(format!("whether {waiting} can take a part of {its} work")),
    };
    Some(Finding {
        ranks: found.ranks.clone(),
        place: Some(coordinator::coordinator_place(report, found)),
        gain: if is_for_messages { gain::of_coordinator(report, found) } else { None },
        advice: Some(advice),
        evidence: vec![("computation_s", found.computation_s), ("messages", found.messages as f64)],
        ..Finding::part(
            "busy coordinator",
            parts.coordinator_s,
            FindingCause::Because(format!("{waiting} wait for {named}{each}")),
        )
    })
}
