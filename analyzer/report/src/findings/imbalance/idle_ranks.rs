//! Some ranks have next to no work, and wait for the others, which have about as much as one another.

use lbprof_thresholds::replay::MAX_COMPUTATION_OF_IDLE_RANK;

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{factor_in_words, named_ranks};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that all ranks but the slow ones are idle, and that these are fewer.
pub fn find_idle_rank_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let worst = report.verdict.worst.as_ref().filter(|_| report.verdict.cluster.is_none())?;
    let slow = worst.with_equals();
    let others = report.ranks.iter().filter(|row| !slow.contains(&row.rank));
    let (idle, busy): (Vec<_>, Vec<_>) =
        others.partition(|row| row.computation_s < MAX_COMPUTATION_OF_IDLE_RANK * worst.mean_s);
    if idle.is_empty() || !busy.is_empty() || idle.len() >= slow.len() {
        return None;
    }
    let idle: Vec<u32> = idle.iter().map(|row| row.rank).collect();
    let named = named_ranks(&idle);
    let (have, wait, it) = if idle.len() > 1 { ("have", "wait", "them") } else { ("has", "waits", "it") };
    let factor = factor_in_words(worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE));
    let because =
        format!("{named} {have} next to no work and {wait} for the others, which have {factor} the average work each");
    Some(Finding {
        ranks: idle,
        gain: gain::at_most(report, parts.imbalance_s, "if all ranks had equal work"),
        advice: Some(FindingAdvice::Try(format!(
            "give {it} a share of the work (smaller pieces, or another partition), or run on {} ranks, which takes as long",
            slow.len()
        ))),
        ..slowest::slow_rank_finding(report, "idle ranks", parts.imbalance_s, because)
    })
}
