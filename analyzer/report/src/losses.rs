//! The run's losses, each by itself: how much, through whom, where, and what would be gained without it.
//!
//! They are the parts of the verdict: load imbalance, the kinds of serialization, communication, the recorder. So all losses
//! together are what is lost. Of communication, file access and the program's own code within MPI are losses of their own; of
//! imbalance, the control of parallelism. The part that is load imbalance is split by the regions in which the rank that computes longest exceeds the
//! mean. Where the ranks were followed, the causes of waiting (docs/metrics.md §4) show which ranks are waited for, and at which call.
//!
//! Where ranks do not share one work, or others than the selected are waited for, balance says little: then a loss is what causes waiting.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::{EndReason, RegionKind};
use lbprof_collector::record::NONE;
use lbprof_thresholds::metrics::MIN_TIME_WITHOUT_CORE;
use lbprof_thresholds::verdict::{
    MIN_CAUSE_OF_MAJOR_RANK, MIN_FACTOR_OF_OTHER_CHANGE, MIN_LOSS, MIN_LOSS_OF_ONE_RANK, MIN_LOSS_TO_CALLBACKS,
    MIN_LOSS_TO_ONE_RANKS_CALLS,
};
use serde::Serialize;

use super::blocking::{BlockingTable, CauseRow, site_of_line};
use super::functions::{CalledBackRow, ExplainedExcess, SampledFunctions};
use super::loss_kind::LossKind;
use super::serial;
use super::verdict::Verdict;
use super::what_if::{PredictionRow, WhatIfTable};
use super::{RegionRow, SiteRow};
use lbprof_analysis::metrics::blocking::{CauseClass, waited_because_of};
use lbprof_analysis::metrics::preemption::{preemption, without_core};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::what_if::WhatIfScenario;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::structure::symbols::{CodePlace, first_on_line};

/// Number of the operation of waits outside of calls.
const NO_CALL: u16 = 0;

/// Most ranks of a loss that are named.
const MOST_RANKS: usize = 8;

/// A loss.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EfficiencyLoss {
    /// Kind of the loss.
    pub kind: LossKind,
    /// Elapsed time that it costs: summed over ranks, divided by their number.
    pub lost_s: f64,
    /// True if `ranks` and the place of waiting come from the causes of waiting (`blocking`); otherwise they follow from the ranks' totals.
    pub measured: bool,
    /// True if the causes of waiting show how much it is, too: of ranks that do not share one work, and of selected ranks.
    #[serde(skip)]
    pub by_cause: bool,
    /// The ranks that cause it, the largest share first, at most 8. Of `communication` the rank for whose calls others wait for most of it, if there is one.
    #[serde(serialize_with = "serial::rows_as::<_, RankShare, _>")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<RankShare>"))]
    pub ranks: Vec<(u32, f64)>,
    /// True if a fifth of the loss or more is attributed to ranks that were preempted, or had no core for a fifth of their time: that may
    /// be why they are slow, and others may be slow when each rank has its core.
    pub lacked_core: bool,
    /// Path of the region in which it is caused; for serialization, most of it.
    pub region: Option<String>,
    /// The call at which ranks wait longest for these ranks; of `communication` the call that takes longest besides waiting, or that of the
    /// rank for whose calls others wait.
    #[serde(rename = "waits_at")]
    pub at: Option<LossAt>,
    /// Of computation that is waited for: in which functions the first of `ranks` computes longer than the mean in `region`; null if the rank was not
    /// sampled.
    pub explained: Option<ExplainedExcess>,
    /// Gain from avoiding the loss, by replay, or `None` if it was not computed, or is not known.
    #[serde(skip)]
    pub remedy: Option<PredictionRow>,
    /// Of the elapsed time that was recorded.
    pub share: Option<f64>,
    /// Gain from avoiding the loss, by how much the run gets shorter, which may be more than `lost_s`: that of the replay of `predictions` with that region balanced, that rank as the mean, all iterations balanced, or,
    /// no more than is lost, an ideal network; null if none was computed or saves anything, or no advice is given (`verdict.advised`). For
    /// `communication` also null if ranks had no core for much of the time: an ideal network would not give them one.
    pub saved_s: Option<f64>,
    /// `saved_s` / the time that it is of, as in `predictions`.
    pub saved_share: Option<f64>,
}

/// A rank and its share of a loss.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RankShare {
    /// The rank.
    rank: u32,
    /// Its share of the loss.
    share: f64,
}

impl From<&(u32, f64)> for RankShare {
    fn from(of_rank: &(u32, f64)) -> RankShare {
        let &(rank, share) = of_rank;
        RankShare { rank, share }
    }
}

/// A call at which time is lost.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossAt {
    /// The MPI function, without `MPI_`.
    pub operation: String,
    /// Location of the call.
    #[serde(flatten)]
    pub place: CodePlace,
    /// The share of the waiting for these ranks, or of all communication, that is there; null where it is not known.
    pub share: Option<f64>,
}

impl EfficiencyLoss {
    /// Adds in which functions the rank that causes it computes longer than others.
    pub(super) fn explain(&mut self, functions: Option<&SampledFunctions>) {
        let is_computation = matches!(self.kind, LossKind::Imbalance | LossKind::Control);
        let Some(functions) = functions.filter(|_| is_computation) else { return };
        if let (Some(&(rank, _)), Some(region)) = (self.ranks.first(), self.region.as_deref()) {
            self.explained = functions.explained_in(rank, Some(region));
        }
    }

    /// Returns the one rank that causes it, if there is one.
    pub fn single_cause(&self) -> Option<u32> {
        self.ranks.first().filter(|(_, share)| *share >= MIN_LOSS_OF_ONE_RANK).map(|&(rank, _)| rank)
    }

    /// Removes the predicted gain.
    pub(super) fn take_remedy(&mut self) {
        (self.remedy, self.saved_s, self.saved_share) = (None, None, None);
    }

    /// A loss by the causes of waiting, without its ranks and place.
    fn from_causes(kind: LossKind, lost_s: f64) -> EfficiencyLoss {
        EfficiencyLoss { measured: true, by_cause: true, ..EfficiencyLoss::bare(kind, lost_s) }
    }

    /// A loss by the ranks' sums, without its ranks and place.
    fn bare(kind: LossKind, lost_s: f64) -> EfficiencyLoss {
        EfficiencyLoss {
            kind,
            lost_s,
            measured: false,
            by_cause: false,
            ranks: Vec::new(),
            lacked_core: false,
            region: None,
            at: None,
            explained: None,
            remedy: None,
            share: None,
            saved_s: None,
            saved_share: None,
        }
    }
}

/// The inputs from which losses are computed.
pub(super) struct LossInputs<'a> {
    pub(super) model: &'a Model,
    pub(super) places: &'a [CodePlace],
    pub(super) verdict: &'a Verdict,
    pub(super) blocking: Option<&'a BlockingTable>,
    pub(super) what_if: &'a WhatIfTable,
    pub(super) sites: &'a [SiteRow],
    pub(super) regions: &'a [RegionRow],
    /// True if ranks share one work, so that balancing them is a gain.
    pub(super) together: bool,
    /// True if one rank is a master that waits for the others most of the time.
    pub(super) has_idle_master: bool,
    /// The functions that MPI calls, most CPU time first.
    pub(super) called_by_mpi: &'a [CalledBackRow],
}

impl LossInputs<'_> {
    /// Returns whether selected ranks may wait for others.
    fn others_are_waited_for(&self) -> bool {
        let facts = &self.model.facts;
        facts.selected.ranks.is_some() && self.model.ranks.len() < facts.n_ranks as usize
    }
}

/// The losses of at least 1 % of the elapsed time, the largest first.
pub(super) fn rows(inputs: &LossInputs) -> Vec<EfficiencyLoss> {
    // Where calls of some ranks are not known, what others wait for in collectives is not.
    let causes = inputs.blocking.filter(|table| table.counts.not_recorded == 0);
    let mut losses = match causes {
        Some(table) if !inputs.together || inputs.others_are_waited_for() => by_cause(inputs, table),
        _ => of_verdict(inputs, causes),
    };
    losses.retain(|loss| loss.lost_s > 0.0 && loss.lost_s >= MIN_LOSS * inputs.verdict.elapsed_s);
    for loss in &mut losses {
        let lost_s = loss.lost_s;
        // A network without latency saves of other losses, too. What a change of the work saves is one figure, wherever it is shown.
        if let Some(remedy) = loss.remedy.as_mut().filter(|remedy| !remedy.scenario.is_redistribution()) {
            inputs.what_if.limit(remedy, lost_s);
        }
        loss.saved_s = loss.remedy.as_ref().map(|remedy| remedy.saved_s);
        loss.saved_share = loss.remedy.as_ref().map(|remedy| remedy.saved_share);
        loss.share = (inputs.verdict.elapsed_s > 0.0).then(|| lost_s / inputs.verdict.elapsed_s);
        // Samples count CPU time, which a rank without a core does not take.
        loss.lacked_core = loss.kind != LossKind::CalledByMpi && lacked_core(inputs.model, &loss.ranks);
    }
    losses.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(a.kind.cmp(&b.kind)).then(a.region.cmp(&b.region)));
    losses
}

/// The losses by the causes of waiting.
fn by_cause(inputs: &LossInputs, table: &BlockingTable) -> Vec<EfficiencyLoss> {
    let n_ranks = inputs.model.ranks.len().max(1) as f64;
    let mut phases = Vec::new();
    let (mut communication_s, mut recorder_s) = (0.0, 0.0);
    for phase in &table.phases {
        let cost = &phase.cost;
        match cost.class {
            CauseClass::Imbalance => phases.push((LossKind::Imbalance, phase, cost.caused_s)),
            CauseClass::Control => phases.push((LossKind::Control, phase, cost.caused_s)),
            CauseClass::Communication | CauseClass::MessageDelay => communication_s += cost.total_s(),
            CauseClass::Recorder => recorder_s += cost.total_s(),
        }
    }
    // Only of what will be reported is it worth finding out who and where.
    let least_s = MIN_LOSS * inputs.verdict.elapsed_s * n_ranks;
    let (imbalance, others): (Vec<_>, Vec<_>) =
        phases.into_iter().partition(|(kind, ..)| inputs.has_idle_master && *kind == LossKind::Imbalance);
    let mut losses: Vec<EfficiencyLoss> = others
        .into_iter()
        .filter(|(.., caused_s)| *caused_s > 0.0 && *caused_s >= least_s)
        .map(|(kind, phase, caused_s)| {
            let ranks = causing(table, |region, class| region == phase.region && class == phase.cost.class);
            in_region(inputs, kind, &phase.region, ranks, caused_s / n_ranks)
        })
        .collect();
    // Wherever workers compute, their master waits: all of that is one loss, in the region that causes most of it.
    if let Some((kind, phase, _)) = imbalance.iter().max_by(|a, b| a.2.total_cmp(&b.2)) {
        let ranks = causing(table, |_, class| class == CauseClass::Imbalance);
        let caused_s: f64 = imbalance.iter().map(|(.., caused_s)| caused_s).sum();
        losses.push(in_region(inputs, *kind, &phase.region, ranks, caused_s / n_ranks));
    }
    let communication = EfficiencyLoss::from_causes(LossKind::Communication, communication_s / n_ranks);
    losses.extend(split_communication(inputs, table, communication));
    losses.push(EfficiencyLoss::from_causes(LossKind::Recorder, recorder_s / n_ranks));
    losses
}

/// Returns the loss to waiting for `ranks`, with their shares, in a region.
fn in_region(inputs: &LossInputs, kind: LossKind, region: &str, ranks: Vec<(u32, f64)>, lost_s: f64) -> EfficiencyLoss {
    // Balancing the selected ranks does nothing to one that is not.
    let selected = ranks.first().is_none_or(|&(first, _)| inputs.model.ranks.iter().any(|one| one.rank == first));
    let can_balance = inputs.together && kind == LossKind::Imbalance && selected;
    let remedy = can_balance.then(|| remedy(inputs.what_if, region, &ranks)).flatten();
    let class = if kind == LossKind::Control { CauseClass::Control } else { CauseClass::Imbalance };
    let at = waits_for(inputs, |path, of| of == class && (path == region || inputs.has_idle_master));
    EfficiencyLoss { ranks, region: Some(region.to_owned()), at, remedy, ..EfficiencyLoss::from_causes(kind, lost_s) }
}

/// Splits the loss to communication into communication proper, functions that MPI calls, and file access. A better network would save nothing of the last two.
fn split_communication(inputs: &LossInputs, table: &BlockingTable, all: EfficiencyLoss) -> [EfficiencyLoss; 3] {
    let all_s = all.lost_s;
    let calls = inputs.sites.iter().filter(|row| row.activity == Activity::Io);
    let own_s: f64 = calls.map(|row| besides_waiting_s(row, table)).sum();
    let causes: Vec<&CauseRow> = table.causes.iter().filter(|row| row.activity == Some(Activity::Io)).collect();
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    for row in &causes {
        *by_rank.entry(row.cause.rank).or_default() += row.cause.caused_s;
    }
    let caused_s: f64 = by_rank.values().sum();
    let lost_s = ((own_s + caused_s) / inputs.model.ranks.len().max(1) as f64).min(all.lost_s);
    let most = causes.into_iter().max_by(|a, b| a.cause.caused_s.total_cmp(&b.cause.caused_s));
    let ideal = inputs.what_if.rows.iter().find(|row| row.scenario == WhatIfScenario::Ideal);
    let rest = EfficiencyLoss {
        lost_s: all.lost_s - lost_s,
        measured: true,
        at: longest_besides_waiting(inputs, table, |row| {
            row.activity != Activity::Io && is_judged(inputs.verdict, row)
        }),
        remedy: ideal.cloned(),
        ..all
    };
    let called = called_by_mpi(inputs, table, rest.lost_s);
    let has_much = called.lost_s > MIN_LOSS_TO_CALLBACKS * all_s;
    let rest =
        EfficiencyLoss { lost_s: rest.lost_s - called.lost_s, remedy: rest.remedy.filter(|_| !has_much), ..rest };
    let rest = match rank_in_calls(inputs, table, rest.lost_s) {
        Some(delay) => EfficiencyLoss { ranks: vec![(delay.rank, delay.share)], at: Some(delay.at), ..rest },
        None => rest,
    };
    let io = EfficiencyLoss {
        kind: LossKind::FileAccess,
        lost_s,
        ranks: shares(by_rank),
        region: most.map(|row| row.region.clone()),
        at: longest_besides_waiting(inputs, table, |row| row.activity == Activity::Io),
        remedy: None,
        ..rest.clone()
    };
    [rest, called, io]
}

/// A rank for whose calls others wait.
struct RankInCalls {
    rank: u32,
    /// Share of a loss.
    share: f64,
    /// The call for which they wait longest.
    at: LossAt,
}

/// Returns the rank, of three or more, for whose calls others wait for most of the time `lost_s` that is lost to communication, however long they wait in calls of
/// their own.
fn rank_in_calls(inputs: &LossInputs, table: &BlockingTable, lost_s: f64) -> Option<RankInCalls> {
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
    let (site, operation) = longest.call.as_ref()?;
    let called = inputs.sites.iter().find(|row| row.id == *site && row.operation == *operation)?;
    let is_most = n_ranks > 2 && caused_s >= MIN_LOSS_TO_ONE_RANKS_CALLS * all_s;
    let share = Some(longest.cause.caused_s / all_s);
    let at = LossAt { operation: operation.clone(), place: called.place.clone(), share };
    is_most.then_some(RankInCalls { rank, share: caused_s / all_s, at })
}

/// The loss to functions that MPI calls, which are computation of the program, and to waiting for ranks that execute them, at most `most_s`.
///
/// The waiting for a rank's calls of an operation is divided in proportion to the time of these calls.
fn called_by_mpi(inputs: &LossInputs, table: &BlockingTable, most_s: f64) -> EfficiencyLoss {
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    for rank in &inputs.model.ranks {
        let mut by_operation: BTreeMap<u16, f64> = BTreeMap::new();
        for (at, time) in &rank.samples.called_back {
            *by_operation.entry(at.operation).or_default() += time.seconds;
        }
        for (operation, seconds) in by_operation {
            let calls = rank.sites.iter().filter(|(at, _)| at.operation == operation);
            let calls_s: f64 = calls.map(|(_, totals)| totals.seconds).sum();
            let share = if calls_s > 0.0 { (seconds / calls_s).min(1.0) } else { 0.0 };
            let caused_s = caused_by_calls(table, rank.rank, &operation_name(operation));
            *by_rank.entry(rank.rank).or_default() += seconds + share * caused_s;
        }
    }
    let mean_s = by_rank.values().sum::<f64>() / inputs.model.ranks.len().max(1) as f64;
    let first = inputs.called_by_mpi.first();
    let calls = inputs.sites.iter().filter(|row| first.is_some_and(|first| row.operation == first.operation));
    let longest = calls.max_by(|a, b| besides_waiting_s(a, table).total_cmp(&besides_waiting_s(b, table)));
    EfficiencyLoss {
        measured: true,
        ranks: shares(by_rank),
        at: longest.map(|row| LossAt { operation: row.operation.clone(), place: row.place.clone(), share: None }),
        ..EfficiencyLoss::bare(LossKind::CalledByMpi, mean_s.min(most_s))
    }
}

/// Returns the waiting that a rank causes by its calls of an operation, in seconds.
fn caused_by_calls(table: &BlockingTable, rank: u32, operation: &str) -> f64 {
    let of_rank = table.causes.iter().filter(|row| row.cause.rank == rank);
    let of_calls = of_rank.filter(|row| row.call.as_ref().is_some_and(|(_, name)| name == operation));
    of_calls.map(|row| row.cause.caused_s).sum()
}

/// The ranks that cause waiting by computation in these regions and of these classes, with their shares.
fn causing(table: &BlockingTable, is_meant: impl Fn(&str, CauseClass) -> bool) -> Vec<(u32, f64)> {
    let mut ranks: BTreeMap<u32, f64> = BTreeMap::new();
    for row in table.causes.iter().filter(|row| is_meant(&row.region, row.cause.class)) {
        *ranks.entry(row.cause.rank).or_default() += row.cause.caused_s;
    }
    shares(ranks)
}

/// The fraction of the sum that each rank has, the largest first, of [`MOST_RANKS`] ranks at most.
fn shares(by_rank: BTreeMap<u32, f64>) -> Vec<(u32, f64)> {
    let all: f64 = by_rank.values().sum();
    let mut ranks: Vec<(u32, f64)> = by_rank.into_iter().map(|(rank, seconds)| (rank, seconds / all)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranks.truncate(MOST_RANKS);
    ranks
}

/// The call at which ranks wait longest for what ranks do in the regions, by path, and of the classes that are meant. Where all ranks end by `MPI_Finalize`, those
/// without any call meanwhile wait there.
fn waits_for(inputs: &LossInputs, is_meant: impl Fn(&str, CauseClass) -> bool) -> Option<LossAt> {
    let first = first_on_line(inputs.places);
    let followed = inputs.model.followed.as_ref()?;
    let regions = &followed.regions;
    let shares = waited_because_of(
        followed,
        |kind| {
            let region = regions.get(kind.region() as usize);
            region.is_some_and(|region| is_meant(&region.path, CauseClass::classify(regions, kind)))
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

/// Finds the prediction for the change that would reduce a loss in a region: to balance it. If one rank causes it all, it is average work on that rank
/// if no replay balances the region, or if this saves much more: a replay cannot give others evenly what they hardly do. Where even work in each iteration
/// saves much more than either, as of a rank that is slow in some iterations only, it is that.
fn remedy(what_if: &WhatIfTable, region: &str, ranks: &[(u32, f64)]) -> Option<PredictionRow> {
    let gains: Vec<&PredictionRow> = what_if.shown_rows().filter(|row| row.saved_s > 0.0).collect();
    let mut rows = gains.iter().copied();
    let of_region =
        rows.find(|row| matches!(row.scenario, WhatIfScenario::Balanced(_)) && row.region.as_deref() == Some(region));
    let single_cause = ranks.first().filter(|(_, share)| *share > 0.9);
    let of_rank = single_cause.and_then(|&(rank, _)| {
        let mut of_ranks = gains.iter().copied().filter(|row| matches!(row.scenario, WhatIfScenario::RankAsMean(_)));
        of_ranks.find(|row| row.rank == Some(rank)).filter(|row| what_if.is_gain(row))
    });
    let of_sums = match (of_region, of_rank) {
        (Some(region), Some(rank)) if rank.saved_s > MIN_FACTOR_OF_OTHER_CHANGE * region.saved_s => Some(rank),
        (of_region, of_rank) => of_region.or(of_rank),
    };
    let mut of_iterations = gains.iter().copied().filter(|row| row.scenario == WhatIfScenario::RunBalancedEach);
    let of_iterations = of_iterations.find(|row| what_if.is_gain(row));
    match (of_sums, of_iterations) {
        (Some(sums), Some(each)) if each.saved_s > MIN_FACTOR_OF_OTHER_CHANGE * sums.saved_s => Some(each.clone()),
        (of_sums, _) => of_sums.cloned(),
    }
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
    let calls = inputs.sites.iter().filter(|row| row.activity != Activity::Recorder && is_meant(row));
    let all: Vec<(&SiteRow, f64)> = calls.map(|row| (row, besides_waiting_s(row, table))).collect();
    let all_s: f64 = all.iter().map(|(_, seconds)| seconds).sum();
    let (row, seconds) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > 0.0)?;
    Some(LossAt { operation: row.operation.clone(), place: row.place.clone(), share: Some(seconds / all_s) })
}

/// The parts of the verdict. `causes` are the causes of waiting, if known.
fn of_verdict(inputs: &LossInputs, causes: Option<&BlockingTable>) -> Vec<EfficiencyLoss> {
    let verdict = inputs.verdict;
    let serialization = verdict.serialization.unwrap_or_default();
    let slow_in_turn = (LossKind::SlowInTurn, serialization.slow_in_turn_s.unwrap_or(0.0));
    let slow_in_parts = (LossKind::SlowInParts, serialization.slow_in_parts_s.unwrap_or(0.0));
    let chains = (LossKind::DependencyChains, serialization.chains_s.unwrap_or(0.0));
    let undivided = (LossKind::Serialization, serialization.undivided_s());
    let mut losses = by_region(inputs, causes);
    losses.extend(
        [slow_in_turn, slow_in_parts, chains, undivided].map(|(kind, lost_s)| serialized(inputs, causes, kind, lost_s)),
    );
    let communication = EfficiencyLoss::bare(LossKind::Communication, verdict.communication_s);
    match causes {
        Some(table) => losses.extend(split_communication(inputs, table, communication)),
        None => losses.push(EfficiencyLoss { at: longest_call(verdict), ..communication }),
    }
    losses.push(EfficiencyLoss {
        measured: causes.is_some(),
        ..EfficiencyLoss::bare(LossKind::Recorder, verdict.recorder_s)
    });
    losses
}

/// Splits load imbalance by the regions in which the rank that computes longest exceeds the mean, in proportion to the excess.
fn by_region(inputs: &LossInputs, causes: Option<&BlockingTable>) -> Vec<EfficiencyLoss> {
    let verdict = inputs.verdict;
    let Some(worst) = verdict.worst.as_ref() else { return Vec::new() };
    let rank = inputs.model.ranks.iter().find(|one| one.rank == worst.rank);
    let Some(rank) = rank else { return Vec::new() };
    let mut excesses: Vec<(&RegionRow, f64)> =
        inputs.regions.iter().map(|row| (row, row.excess_computation_s(rank))).collect();
    excesses.retain(|&(_, excess_s)| excess_s > 0.0);
    let all_s: f64 = excesses.iter().map(|(_, excess_s)| excess_s).sum();
    let losses = excesses.into_iter().map(|(row, excess_s)| {
        let (kind, class) = match row.kind {
            RegionKind::Control => (LossKind::Control, CauseClass::Control),
            RegionKind::Useful | RegionKind::Serial => (LossKind::Imbalance, CauseClass::Imbalance),
        };
        // How much it is, is what one rank computes more: others that are waited for more there do not cause it.
        let found = causes
            .map(|table| causing(table, |region, of| region == row.path && of == class))
            .filter(|ranks| has_much(ranks, worst.rank));
        let measured = found.is_some();
        let ranks = found.unwrap_or_else(|| vec![(worst.rank, 1.0)]);
        let at = match measured {
            true => waits_for(inputs, |path, of| path == row.path && of == class),
            false => longest_call(verdict),
        };
        let remedy = (inputs.together && kind == LossKind::Imbalance && causes.is_some())
            .then(|| remedy(inputs.what_if, &row.path, &ranks))
            .flatten();
        let bare = EfficiencyLoss::bare(kind, verdict.imbalance_s * excess_s / all_s);
        EfficiencyLoss { measured, ranks, region: Some(row.path.clone()), at, remedy, ..bare }
    });
    losses.collect()
}

/// Returns whether a rank's share is at least [`MIN_CAUSE_OF_MAJOR_RANK`] of the largest. `ranks` are in descending order of shares.
fn has_much(ranks: &[(u32, f64)], rank: u32) -> bool {
    let most = ranks.first().map_or(0.0, |first| first.1);
    ranks.iter().any(|&(one, share)| one == rank && share >= MIN_CAUSE_OF_MAJOR_RANK * most)
}

/// Returns whether ranks that cause a good part of a loss had no core for a good part of their time: they may be slow for that reason alone.
fn lacked_core(model: &Model, ranks: &[(u32, f64)]) -> bool {
    let without_core = ranks.iter().filter(|&&(rank, _)| {
        let found = model.ranks.iter().find(|one| one.rank == rank);
        found.is_some_and(|rank| preemption(rank).is_some() || without_core(rank).is_some())
    });
    without_core.map(|(_, share)| share).sum::<f64>() >= MIN_TIME_WITHOUT_CORE
}

/// The loss to a kind of serialization. Its ranks are the slowest ones of iterations, if ranks are slow in turn, and otherwise those whose computation others wait for.
fn serialized(inputs: &LossInputs, causes: Option<&BlockingTable>, kind: LossKind, lost_s: f64) -> EfficiencyLoss {
    let ranks = match (kind, causes) {
        (LossKind::SlowInTurn, _) => slowest_in_turn(inputs.model),
        (_, Some(table)) => causing(table, |_, class| is_computation(class)),
        (_, None) => Vec::new(),
    };
    let phases = causes.map_or(&[][..], |table| &table.phases);
    let computing = phases.iter().filter(|phase| is_computation(phase.cost.class));
    let region = computing.max_by(|a, b| a.cost.caused_s.total_cmp(&b.cost.caused_s)).map(|phase| phase.region.clone());
    let at = match causes {
        Some(_) => waits_for(inputs, |_, class| is_computation(class)),
        None => longest_call(inputs.verdict),
    };
    let what_if = inputs.what_if;
    let change = match kind {
        LossKind::SlowInTurn => Some(WhatIfScenario::RunBalancedEach),
        LossKind::SlowInParts => Some(WhatIfScenario::RegionsBalanced),
        _ => None,
    };
    let balanced = what_if.rows.iter().find(|row| Some(row.scenario) == change && what_if.is_gain(row));
    let remedy = balanced.filter(|_| inputs.together).cloned();
    EfficiencyLoss { measured: causes.is_some(), ranks, region, at, remedy, ..EfficiencyLoss::bare(kind, lost_s) }
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
    shares(by_rank)
}

/// The call with most time in MPI.
fn longest_call(verdict: &Verdict) -> Option<LossAt> {
    let site = verdict.waits_at.as_ref()?;
    Some(LossAt { operation: site.operations.first()?.clone(), place: site.place.clone(), share: None })
}
