//! Kinds of hostile runs: each a row with its name, how many there are of what it is about, and how it is written.

use std::fs::File;
use std::io;
use std::path::Path;

use lbprof_collector::Operation;
use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, Definition, EndReason, Module, NeighbourRanks, RankGroup, RankList,
    Region, RegionKind,
};
use lbprof_collector::format::{BatchHead, MAX_RECORDS, OpenRegion, log_name, ring_name};
use lbprof_collector::profile::{
    CallSiteKey, CellKey, CounterTotals, ProfileBatch, ProfileCell, RegionInvocation, RegionTotals,
};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::ring::{HEAD_BYTES, MAGIC};
use lbprof_collector::writer::LogWriter;
use lbprof_simulator::noise::Noise;
use lbprof_simulator::scenario::{START, header};

/// A kind of run.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// How many there are of what it is about, by default.
    pub size: u64,
    /// Writes it into a folder that exists.
    pub write: fn(&Path, u64) -> io::Result<()>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind { name: "threads", size: 500_000, write: threads },
    Kind { name: "thread_gaps", size: 500_000, write: thread_gaps },
    Kind { name: "profile_cells", size: 4_000_000, write: profile_cells },
    Kind { name: "profile_sites", size: 3_000_000, write: profile_sites },
    Kind { name: "profile_iterations", size: 4_000_000, write: profile_iterations },
    Kind { name: "profile_batches", size: 200_000, write: profile_batches },
    Kind { name: "regions", size: 1_000_000, write: regions },
    Kind { name: "region_chain", size: 1_000_000, write: region_chain },
    Kind { name: "nested", size: 1_000_000, write: nested },
    Kind { name: "nested_heads", size: 200, write: nested_heads },
    Kind { name: "nested_leaves", size: 200_000, write: nested_leaves },
    Kind { name: "iterations_nested", size: 1_000_000, write: iterations_nested },
    Kind { name: "call_sites", size: 2_000_000, write: call_sites },
    Kind { name: "random_calls", size: 5_000_000, write: random_calls },
    Kind { name: "periodic_calls", size: 5_000_000, write: periodic_calls },
    Kind { name: "strings", size: 8_000, write: strings },
    Kind { name: "modules", size: 1_000_000, write: modules },
    Kind { name: "same_file", size: 1_500, write: same_file },
    Kind { name: "params", size: 2_000_000, write: params },
    Kind { name: "counters", size: 2_000_000, write: counters },
    Kind { name: "problems", size: 1_000_000, write: problems },
    Kind { name: "offsets", size: 4_000_000, write: offsets },
    Kind { name: "communicators", size: 100_000, write: communicators },
    Kind { name: "long_communicators", size: 2_000, write: long_communicators },
    Kind { name: "endless_communicators", size: 200_000, write: endless_communicators },
    Kind { name: "groups", size: 1_000_000, write: groups },
    Kind { name: "neighbours", size: 200_000, write: neighbours },
    Kind { name: "redefined", size: 4_000_000, write: redefined },
    Kind { name: "iterations", size: 5_000_000, write: iterations },
    Kind { name: "polls", size: 10_000_000, write: polls },
    Kind { name: "open_requests", size: 10_000_000, write: open_requests },
    Kind { name: "unmatched_sends", size: 10_000_000, write: unmatched_sends },
    Kind { name: "unmatched_receives", size: 10_000_000, write: unmatched_receives },
    Kind { name: "tags", size: 5_000_000, write: tags },
    Kind { name: "unmatched_barriers", size: 5_000_000, write: unmatched_barriers },
    Kind { name: "unmatched_bcasts", size: 200_000, write: unmatched_bcasts },
    Kind { name: "backwards_bcasts", size: 1_000_000, write: backwards_bcasts },
    Kind { name: "windows", size: 4_000_000, write: windows },
    Kind { name: "waitall", size: 5_000_000, write: waitall },
    Kind { name: "years", size: 1_000_000, write: years },
    Kind { name: "extremes", size: 1_000_000, write: extremes },
    Kind { name: "tiny_blocks", size: 1_000_000, write: tiny_blocks },
    Kind { name: "small_records", size: 80_000_000, write: small_records },
    Kind { name: "unpacking", size: 100, write: unpacking },
    Kind { name: "ranks_claimed", size: 4, write: ranks_claimed },
    Kind { name: "many_ranks", size: 5_000, write: many_ranks },
    Kind { name: "hosts", size: 20_000, write: hosts },
    Kind { name: "heads", size: 50_000, write: heads },
    Kind { name: "garbage", size: 50_000, write: garbage },
    Kind { name: "threads_of_ranks", size: 5_000, write: threads_of_ranks },
    Kind { name: "regions_of_ranks", size: 5_000, write: regions_of_ranks },
    Kind { name: "profiles_of_ranks", size: 5_000, write: profiles_of_ranks },
    Kind { name: "many_rings", size: 5_000, write: many_rings },
];

/// A rank's log while it is written.
struct Log {
    out: LogWriter<File>,
    head: BatchHead,
    batch: Vec<Record>,
    now: u64,
    most: usize,
}

impl Log {
    fn new(folder: &Path, rank: u32, n_ranks: u32) -> io::Result<Log> {
        let mut log = Self::bare(folder, rank, n_ranks)?;
        let world = communicator(0, 1, RankList(vec![(0, 1, n_ranks)]));
        let path = "/home/user/hostile".to_owned();
        log.out.definitions(&[
            Definition::Module(Module { id: 0, path, build_id: vec![1], base: 0x40_0000, end: 1 << 40 }),
            site(0),
            world,
            region(0, 0, "main", false),
            Definition::WindowBegin(START),
            Definition::ClockOffset(ClockOffset { ticks: START, offset_ns: 0, error_ns: 0 }),
        ])?;
        Ok(log)
    }

    fn bare(folder: &Path, rank: u32, n_ranks: u32) -> io::Result<Log> {
        let out = LogWriter::new(File::create(folder.join(log_name(rank)))?, &header(rank, n_ranks))?;
        let head = BatchHead { previous_end: START, ..BatchHead::default() };
        Ok(Log { out, head, batch: Vec::new(), now: START, most: 1 << 16 })
    }

    /// A record that lasts `time` nanoseconds.
    fn record(&mut self, operation: Operation, time: u64, fill: impl FnOnce(&mut Record)) -> io::Result<()> {
        let mut record = Record::new(operation, self.now);
        (record.call_site, record.end, record.comm) = (0, self.now + time, 0);
        fill(&mut record);
        self.now = self.now.max(record.end).wrapping_add(3);
        self.batch.push(record);
        if self.batch.len() >= self.most { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.records(&self.head, &self.batch, |record| record.call_site)?;
        self.head.advance(&self.batch);
        self.batch.clear();
        Ok(())
    }

    /// The same without looking what records leave open, of which there may be very many.
    fn write_flat(&mut self) -> io::Result<()> {
        self.out.records(&self.head, &self.batch, |record| record.call_site)?;
        self.head.first += self.batch.len() as u64;
        self.head.previous_end = self.now;
        self.batch.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.write()?;
        let end = self.now;
        let instant = Definition::Instant(ClockPair { ticks: end, monotonic_ns: end });
        self.out.definitions(&[instant, Definition::WindowEnd(end), Definition::End(EndReason::Finalize, end)])
    }
}

fn site(id: u32) -> Definition {
    Definition::CallSite(CallSite::alone(id, 0, 16 * u64::from(id) + 16))
}

fn region(id: u32, parent: u32, name: &str, iterated: bool) -> Definition {
    Definition::Region(Region { id, parent, name: name.to_owned(), kind: RegionKind::Useful, iterated })
}

fn communicator(id: u32, uid: u64, group: RankList) -> Definition {
    Definition::Communicator(Communicator { id, uid, parent: NONE, rank: 0, group, remote: RankList::default() })
}

/// `n` threads with a call each.
fn threads(folder: &Path, n: u64) -> io::Result<()> {
    threads_from(folder, n, 0)
}

/// The same of which the first 1000 records are missing each.
fn thread_gaps(folder: &Path, n: u64) -> io::Result<()> {
    threads_from(folder, n, 1000)
}

fn threads_from(folder: &Path, n: u64, first: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    for thread in 0..n as u32 {
        log.head = BatchHead { thread, first, previous_end: log.now, ..BatchHead::default() };
        log.record(Operation::Barrier, 10, |_| ())?;
        log.write()?;
    }
    log.finish()
}

/// A profile of `n` cells, each in an iteration and region of its own.
fn profile_cells(folder: &Path, n: u64) -> io::Result<()> {
    profiles(folder, n, 300_000, |at, batch| {
        let key = CellKey { region: 1 + at as u32 % 1000, iteration: (at / 1000) as u32, activity: (at % 5) as u8 };
        batch.profile.cells.push((key, ProfileCell { ticks: 10, calls: 1, sent: 0, received: 0 }));
    })
}

/// A profile of `n` calls, each of a call site of its own.
fn profile_sites(folder: &Path, n: u64) -> io::Result<()> {
    profiles(folder, n, 300_000, |at, batch| {
        let key = CallSiteKey { region: at as u32 % 100, call_site: at as u32, operation: 1, activity: 1 };
        batch.profile.sites.push((key, ProfileCell { ticks: 10, calls: 1, sent: 0, received: 0 }));
        batch.profile.regions.push((at as u32, RegionTotals { invocations: 1, ..RegionTotals::default() }));
    })
}

/// A profile of `n` iterations and counters.
fn profile_iterations(folder: &Path, n: u64) -> io::Result<()> {
    profiles(folder, n, 300_000, |at, batch| {
        let (region, iteration) = (1 + at as u32 % 100, (at / 100) as u32);
        let one = RegionInvocation { region, iteration, outer: NONE, begin: START + at, end: START + at + 10 };
        batch.profile.iterations.push(one);
        batch.profile.counters.push(((region, at as u32), CounterTotals { n: 1, ..CounterTotals::default() }));
    })
}

/// `n` profiles of the same 50 cells in so many regions.
fn profile_batches(folder: &Path, n: u64) -> io::Result<()> {
    profiles(folder, 50 * n, 50, |at, batch| {
        let key = CellKey { region: (at % 50_000) as u32, iteration: NONE, activity: 1 };
        batch.profile.cells.push((key, ProfileCell { ticks: 10, calls: 1, sent: 0, received: 0 }));
    })
}

/// Profiles of `each` entries, `n` in all, in a log that defines 1000 iterated regions.
fn profiles(folder: &Path, n: u64, each: u64, add: impl Fn(u64, &mut ProfileBatch)) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(1..=1000).map(|id| region(id, 0, &format!("r{id}"), true)).collect::<Vec<_>>())?;
    let mut at = 0;
    while at < n {
        let mut batch = ProfileBatch { head: log.head.clone(), ..ProfileBatch::default() };
        for entry in at..n.min(at + each) {
            add(entry, &mut batch);
        }
        at += each;
        batch.profile.records = each;
        log.now += 1000;
        log.head.first += each;
        log.head.previous_end = log.now;
        batch.next = log.head.clone();
        log.out.profile(&batch)?;
    }
    log.finish()
}

/// `n` regions, each entered once.
fn regions(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(1..=n as u32).map(|id| region(id, 0, &format!("r{id}"), false)).collect::<Vec<_>>())?;
    for id in 1..=n as u32 {
        log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (id, NONE))?;
        log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (id, NONE))?;
    }
    log.finish()
}

/// `n` regions, each defined within the one before, and all entered.
fn region_chain(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(1..=n as u32).map(|id| region(id, id - 1, "r", false)).collect::<Vec<_>>())?;
    for id in 1..=n as u32 {
        log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (id, NONE))?;
    }
    for id in (1..=n as u32).rev() {
        log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (id, NONE))?;
    }
    log.finish()
}

/// One region, entered `n` times within itself and left as often.
fn nested(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&[region(1, 0, "deep", false)])?;
    for operation in [Operation::RegionEnter, Operation::RegionLeave] {
        for _ in 0..n {
            log.record(operation, 0, |record| (record.request, record.count) = (1, NONE))?;
        }
    }
    log.finish()
}

/// `n` batches with a call, before each of which 100,000 regions are open.
fn nested_heads(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&[region(1, 0, "deep", true)])?;
    log.head.open = (0..100_000).map(|at| OpenRegion { region: 1, iteration: at }).collect();
    for _ in 0..n {
        log.record(Operation::Barrier, 10, |_| ())?;
        log.write_flat()?;
    }
    log.finish()
}

/// `n` regions that are open, and as many ends of one that is not.
fn nested_leaves(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.most = MAX_RECORDS;
    log.out.definitions(&[region(1, 0, "deep", false), region(2, 0, "other", false)])?;
    for _ in 0..n {
        log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (1, NONE))?;
    }
    for _ in 0..n {
        log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (2, NONE))?;
        if log.batch.len() + 1 == MAX_RECORDS {
            log.write_flat()?;
        }
    }
    log.write_flat()?;
    log.finish()
}

/// `n` iterations, each within the one before.
fn iterations_nested(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(1..=1000).map(|id| region(id, id - 1, "step", true)).collect::<Vec<_>>())?;
    for at in 0..n as u32 {
        let id = 1 + at % 1000;
        log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (id, at))?;
    }
    log.write_flat()?;
    log.finish()
}

/// Calls from `n` call sites.
fn call_sites(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(0..n as u32).map(site).collect::<Vec<_>>())?;
    for at in 0..n {
        log.record(Operation::Barrier, 10, |record| record.call_site = at)?;
    }
    log.finish()
}

/// `n` calls from 3000 call sites, in an order without a pattern.
fn random_calls(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(1);
    calls_in_order(folder, n, |_| noise.below(3000))
}

/// `n` calls whose order repeats itself on several levels, with an exception now and then.
fn periodic_calls(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(1);
    calls_in_order(folder, n, |at| match noise.below(1000) {
        0 => noise.below(500),
        _ => u64::from((at + 1).trailing_zeros()) + 20 * (at / 1000 % 7),
    })
}

fn calls_in_order(folder: &Path, n: u64, mut site_of: impl FnMut(u64) -> u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.out.definitions(&(0..3000).map(site).collect::<Vec<_>>())?;
    for at in 0..n {
        let site = site_of(at);
        log.record(Operation::Barrier, 10, |record| record.call_site = site)?;
    }
    log.finish()
}

/// `n` regions with names of 30,000 bytes, and a counter, file and parameter as long each.
fn strings(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let name = |id: u32| format!("{}{id}", "n".repeat(30_000));
    for id in 1..=n as u32 {
        let param = Definition::Param(name(id), 1.0);
        log.out.definitions(&[region(id, 0, &name(id), false), Definition::Counter(id, name(id)), param])?;
        log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (id, NONE))?;
        log.record(Operation::Counter, 0, |record| record.request = id)?;
        log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (id, NONE))?;
        log.write()?;
    }
    log.finish()
}

/// `n` modules, each with a call site that is called.
fn modules(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let module = |id: u32| Module { id, path: format!("/m/{id}"), build_id: vec![], base: 0, end: 0 };
    let both = |id| [Definition::Module(module(id)), Definition::CallSite(CallSite::alone(id, id, 1))];
    log.out.definitions(&(1..=n as u32).flat_map(both).collect::<Vec<_>>())?;
    for id in 1..=n {
        log.record(Operation::Barrier, 10, |record| record.call_site = id)?;
    }
    log.finish()
}

/// `n` modules, each with a call site that is called: all are the file of this program, by another path each.
fn same_file(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    let module = |id: u32| {
        let path = format!("{}{own}", "/.".repeat(id as usize));
        Module { id, path, build_id: vec![], base: 0, end: 0 }
    };
    let both = |id| [Definition::Module(module(id)), Definition::CallSite(CallSite::alone(id, id, 1 << 16))];
    log.out.definitions(&(1..=n as u32).flat_map(both).collect::<Vec<_>>())?;
    for id in 1..=n {
        log.record(Operation::Barrier, 10, |record| record.call_site = id)?;
    }
    log.finish()
}

/// `n` parameters.
fn params(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let all: Vec<Definition> = (0..n).map(|at| Definition::Param(format!("p{at}"), at as f64)).collect();
    log.out.definitions(&all)?;
    log.record(Operation::Barrier, 10, |_| ())?;
    log.finish()
}

/// `n` counters, each set once.
fn counters(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let all: Vec<Definition> = (0..n as u32).map(|id| Definition::Counter(id, format!("c{id}"))).collect();
    log.out.definitions(&all)?;
    for id in 0..n as u32 {
        log.record(Operation::Counter, 0, |record| record.request = id)?;
    }
    log.finish()
}

/// `n` problems that this version does not know, and as many records lost one by one.
fn problems(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let all: Vec<Definition> =
        (0..n).map(|at| Definition::Problem(1000 + (at % 60_000) as u16, 1, format!("detail {at}"))).collect();
    log.out.definitions(&all)?;
    for _ in 0..n / 2 {
        log.record(Operation::Barrier, 10, |_| ())?;
        log.write()?;
        log.head.first += 1;
    }
    log.finish()
}

/// `n` measurements of the clock, in an order without a pattern and with offsets of any size.
fn offsets(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    let mut noise = Noise(3);
    let mut one = || {
        let ticks = noise.below(1 << 40);
        let offset_ns = (noise.below(1 << 47) << 17) as i64;
        [
            Definition::ClockOffset(ClockOffset { ticks, offset_ns, error_ns: noise.below(1 << 40) }),
            Definition::Instant(ClockPair { ticks, monotonic_ns: noise.below(1 << 40) }),
        ]
    };
    log.out.definitions(&(0..n / 2).flat_map(|_| one()).collect::<Vec<_>>())?;
    for _ in 0..1000 {
        log.record(Operation::Barrier, 10, |_| ())?;
    }
    log.finish()
}

/// `n` communicators of 10,000 ranks each, in runs of one, with a collective on each.
fn communicators(folder: &Path, n: u64) -> io::Result<()> {
    comms(folder, n, |_| RankList(vec![(0, 1, 5_000), (5_000, 1, 5_000)]))
}

/// `n` communicators of 20,000 runs each.
fn long_communicators(folder: &Path, n: u64) -> io::Result<()> {
    comms(folder, n, |id| RankList((0..20_000).map(|at| (at, 0, 1 + u32::from(at == id))).collect()))
}

/// `n` communicators with more members than there are numbers.
fn endless_communicators(folder: &Path, n: u64) -> io::Result<()> {
    comms(folder, n, |_| RankList(vec![(0, 0, u32::MAX), (1, 0, u32::MAX), (0, 1, u32::MAX)]))
}

fn comms(folder: &Path, n: u64, group: impl Fn(u32) -> RankList) -> io::Result<()> {
    let ranks = 2;
    for rank in 0..ranks {
        let mut log = Log::new(folder, rank, ranks)?;
        for first in (1..=n as u32).step_by(100) {
            let ids = first..(first + 100).min(n as u32 + 1);
            let define = |id: u32| communicator(id, u64::from(id) * 7, group(id));
            log.out.definitions(&ids.clone().map(define).collect::<Vec<_>>())?;
        }
        for id in 1..=n as u32 {
            log.record(Operation::Scan, 10, |record| record.comm = id)?;
            log.record(Operation::Send, 10, |record| (record.comm, record.peer, record.tag) = (id, 1, 0))?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` epochs on a window, each with a group of its own.
fn groups(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        let group = |id: u32| Definition::Group(RankGroup { id, ranks: RankList(vec![(0, 1, 4 + id % 100)]) });
        log.out.definitions(&(0..n as u32).map(group).collect::<Vec<_>>())?;
        for id in 0..n as u32 {
            log.record(Operation::Win_post, 10, |record| (record.tag, record.count) = (id as i32, id + 1))?;
            log.record(Operation::Win_wait, 10, |record| record.tag = id as i32)?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` communicators with 1000 neighbours each.
fn neighbours(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        for comm in 1..=n as u32 {
            let list = RankList(vec![(0, 0, 1000)]);
            let neighbours = NeighbourRanks { comm, sources: list.clone(), destinations: list };
            let group = RankList(vec![(0, 1, 2)]);
            log.out
                .definitions(&[communicator(comm, u64::from(comm) * 7, group), Definition::Neighbours(neighbours)])?;
            log.record(Operation::Neighbor_allgather, 10, |record| record.comm = comm)?;
        }
        log.finish()?;
    }
    Ok(())
}

/// One region, communicator and call site, defined `n` times, each time otherwise.
fn redefined(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    for first in (0..n).step_by(60_000) {
        let all: Vec<Definition> = (first..n.min(first + 60_000))
            .map(|at| match at % 3 {
                0 => region(1, 0, &format!("r{at}"), at % 2 == 0),
                1 => communicator(1, at, RankList(vec![(0, 1, at as u32)])),
                _ => Definition::CallSite(CallSite::alone(1, 0, at)),
            })
            .collect();
        log.out.definitions(&all)?;
        for _ in 0..100 {
            log.record(Operation::Barrier, 10, |record| (record.comm, record.call_site) = (1, 1))?;
        }
        log.write()?;
    }
    log.finish()
}

/// `n` iterations of a region.
fn iterations(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        log.out.definitions(&[region(1, 0, "step", true)])?;
        for at in 0..n as u32 / 2 {
            log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (1, at))?;
            log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (1, at))?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` records of polls that found nothing, each of a thousand.
fn polls(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    for at in 0..n {
        log.record(Operation::Iprobe, 10, |record| {
            record.flags |= CallFlags::NOTHING;
            (record.count, record.sent, record.received) = (1000, 1000, at << 20 | 1);
        })?;
    }
    log.finish()
}

/// `n` receives that are started and never completed.
fn open_requests(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, _, at| {
        log.record(Operation::Irecv, 10, |record| (record.peer, record.tag, record.request) = (0, 0, at as u32))
    })
}

/// `n` sends that nobody receives.
fn unmatched_sends(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, rank, _| {
        log.record(Operation::Send, 10, |record| (record.peer, record.tag, record.sent) = (1 - rank as i32, 0, 8))
    })
}

/// `n` receives of what nobody sends.
fn unmatched_receives(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, rank, _| {
        log.record(Operation::Recv, 10, |record| (record.peer, record.tag, record.received) = (1 - rank as i32, 0, 8))
    })
}

/// `n` sends that nobody receives, each with a tag of its own.
fn tags(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, rank, at| {
        log.record(Operation::Send, 10, |record| (record.peer, record.tag) = (1 - rank as i32, at as i32))
    })
}

/// `n` records on each of two ranks, half of them each.
fn pair(folder: &Path, n: u64, one: impl Fn(&mut Log, u32, u64) -> io::Result<()>) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        for at in 0..n / 2 {
            one(&mut log, rank, at)?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` barriers that the other rank never enters.
fn unmatched_barriers(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 2)?;
    for _ in 0..n {
        log.record(Operation::Barrier, 10, |_| ())?;
    }
    log.finish()?;
    Log::new(folder, 1, 2)?.finish()
}

/// `n` broadcasts on 32 ranks, of which the last takes part in none.
fn unmatched_bcasts(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..32 {
        let mut log = Log::new(folder, rank, 32)?;
        for _ in 0..if rank == 31 { 0 } else { n } {
            log.record(Operation::Bcast, 10, |record| record.peer = 0)?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` broadcasts that are started before the first is completed, and then completed from the last on.
fn backwards_bcasts(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        for at in 0..n as u32 {
            log.record(Operation::Ibcast, 10, |record| (record.peer, record.request) = (0, at))?;
        }
        for at in (0..n as u32).rev() {
            log.record(Operation::Wait, 10, |record| record.request = at)?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` windows that are locked and unlocked.
fn windows(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n / 2, |log, rank, at| {
        log.record(Operation::Win_lock, 10, |record| {
            (record.peer, record.tag) = (1 - rank as i32, at as i32);
            record.flags |= CallFlags::EXCLUSIVE;
        })?;
        log.record(Operation::Win_unlock, 10, |record| (record.peer, record.tag) = (1 - rank as i32, at as i32))
    })
}

/// A Waitall of `n` requests that nobody started.
fn waitall(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    log.record(Operation::Waitall, 10, |record| record.count = n as u32)?;
    for at in 0..n as u32 {
        log.record(Operation::Completed, 0, |record| record.request = at)?;
    }
    log.finish()
}

/// `n` iterations with a call each, a month apart.
fn years(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..2 {
        let mut log = Log::new(folder, rank, 2)?;
        log.out.definitions(&[region(1, 0, "step", true)])?;
        for at in 0..n as u32 {
            log.now = log.now.wrapping_add(30 * 86_400_000_000_000);
            log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (1, at))?;
            log.record(Operation::Barrier, 1 << 40, |_| ())?;
            log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (1, at))?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` calls at times from both ends of what there is, by clocks that make a tick any length.
fn extremes(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..3 {
        let mut log = Log::new(folder, rank, 3)?;
        let mut noise = Noise(7 + u64::from(rank));
        for at in 0..n {
            let begin = match noise.below(4) {
                0 => u64::MAX - noise.below(10),
                1 => noise.below(10),
                2 => i64::MAX as u64 + noise.below(10),
                _ => log.now,
            };
            let end = if noise.below(2) == 0 { begin } else { u64::MAX - at };
            log.batch.push(Record { begin, end, comm: 0, ..Record::new(Operation::Barrier, begin) });
            log.now = log.now.wrapping_add(1000);
            if log.batch.len() >= log.most {
                log.write()?;
            }
        }
        log.write()?;
        let instant = |ticks, monotonic_ns| Definition::Instant(ClockPair { ticks, monotonic_ns });
        let offset = |ticks, offset_ns| Definition::ClockOffset(ClockOffset { ticks, offset_ns, error_ns: u64::MAX });
        log.out.definitions(&[instant(0, u64::MAX), instant(u64::MAX, 0), offset(0, i64::MIN), offset(9, i64::MAX)])?;
        log.finish()?;
    }
    Ok(())
}

/// `n` blocks of one call.
fn tiny_blocks(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    for _ in 0..n {
        log.record(Operation::Barrier, 10, |_| ())?;
        log.write()?;
    }
    log.finish()
}

/// `n` records that take half a byte each.
fn small_records(folder: &Path, n: u64) -> io::Result<()> {
    let mut log = Log::new(folder, 0, 1)?;
    for _ in 0..n {
        let mut record = Record::new(Operation::Barrier, log.now);
        (record.comm, record.call_site) = (0, 0);
        log.batch.push(record);
        if log.batch.len() == MAX_RECORDS {
            log.write()?;
        }
    }
    log.finish()
}

/// `n` ranks, the log of each of which unpacks to ten thousand times its size.
fn unpacking(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut log = Log::new(folder, rank, n as u32)?;
        let text = "x".repeat(60 << 20);
        for _ in 0..3 {
            log.out.definitions(&[region(1, 0, &text, false)])?;
        }
        log.finish()?;
    }
    Ok(())
}

/// A few ranks of four billion.
fn ranks_claimed(folder: &Path, n: u64) -> io::Result<()> {
    for rank in (0..n as u32).chain([u32::MAX - 2000]) {
        let mut log = Log::new(folder, rank, u32::MAX)?;
        for _ in 0..100 {
            log.record(Operation::Allreduce, 10, |_| ())?;
            log.record(Operation::Send, 10, |record| (record.peer, record.tag) = (i32::MAX, 0))?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` ranks with a few calls each.
fn many_ranks(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut log = Log::new(folder, rank, n as u32)?;
        for _ in 0..20 {
            log.record(Operation::Allreduce, 10, |_| ())?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` ranks, each on a host of its own and of a run of its own program.
fn hosts(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut header = header(rank, n as u32);
        header.host = format!("host{rank}");
        header.recorded_ranks = RankList(vec![(0, 1, u32::MAX); 10]);
        header.command = vec!["x".repeat(1000)];
        let mut log = LogWriter::new(File::create(folder.join(log_name(rank)))?, &header)?;
        log.definitions(&[region(0, 0, "main", false), Definition::WindowBegin(START)])?;
    }
    Ok(())
}

/// `n` ranks whose logs end after their heads.
fn heads(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        LogWriter::new(File::create(folder.join(log_name(rank)))?, &header(rank, n as u32))?;
    }
    Ok(())
}

/// A rank with a call, and `n` files of noise under the names of logs; half of them begin like logs.
fn garbage(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(5);
    let mut log = Log::new(folder, 0, n as u32 + 1)?;
    log.record(Operation::Barrier, 10, |_| ())?;
    log.finish()?;
    let first = std::fs::read(folder.join(log_name(0)))?;
    for rank in 1..=n as u32 {
        let mut bytes: Vec<u8> = (0..100 + noise.below(1000)).map(|_| noise.below(256) as u8).collect();
        if rank % 2 == 0 {
            let like = first.len().min(bytes.len()) / 2;
            bytes[..like].copy_from_slice(&first[..like]);
        }
        std::fs::write(folder.join(log_name(rank)), bytes)?;
    }
    Ok(())
}

/// What each of `n` ranks has of what there are a million of in all.
fn each_of(n: u64) -> u32 {
    (1_000_000 / n.max(1)).clamp(1, 200) as u32
}

/// `n` ranks with many threads, each of which makes a call.
fn threads_of_ranks(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut log = Log::new(folder, rank, n as u32)?;
        for thread in 0..each_of(n) {
            log.head = BatchHead { thread, previous_end: log.now, ..BatchHead::default() };
            log.record(Operation::Barrier, 10, |_| ())?;
            log.write()?;
        }
        log.head = BatchHead { thread: each_of(n), previous_end: log.now, ..BatchHead::default() };
        log.finish()?;
    }
    Ok(())
}

/// `n` ranks with many regions, none of which another rank has, and a call in each.
fn regions_of_ranks(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut log = Log::new(folder, rank, n as u32)?;
        let ids = 1..=each_of(n);
        let name = |id| format!("r{}", rank * each_of(n) + id);
        log.out.definitions(&ids.clone().map(|id| region(id, 0, &name(id), false)).collect::<Vec<_>>())?;
        for id in ids {
            log.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (id, NONE))?;
            log.record(Operation::Barrier, 10, |_| ())?;
            log.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (id, NONE))?;
        }
        log.finish()?;
    }
    Ok(())
}

/// `n` ranks with a profile each: of many regions, each in many iterations, which differ from rank to rank.
fn profiles_of_ranks(folder: &Path, n: u64) -> io::Result<()> {
    for rank in 0..n as u32 {
        let mut log = Log::new(folder, rank, n as u32)?;
        log.out.definitions(&(1..=20).map(|id| region(id, 0, &format!("r{id}"), true)).collect::<Vec<_>>())?;
        let mut batch = ProfileBatch { head: log.head.clone(), ..ProfileBatch::default() };
        for at in 0..10 * each_of(n) {
            let key = CellKey { region: 1 + at % 20, iteration: rank * 100 + at / 20, activity: (at % 5) as u8 };
            batch.profile.cells.push((key, ProfileCell { ticks: 10, calls: 1, sent: 0, received: 0 }));
        }
        batch.profile.records = u64::from(each_of(n));
        log.now += 1000;
        log.head.first += u64::from(each_of(n));
        log.head.previous_end = log.now;
        batch.next = log.head.clone();
        log.out.profile(&batch)?;
        log.finish()?;
    }
    Ok(())
}

/// A rank with `n` rings, each of a thread of its own and with one record.
fn many_rings(folder: &Path, n: u64) -> io::Result<()> {
    Log::new(folder, 0, 1)?.write()?;
    for thread in 0..n as u32 {
        let mut ring = vec![0; HEAD_BYTES + 64];
        let words: [(usize, &[u8]); 6] = [
            (0, &MAGIC),
            (8, &2_u32.to_le_bytes()),
            (16, &lbprof_simulator::scenario::RUN_ID.to_le_bytes()),
            (24, &thread.to_le_bytes()),
            (28, &1000_u32.to_le_bytes()),
            (HEAD_BYTES, &START.to_le_bytes()),
        ];
        words.into_iter().for_each(|(at, bytes)| ring[at..at + bytes.len()].copy_from_slice(bytes));
        std::fs::write(folder.join(ring_name(0, thread)), ring)?;
    }
    Ok(())
}

/// What else may lie in a run's folder under the name of a log, or of a ring.
#[allow(dead_code, reason = "a test's")]
pub fn not_files(folder: &Path) -> io::Result<()> {
    Log::new(folder, 0, 9)?.finish()?;
    std::os::unix::fs::symlink("/dev/zero", folder.join(log_name(1)))?;
    std::os::unix::fs::symlink(log_name(2), folder.join(log_name(2)))?;
    std::fs::create_dir(folder.join(log_name(3)))?;
    std::os::unix::fs::symlink("/dev/zero", folder.join(ring_name(0, 1)))?;
    std::os::unix::fs::symlink("/nowhere", folder.join(log_name(5)))
}
