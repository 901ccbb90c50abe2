//! Time in MPI calls of no kind that has a finding of its own.

use super::messages;
use crate::Report;
use crate::findings::shared::amounts::may_compute;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};

/// Detects that time is lost to communication.
pub fn find_communication_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let advice = match may_compute(report) {
        true => {
            "whether the reduction is a function of the program (MPI_Op_create): it computes within the call, and a faster network will not help"
        }
        false => "how often this call is needed, and whether ranks could compute meanwhile (nonblocking calls)",
    };
    let found = messages::message_finding(report, parts, "communication", "communication");
    let cause = match report.has_unrecorded_partners() {
        true => FindingCause::To("communication, and to waiting for processes that were not recorded", String::new()),
        false => found.cause.clone(),
    };
    Some(Finding { cause, advice: messages::certain_advice(report, FindingAdvice::LookAt(advice.to_owned())), ..found })
}
