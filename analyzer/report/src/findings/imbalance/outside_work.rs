//! A rank works longer than the others once, before or after the main loop.

use super::asleep_rank::SleepOfRank;
use super::serial_code::{is_working_alone, time_of};
use super::slowest;
use crate::Report;
use crate::findings::phrases::ranks::{named_ranks, who_waits};
use crate::findings::shared::gain;
use crate::findings::shared::loss_parts::LossParts;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};
use crate::losses::longest_rank::LongestRank;
use crate::rows::words::seconds_like;

/// Detects that ranks wait for work before the main loop.
pub fn find_set_up_work(report: &Report, _: &LossParts) -> Option<Finding> {
    let longest = report.verdict.outside_work.as_ref()?.before.as_ref()?;
    Some(outside_finding(report, longest, "before"))
}

/// Detects that ranks wait for work after the main loop.
pub fn find_final_work(report: &Report, _: &LossParts) -> Option<Finding> {
    let longest = report.verdict.outside_work.as_ref()?.after.as_ref()?;
    Some(outside_finding(report, longest, "after"))
}

fn outside_finding(report: &Report, longest: &LongestRank, when: &str) -> Finding {
    let slow = longest.with_equals();
    let is_alone = is_working_alone(report, longest);
    let sleep = SleepOfRank::find(report, longest);
    let (works, each) = if slow.len() > 1 { ("work", " each") } else { ("works", "") };
    let [work_s, excess_s] =
        [time_of(report, longest), longest.over_mean_s].map(|time_s| seconds_like(time_s, report.verdict.elapsed_s));
    let how_long = match is_alone {
        true => format!("{works} alone for {work_s}"),
        false => format!("{works} {excess_s} longer than the mean{each}"),
    };
    let state = sleep.as_ref().map_or_else(String::new, |sleep| format!(" (most of that {})", sleep.state()));
    let who = who_waits(report, &slow);
    let because = format!("{} {how_long}{state}, once, {when} the main loop, and {who}", named_ranks(&slow));
    let advice = match is_alone {
        true => slowest::advice_on_serial_code(report, longest.rank),
        false => FindingAdvice::LookAt(
            "how this work is divided among the ranks; the loop itself needs no change".to_owned(),
        ),
    };
    let found = Finding {
        gain: gain::of_work_outside(report, longest),
        advice: Some(advice),
        ..Finding::part("work outside of the loop", longest.over_mean_s, FindingCause::Because(because))
    };
    let found = slowest::with_longest_rank(report, longest, found);
    match sleep {
        Some(sleep) => sleep.explain(report, found),
        None => found,
    }
}
