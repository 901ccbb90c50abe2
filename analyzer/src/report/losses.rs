//! The run's losses, each by itself: how much, through whom, where, and what would be gained without it.
//!
//! Where the ranks were followed, a loss is what causes waiting (METRICS §4): a region's computation, the control of parallelism in a
//! region, the recorder; and beside that, messages on their way and what calls take besides waiting. Together they are all the time in
//! which ranks do not compute. Else the losses are those of the efficiencies.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use super::SiteRow;
use super::blocking::BlockingTable;
use super::verdict::Verdict;
use super::what_if::{ReplayRow, WhatIf};
use crate::gather::operation_name;
use crate::metrics::blocking::{Class, waited_because_of};
use crate::model::Model;
use crate::replay::Question;
use crate::symbols::Place;

/// Share of the elapsed time from which on a loss is told.
const LEAST: f64 = 0.01;

/// Most ranks of a loss that are named.
const MOST_RANKS: usize = 8;

/// What is lost by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossKind {
    /// Ranks wait for another's computation.
    Imbalance,
    /// In different iterations different ranks are the slowest. Only where ranks were not followed: else it is in `Imbalance`.
    MovingImbalance,
    /// Ranks wait for computation that only parallel work needs.
    Control,
    /// Messages on their way, and calls besides waiting; where ranks were not followed, waiting that is not due to imbalance too.
    Communication,
    /// Writing the log, and waiting for ranks that do, or of which nothing is known.
    Recorder,
}

impl LossKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LossKind::Imbalance => "imbalance",
            LossKind::MovingImbalance => "imbalance that moves",
            LossKind::Control => "control of parallelism",
            LossKind::Communication => "communication",
            LossKind::Recorder => "recorder",
        }
    }
}

/// A loss.
#[derive(Clone, Debug)]
pub struct Loss {
    /// What is lost by.
    pub kind: LossKind,
    /// Seconds of elapsed time, the mean over ranks.
    pub lost_s: f64,
    /// Whether it is measured by the causes of waiting; else it follows from the ranks' sums.
    pub measured: bool,
    /// Numbers of the ranks that cause it, and the share that each has, the largest first.
    pub ranks: Vec<(u32, f64)>,
    /// Path of the region in which it is caused.
    pub region: Option<String>,
    /// The operation and the place at which ranks wait for it longest; of communication, at which it takes longest.
    pub at: Option<(String, Place)>,
    /// What would be gained without it, by replay; `None` where that was not asked, or is not known.
    pub remedy: Option<ReplayRow>,
}

impl Loss {
    /// A loss of which no more is known, by the ranks' sums.
    fn bare(kind: LossKind, lost_s: f64) -> Loss {
        Loss { kind, lost_s, measured: false, ranks: Vec::new(), region: None, at: None, remedy: None }
    }
}

/// What losses are made from.
pub(super) struct Parts<'a> {
    pub(super) model: &'a Model,
    pub(super) places: &'a [Place],
    pub(super) verdict: &'a Verdict,
    pub(super) blocking: Option<&'a BlockingTable>,
    pub(super) what_if: &'a WhatIf,
    pub(super) sites: &'a [SiteRow],
    /// Whether ranks share one work, so that balancing them is a gain.
    pub(super) together: bool,
}

/// The losses of at least 1 % of the elapsed time, the largest first.
pub(super) fn rows(parts: &Parts) -> Vec<Loss> {
    let mut losses = match parts.blocking {
        // Where calls of some ranks are not known, what others wait for in collectives is not.
        Some(table) if table.counts.not_recorded == 0 => measured(parts, table),
        _ => estimated(parts),
    };
    losses.retain(|loss| loss.lost_s > 0.0 && loss.lost_s >= LEAST * parts.verdict.elapsed_s);
    losses.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(a.kind.cmp(&b.kind)).then(a.region.cmp(&b.region)));
    losses
}

/// The losses by the causes of waiting.
fn measured(parts: &Parts, table: &BlockingTable) -> Vec<Loss> {
    let n_ranks = parts.model.ranks.len().max(1) as f64;
    let mut phases = Vec::new();
    let (mut communication_s, mut recorder_s) = (0.0, 0.0);
    for phase in &table.phases {
        let cost = &phase.cost;
        match cost.class {
            Class::Imbalance => phases.push((LossKind::Imbalance, phase, cost.caused_s)),
            Class::Control => phases.push((LossKind::Control, phase, cost.caused_s)),
            Class::Communication | Class::MessageDelay => communication_s += cost.total_s(),
            Class::Recorder => recorder_s += cost.total_s(),
        }
    }
    let whole = |kind, seconds: f64| Loss { measured: true, ..Loss::bare(kind, seconds / n_ranks) };
    // Only of what will be told is it worth finding out who and where.
    let least_s = LEAST * parts.verdict.elapsed_s * n_ranks;
    let mut losses: Vec<Loss> = phases
        .into_iter()
        .filter(|(.., caused_s)| *caused_s > 0.0 && *caused_s >= least_s)
        .map(|(kind, phase, caused_s)| {
            let ranks = causing(table, &phase.region, phase.cost.class);
            let at = ranks.first().and_then(|&(rank, _)| waits_for(parts, rank));
            // Balancing the selected ranks does nothing to one that is not.
            let selected =
                ranks.first().is_none_or(|&(first, _)| parts.model.ranks.iter().any(|one| one.rank == first));
            let balanced = parts.together && kind == LossKind::Imbalance && selected;
            let remedy = balanced.then(|| remedy(parts.what_if, &phase.region, &ranks)).flatten();
            Loss { ranks, region: Some(phase.region.clone()), at, remedy, ..whole(kind, caused_s) }
        })
        .collect();
    let ideal = parts.what_if.rows.iter().find(|row| row.question == Question::Ideal);
    let at = longest_besides_waiting(parts.sites, table);
    losses.push(Loss { at, remedy: ideal.cloned(), ..whole(LossKind::Communication, communication_s) });
    losses.push(whole(LossKind::Recorder, recorder_s));
    losses
}

/// The ranks that cause waiting by what they do in a region, with their shares.
fn causing(table: &BlockingTable, region: &str, class: Class) -> Vec<(u32, f64)> {
    let mut ranks: BTreeMap<u32, f64> = BTreeMap::new();
    for row in table.causes.iter().filter(|row| row.region == region && row.cause.class == class) {
        *ranks.entry(row.cause.rank).or_default() += row.cause.caused_s;
    }
    let all: f64 = ranks.values().sum();
    let mut ranks: Vec<(u32, f64)> = ranks.into_iter().map(|(rank, seconds)| (rank, seconds / all)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranks.truncate(MOST_RANKS);
    ranks
}

/// The operation and the place at which ranks wait longest because of a rank.
fn waits_for(parts: &Parts, rank: u32) -> Option<(String, Place)> {
    let (site, operation) = waited_because_of(parts.model.followed.as_ref()?, rank)?;
    Some((operation_name(operation), parts.places.get(site as usize)?.clone()))
}

/// The replay that tells what balancing a region would gain; else, where one rank causes it all, that of the rank.
fn remedy(what_if: &WhatIf, region: &str, ranks: &[(u32, f64)]) -> Option<ReplayRow> {
    let of_region =
        |row: &&ReplayRow| matches!(row.question, Question::Balanced(_)) && row.region.as_deref() == Some(region);
    what_if
        .rows
        .iter()
        .find(of_region)
        .or_else(|| {
            let &(rank, _) = ranks.first().filter(|(_, share)| *share > 0.9)?;
            what_if.rows.iter().find(|row| matches!(row.question, Question::RankAsMean(_)) && row.rank == Some(rank))
        })
        .cloned()
}

/// The call site at which calls take longest besides waiting for other ranks.
fn longest_besides_waiting(sites: &[SiteRow], table: &BlockingTable) -> Option<(String, Place)> {
    let calls = sites.iter().filter(|row| row.activity != Activity::Recorder);
    let besides_s = calls.map(|row| (row, row.sum.seconds - table.waits_at(row.id, &row.operation).waiting_s));
    let (row, _) = besides_s.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > 0.0)?;
    Some((row.operation.clone(), row.place.clone()))
}

/// The losses by the ranks' sums.
fn estimated(parts: &Parts) -> Vec<Loss> {
    let verdict = parts.verdict;
    let site = || {
        let site = verdict.waits_at.as_ref()?;
        Some((site.operations.first()?.clone(), site.place.clone()))
    };
    let worst = verdict.worst.as_ref();
    let region = worst.and_then(|worst| worst.region.as_ref());
    vec![
        Loss {
            ranks: worst.map(|worst| (worst.rank, 1.0)).into_iter().collect(),
            region: region.map(|region| region.path.clone()),
            at: site(),
            ..Loss::bare(LossKind::Imbalance, verdict.imbalance_s)
        },
        Loss { at: site(), ..Loss::bare(LossKind::MovingImbalance, verdict.serialization_s.unwrap_or(0.0)) },
        Loss { at: site(), ..Loss::bare(LossKind::Communication, verdict.communication_s) },
        Loss::bare(LossKind::Recorder, verdict.recorder_s),
    ]
}
