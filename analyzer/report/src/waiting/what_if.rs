//! Predicted times under other conditions, and the critical path.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_thresholds::verdict::{MIN_FACTOR_OF_EACH_ITERATION, MIN_SHOWN_SAVING};
use lbprof_thresholds::wording::MIN_GAIN_AT_ALL;
use serde::Serialize;

use crate::rows::bounds::{ListBounds, first_entries};
use crate::{ClusterTable, fraction_of};
use lbprof_analysis::model::code::region_state::RegionState;
use lbprof_analysis::model::replayed::replay_results::ReplayResults;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_analysis::model::{Model, OwnLoops, RegionIdx};
use lbprof_analysis::replay::what_if::{iterations_are_known, serial_least_s};

/// The prediction of a what-if scenario.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct PredictionRow {
    /// The what-if scenario; some may be missing: `prediction_notes` says why. `as measured`: replayed with everything as it was. `ideal network`:
    /// without latency, with infinite bandwidth. `network`: another one. `region balanced`: in the sum over the run; `region balanced in each iteration`:
    /// of the main loop. `run balanced in each iteration`: every loop, and the computation directly before and after detected ones. `regions balanced`:
    /// every region by itself in the sum over the run. `rank as the mean`: it computes no more than that. `region faster` and `function faster`, with
    /// what it calls: computed several times as fast. `rank faster`: the one with which all others exchange messages; without a rank all that answer
    /// requests. `threads balanced`: they work equally long in each instance of parallel regions. `function on all threads` of a rank, where one ran it
    /// alone.
    #[serde(rename = "scenario")]
    kind: &'static str,
    /// The scenario in the model.
    #[serde(skip)]
    pub scenario: WhatIfScenario,
    /// Of `region faster`, `function faster` and `rank faster`: how many times as fast; of the last one null: computation takes no time.
    times: Option<f64>,
    /// Of `network`: its latency.
    latency_s: Option<f64>,
    /// Of `network`: its bandwidth.
    bytes_per_s: Option<f64>,
    /// Path of the region that it is about; of `threads balanced` the parallel region, null: all; of `function on all threads` and `function faster` the
    /// function.
    pub region: Option<String>,
    /// The rank that it is about.
    pub rank: Option<u32>,
    /// The run's time then.
    pub time_s: f64,
    /// Predicted saving: the time of `as measured` less this, so that an error of the replay is on both sides.
    pub saved_s: f64,
    /// Saving as a fraction of the time that it is of.
    pub saved_share: f64,
    /// True if the user asked for it.
    #[serde(skip)]
    pub is_asked: bool,
}

/// The critical path as it is written.
#[derive(Debug, Serialize, crate::JsonSchema)]
pub(crate) struct CriticalPathRow<'a> {
    /// Its length.
    time_s: f64,
    /// By region and activity, the longest first.
    parts: &'a [PathRow],
    /// Number of ranks on the path.
    rank_count: usize,
    /// The path by rank, the longest first; 1,000 at most unless `--full` is given.
    ranks: &'a [PathRank],
    /// Its time on ranks that are not listed.
    left_out_s: f64,
}

/// A part of the critical path.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub struct PathRow {
    /// Path of the region.
    pub region: String,
    /// True if messages were in transit.
    #[serde(skip)]
    pub is_delay: bool,
    /// State there: an activity, a state of computation that was recorded, or `message delay`: messages were in transit; null: not known.
    #[serde(rename = "activity")]
    pub what: Option<&'static str>,
    /// Time on the path.
    pub time_s: f64,
    /// Fraction of the path's length.
    pub share: f64,
    /// The rank with most of it.
    pub rank: u32,
    /// Fraction of the time.
    pub rank_share: f64,
}

/// The part of the critical path that is on a rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct PathRank {
    /// The rank.
    pub rank: u32,
    /// Its time.
    pub time_s: f64,
    /// Fraction of the path's length.
    pub share: f64,
}

/// Returns the critical path by region and activity and by rank, the longest first, and its length in seconds.
fn path_rows(followed: &ReplayResults) -> (Vec<PathRow>, Vec<PathRank>, f64) {
    let mut by_state: BTreeMap<RegionState, BTreeMap<u32, f64>> = BTreeMap::new();
    let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
    for part in &followed.critical_path {
        let rank = followed.world_rank(part.thread);
        *by_state.entry(part.kind).or_default().entry(rank).or_default() += part.ns * 1e-9;
        *by_rank.entry(rank).or_default() += part.ns * 1e-9;
    }
    let mut by_rank: Vec<(u32, f64)> = by_rank.into_iter().collect();
    by_rank.sort_by(|a, b| b.1.total_cmp(&a.1));
    let path_s = by_rank.iter().map(|(_, time_s)| time_s).sum();
    let path_ranks =
        by_rank.into_iter().map(|(rank, time_s)| PathRank { rank, time_s, share: fraction_of(time_s, path_s) });
    let path = by_state.into_iter().map(|(state, ranks)| {
        let time_s: f64 = ranks.values().sum();
        let longest = ranks.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or((0, 0.0), |(&rank, &s)| (rank, s));
        PathRow {
            region: followed.regions.get(state.region() as usize).map_or_else(String::new, |one| one.path.clone()),
            is_delay: state.is_delay(),
            what: if state.is_delay() { Some("message delay") } else { state.name() },
            time_s,
            share: fraction_of(time_s, path_s),
            rank: longest.0,
            rank_share: fraction_of(longest.1, time_s),
        }
    });
    let mut path: Vec<PathRow> = path.collect();
    path.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    (path, path_ranks.collect(), path_s)
}

/// A note on the predictions: the reason why some are missing, or an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictionNote {
    /// Calls of some ranks were recorded as sums, so that there is no prediction at all.
    CallsAreSums,
    /// Not all that ranks wait for is known, so that there is no prediction at all.
    NotAllIsKnown,
    /// Work is handed out to whoever is ready first: no prediction that depends on who does what.
    OnDemand,
    /// Ranks have loops by themselves: balance only among the ranks of one loop.
    OwnLoops,
    /// Ranks run different code, and not in the same iterations: balance only among the ranks of one cluster.
    OtherCode,
    /// Ranks end their iterations with different calls, and it matters which of them are the same one: no balance in each iteration.
    EachIsUnknown,
    /// Messages waited for the other rank to be in MPI again, which is inferred from when calls ended.
    InferredProgress,
}

impl PredictionNote {
    /// Returns the note as a sentence without its full stop.
    pub fn text(self) -> &'static str {
        match self {
            PredictionNote::CallsAreSums => {
                "not known: calls of some ranks were recorded as sums (LBPROF_MODE=profile, or LBPROF_LIMIT was reached)"
            }
            PredictionNote::NotAllIsKnown => "not known: the logs do not show what some calls waited for (see Waiting)",
            PredictionNote::OnDemand => {
                "work is handed out on demand, to whoever is ready first: what balancing would gain cannot be replayed"
            }
            PredictionNote::OwnLoops => {
                "some ranks have a loop of their own, whose work the others cannot take over: balancing is predicted only among the ranks \
                 of one loop"
            }
            PredictionNote::OtherCode => {
                "the ranks run different code, and one cannot take over another's work: balancing is predicted only among the ranks of one \
                 cluster"
            }
            PredictionNote::EachIsUnknown => {
                "balance in each iteration is not predicted: ranks end their iterations with different calls, or go through different \
                 numbers of them, so it is not known which of them are the same one; mark iterations (LBPROF_ITERATION_BEGIN) to get a prediction"
            }
            PredictionNote::InferredProgress => {
                "some messages moved only once the other rank had called MPI again: that is inferred from when the calls of this run ended, and \
                 the predictions depend on it"
            }
        }
    }
}

/// Predictions, and the critical path.
#[derive(Clone, Debug, Default)]
pub struct WhatIfTable {
    /// A row per scenario: as measured, on an ideal network, then the others, largest gain first. Empty unless everything that ranks wait
    /// for is known.
    pub rows: Vec<PredictionRow>,
    /// Notes on the predictions.
    pub notes: Vec<PredictionNote>,
    /// Seconds of the run as measured, replayed with everything as it was; `None` where the ranks were not followed.
    pub measured_s: Option<f64>,
    /// The error of `measured_s`: over the run's elapsed time, less 1.
    pub replay_error: Option<f64>,
    /// The critical path by region and activity, the longest first.
    pub path: Vec<PathRow>,
    /// The critical path by rank, the longest first.
    pub path_ranks: Vec<PathRank>,
    /// Its length in seconds.
    pub path_s: f64,
}

impl WhatIfTable {
    /// Returns `None` if the ranks were not replayed.
    pub(crate) fn critical_path(&self, bounds: &ListBounds) -> Option<CriticalPathRow<'_>> {
        let ranks = first_entries(&self.path_ranks, bounds.entries);
        self.measured_s.map(|_| CriticalPathRow {
            time_s: self.path_s,
            parts: &self.path,
            rank_count: self.path_ranks.len(),
            ranks,
            left_out_s: self.path_ranks[ranks.len()..].iter().map(|one| one.time_s).sum(),
        })
    }

    /// Returns the predictions worth showing. Changes that the user did not ask for must save more than the error of the replay.
    pub fn shown_rows(&self) -> impl Iterator<Item = &PredictionRow> {
        let measured_s = self.measured_s.unwrap_or(0.0);
        let error_s = self.replay_error.unwrap_or(0.0).abs() * measured_s;
        let least_s = error_s.max(MIN_SHOWN_SAVING * measured_s);
        self.rows.iter().filter(move |row| {
            let is_change = row.scenario.is_redistribution()
                || matches!(row.scenario, WhatIfScenario::Faster(..) | WhatIfScenario::RankFaster(..));
            row.is_asked || !is_change || row.saved_s > least_s
        })
    }

    pub(crate) fn new(model: &Model, clusters: &ClusterTable) -> WhatIfTable {
        let Some(followed) = &model.followed else { return WhatIfTable::default() };
        let measured_s = replayed_s(followed, WhatIfScenario::Measured);
        let (all_is_known, on_demand) = (followed.counts.all_is_known(), followed.counts.hands_out_work);
        let mut rows: Vec<PredictionRow> = Vec::new();
        for &(scenario, time_s) in followed.scenario_times.iter().filter(|_| all_is_known) {
            let is_of_server = matches!(scenario, WhatIfScenario::RankFaster(..)) && !clusters.servers.is_empty();
            if is_of_server {
                continue;
            }
            // Scenarios that the user asked for are answered even if ranks run different code.
            let is_asked = model.asked.contains(&scenario);
            if scenario.is_redistribution() && (on_demand || !is_asked && mixes_codes(model, clusters, scenario)) {
                continue;
            }
            let time_s = match scenario {
                WhatIfScenario::Balanced(region) => time_s.max(serial_least_s(model, region)),
                // Balancing each iteration also balances their sum, because both scale a rank's work in an iteration by one factor. Balancing every
                // region separately may gain more.
                WhatIfScenario::RunBalancedEach => {
                    time_s.min(replayed_s(followed, WhatIfScenario::Balanced(0)).unwrap_or(f64::INFINITY)).max(0.0)
                }
                _ => time_s.max(0.0),
            };
            rows.push(PredictionRow::new(model, scenario, time_s, measured_s));
        }
        if let Some(measured_s) = measured_s.filter(|_| all_is_known) {
            rows.extend(faster_servers(model, clusters, measured_s));
        }
        rows.sort_by_key(prediction_order);
        let (path, path_ranks, path_s) = path_rows(followed);
        // Predictions for a region refer to the whole run.
        let elapsed_s = model.facts.selected.run_s.unwrap_or_else(|| model.elapsed_s());
        let replay_error = measured_s.filter(|_| elapsed_s > 0.0).map(|measured_s| measured_s / elapsed_s - 1.0);
        let mut table =
            WhatIfTable { rows, measured_s, replay_error, path, path_ranks, path_s, ..WhatIfTable::default() };
        table.notes = match (all_is_known, on_demand) {
            _ if measured_s.is_none() && model.ranks.len() < 2 => Vec::new(),
            _ if measured_s.is_none() => vec![PredictionNote::CallsAreSums],
            (false, _) => vec![PredictionNote::NotAllIsKnown],
            (_, true) => vec![PredictionNote::OnDemand],
            _ => table.notes_on_balance(model, clusters),
        };
        if all_is_known && measured_s.is_some() && followed.counts.is_progress_dependent() {
            table.notes.push(PredictionNote::InferredProgress);
        }
        table
    }

    fn notes_on_balance(&self, model: &Model, clusters: &ClusterTable) -> Vec<PredictionNote> {
        let mut notes = Vec::new();
        if !OwnLoops::from_model(model).is_empty() {
            notes.push(PredictionNote::OwnLoops);
        } else if clusters.are_apart() {
            notes.push(PredictionNote::OtherCode);
        }
        if !iterations_are_known(model, &model.outermost_iterated) {
            notes.push(PredictionNote::EachIsUnknown);
        }
        notes
    }

    /// Limits the saving to `most_s` seconds.
    pub(crate) fn limit(&self, row: &mut PredictionRow, most_s: f64) {
        row.saved_s = row.saved_s.min(most_s);
        row.saved_share = fraction_of(row.saved_s, self.measured_s.unwrap_or(0.0));
    }

    /// Returns whether balancing any work saves more than this share of the run.
    pub fn balance_gains(&self, least: f64) -> bool {
        let least_s = least * self.measured_s.unwrap_or(0.0);
        self.rows.iter().any(|row| row.scenario.is_redistribution() && self.is_gain(row) && row.saved_s > least_s)
    }

    /// Returns the prediction with the largest gain among those that `is_meant` accepts. Faster code must have been asked for. Balance in each
    /// iteration, which is harder to reach, must gain considerably more than the others.
    pub fn best_of(&self, is_meant: impl Fn(&PredictionRow) -> bool) -> Option<&PredictionRow> {
        let predictions = self.shown_rows().filter(|row| {
            let is_offered = row.is_asked || !matches!(row.scenario, WhatIfScenario::Faster(..));
            prediction_order(row).0 == LAST && is_offered && self.is_gain(row) && is_meant(row)
        });
        let (each, once): (Vec<&PredictionRow>, Vec<&PredictionRow>) = predictions
            .partition(|row| matches!(row.scenario, WhatIfScenario::BalancedEach(_) | WhatIfScenario::RunBalancedEach));
        match (each.first(), once.first()) {
            (Some(each), Some(once)) if each.saved_s <= MIN_FACTOR_OF_EACH_ITERATION * once.saved_s.max(0.0) => {
                Some(once)
            }
            (each, once) => each.or(once).copied(),
        }
    }

    /// Returns whether a saving counts as a gain. It does not if ranks with different loops or code would take over each other's work.
    pub fn is_gain(&self, row: &PredictionRow) -> bool {
        let of_all = match row.scenario {
            WhatIfScenario::Balanced(region) => region == 0,
            WhatIfScenario::RunBalancedEach | WhatIfScenario::RegionsBalanced | WhatIfScenario::RankAsMean(_) => true,
            _ => false,
        };
        !(of_all && self.notes.iter().any(|note| matches!(note, PredictionNote::OwnLoops | PredictionNote::OtherCode)))
    }
}

fn replayed_s(followed: &ReplayResults, scenario: WhatIfScenario) -> Option<f64> {
    followed.scenario_times.iter().find(|(replayed, _)| *replayed == scenario).map(|&(_, time_s)| time_s)
}

/// Returns the name of a function that scenarios are about.
fn asked_function(model: &Model, function: u32) -> Option<String> {
    Some(model.asked_threads.functions.get(function as usize)?.name.clone())
}

impl PredictionRow {
    /// Returns whether the predicted saving is large enough to be reported.
    pub fn has_gain(&self) -> bool {
        self.saved_share > MIN_GAIN_AT_ALL
    }

    fn new(model: &Model, scenario: WhatIfScenario, time_s: f64, measured_s: Option<f64>) -> PredictionRow {
        let asked = &model.asked_threads;
        let (kind, region, rank, times) = match scenario {
            WhatIfScenario::Ideal => ("ideal network", None, None, None),
            WhatIfScenario::Measured => ("as measured", None, None, None),
            WhatIfScenario::Network(..) => ("network", None, None, None),
            WhatIfScenario::Balanced(region) => ("region balanced", region_path(model, region), None, None),
            WhatIfScenario::BalancedEach(region) => {
                ("region balanced in each iteration", region_path(model, region), None, None)
            }
            WhatIfScenario::RunBalancedEach => ("run balanced in each iteration", None, None, None),
            WhatIfScenario::RegionsBalanced => ("regions balanced", None, None, None),
            WhatIfScenario::RankAsMean(rank) => ("rank as the mean", None, Some(rank), None),
            WhatIfScenario::ThreadsBalanced(region) => {
                let region = region.and_then(|region| asked.regions.get(region as usize));
                ("threads balanced", region.map(|region| region.name.clone()), None, None)
            }
            WhatIfScenario::Spread(spread) => ("function on all threads", asked_function(model, spread), None, None),
            WhatIfScenario::Faster(region, times) => ("region faster", region_path(model, region), None, Some(times)),
            WhatIfScenario::RankFaster(rank, times) => ("rank faster", None, Some(rank), Some(times)),
            WhatIfScenario::FunctionFaster(faster, times) => {
                ("function faster", asked_function(model, faster), None, Some(times))
            }
        };
        let (latency_s, bytes_per_s) = match scenario {
            WhatIfScenario::Network(latency_s, bytes_per_s) => (Some(latency_s), Some(bytes_per_s)),
            _ => (None, None),
        };
        let saved_s = measured_s.unwrap_or(time_s) - time_s;
        PredictionRow {
            kind,
            scenario,
            times: times.filter(|times| times.is_finite()),
            latency_s,
            bytes_per_s,
            region,
            rank: rank.and_then(|rank| Some(model.ranks.get(rank as usize)?.rank)),
            time_s,
            saved_s,
            saved_share: fraction_of(saved_s, measured_s.unwrap_or(0.0)),
            is_asked: model.asked.contains(&scenario),
        }
    }
}

/// Predicts faster answers of the ranks that hand out work. A replay would keep the order of requests, which depends on them.
fn faster_servers(model: &Model, clusters: &ClusterTable, measured_s: f64) -> Vec<PredictionRow> {
    let servers = &clusters.servers;
    let Some(first) = servers.first() else { return Vec::new() };
    let at = model.ranks.iter().position(|rank| rank.rank == first.rank).unwrap_or(0) as u32;
    let rows = [2.0, f64::INFINITY].into_iter().zip([0, 1]).map(|(times, change)| {
        let saved_s = servers.iter().map(|server| server.saved_s[change]).fold(f64::INFINITY, f64::min);
        let row =
            PredictionRow::new(model, WhatIfScenario::RankFaster(at, times), measured_s - saved_s, Some(measured_s));
        PredictionRow { rank: row.rank.filter(|_| servers.len() == 1), ..row }
    });
    rows.collect()
}

fn region_path(model: &Model, region: RegionIdx) -> Option<String> {
    Some(model.regions.get(region as usize)?.path.clone())
}

/// Returns whether a scenario would move work between ranks with different code in separate iterations.
fn mixes_codes(model: &Model, clusters: &ClusterTable, scenario: WhatIfScenario) -> bool {
    let region = match scenario {
        WhatIfScenario::Balanced(region) | WhatIfScenario::BalancedEach(region) => region,
        _ => 0,
    };
    let own_s = model.inclusive_s(region, Activity::Computation);
    let is_for_all = matches!(scenario, WhatIfScenario::RankAsMean(_));
    let changed = clusters.of.iter().zip(own_s).filter(|&(_, own_s)| is_for_all || own_s > 0.0);
    let mut codes: Vec<Option<u32>> = changed.map(|(of, _)| *of).collect();
    // A marked phase of a single rank would be spread over all.
    let is_spread = codes.len() == 1;
    let first = codes.first().copied().flatten();
    codes.retain(|of| of.is_none() || *of != first);
    clusters.are_apart() && (is_spread || !codes.is_empty())
}

/// First component of the sort key for scenarios that are sorted by gain.
const LAST: u8 = 2;

/// Returns the sort key. Among equal gains, to a nanosecond, scenarios about a rank come first because they say more.
fn prediction_order(row: &PredictionRow) -> (u8, i64, bool) {
    let lost_ns = (-row.saved_s * 1e9).round() as i64;
    match row.scenario {
        WhatIfScenario::Measured => (0, 0, false),
        WhatIfScenario::Ideal => (1, 0, false),
        _ => (LAST, lost_ns, row.rank.is_none()),
    }
}
