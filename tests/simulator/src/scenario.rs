//! Small runs made by hand, written through the real writer: what tests of all crates read.
//!
//! ```
//! # use lbprof_simulator::scenario::Scenario;
//! # use lbprof_collector::Operation;
//! // rank 0  |======= compute 30 =======| send
//! // rank 1  |= 10 =| recv .............|
//! let folder = std::env::temp_dir().join("a-scenario-of-lbprof");
//! # let _ = std::fs::remove_dir_all(&folder);
//! Scenario::ranks(2)
//!     .rank(0, |r| r.compute(30).send(1, 7, 800, 0.1))
//!     .rank(1, |r| r.compute(10).recv(0, 7, 800, 20.1))
//!     .write(&folder)
//!     .unwrap();
//! # std::fs::remove_dir_all(&folder).unwrap();
//! ```
//!
//! Durations are milliseconds. Ticks are nanoseconds of CLOCK_MONOTONIC; every rank's window begins at [`START`] unless
//! [`RankScript::late`] says otherwise.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::joining::joined;
use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, Definition, EndReason, Module, RankList, Region, RegionKind,
    ResourceUsage,
};
use lbprof_collector::format::{
    BLOCK_HEAD_BYTES, BLOCK_MAGIC, BatchHead, BlockHead, ClockSource, LogHeader, PREAMBLE_BYTES, RecordingMode,
    header_checksum, log_name, rings_name,
};
use lbprof_collector::off_core::{OffCoreTimes, ReadInterval, ThreadUsage};
use lbprof_collector::operation::Operation;
use lbprof_collector::parallel::TeamTime;
use lbprof_collector::parallel_marks::ParallelInstance;
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::ring::{HEAD_BYTES, MAGIC, MAX_OPEN, RingHead};
use lbprof_collector::sample::{CodeAddress, SamplePlaces, SamplingOutcome, SamplingSetup, ThreadPool};
use lbprof_collector::states::{Activity, CoreState};
use lbprof_collector::thread_positions::ThreadLocator;
use lbprof_collector::writer::LogWriter;

use crate::samples::{Sampled, Speed};
use crate::summaries::folding;

/// When the windows begin, in ticks: one second.
pub const START: u64 = 1_000_000_000;

/// The run's id in every scenario, unless [`Scenario::run_id`] says otherwise.
pub const RUN_ID: u64 = 0x5ce0_a210;

/// Load address of the only module, and its length; call sites lie in it, 16 bytes apart.
const BASE: u64 = 0x40_0000;
const LENGTH: u64 = 0x10_0000;

/// The header of a rank's log in a scenario.
pub fn header(rank: u32, n_ranks: u32) -> LogHeader {
    let instant = |ticks| ClockPair { ticks, monotonic_ns: ticks };
    LogHeader {
        run_id: RUN_ID,
        rank,
        n_ranks,
        host: "node0".to_owned(),
        pid: 1000 + rank,
        command: vec!["./scenario".to_owned()],
        mpi: "an MPI made by hand".to_owned(),
        abi: "open-mpi".to_owned(),
        recorder: env!("CARGO_PKG_VERSION").to_owned(),
        clock: ClockSource::Monotonic,
        started_unix_s: 1_700_000_000,
        recorded_ranks: RankList::default(),
        mode: RecordingMode::Events,
        instants: [instant(START - 1_000_000), instant(START)],
        settings: Vec::new(),
    }
}

/// A run made by hand.
pub struct Scenario {
    scripts: Vec<RankScript>,
    headers: Vec<LogHeader>,
    missing: Vec<u32>,
}

impl Scenario {
    /// A run of `n` ranks in which nothing happens yet: their windows are empty.
    pub fn ranks(n: u32) -> Self {
        Scenario {
            scripts: (0..n).map(|rank| RankScript::new(rank, n)).collect(),
            headers: (0..n).map(|rank| header(rank, n)).collect(),
            missing: Vec::new(),
        }
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> u32 {
        self.scripts.len() as u32
    }

    /// Adds to what `rank` does.
    pub fn rank(mut self, rank: u32, script: impl FnOnce(RankScript) -> RankScript) -> Self {
        let place = &mut self.scripts[rank as usize];
        *place = script(std::mem::take(place));
        self
    }

    /// Adds the same to what every rank does; the script is given the rank.
    pub fn each(mut self, script: impl Fn(u32, RankScript) -> RankScript) -> Self {
        for rank in 0..self.scripts.len() as u32 {
            self = self.rank(rank, |now| script(rank, now));
        }
        self
    }

    /// Changes the header of `rank`.
    pub fn header(mut self, rank: u32, change: impl FnOnce(&mut LogHeader)) -> Self {
        change(&mut self.headers[rank as usize]);
        self
    }

    /// Gives all ranks this run id.
    pub fn run_id(mut self, run_id: u64) -> Self {
        self.headers.iter_mut().for_each(|header| header.run_id = run_id);
        self
    }

    /// Puts ranks on hosts: `host` gives the name for each.
    pub fn hosts(mut self, host: impl Fn(u32) -> String) -> Self {
        self.headers.iter_mut().for_each(|header| header.host = host(header.rank));
        self
    }

    /// In profile mode, the log says where the first thread was at each sample, as the recorder does.
    pub fn placing_samples(mut self) -> Self {
        self.scripts.iter_mut().for_each(|script| script.places_samples = true);
        self
    }

    /// All ranks record profiles in place of events.
    pub fn profile_mode(mut self) -> Self {
        self.headers.iter_mut().for_each(|header| header.mode = RecordingMode::Profile);
        self
    }

    /// Leaves out the log of `rank`.
    pub fn missing(mut self, rank: u32) -> Self {
        self.missing.push(rank);
        self
    }

    /// Writes the logs, and the rings of ranks that were killed, into `folder`, which is made where it does not exist.
    ///
    /// Errors: what the system says.
    pub fn write(self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for (script, header) in self.scripts.into_iter().zip(self.headers) {
            if self.missing.contains(&header.rank) {
                continue;
            }
            let name = log_name(header.rank);
            let (log, ring) = script.finish(&header)?;
            std::fs::write(folder.join(name), log)?;
            if let Some(ring) = ring {
                std::fs::write(folder.join(rings_name(header.rank)), ring)?;
            }
        }
        Ok(())
    }
}

/// A rank's clock against the run's common clock, which is rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// What it is ahead by at [`START`], in nanoseconds.
    pub ahead_ns: i64,
    /// What it gains a nanosecond, in nanoseconds.
    pub drift: f64,
    /// What the log says of it.
    pub noted: Noted,
}

/// What a log says of its rank's clock: an offset at the begin of the window and one at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Noted {
    /// The truth.
    #[default]
    Truly,
    /// Too much by this many nanoseconds, which is also the bound of the error that it states.
    WrongBy(i64),
    /// Nothing.
    Never,
}

impl Clock {
    /// Its ticks at `time`, in nanoseconds of the common clock.
    pub fn ticks(&self, time: u64) -> u64 {
        let since = time as i64 - START as i64;
        time.wrapping_add_signed(self.ahead_ns + (self.drift * since as f64).round() as i64)
    }

    fn offset(&self, time: u64) -> Option<Definition> {
        let wrong = match self.noted {
            Noted::Truly => 0,
            Noted::WrongBy(ns) => ns,
            Noted::Never => return None,
        };
        let ticks = self.ticks(time);
        let offset_ns = ticks as i64 - time as i64 + wrong;
        Some(Definition::ClockOffset(ClockOffset { ticks, offset_ns, error_ns: wrong.unsigned_abs() }))
    }
}

#[derive(Default)]
enum Ending {
    #[default]
    Finalize,
    Other(EndReason),
    /// It was killed; this many of its last records are in its ring alone.
    Killed {
        in_ring: usize,
    },
}

/// What one rank does, in order. Every method adds to its end.
#[derive(Default)]
pub struct RankScript {
    rank: u32,
    now: u64,
    begin: u64,
    /// Calls and markers; `call_site` is an address in the module.
    records: Vec<Record>,
    definitions: Vec<Definition>,
    later: Vec<Definition>,
    /// Offsets in the module of places that have a name.
    sites: HashMap<String, u64>,
    /// Ids of call sites by address.
    site_ids: HashMap<u64, u32>,
    site: Option<String>,
    /// Places of the calls around it, the outermost first; none: they are not known.
    callers: Vec<String>,
    regions: HashMap<(u32, String), u32>,
    open: Vec<(u32, u32)>,
    iterations: HashMap<u32, u32>,
    counters: HashMap<String, u32>,
    requests: u32,
    comms: u32,
    batch: usize,
    ending: Ending,
    clock: Clock,
    dropped: u64,
    /// Other threads: number, when each begins, its records.
    threads: Vec<(u32, u64, Vec<Record>)>,
    /// CPU time between samples, where it is sampled.
    sampling: Option<SamplingSetup>,
    /// The thread that called MPI_Init, where it is sampled, then others without MPI calls.
    sampled: Vec<Sampled>,
    /// Whether the log says where the first thread was at each sample.
    places_samples: bool,
    busy: Option<CodeAddress>,
}

pub(crate) fn ticks(ms: impl Into<f64>) -> u64 {
    (ms.into() * 1e6).round() as u64
}

impl RankScript {
    fn new(rank: u32, n_ranks: u32) -> Self {
        let world = RankList::from_ranks(0..n_ranks);
        let comm = |id, uid, rank, group| {
            let remote = RankList::default();
            Definition::Communicator(Communicator { id, uid, parent: NONE, rank, group, remote })
        };
        let main = Region { id: 0, parent: 0, name: "main".to_owned(), kind: RegionKind::Useful, iterated: false };
        let module = Module {
            id: 0,
            path: "/home/user/scenario".to_owned(),
            build_id: vec![0x5c, 0xe0],
            base: BASE,
            end: BASE + LENGTH,
        };
        RankScript {
            rank,
            now: START,
            begin: START,
            definitions: vec![
                Definition::Module(module),
                comm(0, 1, rank, world),
                comm(1, 2, 0, RankList::from_ranks([rank])),
                Definition::Region(main),
                Definition::Thread(0, 1000 + rank),
            ],
            comms: 2,
            batch: 2000,
            ..RankScript::default()
        }
    }

    /// The window begins `ms` later than that of the other ranks. Before anything else.
    pub fn late(mut self, ms: impl Into<f64>) -> Self {
        self.begin += ticks(ms);
        self.now = self.begin;
        self
    }

    /// Computes for `ms`.
    pub fn compute(mut self, ms: impl Into<f64>) -> Self {
        self.now += ticks(ms);
        self
    }

    /// The rank is sampled from here on, so often in a second of CPU time: what it does in [`RankScript::compute_in`]; in calls too after
    /// [`RankScript::busy_calls`]. In [`RankScript::compute`] it has no core, and there is no sample.
    pub fn sampled(mut self, per_second: u32) -> Self {
        let period_ns = 1_000_000_000 / u64::from(per_second);
        let outcome = SamplingOutcome::Sampled;
        self.sampling = Some(SamplingSetup { period_ns, outcome, counted: false, error_ns: 0 });
        self.sampled.push(Sampled::new(0, 1000 + self.rank, 0, period_ns));
        self
    }

    /// The module in which all places lie is the file at this path, with this build id.
    pub fn program(mut self, path: &str, build_id: &[u8]) -> Self {
        for definition in &mut self.definitions {
            if let Definition::Module(module) = definition {
                (module.path, module.build_id) = (path.to_owned(), build_id.to_vec());
            }
        }
        self
    }

    /// What the log says about sampling, of a rank that has no samples.
    pub fn not_sampled(mut self, outcome: SamplingOutcome) -> Self {
        self.sampling = Some(SamplingSetup { period_ns: 5_000_000, outcome, counted: false, error_ns: 0 });
        self
    }

    /// The processor counts instructions and cycles: so many a nanosecond from here on. First before anything was executed, or never.
    pub fn speed(mut self, speed: Speed) -> Self {
        self.sampling.iter_mut().for_each(|sampling| sampling.counted = true);
        self.sampled.iter_mut().for_each(|thread| thread.set_speed(speed));
        self
    }

    /// Computes for `ms` at the place of this name, which lies in the same module as call sites; sampled.
    pub fn compute_in(mut self, place: &str, ms: impl Into<f64>) -> Self {
        let location = self.location(place);
        self.compute_at(location, ms)
    }

    /// Computes for `ms` at any location.
    pub fn compute_at(mut self, location: CodeAddress, ms: impl Into<f64>) -> Self {
        let time = ticks(ms);
        self.execute(self.now, time, location);
        self.now += time;
        self
    }

    /// The location of the place of this name.
    pub fn location(&mut self, place: &str) -> CodeAddress {
        CodeAddress { module: 0, offset: self.offset(place.to_owned()) }
    }

    /// The rank keeps its core in the calls that follow, and executes at the place of this name; `None`: it waits without a core.
    pub fn busy_calls(mut self, place: Option<&str>) -> Self {
        self.busy = place.map(|place| self.location(place));
        self
    }

    /// Another thread, which calls no MPI function and has this id for the system, executes at a place for `ms` from here on, meanwhile.
    pub fn worker(mut self, system_id: u32, place: &str, ms: impl Into<f64>) -> Self {
        let location = self.location(place);
        self.worker_at(system_id, location, ms)
    }

    /// The same at any location.
    pub fn worker_at(mut self, system_id: u32, location: CodeAddress, ms: impl Into<f64>) -> Self {
        let (now, id) = (self.now, self.sampled.len() as u32);
        let period = self.sampling.map_or(5_000_000, |sampling| sampling.period_ns);
        let known = self.sampled.iter().position(|one| one.thread.system_id == system_id);
        let at = known.unwrap_or_else(|| {
            self.sampled.push(Sampled::new(id, system_id, NONE, period));
            id as usize
        });
        self.sampled[at].run(now, ticks(ms), location, NONE);
        self
    }

    /// The thread that has this id for the system is the one of the log's records with this number.
    pub fn records_as(mut self, system_id: u32, number: u32) -> Self {
        let own = self.sampled.iter_mut().filter(|one| one.thread.system_id == system_id);
        own.for_each(|one| one.thread.number = number);
        self
    }

    /// The thread that has this id for the system is one of `threads` that start with the routine at `location`.
    pub fn in_pool(mut self, system_id: u32, location: CodeAddress, threads: u32) -> Self {
        let address = self.address_of(location.offset + 1);
        let routine = self.site_ids[&address];
        let pool = ThreadPool { routine, threads, started: threads.into(), ..ThreadPool::default() };
        for thread in self.sampled.iter_mut().filter(|one| one.thread.system_id == system_id) {
            thread.thread.pool = pool.id;
        }
        self.define(Definition::ThreadPool(pool))
    }

    /// `started` threads, one at a time and too short for samples, start with the routine at `location` and use `cpu_ms` in all.
    pub fn short_threads(mut self, location: CodeAddress, started: u64, cpu_ms: f64) -> Self {
        let address = self.address_of(location.offset + 1);
        let routine = self.site_ids[&address];
        let ended_cpu_ns = (cpu_ms * 1e6) as u64;
        self.define(Definition::ThreadPool(ThreadPool { id: 0, routine, threads: 1, started, ended_cpu_ns }))
    }

    /// `n` samples of the thread that called MPI_Init are lost here.
    pub fn lose_samples(mut self, n: u64) -> Self {
        self.sampled.iter_mut().take(1).for_each(|thread| thread.lose(n));
        self
    }

    fn execute(&mut self, begin: u64, time: u64, location: CodeAddress) {
        if let Some(thread) = self.sampled.first_mut() {
            thread.run(begin, time, location, NONE);
        }
    }

    /// The next call comes from the place of this name; without, calls of one operation come from one place.
    pub fn at(mut self, site: &str) -> Self {
        self.site = Some(site.to_owned());
        self
    }

    /// The calls that follow are made in a function that is called from the last of these places, in one that is called from the one before
    /// it, and so on; the first is where the program starts. Without any, nothing is known of that.
    pub fn through(mut self, callers: &[&str]) -> Self {
        self.callers = callers.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// Numbers the places of these names before all others, so that they are the same ones on all ranks, whichever they call from.
    pub fn places(mut self, names: &[&str]) -> Self {
        for name in names {
            self.offset((*name).to_owned());
        }
        self
    }

    /// A call of any operation that lasts `ms`; `fill` sets what else its record says.
    pub fn call(mut self, operation: Operation, ms: impl Into<f64>, fill: impl FnOnce(&mut Record)) -> Self {
        let mut record = Record::new(operation, self.now);
        record.end = self.now + ticks(ms);
        record.comm = 0;
        record.call_site = self.address(operation);
        fill(&mut record);
        if let Some(location) = self.busy {
            let time = record.end.saturating_sub(record.begin);
            self.execute(record.begin, time, location);
        }
        self.now = record.end.max(self.now);
        self.records.push(record);
        self
    }

    /// MPI_Send to `dest`.
    pub fn send(self, dest: i32, tag: i32, bytes: u64, ms: impl Into<f64>) -> Self {
        self.call(Operation::Send, ms, |r| (r.peer, r.tag, r.sent) = (dest, tag, bytes))
    }

    /// MPI_Recv from `source`.
    pub fn recv(self, source: i32, tag: i32, bytes: u64, ms: impl Into<f64>) -> Self {
        self.call(Operation::Recv, ms, |r| (r.peer, r.tag, r.received) = (source, tag, bytes))
    }

    /// MPI_Isend to `dest`; its request is the number of such calls before it.
    pub fn isend(mut self, dest: i32, tag: i32, bytes: u64, ms: impl Into<f64>) -> Self {
        let request = self.new_request();
        self.call(Operation::Isend, ms, |r| (r.peer, r.tag, r.sent, r.request) = (dest, tag, bytes, request))
    }

    /// MPI_Irecv from `source`; its request is the number of such calls before it.
    pub fn irecv(mut self, source: i32, tag: i32, ms: impl Into<f64>) -> Self {
        let request = self.new_request();
        self.call(Operation::Irecv, ms, |r| (r.peer, r.tag, r.request) = (source, tag, request))
    }

    /// MPI_Wait for `request`; peer, tag and bytes are those with which it started, `received` what arrived.
    pub fn wait(self, request: u32, received: u64, ms: impl Into<f64>) -> Self {
        let start = self.started(request);
        self.call(Operation::Wait, ms, |r| complete(r, &start, received))
    }

    /// MPI_Waitall for requests, each with what it received.
    pub fn waitall(self, requests: &[(u32, u64)], ms: impl Into<f64>) -> Self {
        self.complete_several(Operation::Waitall, requests, ms)
    }

    /// Any call that completes several requests, each with what it received.
    pub fn complete_several(self, operation: Operation, requests: &[(u32, u64)], ms: impl Into<f64>) -> Self {
        let starts: Vec<_> = requests.iter().map(|&(request, _)| self.started(request)).collect();
        let call = self.call(operation, ms, |r| (r.comm, r.count) = (NONE, requests.len() as u32));
        call.completed(&starts, requests)
    }

    /// The same where the ring is full at its end: a flush of `flush_ms` comes before the parts, whose number the call does not say then.
    pub fn waitall_flushed(self, requests: &[(u32, u64)], ms: impl Into<f64>, flush_ms: impl Into<f64>) -> Self {
        let starts: Vec<_> = requests.iter().map(|&(request, _)| self.started(request)).collect();
        self.call(Operation::Waitall, ms, |r| r.comm = NONE).flush(flush_ms).completed(&starts, requests)
    }

    fn completed(mut self, starts: &[Record], requests: &[(u32, u64)]) -> Self {
        let call = self.records.iter().rev().find(|record| record.operation != Operation::Flush as u16);
        let call_site = call.map_or(0, |call| call.call_site);
        for (start, &(_, received)) in starts.iter().zip(requests) {
            let mut part = Record { call_site, ..Record::new(Operation::Completed, self.now) };
            complete(&mut part, start, received);
            self.records.push(part);
        }
        self
    }

    /// MPI_Barrier on MPI_COMM_WORLD.
    pub fn barrier(self, ms: impl Into<f64>) -> Self {
        self.call(Operation::Barrier, ms, |_| ())
    }

    /// MPI_Allreduce on MPI_COMM_WORLD.
    pub fn allreduce(self, bytes: u64, ms: impl Into<f64>) -> Self {
        self.call(Operation::Allreduce, ms, |r| (r.sent, r.received) = (bytes, bytes))
    }

    /// A phase around what `script` does.
    pub fn region(self, name: &str, script: impl FnOnce(Self) -> Self) -> Self {
        self.region_of(name, RegionKind::Useful, script)
    }

    /// A phase of some kind.
    pub fn region_of(mut self, name: &str, kind: RegionKind, script: impl FnOnce(Self) -> Self) -> Self {
        let region = self.region_id(name, kind, false);
        self = script(self.enter(region, NONE));
        self.leave(region)
    }

    /// One iteration of a phase whose invocations are iterations; they are numbered from 0.
    pub fn iteration(mut self, name: &str, script: impl FnOnce(Self) -> Self) -> Self {
        let region = self.region_id(name, RegionKind::Useful, true);
        let iteration = self.next_iteration(region);
        self = script(self.enter(region, iteration));
        self.leave(region)
    }

    /// `n` times what `script` does; it is given the number of the time.
    pub fn repeat(mut self, n: u32, script: impl Fn(u32, Self) -> Self) -> Self {
        for i in 0..n {
            self = script(i, self);
        }
        self
    }

    /// LBPROF_WORK in the innermost open region.
    pub fn work(self, operations: impl Into<f64>, quanta: impl Into<f64>) -> Self {
        let (operations, quanta) = (operations.into(), quanta.into());
        let region = self.open.last().map_or(0, |&(region, _)| region);
        self.marker(Operation::Work, |r| {
            (r.request, r.sent, r.received) = (region, operations.to_bits(), quanta.to_bits());
        })
    }

    /// LBPROF_COUNT.
    pub fn count(mut self, name: &str, value: impl Into<f64>) -> Self {
        let next = self.counters.len() as u32;
        let id = *self.counters.entry(name.to_owned()).or_insert(next);
        if id == next {
            self.definitions.push(Definition::Counter(id, name.to_owned()));
        }
        self.marker(Operation::Counter, |r| (r.request, r.sent) = (id, value.into().to_bits()))
    }

    /// A parallel region whose threads work so many milliseconds each; it lasts as long as the longest.
    pub fn team(mut self, ms: &[f64]) -> Self {
        let works: Vec<u64> = ms.iter().map(|&ms| ticks(ms)).collect();
        let (heavy, longest) =
            (0..).zip(&works).max_by_key(|&(_, work)| *work).map_or((0, 0), |(at, &work)| (at, work));
        let (begin, call_site) = (self.now, self.address(Operation::ParallelBegin));
        let end = begin + longest;
        let time = TeamTime { useful: works.iter().sum(), ..TeamTime::default() };
        let team = works.len() as u32;
        let instance = ParallelInstance { begin, end, call_site, team, heavy_thread: heavy, longest, time };
        self.records.push(ParallelInstance::begin_record(begin, call_site));
        self.records.extend(instance.end_records());
        self.now = end;
        self
    }

    /// LBPROF_PARAM.
    pub fn param(self, name: &str, value: impl Into<f64>) -> Self {
        self.define(Definition::Param(name.to_owned(), value.into()))
    }

    /// Memory of the process, in bytes, as sampled at the end of the region left last.
    pub fn memory(self, resident: u64, swapped: u64) -> Self {
        let left = self.records.iter().rev().find(|record| record.operation == Operation::RegionLeave as u16);
        let region = left.map_or(NONE, |record| record.request);
        self.marker(Operation::Memory, |r| (r.request, r.sent, r.received) = (region, resident, swapped))
    }

    /// A flush of the recorder that lasts `ms`.
    pub fn flush(mut self, ms: impl Into<f64>) -> Self {
        let end = self.now + ticks(ms);
        self = self.marker(Operation::Flush, |r| (r.end, r.request) = (end, NONE));
        self.now = end;
        self
    }

    /// Computation of `ms` in a state that the recorder sees begin and end.
    pub fn in_state(mut self, state: CoreState, ms: impl Into<f64>) -> Self {
        let (begin, call_site) = (self.now, self.address(Operation::InState));
        self.now += ticks(ms);
        self.records.push(Record::in_state(state, begin, self.now, call_site));
        self
    }

    /// Recording is paused while `script` runs; of what it does only the time counts.
    pub fn paused(mut self, script: impl FnOnce(Self) -> Self) -> Self {
        self = self.marker(Operation::Pause, |_| ());
        let n = self.records.len();
        self = script(self);
        self.records.truncate(n);
        self.marker(Operation::Resume, |_| ())
    }

    /// Another thread, of a number of its own that is not 0, does meanwhile what `script` does. Its records come first in the log.
    pub fn thread(mut self, number: u32, script: impl FnOnce(Self) -> Self) -> Self {
        let (begin, n) = (self.now, self.records.len());
        self = script(self);
        let records = self.records.split_off(n);
        self.threads.push((number, begin, records));
        self.now = begin;
        self
    }

    /// A definition, before all records.
    pub fn define(mut self, definition: Definition) -> Self {
        self.definitions.push(definition);
        self
    }

    /// A communicator of these world ranks, made from MPI_COMM_WORLD; ids count from 2. `uid` is the same on every member.
    pub fn communicator(mut self, uid: u64, ranks: &[u32]) -> Self {
        let rank = ranks.iter().position(|&rank| rank == self.rank).map_or(NONE, |rank| rank as u32);
        let group = RankList::from_ranks(ranks.iter().copied());
        let id = self.comms;
        self.comms += 1;
        let remote = RankList::default();
        self.define(Definition::Communicator(Communicator { id, uid, parent: 0, rank, group, remote }))
    }

    /// A problem that the recorder met.
    pub fn problem(mut self, kind: ProblemKind, count: u64) -> Self {
        self.later.push(Definition::Problem(kind as u16, count, String::new()));
        self
    }

    /// What the process used until its window ends: CPU time of the thread that called MPI_Init, in milliseconds, and how
    /// often it was preempted.
    pub fn usage(mut self, cpu_ms: impl Into<f64>, preempted: u64) -> Self {
        let used = ticks(cpu_ms);
        self.later.push(Definition::Usage(ResourceUsage {
            ticks: self.now,
            user_ns: used,
            thread_ns: used,
            involuntary_switches: preempted,
            thread_involuntary_switches: preempted,
            thread_delayed_ns: 0,
            max_resident: 100 << 20,
            ..ResourceUsage::default()
        }));
        self
    }

    /// The kernel noted when the first thread was off its core until now: from and to, in milliseconds of the rank's time, and the state. The thread spent `system_ms` of CPU time in the kernel,
    /// with so many page faults.
    pub fn off_core(mut self, intervals: &[(f64, f64, CoreState)], system_ms: f64, page_faults: u64) -> Self {
        let mut read = Vec::new();
        for &(from_ms, to_ms, state) in intervals {
            let [begin, end] = [from_ms, to_ms].map(|ms| self.begin + ticks(ms));
            read.push(ReadInterval { begin, end, state, place: None });
        }
        let used = ThreadUsage { system_ns: ticks(system_ms), page_faults };
        let times = OffCoreTimes::from_intervals(self.begin, self.now, &read);
        let unused = Definition::ThreadUsage(ThreadUsage::default());
        self.later.extend([Definition::OffCore(times), unused, Definition::ThreadUsage(used)]);
        self
    }

    /// The rank's clock is ahead of rank 0's by this much (all its ticks are).
    pub fn clock_ahead(self, ns: i64) -> Self {
        self.clock(Clock { ahead_ns: ns, ..Clock::default() })
    }

    /// The rank's clock, and what its log says of it.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Blocks hold this many records; 2000 unless said.
    pub fn batch(mut self, records: usize) -> Self {
        self.batch = records.max(1);
        self
    }

    /// The process is killed here: no end of the log, and its last records are in its ring alone.
    pub fn kill(mut self, in_ring: usize) -> Self {
        self.ending = Ending::Killed { in_ring };
        self
    }

    /// As [`RankScript::kill`], inside a call of `operation` whose record is the last in the ring.
    pub fn kill_in(mut self, operation: Operation, in_ring: usize) -> Self {
        self = self.call(operation, 0.0, |r| r.end = 0);
        self.kill(in_ring)
    }

    /// The process ends here by exit(), without MPI_Finalize.
    pub fn exit(mut self) -> Self {
        self.ending = Ending::Other(EndReason::Exit);
        self
    }

    /// The process ends with this status.
    pub fn exit_status(self, status: i32) -> Self {
        self.define(Definition::ExitStatus(status))
    }

    /// The process calls MPI_Abort here.
    pub fn abort(mut self, code: i32) -> Self {
        self.ending = Ending::Other(EndReason::Abort(code));
        self
    }

    /// The disk was full: `n` records that would come here were dropped.
    pub fn drop_records(mut self, n: u64) -> Self {
        self.dropped += n;
        self
    }

    fn marker(mut self, operation: Operation, fill: impl FnOnce(&mut Record)) -> Self {
        let mut record = Record::new(operation, self.now);
        fill(&mut record);
        self.records.push(record);
        self
    }

    pub(crate) fn enter_at(mut self, time: u64, name: &str, kind: RegionKind, iterated: bool) -> Self {
        self.now = time;
        let region = self.region_id(name, kind, iterated);
        let iteration = if iterated { self.next_iteration(region) } else { NONE };
        self.enter(region, iteration)
    }

    pub(crate) fn leave_at(mut self, time: u64) -> Self {
        self.now = time;
        match self.open.last() {
            Some(&(region, _)) => self.leave(region),
            None => self,
        }
    }

    /// A call that is there as a whole, or a part of the call before it, made at `offset` in the module.
    pub(crate) fn whole(mut self, record: Record, offset: u64) -> Self {
        let call_site = self.address_of(offset);
        self.now = record.end;
        self.records.push(Record { call_site, ..record });
        self
    }

    /// The window ends at `time`, in ticks; MPI_Finalize is called at `offset` in the module.
    pub(crate) fn finalize_at(mut self, time: u64, offset: u64) -> Self {
        self.now = time;
        self.sites.insert(Operation::Finalize.name().to_owned(), offset);
        self
    }

    fn next_iteration(&mut self, region: u32) -> u32 {
        let next = self.iterations.entry(region).or_default();
        *next += 1;
        *next - 1
    }

    fn enter(mut self, region: u32, iteration: u32) -> Self {
        self.open.push((region, iteration));
        self.marker(Operation::RegionEnter, |r| (r.request, r.count) = (region, iteration))
    }

    fn leave(mut self, region: u32) -> Self {
        let iteration = self.open.pop().map_or(NONE, |(_, iteration)| iteration);
        self.marker(Operation::RegionLeave, |r| (r.request, r.count) = (region, iteration))
    }

    fn region_id(&mut self, name: &str, kind: RegionKind, iterated: bool) -> u32 {
        let parent = self.open.last().map_or(0, |&(region, _)| region);
        let next = self.regions.len() as u32 + 1;
        let id = *self.regions.entry((parent, name.to_owned())).or_insert(next);
        if id == next {
            let name = name.to_owned();
            self.definitions.push(Definition::Region(Region { id, parent, name, kind, iterated }));
        }
        id
    }

    fn new_request(&mut self) -> u32 {
        self.requests += 1;
        self.requests - 1
    }

    fn started(&self, request: u32) -> Record {
        let start = self.records.iter().find(|record| record.is_call() && record.request == request);
        *start.unwrap_or_else(|| panic!("no call before started request {request}"))
    }

    fn address(&mut self, operation: Operation) -> u64 {
        let name = self.site.take().unwrap_or_else(|| operation.name().to_owned());
        if self.callers.is_empty() {
            let offset = self.offset(name);
            return self.address_of(offset);
        }
        let path: Vec<String> = self.callers.iter().cloned().chain([name]).collect();
        self.path_address(&path)
    }

    /// What stands for the address of a call that is made on this path, its own place last.
    fn path_address(&mut self, path: &[String]) -> u64 {
        let address = BASE + self.offset(path.join(" > "));
        if !self.site_ids.contains_key(&address) {
            let (own, around) = path.split_last().expect("a path has a place");
            let around = (!around.is_empty()).then(|| self.path_address(around));
            let parent = around.map_or(NONE, |around| self.site_ids[&around]);
            let (id, offset) = (self.site_ids.len() as u32, self.offset(own.clone()));
            self.site_ids.insert(address, id);
            self.definitions.push(Definition::CallSite(CallSite {
                parent,
                cut: false,
                ..CallSite::alone(id, 0, offset)
            }));
        }
        address
    }

    fn offset(&mut self, name: String) -> u64 {
        let next = 16 * (self.sites.len() as u64 + 1);
        *self.sites.entry(name).or_insert(next)
    }

    /// The address of the call site at `offset` in the module; its definition is made where it is new.
    fn address_of(&mut self, offset: u64) -> u64 {
        let next = self.site_ids.len() as u32;
        let id = *self.site_ids.entry(BASE + offset).or_insert(next);
        if id == next {
            self.definitions.push(Definition::CallSite(CallSite::alone(id, 0, offset)));
        }
        BASE + offset
    }

    fn finish(mut self, header: &LogHeader) -> io::Result<(Vec<u8>, Option<Vec<u8>>)> {
        let clock = self.clock;
        let ahead = |time: u64| clock.ticks(time);
        let in_ring = self.add_end();
        self.shift_times();
        let mut header = header.clone();
        for instant in &mut header.instants {
            *instant = ClockPair { ticks: ahead(instant.ticks), monotonic_ns: ahead(instant.monotonic_ns) };
        }
        let mut log = LogWriter::new(Vec::new(), &header)?;
        let begin = ahead(self.begin);
        self.definitions.push(Definition::WindowBegin(begin));
        self.definitions.extend(clock.offset(self.begin));
        self.definitions.extend(self.sampling.map(Definition::Sampling));
        self.definitions.extend(self.sampled.iter().map(Sampled::definition));
        log.definitions(&self.definitions)?;
        let mut facts_end = log.bytes();
        let site_ids = std::mem::take(&mut self.site_ids);
        let site_of = |record: &Record| site_ids.get(&record.call_site).map_or(u64::MAX, |&id| u64::from(id));

        for (thread, begin, records) in &self.threads {
            let mut head = BatchHead { thread: *thread, previous_end: ahead(*begin), ..BatchHead::default() };
            for batch in records.chunks(self.batch) {
                log.records(&head, &joined(batch), site_of)?;
                head.advance(batch);
            }
        }
        let mut head = BatchHead { previous_end: begin, ..BatchHead::default() };
        let mut fold = folding(&header, &head);
        let (written, ringed) = self.records.split_at(self.records.len() - in_ring);
        let begins = head.clone();
        for batch in written.chunks(self.batch) {
            match header.mode {
                RecordingMode::Events => log.records(&head, &joined(batch), site_of)?,
                RecordingMode::Profile => {
                    fold.records(batch, site_of);
                    log.profile(&fold.take())?;
                    facts_end = log.bytes();
                }
            }
            head.advance(batch);
        }
        head.first += self.dropped;
        self.write_samples(&mut log, &begins, written, &mut facts_end)?;
        if let Ending::Killed { .. } = self.ending {
            let in_ring = |record: &Record| Record { call_site: site_of(record).wrapping_add(1), ..*record };
            let ringed: Vec<_> = joined(ringed).iter().map(in_ring).collect();
            let mut ring = ring(&header, &head, &ringed, self.dropped);
            let at = std::mem::offset_of!(RingHead, facts_end);
            ring[at..at + 8].copy_from_slice(&facts_end.to_le_bytes());
            return Ok((log.into_sink(), Some(ring)));
        }
        self.define_end();
        log.definitions(&self.later)?;
        Ok((log.into_sink(), None))
    }

    /// Adds the record of the rank's end; returns how many records are in the ring alone.
    fn add_end(&mut self) -> usize {
        match self.ending {
            Ending::Finalize => {
                let call_site = self.address(Operation::Finalize);
                let finalize = Record::new(Operation::Finalize, self.now);
                self.records.push(Record { comm: 0, call_site, ..finalize });
                0
            }
            Ending::Other(_) => {
                self.records.push(Record::new(Operation::ProgramEnd, self.now));
                0
            }
            Ending::Killed { in_ring } => in_ring.min(self.records.len()),
        }
    }

    /// Gives all times by the rank's clock.
    fn shift_times(&mut self) {
        let clock = self.clock;
        for definition in &mut self.later {
            if let Definition::Usage(usage) = definition {
                usage.ticks = clock.ticks(usage.ticks);
            }
        }
        let others = self.threads.iter_mut().flat_map(|(_, _, records)| records);
        for record in self.records.iter_mut().chain(others) {
            record.begin = clock.ticks(record.begin);
            record.end = if record.end == 0 { 0 } else { clock.ticks(record.end) };
        }
    }

    fn write_samples(
        &self,
        log: &mut LogWriter<Vec<u8>>,
        begins: &BatchHead,
        written: &[Record],
        facts_end: &mut u64,
    ) -> io::Result<()> {
        for thread in &self.sampled {
            let mut places = ThreadLocator::new(begins, written);
            for (head, samples) in thread.blocks(self.batch, |time| self.clock.ticks(time)) {
                if self.places_samples {
                    let places = samples.iter().map(|sample| places.place_at(sample.ticks));
                    let places = SamplePlaces::from_places(head.thread, head.first, places);
                    log.definitions(&[Definition::SamplePlaces(places)])?;
                }
                log.samples(&head, &samples)?;
                *facts_end = log.bytes();
            }
        }
        Ok(())
    }

    fn define_end(&mut self) {
        let end = self.clock.ticks(self.now);
        match self.ending {
            Ending::Killed { .. } => {}
            Ending::Finalize => {
                self.later.extend(self.clock.offset(self.now));
                self.later.extend([Definition::WindowEnd(end), Definition::End(EndReason::Finalize, end)]);
            }
            Ending::Other(reason) => self.later.push(Definition::End(reason, end)),
        }
        if self.dropped > 0 {
            self.later.push(Definition::Problem(ProblemKind::Dropped as u16, self.dropped, String::new()));
        }
        self.later.push(Definition::Instant(ClockPair { ticks: end, monotonic_ns: end }));
    }
}

fn complete(record: &mut Record, start: &Record, received: u64) {
    let activity: Activity = start.activity();
    (record.peer, record.tag, record.comm, record.request) = (start.peer, start.tag, start.comm, start.request);
    (record.sent, record.received) = (start.sent, received);
    record.flags = CallFlags::from_activity(activity);
}

/// The bytes of a ring file with `records` after `head`, with place for as many again. Their `call_site` is stored as it is.
pub fn ring(header: &LogHeader, head: &BatchHead, records: &[Record], dropped: u64) -> Vec<u8> {
    use std::mem::offset_of;
    let capacity = (2 * records.len()).max(16);
    let mut bytes = vec![0; HEAD_BYTES + capacity * size_of::<Record>()];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(offset_of!(RingHead, magic), &MAGIC);
    put(offset_of!(RingHead, version), &u32::from(lbprof_collector::format::VERSION).to_le_bytes());
    put(offset_of!(RingHead, rank), &header.rank.to_le_bytes());
    put(offset_of!(RingHead, run_id), &header.run_id.to_le_bytes());
    put(offset_of!(RingHead, thread), &head.thread.to_le_bytes());
    put(offset_of!(RingHead, capacity), &(capacity as u32).to_le_bytes());
    put(offset_of!(RingHead, first), &head.first.to_le_bytes());
    put(offset_of!(RingHead, previous_end), &head.previous_end.to_le_bytes());
    put(offset_of!(RingHead, dropped), &dropped.to_le_bytes());
    put(offset_of!(RingHead, n_open), &(head.open.len() as u32).to_le_bytes());
    put(offset_of!(RingHead, paused), &u32::from(head.paused).to_le_bytes());
    for (i, open) in head.open.iter().take(MAX_OPEN).enumerate() {
        put(offset_of!(RingHead, open) + 8 * i, &open.region.to_le_bytes());
        put(offset_of!(RingHead, open) + 8 * i + 4, &open.iteration.to_le_bytes());
    }
    for (i, record) in records.iter().enumerate() {
        let slot = HEAD_BYTES + i * size_of::<Record>();
        put(slot + offset_of!(Record, begin), &record.begin.to_le_bytes());
        put(slot + offset_of!(Record, end), &record.end.to_le_bytes());
        put(slot + offset_of!(Record, call_site), &record.call_site.to_le_bytes());
        put(slot + offset_of!(Record, sent), &record.sent.to_le_bytes());
        put(slot + offset_of!(Record, received), &record.received.to_le_bytes());
        put(slot + offset_of!(Record, peer), &record.peer.to_le_bytes());
        put(slot + offset_of!(Record, tag), &record.tag.to_le_bytes());
        put(slot + offset_of!(Record, comm), &record.comm.to_le_bytes());
        put(slot + offset_of!(Record, request), &record.request.to_le_bytes());
        put(slot + offset_of!(Record, operation), &record.operation.to_le_bytes());
        put(slot + offset_of!(Record, flags), &record.flags.0.to_le_bytes());
        put(slot + offset_of!(Record, count), &record.count.to_le_bytes());
    }
    bytes
}

/// Makes the checksums of a log's header and blocks hold, wherever these begin: damage then reaches what lies after them.
pub fn mend_checksums(log: &mut [u8]) {
    if let Some((preamble, rest)) = log.split_first_chunk_mut::<PREAMBLE_BYTES>() {
        let version = u16::from_le_bytes([preamble[8], preamble[9]]);
        let length = u32::from_le_bytes([preamble[10], preamble[11], preamble[12], preamble[13]]);
        if let Some(header) = rest.get(..length as usize) {
            preamble[14..].copy_from_slice(&header_checksum(version, header).to_le_bytes());
        }
    }
    let mut at = 0;
    while let Some(found) = log[at..].windows(BLOCK_MAGIC.len()).position(|window| window == BLOCK_MAGIC) {
        at += found;
        let Some((head, rest)) = log[at..].split_first_chunk_mut::<BLOCK_HEAD_BYTES>() else { return };
        let block = BlockHead::from_bytes(head);
        at += match block.and_then(|block| Some((block, rest.get(..block.stored as usize)?))) {
            Some((block, payload)) => {
                *head = BlockHead { crc: block.checksum(payload), ..block }.to_bytes();
                BLOCK_HEAD_BYTES + payload.len()
            }
            None => 1,
        };
    }
}
