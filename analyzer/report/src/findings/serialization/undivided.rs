//! Ranks wait for one another; it is not known how.

use super::awaited_master::find_awaited_master;
use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::place;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};
use crate::losses::verdict::UndividedReason;

/// Detects serialization of which the kind is not known.
pub fn find_undivided_serialization(report: &Report, parts: &LossParts) -> Option<Finding> {
    let because = "ranks wait for one another more than the work of any of them explains";
    let advice = match report.verdict.undivided {
        Some(UndividedReason::UnsureLoop) => {
            "which loop is the main one: mark its iterations (LBPROF_ITERATION_BEGIN), or name a call that ends one (--loop CALLSITE); then \
             the report says whether ranks are slow in turn or wait in chains"
        }
        _ => {
            "which loop is the main one: mark its iterations (LBPROF_ITERATION_BEGIN); then the report says whether ranks are slow in \
             turn or wait in chains"
        }
    };
    find_awaited_master(report).is_none().then(|| Finding {
        place: place::of_serialization(report, report.loss_facts.undivided.as_ref()),
        advice: Some(FindingAdvice::LookAt(advice.to_owned())),
        ..Finding::part("serialization", parts.undivided_s, FindingCause::Because(because.to_owned()))
    })
}
