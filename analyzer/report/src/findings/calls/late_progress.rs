//! Large messages and collectives that were started in time and are waited for: they may move in MPI calls alone.

use lbprof_thresholds::verdict::MIN_BYTES_OF_LARGE_MESSAGE;

use super::messages;
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that ranks wait for large messages, or for collectives, that were started before.
pub fn find_late_progress(report: &Report, parts: &LossParts) -> Option<Finding> {
    let amounts = parts.amounts.as_ref().filter(|amounts| amounts.completes)?;
    let is_large = amounts.bytes_each >= MIN_BYTES_OF_LARGE_MESSAGE;
    // A call that completes a collective has no bytes of its own.
    let is_of_collectives =
        !amounts.carries_data && report.call_sites.iter().any(|row| starts_collective(&row.operation));
    if !(is_large || is_of_collectives) || report.has_unrecorded_partners() {
        return None;
    }
    let (to, what) = match is_large {
        true => ("waiting for large messages that were started before", "messages"),
        false => ("waiting for collectives that were started before", "collectives"),
    };
    let advice = format!(
        "whether {what} progress while ranks compute: many MPI libraries move data in MPI calls alone; an MPI_Test in the middle of the computation, or \
         the library's progress thread, shows"
    );
    Some(Finding {
        advice: messages::certain_advice(report, FindingAdvice::LookAt(advice)),
        ..messages::message_finding(report, parts, "late progress", to)
    })
}

/// Returns whether an operation starts a collective that another call completes.
fn starts_collective(operation: &str) -> bool {
    const COLLECTIVES: [&str; 6] = ["bcast", "gather", "scatter", "alltoall", "reduce", "scan"];
    operation.starts_with('I') && COLLECTIVES.iter().any(|name| operation.contains(name))
}
