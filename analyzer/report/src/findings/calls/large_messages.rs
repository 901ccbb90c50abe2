//! Large messages.

use lbprof_thresholds::verdict::MIN_BYTES_OF_LARGE_MESSAGE;

use super::messages;
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that ranks spend their time in calls on large messages.
pub fn find_large_messages(report: &Report, parts: &LossParts) -> Option<Finding> {
    let amounts = parts.amounts.as_ref()?;
    let is_large = amounts.bytes_each >= MIN_BYTES_OF_LARGE_MESSAGE;
    (is_large && !report.has_unrecorded_partners()).then(|| Finding {
        advice: messages::certain_advice(
            report,
            FindingAdvice::LookAt(
                "whether less data would do, and whether it can move while ranks compute (MPI_Isend, MPI_Irecv, nonblocking collectives)"
                    .to_owned(),
            ),
        ),
        ..messages::message_finding(report, parts, "large messages", "moving large messages")
    })
}
