//! Ranks wait for one another in chains.

use lbprof_thresholds::verdict::GOOD_LOAD_BALANCE;
use lbprof_thresholds::wording::MIN_GAIN_OF_BALANCE;

use super::awaited_master::find_awaited_master;
use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::{gain, place};
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};

/// Detects that ranks depend on each other in chains within iterations.
pub fn find_dependency_chains(report: &Report, parts: &LossParts) -> Option<Finding> {
    let balance = report.verdict.efficiency.times.load_balance();
    let is_balanced = balance.is_some_and(|balance| balance >= GOOD_LOAD_BALANCE);
    let though = if is_balanced { ", though all have about the same work" } else { "" };
    let loss = report.loss_facts.dependency_chains.as_ref();
    let ranks = loss.map(|loss| loss.major_ranks(report.ranks.len())).unwrap_or_default();
    let mostly = match ranks.is_empty() {
        true => String::new(),
        false => format!(", mostly for {}", named_ranks(&ranks)),
    };
    let because = format!("within iterations ranks wait for one another in chains{mostly}{though}");
    let more =
        if report.what_if.balance_gains(MIN_GAIN_OF_BALANCE) { "" } else { "; dividing the work evenly will not help" };
    // No rank gets faster.
    let gain_s = report.verdict.serialization.map_or(parts.chains_s, |all| all.total_s.min(parts.chains_s));
    find_awaited_master(report).is_none().then(|| Finding {
        place: place::of_serialization(report, loss),
        // Where all ranks wait alike, that they could all work at the same time is not known.
        gain: if ranks.is_empty() { None } else { gain::at_most(report, gain_s, "if ranks worked at the same time") },
        ranks,
        advice: Some(FindingAdvice::Try(format!(
            "shorten the chains, or let their steps overlap (smaller blocks, the next sweep before the last one ends){more}"
        ))),
        ..Finding::part("chains", parts.chains_s, FindingCause::Because(because))
    })
}
