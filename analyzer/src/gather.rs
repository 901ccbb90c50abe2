//! The pass that folds a run into its [`Model`].
//!
//! Each rank's records are folded by the collector's own fold, the same as in the recorder's profile mode; what is left,
//! sums by region, iteration and activity, is turned from ticks into seconds and from the rank's ids into those of the run.
//! Memory grows with ranks × regions × iterations × call sites, never with records.

use std::collections::{BTreeMap, HashMap};

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::RegionKind;
use lbprof_collector::format::Header;
use lbprof_collector::problem::Severity;
use lbprof_collector::profile::{self, CounterTotals};
use lbprof_collector::reader::Item;
use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, Operation, Problem, ProblemKind, Record};

use crate::concurrency::{Concurrency, RankSampler};
use crate::definitions::{Definitions, WHOLE_PROGRAM, path_part};
use crate::iterations::carried::{Carried, carried};
use crate::iterations::number::number;
use crate::iterations::split::Interval;
use crate::model::{
    Cell, Communicator, FoundLoopOfRank, Model, Pending, RankModel, Region, RegionIdx, RunFacts, Seconds, Series,
    SiteKey, Slowest, Totals, Usage, chain,
};
use crate::open::Run;
use crate::pass::{self, Merge, Progress, RankPass};
use crate::selection::Selected;
use crate::sites::Sites;
use crate::span::Span;
use crate::structure::{FoundRegion, Placer, Structure};
use crate::sums::{Sums, ThreadSums, Times};
use crate::survey::Survey;

/// Folds `run`, of which `survey` was made and whose loops and regions are those of `structure` where none are marked, into
/// its model.
pub fn gather(run: &Run, survey: &Survey, structure: &Structure, progress: impl Fn(Progress) + Sync) -> Model {
    let part = pass::fold(run, |header| RankGather::new(header, survey, structure, run.span(header.rank)), progress);
    let mut model = part.map(|part| part.finish(structure)).unwrap_or_default();
    model.sites.clone_from(&survey.sites);
    model.facts.selected.ranks.clone_from(&run.selected);
    model.problems.splice(0..0, run.problems.iter().cloned());
    model
}

/// The fold of one rank.
struct RankGather<'a> {
    header: Header,
    known_sites: &'a Sites,
    structure: &'a Structure,
    /// Of the first thread's calls.
    placer: Option<Placer<'a>>,
    /// The time that counts.
    span: Span,
    definitions: Definitions,
    threads: BTreeMap<u32, ThreadSums>,
    /// The first thread's last record, if it is of a call that has not returned.
    pending: Option<Record>,
    /// Asks the first thread what it does; `None` where nothing is known of the rank's clock.
    sampler: Option<RankSampler>,
    problems: Vec<Problem>,
}

impl<'a> RankGather<'a> {
    fn new(header: &Header, survey: &'a Survey, structure: &'a Structure, span: Span) -> Self {
        let clock = survey.rank(header.rank).and_then(|rank| rank.clock.clone());
        RankGather {
            placer: Placer::new(structure, &survey.sites, header.rank),
            sampler: clock.map(|clock| RankSampler::new(header.rank, clock).within(span)),
            header: header.clone(),
            known_sites: &survey.sites,
            structure,
            span,
            definitions: Definitions::default(),
            threads: BTreeMap::new(),
            pending: None,
            problems: Vec::new(),
        }
    }
}

impl RankPass for RankGather<'_> {
    type Part = Part;

    fn item(&mut self, item: Item) {
        match item {
            Item::Definitions(definitions) => definitions.into_iter().for_each(|one| self.definitions.add(one)),
            Item::Records { head, records } => {
                let thread = self.threads.entry(head.thread).or_insert_with(|| ThreadSums::new(&head, self.span));
                match self.placer.as_mut().filter(|_| head.thread == 0) {
                    Some(placer) => thread.placed_records(&head, &records, placer, &self.definitions),
                    None => thread.records(&head, &records),
                }
                if head.thread == 0 {
                    if let Some(sampler) = &mut self.sampler {
                        sampler.records(&head, &records, |region| self.definitions.is_serial(region));
                    }
                    let is_call = |record: &&Record| record.operation < Operation::RegionEnter as u16;
                    self.pending = records.last().filter(|record| record.end == 0).filter(is_call).copied();
                }
            }
            Item::Profile(batch) => {
                if let Some(sampler) = self.sampler.as_mut().filter(|_| batch.head.thread == 0) {
                    sampler.absorb(&batch);
                }
                let thread =
                    self.threads.entry(batch.head.thread).or_insert_with(|| ThreadSums::new(&batch.head, self.span));
                thread.absorb(&batch);
            }
            Item::Problem(problem) => self.problems.push(problem),
        }
    }

    fn end(mut self) -> Part {
        let mut part = Part::default();
        let mut builder =
            RankBuilder::new(&self.header, &self.definitions, self.known_sites, self.structure, self.span, &mut part);
        builder.iterated =
            self.placer.and_then(Placer::finish).map(|(at, intervals)| FoundIterations::new(at, &intervals, self.span));
        for (number, thread) in std::mem::take(&mut self.threads) {
            let sums = thread.finish();
            builder.part.uncut.extend(sums.uncut.then_some(self.header.rank));
            match number {
                0 => builder.first_thread(sums),
                _ if sums.rest.records == 0 => {}
                _ => builder.other_thread(&sums),
            }
        }
        builder.pending(self.pending);
        let (rank, seen) = builder.finish();
        part.problems.extend(self.definitions.problems_of(rank.rank));
        part.problems
            .extend(self.problems.into_iter().map(|one| Problem { rank: one.rank.or(Some(rank.rank)), ..one }));
        for (kind, count) in seen {
            // The recorder may have counted the same, or a part of it.
            match part.problems.iter_mut().find(|one| one.kind == kind) {
                Some(told) => told.count = told.count.max(count),
                None => part.problems.push(Problem { kind, rank: Some(rank.rank), count, detail: String::new() }),
            }
        }
        let dropped = part.problems.iter().filter(|one| one.kind == ProblemKind::Dropped).map(|one| one.count);
        let dropped = dropped.fold(0, u64::saturating_add);
        // A rank of which nothing could be read is a missing one: means must not take it for one that never computes.
        // In a part of the time it may have no records: that it is known is known then.
        let is_known = rank.records > 0
            || self.span != Span::ALL
            || part.problems.iter().all(|one| one.kind.severity() != Severity::Partial);
        if is_known {
            part.concurrency = self.sampler.map(RankSampler::finish).unwrap_or_default();
            part.ranks.push(RankModel { dropped, ..rank });
        }
        part
    }
}

/// Turns the sums of a rank's threads into its model, entering its regions in the part's tables.
struct RankBuilder<'a> {
    definitions: &'a Definitions,
    known_sites: &'a Sites,
    structure: &'a Structure,
    /// Iterations of the rank's main loop, where it was found.
    iterated: Option<FoundIterations>,
    part: &'a mut Part,
    clock: RankClock,
    /// The time that counts.
    span: Span,
    rank: RankModel,
    /// The rank's region ids as indices in the part's table.
    regions: HashMap<u32, RegionIdx>,
    /// The rank's call sites as indices in those of the run.
    sites: HashMap<u32, Option<u32>>,
    /// Of the first thread, and of the others.
    site_sums: [BTreeMap<SiteKey, Cell>; 2],
    /// Problems that its records show: how many times.
    seen: BTreeMap<ProblemKind, u64>,
    counter_sums: BTreeMap<(RegionIdx, u32), CounterTotals>,
}

impl<'a> RankBuilder<'a> {
    fn new(
        header: &Header,
        definitions: &'a Definitions,
        known_sites: &'a Sites,
        structure: &'a Structure,
        span: Span,
        part: &'a mut Part,
    ) -> Self {
        let clock = definitions.clock(header);
        part.facts = RunFacts {
            run_id: header.run_id,
            n_ranks: header.n_ranks,
            recorded_ranks: header.recorded_ranks.clone(),
            selected: Selected::default(),
            t_seq_s: None,
            command: header.command.clone(),
            mpi: header.mpi.clone(),
            abi: header.abi.clone(),
            recorder: header.recorder.clone(),
            started_unix_s: header.started_unix_s,
            settings: header.settings.clone(),
            params: definitions.params.clone(),
            common_clock: clock.known(),
            clock_error_s: definitions.offsets.iter().map(|offset| offset.error_ns).max().map(|ns| ns as f64 * 1e-9),
        };
        let rank = RankModel {
            rank: header.rank,
            host: header.host.clone(),
            pid: header.pid,
            end_reason: definitions.end.map(|(reason, _)| reason),
            thread_level: definitions.thread_level,
            ..RankModel::default()
        };
        let mut builder = RankBuilder {
            definitions,
            known_sites,
            structure,
            iterated: None,
            part,
            clock,
            span,
            rank,
            regions: HashMap::from([(0, 0)]),
            sites: HashMap::new(),
            site_sums: Default::default(),
            seen: BTreeMap::new(),
            counter_sums: BTreeMap::new(),
        };
        for comm in definitions.communicators.values() {
            builder.part.tables.communicators.entry(comm.uid).or_insert_with(|| Communicator {
                uid: comm.uid,
                group: comm.group.clone(),
                remote: comm.remote.clone(),
            });
        }
        let begin = definitions.window_begin.unwrap_or(header.instants[1].ticks);
        builder.window(begin, definitions.window_end.or(definitions.end.map(|(_, ticks)| ticks)).unwrap_or(begin));
        builder
    }

    fn window(&mut self, begin: u64, end: u64) {
        let whole = (begin, end.max(begin));
        let (begin, end) = (self.span.clamp(whole.0), self.span.clamp(whole.1));
        // Samples of usage are of all of its time.
        self.rank.usage = self.usage().filter(|_| (begin, end) == whole);
        self.rank.begin_ns = self.clock.nanoseconds(begin);
        self.rank.end_s = self.since_begin(end.max(begin));
    }

    /// Seconds from the begin of the rank's window; [`common_clock`] makes them seconds from that of the run.
    fn since_begin(&self, ticks: u64) -> f64 {
        self.rank.run_seconds(self.clock.nanoseconds(ticks))
    }

    fn usage(&self) -> Option<Usage> {
        let (first, last) = self.definitions.usage.0.as_ref().zip(self.definitions.usage.1.as_ref())?;
        let ns = |last: u64, first: u64| last.saturating_sub(first) as f64 * 1e-9;
        Some(Usage {
            elapsed_s: self.seconds(last.ticks.saturating_sub(first.ticks)),
            thread_cpu_s: ns(last.thread_ns, first.thread_ns),
            thread_delayed_s: ns(last.thread_delayed_ns, first.thread_delayed_ns),
            user_s: ns(last.user_ns, first.user_ns),
            system_s: ns(last.system_ns, first.system_ns),
            thread_involuntary: last.thread_involuntary_switches.saturating_sub(first.thread_involuntary_switches),
            voluntary: last.voluntary_switches.saturating_sub(first.voluntary_switches),
            max_resident: last.max_resident,
        })
    }

    fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 * (self.clock.tick_s() * 1e9) / 1e9
    }

    /// The index of the rank's region `id`, entered in the part's table with those around it.
    fn region(&mut self, id: u32) -> RegionIdx {
        if let Some(&idx) = self.regions.get(&id) {
            return idx;
        }
        let idx = self.enter(self.region_path(id));
        self.regions.insert(id, idx);
        idx
    }

    /// The index of the region of this path, entered where it is new.
    fn enter(&mut self, path: Vec<PathPart>) -> RegionIdx {
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

    /// A region of the rank and those around it, outermost first.
    fn region_path(&self, id: u32) -> Vec<PathPart> {
        let in_loop = |at: Option<usize>| at.map_or_else(Vec::new, |at| self.loop_path(at));
        let segment = |segment: u32| PathPart::found((self.structure.segment_name(segment), false));
        match FoundRegion::of_number(id) {
            None => self.marked_path(id).collect(),
            Some(FoundRegion::Found { in_loop: at, segment: of }) => {
                in_loop(at).into_iter().chain(of.map(segment)).collect()
            }
            Some(FoundRegion::InMarked(marked, of)) => self.marked_path(marked).chain([segment(of)]).collect(),
            Some(FoundRegion::MarkedInLoop(marked)) => {
                let main = self.structure.main_loop(self.rank.rank);
                in_loop(main).into_iter().chain(self.marked_path(marked)).collect()
            }
        }
    }

    /// A found loop and those around it, from the main loop on.
    fn loop_path(&self, at: usize) -> Vec<PathPart> {
        self.structure.loop_path(at).into_iter().map(PathPart::found).collect()
    }

    fn marked_path(&self, id: u32) -> impl Iterator<Item = PathPart> {
        self.definitions.region_chain(id).into_iter().rev().map(|id| {
            let defined = self.definitions.regions.get(&id);
            let (kind, iterated) = defined.map_or((RegionKind::Useful, false), |region| (region.kind, region.iterated));
            PathPart { name: self.definitions.region_name(id), kind, iterated, found: false }
        })
    }

    fn site(&mut self, id: u32) -> Option<u32> {
        let (definitions, known) = (self.definitions, self.known_sites);
        *self.sites.entry(id).or_insert_with(|| known.find(definitions, id))
    }

    /// The thread that called MPI_Init: it makes the rank's time.
    fn first_thread(&mut self, sums: Sums) {
        self.window(
            self.definitions.window_begin.unwrap_or(sums.begin),
            self.definitions.window_end.unwrap_or(sums.end.previous_end),
        );
        // A pause that lasts until the end has no record behind it.
        let last = self.definitions.window_end.filter(|_| sums.end.paused);
        let last = last.map_or(0, |end| self.span.clamp(end).saturating_sub(sums.end.previous_end));
        self.rank.paused_s = self.seconds(sums.rest.paused.saturating_add(last));
        self.cells(&sums);
        let mut totals: BTreeMap<RegionIdx, Totals> = BTreeMap::new();
        for (id, found) in &sums.rest.regions {
            let sum = totals.entry(self.region(in_found_loop(&sums, *id))).or_default();
            sum.invocations = sum.invocations.saturating_add(found.invocations);
            sum.operations += found.operations;
            sum.quanta += found.quanta;
            sum.max_resident = sum.max_resident.max(found.max_resident);
            sum.max_swapped = sum.max_swapped.max(found.max_swapped);
        }
        // Found regions are not entered by markers: code between calls ends with a call.
        let is_code = |id: u32| matches!(FoundRegion::of_number(id), Some(found) if found.segment().is_some());
        for (&id, region) in sums.regions.iter().filter(|(id, _)| is_code(**id)) {
            let calls = Activity::ALL.iter().zip(&region.cells).filter(|(activity, _)| is_mpi(**activity));
            let sum = totals.entry(self.region(id)).or_default();
            sum.invocations = sum.invocations.saturating_add(calls.map(|(_, cell)| cell.calls).sum());
        }
        if let Some(found) = &self.iterated {
            let path = self.loop_path(found.at);
            totals.entry(self.enter(path)).or_default().invocations = found.begun_in(self.span);
        }
        self.rank.totals = totals.into_iter().collect();
        self.any_thread(&sums, 0);
        self.iterations(sums);
    }

    fn other_thread(&mut self, sums: &Sums) {
        self.rank.other_threads += 1;
        let cells = sums.regions.values().flat_map(|region| Activity::ALL.iter().zip(&region.cells));
        let mpi = cells.filter(|(activity, _)| is_mpi(**activity));
        let ticks = mpi.map(|(_, cell)| cell.ticks).fold(0, u64::saturating_add);
        self.rank.other_threads_mpi_s += self.seconds(ticks);
        self.any_thread(sums, 1);
    }

    /// What is kept of all threads; `whose` is the place in `site_sums`.
    fn any_thread(&mut self, all: &Sums, whose: usize) {
        let sums = &all.rest;
        for (key, cell) in &sums.sites {
            let key = SiteKey {
                site: self.site(key.call_site),
                operation: key.operation,
                activity: activity_of(key.activity),
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
        for (kind, count) in [(ProblemKind::Unfinished, sums.unfinished), (ProblemKind::ClockBackwards, sums.backwards)]
        {
            if count > 0 {
                let seen = self.seen.entry(kind).or_default();
                *seen = seen.saturating_add(count);
            }
        }
    }

    fn cell(&self, cell: &profile::Cell) -> Cell {
        Cell { seconds: self.seconds(cell.ticks), calls: cell.calls, sent: cell.sent, received: cell.received }
    }

    /// Time by region and activity, exclusive and inclusive.
    fn cells(&mut self, sums: &Sums) {
        let mut ticks: BTreeMap<(RegionIdx, Activity), profile::Cell> = BTreeMap::new();
        for (&id, region) in &sums.regions {
            let idx = self.region(id);
            let cells = Activity::ALL.into_iter().zip(&region.cells);
            for (activity, cell) in cells.filter(|(_, cell)| **cell != profile::Cell::default()) {
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
        self.rank.inclusive = inclusive.into_iter().map(|(idx, ticks)| (idx, self.all_seconds(ticks))).collect();
    }

    fn all_seconds(&self, ticks: [u64; Activity::COUNT]) -> Seconds {
        ticks.map(|ticks| self.seconds(ticks))
    }

    /// Time by iteration: of every region in its innermost iterated one, and of iterated regions also for the series.
    ///
    /// ```text
    ///   main / step (iterated) / force / sub (iterated) / x
    ///     a cell of x in iteration 7 of sub counts in x and sub at 7; sub's iteration 7 lies in step's iteration 2,
    ///     so the same cell counts in force and step at 2; main lies in no iteration.
    /// ```
    fn iterations(&mut self, sums: Sums) {
        let mut bounds: BTreeMap<RegionIdx, Vec<Bounds>> = BTreeMap::new();
        let mut times: BTreeMap<RegionIdx, Times> = BTreeMap::new();
        let mut around = NONE;
        for (at, open) in sums.end.open.iter().enumerate().filter(|(_, open)| open.iteration != NONE) {
            let begin = sums.entered.get(at).copied();
            let one = Bounds { number: open.iteration, outer: around, begin, end: None };
            bounds.entry(self.region(open.region)).or_default().push(one);
            around = open.iteration;
        }
        for (id, region) in sums.regions {
            let idx = self.region(id);
            let ended = region.iterations.iter().map(Bounds::of);
            bounds.entry(idx).or_default().splice(0..0, ended);
            if self.part.tables.in_iterated(idx) {
                let times = times.entry(idx).or_default();
                match &self.iterated {
                    Some(found) => times.append(&region.times.renumbered(|interval| found.iteration(interval))),
                    None => times.append(&region.times),
                }
            }
        }
        if let Some(found) = self.iterated.take() {
            let idx = self.enter(self.loop_path(found.at));
            bounds.entry(idx).or_default().extend_from_slice(&found.bounds);
            self.rank.found = Some(FoundLoopOfRank {
                at: found.at,
                iterations: found.count,
                alike: found.alike,
                carried: found.carried,
            });
        }
        // Inner regions first: they lie behind the ones around them.
        for idx in (1..self.part.tables.regions.len() as RegionIdx).rev() {
            let bounds = Bounds::last_of_each(bounds.remove(&idx).unwrap_or_default());
            let mut own = times.remove(&idx).unwrap_or_default();
            own.append_numbers(bounds.iter().map(|one| one.number));
            own.sort();
            let Region { parent, iterated, .. } = self.part.tables.regions[idx as usize];
            if self.part.tables.in_iterated(parent) {
                let place = times.entry(parent).or_default();
                match iterated {
                    true => place.append(&own.renumbered(|number| Bounds::outer(&bounds, number))),
                    false => place.append(&own),
                }
            }
            self.keep_iterations(idx, &own, &bounds);
        }
        self.rank.in_iterations.reverse();
        self.rank.iterations.reverse();
    }

    fn keep_iterations(&mut self, idx: RegionIdx, times: &Times, bounds: &[Bounds]) {
        let n = times.numbers().len();
        if n == 0 {
            return;
        }
        let iterated = self.part.tables.regions[idx as usize].iterated;
        let mut computation = 0_u64;
        let mut slowest = Vec::with_capacity(n);
        let mut series = Series::default();
        let mut bounds = bounds.iter().peekable();
        for (at, &iteration) in times.numbers().iter().enumerate() {
            let ticks = times.row(at);
            let seconds = self.all_seconds(ticks);
            computation = computation.saturating_add(ticks[Activity::Computation as usize]);
            slowest.push(Slowest::new(iteration, self.rank.rank, &seconds));
            if iterated {
                let time = |ticks: Option<u64>| ticks.map_or(f64::NAN, |ticks| self.since_begin(ticks));
                let found = bounds.next_if(|one| one.number == iteration);
                let (begin, end) = found.map_or((None, None), |one| (one.begin, one.end));
                // Of one that was cut the begin is not known.
                let begin = begin.filter(|&begin| begin >= self.span.begin);
                series.push(iteration, time(begin), time(end), &seconds);
            }
        }
        self.part.slowest.insert(idx, slowest);
        self.rank.in_iterations.push((idx, self.seconds(computation)));
        if iterated {
            series.shrink_to_fit();
            self.rank.iterations.push((idx, series));
        }
    }

    fn pending(&mut self, record: Option<Record>) {
        let operation = record.map(|record| (record.operation, record.call_site));
        self.rank.pending = operation.map(|(operation, site)| Pending {
            operation,
            site: u32::try_from(site).ok().and_then(|site| self.site(site)),
        });
    }

    fn finish(mut self) -> (RankModel, BTreeMap<ProblemKind, u64>) {
        let [own, others] = self.site_sums;
        self.rank.sites = own.into_iter().collect();
        self.rank.other_sites = others.into_iter().collect();
        self.rank.counters = self.counter_sums.into_iter().collect();
        (self.rank, self.seen)
    }
}

/// The iterations of a rank's main loop, where it was found.
struct FoundIterations {
    /// The loop, as an index of the structure's.
    at: usize,
    count: u32,
    alike: u32,
    carried: Carried,
    /// The iteration of each interval; [`NONE`] where it belongs to none.
    of_interval: Vec<u32>,
    bounds: Vec<Bounds>,
}

impl FoundIterations {
    fn new(at: usize, intervals: &[Interval], span: Span) -> Self {
        let numbering = number(intervals);
        let of_interval: Vec<u32> =
            (0..intervals.len()).map(|interval| numbering.iteration(interval).unwrap_or(NONE)).collect();
        let mut bounds: Vec<Bounds> = Vec::with_capacity(numbering.count as usize);
        for (&number, interval) in of_interval.iter().zip(intervals).filter(|(number, _)| **number != NONE) {
            match bounds.last_mut().filter(|last| last.number == number) {
                Some(last) => last.end = Some(interval.end),
                None => {
                    bounds.push(Bounds { number, outer: NONE, begin: Some(interval.begin), end: Some(interval.end) })
                }
            }
        }
        let is_in = |one: &Bounds| one.begin.is_none_or(|at| at < span.end) && one.end.is_none_or(|at| at > span.begin);
        bounds.retain(|one| span == Span::ALL || is_in(one));
        for one in &mut bounds {
            one.end = one.end.filter(|&end| end <= span.end);
        }
        let carried = carried(intervals, &numbering);
        FoundIterations { at, count: numbering.count, alike: numbering.alike, carried, of_interval, bounds }
    }

    /// Iterations that begin in `span`.
    fn begun_in(&self, span: Span) -> u64 {
        self.bounds.iter().filter(|one| one.begin.is_none_or(|begin| begin >= span.begin)).count() as u64
    }

    fn iteration(&self, interval: u32) -> Option<u32> {
        self.of_interval.get(interval as usize).copied().filter(|&number| number != NONE)
    }
}

/// An iteration of a region: its number, that of the iteration around it, and when it was, in ticks.
#[derive(Clone, Copy)]
struct Bounds {
    number: u32,
    outer: u32,
    begin: Option<u64>,
    end: Option<u64>,
}

impl Bounds {
    fn of(one: &profile::Iteration) -> Self {
        Bounds { number: one.iteration, outer: one.outer, begin: Some(one.begin), end: Some(one.end) }
    }

    /// By number; of several with one number the last.
    fn last_of_each(mut all: Vec<Bounds>) -> Vec<Bounds> {
        all.sort_by_key(|one| one.number);
        all.dedup_by(|next, kept| {
            let same = next.number == kept.number;
            if same {
                *kept = *next;
            }
            same
        });
        all
    }

    /// The iteration around iteration `number`; `all` is sorted.
    fn outer(all: &[Bounds], number: u32) -> Option<u32> {
        let found = all.binary_search_by_key(&number, |one| one.number).ok()?;
        Some(all[found].outer).filter(|&outer| outer != NONE)
    }
}

/// The number of a marked region, or of that region in the rank's found loop where it has time there.
fn in_found_loop(sums: &Sums, id: u32) -> u32 {
    let within = FoundRegion::MarkedInLoop(id).number();
    if id != 0 && sums.regions.contains_key(&within) { within } else { id }
}

/// Whether an activity is the program's in MPI.
fn is_mpi(activity: Activity) -> bool {
    !matches!(activity, Activity::Computation | Activity::Recorder)
}

/// The activity of a number in a log.
fn activity_of(number: u8) -> Activity {
    Activity::ALL[usize::from(number & 7)]
}

impl Series {
    fn push(&mut self, number: u32, begin_s: f64, end_s: f64, seconds: &Seconds) {
        let before = self.numbers.len();
        self.numbers.push(number);
        self.begin_s.push(begin_s);
        self.end_s.push(end_s);
        for (column, &value) in self.seconds.iter_mut().zip(seconds) {
            if !column.is_empty() || value > 0.0 {
                column.resize(before, 0.0);
                column.push(value);
            }
        }
    }

    fn shrink_to_fit(&mut self) {
        self.numbers.shrink_to_fit();
        self.begin_s.shrink_to_fit();
        self.end_s.shrink_to_fit();
        self.seconds.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

/// A part of the run: the models of some ranks, and the tables that they refer to.
#[derive(Default)]
struct Part {
    facts: RunFacts,
    tables: Tables,
    ranks: Vec<RankModel>,
    /// Ranks of which sums lie across an end of the time that counts.
    uncut: Vec<u32>,
    slowest: BTreeMap<RegionIdx, Vec<Slowest>>,
    concurrency: Concurrency,
    problems: Vec<Problem>,
}

/// A part of a region's path.
#[derive(Clone)]
struct PathPart {
    name: String,
    kind: RegionKind,
    iterated: bool,
    found: bool,
}

impl PathPart {
    fn of(region: &Region) -> Self {
        PathPart { name: region.name.clone(), kind: region.kind, iterated: region.iterated, found: region.found }
    }

    /// A region that was found, and whether it is iterated.
    fn found((name, iterated): (&str, bool)) -> Self {
        PathPart { name: name.to_owned(), kind: RegionKind::Useful, iterated, found: true }
    }
}

/// Names that several ranks share, each once.
struct Tables {
    /// The first is the whole program.
    regions: Vec<Region>,
    /// By the region around it and its name.
    regions_by_name: HashMap<(RegionIdx, String), RegionIdx>,
    /// Bytes of all regions' paths.
    path_bytes: usize,
    counters: Vec<String>,
    counters_by_name: HashMap<String, u32>,
    communicators: BTreeMap<u64, Communicator>,
}

/// Most bytes of all regions' paths: thousands of regions have a few hundred thousand. Nested regions with long names, which a
/// small log can define, would take without a bound what memory there is.
const MAX_PATH_BYTES: usize = 64 << 20;

impl Default for Tables {
    fn default() -> Self {
        let whole = Region {
            name: WHOLE_PROGRAM.to_owned(),
            path: WHOLE_PROGRAM.to_owned(),
            parent: 0,
            kind: RegionKind::Useful,
            iterated: false,
            found: false,
        };
        Tables {
            regions: vec![whole],
            regions_by_name: HashMap::new(),
            path_bytes: 0,
            counters: Vec::new(),
            counters_by_name: HashMap::new(),
            communicators: BTreeMap::new(),
        }
    }
}

impl Tables {
    /// The region of this name within `parent`; `None`: there are too many.
    fn region(&mut self, parent: RegionIdx, part: &PathPart) -> Option<RegionIdx> {
        let PathPart { name, kind, iterated, found } = part.clone();
        let key = (parent, name.clone());
        if let Some(&idx) = self.regions_by_name.get(&key) {
            self.regions[idx as usize].iterated |= iterated;
            return Some(idx);
        }
        let path = format!("{}/{}", self.regions[parent as usize].path, path_part(&name));
        self.path_bytes = Some(self.path_bytes + path.len()).filter(|&bytes| bytes <= MAX_PATH_BYTES)?;
        let idx = self.regions.len() as RegionIdx;
        self.regions.push(Region { name, path, parent, kind, iterated, found });
        self.regions_by_name.insert(key, idx);
        Some(idx)
    }

    fn chain(&self, region: RegionIdx) -> Vec<RegionIdx> {
        chain(&self.regions, region)
    }

    fn in_iterated(&self, region: RegionIdx) -> bool {
        self.chain(region).iter().any(|&idx| self.regions[idx as usize].iterated)
    }

    fn counter(&mut self, name: &str) -> u32 {
        *self.counters_by_name.entry(name.to_owned()).or_insert_with(|| {
            self.counters.push(name.to_owned());
            self.counters.len() as u32 - 1
        })
    }
}

/// New indices of what a part refers to.
struct Renumbering {
    regions: Vec<RegionIdx>,
    counters: Vec<u32>,
}

impl Renumbering {
    fn apply(&self, rank: &mut RankModel) {
        let region = |idx: &mut RegionIdx| *idx = self.regions[*idx as usize];
        rank.cells.iter_mut().for_each(|((idx, _), _)| region(idx));
        rank.cells.sort_by_key(|&(key, _)| key);
        rank.inclusive.iter_mut().for_each(|(idx, _)| region(idx));
        rank.inclusive.sort_by_key(|&(key, _)| key);
        rank.in_iterations.iter_mut().for_each(|(idx, _)| region(idx));
        rank.in_iterations.sort_by_key(|&(key, _)| key);
        rank.totals.iter_mut().for_each(|(idx, _)| region(idx));
        rank.totals.sort_by_key(|&(key, _)| key);
        rank.iterations.iter_mut().for_each(|(idx, _)| region(idx));
        rank.iterations.sort_by_key(|&(key, _)| key);
        for ((idx, counter), _) in &mut rank.counters {
            region(idx);
            *counter = self.counters[*counter as usize];
        }
        rank.counters.sort_by_key(|&(key, _)| key);
        for sites in [&mut rank.sites, &mut rank.other_sites] {
            for (key, _) in sites.iter_mut() {
                region(&mut key.region);
            }
            sites.sort_by_key(|&(key, _)| key);
        }
    }

    fn slowest(&self, slowest: BTreeMap<RegionIdx, Vec<Slowest>>) -> BTreeMap<RegionIdx, Vec<Slowest>> {
        slowest.into_iter().map(|(idx, list)| (self.regions[idx as usize], list)).collect()
    }
}

impl Merge for Part {
    fn merge(mut self, mut higher: Part) -> Part {
        let tables = &mut self.tables;
        let mut numbers = Renumbering { regions: Vec::new(), counters: Vec::new() };
        numbers.regions.push(0);
        for region in &higher.tables.regions[1..] {
            // The one around it comes before it in its table, so that it has its new index already.
            let parent = numbers.regions.get(region.parent as usize).copied().unwrap_or(0);
            let idx = tables.region(parent, &PathPart::of(region)).unwrap_or(parent);
            numbers.regions.push(idx);
        }
        numbers.counters = higher.tables.counters.iter().map(|name| tables.counter(name)).collect();
        for (uid, comm) in higher.tables.communicators {
            tables.communicators.entry(uid).or_insert(comm);
        }
        higher.ranks.iter_mut().for_each(|rank| numbers.apply(rank));
        self.ranks.append(&mut higher.ranks);
        self.uncut.append(&mut higher.uncut);
        for (idx, list) in numbers.slowest(higher.slowest) {
            let own = self.slowest.entry(idx).or_default();
            *own = slower_of(std::mem::take(own), list);
        }
        self.concurrency = self.concurrency.merge(higher.concurrency);
        self.facts.common_clock &= higher.facts.common_clock;
        self.facts.clock_error_s =
            [self.facts.clock_error_s, higher.facts.clock_error_s].into_iter().flatten().reduce(f64::max);
        self.facts.n_ranks = self.facts.n_ranks.max(higher.facts.n_ranks);
        for (name, value) in higher.facts.params {
            self.facts.params.entry(name).or_insert(value);
        }
        self.problems.append(&mut higher.problems);
        self
    }
}

/// For each iteration of either list, sorted by iteration, the slower; of equals the one of `lower`.
fn slower_of(lower: Vec<Slowest>, higher: Vec<Slowest>) -> Vec<Slowest> {
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

impl Part {
    /// The model, its tables in an order that does not depend on the order of merging.
    fn finish(mut self, structure: &Structure) -> Model {
        let tables = self.tables;
        // A region sorts after the one around it, whose names are the first of its own.
        let names: Vec<Vec<String>> = (0..tables.regions.len() as RegionIdx)
            .map(|idx| tables.chain(idx).iter().rev().map(|&idx| tables.regions[idx as usize].name.clone()).collect())
            .collect();
        let (named, region_numbers) = sorted(tables.regions.into_iter().zip(names).collect(), |one| one.1.clone());
        let mut regions: Vec<Region> = named.into_iter().map(|(region, _)| region).collect();
        for region in &mut regions {
            region.parent = region_numbers[region.parent as usize];
        }
        let (counters, counter_numbers) = sorted(tables.counters, String::clone);
        let numbers = Renumbering { regions: region_numbers, counters: counter_numbers };
        self.ranks.iter_mut().for_each(|rank| numbers.apply(rank));
        let mut slowest = vec![Vec::new(); regions.len()];
        for (idx, list) in numbers.slowest(self.slowest) {
            slowest[idx as usize] = list;
        }
        let mut model = Model {
            facts: self.facts,
            ranks: self.ranks,
            uncut_ranks: self.uncut,
            regions,
            sites: Sites::default(),
            communicators: tables.communicators.into_values().collect(),
            counters,
            slowest,
            loops: structure.loops.clone(),
            without_loop: structure.without,
            outermost_iterated: Vec::new(),
            chosen_loop: None,
            alone: None,
            followed: None,
            problems: self.problems,
            found: Vec::new(),
        };
        let is_outermost = |&idx: &RegionIdx| {
            let around = model.regions[idx as usize].parent;
            model.is_by_iteration(idx) && (idx == 0 || !model.is_by_iteration(around))
        };
        model.outermost_iterated = (0..model.regions.len() as RegionIdx).filter(is_outermost).collect();
        common_clock(&mut model);
        model.alone = self.concurrency.alone(&windows_ns(&model.ranks)).filter(|_| model.facts.common_clock);
        model
    }
}

/// When the window of each rank begins and ends, in nanoseconds of the common clock.
fn windows_ns(ranks: &[RankModel]) -> Vec<(i64, i64)> {
    let end = |rank: &RankModel| rank.begin_ns.saturating_add(((rank.end_s - rank.begin_s) * 1e9) as i64);
    ranks.iter().map(|rank| (rank.begin_ns, end(rank))).collect()
}

/// Sorts a table by `key`; also the new index of each old one.
fn sorted<T, K: Ord>(table: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, Vec<u32>) {
    let mut order: Vec<(usize, T)> = table.into_iter().enumerate().collect();
    order.sort_by_cached_key(|(_, one)| key(one));
    let mut numbers = vec![0; order.len()];
    for (new, (old, _)) in order.iter().enumerate() {
        numbers[*old] = new as u32;
    }
    (order.into_iter().map(|(_, one)| one).collect(), numbers)
}

/// Shifts all times so that the run's window begins at 0. Where the clocks of hosts cannot be compared, every rank's window
/// begins there: ranks leave MPI_Init at nearly the same time.
fn common_clock(model: &mut Model) {
    let one_host = model.ranks.windows(2).all(|pair| pair[0].host == pair[1].host);
    model.facts.common_clock |= one_host;
    let first_ns = model.ranks.iter().map(|rank| rank.begin_ns).min().unwrap_or(0);
    for rank in &mut model.ranks {
        rank.begin_s = match model.facts.common_clock {
            true => rank.begin_ns.saturating_sub(first_ns) as f64 / 1e9,
            false => 0.0,
        };
        rank.end_s += rank.begin_s;
        for (_, series) in &mut rank.iterations {
            series.begin_s.iter_mut().chain(&mut series.end_s).for_each(|time| *time += rank.begin_s);
        }
    }
    if !model.facts.common_clock && !model.problems.iter().any(|one| one.kind == ProblemKind::ClocksUnknown) {
        let detail = "the windows of all ranks are taken to begin together".to_owned();
        model.problems.push(Problem { kind: ProblemKind::ClocksUnknown, rank: None, count: 1, detail });
    }
}

/// The name of an operation's number, also of one that this version does not know.
pub fn operation_name(number: u16) -> String {
    Operation::from_number(number)
        .map_or_else(|| format!("operation {number}"), |operation| operation.name().to_owned())
}
