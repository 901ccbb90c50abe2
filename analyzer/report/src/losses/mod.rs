//! Facts about what is lost: which ranks cause it, where, and what would be gained. The findings read them; parts below 1 % of the elapsed time are left out.
//!
//! They are about the parts of the verdict. File access and the program's own code within MPI are parts of communication by themselves, the
//! control of parallelism is one of imbalance: load imbalance is split by the regions in which the rank that computes longest exceeds the
//! mean. Where the ranks were followed, the causes of waiting (docs/metrics.md §4) show which ranks are waited for, and at which call.
//!
//! Where ranks do not share one work, or others than the selected are waited for, balance says little: then a part is what causes waiting.

pub(super) mod base_tables;
pub mod emptied_ranks;
pub mod finding;
pub mod idle_master;
pub mod last_task;
pub mod longest_rank;
pub mod names;
pub mod outside_work;
pub mod rare_delays;
pub mod slow_parts;
pub mod uneven_groups;
pub mod verdict;

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::{EndReason, RegionKind};
use lbprof_collector::record::NONE;
use lbprof_thresholds::verdict::{
    MIN_CALLS_OF_ONE_RANK, MIN_CAUSE_OF_MAJOR_RANK, MIN_LOSS, MIN_LOSS_OF_ONE_RANK, MIN_LOSS_TO_CALLBACKS,
    MIN_LOSS_TO_ONE_RANKS_CALLS,
};

use super::code::functions::SampledFunctions;
use super::waiting::blocking::{BlockingTable, CauseRow, site_of_line};
use super::waiting::what_if::PredictionRow;
use super::{RegionRow, SiteRow, fraction_of};
use base_tables::BaseTables;
use lbprof_analysis::metrics::blocking::{CauseClass, waited_because_of};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::code::symbols::{CodePlace, first_on_line};
use verdict::Verdict;

/// Number of the operation of waits outside of calls.
const NO_CALL: u16 = 0;

/// Most ranks of a loss that are kept.
const MOST_RANKS: usize = 8;

/// Facts about the parts of the loss. A part is `None` or empty if it is less than 1 % of the elapsed time.
#[derive(Clone, Debug, Default)]
pub struct LossFacts {
    /// Seconds that ranks lose to longer computation of others: the regions that cost 1 % or more.
    pub imbalance_s: f64,
    /// The control of parallelism, by region, the largest first.
    pub control: Vec<LossPlace>,
    /// Different ranks are the slowest in different iterations.
    pub slow_in_turn: Option<LossPlace>,
    /// Ranks wait in chains within iterations.
    pub dependency_chains: Option<LossPlace>,
    /// Ranks wait for one another; it is not known how.
    pub undivided: Option<LossPlace>,
    /// Data transfer and time in MPI calls other than waiting; where the ideal time is not known, all waiting that is not due to imbalance, too.
    pub communication: Option<LossPlace>,
    /// Access to files through MPI besides waiting for other ranks, and waiting for ranks that access files. The verdict counts it as communication.
    pub file_access: Option<LossPlace>,
    /// Functions of the program that MPI calls, as for a user-defined reduction. The verdict counts it as communication.
    pub called_by_mpi: Option<LossPlace>,
}

/// A part of the loss: how much, by whom, and where.
#[derive(Clone, Debug, Default)]
pub struct LossPlace {
    /// Elapsed time that it costs: summed over ranks, divided by their number.
    pub lost_s: f64,
    /// The ranks that cause it and their shares of it, the largest first, at most 8. For communication it is the rank for whose calls others wait longest, if there is one.
    pub ranks: Vec<(u32, f64)>,
    /// Path of the region that causes most of it.
    pub region: Option<String>,
    /// The call at which ranks wait longest for these ranks; for communication the call that takes longest besides waiting, or the call
    /// of the rank that others wait for.
    pub at: Option<LossAt>,
    /// Gain without it, by replay: of even work in each iteration, or, no more than is lost, of an ideal network. `None` if it was not computed.
    pub remedy: Option<PredictionRow>,
}

/// A call at which time is lost.
#[derive(Clone, Debug)]
pub struct LossAt {
    /// The MPI function, without `MPI_`.
    pub operation: String,
    /// Location of the call.
    pub place: CodePlace,
    /// The share of the waiting for these ranks, or of all communication, that is there, or `None` if it is not known.
    pub share: Option<f64>,
}

impl LossAt {
    /// Returns whether the program's own function (`MPI_Op_create`) may run in the call.
    pub fn is_reduction(&self) -> bool {
        ["reduce", "Reduce", "scan", "Scan"].iter().any(|part| self.operation.contains(part))
    }
}

impl LossPlace {
    /// Returns the one rank that causes it, if there is one.
    pub fn single_cause(&self) -> Option<u32> {
        self.ranks.first().filter(|(_, share)| *share >= MIN_LOSS_OF_ONE_RANK).map(|&(rank, _)| rank)
    }

    /// Returns the ranks that cause at least half as much as any, ascending; empty if these are most of `n_ranks`.
    pub fn major_ranks(&self, n_ranks: usize) -> Vec<u32> {
        let most = self.ranks.first().map_or(0.0, |first| first.1);
        let major = self.ranks.iter().filter(|(_, share)| *share >= MIN_CAUSE_OF_MAJOR_RANK * most);
        let mut ranks: Vec<u32> = major.map(|&(rank, _)| rank).collect();
        ranks.sort_unstable();
        let are_some = 2 * ranks.len() <= n_ranks || ranks.len() <= 3 && ranks.len() < n_ranks;
        if are_some { ranks } else { Vec::new() }
    }
}

/// The inputs from which the facts are found.
pub(super) struct LossInputs<'a> {
    pub(super) model: &'a Model,
    pub(super) places: &'a [CodePlace],
    pub(super) verdict: &'a Verdict,
    pub(super) base: &'a BaseTables<'a>,
    /// True if one rank is a master that waits for the others most of the time.
    pub(super) has_idle_master: bool,
}

impl LossInputs<'_> {
    /// Returns whether ranks share one work, so that balancing them is a gain.
    fn are_together(&self) -> bool {
        !self.base.clusters.are_apart()
    }

    /// Returns whether selected ranks may wait for others.
    fn others_are_waited_for(&self) -> bool {
        let facts = &self.model.facts;
        facts.selected.ranks.is_some() && self.model.ranks.len() < facts.n_ranks as usize
    }

    /// Returns the seconds from which on a part is worth a word.
    fn min_loss_s(&self) -> f64 {
        MIN_LOSS * self.verdict.elapsed_s
    }

    /// Returns whether a part is worth a word.
    fn is_large(&self, place: &LossPlace) -> bool {
        place.lost_s > 0.0 && place.lost_s >= self.min_loss_s()
    }

    /// Adds up the parts that are worth a word.
    fn sum_of_large(&self, parts_s: impl Iterator<Item = f64>) -> f64 {
        parts_s.filter(|&lost_s| lost_s >= self.min_loss_s()).sum()
    }
}

impl LossFacts {
    /// Finds out who causes what is lost, and where.
    pub(super) fn new(inputs: &LossInputs) -> LossFacts {
        // Where calls of some ranks are not known, what others wait for in collectives is not.
        let causes = inputs.base.blocking.as_ref().filter(|table| table.counts.not_recorded == 0);
        let mut facts = match causes {
            Some(table) if !inputs.are_together() || inputs.others_are_waited_for() => by_cause(inputs, table),
            _ => of_verdict(inputs, causes),
        };
        facts.control.retain(|place| inputs.is_large(place));
        facts.control.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(a.region.cmp(&b.region)));
        for place in [
            &mut facts.slow_in_turn,
            &mut facts.dependency_chains,
            &mut facts.undivided,
            &mut facts.communication,
            &mut facts.file_access,
            &mut facts.called_by_mpi,
        ] {
            *place = place.take().filter(|place| inputs.is_large(place));
        }
        facts
    }

    /// Adds the parts of `all_s`, the time lost in calls: communication proper, functions that MPI calls, and file access. A better network would save nothing of the
    /// last two.
    fn with_calls(self, inputs: &LossInputs, table: &BlockingTable, all_s: f64) -> LossFacts {
        let calls = inputs.base.call_sites.iter().filter(|row| row.activity == Activity::Io);
        let own_s: f64 = calls.map(|row| besides_waiting_s(row, table)).sum();
        let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
        for row in table.causes.iter().filter(|row| row.activity == Some(Activity::Io)) {
            *by_rank.entry(row.cause.rank).or_default() += row.cause.caused_s;
        }
        let caused_s: f64 = by_rank.values().sum();
        let files_s = ((own_s + caused_s) / inputs.model.ranks.len().max(1) as f64).min(all_s);
        let called = called_by_mpi(inputs, table, all_s - files_s);
        let lost_s = all_s - files_s - called.lost_s;
        let has_much = called.lost_s > MIN_LOSS_TO_CALLBACKS * all_s;
        let ideal = inputs.base.what_if.rows.iter().find(|row| row.scenario == WhatIfScenario::Ideal && !has_much);
        let mut remedy = ideal.cloned();
        if let Some(row) = &mut remedy {
            // A network without latency saves of other parts, too.
            inputs.base.what_if.limit(row, lost_s);
        }
        let communication = rank_in_calls(inputs, table, lost_s).unwrap_or_else(|| LossPlace {
            lost_s,
            at: longest_besides_waiting(inputs, table, |row| {
                row.activity != Activity::Io && is_judged(inputs.verdict, row)
            }),
            ..LossPlace::default()
        });
        LossFacts {
            communication: Some(LossPlace { remedy, ..communication }),
            file_access: Some(LossPlace {
                lost_s: files_s,
                ranks: rank_shares(by_rank),
                at: longest_besides_waiting(inputs, table, |row| row.activity == Activity::Io),
                ..LossPlace::default()
            }),
            called_by_mpi: Some(called),
            ..self
        }
    }
}

/// Returns the facts by the causes of waiting.
fn by_cause(inputs: &LossInputs, table: &BlockingTable) -> LossFacts {
    let n_ranks = inputs.model.ranks.len().max(1) as f64;
    let (mut imbalance, mut control) = (Vec::new(), Vec::new());
    let mut communication_s = 0.0;
    for phase in &table.phases {
        let cost = &phase.cost;
        match cost.class {
            CauseClass::Imbalance => imbalance.push(cost.caused_s),
            // Only of what will be reported is it worth finding out who.
            CauseClass::Control if cost.caused_s >= inputs.min_loss_s() * n_ranks => control.push(LossPlace {
                lost_s: cost.caused_s / n_ranks,
                ranks: causing_ranks(table, |region, class| region == phase.region && class == CauseClass::Control),
                region: Some(phase.region.clone()),
                ..LossPlace::default()
            }),
            CauseClass::Communication | CauseClass::MessageDelay => communication_s += cost.total_s(),
            CauseClass::Control | CauseClass::Recorder => {}
        }
    }
    if inputs.has_idle_master {
        // Wherever workers compute, their master waits.
        imbalance = vec![imbalance.iter().sum()];
    }
    let imbalance_s = inputs.sum_of_large(imbalance.iter().map(|caused_s| caused_s / n_ranks));
    let facts = LossFacts { imbalance_s, control, ..LossFacts::default() };
    facts.with_calls(inputs, table, communication_s / n_ranks)
}

/// Returns the rank, of three or more, for whose calls others wait for most of the time `lost_s` that is lost to communication, however long they wait in calls of
/// their own.
fn rank_in_calls(inputs: &LossInputs, table: &BlockingTable, lost_s: f64) -> Option<LossPlace> {
    let n_ranks = inputs.model.ranks.len();
    let all_s = lost_s * n_ranks as f64;
    let mut calls: Vec<&CauseRow> = table.causes.iter().filter(|row| row.activity != Some(Activity::Io)).collect();
    calls.retain(|row| row.cause.class == CauseClass::Communication);
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    for row in &calls {
        *by_rank.entry(row.cause.rank).or_default() += row.cause.caused_s;
    }
    let (rank, caused_s) = by_rank.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    calls.retain(|row| row.cause.rank == rank);
    let longest = calls.into_iter().max_by(|a, b| a.cause.caused_s.total_cmp(&b.cause.caused_s))?;
    let operation = longest.operation.as_ref()?;
    let called = inputs.base.call_sites.iter().find(|row| row.id == longest.callsite && row.operation == *operation)?;
    // Others who make the same calls as often wait in them for one another, or for messages to move.
    let own = called.callers.iter().find(|(one, _)| *one == rank).map_or(0, |&(_, calls)| calls);
    let is_its_own = own as f64 * n_ranks as f64 >= MIN_CALLS_OF_ONE_RANK * called.sum.calls as f64;
    let is_most = n_ranks > 2 && is_its_own && caused_s >= MIN_LOSS_TO_ONE_RANKS_CALLS * all_s;
    let share = Some(longest.cause.caused_s / all_s);
    let at = Some(LossAt { operation: operation.clone(), place: called.place.clone(), share });
    is_most.then(|| LossPlace { lost_s, ranks: vec![(rank, caused_s / all_s)], at, ..LossPlace::default() })
}

/// The loss to functions that MPI calls, which are computation of the program, and to waiting for ranks that execute them, at most `most_s`.
///
/// The waiting for a rank's calls of an operation is divided in proportion to the time of these calls.
fn called_by_mpi(inputs: &LossInputs, table: &BlockingTable, most_s: f64) -> LossPlace {
    let ranks = &inputs.model.ranks;
    let mut by_operation: BTreeMap<u16, BTreeMap<u32, f64>> = BTreeMap::new();
    for rank in ranks {
        for (at, time) in &rank.samples.called_back {
            *by_operation.entry(at.operation).or_default().entry(rank.rank).or_default() += time.seconds;
        }
    }
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    for (operation, own) in by_operation {
        let name = operation_name(operation);
        let rows: Vec<&SiteRow> = inputs.base.call_sites.iter().filter(|row| row.operation == name).collect();
        let all_s = rows.iter().map(|row| row.sum.seconds).sum();
        let besides_waiting = fraction_of(rows.iter().map(|row| besides_waiting_s(row, table)).sum(), all_s);
        let Some((&longest, &longest_s)) = own.iter().max_by(|a, b| a.1.total_cmp(b.1)) else { continue };
        for rank in ranks {
            let calls = rank.sites.iter().filter(|(at, _)| at.operation == operation);
            let calls_s: f64 = calls.map(|(_, totals)| totals.seconds).sum();
            let own_s = own.get(&rank.rank).copied().unwrap_or(0.0);
            let caused_s = fraction_of(own_s, calls_s).min(1.0) * caused_by_calls(table, rank.rank, &name);
            *by_rank.entry(rank.rank).or_default() += own_s + caused_s;
            // Others are in the same collective calls meanwhile, which is no waiting for a late rank.
            *by_rank.entry(longest).or_default() += (longest_s.min(calls_s * besides_waiting) - own_s).max(0.0);
        }
    }
    let mean_s = by_rank.values().sum::<f64>() / inputs.model.ranks.len().max(1) as f64;
    // The functions that MPI calls have most CPU time first.
    let called = inputs.base.functions.as_ref().map(SampledFunctions::called_by_mpi).unwrap_or_default();
    let first = called.first();
    let calls = inputs.base.call_sites.iter().filter(|row| first.is_some_and(|first| row.operation == first.operation));
    let longest = calls.max_by(|a, b| besides_waiting_s(a, table).total_cmp(&besides_waiting_s(b, table)));
    LossPlace {
        lost_s: mean_s.min(most_s),
        ranks: rank_shares(by_rank),
        at: longest.map(|row| LossAt { operation: row.operation.clone(), place: row.place.clone(), share: None }),
        ..LossPlace::default()
    }
}

/// Returns the waiting that a rank causes by its calls of an operation, in seconds.
fn caused_by_calls(table: &BlockingTable, rank: u32, operation: &str) -> f64 {
    let of_rank = table.causes.iter().filter(|row| row.cause.rank == rank);
    let of_calls = of_rank.filter(|row| row.operation.as_deref() == Some(operation));
    of_calls.map(|row| row.cause.caused_s).sum()
}

/// The ranks that cause waiting by computation in these regions and of these classes, with their shares.
fn causing_ranks(table: &BlockingTable, is_meant: impl Fn(&str, CauseClass) -> bool) -> Vec<(u32, f64)> {
    let mut ranks: BTreeMap<u32, f64> = BTreeMap::new();
    for row in table.causes.iter().filter(|row| is_meant(&row.region, row.cause.class)) {
        *ranks.entry(row.cause.rank).or_default() += row.cause.caused_s;
    }
    rank_shares(ranks)
}

/// The fraction of the sum that each rank has, the largest first, of [`MOST_RANKS`] ranks at most.
fn rank_shares(by_rank: BTreeMap<u32, f64>) -> Vec<(u32, f64)> {
    let all: f64 = by_rank.values().sum();
    let mut ranks: Vec<(u32, f64)> = by_rank.into_iter().map(|(rank, seconds)| (rank, seconds / all)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranks.truncate(MOST_RANKS);
    ranks
}

/// Returns the call at which ranks wait longest for the computation of others. Where all ranks end by `MPI_Finalize`, those
/// without any call meanwhile wait there.
fn waits_for_computation(inputs: &LossInputs) -> Option<LossAt> {
    let first = first_on_line(inputs.places);
    let followed = inputs.model.followed.as_ref()?;
    let regions = &followed.regions;
    let shares = waited_because_of(
        followed,
        |kind| {
            let region = regions.get(kind.region() as usize);
            region.is_some_and(|region| inputs.verdict.is_of_ranks(&region.path))
                && is_computation(CauseClass::classify(regions, kind))
        },
        |site| site_of_line(&first, site),
    );
    let all_finalize = inputs.model.ranks.iter().all(|rank| rank.end_reason == Some(EndReason::Finalize));
    let known = shares.into_iter().filter(|(call, _)| call.site != NONE || (call.operation == NO_CALL && all_finalize));
    let (call, share) = known.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let (operation, place) = match call.operation {
        NO_CALL => ("Finalize".to_owned(), CodePlace::default()),
        operation => (operation_name(operation), inputs.places.get(call.site as usize)?.clone()),
    };
    Some(LossAt { operation, place, share: Some(share) })
}

/// Seconds of a call site's calls besides waiting for other ranks.
fn besides_waiting_s(row: &SiteRow, table: &BlockingTable) -> f64 {
    (row.sum.seconds - table.waits_at(row.id, &row.operation).waiting_s).max(0.0)
}

/// Returns whether ranks that the verdict is about make these calls.
fn is_judged(verdict: &Verdict, row: &SiteRow) -> bool {
    let cluster = verdict.cluster.as_ref();
    cluster.is_none_or(|cluster| row.callers.iter().any(|(rank, _)| cluster.ranks.contains(rank)))
}

/// The call site at which some calls take longest besides waiting for other ranks.
fn longest_besides_waiting(
    inputs: &LossInputs,
    table: &BlockingTable,
    is_meant: impl Fn(&SiteRow) -> bool,
) -> Option<LossAt> {
    let calls = inputs.base.call_sites.iter().filter(|row| row.activity != Activity::Recorder && is_meant(row));
    let all: Vec<(&SiteRow, f64)> = calls.map(|row| (row, besides_waiting_s(row, table))).collect();
    let all_s: f64 = all.iter().map(|(_, seconds)| seconds).sum();
    let (row, seconds) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > 0.0)?;
    Some(LossAt { operation: row.operation.clone(), place: row.place.clone(), share: Some(seconds / all_s) })
}

/// Returns the facts about the parts of the verdict. `causes` are the causes of waiting, if known.
fn of_verdict(inputs: &LossInputs, causes: Option<&BlockingTable>) -> LossFacts {
    let (verdict, what_if) = (inputs.verdict, &inputs.base.what_if);
    let serialization = verdict.serialization.unwrap_or_default();
    let waiting = waiting_for_computation(inputs, causes);
    let in_each = what_if.rows.iter().find(|row| row.scenario == WhatIfScenario::RunBalancedEach);
    let facts = LossFacts {
        slow_in_turn: Some(LossPlace {
            lost_s: serialization.slow_in_turn_s.unwrap_or(0.0),
            ranks: slowest_in_turn(inputs.model),
            remedy: in_each.filter(|row| inputs.are_together() && what_if.is_gain(row)).cloned(),
            ..waiting.clone()
        }),
        dependency_chains: Some(LossPlace { lost_s: serialization.chains_s.unwrap_or(0.0), ..waiting.clone() }),
        undivided: Some(LossPlace { lost_s: serialization.undivided_s(), ..waiting }),
        ..by_region(inputs, causes)
    };
    let lost_s = verdict.communication_s;
    match causes {
        Some(table) => facts.with_calls(inputs, table, lost_s),
        None => LossFacts {
            communication: Some(LossPlace { lost_s, at: longest_call(inputs), ..LossPlace::default() }),
            ..facts
        },
    }
}

/// Splits load imbalance by the regions in which the rank that computes longest exceeds the mean, in proportion to the excess.
fn by_region(inputs: &LossInputs, causes: Option<&BlockingTable>) -> LossFacts {
    let verdict = inputs.verdict;
    let Some(worst) = verdict.worst.as_ref() else { return LossFacts::default() };
    let rank = inputs.model.ranks.iter().find(|one| one.rank == worst.rank);
    let Some(rank) = rank else { return LossFacts::default() };
    let mut excesses: Vec<(&RegionRow, f64)> =
        inputs.base.regions.iter().map(|row| (row, row.excess_computation_s(rank))).collect();
    excesses.retain(|&(_, excess_s)| excess_s > 0.0);
    let all_s: f64 = excesses.iter().map(|(_, excess_s)| excess_s).sum();
    let (of_control, of_work): (Vec<_>, Vec<_>) =
        excesses.into_iter().partition(|(row, _)| row.kind == RegionKind::Control);
    let control = of_control.into_iter().map(|(row, excess_s)| {
        // How much it is, is what one rank computes more: others that are waited for more there do not cause it.
        let found = causes
            .map(|table| causing_ranks(table, |region, class| region == row.path && class == CauseClass::Control))
            .filter(|ranks| has_much(ranks, worst.rank));
        LossPlace {
            lost_s: verdict.imbalance_s * excess_s / all_s,
            ranks: found.unwrap_or_else(|| vec![(worst.rank, 1.0)]),
            region: Some(row.path.clone()),
            ..LossPlace::default()
        }
    });
    let control = control.collect();
    let work_s = of_work.iter().map(|(_, excess_s)| verdict.imbalance_s * excess_s / all_s);
    LossFacts { imbalance_s: inputs.sum_of_large(work_s), control, ..LossFacts::default() }
}

/// Returns whether a rank's share is at least [`MIN_CAUSE_OF_MAJOR_RANK`] of the largest. `ranks` are in descending order of shares.
fn has_much(ranks: &[(u32, f64)], rank: u32) -> bool {
    let most = ranks.first().map_or(0.0, |first| first.1);
    ranks.iter().any(|&(one, share)| one == rank && share >= MIN_CAUSE_OF_MAJOR_RANK * most)
}

/// Returns who computes while others wait, in which region most of that is, and where ranks wait.
fn waiting_for_computation(inputs: &LossInputs, causes: Option<&BlockingTable>) -> LossPlace {
    let Some(table) = causes else {
        return LossPlace { at: longest_call(inputs), ..LossPlace::default() };
    };
    let verdict = inputs.verdict;
    let computing =
        table.phases.iter().filter(|phase| is_computation(phase.cost.class) && verdict.is_of_ranks(&phase.region));
    let most = computing.max_by(|a, b| a.cost.caused_s.total_cmp(&b.cost.caused_s));
    LossPlace {
        ranks: causing_ranks(table, |region, class| is_computation(class) && verdict.is_of_ranks(region)),
        region: most.map(|phase| phase.region.clone()),
        at: waits_for_computation(inputs),
        ..LossPlace::default()
    }
}

fn is_computation(class: CauseClass) -> bool {
    matches!(class, CauseClass::Imbalance | CauseClass::Control)
}

/// The ranks that are the slowest of an iteration, each with its share of the computation of all slowest, the largest first.
fn slowest_in_turn(model: &Model) -> Vec<(u32, f64)> {
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    let slowest = model.outermost_iterated.iter().filter_map(|&idx| model.slowest.get(idx as usize));
    for one in slowest.flatten() {
        *by_rank.entry(one.rank).or_default() += one.computation_s;
    }
    rank_shares(by_rank)
}

/// The call with most time in MPI: the longest come first in the table.
fn longest_call(inputs: &LossInputs) -> Option<LossAt> {
    let mut in_mpi =
        inputs.base.call_sites.iter().filter(|row| row.activity != Activity::Recorder && row.sum.seconds > 0.0);
    let row = in_mpi.find(|row| is_judged(inputs.verdict, row))?;
    Some(LossAt { operation: row.operation.clone(), place: row.place.clone(), share: None })
}
