//! Workers wait for a coordinator that needs long for each request.

use lbprof_analysis::model::what_if::WhatIfScenario;

use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::LossParts;
use crate::findings::{coordinator, gain};
use crate::phrases::ranks::cluster_ranks;
use crate::words::format_seconds;

/// Detects that the judged ranks wait for the work of a coordinator.
pub fn find_busy_coordinator(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = parts.coordinator.as_ref().filter(|found| !found.sleeps_between_polls)?;
    let waiting = report.verdict.cluster.as_ref().map_or_else(|| "the others".to_owned(), cluster_ranks);
    let what = if found.answers { "request" } else { "message" };
    let each = match found.messages {
        0 => String::new(),
        n => format!(", which needs {} for each {what}", format_seconds(found.computation_s / n as f64)),
    };
    let other_way = match found.answers {
        true => "hand out several tasks at once, or let two ranks coordinate",
        false => "send less often, or let two ranks receive",
    };
    Some(Finding {
        ranks: vec![found.rank],
        place: Some(coordinator::coordinator_place(report, found)),
        gain: gain::of_prediction(report, |row| {
            row.rank == Some(found.rank)
                && matches!(row.scenario, WhatIfScenario::RankFaster(_, times) if times.is_finite())
        }),
        advice: Some(FindingAdvice::Try(format!(
            "make the work of rank {} for each {what} shorter, {other_way}",
            found.rank
        ))),
        evidence: vec![("computation_s", found.computation_s), ("messages", found.messages as f64)],
        ..Finding::part(
            "busy coordinator",
            parts.coordinator_s,
            FindingCause::Because(format!("{waiting} wait for rank {}{each}", found.rank)),
        )
    })
}
