//! A rank has more work than the others.

use lbprof_thresholds::wording::MIN_INSTRUCTIONS_OF_EXCESS;

use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{factor_in_words, is_mostly_asleep, named_ranks, who_waits};
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};

/// Detects that a rank computes longer than the mean.
pub fn find_static_excess(report: &Report, parts: &LossParts) -> Option<Finding> {
    let seconds = parts.imbalance_s;
    let Some(worst) = &report.verdict.worst else {
        return Some(Finding::part("static excess", seconds, FindingCause::To("load imbalance", String::new())));
    };
    let slow = worst.with_equals();
    let factor = worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE);
    let excess = rank_excess_in_words(&slow, factor, is_mostly_asleep(report));
    let when = slowest::slow_iterations(report, worst);
    let because = format!("{excess}{when}, and {}", who_waits(report, &slow));
    Some(Finding {
        advice: Some(advice_on_excess(report, &slow)),
        ..slowest::slow_rank_finding(report, "static excess", seconds, because)
    })
}

/// Returns how much more than the mean ranks compute: `rank 1 has twice the average work`; `is_time`: that is time, not work.
pub fn rank_excess_in_words(ranks: &[u32], factor: f64, is_time: bool) -> String {
    let (named, factor) = (named_ranks(ranks), factor_in_words(factor));
    match (is_time, ranks.len() == 1) {
        (false, true) => format!("{named} has {factor} the average work"),
        (false, false) => format!("{named} have {factor} the average work each"),
        (true, true) => format!("{named} takes {factor} the average time"),
        (true, false) => format!("{named} take {factor} the average time each"),
    }
}

/// Returns advice on the excess of slow ranks, by what hardware counters say of it.
fn advice_on_excess(report: &Report, slow: &[u32]) -> FindingAdvice {
    let hardware = report.functions.as_ref().and_then(|table| table.program.hardware);
    let executes_more = hardware.is_some_and(|counts| {
        let sum_s = counts.more_instructions_s + counts.slower_instructions_s.max(0.0);
        sum_s > 0.0 && counts.more_instructions_s >= MIN_INSTRUCTIONS_OF_EXCESS * sum_s
    });
    let named = named_ranks(slow);
    let does_get = if slow.len() > 1 { format!("do {named} get") } else { format!("does {named} get") };
    let (executes, it) = if slow.len() > 1 { ("execute", "them") } else { ("executes", "it") };
    match executes_more {
        true => FindingAdvice::Try(format!(
            "{named} {executes} more instructions: give {it} less work, by the program's own load balancing or parts weighted by cost"
        )),
        false => FindingAdvice::LookAt(format!(
            "how the work is divided: {does_get} more of it, or does the same work take longer there (core, memory)?"
        )),
    }
}
