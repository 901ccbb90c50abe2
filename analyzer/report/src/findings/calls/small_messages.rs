//! Many small messages.

use lbprof_thresholds::verdict::{MAX_BYTES_OF_SMALL_MESSAGE, MAX_TIME_OF_SMALL_MESSAGE_S, MIN_MANY_CALLS};

use super::messages;
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that ranks spend their time in calls on many small messages.
pub fn find_small_messages(report: &Report, parts: &LossParts) -> Option<Finding> {
    let amounts = parts.amounts.as_ref()?;
    let is_small = amounts.bytes_each < MAX_BYTES_OF_SMALL_MESSAGE;
    let is_many = amounts.calls_each >= MIN_MANY_CALLS;
    // Time besides waiting for other ranks. A message itself takes no longer.
    let each_s = parts.calls_s / amounts.calls_each as f64;
    let is_many = is_many && each_s <= MAX_TIME_OF_SMALL_MESSAGE_S;
    (is_small && is_many && amounts.carries_data && !report.has_unrecorded_partners()).then(|| Finding {
        advice: messages::certain_advice(
            report,
            FindingAdvice::Try("put several messages into one, so that there are fewer calls".to_owned()),
        ),
        ..messages::message_finding(report, parts, "small messages", "many small messages")
    })
}
