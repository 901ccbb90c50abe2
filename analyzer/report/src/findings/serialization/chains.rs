//! Ranks wait for one another in chains.

use lbprof_thresholds::verdict::{GOOD_LOAD_BALANCE, MIN_CAUSE_OF_MAJOR_RANK};
use lbprof_thresholds::wording::MIN_GAIN_OF_BALANCE;

use super::awaited_master::find_awaited_master;
use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingCause};
use crate::findings::loss_parts::{LossParts, loss_of};
use crate::findings::place;
use crate::loss_kind::LossKind;
use crate::phrases::ranks::named_ranks;

/// Detects that ranks depend on each other in chains within iterations.
pub fn detect(report: &Report, parts: &LossParts) -> Option<Finding> {
    let balance = report.verdict.efficiency.times.load_balance();
    let is_balanced = balance.is_some_and(|balance| balance >= GOOD_LOAD_BALANCE);
    let though = if is_balanced { ", though all have about the same work" } else { "" };
    let ranks = awaited_ranks(report);
    let mostly = match ranks.is_empty() {
        true => String::new(),
        false => format!(", mostly for {}", named_ranks(&ranks)),
    };
    let because = format!("within iterations ranks wait for one another in chains{mostly}{though}");
    let more = if report.what_if.balance_gains(MIN_GAIN_OF_BALANCE) { "" } else { "; even work will not help" };
    find_awaited_master(report).is_none().then(|| Finding {
        ranks,
        place: place::of_serialization(report, LossKind::DependencyChains),
        advice: Some(FindingAdvice::Try(format!(
            "shorten the chains, or let their steps overlap (smaller blocks, the next sweep before the last one ends){more}"
        ))),
        ..Finding::part("chains", parts.chains_s, FindingCause::Because(because))
    })
}

/// Returns the ranks that are waited for, ascending, if these are some of all: each causes at least half as much as any.
fn awaited_ranks(report: &Report) -> Vec<u32> {
    let loss = loss_of(report, LossKind::DependencyChains);
    let causes = loss.map_or(&[][..], |loss| loss.ranks.as_slice());
    let most = causes.first().map_or(0.0, |first| first.1);
    let mut ranks: Vec<u32> =
        causes.iter().filter(|(_, share)| *share >= MIN_CAUSE_OF_MAJOR_RANK * most).map(|(rank, _)| *rank).collect();
    ranks.sort_unstable();
    let is_some = 2 * ranks.len() <= report.ranks.len() || ranks.len() <= 3 && ranks.len() < report.ranks.len();
    if is_some { ranks } else { Vec::new() }
}
