//! Workers wait for a coordinator that sleeps between its polls, while their messages lie there.

use lbprof_analysis::model::what_if::WhatIfScenario;

use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause, FindingGain};
use crate::findings::loss_parts::LossParts;
use crate::findings::{coordinator, gain};
use crate::phrases::ranks::cluster_ranks;

/// Detects that the judged ranks wait for a coordinator that sleeps.
pub fn find_sleeping_coordinator(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = parts.coordinator.as_ref().filter(|found| found.sleeps_between_polls)?;
    let waiting = report.verdict.cluster.as_ref().map_or_else(|| "the others".to_owned(), cluster_ranks);
    let because =
        format!("rank {} sleeps between its polls while messages lie there, and {waiting} wait for it", found.rank);
    Some(Finding {
        ranks: vec![found.rank],
        place: Some(coordinator::coordinator_place(report, found)),
        gain: gain::of_prediction(report, |row| {
            row.rank == Some(found.rank)
                && matches!(row.scenario, WhatIfScenario::RankFaster(_, times) if !times.is_finite())
        })
        .or_else(|| of_prompt_answers(report)),
        advice: Some(FindingAdvice::Try(
            "wait for messages in MPI (MPI_Probe, MPI_Recv, MPI_Waitany) instead of polling and sleeping".to_owned(),
        )),
        evidence: vec![("computation_s", found.computation_s)],
        ..Finding::part("sleeping coordinator", parts.coordinator_s, FindingCause::Because(because))
    })
}

/// Returns the gain if messages did not lie there. The replay takes that time for the network's.
fn of_prompt_answers(report: &Report) -> Option<FindingGain> {
    let ideal = report.what_if.rows.iter().find(|row| row.scenario == WhatIfScenario::Ideal)?;
    gain::at_most(report, ideal.saved_share * report.data.elapsed_s, "if each message were taken at once")
}
