//! A rank works longer than the others once, before or after the main loop.

use super::slowest;
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingPlace};
use crate::findings::loss_parts::LossParts;
use crate::findings::place;
use crate::outside_work::OutsideWork;
use crate::phrases::ranks::{named_ranks, who_waits};
use crate::words::seconds_like;

/// Detects that the rank that computes longest does so outside of the main loop.
pub fn find_work_outside_loop(report: &Report, parts: &LossParts) -> Option<Finding> {
    let (work, worst) = report.outside_work.as_ref().zip(report.verdict.worst.as_ref())?;
    let slow = worst.with_equals();
    let (works, each) = if slow.len() > 1 { ("work", " each") } else { ("works", "") };
    let [work_s, excess_s] = [work.work_s, work.excess_s].map(|time_s| seconds_like(time_s, report.verdict.elapsed_s));
    let how_long = match work.is_alone {
        true => format!("{works} alone for {work_s}"),
        false => format!("{works} {excess_s} longer than the mean{each}"),
    };
    let because = format!("{} {how_long}, {}, and {}", named_ranks(&slow), work.when(), who_waits(report, &slow));
    let advice = match work.is_alone {
        true => slowest::advice_on_serial_code(report),
        false => FindingAdvice::LookAt(
            "how this work is divided among the ranks; the loop itself needs no change".to_owned(),
        ),
    };
    Some(Finding {
        place: place_outside(report, work),
        advice: Some(advice),
        ..slowest::slow_rank_finding(report, "work outside of the loop", parts.imbalance_s, because)
    })
}

/// Returns where the rank exceeds the mean, if that is not in the loop.
fn place_outside(report: &Report, work: &OutsideWork) -> Option<FindingPlace> {
    place::of_excess(report).filter(|place| {
        let inner = place.region.as_deref().and_then(|region| region.strip_prefix(work.main_loop.as_str()));
        inner.is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/'))
    })
}
