//! Workers wait for the last tasks of one of them, because no tasks are left.

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{factor_in_words, waiting_ranks};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};
use crate::rows::words::seconds_like;

/// Detects that no tasks are left while a rank still works on its last one.
pub fn find_awaited_last_task(report: &Report, parts: &LossParts) -> Option<Finding> {
    let task = report.awaited_task?;
    let when = if task.rounds > 1 { "whenever no tasks are left" } else { "at the end" };
    let long = match task.is_long() {
        true => format!(", {} as long as the average task", factor_in_words(task.task_s / task.mean_task_s)),
        false => String::new(),
    };
    let length = seconds_like(task.task_s, report.verdict.elapsed_s);
    let (ranks, wait) = waiting_ranks(report, &[task.rank]);
    let because = format!("{when} {ranks} {wait} for the last task of rank {}, which takes {length}{long}", task.rank);
    // No order of tasks makes a run shorter than one of them.
    let most_by_order_s = report.verdict.elapsed_s - task.task_s;
    let advice = match (task.is_long(), most_by_order_s < report.verdict.imbalance_s) {
        (true, true) => format!(
            "divide the longest tasks into smaller ones; starting them first saves at most {}",
            seconds_like(most_by_order_s.max(0.0), report.verdict.elapsed_s)
        ),
        (true, false) => "start the longest tasks first, or divide them into smaller ones".to_owned(),
        (false, _) => "divide the work into more and smaller tasks".to_owned(),
    };
    Some(Finding {
        // No replay predicts it: tasks would be handed out in another order.
        gain: gain::at_most(report, report.verdict.imbalance_s, "if all workers ended together"),
        advice: Some(FindingAdvice::Try(advice)),
        ..slowest::slow_rank_finding(report, "last task", parts.imbalance_s, because)
    })
}
