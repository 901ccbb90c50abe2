//! Folds worked by hand, and that a fold does not depend on how its records are cut into batches.

mod support;

use std::collections::BTreeMap;

use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::{BatchHead, MAX_OPEN_REGIONS, OpenRegion};
use lbprof_collector::joined::{JOINED, JOINED_COMPLETED, take_apart};
use lbprof_collector::polling::{PollGapClassifier, PollGapLimits, PollGapRule};
use lbprof_collector::profile::{CallSiteKey, CellKey, ProfileBatch, ProfileCell, RegionInvocation, ThreadProfile};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::walk::RecordWalk;
use lbprof_collector::{Activity, Operation};
use lbprof_simulator::scenario;
use proptest::prelude::*;
use support::records;

fn send(begin: u64, end: u64) -> Record {
    Record { end, call_site: 7, sent: 100, ..Record::new(Operation::Send, begin) }
}

fn enter(at: u64, region: u32, iteration: u32) -> Record {
    Record { request: region, count: iteration, ..Record::new(Operation::RegionEnter, at) }
}

fn leave(at: u64, region: u32, iteration: u32) -> Record {
    Record { request: region, count: iteration, ..Record::new(Operation::RegionLeave, at) }
}

fn marker(operation: Operation, at: u64) -> Record {
    Record::new(operation, at)
}

fn fold(records: &[Record]) -> ThreadProfile {
    let mut fold = ProfileFold::new(BatchHead::default());
    fold.records(records, |record| record.call_site);
    fold.take().profile
}

fn time(profile: &ThreadProfile, region: u32, iteration: u32, activity: Activity) -> (u64, u64) {
    let key = CellKey { region, iteration, activity: activity as u8 };
    profile.cells.iter().find(|(k, _)| *k == key).map_or((0, 0), |(_, cell)| (cell.ticks, cell.calls))
}

fn site(profile: &ThreadProfile, operation: Operation, activity: Activity) -> ProfileCell {
    let key = CallSiteKey { region: 0, call_site: 7, operation: operation as u16, activity: activity as u8 };
    profile.sites.iter().find(|(k, _)| *k == key).map_or(ProfileCell::default(), |(_, cell)| *cell)
}

use Activity::{Computation, PointToPoint};

#[test]
fn a_region_that_ends_ends_those_left_open_in_it_and_one_not_open_ends_nothing() {
    let profile = fold(&[enter(0, 1, NONE), enter(10, 2, 5), leave(15, 9, NONE), leave(30, 1, NONE), send(40, 41)]);
    let totals: Vec<_> = profile.regions.iter().map(|(id, t)| (*id, t.inclusive)).collect();
    assert_eq!(totals, [(1, 30), (2, 20)]);
    assert_eq!(profile.iterations, [RegionInvocation { region: 2, iteration: 5, outer: NONE, begin: 10, end: 30 }]);
    assert_eq!(time(&profile, 0, NONE, Computation).0, 10);
}

#[test]
fn a_call_without_an_end_lasts_until_the_next_record() {
    // send 10 .. never | next call at 40: the 30 ticks are the send's, none of them computation
    let unfinished = Record { end: 0, ..send(10, 0) };
    let profile = fold(&[unfinished, send(40, 45)]);
    assert_eq!(time(&profile, 0, NONE, Computation).0, 10);
    assert_eq!(time(&profile, 0, NONE, PointToPoint), (35, 2));
    assert_eq!(site(&profile, Operation::Send, PointToPoint).ticks, 35);
    assert_eq!((profile.unfinished, profile.backwards), (1, 0));
    // One whose end the recorder mended keeps it.
    let mended = Record { flags: CallFlags::UNFINISHED | CallFlags::from_activity(PointToPoint), ..send(10, 30) };
    let profile = fold(&[mended, send(40, 45)]);
    assert_eq!(time(&profile, 0, NONE, Computation).0, 20);
    assert_eq!(profile.unfinished, 1);
}

#[test]
fn time_stamps_that_go_backwards_count_as_zero_time_and_are_counted() {
    // The second call claims 15..22 while time is at 20 already; the third ends before it begins.
    let profile = fold(&[send(10, 20), send(15, 22), send(30, 25), send(50, 60)]);
    assert_eq!(profile.backwards, 2);
    assert_eq!(time(&profile, 0, NONE, PointToPoint).0, 10 + 2 + 10, "the third has none");
    assert_eq!(time(&profile, 0, NONE, Computation).0, 10 + 8 + 20);
}

#[test]
fn parts_add_their_bytes_to_their_call_and_no_time() {
    let waitall = Record { end: 50, call_site: 7, count: 2, ..Record::new(Operation::Waitall, 10) };
    let part = |received| Record { received, call_site: 7, sent: 9, ..Record::new(Operation::Completed, 50) };
    let profile = fold(&[waitall, part(300), part(40), send(60, 61)]);
    // What the completed sends sent was counted when they started, so only 340 received bytes count here.
    assert_eq!(
        site(&profile, Operation::Waitall, PointToPoint),
        ProfileCell { ticks: 40, calls: 1, sent: 0, received: 340 }
    );
    assert_eq!(site(&profile, Operation::Completed, PointToPoint), ProfileCell::default());
    assert_eq!(time(&profile, 0, NONE, PointToPoint), (41, 2));
    assert_eq!(profile.calls, 2);
}

#[test]
fn each_message_counts_once() {
    let isend = Record { request: 0, sent: 80, ..Record::new(Operation::Isend, 10) };
    let wait = Record { request: 0, sent: 80, ..Record::new(Operation::Wait, 20) };
    let prepared = Record { request: 1, sent: 80, ..Record::new(Operation::Send_init, 30) };
    let start = Record { request: 2, sent: 80, ..Record::new(Operation::Start, 40) };
    let profile = fold(&[isend, wait, prepared, start]);
    let sent: u64 = profile.cells.iter().map(|(_, cell)| cell.sent).sum();
    assert_eq!(sent, 80 + 80, "of the Isend and the Start");
}

#[test]
fn polls_that_were_folded_into_one_record_count_each() {
    let polls = Record { end: 20, count: 99, ..Record::new(Operation::Test, 10) };
    let polls = Record { flags: polls.flags | CallFlags::NOTHING, ..polls };
    let profile = fold(&[polls]);
    assert_eq!(time(&profile, 0, NONE, PointToPoint), (10, 100));
    assert_eq!(profile.calls, 100);
}

#[test]
fn work_counters_and_memory_are_summed_by_region() {
    let with =
        |operation, request, sent: u64, received: u64| Record { request, sent, received, ..marker(operation, 5) };
    let work = |operations: f64, quanta: f64| with(Operation::Work, 1, operations.to_bits(), quanta.to_bits());
    let count = |value: f64| with(Operation::Counter, 4, value.to_bits(), 0);
    let profile = fold(&[
        enter(5, 1, NONE),
        work(10.0, 1.0),
        work(20.0, 2.0),
        count(3.0),
        count(-1.0),
        leave(5, 1, NONE),
        with(Operation::Memory, 1, 1 << 20, 0),
        with(Operation::Memory, 1, 1 << 10, 77),
    ]);
    let (id, totals) = profile.regions[0];
    assert_eq!((id, totals.operations, totals.quanta), (1, 30.0, 3.0));
    assert_eq!((totals.max_resident, totals.max_swapped), (1 << 20, 77));
    let ((region, counter), totals) = profile.counters[0];
    assert_eq!((region, counter), (1, 4));
    assert_eq!((totals.n, totals.sum, totals.min, totals.max), (2, 2.0, -1.0, 3.0));
}

#[test]
fn calls_from_one_place_in_two_regions_are_two_entries() {
    let profile = fold(&[send(1, 2), enter(3, 1, NONE), send(4, 8), leave(9, 1, NONE), send(10, 11)]);
    let ticks: Vec<_> = profile.sites.iter().map(|(key, cell)| (key.region, cell.ticks, cell.calls)).collect();
    assert_eq!(ticks, [(0, 2, 2), (1, 4, 1)]);
}

#[test]
fn a_fold_that_begins_in_the_middle_knows_its_regions_and_goes_on_after_a_gap() {
    let open = vec![OpenRegion { region: 1, iteration: 3 }, OpenRegion { region: 2, iteration: NONE }];
    let head = BatchHead { first: 50, previous_end: 1000, open, ..BatchHead::default() };
    let mut fold = ProfileFold::new(head.clone());
    assert_eq!(fold.head(), head);
    fold.records(&[leave(1010, 2, NONE)], |_| 0);
    let after = BatchHead { first: 90, previous_end: 5000, open: head.open[..1].to_vec(), ..BatchHead::default() };
    fold.skip_to(&after);
    fold.records(&[leave(5007, 1, 3)], |_| 0);
    let batch = fold.take();
    assert_eq!((batch.head, batch.next.first), (head, 91));
    assert_eq!(time(&batch.profile, 2, 3, Computation).0, 10);
    assert_eq!(time(&batch.profile, 1, 3, Computation).0, 7, "the gap belongs to nothing");
    assert_eq!(
        batch.profile.iterations,
        [RegionInvocation { region: 1, iteration: 3, outer: NONE, begin: 1000, end: 5007 }]
    );
}

#[test]
fn no_more_regions_open_than_a_recorder_opens() {
    let deep: Vec<Record> = (0..200).map(|region| enter(1000, region, NONE)).collect();
    let mut head = BatchHead { previous_end: 500, ..BatchHead::default() };
    let mut fold = ProfileFold::new(head.clone());
    fold.records(&deep, |_| 0);
    head.advance(&deep);
    assert_eq!(head.open.len(), MAX_OPEN_REGIONS);
    assert_eq!(fold.head(), head);
}

fn apart_records(most: usize) -> impl Strategy<Value = Vec<Record>> {
    records(most).prop_map(|mut records| {
        take_apart(&mut records);
        records
    })
}

/// Records whose floating-point values are whole numbers, so that their sums do not depend on their order.
fn whole_numbers() -> impl Strategy<Value = Vec<Record>> {
    apart_records(200).prop_map(|mut records| {
        for record in &mut records {
            if record.operation == Operation::Work as u16 || record.operation == Operation::Counter as u16 {
                record.sent = f64::from(record.sent as u16).to_bits();
                record.received = f64::from(record.received as u16).to_bits();
            }
        }
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_does_not_depend_on_the_batches(records in whole_numbers(), cuts in prop::collection::vec(0usize..200, 0..6)) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(records.len())).chain([0, records.len()]).collect();
        cuts.sort_unstable();
        let parts = || cuts.windows(2).map(|pair| &records[pair[0]..pair[1]]);

        let mut at_once = ProfileFold::new(BatchHead::default());
        at_once.records(&records, |record| record.call_site);
        let at_once = at_once.take();

        let mut in_parts = ProfileFold::new(BatchHead::default());
        parts().for_each(|part| in_parts.records(part, |record| record.call_site));
        prop_assert_eq!(&in_parts.take(), &at_once, "records in parts");

        // What the recorder takes at each flush, put together in each of the three ways.
        let mut recorder = ProfileFold::new(BatchHead::default());
        let taken: Vec<ProfileBatch> = parts().map(|part| {
            recorder.records(part, |record| record.call_site);
            recorder.take()
        }).collect();
        let mut absorbing = ProfileFold::new(BatchHead::default());
        taken.iter().for_each(|batch| absorbing.absorb(batch));
        prop_assert_eq!(&absorbing.take(), &at_once, "absorbed");

        let left = taken.iter().map(|batch| batch.profile.clone()).fold(ThreadProfile::default(), ThreadProfile::merge);
        let right = taken.iter().rev().map(|batch| batch.profile.clone()).fold(ThreadProfile::default(), |sum, part| part.merge(sum));
        prop_assert_eq!(&left, &at_once.profile, "merged from the left");
        prop_assert_eq!(&right, &at_once.profile, "merged from the right");
    }

    #[test]
    fn a_head_advances_as_a_fold_does(records in whole_numbers(), paused in any::<bool>()) {
        let mut head = BatchHead { paused, previous_end: 500, ..BatchHead::default() };
        let mut fold = ProfileFold::new(head.clone());
        fold.records(&records, |_| 0);
        head.advance(&records);
        prop_assert_eq!(fold.head(), head);
    }

    #[test]
    fn all_time_of_any_records_counts_once(records in records(200)) {
        let mut fold = ProfileFold::new(BatchHead::default());
        fold.records(&records, |record| record.call_site);
        let batch = fold.take();
        let total: u128 = batch.profile.cells.iter().map(|(_, cell)| u128::from(cell.ticks)).sum();
        prop_assert_eq!(total + u128::from(batch.profile.paused), u128::from(batch.next.previous_end));
    }
}

/// Ticks by region, iteration and activity; of no activity while paused, wherever.
type Times = BTreeMap<(u32, u32, Option<Activity>), u64>;

fn walked(records: &[Record]) -> (Times, BatchHead) {
    let mut walk = RecordWalk::new(&BatchHead::default());
    let mut times = Times::new();
    for record in records {
        let (region, iteration) = walk.open.place_of_time();
        let reached = walk.step(record);
        for (activity, ticks) in
            [(reached.state.activity(), reached.before()), (Some(record.activity()), reached.own_ticks())]
        {
            let place = if activity.is_some() { (region, iteration) } else { (0, NONE) };
            *times.entry((place.0, place.1, activity)).or_default() += ticks;
        }
    }
    walk.next += records.len() as u64;
    times.retain(|_, ticks| *ticks > 0);
    (times, walk.head())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_has_the_intervals_of_the_walk(records in apart_records(200)) {
        let (walked, head) = walked(&records);
        prop_assert_eq!(walked.values().map(|&ticks| u128::from(ticks)).sum::<u128>(), u128::from(head.previous_end));
        let mut fold = ProfileFold::new(BatchHead::default());
        fold.records(&records, |record| record.call_site);
        let batch = fold.take();
        prop_assert_eq!(&batch.next, &head);
        let mut folded = Times::new();
        for (key, cell) in &batch.profile.cells {
            let activity = Activity::ALL[usize::from(key.activity)];
            folded.insert((key.region, key.iteration, Some(activity)), cell.ticks);
        }
        folded.insert((0, NONE, None), batch.profile.paused);
        folded.retain(|_, ticks| *ticks > 0);
        prop_assert_eq!(folded, walked);
    }
}

/// Calls in the order of time as a recorder leaves them in a ring: with parts in their records and after them, now and then of another activity,
/// left without an end, or at odd times.
fn joined_records() -> impl Strategy<Value = Vec<Record>> {
    let kind = (0usize..7, 0u64..3, prop_oneof![9 => Just(0u16), 1 => any::<u16>()]);
    let kinds = prop::collection::vec(kind, 1..6);
    let choice = (any::<prop::sample::Index>(), 0u64..4, 0u64..1_000, 0u8..40, any::<u32>());
    (kinds, prop::collection::vec(choice, 0..200)).prop_map(|(kinds, choices)| {
        let mut now = 1_000;
        let record = |(index, gap, duration, odd, value): (prop::sample::Index, u64, u64, u8, u32)| {
            let (kind, call_site, flags) = *index.get(&kinds);
            let operation = match kind {
                0 => Operation::Barrier as u16,
                1 => Operation::Waitall as u16,
                2 => Operation::Sendrecv as u16 | JOINED,
                3 => Operation::Waitall as u16 | JOINED_COMPLETED,
                4 => Operation::Testall as u16 | JOINED_COMPLETED,
                5 => Operation::Completed as u16,
                _ => Operation::RegionEnter as u16,
            };
            let begin = now + if kind == 5 { 0 } else { gap };
            let end = begin + if kind == 5 { 0 } else { duration };
            let activity = if kind == 2 { Activity::PointToPoint } else { Activity::Collective };
            let mut record = Record {
                end,
                call_site,
                operation,
                sent: u64::from(value),
                received: u64::from(value >> 3),
                flags: CallFlags(flags & !7).with_activity(activity),
                ..Record::new(Operation::Barrier, begin)
            };
            match odd {
                0 if operation < JOINED => record.end = 0,
                1 => record.begin = record.begin.saturating_sub(500),
                2 if kind != 2 => record.flags = record.flags.with_activity(Activity::PointToPoint),
                3 => record.flags |= CallFlags::UNFINISHED,
                _ => {}
            }
            now = end;
            record
        };
        choices.into_iter().map(record).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_and_its_part_in_one_record_fold_as_two(joined in joined_records(), decides in any::<bool>()) {
        let folded = |records: &[Record]| {
            let mut fold = ProfileFold::new(BatchHead::default());
            if decides {
                let lengths = PollGapLimits::from_header(&scenario::header(0, 1));
                fold = fold.deciding(PollGapClassifier::new(PollGapRule::Auto, lengths, 0));
            }
            records.chunks(50).for_each(|records| fold.records(records, |record| record.call_site));
            fold.take()
        };
        let mut apart = joined.clone();
        take_apart(&mut apart);
        prop_assert_eq!(folded(&joined), folded(&apart));
    }
}
