//! The model of a run: ranks × regions × activities × iterations, in seconds on one clock, with names.
//!
//! [`crate::profile`] makes it from logs; metrics and reports read it. Nothing in it refers to a rank's own ids: regions are
//! unified across ranks by their paths, call sites by module and offset, communicators by their uids.

pub mod alone;
pub mod followed;
pub mod kind;
pub mod loops;
pub mod moment;
pub mod question;
pub mod selected;
pub mod sites;
pub mod waits;

use crate::model::loops::FoundLoopOfRank;
use std::collections::{BTreeMap, BTreeSet};

use lbprof_collector::definition::{EndReason, RankList, RegionKind};
use lbprof_collector::polling::Polling;
use lbprof_collector::profile::CounterTotals;
use lbprof_collector::{Activity, Problem};

use crate::model::alone::Alone;
use crate::model::followed::Followed;

use crate::model::selected::Selected;
use crate::read::open::n_recorded;

use crate::model::loops::{Loop, Without};
use crate::model::sites::Sites;

/// Seconds by activity, at the index of the activity's number.
pub type Seconds = [f64; Activity::COUNT];

/// Index of a region in [`Model::regions`]; 0 is the whole program.
pub type RegionIdx = u32;

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Facts of the run as a whole.
    pub facts: RunFacts,
    /// The ranks whose logs could be read, by number.
    pub ranks: Vec<RankModel>,
    /// Ranks of which sums of profile mode lie across an end of the selected time and are left out, so that nothing can be
    /// said of it.
    pub uncut_ranks: Vec<u32>,
    /// Regions, an outer one before its inner ones, else by name. The first is "main", the whole program.
    pub regions: Vec<Region>,
    /// Places from which MPI is called, and the files that they lie in.
    pub sites: Sites,
    /// Communicators, by uid.
    pub communicators: Vec<Communicator>,
    /// Names of the user's counters.
    pub counters: Vec<String>,
    /// By region: the largest computation of any rank in each iteration of the innermost iterated region that the region
    /// is, or lies in; empty for regions outside of iterations.
    pub slowest: Vec<Vec<Slowest>>,
    /// Loops found in the calls, outer ones before those in them.
    pub loops: Vec<Loop>,
    /// Why there are none.
    pub without_loop: Without,
    /// Regions whose time is known by iteration while that of the region around them is not.
    pub outermost_iterated: Vec<RegionIdx>,
    /// The iterated region that the user takes for the main loop's.
    pub chosen_loop: Option<RegionIdx>,
    /// The time in which one rank alone computes; `None` where that is not known: calls were not recorded one by one, or the clocks
    /// of hosts cannot be compared.
    pub alone: Option<Alone>,
    /// Who waited for whom, and how long the run would take otherwise; `None` where the ranks were not followed.
    pub followed: Option<Followed>,
    /// What is missing or doubtful.
    pub problems: Vec<Problem>,
    /// What the figures show of the data beside that; of a part of the time or of the regions, what those of all show.
    pub found: Vec<Problem>,
}

/// What all ranks agree on.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// The run's id.
    pub run_id: u64,
    /// Size of MPI_COMM_WORLD.
    pub n_ranks: u32,
    /// Ranks that were to record; empty: all.
    pub recorded_ranks: RankList,
    /// The part of the run that everything is of.
    pub selected: Selected,
    /// What the time between unsuccessful polls was taken for.
    pub polling: Polling,
    /// Command line of the lowest rank.
    pub command: Vec<String>,
    /// Name and version of the MPI library.
    pub mpi: String,
    /// Its binary interface.
    pub abi: String,
    /// Version of lbprof that recorded.
    pub recorder: String,
    /// Seconds since 1970 when the lowest rank's log was opened.
    pub started_unix_s: u64,
    /// Settings of the recorder, as NAME=value.
    pub settings: Vec<String>,
    /// Seconds that the same work takes on one rank, where the user says so.
    pub t_seq_s: Option<f64>,
    /// The user's parameters.
    pub params: BTreeMap<String, f64>,
    /// Whether times of different ranks can be compared.
    pub common_clock: bool,
    /// Largest bound of the clocks' error against rank 0's, in seconds; `None` where no offset was measured.
    pub clock_error_s: Option<f64>,
}

/// A rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankModel {
    /// Its number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Its host's name.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// When its window begins (MPI_Init returns), in nanoseconds of rank 0's CLOCK_MONOTONIC as far as that is known.
    pub begin_ns: i64,
    /// When its window begins, on the run's clock, which is 0 when the first rank's does.
    pub begin_s: f64,
    /// When its window ends (MPI_Finalize is entered, or the log ends).
    pub end_s: f64,
    /// How its log ended, where it says so.
    pub end_reason: Option<EndReason>,
    /// The status with which its process ended, where that is known: not of a process that was killed, nor of one that ended with 0
    /// after MPI_Finalize.
    pub exit_status: Option<i32>,
    /// The call in which it was when its log ended, where it ended in one.
    pub pending: Option<Pending>,
    /// Time, calls and bytes, exclusive, by (region, activity); sorted. Of the thread that called MPI_Init.
    pub cells: Vec<((RegionIdx, Activity), Cell)>,
    /// Seconds by region, inner regions included; sorted. Every region that the rank entered is here, the first always.
    pub inclusive: Vec<(RegionIdx, Seconds)>,
    /// Seconds of the computation in `inclusive` that belong to an iteration of the innermost iterated region that the
    /// region is, or lies in; sorted.
    pub in_iterations: Vec<(RegionIdx, f64)>,
    /// Invocations, work and memory by region; sorted.
    pub totals: Vec<(RegionIdx, Totals)>,
    /// Iterated regions and the rank's iterations in them; sorted.
    pub iterations: Vec<(RegionIdx, Series)>,
    /// The main loop found in its calls, where there is one.
    pub found: Option<FoundLoopOfRank>,
    /// The same as `cells` by call site and operation; sorted.
    pub sites: Vec<(SiteKey, Cell)>,
    /// The same of all other threads together; sorted.
    pub other_sites: Vec<(SiteKey, Cell)>,
    /// Values of the user's counters by (region, counter); sorted.
    pub counters: Vec<((RegionIdx, u32), CounterTotals)>,
    /// Seconds during which the program had stopped recording.
    pub paused_s: f64,
    /// Records, markers and parts included, of all threads.
    pub records: u64,
    /// Calls, of all threads.
    pub calls: u64,
    /// Records that the recorder had to drop.
    pub dropped: u64,
    /// Threads beside the first that called MPI.
    pub other_threads: u32,
    /// Seconds that they spent in MPI.
    pub other_threads_mpi_s: f64,
    /// What its first thread polled.
    pub polls: PollTimes,
    /// Resources used between the first and the last sample, where there are two.
    pub usage: Option<Usage>,
    /// Thread level that MPI gave: 0 single … 3 multiple.
    pub thread_level: Option<u8>,
}

/// Polls that found nothing, and the time between them; see [`lbprof_collector::polling`]. Of a whole rank, whatever time was selected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PollTimes {
    /// Polls.
    pub polls: u64,
    /// Those of them of which the recorder decided, in profile mode, what the time between them is.
    pub decided: u64,
    /// Waits by polling.
    pub waits: u64,
    /// Seconds within the polls.
    pub within_s: f64,
    /// Seconds between them that count as waiting.
    pub waiting_s: f64,
    /// Those of them that may be computation.
    pub maybe_computation_s: f64,
    /// Seconds between them that count as computation.
    pub computation_s: f64,
    /// Those of them that may be waiting.
    pub maybe_waiting_s: f64,
}

impl PollTimes {
    /// Adds those of another rank.
    pub fn add(&mut self, other: &PollTimes) {
        self.polls = self.polls.saturating_add(other.polls);
        self.decided = self.decided.saturating_add(other.decided);
        self.waits = self.waits.saturating_add(other.waits);
        self.within_s += other.within_s;
        self.waiting_s += other.waiting_s;
        self.maybe_computation_s += other.maybe_computation_s;
        self.computation_s += other.computation_s;
        self.maybe_waiting_s += other.maybe_waiting_s;
    }
}

/// Time, calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Seconds.
    pub seconds: f64,
    /// Calls (of computation: intervals).
    pub calls: u64,
    /// Bytes sent, written or contributed.
    pub sent: u64,
    /// Bytes received, read or given.
    pub received: u64,
}

impl std::ops::AddAssign for Cell {
    fn add_assign(&mut self, other: Cell) {
        self.seconds += other.seconds;
        self.calls = self.calls.saturating_add(other.calls);
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
    }
}

/// A call that had not returned when the log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Number of the operation.
    pub operation: u16,
    /// Index in [`Model::sites`]; `None` where the recorder did not know it.
    pub site: Option<u32>,
}

/// A region: a path of nested phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its own name.
    pub name: String,
    /// The names from the outermost on, joined with '/'; one within a name is `\/`.
    pub path: String,
    /// The region around it; of the first, itself.
    pub parent: RegionIdx,
    /// What its time is.
    pub kind: RegionKind,
    /// Whether its invocations are iterations.
    pub iterated: bool,
    /// Whether it was found in the calls, not marked.
    pub found: bool,
}

/// A program or shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Path of its file as the program loaded it.
    pub path: String,
    /// GNU build id, empty where it has none.
    pub build_id: Vec<u8>,
}

/// A place from which MPI is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Index in [`Sites::modules`]; `None` where the address lies in none.
    pub module: Option<u32>,
    /// Return address as the module's own tables state it; the raw address where there is no module.
    pub offset: u64,
}

/// Key of a call site's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteKey {
    /// Index in [`Model::sites`]; `None` where the recorder did not know it.
    pub site: Option<u32>,
    /// Number of the operation.
    pub operation: u16,
    /// Activity of its time.
    pub activity: Activity,
    /// Region from which it was called.
    pub region: RegionIdx,
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// The same on all members.
    pub uid: u64,
    /// World ranks of the group of the lowest rank that is in it.
    pub group: RankList,
    /// World ranks of its remote group, or empty.
    pub remote: RankList,
}

/// Invocations, work and memory of a region on a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Times it was entered.
    pub invocations: u64,
    /// Operations that the user counted in it.
    pub operations: f64,
    /// Quanta that the user counted in it.
    pub quanta: f64,
    /// Largest resident memory sampled at its ends, in bytes.
    pub max_resident: u64,
    /// Largest swapped memory, in bytes.
    pub max_swapped: u64,
}

/// A rank's iterations of one iterated region, by columns; all columns but the absent ones are equally long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Numbers of the iterations, ascending.
    pub numbers: Vec<u32>,
    /// When each began, in seconds on the run's clock; NaN where it is not known.
    pub begin_s: Vec<f64>,
    /// When each ended; NaN where it is not known.
    pub end_s: Vec<f64>,
    /// Seconds in each activity, inner regions included, at the index of the activity's number; empty where the rank
    /// spends none.
    pub seconds: [Vec<f64>; Activity::COUNT],
    /// Numbers of the iterations with which the rank enters a loop that was found in its calls, ascending: what it computes before
    /// their first call is left outside of the loop, so that their computation is not known.
    pub entering: Vec<u32>,
}

impl Series {
    /// Whether the computation of the iteration with this number is known.
    pub fn knows_computation(&self, number: u32) -> bool {
        self.entering.binary_search(&number).is_err()
    }

    /// Seconds in `activity` in the iteration at this place.
    pub fn seconds_at(&self, activity: Activity, at: usize) -> f64 {
        self.seconds[activity as usize].get(at).copied().unwrap_or(0.0)
    }

    /// Each iteration, as if `rank` were the slowest in it.
    pub(crate) fn slowest(&self, rank: u32) -> Vec<Slowest> {
        Slowest::each(rank, &self.numbers, &self.seconds)
    }
}

/// The rank that computes longest in an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowest {
    /// Number of the iteration.
    pub iteration: u32,
    /// The rank; the lowest where several are equal.
    pub rank: u32,
    /// Seconds that it computes.
    pub computation_s: f64,
    /// Seconds that it spends in point-to-point communication in the iteration.
    pub point_to_point_s: f64,
    /// Seconds that it spends in MPI in the iteration, point-to-point communication included.
    pub mpi_s: f64,
}

impl Slowest {
    /// From the seconds by activity that `rank` spends in each of the iterations of these numbers; columns as those of [`Series`].
    pub(crate) fn each(rank: u32, numbers: &[u32], seconds: &[Vec<f64>; Activity::COUNT]) -> Vec<Slowest> {
        let mut all_s = vec![0.0; numbers.len()];
        for column in seconds {
            all_s.iter_mut().zip(column).for_each(|(sum, seconds)| *sum += seconds);
        }
        let at = |activity: Activity, at: usize| seconds[activity as usize].get(at).copied().unwrap_or(0.0);
        let of = |(place, (&iteration, all_s)): (usize, (&u32, f64))| {
            let computation_s = at(Activity::Computation, place);
            Slowest {
                iteration,
                rank,
                computation_s,
                point_to_point_s: at(Activity::PointToPoint, place),
                mpi_s: all_s - computation_s - at(Activity::Recorder, place),
            }
        };
        numbers.iter().zip(all_s).enumerate().map(of).collect()
    }

    /// For each iteration of either list, sorted by iteration, the slower; of equals the one of `lower`.
    pub(crate) fn slower_of(mut lower: Vec<Slowest>, higher: Vec<Slowest>) -> Vec<Slowest> {
        if lower.iter().map(|one| one.iteration).eq(higher.iter().map(|one| one.iteration)) {
            for (own, other) in lower.iter_mut().zip(higher) {
                if other.computation_s > own.computation_s {
                    *own = other;
                }
            }
            return lower;
        }
        let mut all = Vec::with_capacity(lower.len().max(higher.len()));
        let (mut lower, mut higher) = (lower.into_iter().peekable(), higher.into_iter().peekable());
        loop {
            let order = match (lower.peek(), higher.peek()) {
                (Some(a), Some(b)) => a.iteration.cmp(&b.iteration),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return all,
            };
            let one = match order {
                std::cmp::Ordering::Less => lower.next(),
                std::cmp::Ordering::Greater => higher.next(),
                std::cmp::Ordering::Equal => {
                    lower.next().zip(higher.next()).map(|(a, b)| if b.computation_s > a.computation_s { b } else { a })
                }
            };
            all.extend(one);
        }
    }
}

/// Resources used between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Seconds between them.
    pub elapsed_s: f64,
    /// CPU seconds, user and system, of the thread that called MPI_Init.
    pub thread_cpu_s: f64,
    /// Seconds for which that thread could have run but had no core.
    pub thread_delayed_s: f64,
    /// CPU seconds of the process, user.
    pub user_s: f64,
    /// CPU seconds of the process, system.
    pub system_s: f64,
    /// Times that thread was preempted.
    pub thread_involuntary: u64,
    /// Times that the process gave up a core to wait.
    pub voluntary: u64,
    /// Most memory that the process ever had resident, in bytes.
    pub max_resident: u64,
}

impl RunFacts {
    /// Ranks of which a log is expected: those that were to record, or of these the selected ones.
    pub fn n_expected(&self) -> u64 {
        match &self.selected.ranks {
            Some(selected) => selected.len() as u64,
            None => n_recorded(&self.recorded_ranks, self.n_ranks),
        }
    }
}

impl Model {
    /// First window begin and last window end of all ranks, in seconds; (0, 0) where there is no rank.
    pub fn window_s(&self) -> (f64, f64) {
        window_s(self.ranks.iter())
    }

    /// Elapsed time of the run, in seconds: last window end less first window begin.
    pub fn elapsed_s(&self) -> f64 {
        let (begin, end) = self.window_s();
        (end - begin).max(0.0)
    }

    /// Elapsed time in which at least one rank was recorded all the time, in seconds: [`Model::elapsed_s`] less the time for
    /// which no rank was. The T of the run's efficiencies.
    pub fn recorded_s(&self) -> f64 {
        recorded_s(self.ranks.iter())
    }

    /// Seconds of each rank in `activity` within `region`, inner regions included; one entry a rank.
    pub fn inclusive_s(&self, region: RegionIdx, activity: Activity) -> Vec<f64> {
        self.ranks.iter().map(|rank| rank.inclusive(region)[activity as usize]).collect()
    }

    /// Elapsed time of a region, in seconds: of the whole program [`Model::recorded_s`], of others the longest that any rank
    /// spends in it, all invocations and inner regions included.
    pub fn region_elapsed_s(&self, region: RegionIdx) -> f64 {
        match region {
            0 => self.recorded_s(),
            _ => self.ranks.iter().map(|rank| rank.inclusive(region).iter().sum()).fold(0.0, f64::max),
        }
    }

    /// The iterated region that the user chose, else the one in which most is computed, of those outside of all others; `None`
    /// where none is known.
    pub fn main_loop(&self) -> Option<RegionIdx> {
        if self.chosen_loop.is_some() {
            return self.chosen_loop;
        }
        most_computed(self.ranks.iter(), &self.outermost_iterated)
    }

    /// The same of some ranks, as if there were no others, and how many iterations of it they have: `ranks` are indices in
    /// [`Model::ranks`].
    pub fn main_loop_of(&self, ranks: &[usize]) -> Option<(RegionIdx, usize)> {
        let chosen = || ranks.iter().filter_map(|&at| self.ranks.get(at));
        let numbers = |idx: RegionIdx| -> BTreeSet<u32> {
            chosen().filter_map(|rank| rank.series(idx)).flat_map(|series| series.numbers.iter().copied()).collect()
        };
        let mut regions = self.chosen_loop.map_or_else(|| self.outermost_iterated.clone(), |chosen| vec![chosen]);
        regions.retain(|&idx| chosen().any(|rank| rank.series(idx).is_some()));
        most_computed(chosen(), &regions).map(|idx| (idx, numbers(idx).len()))
    }

    /// The sums of the ranks with these numbers, as if there were no others, without their iterations.
    pub fn sums_of(&self, ranks: &[u32]) -> Model {
        let chosen = self.ranks.iter().filter(|rank| ranks.binary_search(&rank.rank).is_ok());
        let sums = |rank: &RankModel| RankModel { iterations: Vec::new(), in_iterations: Vec::new(), ..rank.clone() };
        Model {
            facts: self.facts.clone(),
            ranks: chosen.map(sums).collect(),
            regions: self.regions.clone(),
            sites: self.sites.clone(),
            slowest: vec![Vec::new(); self.regions.len()],
            ..Model::default()
        }
    }

    /// The region and those around it, innermost first, the whole program last.
    pub fn chain(&self, region: RegionIdx) -> Vec<RegionIdx> {
        chain(&self.regions, region)
    }

    /// Numbers of the iterations of `region` of which the computation of any rank is not known, see [`Series::entering`].
    pub fn entering(&self, region: RegionIdx) -> BTreeSet<u32> {
        self.ranks.iter().filter_map(|rank| rank.series(region)).flat_map(|series| &series.entering).copied().collect()
    }

    /// Whether the time of `region` is known by iteration: it is iterated, or lies in a region that is.
    pub fn is_by_iteration(&self, region: RegionIdx) -> bool {
        self.slowest.get(region as usize).is_some_and(|slowest| !slowest.is_empty())
    }
}

/// Of `regions` the one in which `ranks` compute most, the first of several: a loop in which ranks only wait may last as long.
fn most_computed<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone, regions: &[RegionIdx]) -> Option<RegionIdx> {
    let time_s =
        |idx: RegionIdx| -> f64 { ranks.clone().map(|rank| rank.inclusive(idx)[Activity::Computation as usize]).sum() };
    regions.iter().copied().max_by(|&a, &b| time_s(a).total_cmp(&time_s(b)).then(b.cmp(&a)))
}

/// First window begin and last window end of `ranks`.
fn window_s<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone) -> (f64, f64) {
    let begin = ranks.clone().map(|rank| rank.begin_s).reduce(f64::min);
    let end = ranks.map(|rank| rank.end_s).reduce(f64::max);
    begin.zip(end).unwrap_or_default()
}

/// [`Model::recorded_s`] of `ranks` alone.
pub(crate) fn recorded_s<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone) -> f64 {
    let (begin, end) = window_s(ranks.clone());
    let none = ranks.map(RankModel::not_recorded_s).reduce(f64::min).unwrap_or(0.0);
    ((end - begin).max(0.0) - none).max(0.0)
}

/// `region` and those around it in a table in which 0 is the outermost of all; innermost first.
pub(crate) fn chain(regions: &[Region], region: RegionIdx) -> Vec<RegionIdx> {
    let mut chain = vec![region];
    while let Some(&last) = chain.last().filter(|&&last| last != 0) {
        chain.push(regions[last as usize].parent);
    }
    chain
}

impl RankModel {
    /// Seconds by activity in `region`, inner regions included; zeros where the rank never entered it.
    pub fn inclusive(&self, region: RegionIdx) -> Seconds {
        let found = self.inclusive.binary_search_by_key(&region, |&(idx, _)| idx);
        found.map(|at| self.inclusive[at].1).unwrap_or_default()
    }

    /// Seconds by activity in `region` alone; zeros where the rank never entered it.
    pub fn exclusive(&self, region: RegionIdx) -> Seconds {
        let from = self.cells.partition_point(|&((idx, _), _)| idx < region);
        let mut seconds = Seconds::default();
        for ((_, activity), cell) in self.cells[from..].iter().take_while(|((idx, _), _)| *idx == region) {
            seconds[*activity as usize] += cell.seconds;
        }
        seconds
    }

    /// Seconds of the computation in `region`, inner regions included, that belong to an iteration.
    pub fn in_iterations_s(&self, region: RegionIdx) -> f64 {
        let found = self.in_iterations.binary_search_by_key(&region, |&(idx, _)| idx);
        found.map(|at| self.in_iterations[at].1).unwrap_or_default()
    }

    /// Totals of `region`; zeros where there are none.
    pub fn totals(&self, region: RegionIdx) -> Totals {
        let found = self.totals.binary_search_by_key(&region, |&(idx, _)| idx);
        found.map(|at| self.totals[at].1).unwrap_or_default()
    }

    /// The rank's iterations of `region`, where it has any.
    pub fn series(&self, region: RegionIdx) -> Option<&Series> {
        let found = self.iterations.binary_search_by_key(&region, |&(idx, _)| idx);
        found.ok().map(|at| &self.iterations[at].1)
    }

    /// Seconds on the run's clock at `ns` nanoseconds of the clock of `begin_ns`.
    pub fn run_seconds(&self, ns: i64) -> f64 {
        self.begin_s + ns.saturating_sub(self.begin_ns) as f64 / 1e9
    }

    /// Nanoseconds of the clock of `begin_ns` at a time on the run's clock.
    pub fn nanoseconds(&self, run_s: f64) -> i64 {
        self.begin_ns.saturating_add(((run_s - self.begin_s) * 1e9).round() as i64)
    }

    /// When the run's clock is 0, on the clock of `begin_ns`.
    pub fn zero_ns(&self) -> i64 {
        self.nanoseconds(0.0)
    }

    /// Seconds of its window of which no record tells: recording was stopped, or records are missing.
    pub fn not_recorded_s(&self) -> f64 {
        (self.end_s - self.begin_s - self.inclusive(0).iter().sum::<f64>()).max(0.0)
    }

    /// Seconds of its window in no activity while others are still, or already, in theirs: it entered late or left early.
    pub fn idle_s(&self, run_window_s: (f64, f64)) -> f64 {
        (self.begin_s - run_window_s.0).max(0.0) + (run_window_s.1 - self.end_s).max(0.0)
    }
}
