//! Measures how fast batches are encoded, folded and read back, and how small they get.
//!
//! `cargo run --release -p lbprof-simulator --example encode_speed [-- RECORDS or FOLDER [encode|read|fold]]`
//!
//! With a folder, the records of that run are measured. Else they are those of a molecular dynamics program like LAMMPS: in
//! each step six swaps of Irecv, Send, Wait with changing neighbours, a Waitall from time to time, every ten steps new sizes,
//! every hundred an Allreduce; times are noise around a typical length, in ticks of 0.4 ns.
//!
//! Instructions a record, which a busy machine does not change ([`ROUNDS`] rounds; `fold` and `read` alike):
//!
//! `valgrind --tool=callgrind --collect-atstart=no --toggle-collect=encode_speed::encode …/encode_speed FOLDER encode`

use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::BatchHead;
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_collector::writer::LogWriter;
use lbprof_collector::{CallFlags, Operation, Record};
use lbprof_simulator::scenario;

/// Records that a ring of 128 KiB holds.
const BATCH: usize = 2048;

/// How often each part runs; the shortest time counts.
const ROUNDS: u32 = 5;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let source = arguments.next().unwrap_or_else(|| "2000000".to_owned());
    let only = arguments.next();
    let wanted = |what| only.as_deref().is_none_or(|only| only == what);
    let records = match source.parse() {
        Ok(n) => Simulation::new().records(n),
        Err(_) => recorded(Path::new(&source))?,
    };
    let n = records.len();
    let per_record = |seconds: f64| seconds * 1e9 / n as f64;
    let mut out = std::io::stdout().lock();

    let mut log = Vec::new();
    if wanted("encode") {
        let seconds = least(|| encode(&records, &mut log))?;
        writeln!(out, "encode, compress, checksum  {:6.1} ns a record", per_record(seconds))?;
        writeln!(out, "bytes of log                {:6.2} a record", log.len() as f64 / n as f64)?;
    }
    if wanted("read") {
        encode(&records, &mut log)?;
        let seconds = least(|| read(&log, n))?;
        writeln!(out, "read                        {:6.1} M records/s", n as f64 / seconds / 1e6)?;
    }
    if wanted("fold") {
        let seconds = least(|| fold(&records))?;
        writeln!(out, "fold                        {:6.1} ns a record", per_record(seconds))?;
    }
    Ok(())
}

/// All records of thread 0 of all ranks of a run, one rank after the other.
fn recorded(folder: &Path) -> std::io::Result<Vec<Record>> {
    let mut all = Vec::new();
    let folder = RunFolder::list(folder)?;
    for rank in folder.ranks() {
        let mut log = folder.open(rank).map_err(std::io::Error::other)?;
        while let Some(item) = log.next_item() {
            if let LogItem::Records { head: BatchHead { thread: 0, .. }, records } = item {
                all.extend(records);
            }
        }
    }
    Ok(all)
}

fn encode(records: &[Record], log: &mut Vec<u8>) -> std::io::Result<()> {
    log.clear();
    let mut writer = LogWriter::new(log, &scenario::header(0, 1))?;
    let mut head = BatchHead::default();
    for batch in records.chunks(BATCH) {
        writer.records(&head, batch, |record| record.call_site)?;
        head = BatchHead {
            first: head.first + batch.len() as u64,
            previous_end: batch[batch.len() - 1].end,
            ..BatchHead::default()
        };
    }
    Ok(())
}

fn read(log: &[u8], expected: usize) -> std::io::Result<()> {
    let mut reader = LogReader::new(log).map_err(std::io::Error::other)?;
    let mut n = 0;
    while let Some(item) = reader.next_item() {
        if let LogItem::Records { records, .. } = item {
            n += black_box(&records).len();
        }
    }
    assert_eq!(n, expected);
    Ok(())
}

fn fold(records: &[Record]) -> std::io::Result<()> {
    let mut fold = ProfileFold::new(BatchHead::default());
    for batch in records.chunks(BATCH) {
        fold.records(batch, |record| record.call_site);
    }
    black_box(fold.take());
    Ok(())
}

/// The shortest of several runs, in seconds.
fn least(mut run: impl FnMut() -> std::io::Result<()>) -> std::io::Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// A molecular dynamics program.
struct Simulation {
    seed: u64,
    now: u64,
    requests: u32,
    sizes: HashMap<(u32, bool), u64>,
    out: Vec<Record>,
}

impl Simulation {
    fn new() -> Self {
        Simulation { seed: 42, now: 1 << 40, requests: 0, sizes: HashMap::new(), out: Vec::new() }
    }

    fn records(mut self, n: usize) -> Vec<Record> {
        let mut step = 0;
        while self.out.len() < n {
            self.step(step);
            step += 1;
        }
        self.out.truncate(n);
        self.out
    }

    fn step(&mut self, step: u64) {
        let rebuild = step.is_multiple_of(10);
        if rebuild {
            for swap in 0..6 {
                for sends in [false, true] {
                    let size = 24 * (900 + self.random() % 64);
                    self.sizes.insert((swap, sends), size);
                }
                let bytes = self.sizes[&(swap, true)];
                let peer = 1 + (swap ^ 1) as i32;
                self.call(Operation::Sendrecv, 5, 4_000, |r| (r.peer, r.tag, r.sent) = (peer, 0, bytes));
            }
        }
        for reverse in [false, true] {
            for swap in 0..6 {
                self.swap(swap, reverse);
            }
        }
        if step.is_multiple_of(100) {
            self.call(Operation::Allreduce, 6, 30_000, |r| (r.sent, r.received) = (48, 48));
        }
        self.now += 2_000_000 + self.random() % 100_000;
    }

    fn swap(&mut self, swap: u32, reverse: bool) {
        let (source, dest) = (1 + swap as i32, 1 + (swap ^ 1) as i32);
        let (sent, received) = (self.sizes[&(swap, !reverse)], self.sizes[&(swap, reverse)]);
        let request = self.requests;
        self.requests += 1;
        let at = if reverse { 10 } else { 0 };
        self.now += self.noise(800);
        self.call(Operation::Irecv, at, 250, |r| (r.peer, r.tag, r.request) = (source, 0, request));
        self.now += self.noise(3_000);
        self.call(Operation::Send, at + 1, 900, |r| (r.peer, r.tag, r.sent) = (dest, 0, sent));
        self.call(Operation::Wait, at + 2, 6_000, |r| {
            (r.peer, r.tag, r.received, r.request) = (source, 0, received, request);
            r.flags |= CallFlags::ANY_TAG;
        });
    }

    fn call(&mut self, operation: Operation, site: u64, typical: u64, fill: impl FnOnce(&mut Record)) {
        self.now += 30 + self.noise(60);
        let mut record = Record::new(operation, self.now);
        self.now += typical / 2 + self.noise(typical);
        record.end = self.now;
        record.call_site = 0x40_0000 + site;
        record.comm = 0;
        fill(&mut record);
        self.out.push(record);
    }

    /// A positive number around `typical`, mostly below and sometimes far above.
    fn noise(&mut self, typical: u64) -> u64 {
        let uniform = (self.random() % 1_000_000 + 1) as f64 / 1_000_001.0;
        (-uniform.ln() * typical as f64) as u64
    }

    fn random(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }
}
