//! A rank works longer than the others once, before or after the main loop.

use super::asleep_rank::advice_on_sleep;
use super::serial_code::{is_working_alone, time_of};
use super::slowest;
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::LossParts;
use crate::findings::{gain, place};
use crate::longest_rank::LongestRank;
use crate::phrases::doubts::idle_state;
use crate::phrases::functions::certain_asleep_share;
use crate::phrases::ranks::{named_ranks, who_waits};
use crate::words::seconds_like;

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
    let excess = longest.explained.as_ref();
    let is_asleep = excess.is_some_and(|excess| slowest::is_most(certain_asleep_share(report, excess)));
    let is_stopped = excess.is_some_and(|excess| excess.is_stopped());
    let (works, each) = if slow.len() > 1 { ("work", " each") } else { ("works", "") };
    let [work_s, excess_s] =
        [time_of(report, longest), longest.over_mean_s].map(|time_s| seconds_like(time_s, report.verdict.elapsed_s));
    let how_long = match is_alone {
        true => format!("{works} alone for {work_s}"),
        false => format!("{works} {excess_s} longer than the mean{each}"),
    };
    let state = if is_asleep { format!(" (most of that {})", idle_state(is_stopped)) } else { String::new() };
    let who = who_waits(report, &slow);
    let because = format!("{} {how_long}{state}, once, {when} the main loop, and {who}", named_ranks(&slow));
    let advice = match is_alone {
        _ if is_asleep => FindingAdvice::LookAt(advice_on_sleep(report, &slow, is_stopped, None)),
        true => slowest::advice_on_serial_code(report, longest.rank),
        false => FindingAdvice::LookAt(
            "how this work is divided among the ranks; the loop itself needs no change".to_owned(),
        ),
    };
    Finding {
        place: place::place_of_rank(report, longest),
        gain: gain::of_work_outside(report, longest),
        advice: Some(advice),
        evidence: vec![("computation_s", longest.computation_s), ("mean_s", longest.mean_s)],
        ranks: slow,
        ..Finding::part("work outside of the loop", longest.over_mean_s, FindingCause::Because(because))
    }
}
