//! No rank computes, or nothing is known.

use crate::Report;
use crate::losses::finding::{Finding, FindingTone};

/// Detects that there is nothing to balance.
pub fn find_idle_program(report: &Report) -> Option<Finding> {
    let sentence = match report.ranks.is_empty() || report.data.unknown_share > 0.5 {
        true => return report.verdict.is_of_nothing().then(describe_unknown_calls),
        false => "No rank computes between MPI_Init and MPI_Finalize: there is nothing to balance.",
    };
    report.verdict.is_of_nothing().then(|| Finding::of_whole("nothing", FindingTone::Unclear, sentence.to_owned()))
}

/// Returns the statement that nothing is known.
pub fn describe_unknown_calls() -> Finding {
    Finding::of_whole("nothing", FindingTone::Unclear, "Nothing is known of most of the time.".to_owned())
}
