//! Parts that findings about the rank that computes longest share.

use lbprof_thresholds::verdict::MIN_EXCESS_ASLEEP;
use lbprof_thresholds::wording::{MAX_UNCHANGED_IMBALANCE, MIN_CHANGED_IMBALANCE};

use crate::findings::files::sole_rank;
use crate::findings::phrases::ranks::{factor_in_words, named_ranks, short_percent, who_waits};
use crate::findings::shared::{gain, place};
use crate::fraction_of;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause, FindingSubject};
use crate::losses::longest_rank::LongestRank;
use crate::rows::words::seconds_like;
use crate::time::excess_iterations::ExcessIterations;
use crate::{IterationRow, Report};

/// Returns a finding about the rank that computes longest, and those that compute as long.
pub fn slow_rank_finding(report: &Report, kind: &'static str, seconds: f64, because: String) -> Finding {
    let found = Finding {
        subject: FindingSubject::SlowRank,
        gain: gain::of_balance(report),
        ..Finding::part(kind, seconds, FindingCause::Because(because))
    };
    match &report.verdict.worst {
        Some(worst) => with_longest_rank(report, worst, found),
        None => found,
    }
}

/// Adds the ranks, place and evidence of a rank that computes longest.
pub fn with_longest_rank(report: &Report, longest: &LongestRank, found: Finding) -> Finding {
    Finding {
        ranks: longest.with_equals(),
        place: place::place_of_rank(report, longest),
        evidence: vec![("computation_s", longest.computation_s), ("mean_s", longest.mean_s)],
        ..found
    }
}

/// Returns advice on code that one rank runs while the others wait.
pub fn advice_on_serial_code(report: &Report, rank: u32) -> FindingAdvice {
    FindingAdvice::Try(match sole_rank::sole_access_of(report, rank) {
        Some(verb) => format!(
            "if this time goes to files, {verb} them in parallel (MPI-IO, a file for each rank), or in the background while ranks compute; else \
             share this code among the ranks"
        ),
        None => "share this code among the ranks, or let the others work meanwhile".to_owned(),
    })
}

/// Returns whether a part of an excess is most of it.
pub fn is_most(share: Option<f64>) -> bool {
    share.is_some_and(|share| share >= MIN_EXCESS_ASLEEP)
}

/// Says how much longer slow ranks take, and in which state: `rank 1 takes 1.6 times the average time, 200 ms more, most of that asleep, and rank 0 waits for it`.
pub fn in_state(report: &Report, worst: &LongestRank, state: &str) -> String {
    let slow = worst.with_equals();
    let (take, each) = if slow.len() > 1 { ("take", " each") } else { ("takes", "") };
    let (named, others) = (named_ranks(&slow), who_waits(report, &slow));
    let factor = factor_in_words(worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE));
    let more = seconds_like(worst.over_mean_s, report.verdict.elapsed_s);
    let when = slow_iterations(report, worst);
    format!("{named} {take} {factor} the average time{each}, {more} more{when}, most of that {state}, and {others}")
}

/// Returns the iterations in which a rank has its excess, unless they are most of them: `, from iteration 50 on`.
pub fn slow_iterations(report: &Report, worst: &LongestRank) -> String {
    let rows = report.iterations.as_ref().map_or(&[][..], |iterations| &iterations.rows);
    match worst.iterations {
        None => growing_imbalance(report).or_else(|| slow_times(report, worst)).unwrap_or_default(),
        Some(ExcessIterations::Range { first, last }) if first == last => format!(", in iteration {first}"),
        Some(ExcessIterations::Range { first, last }) if rows.iter().all(|row| row.iteration <= last + 1) => {
            format!(", from iteration {first} on")
        }
        Some(ExcessIterations::Range { first, last }) => format!(", in iterations {first}-{last}"),
        Some(ExcessIterations::Periodic { distance: 2 }) => " in all, in every second iteration".to_owned(),
        Some(ExcessIterations::Periodic { distance: 3 }) => " in all, in every third iteration".to_owned(),
        Some(ExcessIterations::Periodic { distance }) => format!(" in all, in every {distance}th iteration"),
        Some(ExcessIterations::Scattered { slow, all }) => format!(" in all, in {slow} of {all} iterations"),
    }
}

/// Returns since when, or until when, slow ranks have their excess, where no iterations are known: `, since 0.40 s`. `None` if it is most of the time, or if calls are so
/// far apart that a window of time is a part of a step.
fn slow_times(report: &Report, worst: &LongestRank) -> Option<String> {
    let windows = &report.windows;
    let calls: u64 = report.call_sites.iter().map(|row| row.sum.calls).sum();
    let are_short = calls < (windows.len() * report.ranks.len()) as u64;
    if report.iterations.is_some() || report.verdict.cluster.is_some() || are_short {
        return None;
    }
    let rows = windows.iter().zip(0..).map(|(window, iteration)| IterationRow {
        iteration,
        is_known: true,
        max_s: window.efficiency.max_computation_s,
        mean_s: window.efficiency.avg_computation_s,
        slowest_rank: window.efficiency.slowest_rank.unwrap_or(u32::MAX),
        ranks: 1,
    });
    let rows: Vec<IterationRow> = rows.collect();
    let slow = ExcessIterations::find(&rows, &worst.with_equals(), worst.over_mean_s)?;
    let ExcessIterations::Range { first, last } = slow else { return None };
    let (first, last) = (first as usize, last as usize);
    let elapsed_s = report.verdict.elapsed_s;
    let begin = seconds_like(windows.get(first)?.begin_s, elapsed_s);
    let end = seconds_like(windows.get(last)?.end_s, elapsed_s);
    Some(match (first <= 1, last + 2 >= windows.len()) {
        (true, _) => format!(", until {end}"),
        (false, true) => format!(", since {begin}"),
        (false, false) => format!(", from {begin} to {end}"),
    })
}

/// Returns by how much the imbalance of an iteration grows or shrinks over the run: `, an excess growing from 0 % to 65 % of an iteration`. `None` if it stays about the same.
fn growing_imbalance(report: &Report) -> Option<String> {
    let course = &report.iterations.as_ref()?.course;
    let trends = course.trends.as_ref()?;
    let trend = trends.imbalance.trend?;
    let longest_s = trends.max.trend.map_or([course.slowest_mean_s; 2], |max| [max.first, max.last]);
    let [first, last] = [(trend.first, longest_s[0]), (trend.last, longest_s[1])]
        .map(|(part_s, all_s)| fraction_of(part_s.max(0.0), all_s).min(1.0));
    let (least, most) = (first.min(last), first.max(last));
    let how = if last > first { "growing" } else { "shrinking" };
    let is_much = most >= MIN_CHANGED_IMBALANCE && least <= MAX_UNCHANGED_IMBALANCE * most;
    is_much
        .then(|| format!(", an excess {how} from {} to {} of an iteration", short_percent(first), short_percent(last)))
}
