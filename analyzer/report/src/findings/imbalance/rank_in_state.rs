//! A rank spends time in the kernel, by page faults or system calls, or in another state that is neither its own code nor sleep, while the others wait for it.

use lbprof_collector::StateGroup;

use super::kernel_work::kernel_work_of_slowest;
use super::slowest::{in_state, is_most, slow_rank_finding};
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that the rank that computes longest is in one such state for most of what it takes longer.
pub fn find_rank_in_state(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref()?;
    let states = worst.explained.as_ref()?.states.iter().flatten();
    // Findings of their own are about these.
    let others = states.filter(|one| !matches!(one.state.group(), StateGroup::Asleep | StateGroup::NoCore));
    let longest = others.max_by(|a, b| a.share.total_cmp(&b.share)).filter(|one| is_most(Some(one.share)))?;
    if longest.state.group() != StateGroup::Kernel {
        let because = in_state(report, worst, longest.state.phrase()?);
        return Some(slow_rank_finding(report, "rank in state", parts.imbalance_s, because));
    }
    let work = kernel_work_of_slowest(report);
    let because = in_state(report, worst, &format!("in the kernel ({})", work.name()));
    Some(Finding {
        advice: Some(FindingAdvice::LookAt(work.advice().to_owned())),
        ..slow_rank_finding(report, "kernel rank", parts.imbalance_s, because)
    })
}
