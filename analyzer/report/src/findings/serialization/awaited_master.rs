//! Followers wait for the next message of a master that goes through the same iterations with code of its own.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::blocking::StateTimes;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_thresholds::metrics::MIN_OTHER_OPERATIONS;
use lbprof_thresholds::verdict::{MIN_CAUSE_OF_MASTER, MIN_WAITING_FOR_MASTER};

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::findings::shared::loss_parts::LossParts;
use crate::findings::shared::place;
use crate::losses::LossPlace;
use crate::losses::finding::{Finding, FindingAdvice, FindingCause};
use crate::rows::words::seconds_like;

/// A master that others wait for.
pub struct AwaitedMaster<'a> {
    rank: u32,
    /// The part of the loss that shows it.
    loss: &'a LossPlace,
}

/// Detects that ranks wait for the messages of a master.
pub fn find_wait_for_master(report: &Report, parts: &LossParts) -> Option<Finding> {
    let master = find_awaited_master(report)?;
    let rank = master.rank;
    let row = report.ranks.iter().find(|row| row.rank == rank)?;
    let followers: Vec<u32> = report.ranks.iter().map(|row| row.rank).filter(|one| *one != rank).collect();
    let wait = if followers.len() > 1 { "wait" } else { "waits" };
    let because = format!(
        "{} {wait} for the next message of rank {rank}, which runs code of its own and computes {} in all before it sends",
        named_ranks(&followers),
        seconds_like(row.computation_s, report.verdict.elapsed_s)
    );
    Some(Finding {
        ranks: vec![rank],
        place: place::of_serialization(report, Some(master.loss)),
        advice: Some(FindingAdvice::LookAt(format!(
            "whether rank {rank} can send before it does work that the others need not wait for, hand out the next work earlier, or share \
             this work with them"
        ))),
        evidence: vec![("computation_s", row.computation_s)],
        ..Finding::part("awaited master", parts.chains_s + parts.undivided_s, FindingCause::Because(because))
    })
}

/// Finds the one rank with code of its own whose computation causes most waiting, if the others wait for its messages.
pub fn find_awaited_master(report: &Report) -> Option<AwaitedMaster<'_>> {
    let facts = &report.loss_facts;
    let loss = facts.dependency_chains.as_ref().or(facts.undivided.as_ref())?;
    let &(first, share) = loss.ranks.first()?;
    let sums = &report.blocking.as_ref()?.sums;
    let for_messages = [WaitState::LateSender, WaitState::LateBroadcast];
    let times = for_messages.iter().filter_map(|state| sums.states.get(state));
    let for_messages_s: f64 = times.map(StateTimes::blocked_s).sum();
    let is_most = share >= MIN_CAUSE_OF_MASTER && for_messages_s >= MIN_WAITING_FOR_MASTER * sums.total_s;
    let clusters = &report.clusters;
    let is_alone = clusters.rows.len() == 1 && matches!(clusters.alone.as_slice(), [alone] if alone.ranks == [first]);
    let is_one = report.verdict.cluster.is_none() && (is_alone || has_calls_of_its_own(report, first));
    (is_one && is_most).then_some(AwaitedMaster { rank: first, loss })
}

/// Returns whether a rank alone makes most of its calls where no other rank does.
fn has_calls_of_its_own(report: &Report, rank: u32) -> bool {
    let mut calls: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    for row in &report.call_sites {
        for &(caller, own) in &row.callers {
            let [alone, all] = calls.entry(caller).or_default();
            *alone += if row.callers.len() == 1 { own } else { 0 };
            *all += own;
        }
    }
    let mut alone = calls.iter().filter(|(_, [alone, all])| *alone as f64 >= MIN_OTHER_OPERATIONS * *all as f64);
    alone.next().is_some_and(|(first, _)| *first == rank) && alone.next().is_none()
}
