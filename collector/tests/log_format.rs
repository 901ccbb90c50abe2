//! docs/log-format.md suffices to read a log: `read_log.py`, written from it, finds what this crate's reader finds.
//!
//! Needs python3 and the zstd command (scripts/setup test).

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use lbprof_collector::ProblemKind;
use lbprof_collector::definition::{CallSite, Definition, InterpretedFunction, NeighbourRanks, RankGroup, RankList};
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::{BatchHead, log_name, rings_name};
use lbprof_collector::reader::LogItem;
use lbprof_collector::record::Record;
use lbprof_collector::sample::{Sample, SampleHead};
use lbprof_collector::writer::LogWriter;
use lbprof_simulator::scenario::{self, Scenario};
use lbprof_simulator::summaries::sum_up;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use support::{example_log, records, samples};

fn by_the_document(folder: &Path, rank: u32) -> String {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_log.py"));
    command.arg(folder.join(log_name(rank)));
    let rings = folder.join(rings_name(rank));
    if rings.exists() {
        command.arg(rings);
    }
    let output = command.output().expect("python3 is needed for this test: scripts/setup test installs it");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "read_log.py failed (it needs python3 and the zstd command): {message}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn by_the_reader(folder: &Path, rank: u32) -> String {
    let mut log = RunFolder::list(folder).unwrap().open(rank).expect("the log opens");
    let header = log.header();
    let mut text = String::new();
    let _ =
        writeln!(text, "rank {} {} {} {:?} {:?}", header.rank, header.n_ranks, header.host, header.clock, header.mode);
    let (mut threads, mut definitions) = (BTreeMap::<u32, usize>::new(), BTreeMap::<String, usize>::new());
    let (mut profiles, mut operations) = (BTreeMap::<String, u64>::new(), BTreeMap::<u16, (u64, u64)>::new());
    let (mut samples, mut weights) = (BTreeMap::<u32, usize>::new(), BTreeMap::<u32, u64>::new());
    let (mut damaged, mut lost, mut samples_lost, mut crc) = (0, 0, 0, crc32fast::Hasher::new());
    let mut add = |key: String, n: u64| *profiles.entry(key).or_default() += n;
    while let Some(item) = log.next_item() {
        match item {
            LogItem::Definitions(list) => {
                for definition in list {
                    let name = format!("{definition:?}");
                    let name = name.split('(').next().unwrap_or_default().to_owned();
                    *definitions.entry(name).or_default() += 1;
                }
            }
            LogItem::Records { head, records } => {
                *threads.entry(head.thread).or_default() += records.len();
                for record in records {
                    crc.update(&as_in_a_ring(&record));
                    let (n, ticks) = operations.entry(record.operation).or_default();
                    *n += 1;
                    *ticks += if record.end == 0 { 0 } else { record.end - record.begin };
                }
            }
            LogItem::Samples { head, samples: found } => {
                *samples.entry(head.thread).or_default() += found.len();
                *weights.entry(head.thread).or_default() += found.iter().map(|sample| sample.weight_ns).sum::<u64>();
                found.iter().for_each(|sample| crc.update(&as_bytes(sample)));
            }
            LogItem::Profile(batch) => {
                add("records".to_owned(), batch.profile.records);
                add("calls".to_owned(), batch.profile.calls);
                add("iterations".to_owned(), batch.profile.iterations.len() as u64);
                add("polls".to_owned(), batch.profile.polls.polls);
                for (key, cell) in &batch.profile.cells {
                    add(format!("activity-{}", key.activity), cell.ticks);
                }
                for (key, cell) in &batch.profile.sites {
                    add(format!("calls-of-{}", key.operation), cell.calls);
                }
            }
            LogItem::Summary(summary) => {
                add("summary-records".to_owned(), summary.batch.profile.records);
                add("summary-left-out".to_owned(), summary.left_out);
                for (key, cell) in &summary.batch.profile.cells {
                    add(format!("summary-activity-{}", key.activity), cell.ticks);
                }
            }
            LogItem::Problem(problem) => match problem.kind {
                ProblemKind::Damaged | ProblemKind::Truncated => damaged += problem.count,
                ProblemKind::Gap => lost += problem.count,
                ProblemKind::SamplesLost => samples_lost += problem.count,
                ProblemKind::SummaryWrong => panic!("{}", problem.detail),
                _ => {}
            },
            LogItem::Polls(sums) => panic!("nobody asked what polls are: {sums:?}"),
        }
    }
    let lines = (threads.iter().map(|(thread, n)| format!("records {thread} {n}\n")))
        .chain(samples.iter().map(|(thread, n)| format!("samples {thread} {n}\n")))
        .chain(weights.iter().map(|(thread, ns)| format!("weight {thread} {ns}\n")))
        .chain(definitions.iter().map(|(name, n)| format!("definitions {name} {n}\n")))
        .chain(profiles.iter().map(|(name, n)| format!("profile {name} {n}\n")))
        .chain(operations.iter().map(|(operation, (n, ticks))| format!("operation {operation} {n} {ticks}\n")));
    text.extend(lines);
    let _ = writeln!(text, "damaged {damaged}\nlost {lost}\nsamples-lost {samples_lost}\ncrc {}", crc.finalize());
    text
}

fn as_in_a_ring(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    for field in [record.begin, record.end, record.call_site, record.sent, record.received] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [record.peer as u32, record.tag as u32, record.comm, record.request] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(record.operation.to_le_bytes());
    bytes.extend(record.flags.0.to_le_bytes());
    bytes.extend(record.count.to_le_bytes());
    bytes
}

fn as_bytes(sample: &Sample) -> Vec<u8> {
    let counts = sample.counts.unwrap_or_default();
    let mut bytes = sample.ticks.to_le_bytes().to_vec();
    bytes.extend(sample.location.module.to_le_bytes());
    bytes.extend(sample.location.offset.to_le_bytes());
    bytes.extend(sample.call_path.to_le_bytes());
    [sample.weight_ns, counts.instructions, counts.cycles].iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes
}

/// Both readers find the same, and it is as it should be: `expected` lines are among what they print.
fn check(folder: &Path, rank: u32, expected: &[&str]) {
    let theirs = by_the_document(folder, rank);
    assert_eq!(theirs, by_the_reader(folder, rank));
    for line in expected {
        assert!(theirs.lines().any(|found| found == *line), "{line:?} is missing in:\n{theirs}");
    }
}

fn run() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        let script =
            script.param("cells", 7.5).communicator(77, &[0, 2, 3]).clock_ahead(-12_345).usage(3.0, 2).batch(300);
        let (sources, destinations) = (RankList::from_ranks([rank, rank]), RankList::from_ranks([0, 3, 1]));
        let script = script.define(Definition::Neighbours(NeighbourRanks { comm: 2, sources, destinations }));
        let script = script.define(Definition::ExitStatus(-7));
        let script = script.define(Definition::Function(InterpretedFunction {
            id: 0,
            name: "Halo.swap".into(),
            file: "halo.py".into(),
        }));
        let line =
            CallSite { parent: 1, cut: false, function: 0, column: 300, ..CallSite::alone(70_000, u32::MAX, 55) };
        let script = script.define(Definition::CallSite(line));
        let script = script.define(Definition::Group(RankGroup { id: 0, ranks: RankList::from_ranks([2, 0]) }));
        let script = script.sampled(20_000).worker(7, "worker", 2.5).busy_calls(Some("progress")).lose_samples(2);
        script.problem(ProblemKind::OtherThreads, 1).repeat(200, |i, script| {
            script.iteration("step", |script| {
                let bytes = 800 + 24 * u64::from(i / 7 % 5);
                let (dest, source) = ((rank as i32 + 1) % 4, (rank as i32 + 3) % 4);
                let request = 2 * i;
                script
                    .compute_in(["force", "neighbour"][i as usize % 2], 0.3 + f64::from(i % 13) / 7.0)
                    .irecv(source, 5, 0.002)
                    .isend(dest, 5, bytes, 0.003)
                    .waitall(&[(request, bytes), (request + 1, 0)], f64::from(i % 3))
                    .region("sum", |script| script.at("norm").allreduce(8, 0.07).work(1e6, 3.0))
                    .count("residual", 1.0 / f64::from(i + 1))
                    .memory(1 << 30, 0)
            })
        })
    })
}

#[test]
fn events_are_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    run().write(folder.path()).unwrap();
    check(
        folder.path(),
        2,
        &["rank 2 4 node0 Monotonic Events", "records 0 2601", "definitions Region 3", "lost 0", "samples-lost 2"],
    );
}

#[test]
fn profiles_are_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    run().profile_mode().write(folder.path()).unwrap();
    check(folder.path(), 1, &["profile records 2601", "profile iterations 200", "profile calls-of-112 200"]);
}

#[test]
fn summaries_and_the_index_are_read_by_the_document() {
    for (scenario, most) in [(run(), 4096), (run(), 50), (run().profile_mode(), 4096)] {
        let folder = tempfile::tempdir().unwrap();
        scenario.write(folder.path()).unwrap();
        assert_eq!(sum_up(folder.path(), most).unwrap(), 4);
        let left_out = if most == 50 { "profile summary-left-out 200" } else { "profile summary-left-out 0" };
        check(folder.path(), 1, &["profile summary-records 2601", left_out, "damaged 0"]);
        // An index that lies is noticed by the document's reader, too.
        let path = folder.path().join(log_name(1));
        let log = std::fs::read(&path).unwrap();
        let length = log.len();
        let mut wrong = log;
        wrong[length - 16] ^= 1;
        scenario::mend_checksums(&mut wrong);
        std::fs::write(&path, wrong).unwrap();
        assert!(std::panic::catch_unwind(|| by_the_document(folder.path(), 1)).is_err());
    }
}

#[test]
fn the_ring_of_a_killed_rank_is_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    run().rank(3, |script| script.kill(1000)).write(folder.path()).unwrap();
    check(folder.path(), 3, &["records 0 2600"]);
}

#[test]
fn a_damaged_log_is_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let (mut log, _) = example_log();
    let middle = log.len() / 2;
    log[middle] ^= 0x55;
    log.truncate(log.len() - 3);
    std::fs::write(folder.path().join(log_name(3)), log).unwrap();
    check(folder.path(), 3, &["records 0 440", "lost 40"]);
}

#[test]
fn any_records_are_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let mut runner = TestRunner::deterministic();
    let mut head = BatchHead::default();
    let mut n = 0;
    for _ in 0..40 {
        let batch = records(600).new_tree(&mut runner).unwrap().current();
        // Both readers state the sum of times; no record may make it overflow.
        let batch: Vec<_> =
            batch.into_iter().filter(|record| record.end.wrapping_sub(record.begin) < 1 << 40).collect();
        log.records(&head, &batch, |record| record.call_site).unwrap();
        head.advance(&batch);
        n += batch.len();
    }
    assert!(n > 1000, "{n}");
    std::fs::write(folder.path().join(log_name(0)), log.into_sink()).unwrap();
    check(folder.path(), 0, &["lost 0", "damaged 0"]);
}

#[test]
fn any_samples_are_read_by_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let mut runner = TestRunner::deterministic();
    let mut head = SampleHead { rate: SampleHead::rate_of(0.4), lost: 3, first: 3, ..SampleHead::default() };
    let mut n = 0;
    for most in [3, 50, 400, 900, 400] {
        let samples = samples(most).new_tree(&mut runner).unwrap().current();
        log.samples(&head, &samples).unwrap();
        head.advance(&samples);
        n += samples.len();
    }
    head.first += 4;
    head.lost = 4;
    log.samples(&head, &[]).unwrap();
    assert!(n > 300, "{n}");
    std::fs::write(folder.path().join(log_name(0)), log.into_sink()).unwrap();
    check(folder.path(), 0, &["damaged 0", "samples-lost 7", &format!("samples 0 {n}")]);
}
