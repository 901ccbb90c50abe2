//! Ranks get empty during the run, and other ranks get their work.

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{named_ranks, who_waits};
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice};

/// Detects that the ranks that compute longest get the work of ranks that get empty.
pub fn find_emptied_rank_loss(report: &Report, parts: &LossParts) -> Option<Finding> {
    let found = report.emptied_ranks.as_ref()?;
    let (emptied, takers) = (named_ranks(&found.emptied), named_ranks(&found.takers));
    let (get, their) = if found.emptied.len() > 1 { ("get", "their") } else { ("gets", "its") };
    let take = if found.takers.len() > 1 { "get" } else { "gets" };
    let others = who_waits(report, &found.takers);
    let from = found.from_iteration;
    let because = format!("{emptied} {get} empty from iteration {from} on, {takers} {take} {their} work, and {others}");
    let found_here = slowest::slow_rank_finding(report, "emptied ranks", parts.imbalance_s, because);
    let mut evidence = found_here.evidence.clone();
    evidence.extend([("emptied", found.emptied.len() as f64), ("from_iteration", f64::from(from))]);
    Some(Finding {
        ranks: found.takers.clone(),
        advice: Some(FindingAdvice::Try(format!(
            "move work back to {emptied} during the run: balance again now and then, with parts weighted by their cost (particles, refined cells)"
        ))),
        evidence,
        ..found_here
    })
}
