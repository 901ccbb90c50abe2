//! Workers wait for a coordinator that sleeps between its polls, while their messages lie there.

use crate::Report;
use crate::findings::phrases::ranks::{cluster_ranks, named_ranks};
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{coordinator, gain};
use crate::losses::finding::{Finding, FindingCause};

/// Detects that the judged ranks wait for a coordinator that sleeps.
pub fn find_sleeping_coordinator(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = parts.coordinator.as_ref().filter(|found| found.sleeps_between_polls)?;
    let waiting = report.verdict.cluster.as_ref().map_or_else(|| "the others".to_owned(), cluster_ranks);
    let (named, are_many) = (named_ranks(&found.ranks), found.ranks.len() > 1);
    let (sleeps, its, it) = if are_many { ("sleep", "their", "them") } else { ("sleeps", "its", "it") };
    let because =
        format!("{named} {sleeps} between {its} polls while messages wait there, and {waiting} wait for {it}");
    Some(Finding {
        ranks: found.ranks.clone(),
        place: Some(coordinator::coordinator_place(report, found)),
        gain: gain::of_coordinator(report, found),
        advice: Some(coordinator::advice_on_sleep()),
        evidence: vec![("computation_s", found.computation_s)],
        ..Finding::part("sleeping coordinator", parts.coordinator_s, FindingCause::Because(because))
    })
}
