//! Writes the logs of a run of any length, for measuring the analyzer: `lb-report FOLDER` then reads them.
//!
//! `cargo run --release -p lbprof-simulator --example generate_log -- FOLDER [RECORDS [RANKS [SEED [KIND]]]]`
//!
//! At least RECORDS records (20 million) over RANKS ranks (4). The program is a solver. Of the KIND `marked`, the default, its steps are marked
//! as iterations; of the KIND `unmarked` they are not; of the KIND `meetings` they are, and there is no exchange in them, so that many ranks
//! have many steps in few records; of the KIND `rooted` they are marked, and rank 0 broadcasts and reduces instead; of the KIND `scans` there is a scan
//! instead. Of the KIND `summaries` they are marked, and each rank's log ends with its summary. There the ranks of each node run by themselves,
//! so only a first look makes sense. `many-meetings` are meetings of more ranks than files can be open. Equal arguments give equal logs. What one rank does in a step:
//!
//! ```text
//!   step       compute ─ exchange ─ Allreduce        every 20th step also Sendrecv, every 50th Send or Recv
//!   exchange   Irecv ×4, Isend ×4, Waitall           with the ranks 1 and 2 further and back
//! ```
//!
//! The ranks run in lock-step, so that times fit together: a receive completes after its send began, an Allreduce after its
//! last rank arrived. Computation varies by 10 %, and one rank, another one every 1000 steps, takes a quarter longer.
//! Times are nanoseconds with noise, as in a real log; sizes change every 10 steps.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, Definition, EndReason, Module, RankList, Region, RegionKind,
};
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{BatchHead, LogHeader, log_name};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::summary::{SummarySums, most_iterations};
use lbprof_collector::writer::LogWriter;
use lbprof_collector::{Activity, Operation};
use lbprof_simulator::noise::Noise;
use lbprof_simulator::scenario::{self, START};
use lbprof_simulator::summaries::folding;

const BATCH: usize = 2048;

/// Records of a batch where the logs of all ranks are in memory.
const SMALL_BATCH: usize = 128;

const RANKS_OF_A_NODE: usize = 128;

/// Distances to the ranks that a rank exchanges with; the index is the message's tag.
const DISTANCES: [i64; 4] = [1, -1, 2, -2];

/// Typical computation of a step, in nanoseconds.
const COMPUTATION: u64 = 20_000;

/// From a send's begin to the earliest end of its receive, in nanoseconds.
const LATENCY: u64 = 1_500;

const STEP: u32 = 1;
const EXCHANGE: u32 = 2;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: generate_log FOLDER [RECORDS [RANKS [SEED [KIND]]]]");
        std::process::exit(2);
    };
    let mut number = |default: u64| match arguments.next() {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| io::Error::other(format!("{text}: not a number"))),
    };
    let (wanted, ranks, seed) = (number(20_000_000)?, number(4)?, number(1)?);
    let kind = arguments.next();
    let (marked, communication) = match kind.as_deref() {
        None | Some("marked" | "summaries") => (true, StepCommunication::Exchange),
        Some("unmarked") => (false, StepCommunication::Exchange),
        Some("meetings" | "many-meetings") => (true, StepCommunication::Meeting),
        Some("rooted") => (true, StepCommunication::Rooted),
        Some("scans") => (true, StepCommunication::Scan),
        Some(other) => {
            let kinds = "marked, unmarked, meetings, rooted, scans, summaries, many-meetings";
            return Err(io::Error::other(format!("{other}: not a kind; there are {kinds}")));
        }
    };
    let ranks = u32::try_from(ranks).ok().filter(|&ranks| ranks > 0).ok_or_else(|| io::Error::other("0 ranks"))?;

    std::fs::create_dir_all(&folder)?;
    if kind.as_deref() == Some("summaries") {
        return with_summaries(&folder, ranks, wanted, seed);
    }
    if kind.as_deref() == Some("many-meetings") {
        return many_meetings(&folder, ranks, wanted, seed);
    }
    let all = 0..ranks;
    let mut solver = Solver { communication, ..Solver::new(Some(&folder), all, ranks, seed, marked)? };
    let step = solver.run(wanted)?;
    let records = solver.records();
    let bytes = solver.finish()?.into_iter().map(|log| log.bytes).sum::<u64>();
    eprintln!("{records} records, {step} steps, {ranks} ranks, {bytes} bytes in {}", folder.display());
    Ok(())
}

/// The same with summaries, node by node.
fn with_summaries(folder: &Path, n_ranks: u32, wanted: u64, seed: u64) -> io::Result<()> {
    let (mut records, mut bytes) = (0, 0);
    for lowest in (0..n_ranks).step_by(RANKS_OF_A_NODE) {
        let ranks = lowest..n_ranks.min(lowest + RANKS_OF_A_NODE as u32);
        let share = wanted * ranks.len() as u64 / u64::from(n_ranks);
        let mut solver = Solver::new(None, ranks, n_ranks, seed + u64::from(lowest), true)?;
        solver.run(share)?;
        records += solver.records();
        bytes += write_logs(folder, solver.finish()?)?;
    }
    eprintln!("{records} records, {n_ranks} ranks, {bytes} bytes in {}", folder.display());
    Ok(())
}

/// Meetings of all ranks, whose logs are in memory until they end.
fn many_meetings(folder: &Path, n_ranks: u32, wanted: u64, seed: u64) -> io::Result<()> {
    let all = Solver::new(None, 0..n_ranks, n_ranks, seed, true)?;
    let mut solver = Solver { communication: StepCommunication::Meeting, ..all };
    // Nor are there summaries, whose sums of all ranks would be in memory together.
    solver.ranks.iter_mut().for_each(|rank| (rank.full, rank.fold) = (SMALL_BATCH, None));
    let step = solver.run(wanted)?;
    let (records, bytes) = (solver.records(), write_logs(folder, solver.finish()?)?);
    eprintln!("{records} records, {step} steps, {n_ranks} ranks, {bytes} bytes in {}", folder.display());
    Ok(())
}
/// Writes logs that are in memory; returns their bytes.
fn write_logs(folder: &Path, logs: Vec<Written>) -> io::Result<usize> {
    let mut bytes = 0;
    for log in logs {
        bytes += log.content.len();
        std::fs::write(folder.join(log_name(log.rank)), log.content)?;
    }
    Ok(bytes)
}
/// What ranks do with others in a step, after their computation.
#[derive(Clone, Copy)]
enum StepCommunication {
    Exchange,
    Meeting,
    Rooted,
    Scan,
}

struct Solver {
    ranks: Vec<Rank>,
    noise: Noise,
    communication: StepCommunication,
}

impl Solver {
    /// Of these ranks of `n_ranks`; their logs are files in `folder`, or in memory, with summaries.
    fn new(folder: Option<&Path>, ranks: Range<u32>, n_ranks: u32, seed: u64, marked: bool) -> io::Result<Self> {
        let ranks = ranks.map(|rank| Rank::new(folder, rank, n_ranks, marked)).collect::<io::Result<_>>()?;
        let noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Ok(Solver { ranks, noise, communication: StepCommunication::Exchange })
    }

    fn records(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.head.first + rank.batch.len() as u64).sum()
    }

    /// Runs until there are as many records as wanted; gives how many steps that takes.
    fn run(&mut self, wanted: u64) -> io::Result<u32> {
        let mut step = 0;
        while self.records() < wanted {
            self.step(step)?;
            step += 1;
        }
        Ok(step)
    }

    fn step(&mut self, step: u32) -> io::Result<()> {
        let Solver { ranks, noise, communication } = self;
        let slow = (step / 1000) as usize % ranks.len();
        for (i, rank) in ranks.iter_mut().enumerate() {
            rank.marker(Operation::RegionEnter, STEP, step);
            let typical = if i == slow { COMPUTATION * 5 / 4 } else { COMPUTATION };
            rank.now += typical * 9 / 10 + noise.below(typical / 5);
        }
        match communication {
            StepCommunication::Exchange => {
                self.exchanges(step);
                self.meet(Operation::Allreduce);
            }
            StepCommunication::Meeting => self.meet(Operation::Allreduce),
            StepCommunication::Rooted => {
                self.broadcast();
                self.reduce();
            }
            StepCommunication::Scan => self.meet(Operation::Scan),
        }
        for rank in &mut self.ranks {
            rank.marker(Operation::RegionLeave, STEP, step);
            rank.write_full()?;
        }
        Ok(())
    }

    fn exchanges(&mut self, step: u32) {
        self.ranks.iter_mut().for_each(|rank| rank.marker(Operation::RegionEnter, EXCHANGE, NONE));
        self.exchange(step);
        self.ranks.iter_mut().for_each(|rank| rank.marker(Operation::RegionLeave, EXCHANGE, NONE));
        if step % 20 == 19 {
            self.shift();
        }
        if step % 50 == 49 {
            self.report();
        }
    }

    fn exchange(&mut self, step: u32) {
        let Solver { ranks, noise, .. } = self;
        let n = ranks.len();
        // When each rank began its sends, by tag.
        let mut sent_at = vec![[0; DISTANCES.len()]; n];
        let mut starts = vec![[NONE; 2 * DISTANCES.len()]; n];
        let bytes =
            |rank: usize, tag: usize| 8 * (1000 + (rank * 64 + tag * 16 + (step / 10) as usize * 7) % 512) as u64;
        for (i, rank) in ranks.iter_mut().enumerate() {
            for tag in 0..DISTANCES.len() {
                let source = away(i, -DISTANCES[tag], n);
                starts[i][tag] = rank.started(Operation::Irecv, 150 + noise.below(100), |record| {
                    (record.peer, record.tag) = (source as i32, tag as i32);
                });
            }
            for tag in 0..DISTANCES.len() {
                let dest = away(i, DISTANCES[tag], n);
                sent_at[i][tag] = rank.now;
                starts[i][DISTANCES.len() + tag] = rank.started(Operation::Isend, 300 + noise.below(300), |record| {
                    (record.peer, record.tag, record.sent) = (dest as i32, tag as i32, bytes(i, tag));
                });
            }
        }
        for (i, rank) in ranks.iter_mut().enumerate() {
            let arrival = |tag: usize| sent_at[away(i, -DISTANCES[tag], n)][tag] + LATENCY;
            let last = (0..DISTANCES.len()).map(arrival).max().unwrap_or(0);
            let least = 200 + noise.below(200);
            let wait = last.saturating_sub(rank.now).max(least);
            rank.call(Operation::Waitall, wait, |record| (record.comm, record.count) = (NONE, starts[i].len() as u32));
            for (k, &request) in starts[i].iter().enumerate() {
                let tag = k % DISTANCES.len();
                let receives = k < DISTANCES.len();
                let other = away(i, if receives { -DISTANCES[tag] } else { DISTANCES[tag] }, n);
                rank.part(request, |record| {
                    (record.peer, record.tag) = (other as i32, tag as i32);
                    match receives {
                        true => record.received = bytes(other, tag),
                        false => record.sent = bytes(i, tag),
                    }
                });
            }
        }
    }

    fn shift(&mut self) {
        let Solver { ranks, noise, .. } = self;
        let n = ranks.len();
        let begins: Vec<u64> = ranks.iter().map(|rank| rank.now).collect();
        for (i, rank) in ranks.iter_mut().enumerate() {
            let (dest, source) = (away(i, 1, n), away(i, -1, n));
            let least = 900 + noise.below(400);
            let time = (begins[source] + LATENCY).saturating_sub(rank.now).max(least);
            rank.call(Operation::Sendrecv, time, |record| {
                (record.peer, record.tag, record.sent) = (dest as i32, 9, 4096)
            });
            let mut received = Record::new(Operation::Received, rank.now);
            (received.peer, received.tag, received.comm, received.received) = (source as i32, 9, 0, 4096);
            received.flags = CallFlags::from_activity(Activity::PointToPoint);
            received.call_site = site_of(Operation::Sendrecv);
            rank.batch.push(received);
        }
    }

    fn report(&mut self) {
        let Solver { ranks, noise, .. } = self;
        let Some((first, others)) = ranks.split_first_mut() else { return };
        for (i, rank) in others.iter_mut().enumerate() {
            let begin = rank.now;
            rank.call(Operation::Send, 400 + noise.below(200), |record| {
                (record.peer, record.tag, record.sent) = (0, 5, 64)
            });
            let time = (begin + LATENCY).saturating_sub(first.now).max(200 + noise.below(100));
            first.call(Operation::Recv, time, |record| {
                (record.peer, record.tag, record.received) = (i as i32 + 1, 5, 64);
            });
        }
    }

    fn meet(&mut self, site: Operation) {
        let Solver { ranks, noise, .. } = self;
        let last = last_to_come(ranks);
        for rank in ranks {
            let time = last + 2_000 + noise.below(500) - rank.now;
            rank.call(site, time, |record| (record.sent, record.received) = (48, 48));
        }
    }

    fn broadcast(&mut self) {
        let Solver { ranks, noise, .. } = self;
        let begin = ranks.first().map_or(0, |root| root.now);
        for rank in ranks {
            let time = begin.saturating_sub(rank.now) + 2_000 + noise.below(500);
            rank.call(Operation::Bcast, time, |record| (record.peer, record.received) = (0, 48));
        }
    }

    fn reduce(&mut self) {
        let Solver { ranks, noise, .. } = self;
        let last = last_to_come(ranks);
        for (i, rank) in ranks.iter_mut().enumerate() {
            let wait = if i == 0 { last - rank.now } else { 0 };
            rank.call(Operation::Reduce, wait + 2_000 + noise.below(500), |record| {
                (record.peer, record.sent) = (0, 48)
            });
        }
    }

    fn finish(self) -> io::Result<Vec<Written>> {
        self.ranks.into_iter().map(Rank::finish).collect()
    }
}

fn last_to_come(ranks: &[Rank]) -> u64 {
    ranks.iter().map(|rank| rank.now).max().unwrap_or(0)
}

fn away(i: usize, distance: i64, n: usize) -> usize {
    (i as i64 + distance).rem_euclid(n as i64) as usize
}

/// Places of calls, one for each operation, by the ids of their definitions.
const SITES: [Operation; 11] = {
    use Operation::*;
    [Irecv, Isend, Waitall, Sendrecv, Send, Recv, Allreduce, Finalize, Bcast, Reduce, Scan]
};

fn site_of(operation: Operation) -> u64 {
    SITES.iter().position(|&known| known == operation).expect("each call has a place") as u64
}

enum Sink {
    File(File),
    Memory(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Memory(memory) => memory.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Written {
    rank: u32,
    bytes: u64,
    content: Vec<u8>,
}

struct Rank {
    rank: u32,
    log: LogWriter<Sink>,
    /// What its summary is made from, where it gets one.
    fold: Option<ProfileFold>,
    most_iterations: usize,
    head: BatchHead,
    batch: Vec<Record>,
    full: usize,
    now: u64,
    requests: u32,
    marked: bool,
}

impl Rank {
    fn new(folder: Option<&Path>, rank: u32, n_ranks: u32, marked: bool) -> io::Result<Self> {
        let sink = match folder {
            Some(folder) => Sink::File(File::create(folder.join(log_name(rank)))?),
            None => Sink::Memory(Vec::new()),
        };
        let header =
            LogHeader { host: format!("node{}", rank / RANKS_OF_A_NODE as u32), ..scenario::header(rank, n_ranks) };
        let header = if folder.is_some() { scenario::header(rank, n_ranks) } else { header };
        let mut log = LogWriter::new(sink, &header)?;
        log.definitions(&definitions(rank, n_ranks, marked))?;
        let head = BatchHead { previous_end: START, ..BatchHead::default() };
        let fold = folder.is_none().then(|| folding(&header, &head));
        let most_iterations = most_iterations(n_ranks);
        let (batch, full, now, requests) = (Vec::new(), BATCH, START, 0);
        Ok(Rank { rank, log, fold, most_iterations, head, batch, full, now, requests, marked })
    }

    /// A call of `time` nanoseconds; a few pass before it.
    fn call(&mut self, operation: Operation, time: u64, fill: impl FnOnce(&mut Record)) {
        let mut record = Record::new(operation, self.now);
        record.call_site = site_of(operation);
        record.comm = 0;
        fill(&mut record);
        record.end = record.begin + time;
        self.now = record.end + 20 + (time & 31);
        self.batch.push(record);
    }

    /// A call that starts a request; gives its id.
    fn started(&mut self, site: Operation, time: u64, fill: impl FnOnce(&mut Record)) -> u32 {
        let request = self.requests;
        self.requests = (request + 1) % (1 << 31);
        self.call(site, time, |record| {
            record.request = request;
            fill(record);
        });
        request
    }

    /// A request completed by the call before.
    fn part(&mut self, request: u32, fill: impl FnOnce(&mut Record)) {
        let end = self.batch.last().map_or(self.now, |before| before.end);
        let mut record = Record::new(Operation::Completed, end);
        (record.comm, record.request, record.call_site) = (0, request, site_of(Operation::Waitall));
        record.flags = CallFlags::from_activity(Activity::PointToPoint);
        fill(&mut record);
        self.batch.push(record);
    }

    fn marker(&mut self, operation: Operation, region: u32, iteration: u32) {
        if !self.marked {
            return;
        }
        let mut record = Record::new(operation, self.now);
        (record.request, record.count) = (region, iteration);
        self.batch.push(record);
        self.now += 10;
    }

    /// Writes what fills a ring; the rest waits for more.
    fn write_full(&mut self) -> io::Result<()> {
        while self.batch.len() >= self.full {
            self.write(self.full)?;
        }
        Ok(())
    }

    fn write(&mut self, n: usize) -> io::Result<()> {
        self.log.records(&self.head, &self.batch[..n], |record| record.call_site)?;
        self.fold.iter_mut().for_each(|fold| fold.records(&self.batch[..n], |record| record.call_site));
        self.head.advance(&self.batch[..n]);
        self.batch.drain(..n);
        Ok(())
    }

    fn finish(mut self) -> io::Result<Written> {
        let end = self.now;
        self.call(Operation::Finalize, 0, |_| ());
        self.write_full()?;
        self.write(self.batch.len())?;
        let instant = Definition::Instant(ClockPair { ticks: end, monotonic_ns: end });
        let ending = [clock(end), Definition::WindowEnd(end), Definition::End(EndReason::Finalize, end), instant];
        self.log.definitions(&ending)?;
        if let Some(fold) = &mut self.fold {
            let mut sums = SummarySums::new(scenario::RUN_ID, self.rank, self.most_iterations);
            sums.add(fold.take());
            sums.take().iter().try_for_each(|summary| self.log.summary(summary))?;
        }
        self.log.index()?;
        let (rank, bytes) = (self.rank, self.log.bytes());
        let content = match self.log.into_sink() {
            Sink::File(_) => Vec::new(),
            Sink::Memory(content) => content,
        };
        Ok(Written { rank, bytes, content })
    }
}

fn definitions(rank: u32, n_ranks: u32, marked: bool) -> Vec<Definition> {
    let base = 0x40_0000;
    let region = |id, parent, name: &str, iterated| {
        Definition::Region(Region { id, parent, name: name.to_owned(), kind: RegionKind::Useful, iterated })
    };
    let path = "/home/user/solver".to_owned();
    let mut all = vec![
        Definition::Module(Module { id: 0, path, build_id: vec![0x50, 0x1f], base, end: base + 0x1000 }),
        Definition::Communicator(Communicator {
            id: 0,
            uid: 1,
            parent: NONE,
            rank,
            group: RankList::from_ranks(0..n_ranks),
            remote: RankList::default(),
        }),
        region(0, 0, "main", false),
        Definition::Thread(0, 1000 + rank),
        Definition::WindowBegin(START),
        clock(START),
    ];
    if marked {
        all.extend([region(STEP, 0, "step", true), region(EXCHANGE, STEP, "exchange", false)]);
    }
    let sites = (0..).zip(&SITES).map(|(id, _)| CallSite::alone(id, 0, 16 * (u64::from(id) + 1)));
    all.extend(sites.map(Definition::CallSite));
    all
}

fn clock(ticks: u64) -> Definition {
    Definition::ClockOffset(ClockOffset { ticks, offset_ns: 0, error_ns: 0 })
}
