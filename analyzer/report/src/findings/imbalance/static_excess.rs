//! A rank has more work than the others.

use lbprof_thresholds::wording::MIN_INSTRUCTIONS_OF_EXCESS;

use super::slowest;
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::LossParts;
use crate::phrases::ranks::{factor_in_words, is_mostly_asleep, named_ranks, who_waits};

/// Detects that a rank computes longer than the mean.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    let seconds = parts.imbalance_s;
    let Some(worst) = &report.verdict.worst else {
        return Some(Finding::part("static excess", seconds, FindingCause::To("load imbalance", String::new())));
    };
    let factor = factor_in_words(worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE));
    let slow = worst.with_equals();
    let takes = match (is_mostly_asleep(report), slow.len() == 1) {
        (false, true) => format!("has {factor} the average work"),
        (false, false) => format!("have {factor} the average work each"),
        (true, true) => format!("takes {factor} the average time"),
        (true, false) => format!("take {factor} the average time each"),
    };
    let when = slowest::slow_iterations(report, worst);
    let because = format!("{} {takes}{when}, and {}", named_ranks(&slow), who_waits(report, &slow));
    Some(Finding {
        advice: Some(advice(report, &slow)),
        ..slowest::slow_rank_finding(report, "static excess", seconds, because)
    })
}

/// Returns advice on the excess of slow ranks, by what hardware counters say of it.
fn advice(report: &Report, slow: &[u32]) -> FindingAdvice {
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
