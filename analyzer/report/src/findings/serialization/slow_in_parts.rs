//! In each part of an iteration a different rank is the slowest.

use lbprof_analysis::model::replayed::what_if::WhatIfScenario;

use crate::Report;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{gain, place};
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};
use crate::losses::slow_parts::SlowPart;

/// Detects that different ranks are slow in different parts of an iteration.
pub fn find_slow_in_parts(report: &Report, parts: &LossParts) -> Option<Finding> {
    let because = "in each part of an iteration a different rank is the slowest, and the others wait for it";
    Some(Finding {
        ranks: SlowPart::ranks_of(&report.verdict.slow_parts),
        place: place::of_parts(report),
        gain: gain::of_prediction(report, |row| row.scenario == WhatIfScenario::RegionsBalanced),
        advice: Some(FindingAdvice::Try(
            "divide the work of each of these parts evenly by itself: even totals alone leave ranks waiting in each part"
                .to_owned(),
        )),
        ..Finding::part("slow in parts", parts.slow_in_parts_s, FindingCause::Because(because.to_owned()))
    })
}
