//! Large messages that were started in time and are waited for: they may move in MPI calls alone.

use lbprof_thresholds::verdict::MIN_BYTES_OF_LARGE_MESSAGE;

use super::messages;
use crate::Report;
use crate::finding::{Finding, FindingAdvice};
use crate::findings::loss_parts::LossParts;

/// Detects that ranks wait for large messages that were started before.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    let amounts = parts.amounts.as_ref()?;
    let is_large = amounts.bytes_each >= MIN_BYTES_OF_LARGE_MESSAGE;
    (is_large && amounts.completes && !report.has_unrecorded_partners()).then(|| Finding {
        advice: messages::certain_advice(
            report,
            FindingAdvice::LookAt(
                "whether messages move while ranks compute: many MPI libraries move large ones in MPI calls alone; an MPI_Test in the middle of the \
                 computation, or the library's progress thread, shows"
                    .to_owned(),
            ),
        ),
        ..messages::message_finding(report, parts, "late progress", "waiting for large messages that were started before")
    })
}
