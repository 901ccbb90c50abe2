//! The time between polls may be waiting or computation.

use lbprof_thresholds::verdict::GOOD_CORE_EFFICIENCY;

use crate::Report;
use crate::findings::phrases::ranks::computing_share;
use crate::losses::finding::{Finding, FindingAdvice, FindingTone};

/// Detects that ranks may wait for much of what counts as computation.
pub fn find_unclear_polls(report: &Report) -> Option<Finding> {
    let (least, _) = report.doubts.unclear_polls?.efficiency;
    let sentence = format!(
        "It is not clear whether ranks compute or wait between their polls: {} of the time is computation.",
        computing_share(report)
    );
    let advice = "what the program does between polls: if it only waits, report again with --polling waiting, else with --polling computation";
    (report.verdict.is_good() && least < GOOD_CORE_EFFICIENCY).then(|| Finding {
        advice: Some(FindingAdvice::LookAt(advice.to_owned())),
        ..Finding::of_whole("unclear polls", FindingTone::Unclear, sentence)
    })
}
