//! Converts the sums of a rank's threads to its model: ticks to seconds, and the rank's ids to the run's.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::LifetimePoint;
use lbprof_collector::format::LogHeader;
use lbprof_collector::polling::PollSums;
use lbprof_collector::profile::{self, CounterTotals};
use lbprof_collector::record::NONE;
use lbprof_collector::sample::ThreadPool;
use lbprof_collector::{Activity, CoreState, Operation, ProblemKind, Record};
use rustc_hash::FxHashMap;

use super::joined::found_iterations::FoundIterations;
use super::lines::LineTimes;
use super::partial_model::PartialModel;
use crate::model::code::sites::CallSiteTable;
use crate::model::ranks::lifetime::ProcessLifetime;
use crate::model::ranks::samples::{
    CalledBackAt, CpuTime, OffCoreSums, RankSamples, SampledAt, SampledLine, SampledThreads, ThreadSamples,
};
use crate::model::ranks::thread_pools::SampledPool;
use crate::model::run::program_list::ProgramList;
use crate::model::{
    CallTotals, Communicator, PendingCall, PollTimes, RankModel, Region, RegionCounters, RegionIdx, ResourceUsage,
    RunFacts, SiteTotalsKey,
};
use crate::profile::summed::samples::SampleSums;
use crate::profile::summed::sums::ThreadTotals;
use crate::read::definitions::{RankDefinitions, WHOLE_PROGRAM};
use crate::read::span::TickSpan;
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::region_path::{loop_path, region_path};
use crate::structure::{FoundRegion, RunStructure};

/// The tables of the run that the models of all ranks refer to, and the size that each model may have.
#[derive(Clone, Copy)]
pub(super) struct RunTables<'a> {
    pub(super) known_sites: &'a CallSiteTable,
    pub(super) structure: &'a RunStructure,
    pub(super) code: &'a SampledCode,
    /// Maximum number of the rank's iterations that are not joined in blocks.
    pub(super) most_iterations: usize,
}

/// Turns the sums of a rank's threads into its model, entering its regions in the part's tables.
pub(super) struct RankBuilder<'a> {
    pub(super) definitions: &'a RankDefinitions,
    pub(super) tables: RunTables<'a>,
    pub(super) iterated: Option<FoundIterations>,
    /// Iterations of the loops in it, by their numbers.
    pub(super) inner_iterations: Vec<(usize, u64)>,
    pub(super) part: &'a mut PartialModel,
    pub(super) clock: RankClock,
    /// Ticks at which MPI_Init was entered, or 0 if they are not known.
    pub(super) entered_init: u64,
    pub(super) span: TickSpan,
    pub(super) rank: RankModel,
    /// The rank's region ids as indices in the part's table.
    pub(super) regions: HashMap<u32, RegionIdx>,
    /// The rank's call sites as indices in the run's.
    pub(super) sites: HashMap<u32, Option<u32>>,
    /// For the first thread, and for the others.
    pub(super) site_sums: [BTreeMap<SiteTotalsKey, CallTotals>; 2],
    pub(super) seen: BTreeMap<ProblemKind, u64>,
    pub(super) counter_sums: BTreeMap<(RegionIdx, u32), CounterTotals>,
}

fn seconds_since(first_ns: u64, last_ns: u64) -> f64 {
    last_ns.saturating_sub(first_ns) as f64 * 1e-9
}

fn run_facts(header: &LogHeader, definitions: &RankDefinitions, clock: &RankClock) -> RunFacts {
    RunFacts {
        run_id: header.run_id,
        n_ranks: header.n_ranks,
        recorded_ranks: header.recorded_ranks.clone(),
        command: header.command.clone(),
        programs: ProgramList::from_rank(header.rank, header.command.clone()),
        mpi: header.mpi.clone(),
        abi: header.abi.clone(),
        recorder: header.recorder.clone(),
        started_unix_s: header.started_unix_s,
        settings: header.settings.clone(),
        params: definitions.params.clone(),
        common_clock: clock.is_calibrated(),
        clock_error_s: definitions.offsets.iter().map(|offset| offset.error_ns).max().map(|ns| ns as f64 * 1e-9),
        ..RunFacts::default()
    }
}

/// Returns the rank that a call of point-to-point communication on MPI_COMM_WORLD, number 0, names.
fn peer_in_world(record: &Record) -> Option<u32> {
    let operation = Operation::from_number(record.operation)?;
    let is_named = operation.activity() == Activity::PointToPoint && record.comm == 0;
    u32::try_from(record.peer).ok().filter(|_| is_named)
}

impl<'a> RankBuilder<'a> {
    pub(super) fn new(
        header: &LogHeader,
        definitions: &'a RankDefinitions,
        tables: RunTables<'a>,
        span: TickSpan,
        part: &'a mut PartialModel,
    ) -> Self {
        let clock = definitions.clock(header);
        part.facts = run_facts(header, definitions, &clock);
        let rank = RankModel {
            rank: header.rank,
            host: header.host.clone(),
            pid: header.pid,
            end_reason: definitions.end.map(|(reason, _)| reason),
            exit_status: definitions.exit_status,
            thread_level: definitions.thread_level,
            samples: RankSamples { sampling: definitions.sampling, ..RankSamples::default() },
            ..RankModel::default()
        };
        let mut builder = RankBuilder {
            definitions,
            tables,
            iterated: None,
            inner_iterations: Vec::new(),
            part,
            clock,
            entered_init: header.instants[0].ticks,
            span,
            rank,
            regions: HashMap::from([(0, 0)]),
            sites: HashMap::new(),
            site_sums: Default::default(),
            seen: BTreeMap::new(),
            counter_sums: BTreeMap::new(),
        };
        builder.part.tables.regions.push(Region::marked(WHOLE_PROGRAM));
        for comm in definitions.communicators.values() {
            builder.part.tables.communicators.entry(comm.uid).or_insert_with(|| Communicator {
                uid: comm.uid,
                number: comm.id,
                group: comm.group.clone(),
                remote: comm.remote.clone(),
            });
        }
        let begin = definitions.window_begin.unwrap_or(header.instants[1].ticks);
        builder.set_window(begin, definitions.window_end.or(definitions.end.map(|(_, ticks)| ticks)).unwrap_or(begin));
        builder
    }

    fn set_window(&mut self, begin: u64, end: u64) {
        let whole = (begin, end.max(begin));
        let (begin, end) = (self.span.clamp(whole.0), self.span.clamp(whole.1));
        // Usage is known only for all of the rank's time.
        self.rank.usage = self.usage().filter(|_| (begin, end) == whole);
        self.rank.lifetime = if (begin, end) == whole { self.lifetime(whole) } else { ProcessLifetime::default() };
        self.rank.begin_ns = self.clock.nanoseconds(begin);
        self.rank.end_s = self.since_begin(end.max(begin));
    }

    /// Returns the seconds since the start of the rank's window; [`common_clock`] makes them seconds since the start of the run's.
    pub(super) fn since_begin(&self, ticks: u64) -> f64 {
        self.rank.run_seconds(self.clock.nanoseconds(ticks))
    }

    /// Returns the logged facts about the process outside of its window, which lasts from `window.0` to `window.1` in ticks.
    fn lifetime(&self, window: (u64, u64)) -> ProcessLifetime {
        let points = &self.definitions.lifetime;
        // A header that stands in for a lost one has no instants.
        let entered_init = Some(self.entered_init).filter(|&ticks| ticks != 0);
        let [started, left_init, left_finalize, ended] =
            [LifetimePoint::Started, LifetimePoint::LeftInit, LifetimePoint::LeftFinalize, LifetimePoint::Ended]
                .map(|point| points.get(&point).copied());
        ProcessLifetime {
            before_init_s: self.seconds_between(started, entered_init),
            init_s: self.seconds_between(entered_init, left_init),
            recorder_start_s: self.seconds_between(left_init, Some(window.0)),
            finalize_s: self.seconds_between(Some(window.1), left_finalize),
            after_finalize_s: self.seconds_between(left_finalize, ended),
        }
    }

    fn seconds_between(&self, from: Option<u64>, to: Option<u64>) -> Option<f64> {
        Some(self.seconds(to?.saturating_sub(from?)))
    }

    fn usage(&self) -> Option<ResourceUsage> {
        let (first, last) = self.definitions.usage.0.as_ref().zip(self.definitions.usage.1.as_ref())?;
        let thread = self.definitions.thread_usage.0.zip(self.definitions.thread_usage.1);
        Some(ResourceUsage {
            elapsed_s: self.seconds(last.ticks.saturating_sub(first.ticks)),
            thread_cpu_s: seconds_since(first.thread_ns, last.thread_ns),
            thread_delayed_s: seconds_since(first.thread_delayed_ns, last.thread_delayed_ns),
            user_s: seconds_since(first.user_ns, last.user_ns),
            system_s: seconds_since(first.system_ns, last.system_ns),
            thread_involuntary: last.thread_involuntary_switches.saturating_sub(first.thread_involuntary_switches),
            voluntary: last.voluntary_switches.saturating_sub(first.voluntary_switches),
            max_resident: last.max_resident,
            read_bytes: last.read_bytes.saturating_sub(first.read_bytes),
            written_bytes: last.written_bytes.saturating_sub(first.written_bytes),
            thread_system_s: thread.map(|(first, last)| seconds_since(first.system_ns, last.system_ns)),
            thread_page_faults: thread.map(|(first, last)| last.page_faults.saturating_sub(first.page_faults)),
        })
    }

    pub(super) fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 * (self.clock.tick_s() * 1e9) / 1e9
    }

    /// Returns the index of the rank's region `id`, entered in the part's table with the regions around it.
    pub(super) fn region(&mut self, id: u32) -> RegionIdx {
        if let Some(&idx) = self.regions.get(&id) {
            return idx;
        }
        let idx = self.enter(region_path(self.tables.structure, self.definitions, self.rank.rank, id));
        self.regions.insert(id, idx);
        idx
    }

    pub(super) fn enter(&mut self, path: Vec<Region>) -> RegionIdx {
        let mut idx = 0;
        for part in path {
            let Some(found) = self.part.tables.region(idx, &part) else {
                *self.seen.entry(ProblemKind::TooMany).or_default() += 1;
                break;
            };
            idx = found;
        }
        idx
    }

    pub(super) fn site(&mut self, id: u32) -> Option<u32> {
        let (definitions, known) = (self.definitions, self.tables.known_sites);
        *self.sites.entry(id).or_insert_with(|| known.find(definitions, id))
    }

    /// Adds the thread that called MPI_Init: its time is the rank's time.
    pub(super) fn first_thread(&mut self, sums: ThreadTotals) {
        self.set_window(
            self.definitions.window_begin.unwrap_or(sums.begin),
            self.definitions.window_end.unwrap_or(sums.end.previous_end),
        );
        // A pause that lasts until the end has no record after it.
        let last = self.definitions.window_end.filter(|_| sums.end.paused);
        let last = last.map_or(0, |end| self.span.clamp(end).saturating_sub(sums.end.previous_end));
        self.rank.paused_s = self.seconds(sums.rest.paused.saturating_add(last));
        self.cells(&sums);
        let mut totals: BTreeMap<RegionIdx, RegionCounters> = BTreeMap::new();
        for (id, found) in &sums.rest.regions {
            let sum = totals.entry(self.region(in_found_loop(&sums, *id))).or_default();
            sum.invocations = sum.invocations.saturating_add(found.invocations);
            sum.operations += found.operations;
            sum.quanta += found.quanta;
            sum.max_resident = sum.max_resident.max(found.max_resident);
            sum.max_swapped = sum.max_swapped.max(found.max_swapped);
        }
        // Found regions are not entered by markers: code between calls ends with a call.
        for (&id, region) in &sums.regions {
            if FoundRegion::of_number(id).is_none_or(|found| found.segment().is_none()) {
                continue;
            }
            let calls = Activity::ALL.iter().zip(&region.cells).filter(|(activity, _)| activity.is_mpi());
            let sum = totals.entry(self.region(id)).or_default();
            sum.invocations = sum.invocations.saturating_add(calls.map(|(_, cell)| cell.calls).sum());
        }
        let loops_with_time: BTreeSet<usize> = (sums.regions.keys())
            .filter_map(|id| match FoundRegion::of_number(*id) {
                Some(FoundRegion::Found { in_loop, .. }) => in_loop,
                _ => None,
            })
            .collect();
        let inner = std::mem::take(&mut self.inner_iterations);
        let is_whole = self.span == TickSpan::ALL;
        // Their number in a part of the time is not known.
        for (at, iterations) in inner.into_iter().filter(|&(at, n)| is_whole && n > 0 && loops_with_time.contains(&at))
        {
            let path = loop_path(self.tables.structure, at);
            totals.entry(self.enter(path)).or_default().invocations = iterations;
        }
        if let Some(found) = &self.iterated {
            let path = loop_path(self.tables.structure, found.at);
            totals.entry(self.enter(path)).or_default().invocations = found.begun_in(self.span);
        }
        self.rank.totals = totals.into_iter().collect();
        self.samples(&sums.samples);
        self.core_states(&sums);
        self.any_thread(&sums, 0);
        self.iterations(sums);
    }

    /// Adds the time of the first thread in states of computation: off its core, as noted by the kernel, and in recorded states.
    fn core_states(&mut self, sums: &ThreadTotals) {
        let coverage = sums.samples.off_core_coverage;
        if coverage.known == 0 && sums.rest.states.is_empty() {
            return;
        }
        let mut places: BTreeMap<(RegionIdx, Activity, CoreState), f64> = BTreeMap::new();
        for (&(region, activity, state), &ticks) in in_order(&sums.samples.off_core) {
            let seconds = ticks * self.clock.tick_s();
            *places.entry((self.region(region), activity, state)).or_default() += seconds;
        }
        for &((region, number), ticks) in &sums.rest.states {
            let Some(state) = CoreState::from_number(number.into()) else { continue };
            let place = (self.region(in_found_loop(sums, region)), Activity::Computation, state);
            *places.entry(place).or_default() += self.seconds(ticks);
        }
        self.rank.samples.off_core = Some(OffCoreSums {
            places: places.into_iter().collect(),
            known_s: self.seconds(coverage.known.saturating_sub(coverage.unplaced)),
        });
    }

    fn samples(&mut self, sums: &SampleSums) {
        let code = self.tables.code;
        let mut lines: BTreeMap<SampledLine, CpuTime> = BTreeMap::new();
        for threads in SampledThreads::ALL {
            let mut times: BTreeMap<SampledAt, CpuTime> = BTreeMap::new();
            for (&(region, activity, stack), time) in in_order(&sums.times[threads as usize]) {
                let node = code.node_of(stack);
                let region = self.region(region);
                times.entry(SampledAt { region, activity, node }).or_default().add(time);
                if threads == SampledThreads::First && activity != Activity::Recorder && code.is_recorder(node) {
                    self.rank.samples.recorder.add(time);
                }
                if activity == Activity::Computation || threads != SampledThreads::First {
                    lines.entry((threads, region, code.leaf_of(stack))).or_default().add(time);
                }
            }
            self.rank.samples.of[threads as usize] =
                ThreadSamples { threads: sums.threads(threads), times: times.into_iter().collect() };
        }
        self.thread_pools(sums, code);
        let mut called_back: BTreeMap<CalledBackAt, CpuTime> = BTreeMap::new();
        for (&(operation, stack), time) in in_order(&sums.in_calls) {
            if let Some(function) = code.called_back(stack) {
                called_back.entry(CalledBackAt { operation, function }).or_default().add(time);
            }
        }
        self.rank.samples.called_back = called_back.into_iter().collect();
        let rank = self.rank.rank;
        self.part.lines.extend(lines.into_iter().map(|(line, time)| (line, LineTimes::from_rank(rank, &time))));
    }

    fn thread_pools(&mut self, sums: &SampleSums, code: &SampledCode) {
        let sampled = in_order(&sums.pools);
        let pools: Vec<ThreadPool> = self.definitions.thread_pools.values().copied().collect();
        for ThreadPool { id, routine, threads, started, ended_cpu_ns } in pools {
            let mut times: BTreeMap<SampledAt, CpuTime> = BTreeMap::new();
            for &(&(_, (region, activity, stack)), time) in sampled.iter().filter(|one| one.0.0 == id) {
                let at = SampledAt { region: self.region(region), activity, node: code.node_of(stack) };
                times.entry(at).or_default().add(time);
            }
            let sampled_s: f64 = times.values().map(|time| time.seconds).sum();
            let unsampled_s = match self.span == TickSpan::ALL {
                true => (ended_cpu_ns as f64 * 1e-9 - sampled_s).max(0.0),
                false => 0.0,
            };
            let routine = if routine == NONE { None } else { self.site(routine) };
            let times = times.into_iter().collect();
            self.rank.pools.push(SampledPool { routine, threads, started, times, unsampled_s });
        }
    }

    pub(super) fn other_threads(&mut self, n: u32, sums: &ThreadTotals) {
        self.rank.other_threads = n;
        let cells = sums.regions.values().flat_map(|region| Activity::ALL.iter().zip(&region.cells));
        let mpi = cells.filter(|(activity, _)| activity.is_mpi());
        let ticks = mpi.map(|(_, cell)| cell.ticks).fold(0, u64::saturating_add);
        self.rank.other_threads_mpi_s += self.seconds(ticks);
        self.any_thread(sums, 1);
    }

    /// Adds the sums that any thread has; `whose` is the place in `site_sums`.
    fn any_thread(&mut self, all: &ThreadTotals, whose: usize) {
        let sums = &all.rest;
        for (key, cell) in &sums.sites {
            let key = SiteTotalsKey {
                site: self.site(key.call_site),
                operation: key.operation,
                activity: Activity::from_bits(key.activity.into()),
                region: self.region(key.region),
            };
            let cell = self.cell(cell);
            *self.site_sums[whose].entry(key).or_default() += cell;
        }
        for &((region, counter), totals) in &sums.counters {
            let name = self.definitions.counters.get(&counter).cloned().unwrap_or_else(|| format!("counter {counter}"));
            let key = (self.region(in_found_loop(all, region)), self.part.tables.counter(&name));
            self.counter_sums.entry(key).or_default().add(&totals);
        }
        self.rank.records = self.rank.records.saturating_add(sums.records);
        self.rank.calls = self.rank.calls.saturating_add(sums.calls);
        let counted = [
            (ProblemKind::Unfinished, sums.unfinished),
            (ProblemKind::ClockBackwards, sums.backwards),
            (ProblemKind::TooMany, all.too_deep),
        ];
        for (kind, count) in counted {
            if count > 0 {
                let seen = self.seen.entry(kind).or_default();
                *seen = seen.saturating_add(count);
            }
        }
    }

    fn cell(&self, cell: &profile::ProfileCell) -> CallTotals {
        CallTotals { seconds: self.seconds(cell.ticks), calls: cell.calls, sent: cell.sent, received: cell.received }
    }

    /// Adds the time by region and activity, exclusive and inclusive.
    fn cells(&mut self, sums: &ThreadTotals) {
        let mut ticks: BTreeMap<(RegionIdx, Activity), profile::ProfileCell> = BTreeMap::new();
        for (&id, region) in &sums.regions {
            let idx = self.region(id);
            let cells = Activity::ALL.into_iter().zip(&region.cells);
            for (activity, cell) in cells.filter(|(_, cell)| **cell != profile::ProfileCell::default()) {
                ticks.entry((idx, activity)).or_default().add(cell);
            }
        }
        let mut inclusive: BTreeMap<RegionIdx, [u64; Activity::COUNT]> = BTreeMap::from([(0, Default::default())]);
        for (&(region, activity), cell) in &ticks {
            for idx in self.part.tables.chain(region) {
                let sum = &mut inclusive.entry(idx).or_default()[activity as usize];
                *sum = sum.saturating_add(cell.ticks);
            }
        }
        self.rank.cells = ticks.iter().map(|(&key, cell)| (key, self.cell(cell))).collect();
        let inclusive = inclusive.into_iter();
        self.rank.inclusive = inclusive.map(|(idx, ticks)| (idx, ticks.map(|ticks| self.seconds(ticks)))).collect();
    }

    pub(super) fn polls(&mut self, sums: &PollSums, decided: u64) {
        self.rank.polls = PollTimes {
            polls: sums.polls,
            decided,
            waits: sums.waits,
            within_s: self.seconds(sums.within),
            waiting_s: self.seconds(sums.waiting),
            maybe_computation_s: self.seconds(sums.maybe_computation),
            computation_s: self.seconds(sums.computation),
            maybe_waiting_s: self.seconds(sums.maybe_waiting),
        };
    }

    pub(super) fn pending(&mut self, record: Option<Record>) {
        self.rank.pending = record.map(|record| PendingCall {
            operation: record.operation,
            site: u32::try_from(record.call_site).ok().and_then(|site| self.site(site)),
            since_begin_s: self.since_begin(record.begin),
            peer: peer_in_world(&record),
        });
    }

    pub(super) fn finish(mut self) -> (RankModel, BTreeMap<ProblemKind, u64>) {
        let [own, others] = self.site_sums;
        self.rank.sites = own.into_iter().collect();
        self.rank.other_sites = others.into_iter().collect();
        self.rank.counters = self.counter_sums.into_iter().collect();
        (self.rank, self.seen)
    }
}

/// Returns the entries in the order of their keys: sums of fractions depend on their order.
fn in_order<K: Copy + Ord, T>(entries: &FxHashMap<K, T>) -> Vec<(&K, &T)> {
    let mut entries: Vec<(&K, &T)> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| **key);
    entries
}

/// Returns the number of a marked region, or of this region in the rank's found loop if it has time there.
fn in_found_loop(sums: &ThreadTotals, id: u32) -> u32 {
    let within = FoundRegion::MarkedInLoop(id).number();
    if id != 0 && sums.regions.contains_key(&within) { within } else { id }
}
