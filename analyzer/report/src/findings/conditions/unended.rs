//! The run has not ended, or did not end by itself: where its ranks are.

use std::collections::BTreeMap;

use lbprof_collector::definition::EndReason;

use crate::findings::phrases::ranks::{capitalize_text, named_ranks};
use crate::losses::finding::{Finding, FindingSubject, FindingTone};
use crate::losses::names::place_name;
use crate::rows::words::{format_plural, format_seconds};
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
    let unended = report.ranks.iter().filter(|row| row.end_reason.is_none()).count();
    let who = match unended == report.ranks.len() {
        true => "the run".to_owned(),
        false => format_plural(unended as u64, "rank"),
    };
    format!("{}{who} did not end by MPI_Finalize or exit", aborted.unwrap_or_default())
}

/// Describes where a rank that has not ended is.
fn place_of_last_call(row: &RankRow) -> String {
    match &row.in_call {
        Some(call) => format!("in MPI_{} at {}", call.operation, place_name(&call.place)),
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
