//! Kinds of hostile runs: each a row with its name, the number of the items that it is about, and how it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use lbprof_collector::Operation;
use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, Definition, EndReason, Module, NeighbourRanks, RankList, Region,
    RegionKind,
};
use lbprof_collector::format::{BatchHead, MAX_RECORDS, OpenRegion, VERSION, log_name, rings_name};
use lbprof_collector::profile::{
    CallSiteKey, CellKey, CounterTotals, ProfileBatch, ProfileCell, RegionInvocation, RegionTotals,
};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::ring::{HEAD_BYTES, MAGIC, piece_bytes};
use lbprof_collector::writer::LogWriter;
use lbprof_simulator::noise::Noise;
use lbprof_simulator::scenario::{START, header};

pub struct Kind {
    pub name: &'static str,
    pub size: u64,
    pub write: fn(&Path, u64) -> io::Result<()>,
}

pub const KINDS: &[Kind] = &[
    Kind { name: "threads", size: 500_000, write: threads },
    Kind { name: "thread_gaps", size: 500_000, write: thread_gaps },
    Kind { name: "profiles", size: 3_000_000, write: profiles },
    Kind { name: "regions", size: 1_000_000, write: regions },
    Kind { name: "region_chain", size: 1_000_000, write: region_chain },
    Kind { name: "nested", size: 1_000_000, write: nested },
    Kind { name: "nested_heads", size: 200, write: nested_heads },
    Kind { name: "call_sites", size: 2_000_000, write: call_sites },
    Kind { name: "random_calls", size: 5_000_000, write: random_calls },
    Kind { name: "strings", size: 8_000, write: strings },
    Kind { name: "modules", size: 1_000_000, write: modules },
    Kind { name: "same_file", size: 1_500, write: same_file },
    Kind { name: "tables", size: 1_000_000, write: tables },
    Kind { name: "offsets", size: 4_000_000, write: offsets },
    Kind { name: "communicators", size: 100_000, write: communicators },
    Kind { name: "neighbours", size: 200_000, write: neighbours },
    Kind { name: "redefined", size: 4_000_000, write: redefined },
    Kind { name: "iterations", size: 5_000_000, write: iterations },
    Kind { name: "polls", size: 10_000_000, write: polls },
    Kind { name: "open_requests", size: 10_000_000, write: open_requests },
    Kind { name: "unmatched_sends", size: 10_000_000, write: unmatched_sends },
    Kind { name: "tags", size: 5_000_000, write: tags },
    Kind { name: "unmatched_bcasts", size: 200_000, write: unmatched_bcasts },
    Kind { name: "backwards_bcasts", size: 1_000_000, write: backwards_bcasts },
    Kind { name: "windows", size: 4_000_000, write: windows },
    Kind { name: "waitall", size: 5_000_000, write: waitall },
    Kind { name: "extremes", size: 1_000_000, write: extremes },
    Kind { name: "tiny_blocks", size: 1_000_000, write: tiny_blocks },
    Kind { name: "small_records", size: 80_000_000, write: small_records },
    Kind { name: "unpacking", size: 100, write: unpacking },
    Kind { name: "ranks_claimed", size: 4, write: ranks_claimed },
    Kind { name: "many_ranks", size: 5_000, write: many_ranks },
    Kind { name: "hosts", size: 20_000, write: hosts },
    Kind { name: "garbage", size: 50_000, write: garbage },
    Kind { name: "regions_of_ranks", size: 5_000, write: regions_of_ranks },
    Kind { name: "many_rings", size: 5_000, write: many_rings },
];

struct Log {
    out: LogWriter<File>,
    head: BatchHead,
    batch: Vec<Record>,
    now: u64,
}

const BATCH: usize = 1 << 16;

impl Log {
    fn new(folder: &Path, rank: u32, n_ranks: u32) -> io::Result<Log> {
        let out = LogWriter::new(File::create(folder.join(log_name(rank)))?, &header(rank, n_ranks))?;
        let head = BatchHead { previous_end: START, ..BatchHead::default() };
        let mut log = Log { out, head, batch: Vec::new(), now: START };
        let path = "/home/user/hostile".to_owned();
        log.out.definitions(&[
            Definition::Module(Module { id: 0, path, build_id: vec![1], base: 0x40_0000, end: 1 << 40 }),
            site(0),
            communicator(0, 1, RankList(vec![(0, 1, n_ranks)])),
            region(0, 0, "main", false),
            Definition::WindowBegin(START),
            Definition::ClockOffset(ClockOffset { ticks: START, offset_ns: 0, error_ns: 0 }),
        ])?;
        Ok(log)
    }

    fn record(&mut self, operation: Operation, time: u64, fill: impl FnOnce(&mut Record)) -> io::Result<()> {
        let mut record = Record::new(operation, self.now);
        (record.call_site, record.end, record.comm) = (0, self.now + time, 0);
        fill(&mut record);
        self.now = self.now.max(record.end).wrapping_add(3);
        self.batch.push(record);
        if self.batch.len() >= BATCH { self.write() } else { Ok(()) }
    }

    fn call(&mut self, operation: Operation, fill: impl FnOnce(&mut Record)) -> io::Result<()> {
        self.record(operation, 10, fill)
    }

    fn enter(&mut self, region: u32, iteration: u32) -> io::Result<()> {
        self.record(Operation::RegionEnter, 0, |record| (record.request, record.count) = (region, iteration))
    }

    fn leave(&mut self, region: u32, iteration: u32) -> io::Result<()> {
        self.record(Operation::RegionLeave, 0, |record| (record.request, record.count) = (region, iteration))
    }

    fn define(&mut self, definitions: impl Iterator<Item = Definition>) -> io::Result<()> {
        self.out.definitions(&definitions.collect::<Vec<_>>())
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.records(&self.head, &self.batch, |record| record.call_site)?;
        self.head.advance(&self.batch);
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

/// Writes the logs of `n` ranks, each with what `write` adds for the rank.
fn ranks(folder: &Path, n: u32, mut write: impl FnMut(&mut Log, u32) -> io::Result<()>) -> io::Result<()> {
    for rank in 0..n {
        let mut log = Log::new(folder, rank, n)?;
        write(&mut log, rank)?;
        log.finish()?;
    }
    Ok(())
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

fn threads(folder: &Path, n: u64) -> io::Result<()> {
    threads_from(folder, n, 0)
}

/// The same of which the first 1000 records are missing each.
fn thread_gaps(folder: &Path, n: u64) -> io::Result<()> {
    threads_from(folder, n, 1000)
}

fn threads_from(folder: &Path, n: u64, first: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        for thread in 0..n as u32 {
            log.head = BatchHead { thread, first, previous_end: log.now, ..BatchHead::default() };
            log.call(Operation::Barrier, |_| ())?;
            log.write()?;
        }
        Ok(())
    })
}

/// Profiles of `n` cells, calls, iterations and counters in all, each in an iteration, region or call site of its own.
fn profiles(folder: &Path, n: u64) -> io::Result<()> {
    const EACH: u64 = 200_000;
    ranks(folder, 1, |log, _| {
        log.define((1..=1000).map(|id| region(id, 0, &format!("r{id}"), true)))?;
        for first in (0..n).step_by(EACH as usize) {
            let mut batch = ProfileBatch { head: log.head.clone(), ..ProfileBatch::default() };
            for at in first..n.min(first + EACH) {
                add_to_profile(&mut batch, at as u32);
            }
            batch.profile.records = EACH;
            log.now += 1000;
            log.head.first += EACH;
            log.head.previous_end = log.now;
            batch.next = log.head.clone();
            log.out.profile(&batch)?;
        }
        Ok(())
    })
}

fn add_to_profile(batch: &mut ProfileBatch, at: u32) {
    let (region, iteration, begin) = (1 + at % 1000, at / 1000, START + u64::from(at));
    let cell = ProfileCell { ticks: 10, calls: 1, sent: 0, received: 0 };
    let profile = &mut batch.profile;
    profile.cells.push((CellKey { region, iteration, activity: (at % 5) as u8 }, cell));
    profile.sites.push((CallSiteKey { region, call_site: at, operation: 1, activity: 1 }, cell));
    profile.regions.push((at, RegionTotals { invocations: 1, ..RegionTotals::default() }));
    profile.iterations.push(RegionInvocation { region, iteration, outer: NONE, begin, end: begin + 10 });
    profile.counters.push(((region, at), CounterTotals { n: 1, ..CounterTotals::default() }));
}

/// `n` regions, each entered once.
fn regions(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.define((1..=n as u32).map(|id| region(id, 0, &format!("r{id}"), false)))?;
        (1..=n as u32).try_for_each(|id| log.enter(id, NONE).and_then(|()| log.leave(id, NONE)))
    })
}

/// `n` regions, each defined within the one before, and all entered.
fn region_chain(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.define((1..=n as u32).map(|id| region(id, id - 1, "r", false)))?;
        (1..=n as u32).try_for_each(|id| log.enter(id, NONE))?;
        (1..=n as u32).rev().try_for_each(|id| log.leave(id, NONE))
    })
}

/// One region, entered `n` times within itself and left as often.
fn nested(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.out.definitions(&[region(1, 0, "deep", false)])?;
        (0..n).try_for_each(|_| log.enter(1, NONE))?;
        (0..n).try_for_each(|_| log.leave(1, NONE))
    })
}

/// `n` batches with a call, before each of which 100,000 regions are open.
fn nested_heads(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.out.definitions(&[region(1, 0, "deep", true)])?;
        log.head.open = (0..100_000).map(|at| OpenRegion { region: 1, iteration: at }).collect();
        for _ in 0..n {
            log.call(Operation::Barrier, |_| ())?;
            log.out.records(&log.head, &log.batch, |record| record.call_site)?;
            log.head.first += log.batch.len() as u64;
            log.head.previous_end = log.now;
            log.batch.clear();
        }
        Ok(())
    })
}

fn call_sites(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.define((0..n as u32).map(site))?;
        (0..n).try_for_each(|at| log.call(Operation::Barrier, |record| record.call_site = at))
    })
}

/// `n` calls from 3000 call sites, in an order without a pattern.
fn random_calls(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(1);
    ranks(folder, 1, |log, _| {
        log.define((0..3000).map(site))?;
        (0..n).try_for_each(|_| {
            let site = noise.below(3000);
            log.call(Operation::Barrier, |record| record.call_site = site)
        })
    })
}

/// `n` regions with names of 30,000 bytes, and a counter and a parameter as long each.
fn strings(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        for id in 1..=n as u32 {
            let name = format!("{}{id}", "n".repeat(30_000));
            let param = Definition::Param(name.clone(), 1.0);
            log.out.definitions(&[region(id, 0, &name, false), Definition::Counter(id, name), param])?;
            log.enter(id, NONE)?;
            log.record(Operation::Counter, 0, |record| record.request = id)?;
            log.leave(id, NONE)?;
            log.write()?;
        }
        Ok(())
    })
}

/// `n` modules, each with a call site that is called.
fn modules(folder: &Path, n: u64) -> io::Result<()> {
    calls_in_files(folder, n, |id| format!("/m/{id}"))
}

/// `n` modules, each with a call site that is called: all are the file of this program, by another path each.
fn same_file(folder: &Path, n: u64) -> io::Result<()> {
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    calls_in_files(folder, n, |id| format!("{}{own}", "/.".repeat(id as usize)))
}

fn calls_in_files(folder: &Path, n: u64, path: impl Fn(u32) -> String) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.define((1..=n as u32).flat_map(|id| {
            let module = Module { id, path: path(id), build_id: vec![], base: 0, end: 0 };
            [Definition::Module(module), Definition::CallSite(CallSite::alone(id, id, 1 << 16))]
        }))?;
        (1..=n).try_for_each(|id| log.call(Operation::Barrier, |record| record.call_site = id))
    })
}

/// `n` parameters, counters that are set once each, problems that this version does not know, and records lost one by one.
fn tables(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.define((0..n as u32).flat_map(|id| {
            let problem = Definition::Problem(1000 + (id % 60_000) as u16, 1, format!("detail {id}"));
            [Definition::Param(format!("p{id}"), f64::from(id)), Definition::Counter(id, format!("c{id}")), problem]
        }))?;
        for id in 0..n as u32 {
            log.record(Operation::Counter, 0, |record| record.request = id)?;
            if id % 2 == 0 {
                log.write()?;
                log.head.first += 1;
            }
        }
        Ok(())
    })
}

/// `n` measurements of the clock, in an order without a pattern and with offsets of any size.
fn offsets(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(3);
    ranks(folder, 1, |log, _| {
        log.define((0..n / 2).flat_map(|_| {
            let ticks = noise.below(1 << 40);
            let offset_ns = (noise.below(1 << 47) << 17) as i64;
            [
                Definition::ClockOffset(ClockOffset { ticks, offset_ns, error_ns: noise.below(1 << 40) }),
                Definition::Instant(ClockPair { ticks, monotonic_ns: noise.below(1 << 40) }),
            ]
        }))?;
        (0..1000).try_for_each(|_| log.call(Operation::Barrier, |_| ()))
    })
}

/// `n` communicators of 10,000 ranks, of 20,000 runs, or with more members than there are numbers, with a collective on each.
fn communicators(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 2, |log, _| {
        for id in 1..=n as u32 {
            let group = match id % 100 {
                0 => RankList((0..20_000).map(|at| (at, 0, 1 + u32::from(at == id))).collect()),
                1..50 => RankList(vec![(0, 1, 5_000), (5_000, 1, 5_000)]),
                _ => RankList(vec![(0, 0, u32::MAX), (1, 0, u32::MAX), (0, 1, u32::MAX)]),
            };
            log.out.definitions(&[communicator(id, u64::from(id) * 7, group)])?;
            log.call(Operation::Scan, |record| record.comm = id)?;
            log.call(Operation::Send, |record| (record.comm, record.peer, record.tag) = (id, 1, 0))?;
        }
        Ok(())
    })
}

/// `n` communicators with 1000 neighbours each.
fn neighbours(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 2, |log, _| {
        (1..=n as u32).try_for_each(|comm| {
            let list = RankList(vec![(0, 0, 1000)]);
            let neighbours = NeighbourRanks { comm, sources: list.clone(), destinations: list };
            let group = communicator(comm, u64::from(comm) * 7, RankList(vec![(0, 1, 2)]));
            log.out.definitions(&[group, Definition::Neighbours(neighbours)])?;
            log.call(Operation::Neighbor_allgather, |record| record.comm = comm)
        })
    })
}

/// One region, communicator and call site, defined `n` times, each time otherwise.
fn redefined(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        for first in (0..n).step_by(60_000) {
            log.define((first..n.min(first + 60_000)).map(|at| match at % 3 {
                0 => region(1, 0, &format!("r{at}"), at % 2 == 0),
                1 => communicator(1, at, RankList(vec![(0, 1, at as u32)])),
                _ => Definition::CallSite(CallSite::alone(1, 0, at)),
            }))?;
            for _ in 0..100 {
                log.call(Operation::Barrier, |record| (record.comm, record.call_site) = (1, 1))?;
            }
            log.write()?;
        }
        Ok(())
    })
}

fn iterations(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 2, |log, _| {
        log.out.definitions(&[region(1, 0, "step", true)])?;
        (0..n as u32 / 2).try_for_each(|at| log.enter(1, at).and_then(|()| log.leave(1, at)))
    })
}

/// `n` records of polls that found nothing, each of a thousand.
fn polls(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        (0..n).try_for_each(|at| {
            log.call(Operation::Iprobe, |record| {
                record.flags |= CallFlags::NOTHING;
                (record.count, record.sent, record.received) = (1000, 1000, at << 20 | 1);
            })
        })
    })
}

fn open_requests(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, _, at| {
        log.call(Operation::Irecv, |record| (record.peer, record.tag, record.request) = (0, 0, at as u32))
    })
}

fn unmatched_sends(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, rank, _| {
        log.call(Operation::Send, |record| (record.peer, record.tag, record.sent) = (1 - rank as i32, 0, 8))
    })
}

/// `n` sends that are not received, each with a tag of its own.
fn tags(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n, |log, rank, at| {
        log.call(Operation::Send, |record| (record.peer, record.tag) = (1 - rank as i32, at as i32))
    })
}

fn windows(folder: &Path, n: u64) -> io::Result<()> {
    pair(folder, n / 2, |log, rank, at| {
        log.call(Operation::Win_lock, |record| {
            (record.peer, record.tag) = (1 - rank as i32, at as i32);
            record.flags |= CallFlags::EXCLUSIVE;
        })?;
        log.call(Operation::Win_unlock, |record| (record.peer, record.tag) = (1 - rank as i32, at as i32))
    })
}

/// `n` items on two ranks, half of them each.
fn pair(folder: &Path, n: u64, add: impl Fn(&mut Log, u32, u64) -> io::Result<()>) -> io::Result<()> {
    ranks(folder, 2, |log, rank| (0..n / 2).try_for_each(|at| add(log, rank, at)))
}

/// `n` broadcasts on 32 ranks, of which the last takes part in none.
fn unmatched_bcasts(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 32, |log, rank| {
        (0..if rank == 31 { 0 } else { n }).try_for_each(|_| log.call(Operation::Bcast, |record| record.peer = 0))
    })
}

/// `n` broadcasts that are started before the first is completed, and then completed from the last on.
fn backwards_bcasts(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 2, |log, _| {
        for at in 0..n as u32 {
            log.call(Operation::Ibcast, |record| (record.peer, record.request) = (0, at))?;
        }
        (0..n as u32).rev().try_for_each(|at| log.call(Operation::Wait, |record| record.request = at))
    })
}

fn waitall(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        log.call(Operation::Waitall, |record| record.count = n as u32)?;
        (0..n as u32).try_for_each(|at| log.record(Operation::Completed, 0, |record| record.request = at))
    })
}

/// `n` calls at times from both ends of what there is, by clocks that make a tick any length.
fn extremes(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 3, |log, rank| {
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
            if log.batch.len() >= BATCH {
                log.write()?;
            }
        }
        log.write()?;
        let instants = [(0, u64::MAX), (u64::MAX, 0)]
            .map(|(ticks, monotonic_ns)| Definition::Instant(ClockPair { ticks, monotonic_ns }));
        let offsets = [(0, i64::MIN), (9, i64::MAX)]
            .map(|(ticks, offset_ns)| Definition::ClockOffset(ClockOffset { ticks, offset_ns, error_ns: u64::MAX }));
        log.define(instants.into_iter().chain(offsets))
    })
}

fn tiny_blocks(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| (0..n).try_for_each(|_| log.call(Operation::Barrier, |_| ()).and_then(|()| log.write())))
}

/// `n` records that take half a byte each.
fn small_records(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, 1, |log, _| {
        for _ in 0..n {
            let mut record = Record::new(Operation::Barrier, log.now);
            (record.comm, record.call_site) = (0, 0);
            log.batch.push(record);
            if log.batch.len() == MAX_RECORDS {
                log.write()?;
            }
        }
        Ok(())
    })
}

/// `n` ranks, the log of each of which unpacks to ten thousand times its size.
fn unpacking(folder: &Path, n: u64) -> io::Result<()> {
    let text = "x".repeat(60 << 20);
    ranks(folder, n as u32, |log, _| (0..3).try_for_each(|_| log.out.definitions(&[region(1, 0, &text, false)])))
}

/// A few ranks of four billion.
fn ranks_claimed(folder: &Path, n: u64) -> io::Result<()> {
    for rank in (0..n as u32).chain([u32::MAX - 2000]) {
        let mut log = Log::new(folder, rank, u32::MAX)?;
        for _ in 0..100 {
            log.call(Operation::Allreduce, |_| ())?;
            log.call(Operation::Send, |record| (record.peer, record.tag) = (i32::MAX, 0))?;
        }
        log.finish()?;
    }
    Ok(())
}

fn many_ranks(folder: &Path, n: u64) -> io::Result<()> {
    ranks(folder, n as u32, |log, _| (0..20).try_for_each(|_| log.call(Operation::Allreduce, |_| ())))
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

/// A rank with a call, and `n` files of noise under the names of logs; half of them begin like logs.
fn garbage(folder: &Path, n: u64) -> io::Result<()> {
    let mut noise = Noise(5);
    let mut log = Log::new(folder, 0, n as u32 + 1)?;
    log.call(Operation::Barrier, |_| ())?;
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

/// `n` ranks with up to 200 regions each, none of which another rank has, and a call in each.
fn regions_of_ranks(folder: &Path, n: u64) -> io::Result<()> {
    let each = (1_000_000 / n.max(1)).clamp(1, 200) as u32;
    ranks(folder, n as u32, |log, rank| {
        log.define((1..=each).map(|id| region(id, 0, &format!("r{}", rank * each + id), false)))?;
        (1..=each).try_for_each(|id| {
            log.enter(id, NONE)?;
            log.call(Operation::Barrier, |_| ())?;
            log.leave(id, NONE)
        })
    })
}

/// A rank with `n` rings, each of a thread of its own and with one record.
fn many_rings(folder: &Path, n: u64) -> io::Result<()> {
    Log::new(folder, 0, 1)?.write()?;
    let file = File::create(folder.join(rings_name(0)))?;
    for thread in 0..n as u32 {
        let mut ring = vec![0; HEAD_BYTES + 64];
        let words: [(usize, &[u8]); 6] = [
            (0, &MAGIC),
            (8, &u32::from(VERSION).to_le_bytes()),
            (16, &lbprof_simulator::scenario::RUN_ID.to_le_bytes()),
            (24, &thread.to_le_bytes()),
            (28, &1000_u32.to_le_bytes()),
            (HEAD_BYTES, &START.to_le_bytes()),
        ];
        words.into_iter().for_each(|(at, bytes)| ring[at..at + bytes.len()].copy_from_slice(bytes));
        file.write_all_at(&ring, u64::from(thread) * piece_bytes(1000))?;
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
    std::os::unix::fs::symlink("/dev/zero", folder.join(rings_name(0)))?;
    std::os::unix::fs::symlink("/nowhere", folder.join(log_name(5)))
}
