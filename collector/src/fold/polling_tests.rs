//! Gaps worked out by hand, in nanoseconds.

use super::*;
use crate::record::NONE;
use crate::record::heads::log_header::ClockSource;
use crate::spinning::encode_gaps;

const LENGTHS: PollGapLimits =
    PollGapLimits { short: SHORT_NS, waiting: WAITING_NS, long: LONG_NS, lost_core: LOST_CORE_NS };

fn call(operation: Operation, begin: u64, end: u64) -> Record {
    Record { end, ..Record::new(operation, begin) }
}

fn nothing(begin: u64, end: u64) -> Record {
    let record = call(Operation::Test, begin, end);
    Record { flags: record.flags | CallFlags::NOTHING, request: 7, ..record }
}

/// `polls` of them as one record, in which gaps of `medium` ns together are not short.
fn folded(polls: u32, (begin, end): (u64, u64), within: u64, medium: u64) -> Record {
    let gaps = PollGaps::default().and(medium, SHORT_NS);
    Record { sent: within, received: gaps.0, count: polls - 1, ..nothing(begin, end) }
}

fn decide_as(polling: PollGapRule, records: &[Record]) -> (Vec<Record>, PollSums) {
    let mut polls = PollGapClassifier::new(polling, LENGTHS, 0);
    let mut records = records.to_vec();
    for record in &mut records {
        polls.next(record);
    }
    (records, polls.take_sums())
}

fn decide(records: &[Record]) -> (Vec<Record>, PollSums) {
    decide_as(PollGapRule::Auto, records)
}

fn times(records: &[Record]) -> Vec<(u64, u64, bool)> {
    records.iter().map(|one| (one.begin, one.end, one.flags.contains(CallFlags::POLLED))).collect()
}

#[test]
fn a_wait_by_polling_lasts_from_its_first_poll_to_the_success() {
    // |Test 0 … 9000: 30 polls of 100 ns, gaps of 6 µs together |..300..|Test ok|
    let polls = folded(30, (1_000, 10_000), 3_000, 0);
    let (records, sums) = decide(&[polls, call(Operation::Test, 10_300, 10_500)]);
    assert_eq!(times(&records), [(1_000, 10_000, false), (10_000, 10_500, true)]);
    assert_eq!((records[0].sent, records[0].received), (0, 0), "they are no bytes");
    let expected = PollSums { polls: 30, waits: 1, within: 3_000, waiting: 6_300, ..PollSums::default() };
    assert_eq!(sums, expected);
}

#[test]
fn long_gaps_are_computation_that_overlaps() {
    // Polls for progress every 200 µs, the last of which finds the message: no time is moved.
    let polls = [nothing(0, 300), nothing(200_300, 200_600), call(Operation::Test, 400_600, 400_900)];
    let (records, sums) = decide(&polls);
    assert_eq!(records, polls);
    assert_eq!(sums, PollSums { polls: 2, within: 600, computation: 400_000, ..PollSums::default() });
}

#[test]
fn gaps_that_may_be_the_one_or_the_other_are_in_doubt() {
    // 12 µs: waiting, it seems. 60 µs: computation, it seems.
    let polls = [nothing(0, 100), nothing(12_100, 12_200), nothing(72_200, 72_300)];
    let (records, sums) = decide(&polls);
    assert_eq!(times(&records), [(0, 100, false), (100, 12_200, true), (72_200, 72_300, false)]);
    assert_eq!((sums.waiting, sums.maybe_computation), (12_000, 12_000));
    assert_eq!((sums.computation, sums.maybe_waiting), (60_000, 60_000));
    // Of gaps that were folded the recorder says how many are not short.
    let (_, sums) = decide(&[folded(100, (0, 100_000), 20_000, 15_000)]);
    assert_eq!((sums.waiting, sums.maybe_computation), (80_000, 15_000));
}

#[test]
fn a_core_lost_amid_a_wait_is_part_of_the_wait() {
    let spins = folded(60, (0, 30_000), 6_000, 0);
    let (records, sums) = decide(&[spins, nothing(4_030_000, 4_030_100), call(Operation::Test, 4_030_200, 4_030_300)]);
    assert_eq!(
        times(&records),
        [(0, 30_000, false), (30_000, 4_030_100, true), (4_030_100, 4_030_300, true)],
        "a gap of 4 ms after 60 polls"
    );
    assert_eq!((sums.waits, sums.maybe_computation), (1, 4_000_000));
    // After a few polls it is work, and after many it is no loss of the core where it is longer than that can be.
    for (polls, gap) in [(10, 4_000_000), (60, 30_000_000)] {
        let (records, _) = decide(&[folded(polls, (0, 30_000), 6_000, 0), nothing(30_000 + gap, 30_100 + gap)]);
        assert_eq!(times(&records)[1], (30_000 + gap, 30_100 + gap, false));
    }
}

#[test]
fn interrupts_close_together_are_part_of_the_wait() {
    // Interrupts of 30 µs with 20 polls between, after 100: each takes 50 polls.
    let interrupted = |polls| {
        let again = folded(20, (70_000, 110_000), 2_000, 0);
        decide(&[folded(polls, (0, 40_000), 4_000, 0), again, nothing(140_000, 140_100)])
    };
    let (records, sums) = interrupted(100);
    assert_eq!(times(&records), [(0, 40_000, false), (40_000, 110_000, true), (110_000, 140_100, true)]);
    assert_eq!((sums.waits, sums.maybe_computation, sums.computation), (1, 60_000, 0));
    // 60 and 20 are not enough for two, and of a million no more count than for two.
    assert_eq!(times(&interrupted(60).0)[1..], [(40_000, 110_000, true), (140_000, 140_100, false)]);
    let mut many = vec![folded(1_000_000, (0, 40_000), 4_000, 0)];
    many.extend((0..6).map(|k| nothing(70_000 + 30_100 * k, 70_100 + 30_100 * k)));
    let goes_on: Vec<bool> = times(&decide(&many).0).iter().map(|time| time.2).collect();
    assert_eq!(goes_on, [false, true, true, false, false, false, false]);
}

#[test]
fn the_call_behind_the_polls_goes_on_with_the_wait_if_it_waits_itself() {
    for (operation, goes_on) in [
        (Operation::Wait, true),
        (Operation::Waitall, true),
        (Operation::Recv, true),
        (Operation::Iprobe, true),
        (Operation::Win_wait, true),
        (Operation::Send, false),
        (Operation::Barrier, false),
    ] {
        let (records, _) = decide(&[nothing(0, 100), call(operation, 400, 9_000)]);
        let begin = if goes_on { 100 } else { 400 };
        assert_eq!(times(&records)[1], (begin, 9_000, goes_on), "{operation:?}");
    }
    // But not after a while in which there is work.
    let (records, _) = decide(&[nothing(0, 100), call(Operation::Wait, 50_000, 90_000)]);
    assert_eq!(times(&records)[1], (50_000, 90_000, false));
}

#[test]
fn a_full_ring_amid_a_wait_does_not_end_it_and_other_calls_and_markers_do() {
    let behind =
        |between: Record| times(&decide(&[nothing(0, 100), between, call(Operation::Test, 1_500, 1_600)]).0)[2];
    assert_eq!(behind(call(Operation::Flush, 200, 1_000)), (1_000, 1_600, true));
    assert_eq!(behind(call(Operation::Isend, 200, 1_000)), (1_500, 1_600, false));
    assert_eq!(behind(Record::new(Operation::RegionEnter, 200)), (1_500, 1_600, false));
}

fn idle(begin: u64, end: u64) -> Record {
    let record = call(Operation::Wait, begin, end);
    Record { flags: record.flags | CallFlags::NOTHING | CallFlags::INACTIVE, ..record }
}

#[test]
fn completions_of_nothing_active_go_on_with_a_wait_and_do_not_begin_one() {
    let success = call(Operation::Test, 600, 700);
    let (records, sums) = decide(&[nothing(0, 100), idle(150, 200), nothing(300, 400), idle(450, 500), success]);
    let expected = [(0, 100, false), (100, 200, true), (200, 400, true), (400, 500, true), (500, 700, true)];
    assert_eq!(times(&records), expected);
    assert_eq!((sums.polls, sums.waits, sums.within), (2, 1, 200));
    // Those that the recorder folded have no time.
    let folded_idle = Record { count: 2, ..idle(1_000, 1_000) };
    let (records, sums) = decide(&[folded(3, (0, 1_000), 700, 0), folded_idle, call(Operation::Test, 1_100, 1_200)]);
    assert_eq!(times(&records), [(0, 1_000, false), (1_000, 1_000, true), (1_000, 1_200, true)]);
    assert_eq!((sums.polls, sums.waits, sums.waiting), (3, 1, 400));
    // After work, the receive after such a call goes on with nothing.
    let (records, _) = decide(&[nothing(0, 100), idle(50_100, 50_200), call(Operation::Recv, 50_300, 60_000)]);
    assert_eq!(times(&records)[1..], [(50_100, 50_200, false), (50_300, 60_000, false)]);
    // A core may be lost before it as before a poll.
    let (records, _) =
        decide(&[folded(60, (0, 30_000), 6_000, 0), idle(4_030_000, 4_030_100), nothing(4_030_200, 4_030_300)]);
    assert_eq!(times(&records)[1..], [(30_000, 4_030_100, true), (4_030_100, 4_030_300, true)]);
}

fn test_at(begin: u64) -> Record {
    Record { call_site: 5, ..call(Operation::Testall, begin, begin + 100) }
}

/// Polls with a gap of 1 ms before each but the first, from call site 5, and the one that succeeds.
fn sleeping_polls() -> [Record; 3] {
    let poll = |begin| Record { call_site: 5, ..nothing(begin, begin + 100) };
    [poll(0), poll(1_000_100), test_at(2_000_200)]
}

#[test]
fn the_use_of_long_gaps_decides_them_where_it_is_known() {
    let decide = |gap_use, polling| {
        let mut polls = PollGapClassifier::new(polling, LENGTHS, 0).with_gap_use(Some(gap_use));
        let mut records = sleeping_polls();
        for record in &mut records {
            polls.next(record);
        }
        (times(&records), polls.take_sums())
    };
    let (asleep, sums) = decide(GapUse::Asleep, PollGapRule::Auto);
    assert_eq!(asleep, [(0, 100, false), (100, 1_000_200, true), (1_000_200, 2_000_300, true)]);
    assert_eq!((sums.waits, sums.waiting, sums.maybe_computation), (1, 2_000_000, 0));
    let (computing, sums) = decide(GapUse::Computing, PollGapRule::Auto);
    assert_eq!(computing, times(&sleeping_polls()));
    assert_eq!((sums.computation, sums.maybe_waiting), (2_000_000, 0));
    let (_, sums) = decide(GapUse::Unclear, PollGapRule::Auto);
    assert_eq!((sums.computation, sums.maybe_waiting), (2_000_000, 2_000_000));
    let (_, sums) = decide(GapUse::Asleep, PollGapRule::Computation);
    assert_eq!((sums.computation, sums.maybe_waiting), (2_000_000, 0));
}

/// The sums of the long gaps between records, of which there are samples of 5 µs at some times.
fn long_gaps(records: &[Record], samples: impl IntoIterator<Item = u64>) -> GapSums {
    let mut polls = PollGapClassifier::new(PollGapRule::Auto, LENGTHS, 0);
    polls.add_samples(samples.into_iter().map(|ticks| CpuSample { ticks, weight_ns: 5_000 }));
    for mut record in records.iter().copied() {
        polls.next(&mut record);
    }
    polls.take_gaps()
}

#[test]
fn long_gaps_have_the_samples_in_them_and_succeed_with_the_poll_that_ends_them() {
    let polls = sleeping_polls();
    // Samples in calls, before the polls and after them are left out.
    let sums = long_gaps(&polls, [50, 500_000, 700_000, 1_000_150, 2_500_000]);
    assert_eq!(sums, GapSums { ticks: 2_000_000, sampled_ns: 10_000, succeeded: 2_000_000 });
    for end in [call(Operation::Wait, 2_000_200, 2_000_300), call(Operation::Isend, 2_000_200, 2_000_300)] {
        assert_eq!(long_gaps(&[polls[0], polls[1], end], []).succeeded, 0);
    }
    assert_eq!(long_gaps(&[nothing(0, 100), test_at(12_100)], []), GapSums::default(), "12 µs are no long gap");
    let spins = folded(60, (0, 30_000), 6_000, 0);
    assert_eq!(long_gaps(&[spins, test_at(4_030_000)], []), GapSums::default(), "nor is an interruption");
}

#[test]
fn polls_that_go_on_without_a_request_take_the_success_back() {
    let polls = sleeping_polls();
    let completed = |begin| Record { end: begin, ..call(Operation::Completed, begin, begin) };
    let idle_at = |call_site| Record { call_site, ..idle(3_000_000, 3_000_100) };
    let succeeded = |more: &[Record]| long_gaps(&[&polls[..], more].concat(), []).succeeded;
    assert_eq!(succeeded(&[completed(2_000_300), idle_at(5)]), 0);
    assert_eq!(succeeded(&[completed(2_000_300), idle_at(6)]), 2_000_000, "it is another call");
    let send = call(Operation::Send, 2_000_400, 2_000_500);
    assert_eq!(succeeded(&[send, idle_at(5)]), 2_000_000, "another call lies between");
}

/// Calls on a window at call sites of their own, again and again, each of 100 ns, with a gap after it.
fn repeated(operations: &[Operation], times: u64, gap: u64) -> Vec<Record> {
    let n = operations.len() as u64;
    let nth = |k: u64| {
        let begin = (100 + gap) * k;
        let at = k % n;
        Record { call_site: at, tag: 1, peer: 0, ..call(operations[at as usize], begin, begin + 100) }
    };
    (0..n * times).map(nth).collect()
}

#[test]
fn calls_on_a_window_that_are_repeated_with_short_gaps_are_a_wait() {
    let waiting = |operations: &[Operation], gap| decide(&repeated(operations, 20, gap)).1;
    // They are polls from their eighth repetition on: of 20 calls 12, and 11 gaps lie between these.
    let sums = waiting(&[Operation::Win_sync], 1_000);
    assert_eq!((sums.polls, sums.waits, sums.waiting, sums.within), (12, 1, 11_000, 1_200));
    let sums = waiting(&[Operation::Fetch_and_op, Operation::Win_flush], 1_000);
    assert_eq!((sums.waits, sums.waiting, sums.maybe_waiting), (1, 30_000, 0));
    let (records, _) = decide(&repeated(&[Operation::Fetch_and_op, Operation::Win_flush], 20, 1_000));
    assert!(records.iter().all(|record| (record.sent, record.received) == (0, 0)));
    // With work on what was read they are no wait; of 5 to 20 µs it is in doubt.
    let sums = waiting(&[Operation::Fetch_and_op, Operation::Win_flush], 10_000);
    assert_eq!((sums.waits, sums.computation, sums.maybe_waiting), (0, 300_000, 300_000));
    let sums = waiting(&[Operation::Fetch_and_op, Operation::Win_flush], 50_000);
    assert_eq!((sums.waits, sums.maybe_waiting), (0, 0));
}

#[test]
fn calls_on_a_window_that_were_folded_are_what_they_were_before() {
    let turn = [Operation::Fetch_and_op, Operation::Win_flush];
    let records: Vec<Record> =
        repeated(&turn, 40, 1_024).into_iter().map(|record| Record { sent: 8, ..record }).collect();
    let end = records[79].end;
    // The recorder folds all but the first 18: the last one that it keeps has the time of all, and the gaps up to the last.
    let mut folded = records[..18].to_vec();
    let gaps = encode_gaps(62 * 1_024);
    (folded[16].count, folded[16].sent) = (31, 32 * 8);
    folded[17] = Record { count: 31, sent: 32 * 8, end, request: gaps, ..folded[17] };
    for polling in PollGapRule::ALL {
        let (before, after) = (decide_as(polling, &records), decide_as(polling, &folded));
        assert_eq!(after.1, before.1, "{polling}");
        let bytes = |records: &[Record]| records.iter().map(|record| record.sent).sum::<u64>();
        assert_eq!(bytes(&after.0), bytes(&before.0), "{polling}");
        assert!(after.0.iter().all(|record| record.request == NONE));
    }
    // Also where those before it are lost, it is a wait.
    let (_, sums) = decide(&folded[17..]);
    assert_eq!((sums.polls, sums.waits, sums.waiting), (32, 1, 62 * 1_024));
}

#[test]
fn work_after_a_spin_is_no_wait() {
    // 100 calls with 1 µs between, then work of 5 ms, three times, without any other call.
    let round = |k: u64| {
        repeated(&[Operation::Win_sync], 100, 1_000).into_iter().map(move |record| Record {
            begin: record.begin + 5_110_000 * k,
            end: record.end + 5_110_000 * k,
            ..record
        })
    };
    let (_, sums) = decide(&(0..3).flat_map(round).collect::<Vec<_>>());
    assert_eq!(sums.waiting, (91 + 99 + 99) * 1_000);
    assert_eq!(sums.computation, 2 * 5_001_000);
}

#[test]
fn the_user_may_say_what_it_is() {
    let polls = [folded(10, (0, 10_000), 1_000, 0), nothing(500_000, 500_100), call(Operation::Wait, 500_300, 600_000)];
    let (records, sums) = decide_as(PollGapRule::Waiting, &polls);
    assert_eq!(times(&records), [(0, 10_000, false), (10_000, 500_100, true), (500_100, 600_000, true)]);
    assert_eq!((sums.waiting, sums.maybe_computation), (9_000 + 490_000 + 200, 0), "then nothing is in doubt");
    let (records, sums) = decide_as(PollGapRule::Computation, &polls);
    assert_eq!(times(&records), [(0, 1_000, false), (500_000, 500_100, false), (500_300, 600_000, false)]);
    assert_eq!((sums.within, sums.waiting, sums.maybe_waiting), (1_100, 0, 0));
}

#[test]
fn lengths_are_in_ticks_of_the_clock() {
    let header = LogHeader { n_ranks: 1, clock: ClockSource::Monotonic, ..LogHeader::default() };
    assert_eq!(PollGapLimits::from_header(&header), LENGTHS);
}

#[test]
fn hostile_records_are_no_harm() {
    let all = [
        folded(u32::MAX, (u64::MAX - 5, u64::MAX), u64::MAX, u64::MAX >> 16),
        nothing(3, 1),
        call(Operation::Test, 0, 0),
        nothing(u64::MAX, u64::MAX),
    ];
    for polling in [PollGapRule::Auto, PollGapRule::Waiting, PollGapRule::Computation] {
        decide_as(polling, &[all, all].concat());
    }
}
