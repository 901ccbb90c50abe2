//! What is written is what is read.

mod support;

use lbprof_collector::decode::RecordDecoder;
use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, Definition, EndReason, InterpretedFunction, LifetimePoint, Module,
    MpiObject, NeighbourRanks, ObjectKind, RankGroup, RankList, Region, RegionKind, ResourceUsage,
};
use lbprof_collector::encode::RecordEncoder;
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{BLOCK_MAGIC, BatchHead, LogHeader, MAX_DEFINITIONS, MAX_WAITING, RecordingMode};
use lbprof_collector::joined::take_apart;
use lbprof_collector::parallel::{MemberSums, MutexKind, MutexSums, ParallelSums, TeamPlacement, TeamTime};
use lbprof_collector::poll_gaps::{GapSums, PlacedGaps, ProfileGaps};
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_collector::record::{NONE, Record};
use lbprof_collector::sample::{SampleHead, SamplePlaces, SampledThread, SamplingOutcome, SamplingSetup, ThreadPool};
use lbprof_collector::sample_block::{self, SampleEncoder};
use lbprof_collector::writer::{LogWriter, block_of};
use lbprof_collector::{Activity, Operation, ProblemKind};
use lbprof_simulator::scenario;
use proptest::prelude::*;
use support::{head, items, record, records, samples};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_come_back_exactly(head in head(), records in records(600)) {
        let mut encoder = RecordEncoder::default();
        encoder.encode(&head, &records, |record| record.call_site);
        let decoded = RecordDecoder::default().decode(encoder.plain(), encoder.tail());
        prop_assert_eq!(decoded, Some((head, records)));
    }

    #[test]
    #[ignore = "takes long: scripts/test --all"]
    fn records_without_any_pattern_come_back_exactly(head in head(), records in prop::collection::vec(record(), 0..300)) {
        let mut encoder = RecordEncoder::default();
        encoder.encode(&head, &records, |record| record.call_site);
        let decoded = RecordDecoder::default().decode(encoder.plain(), encoder.tail());
        prop_assert_eq!(decoded, Some((head, records)));
    }

    #[test]
    fn an_encoder_and_a_decoder_keep_nothing_from_one_batch_to_the_next(batches in prop::collection::vec(records(100), 1..6)) {
        let (mut encoder, mut decoder) = (RecordEncoder::default(), RecordDecoder::default());
        let head = BatchHead::default();
        for records in batches {
            encoder.encode(&head, &records, |record| record.call_site);
            let mut alone = RecordEncoder::default();
            alone.encode(&head, &records, |record| record.call_site);
            prop_assert_eq!(encoder.plain(), alone.plain());
            prop_assert_eq!(encoder.tail(), alone.tail());
            prop_assert_eq!(decoder.decode(encoder.plain(), encoder.tail()), Some((head.clone(), records)));
        }
    }

    #[test]
    fn call_sites_are_written_as_their_ids(records in records(300)) {
        let id = |address: u64| address.wrapping_mul(3).wrapping_add(1);
        let mut encoder = RecordEncoder::default();
        encoder.encode(&BatchHead::default(), &records, |record| id(record.call_site));
        let (_, decoded) = RecordDecoder::default().decode(encoder.plain(), encoder.tail()).expect("what was encoded");
        for (written, read) in records.iter().zip(&decoded) {
            prop_assert_eq!(read.call_site, id(written.call_site));
        }
    }

    #[test]
    fn a_log_gives_its_batches_in_order(batches in prop::collection::vec(records(200), 0..6)) {
        let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
        let mut head = BatchHead::default();
        let mut expected = Vec::new();
        for records in batches.into_iter().filter(|records| !records.is_empty()) {
            log.records(&head, &records, |record| record.call_site).unwrap();
            // Any number may be that of joined records, which are read as what they stand for.
            let mut apart = records;
            take_apart(&mut apart);
            let item = LogItem::Records { head: head.clone(), records: apart };
            if let LogItem::Records { records, .. } = &item {
                head.advance(records);
            }
            expected.push(item);
        }
        let bytes = log.bytes();
        let log = log.into_sink();
        prop_assert_eq!(bytes, log.len() as u64);
        // Numbers of operations that nobody knows are reported at the end; the records come all the same.
        let read: Vec<_> = items(&log).into_iter().filter(|item| !matches!(item, LogItem::Problem(_))).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn samples_come_back_exactly(
        samples in prop_oneof![samples(700), samples(4)],
        thread in 0u32..3,
        previous in any::<u64>(),
        rate in prop_oneof![Just(0), Just(1 << 20), any::<u64>()],
    ) {
        let head = SampleHead { thread, first: 9, lost: 4, previous, rate };
        let mut encoder = SampleEncoder::default();
        encoder.encode(&head, &samples);
        prop_assert_eq!(sample_block::decode_samples(encoder.plain(), encoder.tail()), Some((head, samples)));
    }

    #[test]
    fn a_log_gives_its_samples_in_order(batches in prop::collection::vec((samples(80), 0u64..3), 0..5)) {
        let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
        let mut head = SampleHead { thread: 1, ..SampleHead::default() };
        let (mut written, mut lost) = (Vec::new(), 0);
        for (samples, gone) in batches {
            (head.first, head.lost) = (head.first + gone, gone);
            log.samples(&head, &samples).unwrap();
            head.advance(&samples);
            written.extend(samples);
            lost += gone;
        }
        prop_assert_eq!(log.bytes(), log.sink_mut().len() as u64);
        let (mut read, mut reported) = (Vec::new(), 0);
        for item in items(&log.into_sink()) {
            match item {
                LogItem::Samples { samples, .. } => read.extend(samples),
                LogItem::Problem(problem) if problem.kind == ProblemKind::SamplesLost => reported += problem.count,
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(read, written);
        prop_assert_eq!(reported, lost);
    }

    #[test]
    fn a_profile_comes_back_exactly(records in records(300)) {
        let mut fold = ProfileFold::new(BatchHead::default());
        fold.records(&records, |record| record.call_site);
        let batch = fold.take();
        let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
        log.profile(&batch).unwrap();
        let read = items(&log.into_sink());
        // Counters may be NaN, which equals nothing, itself included; its text does.
        prop_assert_eq!(format!("{read:?}"), format!("{:?}", [LogItem::Profile(Box::new(batch))]));
    }
}

#[test]
fn a_batch_that_changed_while_it_was_encoded_is_not_written() {
    let batch = [Record::new(Operation::Send, 10)];
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let before = log.bytes();
    let mut write = |whole: bool| {
        let head = BatchHead::default();
        log.records_if(&head, &batch, batch.len(), |_| 0, || whole).map(|written| (written, log.bytes()))
    };
    assert_eq!(write(false).unwrap(), (false, before));
    let (written, after) = write(true).unwrap();
    assert!(written && before < after);
    assert_eq!(items(&log.into_sink()).len(), 1);
}

#[test]
fn a_call_site_of_machine_code_has_no_function_of_an_interpreter() {
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let site = CallSite { parent: 3, cut: false, ..CallSite::alone(7, 0, 16) };
    log.definitions(&[Definition::CallSite(CallSite { function: 2, column: 4, ..site })]).unwrap();
    let log = log.into_sink();
    // Variant 1, id 7, module 0, offset 16, parent 3, not cut.
    assert_eq!(items(&with_definition(&log, &[1, 7, 0, 16, 3, 0])), [only(site)]);
    assert_eq!(items(&log), [only(CallSite { function: 2, column: 4, ..site })]);
    // Variant 27, a caller of samples, ended with its function in older logs.
    let caller = Definition::SampleCaller(CallSite { function: 2, ..site });
    assert_eq!(items(&with_definition(&log, &[27, 7, 0, 16, 3, 0, 2])), [LogItem::Definitions(vec![caller])]);
}

fn only(site: CallSite) -> LogItem {
    LogItem::Definitions(vec![Definition::CallSite(site)])
}

fn with_definition(log: &[u8], definition: &[u8]) -> Vec<u8> {
    let block = log.windows(4).rposition(|window| window == BLOCK_MAGIC).unwrap();
    let plain: Vec<u8> = [&[definition.len() as u8], definition].concat();
    let length = (plain.len() as u32).to_le_bytes();
    let mut out = log[..block + 5].to_vec();
    for field in [length, [0; 4], length, [0; 4]] {
        out.extend_from_slice(&field);
    }
    out.extend_from_slice(&plain);
    scenario::mend_checksums(&mut out);
    out
}

#[test]
fn every_definition_comes_back() {
    let places = [Some((0, Activity::Computation)), Some((7, Activity::Io)), Some((7, Activity::Io)), None];
    let definitions = vec![
        Definition::Module(Module {
            id: 1,
            path: "/lib/x.so".to_owned(),
            build_id: vec![0, 255],
            base: 1 << 47,
            end: u64::MAX,
        }),
        Definition::CallSite(CallSite::alone(300, NONE, u64::MAX)),
        Definition::CallSite(CallSite { function: 70_000, column: 300, ..CallSite::alone(301, NONE, 55) }),
        Definition::Function(InterpretedFunction {
            id: 70_000,
            name: "Halo.swap".to_owned(),
            file: "/ü/halo.py".to_owned(),
        }),
        Definition::Region(Region {
            id: 2,
            parent: 1,
            name: "force ü".to_owned(),
            kind: RegionKind::Control,
            iterated: true,
        }),
        Definition::Communicator(Communicator {
            id: 2,
            uid: 0x0123_4567_89ab_cdef,
            parent: 0,
            rank: 5,
            group: RankList::from_ranks([9, 6, 3, 70_000]),
            remote: RankList::from_ranks(0..1000),
        }),
        Definition::Object(MpiObject { kind: ObjectKind::File, id: 0, comm: 2, name: String::new() }),
        Definition::Counter(0, "atoms".to_owned()),
        Definition::Param("W".to_owned(), -1.5e300),
        Definition::Thread(3, 4_000_000),
        Definition::Instant(ClockPair { ticks: 1, monotonic_ns: u64::MAX }),
        Definition::ClockOffset(ClockOffset { ticks: 1, offset_ns: i64::MIN, error_ns: 12 }),
        Definition::Usage(ResourceUsage { ticks: 9, user_ns: 8, max_resident: 1 << 40, ..ResourceUsage::default() }),
        Definition::Problem(5, 70_000, "x".repeat(1000)),
        Definition::WindowBegin(250),
        Definition::WindowEnd(251),
        Definition::End(EndReason::Abort(-7), 65_536),
        Definition::ThreadLevel(3),
        Definition::Neighbours(NeighbourRanks {
            comm: 2,
            sources: RankList::from_ranks([3, 3]),
            destinations: RankList::default(),
        }),
        Definition::Group(RankGroup { id: 0, ranks: RankList::from_ranks([1, 0, NONE]) }),
        Definition::ExitStatus(255),
        Definition::Sampling(SamplingSetup {
            period_ns: 5_000_000,
            outcome: SamplingOutcome::Refused(13),
            counted: true,
            error_ns: 120,
        }),
        Definition::SampledThread(SampledThread { id: 300, system_id: 4_000_000, number: NONE, pool: 2 }),
        Definition::SamplePlaces(SamplePlaces::from_places(300, 70_000, places)),
        Definition::SampleCaller(CallSite { parent: 299, ..CallSite::alone(300, NONE, u64::MAX) }),
        Definition::Lifetime(LifetimePoint::Ended, 1 << 60),
        Definition::ParallelSums(ParallelSums {
            id: 1,
            thread: NONE,
            call_site: 300,
            team: 2,
            instances: 3,
            elapsed: 1 << 40,
            time: TeamTime { useful: u64::MAX, mutex: 7, ..TeamTime::default() },
            longest: 5,
            beside: 4,
            members: vec![MemberSums { useful: 300, longest: 2, ..MemberSums::default() }; 2],
        }),
        Definition::ProfileGaps(ProfileGaps {
            thread: 1,
            first: 1 << 40,
            sums: GapSums { ticks: 1 << 33, sampled_ns: 70_000, succeeded: 9 },
            places: vec![PlacedGaps {
                region: 300,
                iteration: 5,
                call_site: NONE,
                operation: 7,
                activity: 1,
                ticks: 1 << 32,
            }],
        }),
        Definition::TeamPlacement(TeamPlacement {
            team: 4,
            cores: 1,
            settings: vec!["OMP_NUM_THREADS=4".to_owned()],
            library: "/lib/libgomp.so.1".to_owned(),
        }),
        Definition::MutexSums(MutexSums {
            id: 1,
            thread: 0,
            region: 3,
            kind: MutexKind::Lock,
            name: "app+0x40".to_owned(),
            call_site: NONE,
            waits: 7,
            ticks: 1 << 40,
            team: 2,
        }),
        Definition::ThreadPool(ThreadPool { id: 0, routine: 3, threads: 4, started: 1 << 33, ended_cpu_ns: 1 << 40 }),
    ];
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    log.definitions(&[]).unwrap();
    log.definitions(&definitions).unwrap();
    assert_eq!(items(&log.into_sink()), [LogItem::Definitions(definitions)]);
    assert_eq!(SamplePlaces::from_places(0, 0, places).places().collect::<Vec<_>>(), places);
}

#[test]
fn more_definitions_than_a_block_holds_go_into_several() {
    let definitions: Vec<_> = (0..MAX_DEFINITIONS as u64 + 10).map(Definition::WindowBegin).collect();
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    log.definitions(&definitions).unwrap();
    let read = items(&log.into_sink());
    assert_eq!(read.len(), 2);
    let read = read.into_iter().flat_map(|item| match item {
        LogItem::Definitions(definitions) => definitions,
        other => panic!("{other:?}"),
    });
    assert_eq!(read.collect::<Vec<_>>(), definitions);
}

fn comm(id: u32) -> Definition {
    let group = RankList::from_ranks(0..4);
    let uid = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Definition::Communicator(Communicator { id, uid, parent: 0, rank: 1, group, remote: RankList::default() })
}

#[test]
fn definitions_that_wait_stand_in_front_of_the_next_block() {
    let (_, records) = support::example_log();
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let begin = log.bytes();
    log.definition_later(&comm(2)).unwrap();
    log.definition_later(&comm(3)).unwrap();
    assert_eq!((log.bytes(), log.facts_end()), (begin, begin), "nothing is written yet");
    log.records(&BatchHead::default(), &records[..10], |record| record.call_site).unwrap();
    let facts_end = log.facts_end();
    assert!(begin < facts_end && facts_end < log.bytes() && log.waiting().is_empty());
    log.definition_later(&comm(4)).unwrap();
    log.definitions(&[Definition::WindowBegin(1)]).unwrap();
    assert_eq!(log.facts_end(), log.bytes());
    let large = Definition::Param("x".repeat(MAX_WAITING), 1.0);
    log.definition_later(&comm(5)).unwrap();
    log.definition_later(&large).unwrap();
    assert!(log.waiting().is_empty(), "it has no room, and comes after what waits");
    log.definition_later(&comm(6)).unwrap();
    log.index().unwrap();
    let found: Vec<_> = items(&log.into_sink())
        .into_iter()
        .map(|item| match item {
            LogItem::Definitions(definitions) => definitions,
            LogItem::Records { .. } => Vec::new(),
            other => panic!("{other:?}"),
        })
        .collect();
    let window = vec![Definition::WindowBegin(1)];
    let expected =
        [vec![comm(2), comm(3)], Vec::new(), vec![comm(4)], window, vec![comm(5)], vec![large], vec![comm(6)]];
    assert_eq!(found, expected);
}

#[test]
fn many_definitions_wait_in_bounded_memory() {
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    for id in 0..1000 {
        log.definition_later(&comm(id)).unwrap();
        assert!(log.waiting().len() <= MAX_WAITING);
    }
    log.definitions(&[]).unwrap();
    let blocks: Vec<_> = items(&log.into_sink())
        .into_iter()
        .map(|item| match item {
            LogItem::Definitions(definitions) => definitions,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(blocks.len() < 20, "{} blocks of 1000 definitions", blocks.len());
    assert_eq!(blocks.concat(), (0..1000).map(comm).collect::<Vec<_>>());
}

#[test]
fn a_block_made_without_memory_of_its_own_follows_a_closed_log() {
    for status in [3, -1, i32::MIN, i32::MAX] {
        let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
        let end = Definition::End(EndReason::Finalize, 9);
        log.definitions(std::slice::from_ref(&end)).unwrap();
        let mut memory = [0; 64];
        let length = block_of(&Definition::ExitStatus(status), &mut memory).unwrap();
        let log = [log.into_sink(), memory[..length].to_vec()].concat();
        assert_eq!(
            items(&log),
            [LogItem::Definitions(vec![end]), LogItem::Definitions(vec![Definition::ExitStatus(status)])]
        );
        assert_eq!(block_of(&Definition::ExitStatus(status), &mut memory[..length - 1]), None, "no room");
    }
    assert_eq!(block_of(&Definition::Param("x".repeat(300), 1.0), &mut [0; 400]), None, "no small one");
}

#[test]
fn the_header_comes_back() {
    let header = LogHeader {
        command: vec!["./a".to_owned(), String::new(), "ü \n".to_owned()],
        recorded_ranks: support::ranks(&[0, 8, 16, 3]),
        mode: RecordingMode::Profile,
        settings: vec!["LBPROF_MODE=profile".to_owned()],
        ..scenario::header(7, 4096)
    };
    let log = LogWriter::new(Vec::new(), &header).unwrap().into_sink();
    let mut reader = LogReader::new(&log[..]).unwrap();
    assert_eq!(*reader.header(), header);
    assert_eq!(reader.next_item(), None);
    assert_eq!(reader.next_item(), None, "the end is for good");
}

#[test]
fn a_batch_of_more_records_than_a_block_holds_is_refused_and_leaves_the_log_whole() {
    let (_, some) = support::example_log();
    let many = vec![some[0]; lbprof_collector::format::MAX_RECORDS + 1];
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let before = log.bytes();
    let error = log.records(&BatchHead::default(), &many, |record| record.call_site).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(log.bytes(), before);
    assert_eq!(log.sink_mut().len() as u64, before);
}
