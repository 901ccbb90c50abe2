//! Ranks sleep between the polls with which they ask for a message that lies there.

use lbprof_thresholds::verdict::MAX_TIME_OF_SMALL_MESSAGE_S;

use super::messages;
use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::coordinator::{advice_on_sleep, is_asleep_between_polls, is_poll};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingCause};
use crate::rows::words::format_seconds;

/// Detects that most of the time in calls passes between polls in which ranks sleep. An ideal network would save it, so that no other rank's work is waited for:
/// the messages are there.
pub fn find_sleeping_polls(report: &Report, parts: &LossParts) -> Option<Finding> {
    let at = report.loss_facts.communication.as_ref()?.at.as_ref().filter(|at| is_poll(&at.operation))?;
    let amounts = parts.amounts.as_ref()?;
    // A poll does not wait, and takes no longer than a message: the rest is the time to the next one.
    let is_long = amounts.seconds_each > MAX_TIME_OF_SMALL_MESSAGE_S;
    let is_asleep = amounts.callers.iter().all(|&rank| is_asleep_between_polls(report, rank));
    if !is_long || !is_asleep || report.has_unrecorded_partners() {
        return None;
    }
    let ranks = &amounts.callers;
    let (sleep, their) = if ranks.len() > 1 { ("sleep", "their") } else { ("sleeps", "its") };
    let because = format!(
        "{} {sleep} between {their} polls while messages wait there (a call of MPI_{} in {})",
        named_ranks(ranks),
        at.operation,
        format_seconds(amounts.seconds_each)
    );
    Some(Finding {
        ranks: ranks.clone(),
        gain: gain::at_most(report, parts.calls_s, "if they did not sleep"),
        advice: messages::certain_advice(report, advice_on_sleep()),
        cause: FindingCause::Because(because),
        ..messages::message_finding(report, parts, "sleeping polls", "")
    })
}
