//! Records, logs and folders that several tests need.
#![allow(dead_code, reason = "each test uses a part")]

use lbprof_collector::definition::{CallSite, Definition, EndReason, Module, RankList};
use lbprof_collector::format::{BatchHead, OpenRegion};
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_collector::record::{CallFlags, NO_PEER, NONE, Record};
use lbprof_collector::sample::{CodeAddress, ProcessorCounts, Sample};
use lbprof_collector::writer::LogWriter;
use lbprof_simulator::scenario;
use proptest::prelude::*;

/// Any record, most of them with the values that programs have.
pub fn record() -> impl Strategy<Value = Record> {
    let time = prop_oneof![4 => 1_000u64..1_000_000, 1 => any::<u64>()];
    let bytes = prop_oneof![4 => 0u64..5_000, 1 => any::<u64>()];
    let small = prop_oneof![4 => 0i32..4, 2 => Just(NO_PEER), 1 => any::<i32>()];
    let id = prop_oneof![4 => 0u32..4, 2 => Just(NONE), 1 => any::<u32>()];
    let operation = prop_oneof![4 => 10u16..14, 2 => 1000u16..1012, 1 => any::<u16>()];
    let call_site = prop_oneof![4 => 0u64..5, 1 => Just(u64::MAX), 1 => any::<u64>()];
    let fields = (bytes.clone(), bytes, small.clone(), small, id.clone(), id.clone());
    let rest = (operation, any::<u16>(), id, call_site);
    (time.clone(), prop_oneof![3 => time, 1 => Just(0)], fields, rest).prop_map(
        |(begin, end, (sent, received, peer, tag, comm, request), (operation, flags, count, call_site))| Record {
            begin,
            end,
            call_site,
            sent,
            received,
            peer,
            tag,
            comm,
            request,
            operation,
            flags: CallFlags(flags),
            count,
        },
    )
}

/// Records as programs make them: a few of any kind, over and over in different order, now and then changed.
pub fn records(most: usize) -> impl Strategy<Value = Vec<Record>> {
    let kinds = prop::collection::vec(record(), 1..8);
    let choices = prop::collection::vec((any::<prop::sample::Index>(), 0u8..20, any::<u32>()), 0..most);
    (kinds, choices).prop_map(|(kinds, choices)| {
        let mut now = 1_000;
        let repeat = |(index, change, value): (prop::sample::Index, u8, u32)| {
            let mut record = *index.get(&kinds);
            match change {
                0 => record.peer = value as i32,
                1 => record.sent = u64::from(value),
                2 => record.request = value,
                3 => record.count = value,
                4..=6 => {
                    record.begin = now;
                    record.end = now + u64::from(value % 100_000);
                    now = record.end + u64::from(value % 1_000);
                }
                _ => {}
            }
            record
        };
        choices.into_iter().map(repeat).collect()
    })
}

/// Samples of a thread, most of them in a few places; all have counts, or none.
pub fn samples(most: usize) -> impl Strategy<Value = Vec<Sample>> {
    let offset = prop_oneof![4 => 0u64..300, 1 => any::<u64>()];
    let module = prop_oneof![4 => 0u32..3, 1 => Just(NONE)];
    let location = (module, offset).prop_map(|(module, offset)| CodeAddress { module, offset });
    let ticks = prop_oneof![4 => 0u64..100_000_000, 1 => any::<u64>()];
    let weight = prop_oneof![6 => Just(5_000_000u64), 1 => 0u64..10_000_000];
    let path = prop_oneof![6 => Just(NONE), 1 => 0u32..5];
    let counts = (any::<u32>(), any::<u64>());
    let sample = (ticks, location, path, weight, counts);
    (prop::collection::vec(sample, 0..most), any::<bool>()).prop_map(|(all, counted)| {
        let of = |(ticks, location, call_path, weight_ns, (cycles, instructions))| {
            let counts = counted.then_some(ProcessorCounts { instructions, cycles: u64::from(cycles) });
            Sample { ticks, location, call_path, weight_ns, counts }
        };
        all.into_iter().map(of).collect()
    })
}

pub fn head() -> impl Strategy<Value = BatchHead> {
    let region = (any::<u32>(), any::<u32>()).prop_map(|(region, iteration)| OpenRegion { region, iteration });
    (0u32..3, any::<u64>(), prop::collection::vec(region, 0..4), any::<bool>())
        .prop_map(|(thread, previous_end, open, paused)| BatchHead { thread, first: 0, previous_end, open, paused })
}

pub fn items(log: &[u8]) -> Vec<LogItem> {
    let mut reader = LogReader::new(log).expect("the header is whole");
    std::iter::from_fn(|| reader.next_item()).collect()
}

pub fn example_log() -> (Vec<u8>, Vec<Record>) {
    let header = scenario::header(3, 8);
    let mut log = LogWriter::new(Vec::new(), &header).expect("memory takes all");
    let module = Module { id: 0, path: "/bin/app".to_owned(), build_id: vec![1, 2, 3], base: 0x1000, end: 0x9000 };
    let site = |id| Definition::CallSite(CallSite::alone(id, 0, 16 * u64::from(id)));
    log.definitions(&[Definition::Module(module), site(0), site(1)]).expect("memory takes all");
    let mut all = Vec::new();
    let mut head = BatchHead { previous_end: scenario::START, ..BatchHead::default() };
    for batch in 0..12u64 {
        let records: Vec<Record> = (0..40).map(|i| example_record(batch * 40 + i)).collect();
        log.records(&head, &records, |record| record.call_site).expect("memory takes all");
        head.advance(&records);
        all.extend(records);
        if batch.is_multiple_of(4) {
            log.definitions(&[site(2 + batch as u32)]).expect("memory takes all");
        }
    }
    let end = head.previous_end;
    log.definitions(&[Definition::WindowEnd(end), Definition::End(EndReason::Finalize, end)])
        .expect("memory takes all");
    (log.into_sink(), all)
}

/// Record `i` of a program that repeats itself; its `sent` is its number, so that it cannot be taken for another.
pub fn example_record(i: u64) -> Record {
    let begin = scenario::START + 1_000 * i + i * i % 700;
    Record {
        begin,
        end: begin + 100 + i * 37 % 600,
        call_site: i % 3,
        sent: i,
        received: i % 5 * 100,
        peer: (i % 4) as i32,
        tag: 7,
        comm: 0,
        request: NONE,
        operation: if i.is_multiple_of(3) { 100 } else { 10 },
        flags: CallFlags((i % 3) as u16 + 1),
        count: 0,
    }
}

pub fn ranks(list: &[u32]) -> RankList {
    RankList::from_ranks(list.iter().copied())
}
