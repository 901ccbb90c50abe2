//! A rank spends time in the kernel, by page faults or system calls, while the others wait for it.

use super::kernel_work::kernel_work_of_slowest;
use super::slowest;
use crate::Report;
use crate::finding::{Finding, FindingAdvice};
use crate::findings::loss_parts::LossParts;
use lbprof_collector::StateGroup;

/// Detects that the rank that computes longest is in the kernel for most of what it takes longer.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref()?;
    let is_kernels =
        slowest::is_most(worst.explained.as_ref().and_then(|excess| excess.group_share(StateGroup::Kernel)));
    is_kernels.then(|| {
        let work = kernel_work_of_slowest(report);
        let because = slowest::in_state(report, worst, &format!("in the kernel ({})", work.name()));
        Finding {
            advice: Some(FindingAdvice::LookAt(work.advice().to_owned())),
            ..slowest::slow_rank_finding(report, "kernel rank", parts.imbalance_s, because)
        }
    })
}
