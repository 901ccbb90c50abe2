//! Whatever happens to a log, reading it gives what is whole, says what is not, and takes little memory.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Read};
use std::sync::LazyLock;

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{BLOCK_HEAD_BYTES, BLOCK_MAGIC, BatchHead, BlockHead, MAX_PLAIN, VERSION};
use lbprof_collector::reader::{LogItem, LogReader, UnreadableLog};
use lbprof_collector::record::Record;
use lbprof_collector::ring::HEAD_BYTES;
use lbprof_collector::salvage;
use lbprof_collector::sample::{CodeAddress, ProcessorCounts, Sample, SampleHead};
use lbprof_collector::writer::LogWriter;
use lbprof_collector::{Definition, ProblemKind};
use lbprof_simulator::scenario;
use proptest::prelude::*;
use support::{example_log, items};

/// Counts the bytes that each thread has allocated and their largest number so far: tests run beside one another, each on a thread of its own.
struct CountingAllocator;

thread_local! {
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static MOST_ALLOCATED: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let allocated = ALLOCATED.get() + bytes;
    ALLOCATED.set(allocated);
    MOST_ALLOCATED.set(MOST_ALLOCATED.get().max(allocated));
}

// SAFETY: all is left to the system's allocator; only numbers are kept, in variables that need no memory to be made.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

fn memory_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATED.get();
    MOST_ALLOCATED.set(before);
    work();
    (MOST_ALLOCATED.get() - before).unsigned_abs()
}

fn records_of(items: &[LogItem]) -> Vec<Record> {
    let records = items.iter().filter_map(|item| match item {
        LogItem::Records { records, .. } => Some(records.as_slice()),
        _ => None,
    });
    records.flatten().copied().collect()
}

fn problems_of(items: &[LogItem]) -> Vec<ProblemKind> {
    items
        .iter()
        .filter_map(|item| if let LogItem::Problem(problem) = item { Some(problem.kind) } else { None })
        .collect()
}

fn block_bounds(log: &[u8]) -> Vec<usize> {
    let mut at = log.windows(4).position(|window| window == BLOCK_MAGIC).unwrap();
    let mut bounds = vec![at];
    while at < log.len() {
        let head = BlockHead::from_bytes(log[at..at + BLOCK_HEAD_BYTES].try_into().unwrap()).unwrap();
        at += BLOCK_HEAD_BYTES + head.stored as usize;
        bounds.push(at);
    }
    bounds
}

static EXAMPLE: LazyLock<(Vec<u8>, Vec<Record>)> = LazyLock::new(example_log);

/// What any log with the example's records, however damaged, must give: an error, or records that were all written, none of
/// them twice.
fn check(log: &[u8], written: &[Record]) {
    let Ok(mut reader) = LogReader::new(log) else { return };
    let mut seen = vec![false; written.len()];
    while let Some(item) = reader.next_item() {
        if let LogItem::Records { records, .. } = item {
            for record in records {
                // In the example it is the record's number.
                let number = record.sent as usize;
                assert_eq!(Some(&record), written.get(number), "was never written");
                assert!(!std::mem::replace(&mut seen[number], true), "{record:?} came twice");
            }
        }
    }
}

fn read(log: &[u8]) {
    if let Ok(mut reader) = LogReader::new(log) {
        while reader.next_item().is_some() {}
    }
}

#[test]
fn every_truncation_gives_the_blocks_before_it_and_says_so() {
    let (log, written) = &*EXAMPLE;
    let bounds = block_bounds(log);
    for length in 0..log.len() {
        let Ok(mut reader) = LogReader::new(&log[..length]) else {
            assert!(length < bounds[0], "{length}: the header is whole, so it opens");
            continue;
        };
        let items: Vec<_> = std::iter::from_fn(|| reader.next_item()).collect();
        let whole = bounds.iter().filter(|&&bound| bound <= length).count() - 1;
        let problems = problems_of(&items);
        assert_eq!(items.len() - problems.len(), whole, "{length}: every whole block comes");
        let at_a_bound = bounds.contains(&length);
        assert_eq!(problems, if at_a_bound { vec![] } else { vec![ProblemKind::Truncated] }, "{length}");
        let records = records_of(&items);
        assert_eq!(records, written[..records.len()], "{length}");
    }
    assert_eq!(&records_of(&items(log)), written);
}

#[test]
fn a_truncated_header_is_distinguished_from_a_file_of_another_kind() {
    let (log, _) = example_log();
    assert!(matches!(LogReader::new(&log[..0]), Err(UnreadableLog::Short(0))));
    assert!(matches!(LogReader::new(&log[..30]), Err(UnreadableLog::Short(30))));
    assert!(matches!(LogReader::new(&b"#!/bin/sh\necho a program"[..]), Err(UnreadableLog::NotALog(_))));
    for version in [VERSION - 1, VERSION + 1] {
        let mut other = log.clone();
        other[8] = version as u8;
        let Err(error) = LogReader::new(&other[..]) else { panic!("a log of version {version} was opened") };
        assert_eq!(
            error.to_string(),
            format!("log format {version}, this lb-report reads {VERSION}: use the lb-report of the run's lbprof")
        );
    }
    let mut flipped = log.clone();
    flipped[25] ^= 1;
    assert!(matches!(LogReader::new(&flipped[..]), Err(UnreadableLog::Header(_))));
    let mut endless = log;
    endless[10..14].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(LogReader::new(&endless[..]), Err(UnreadableLog::Header(_))));
}

#[test]
fn a_damaged_block_is_skipped_and_what_follows_is_read() {
    let (log, written) = example_log();
    let bounds = block_bounds(&log);
    // Block 3 is the second batch: records 40 to 79 (definitions, batch, definitions, batch).
    for (what, at) in [("its magic", 0), ("its kind", 4), ("its size", 6), ("its checksum", 18), ("its payload", 40)] {
        let mut log = log.clone();
        log[bounds[3] + at] ^= 0x10;
        let items = items(&log);
        assert_eq!(problems_of(&items), [ProblemKind::Damaged, ProblemKind::Gap], "{what}");
        let [LogItem::Problem(damage), LogItem::Problem(gap)] =
            items.iter().filter(|item| matches!(item, LogItem::Problem(_))).collect::<Vec<_>>()[..]
        else {
            panic!()
        };
        assert_eq!(damage.count, (bounds[4] - bounds[3]) as u64, "{what}: bytes skipped");
        assert_eq!(gap.count, 40, "{what}: records lost");
        assert_eq!(gap.rank, Some(3));
        let left: Vec<_> = written[..40].iter().chain(&written[80..]).copied().collect();
        assert_eq!(records_of(&items), left, "{what}");
    }
}

#[test]
fn bytes_between_blocks_and_before_the_end_are_reported() {
    let (log, written) = example_log();
    let bounds = block_bounds(&log);
    let mut with_noise = log[..bounds[2]].to_vec();
    with_noise.extend_from_slice(b"noise with a magic LBBK in it, and one more LB");
    with_noise.extend_from_slice(&log[bounds[2]..]);
    with_noise.extend_from_slice(&[0; 1000]);
    let items = items(&with_noise);
    assert_eq!(problems_of(&items), [ProblemKind::Damaged, ProblemKind::Damaged]);
    assert_eq!(records_of(&items), written);
}

#[test]
fn blocks_that_come_twice_or_overlap_are_read_once() {
    let (_, written) = example_log();
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    for (from, to) in [(0, 50), (0, 50), (30, 80), (100, 120)] {
        let mut head = BatchHead { previous_end: scenario::START, ..BatchHead::default() };
        head.advance(&written[..from]);
        log.records(&head, &written[from..to], |record| record.call_site).unwrap();
    }
    let items = items(&log.into_sink());
    let left: Vec<_> = written[..80].iter().chain(&written[100..120]).copied().collect();
    assert_eq!(records_of(&items), left);
    assert_eq!(problems_of(&items), [ProblemKind::Gap]);
    let LogItem::Records { head, .. } = &items[1] else { panic!("{items:?}") };
    assert_eq!((head.first, head.previous_end), (50, written[49].end), "the head moved with what was left out");
}

#[test]
fn what_a_newer_version_writes_is_left_out_with_a_note() {
    let (log, written) = example_log();
    let bounds = block_bounds(&log);
    let block = |kind: u8, plain: &[u8]| {
        let length = plain.len() as u32;
        let head = BlockHead { kind, stored: length, frame: 0, plain: length, crc: 0 };
        [&BlockHead { crc: head.checksum(plain), ..head }.to_bytes(), plain].concat()
    };
    let unknown_definition = [2, 200, 7];
    let longer_definition = [4, 12, 9, 1, 2]; // a WindowBegin at tick 9, and two bytes that are new
    let definitions = [&unknown_definition[..], &longer_definition, &[1]].concat();
    let mut newer = log[..bounds[1]].to_vec();
    newer.extend(block(77, b"what a later version holds"));
    newer.extend(block(1, &definitions[..definitions.len() - 1]));
    newer.extend_from_slice(&log[bounds[1]..]);
    let items = items(&newer);
    assert_eq!(items[1], LogItem::Definitions(vec![Definition::WindowBegin(9)]));
    assert_eq!(records_of(&items), written);
    let Some(LogItem::Problem(problem)) = items.last() else { panic!("{items:?}") };
    assert_eq!((problem.kind, problem.count), (ProblemKind::NewerOperation, 2));
}

#[test]
fn an_error_of_the_disk_is_reported_after_what_could_be_read() {
    struct FailingWriter<'a>(&'a [u8]);
    impl Read for FailingWriter<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is gone")),
                n => Ok(n),
            }
        }
    }
    let (log, written) = example_log();
    let mut reader = LogReader::new(FailingWriter(&log)).unwrap();
    let items: Vec<_> = std::iter::from_fn(|| reader.next_item()).collect();
    assert_eq!(records_of(&items), written);
    let Some(LogItem::Problem(problem)) = items.last() else { panic!("{items:?}") };
    assert_eq!((problem.kind, problem.detail.as_str()), (ProblemKind::Damaged, "the disk is gone"));
    assert!(matches!(LogReader::new(FailingWriter(&log[..30])), Err(UnreadableLog::Io(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_corruptions_never_panic_nor_invent_records(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..9), 1..6),
    ) {
        let (log, written) = &*EXAMPLE;
        let mut log = log.clone();
        for (place, byte, how) in changes {
            if log.is_empty() {
                break;
            }
            let at = place.index(log.len());
            match how {
                0 => log.truncate(at),
                1 => drop(log.drain(at..(at + usize::from(byte)).min(log.len()))),
                2 => drop(log.splice(at..at, std::iter::repeat_n(byte, usize::from(byte)))),
                3 => {
                    // A length or a size becomes any other.
                    let end = (at + 4).min(log.len());
                    log[at..end].fill(byte);
                }
                4 => swap_blocks(&mut log, at, usize::from(byte)),
                _ => log[at] ^= byte.max(1),
            }
        }
        let memory = memory_of(|| check(&log, written));
        prop_assert!(memory < 8 << 20, "{} bytes of memory for a log of {}", memory, log.len());
    }

    #[test]
    fn corruptions_whose_checksums_hold_never_panic_and_take_little_memory(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6),
    ) {
        let mut log = PLAIN.clone();
        for (place, byte, how) in changes {
            let at = place.index(log.len());
            match how {
                0 => log[at] = byte,
                1 => log[at] ^= 1 << (byte % 8),
                2 => drop(log.splice(at..at, [253].into_iter().chain([byte; 8]))),
                _ => drop(log.drain(at..(at + usize::from(byte % 16)).min(log.len()))),
            }
            if log.is_empty() {
                break;
            }
        }
        scenario::mend_checksums(&mut log);
        let memory = memory_of(|| read(&log));
        prop_assert!(memory < MOST_MEMORY, "{} bytes of memory for a log of {}", memory, log.len());
    }

    #[test]
    fn any_content_of_a_block_whose_checksum_holds_is_read_without_a_panic(
        kind in 0u8..6,
        frame in any::<bool>(),
        content in prop::collection::vec(any::<u8>(), 0..200),
        tail in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let plain = content.len() as u32;
        let first = if frame { zstd::bulk::compress(&content, 1).unwrap() } else { content };
        let payload = [&first[..], &tail].concat();
        let frame = if frame { first.len() as u32 } else { 0 };
        let head = BlockHead { kind, stored: payload.len() as u32, frame, plain, crc: 0 };
        let head = BlockHead { crc: head.checksum(&payload), ..head };
        let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap().into_sink();
        log.extend(head.to_bytes());
        log.extend(payload);
        let memory = memory_of(|| read(&log));
        prop_assert!(memory < MOST_MEMORY, "{} bytes of memory", memory);
    }

    #[test]
    fn any_bytes_are_a_ring_or_not_but_never_a_panic(
        changes in prop::collection::vec((0usize..6200, any::<u64>()), 0..40),
        heads in prop::collection::vec((0usize..280, prop_oneof![Just(u32::MAX), any::<u32>()]), 0..4),
        length in 0usize..7000,
    ) {
        let mut ring = RING.clone();
        for (at, value) in changes {
            if let Some(place) = ring.get_mut(at..at + 8) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        // The magic and the version hold, so that what lies after them is read.
        ring[..12].copy_from_slice(&RING[..12]);
        for (field, value) in heads {
            ring[12 + 4 * field..16 + 4 * field].copy_from_slice(&value.to_le_bytes());
        }
        ring.truncate(length);
        let mut found = None;
        let memory = memory_of(|| found = salvage::parse_ring(&ring));
        prop_assert_eq!(found.is_some(), length >= HEAD_BYTES);
        prop_assert!(found.is_none_or(|ring| ring.records.len() <= length / 64));
        prop_assert!(memory < 64 << 10, "{} bytes of memory", memory);
    }
}

/// The most memory that reading a small log may take, whatever it claims: a block's plain bytes (64 MiB), what decoding one
/// value may take (64 MiB), and a little.
const MOST_MEMORY: usize = 130 << 20;

/// A ring of 32 records, with place for as many again.
static RING: LazyLock<Vec<u8>> =
    LazyLock::new(|| scenario::ring(&scenario::header(0, 1), &BatchHead::default(), &EXAMPLE.1[..32], 0));

/// A log without any compressed block, so that each of its bytes has a meaning of its own: definitions, a batch, a profile.
static PLAIN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (log, written) = &*EXAMPLE;
    let records = &written[..60];
    let mut plain = LogWriter::new(Vec::new(), &scenario::header(3, 8)).unwrap().into_sink();
    let Some(LogItem::Definitions(definitions)) = items(log).into_iter().next() else {
        panic!("definitions come first")
    };
    let mut listed = LogWriter::new(Vec::new(), &scenario::header(3, 8)).unwrap();
    listed.definitions(&definitions).unwrap();
    let listed = listed.into_sink();
    let block = BlockHead::from_bytes(listed[plain.len()..].first_chunk().unwrap()).unwrap();
    assert_eq!(block.frame, 0, "so few definitions do not compress");
    plain.extend_from_slice(&listed[plain.len()..]);

    let mut encoder = lbprof_collector::encode::RecordEncoder::default();
    encoder.encode(&BatchHead::default(), records, |record| record.call_site);
    plain.extend(block_of(2, encoder.plain(), encoder.tail()));

    let mut fold = ProfileFold::new(BatchHead { first: 60, ..BatchHead::default() });
    fold.records(records, |record| record.call_site);
    let mut folded = LogWriter::new(Vec::new(), &scenario::header(3, 8)).unwrap();
    let begin = folded.bytes() as usize;
    folded.profile(&fold.take()).unwrap();
    let folded = folded.into_sink();
    let block = BlockHead::from_bytes(folded[begin..].first_chunk().unwrap()).unwrap();
    let payload = &folded[begin + BLOCK_HEAD_BYTES..];
    let bytes = if block.frame == 0 {
        payload.to_vec()
    } else {
        zstd::bulk::decompress(payload, block.plain as usize).unwrap()
    };
    plain.extend(block_of(3, &bytes, &[]));
    let mut encoder = lbprof_collector::sample_block::SampleEncoder::default();
    encoder.encode(&SampleHead::default(), &example_samples());
    plain.extend(block_of(4, encoder.plain(), encoder.tail()));
    assert_eq!(items(&plain).len(), 4, "definitions, records, a profile, samples");
    plain
});

fn example_samples() -> Vec<Sample> {
    let sample = |i: u64| Sample {
        ticks: scenario::START + 5_000_000 * i + i * i % 7_000,
        location: CodeAddress { module: (i % 3) as u32, offset: 0x4000 + i * 37 % 300 },
        call_path: if i.is_multiple_of(5) { 1 } else { u32::MAX },
        weight_ns: 5_000_000 + i / 20,
        counts: Some(ProcessorCounts { instructions: 10_000_000 + i, cycles: 300 * i }),
    };
    (0..60).map(sample).collect()
}

fn block_of(kind: u8, plain: &[u8], tail: &[u8]) -> Vec<u8> {
    let payload = [plain, tail].concat();
    let head = BlockHead { kind, stored: payload.len() as u32, frame: 0, plain: plain.len() as u32, crc: 0 };
    [&BlockHead { crc: head.checksum(&payload), ..head }.to_bytes(), &payload[..]].concat()
}

/// Exchanges the block at or after `at` with another one, if the log still has blocks there.
fn swap_blocks(log: &mut Vec<u8>, at: usize, other: usize) {
    let starts: Vec<_> =
        log.windows(4).enumerate().filter(|(_, window)| *window == BLOCK_MAGIC).map(|(at, _)| at).collect();
    let Some(one) = starts.iter().position(|&start| start >= at) else { return };
    let other = other % starts.len();
    let (first, second) = (one.min(other), one.max(other));
    if first == second {
        return;
    }
    let block = |i: usize| starts[i]..starts.get(i + 1).copied().unwrap_or(log.len());
    let (a, b) = (block(first), block(second));
    let swapped = [&log[..a.start], &log[b.clone()], &log[a.end..b.start], &log[a], &log[b.end..]].concat();
    *log = swapped;
}

#[test]
fn hostile_numbers_anywhere_behind_a_checksum_that_holds_take_bounded_memory() {
    // Each byte in turn becomes the begin of a number: of the largest ones, and of some that are just possible as a length.
    let numbers: [&[u8]; 6] = [
        &[253, 255, 255, 255, 255, 255, 255, 255, 255],
        &[253, 0, 0, 0, 0, 1, 0, 0, 0],
        &[252, 255, 255, 255, 255],
        &[252, 0, 0, 0, 4],
        &[252, 0, 0, 8, 0],
        &[250],
    ];
    let header_end = block_bounds(&PLAIN)[0];
    let mut most = 0;
    for at in 18..PLAIN.len() {
        for number in numbers {
            // As it is in a damaged file: other bytes make way. And as a program would write it: what follows moves on, and
            // the lengths around it fit.
            let mut replaced = PLAIN.clone();
            let end = (at + number.len()).min(replaced.len());
            replaced[at..end].copy_from_slice(&number[..end - at]);
            scenario::mend_checksums(&mut replaced);
            let inserted = insert(at, number, header_end);
            for log in [replaced, inserted] {
                most = most.max(memory_of(|| read(&log)));
            }
        }
    }
    assert!(most < MOST_MEMORY, "{most} bytes of memory");
}

/// The plain log with `number` in place of the byte at `at`, the length of its header or block and all checksums made right.
fn insert(at: usize, number: &[u8], header_end: usize) -> Vec<u8> {
    let mut log = PLAIN.clone();
    let grown = number.len() as u32 - 1;
    let mut grow = |place: usize| {
        let length = u32::from_le_bytes(*log[place..].first_chunk().unwrap());
        log[place..place + 4].copy_from_slice(&(length + grown).to_le_bytes());
    };
    if at < header_end {
        grow(10);
    } else {
        let bounds = block_bounds(&PLAIN);
        let block = *bounds.iter().rfind(|&&bound| bound <= at).unwrap();
        if at >= block + BLOCK_HEAD_BYTES {
            grow(block + 5);
            grow(block + 13);
        }
    }
    log.splice(at..at + 1, number.iter().copied());
    scenario::mend_checksums(&mut log);
    log
}

#[test]
fn every_field_of_a_blocks_head_may_be_hostile() {
    let (log, _) = &*EXAMPLE;
    let bounds = block_bounds(log);
    let most = MAX_PLAIN as u32;
    let mut most_memory = 0;
    for bound in bounds.windows(2) {
        let head = BlockHead::from_bytes(log[bound[0]..].first_chunk().unwrap()).unwrap();
        for value in [0, 1, head.stored - 1, head.stored + 1, 0xffff, most - 1, most, most + 1, u32::MAX] {
            for changed in [
                BlockHead { stored: value, ..head },
                BlockHead { frame: value, ..head },
                BlockHead { plain: value, ..head },
                BlockHead { frame: 0, plain: value, ..head },
                BlockHead { kind: value as u8, ..head },
            ] {
                let payload = &log[bound[0] + BLOCK_HEAD_BYTES..];
                let covered = payload.get(..changed.stored as usize).unwrap_or(payload);
                let changed = BlockHead { crc: changed.checksum(covered), ..changed };
                let mut log = log.clone();
                log[bound[0]..bound[0] + BLOCK_HEAD_BYTES].copy_from_slice(&changed.to_bytes());
                most_memory = most_memory.max(memory_of(|| read(&log)));
            }
        }
    }
    assert!(most_memory < MOST_MEMORY, "{most_memory} bytes of memory");
}

#[test]
fn a_log_of_hostile_lengths_takes_bounded_memory_and_time() {
    // 20,000 heads that each promise 64 MiB, and a frame that is small but holds 64 MiB of zeros.
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap().into_sink();
    let promise = BlockHead { kind: 2, stored: MAX_PLAIN as u32, frame: 9, plain: MAX_PLAIN as u32, crc: 0 };
    for _ in 0..20_000 {
        log.extend(promise.to_bytes());
    }
    let frame = zstd::bulk::compress(&vec![0; MAX_PLAIN], 1).unwrap();
    for kind in 1..4 {
        let length = frame.len() as u32;
        let head = BlockHead { kind, stored: length, frame: length, plain: MAX_PLAIN as u32, crc: 0 };
        log.extend(BlockHead { crc: head.checksum(&frame), ..head }.to_bytes());
        log.extend_from_slice(&frame);
    }
    let mut n = 0;
    let memory = memory_of(|| n = items(&log).len());
    assert!(n > 0);
    assert!(memory < MOST_MEMORY, "{memory} bytes of memory");
}

#[test]
fn a_log_that_unpacks_to_far_more_than_a_log_can_hold_is_given_up() {
    let mut writer = LogWriter::new(Vec::new(), &lbprof_simulator::scenario::header(0, 1)).unwrap();
    let name = "a".repeat(32 << 20);
    for _ in 0..12 {
        writer.definitions(&[Definition::Param(name.clone(), 1.0)]).unwrap();
    }
    let log = writer.into_sink();
    assert!(log.len() < 1 << 20, "{} bytes", log.len());
    let mut reader = LogReader::new(&log[..]).unwrap();
    let (mut definitions, mut given_up) = (0, 0);
    while let Some(item) = reader.next_item() {
        match item {
            LogItem::Definitions(_) => definitions += 1,
            LogItem::Problem(problem) if problem.detail.contains("more than a log can") => given_up += 1,
            other => panic!("{other:?}"),
        }
    }
    // 256 MiB, and 32 bytes for each that was read.
    assert_eq!((definitions, given_up), (8, 1));
}
