//! All that a report says, as data: made from the model once, formatted by [`text`] and [`json`], which compute nothing.

pub mod json;
pub mod table;
pub mod text;
pub mod verdict;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::definition::{EndReason, RegionKind};
use lbprof_collector::problem::Severity;
use lbprof_collector::profile::CounterTotals;
use lbprof_collector::{Activity, Problem, ProblemKind};

use crate::gather::operation_name;
use crate::metrics::load_balance::{self, PhaseProfileIdeal, Times};
use crate::metrics::preemption::{Preemption, preemption};
use crate::model::{Cell, Model, RankModel, RegionIdx, RunFacts, Seconds, SiteKey, Totals, Usage};
use crate::open::n_recorded;
use crate::symbols::Place;
pub use verdict::Verdict;

/// What a report says. All times in seconds.
#[derive(Clone, Debug)]
pub struct Report {
    /// Facts that all ranks agree on.
    pub facts: RunFacts,
    /// What the data are made of.
    pub data: DataFacts,
    /// What is missing or doubtful, the worst first.
    pub problems: Vec<ProblemRow>,
    /// What is lost, where.
    pub verdict: Verdict,
    /// The run's efficiencies.
    pub efficiency: EfficiencyRow,
    /// One row a rank, by number.
    pub ranks: Vec<RankRow>,
    /// One row an activity that occurs, the longest first.
    pub activities: Vec<ActivityRow>,
    /// One row a region, an outer one before its inner ones.
    pub regions: Vec<RegionRow>,
    /// The main loop, where one is known.
    pub iterations: Option<Iterations>,
    /// One row a call site, operation and activity, the longest first.
    pub call_sites: Vec<SiteRow>,
    /// The user's counters by region.
    pub counters: Vec<CounterRow>,
}

/// What the data are made of, and how far they may be trusted.
#[derive(Clone, Debug, Default)]
pub struct DataFacts {
    /// Elapsed time of the run.
    pub elapsed_s: f64,
    /// Ranks whose logs were read.
    pub ranks_present: u32,
    /// Ranks that were to record.
    pub ranks_recorded: u64,
    /// Different hosts.
    pub hosts: usize,
    /// Records, markers and parts of calls included.
    pub events: u64,
    /// Calls of MPI.
    pub calls: u64,
    /// Records that the recorder had to drop.
    pub dropped_events: u64,
    /// The recorder's own time, summed over ranks.
    pub recorder_s: f64,
    /// Time of ranks outside of their windows while others are in theirs, summed.
    pub idle_s: f64,
    /// Time for which the program had stopped recording, summed over ranks.
    pub paused_s: f64,
    /// Time of no known activity (lost records), summed over ranks.
    pub unknown_s: f64,
    /// Whether no data are missing.
    pub complete: bool,
}

/// A kind of problem, all ranks together.
#[derive(Clone, Debug)]
pub struct ProblemRow {
    /// The kind.
    pub kind: ProblemKind,
    /// Ranks that it concerns; empty: the run.
    pub ranks: Vec<u32>,
    /// How often, or how many records, bytes or ranks.
    pub count: u64,
    /// Where and how: different texts, the first few.
    pub details: Vec<String>,
}

/// Efficiencies, with the times that they follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EfficiencyRow {
    /// Elapsed, longest, mean and ideal time.
    pub times: Times,
    /// The estimate of the ideal time by phase profile.
    pub phase_profile: Option<PhaseProfileIdeal>,
}

/// Share of the elapsed time from which on the ideal time's uncertainty is too large to say what is lost to what.
const UNCERTAIN: f64 = 0.05;

impl EfficiencyRow {
    /// The ideal time where it is known well: its estimate is not above the elapsed time, as it is where ranks do not wait for
    /// each other's iterations, nor much too short, as it may be where they wait within iterations.
    pub fn certain_ideal(&self) -> Option<f64> {
        let (ideal, elapsed_s) = (self.phase_profile?, self.times.elapsed_s);
        (ideal.seconds <= 1.005 * elapsed_s && ideal.bound_s <= UNCERTAIN * elapsed_s).then_some(ideal.seconds)
    }
}

/// A rank.
#[derive(Clone, Debug)]
pub struct RankRow {
    /// Its number.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// Begin of its window, from the run's.
    pub begin_s: f64,
    /// End of its window.
    pub end_s: f64,
    /// How its log ended, where it says so.
    pub end_reason: Option<EndReason>,
    /// Operation and place of the call in which it was when its log ended without an end.
    pub in_call: Option<(String, Place)>,
    /// Time by activity.
    pub seconds: Seconds,
    /// Time outside of its window.
    pub idle_s: f64,
    /// Time for which recording was stopped.
    pub paused_s: f64,
    /// Its computation less the mean of all, as a share of the mean; `None` where no rank computes.
    pub over_mean: Option<f64>,
    /// Records.
    pub events: u64,
    /// Threads beside the first that called MPI, and their time in it.
    pub other_threads: (u32, f64),
    /// Resources used.
    pub usage: Option<Usage>,
}

/// An activity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivityRow {
    /// Which.
    pub activity: Activity,
    /// Time, summed over ranks.
    pub time_s: f64,
    /// Of ranks × elapsed time, 0..=1.
    pub share: f64,
    /// Mean over ranks.
    pub mean_s: f64,
    /// Longest of a rank.
    pub max_s: f64,
    /// The rank that has it; the lowest of several.
    pub max_rank: u32,
    /// Calls; of computation: intervals.
    pub calls: u64,
    /// Bytes sent, written or contributed.
    pub sent: u64,
    /// Bytes received, read or given.
    pub received: u64,
}

/// A region.
#[derive(Clone, Debug)]
pub struct RegionRow {
    /// Its index in the model.
    pub idx: RegionIdx,
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: RegionKind,
    /// Whether it is iterated.
    pub iterated: bool,
    /// Time in it alone, summed over ranks.
    pub time_s: f64,
    /// That of ranks × elapsed time, 0..=1.
    pub share: f64,
    /// Time in it and the regions within, summed over ranks.
    pub inclusive_s: f64,
    /// Time in it alone by activity: mean and longest over ranks; of those that occur.
    pub activities: Vec<(Activity, f64, f64)>,
    /// Efficiencies, inner regions included.
    pub efficiency: EfficiencyRow,
    /// The rank that computes longest in it, inner regions included.
    pub slowest_rank: Option<u32>,
    /// Iterations, where it is iterated: the most of any rank.
    pub iterations: Option<usize>,
    /// Invocations and work summed over ranks, memory the largest of any.
    pub totals: Totals,
}

/// The iterations of the main loop.
#[derive(Clone, Debug)]
pub struct Iterations {
    /// Path of the iterated region.
    pub region: String,
    /// One row an iteration.
    pub rows: Vec<IterationRow>,
}

/// An iteration, all ranks together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationRow {
    /// Its number.
    pub iteration: u32,
    /// Longest computation of a rank.
    pub max_s: f64,
    /// Mean computation of all ranks.
    pub mean_s: f64,
    /// The rank that computes longest.
    pub slowest_rank: u32,
    /// Ranks that went through it to its end.
    pub ranks: u32,
}

/// A call site, operation and activity.
#[derive(Clone, Debug)]
pub struct SiteRow {
    /// Index in the model's call sites; `None` where the recorder did not know it.
    pub id: Option<u32>,
    /// Where it is.
    pub place: Place,
    /// The operation's name.
    pub operation: String,
    /// Activity of its time.
    pub activity: Activity,
    /// Time, calls and bytes of the ranks' first threads, summed over ranks and regions.
    pub sum: Cell,
    /// The same of all other threads.
    pub other_threads: Cell,
    /// Longest time of a rank.
    pub max_s: f64,
    /// The rank that has it.
    pub max_rank: u32,
}

/// A counter in a region, all ranks together.
#[derive(Clone, Debug)]
pub struct CounterRow {
    /// Its name.
    pub name: String,
    /// Path of the region.
    pub region: String,
    /// Its values.
    pub totals: CounterTotals,
}

impl Report {
    /// The report on `model`, whose call sites are at `places`.
    pub fn new(model: &Model, places: &[Place]) -> Report {
        let efficiency = efficiency(model, 0);
        let call_sites = call_sites(model, places);
        let regions: Vec<RegionRow> = (0..model.regions.len() as u32).map(|idx| region(model, idx)).collect();
        let problems = problems(model);
        Report {
            facts: model.facts.clone(),
            data: data_facts(model, &problems),
            verdict: Verdict::new(model, &efficiency, &regions, &call_sites),
            problems,
            efficiency,
            ranks: ranks(model, places, &efficiency.times),
            activities: activities(model),
            regions,
            iterations: iterations(model),
            call_sites,
            counters: counters(model),
        }
    }

    /// How far the worst problem touches the figures; `None` where there is none.
    pub fn severity(&self) -> Option<Severity> {
        self.problems.iter().map(|problem| problem.kind.severity()).max()
    }
}

fn efficiency(model: &Model, region: RegionIdx) -> EfficiencyRow {
    EfficiencyRow {
        times: load_balance::times(model, region),
        phase_profile: load_balance::phase_profile_ideal(model, region),
    }
}

fn data_facts(model: &Model, problems: &[ProblemRow]) -> DataFacts {
    let window = model.window_s();
    let elapsed_s = model.elapsed_s();
    let mut hosts: Vec<&str> = model.ranks.iter().map(|rank| rank.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let sum = |of: &dyn Fn(&RankModel) -> f64| model.ranks.iter().map(of).sum::<f64>();
    let idle_s = sum(&|rank| rank.idle_s(window));
    let paused_s = sum(&|rank| rank.paused_s);
    let known_s = sum(&|rank| rank.inclusive(0).iter().sum::<f64>());
    DataFacts {
        elapsed_s,
        ranks_present: model.ranks.len() as u32,
        ranks_recorded: n_recorded(&model.facts.recorded_ranks, model.facts.n_ranks),
        hosts: hosts.len(),
        events: model.ranks.iter().map(|rank| rank.records).fold(0, u64::saturating_add),
        calls: model.ranks.iter().map(|rank| rank.calls).fold(0, u64::saturating_add),
        dropped_events: model.ranks.iter().map(|rank| rank.dropped).fold(0, u64::saturating_add),
        recorder_s: sum(&|rank| rank.inclusive(0)[Activity::Recorder as usize]),
        idle_s,
        paused_s,
        unknown_s: (elapsed_s * model.ranks.len() as f64 - idle_s - paused_s - known_s).max(0.0),
        complete: problems.iter().all(|problem| problem.kind.severity() != Severity::Partial),
    }
}

/// Problems from the logs and those that the figures show, by kind.
fn problems(model: &Model) -> Vec<ProblemRow> {
    /// A row while it is made: its ranks are looked up, and there may be many.
    #[derive(Default)]
    struct Row {
        ranks: BTreeSet<u32>,
        count: u64,
        details: Vec<String>,
    }
    let mut all: BTreeMap<ProblemKind, Row> = BTreeMap::new();
    let told = model.problems.iter().cloned().map(|problem| (problem, true));
    let is_not_closed = |one: &&Problem| one.kind == ProblemKind::NotClosed;
    let not_closed: BTreeSet<u32> = model.problems.iter().filter(is_not_closed).filter_map(|one| one.rank).collect();
    // Those that lost most to others come first, for only the first are shown.
    let mut by_loss: Vec<(Option<Preemption>, &RankModel)> =
        model.ranks.iter().map(|rank| (preemption(rank), rank)).collect();
    let delayed_s = |lost: &Option<Preemption>| lost.map_or(0.0, |lost| lost.delayed_s);
    by_loss.sort_by(|a, b| delayed_s(&b.0).total_cmp(&delayed_s(&a.0)));
    let seen = by_loss.into_iter().flat_map(|(lost, rank)| {
        let ended_early = rank.end_reason.is_none() && not_closed.contains(&rank.rank);
        seen_in_figures(model, rank, lost, ended_early)
    });
    for (problem, is_told) in told.chain(seen.chain(seen_in_all(model)).map(|problem| (problem, false))) {
        let row = all.entry(problem.kind).or_default();
        // What a rank's log has counted itself the figures only show once more.
        if is_told || problem.rank.is_none_or(|rank| !row.ranks.contains(&rank)) {
            row.count = row.count.saturating_add(problem.count);
        }
        row.ranks.extend(problem.rank);
        if !problem.detail.is_empty() && row.details.len() < MAX_DETAILS && !row.details.contains(&problem.detail) {
            row.details.push(problem.detail);
        }
    }
    let row =
        |(kind, Row { ranks, count, details })| ProblemRow { kind, ranks: ranks.into_iter().collect(), count, details };
    let mut rows: Vec<ProblemRow> = all.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.kind.severity()));
    rows
}

/// Most different details of one kind of problem that a report shows.
const MAX_DETAILS: usize = 64;

/// Share of its time from which on a rank's recorder disturbs what it records.
const DISTURBING: f64 = 0.05;

/// Share of the run from which on pauses that differ between ranks matter.
const UNEVEN: f64 = 0.01;

/// Problems of the run that no log states.
fn seen_in_all(model: &Model) -> Vec<Problem> {
    let problem = |kind, count, detail| Problem { kind, rank: None, count, detail };
    let mut found = Vec::new();
    let n_recorded = n_recorded(&model.facts.recorded_ranks, model.facts.n_ranks);
    if n_recorded < u64::from(model.facts.n_ranks) {
        let detail = format!("{n_recorded} of {} recorded", model.facts.n_ranks);
        found.push(problem(ProblemKind::LeftOut, u64::from(model.facts.n_ranks) - n_recorded, detail));
    }
    let paused = || model.ranks.iter().map(|rank| rank.paused_s);
    let (least, most) = (paused().fold(f64::INFINITY, f64::min), paused().fold(0.0, f64::max));
    if most - least > UNEVEN * model.elapsed_s() {
        found.push(problem(ProblemKind::UnevenPause, 1, format!("from {least:.3} s to {most:.3} s")));
    }
    found
}

/// Problems of a rank that its log does not state. `lost`: what it lost to other users of its core.
fn seen_in_figures(model: &Model, rank: &RankModel, lost: Option<Preemption>, ended_early: bool) -> Vec<Problem> {
    let problem = |kind, count, detail| Problem { kind, rank: Some(rank.rank), count, detail };
    let mut found = Vec::new();
    if ended_early {
        let begin = model.window_s().0;
        let detail =
            format!("rank {}: last seen at {:.3} s of {:.3} s", rank.rank, rank.end_s - begin, model.elapsed_s());
        found.push(problem(ProblemKind::NotClosed, 1, detail));
    }
    let recorder_s = rank.inclusive(0)[Activity::Recorder as usize];
    if recorder_s > DISTURBING * (rank.end_s - rank.begin_s) {
        let detail = format!("rank {}: {recorder_s:.3} s of {:.3} s", rank.rank, rank.end_s - rank.begin_s);
        found.push(problem(ProblemKind::Disturbed, 1, detail));
    }
    if let Some(lost) = lost {
        let detail = format!(
            "rank {}: {} {:.2} s of {:.2} s of computation, pushed off {:.0} times a second",
            rank.rank,
            if lost.certain { "at least" } else { "about" },
            lost.delayed_s,
            lost.computation_s,
            lost.switches_per_s,
        );
        let count = rank.usage.map_or(1, |usage| usage.thread_involuntary);
        found.push(problem(ProblemKind::Preempted, count, detail));
    }
    if rank.other_threads > 0 {
        let detail = format!(
            "rank {}: {} more thread{}, {:.3} s in MPI",
            rank.rank,
            rank.other_threads,
            if rank.other_threads == 1 { "" } else { "s" },
            rank.other_threads_mpi_s
        );
        found.push(problem(ProblemKind::OtherThreads, u64::from(rank.other_threads), detail));
    }
    if rank.paused_s > 0.0 {
        found.push(problem(ProblemKind::Paused, 1, format!("rank {}: {:.3} s", rank.rank, rank.paused_s)));
    }
    found
}

fn ranks(model: &Model, places: &[Place], times: &Times) -> Vec<RankRow> {
    let window = model.window_s();
    let mean = times.avg_computation_s;
    let row = |rank: &RankModel| {
        let seconds = rank.inclusive(0);
        let computation = seconds[Activity::Computation as usize];
        RankRow {
            rank: rank.rank,
            host: rank.host.clone(),
            pid: rank.pid,
            begin_s: rank.begin_s - window.0,
            end_s: rank.end_s - window.0,
            end_reason: rank.end_reason,
            in_call: rank.pending.filter(|_| rank.end_reason.is_none()).map(|call| {
                let place = call.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default();
                (operation_name(call.operation), place)
            }),
            seconds,
            idle_s: rank.idle_s(window),
            paused_s: rank.paused_s,
            over_mean: (mean > 0.0).then(|| computation / mean - 1.0),
            events: rank.records,
            other_threads: (rank.other_threads, rank.other_threads_mpi_s),
            usage: rank.usage,
        }
    };
    model.ranks.iter().map(row).collect()
}

fn activities(model: &Model) -> Vec<ActivityRow> {
    let whole = model.elapsed_s() * model.ranks.len() as f64;
    let mut rows: Vec<ActivityRow> = Vec::new();
    for activity in Activity::ALL {
        let mut sum = Cell::default();
        let (mut max_s, mut max_rank) = (0.0, 0);
        for rank in &model.ranks {
            let mut own = Cell::default();
            rank.cells.iter().filter(|((_, of), _)| *of == activity).for_each(|(_, cell)| own += *cell);
            if own.seconds > max_s {
                (max_s, max_rank) = (own.seconds, rank.rank);
            }
            sum += own;
        }
        if sum == Cell::default() {
            continue;
        }
        rows.push(ActivityRow {
            activity,
            time_s: sum.seconds,
            share: if whole > 0.0 { sum.seconds / whole } else { 0.0 },
            mean_s: sum.seconds / model.ranks.len().max(1) as f64,
            max_s,
            max_rank,
            calls: sum.calls,
            sent: sum.sent,
            received: sum.received,
        });
    }
    rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    rows
}

fn region(model: &Model, idx: RegionIdx) -> RegionRow {
    let facts = &model.regions[idx as usize];
    let n = model.ranks.len().max(1) as f64;
    let mut sums = Seconds::default();
    let mut longest = Seconds::default();
    let mut totals = Totals::default();
    for rank in &model.ranks {
        for ((sum, max), seconds) in sums.iter_mut().zip(&mut longest).zip(rank.exclusive(idx)) {
            *sum += seconds;
            *max = seconds.max(*max);
        }
        let own = rank.totals(idx);
        totals.invocations = totals.invocations.saturating_add(own.invocations);
        totals.operations += own.operations;
        totals.quanta += own.quanta;
        totals.max_resident = totals.max_resident.max(own.max_resident);
        totals.max_swapped = totals.max_swapped.max(own.max_swapped);
    }
    let whole = model.elapsed_s() * n;
    let time_s: f64 = sums.iter().sum();
    let computation = model.inclusive_s(idx, Activity::Computation);
    let occurring = Activity::ALL.into_iter().filter(|&activity| sums[activity as usize] > 0.0);
    RegionRow {
        idx,
        path: facts.path.clone(),
        kind: facts.kind,
        iterated: facts.iterated,
        time_s,
        share: if whole > 0.0 { time_s / whole } else { 0.0 },
        inclusive_s: model.ranks.iter().map(|rank| rank.inclusive(idx).iter().sum::<f64>()).sum(),
        activities: occurring.map(|of| (of, sums[of as usize] / n, longest[of as usize])).collect(),
        efficiency: efficiency(model, idx),
        slowest_rank: largest(&computation).map(|at| model.ranks[at].rank),
        iterations: facts.iterated.then(|| {
            model.ranks.iter().filter_map(|rank| rank.series(idx)).map(|series| series.numbers.len()).max().unwrap_or(0)
        }),
        totals,
    }
}

/// Index of the largest value, the first of several; `None` where all are zero.
pub(crate) fn largest(values: &[f64]) -> Option<usize> {
    let max = values.iter().copied().fold(0.0, f64::max);
    values.iter().position(|&value| value == max && max > 0.0)
}

/// The iterated region that takes the longest, of those outside of all others.
fn iterations(model: &Model) -> Option<Iterations> {
    let candidates = model.outermost_iterated.iter().copied();
    let time_s = |idx: RegionIdx| model.ranks.iter().map(|rank| rank.inclusive(idx).iter().sum::<f64>()).sum::<f64>();
    let idx = candidates.max_by(|&a, &b| time_s(a).total_cmp(&time_s(b)).then(b.cmp(&a)))?;
    let mut sums: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for series in model.ranks.iter().filter_map(|rank| rank.series(idx)) {
        for (at, &number) in series.numbers.iter().enumerate() {
            let computation = series.seconds[Activity::Computation as usize].get(at).copied().unwrap_or(0.0);
            let (sum, ranks) = sums.entry(number).or_default();
            let is_whole = series.end_s.get(at).is_some_and(|end| !end.is_nan());
            (*sum, *ranks) = (*sum + computation, *ranks + u32::from(is_whole));
        }
    }
    let n = model.ranks.len().max(1) as f64;
    let rows = model.slowest.get(idx as usize)?.iter().map(|slowest| {
        let (sum, ranks) = sums.get(&slowest.iteration).copied().unwrap_or_default();
        IterationRow {
            iteration: slowest.iteration,
            max_s: slowest.computation_s,
            mean_s: sum / n,
            slowest_rank: slowest.rank,
            ranks,
        }
    });
    Some(Iterations { region: model.regions[idx as usize].path.clone(), rows: rows.collect() })
}

/// One row a place, operation and activity. Calls on one source line are one place.
fn call_sites(model: &Model, places: &[Place]) -> Vec<SiteRow> {
    let mut first_on_line: BTreeMap<&Place, u32> = BTreeMap::new();
    let lines: Vec<Place> = places.iter().map(|place| Place { offset: 0, ..place.clone() }).collect();
    let first: Vec<u32> = (0u32..)
        .zip(&lines)
        .map(|(site, line)| if line.line.is_some() { *first_on_line.entry(line).or_insert(site) } else { site })
        .collect();
    let by_place = |sites: &[(SiteKey, Cell)]| {
        let mut sums: BTreeMap<SiteKey, Cell> = BTreeMap::new();
        for (key, cell) in sites {
            let site = key.site.map(|site| first.get(site as usize).copied().unwrap_or(site));
            *sums.entry(SiteKey { site, region: 0, ..*key }).or_default() += *cell;
        }
        sums
    };
    let mut rows: BTreeMap<SiteKey, SiteRow> = BTreeMap::new();
    for rank in &model.ranks {
        let new = |key: &SiteKey| SiteRow {
            id: key.site,
            place: key.site.and_then(|site| places.get(site as usize)).cloned().unwrap_or_default(),
            operation: operation_name(key.operation),
            activity: key.activity,
            sum: Cell::default(),
            max_s: 0.0,
            max_rank: rank.rank,
            other_threads: Cell::default(),
        };
        for (key, cell) in by_place(&rank.sites) {
            let row = rows.entry(key).or_insert_with_key(new);
            row.sum += cell;
            if cell.seconds > row.max_s {
                (row.max_s, row.max_rank) = (cell.seconds, rank.rank);
            }
        }
        for (key, cell) in by_place(&rank.other_sites) {
            rows.entry(key).or_insert_with_key(new).other_threads += cell;
        }
    }
    let mut rows: Vec<SiteRow> = rows.into_values().collect();
    rows.sort_by(|a, b| {
        let time = |row: &SiteRow| (row.sum.seconds, row.other_threads.seconds);
        let ((a, a_others), (b, b_others)) = (time(a), time(b));
        b.total_cmp(&a).then(b_others.total_cmp(&a_others))
    });
    rows
}

fn counters(model: &Model) -> Vec<CounterRow> {
    let mut sums: BTreeMap<(RegionIdx, u32), CounterTotals> = BTreeMap::new();
    for (key, totals) in model.ranks.iter().flat_map(|rank| &rank.counters) {
        sums.entry(*key).or_default().add(totals);
    }
    let row = |((region, counter), totals): ((RegionIdx, u32), CounterTotals)| CounterRow {
        name: model.counters[counter as usize].clone(),
        region: model.regions[region as usize].path.clone(),
        totals,
    };
    sums.into_iter().map(row).collect()
}
