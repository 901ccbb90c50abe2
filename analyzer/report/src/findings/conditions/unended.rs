//! The run has not ended, or did not end by itself: where its ranks are.

use std::collections::BTreeMap;

use lbprof_collector::definition::EndReason;

use crate::finding::{Finding, FindingSubject, FindingTone};
use crate::phrases::names::place_name;
use crate::phrases::ranks::{capitalize_text, named_ranks};
use crate::words::{format_plural, format_seconds};
use crate::{RankRow, Report};
use lbprof_analysis::read::open::list_ranks;

/// Most groups of ranks that are named.
const MAX_GROUPS: usize = 3;

/// Detects that ranks have not ended by themselves.
pub fn find_unended_run(report: &Report, _: &[Finding]) -> Option<Finding> {
    let ranks: Vec<u32> = report.ranks.iter().filter(|row| row.end_reason.is_none()).map(|row| row.rank).collect();
    let (kind, tone, before_figures) = match report.facts.seen_at_s {
        Some(_) => ("still running", FindingTone::Unclear, "up to the last calls that ended, "),
        None => ("ended early", FindingTone::Bad, "up to there, "),
    };
    (!ranks.is_empty()).then(|| Finding {
        tone,
        subject: FindingSubject::End,
        ranks,
        before_figures: Some(before_figures),
        ..Finding::condition(kind, describe_ending(report))
    })
}

/// The progress of a run or its end, and the calls in which its ranks are.
fn describe_ending(report: &Report) -> String {
    let places = places_of_last_calls(report);
    let text = match report.facts.seen_at_s {
        Some(now_s) => format!("Still running, {} so far", format_seconds(now_s)),
        None => ended_early(report),
    };
    let last_seen = if report.facts.seen_at_s.is_none() { "last seen: " } else { "" };
    let places = if places.is_empty() { String::new() } else { format!("; {last_seen}{places}") };
    capitalize_text(&format!("{text}{places}."))
}

/// The end of a run that was interrupted.
fn ended_early(report: &Report) -> String {
    let aborted = report.ranks.iter().find_map(|row| match row.end_reason {
        Some(EndReason::Abort(code)) => Some(format!("rank {} called MPI_Abort with code {code}; ", row.rank)),
        _ => None,
    });
    let unended: Vec<&RankRow> = report.ranks.iter().filter(|row| row.end_reason.is_none()).collect();
    let mut killed: Vec<&RankRow> = unended.iter().copied().filter(|row| row.lifetime.is_killed).collect();
    killed.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
    let who = match unended.len() == report.ranks.len() {
        true => "the run".to_owned(),
        false => format_plural(unended.len() as u64, "rank"),
    };
    let how = match (first_crash(&unended), killed.as_slice()) {
        (_, []) => String::new(),
        (Some(crashed), killed) => {
            let seen = format!("{} after {}", place_of_last_call(crashed), format_seconds(crashed.end_s));
            format!(
                ": rank {} ended first, by a crash as it seems (last seen {seen}), then {}",
                crashed.rank,
                ended_by_signals(killed)
            )
        }
        (None, killed) => format!(": {}", ended_by_signals(killed)),
    };
    format!("{}{who} did not end by MPI_Finalize or exit{how}", aborted.unwrap_or_default())
}

/// Describes the end of ranks at which signals were noted, `killed` in the order of time.
fn ended_by_signals(killed: &[&RankRow]) -> String {
    let (Some(first), Some(last)) = (killed.first(), killed.last()) else { return String::new() };
    let (first_s, last_s) = (format_seconds(first.end_s), format_seconds(last.end_s));
    let mut ranks: Vec<u32> = killed.iter().map(|row| row.rank).collect();
    ranks.sort_unstable();
    match ranks.as_slice() {
        [one] => format!("rank {one} was ended by a signal after {last_s}"),
        many if first_s == last_s => format!("ranks {} were ended by signals after {last_s}", list_ranks(many)),
        many => {
            format!(
                "ranks {} were ended by signals, rank {} first, after {first_s}, the last after {last_s}",
                list_ranks(many),
                first.rank
            )
        }
    }
}

/// Returns the rank that seems to have crashed before the launcher ended the others by signals.
///
/// A crash leaves no time, and neither does a rank that a launcher ends at once. The latter waits in a call, as others do.
fn first_crash<'a>(unended: &[&'a RankRow]) -> Option<&'a RankRow> {
    let first_signal_s =
        unended.iter().filter(|row| row.lifetime.is_killed).map(|row| row.end_s).min_by(f64::total_cmp)?;
    unended
        .iter()
        .copied()
        .filter(|row| !row.lifetime.is_killed && row.end_s <= first_signal_s && row.waits_for.is_none())
        .filter(|row| {
            row.in_call.is_none()
                || unended.iter().filter(|other| place_of_last_call(other) == place_of_last_call(row)).count() == 1
        })
        .min_by(|a, b| a.end_s.total_cmp(&b.end_s))
}

/// Describes where a rank that has not ended is.
fn place_of_last_call(row: &RankRow) -> String {
    match &row.in_call {
        Some((operation, place)) => format!("in MPI_{operation} at {}", place_name(place)),
        None => "outside of MPI".to_owned(),
    }
}

/// The places of the ranks that have not ended, rare places first.
fn places_of_last_calls(report: &Report) -> String {
    let mut groups: BTreeMap<String, Vec<&RankRow>> = BTreeMap::new();
    for row in report.ranks.iter().filter(|row| row.end_reason.is_none()) {
        groups.entry(place_of_last_call(row)).or_default().push(row);
    }
    let mut groups: Vec<(String, Vec<&RankRow>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, rows)| rows.len());
    let shown: Vec<String> =
        groups.iter().take(MAX_GROUPS).map(|(place, rows)| one_place(report, place, rows)).collect();
    let more = if groups.len() > MAX_GROUPS { " …" } else { "" };
    format!("{}{more}", shown.join("; "))
}

/// A place with its ranks, the time that they have been there, and the ranks for which they wait.
fn one_place(report: &Report, place: &str, rows: &[&RankRow]) -> String {
    let ranks: Vec<u32> = rows.iter().map(|row| row.rank).collect();
    let have = if ranks.len() == 1 { "has" } else { "have" };
    let since_s = rows.iter().map(|row| row.since_s.unwrap_or(row.end_s)).fold(f64::INFINITY, f64::min);
    let mut text = match report.facts.seen_at_s {
        Some(now_s) => {
            format!("{} {have} been {place} for {}", named_ranks(&ranks), format_seconds((now_s - since_s).max(0.0)))
        }
        None => format!("{} {place}", named_ranks(&ranks)),
    };
    let mut waited_for: Vec<u32> = rows.iter().filter_map(|row| row.waits_for).collect();
    waited_for.sort_unstable();
    waited_for.dedup();
    if let [first, ..] = waited_for.as_slice() {
        match waited_for.len() {
            1 => text.push_str(&format!(", waiting for rank {first}")),
            _ => text.push_str(&format!(", waiting for ranks {}", list_ranks(&waited_for))),
        }
    }
    text
}
