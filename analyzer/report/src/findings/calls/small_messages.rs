//! Many small messages.

use lbprof_thresholds::verdict::{MAX_BYTES_OF_SMALL_MESSAGE, MAX_TIME_OF_SMALL_MESSAGE_S, MIN_MANY_CALLS};

use super::messages;
use crate::Report;
use crate::finding::{Finding, FindingAdvice};
use crate::findings::loss_parts::LossParts;

/// Detects that time in calls is that of many small messages.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    let amounts = messages::amounts(report).filter(|_| parts.calls_s > 0.0)?;
    let is_small = amounts.bytes_each < MAX_BYTES_OF_SMALL_MESSAGE;
    let is_many = amounts.calls_each >= MIN_MANY_CALLS;
    // Besides waiting for other ranks. What takes longer is no matter of the message itself.
    let each_s = parts.calls_s / amounts.calls_each as f64;
    let is_many = is_many && each_s <= MAX_TIME_OF_SMALL_MESSAGE_S;
    (is_small && is_many && amounts.carries_data && !report.has_unrecorded_partners()).then(|| Finding {
        advice: messages::advice(
            report,
            FindingAdvice::Try("put several messages into one, so that there are fewer calls".to_owned()),
        ),
        ..messages::finding(report, parts, "small messages", "many small messages")
    })
}
