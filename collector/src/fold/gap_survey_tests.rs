//! Gaps and samples worked out by hand, in nanoseconds.

use super::*;
use crate::gap_use::{CpuEvidence, GapUse, GapUses};
use crate::record::CallFlags;

const MS: u64 = 1_000_000;

/// A call from a call site.
fn call(operation: Operation, call_site: u64, begin: u64) -> Record {
    Record { end: begin + 100, call_site, ..Record::new(operation, begin) }
}

/// A poll from a call site that finds nothing.
fn poll(call_site: u64, begin: u64) -> Record {
    let record = call(Operation::Iprobe, call_site, begin);
    Record { flags: record.flags | CallFlags::NOTHING, ..record }
}

/// A sample every 5 ms of CPU time, from one instant to another.
fn samples(begin: u64, end: u64) -> Vec<CpuSample> {
    let ticks = (begin..end).step_by(5 * MS as usize);
    ticks.map(|ticks| CpuSample { ticks, weight_ns: 5 * MS }).collect()
}

fn survey(records: &[Record], samples: &[CpuSample]) -> BTreeMap<PolledSite, GapSums> {
    let mut survey =
        GapSurvey::new(SurveyedLengths { shortest: 20_000, shortest_after_spin: 100_000, lost_core: 20 * MS });
    survey.add_samples(samples.iter().copied(), 0);
    survey.add(records);
    let mut by_site: BTreeMap<PolledSite, GapSums> = BTreeMap::new();
    for (place, found) in survey.take_gaps() {
        by_site.entry(place.site).or_default().add(&found.sums);
    }
    by_site
}

const EVIDENCE: CpuEvidence =
    CpuEvidence { tick_ns: 1.0, period_ns: Some(5 * MS), voluntary_switches: Some(1000), cpu_ns: None, idle_ns: None };

/// Ten polls every 10 ms from call site 1, and what ends them.
fn ten_polls(end: Record) -> Vec<Record> {
    (0..10).map(|k| poll(1, 10 * k * MS)).chain([end]).collect()
}

fn judged(records: &[Record], samples: &[CpuSample], evidence: &CpuEvidence) -> Option<GapUse> {
    judged_at(site(1), records, samples, evidence)
}

fn judged_at(site: PolledSite, records: &[Record], samples: &[CpuSample], evidence: &CpuEvidence) -> Option<GapUse> {
    let mut uses = GapUses::default();
    uses.judge(0, &survey(records, samples), evidence);
    uses.get(0, site)
}

/// A call site whose polls are no spin.
fn site(call_site: u64) -> PolledSite {
    PolledSite { call_site, after_spin: false }
}

#[test]
fn sleep_until_the_same_poll_succeeds_is_waiting() {
    let records = ten_polls(call(Operation::Iprobe, 1, 100 * MS));
    let sums = survey(&records, &[]);
    let ticks = 100 * MS - 10 * 100;
    assert_eq!(sums[&site(1)], GapSums { gaps: 10, ticks, sampled_ns: 0, succeeded: ticks });
    assert_eq!(judged(&records, &[], &EVIDENCE), Some(GapUse::Asleep));
}

#[test]
fn sleep_that_another_call_ends_may_stand_for_work() {
    for end in [call(Operation::Wait, 2, 100 * MS), call(Operation::Iprobe, 2, 100 * MS)] {
        assert_eq!(judged(&ten_polls(end), &[], &EVIDENCE), Some(GapUse::Unclear));
    }
}

#[test]
fn polls_that_go_on_without_a_request_may_stand_for_work() {
    let test = |begin| Record { flags: CallFlags::NOTHING, ..call(Operation::Testall, 1, begin) };
    let done = |begin| Record { count: 2, ..call(Operation::Testall, 1, begin) };
    let completed = |begin| Record { end: begin, ..call(Operation::Completed, 1, begin) };
    let without_requests =
        |begin| Record { flags: CallFlags::NOTHING | CallFlags::INACTIVE, ..call(Operation::Testall, 1, begin) };
    // Four parts of 10 ms in a step; what it waits for comes in the second.
    let step = |k: u64, between: &dyn Fn(u64) -> Record, after_ms: u64| {
        let at = |ms| (100 * k + ms) * MS;
        [
            test(at(10)),
            done(at(20)),
            between(at(20) + 10),
            without_requests(at(20 + after_ms)),
            without_requests(at(30 + after_ms)),
            call(Operation::Isend, 2, at(31 + after_ms)),
        ]
    };
    let steps = |between: &dyn Fn(u64) -> Record, ms| (0..20).flat_map(|k| step(k, between, ms)).collect::<Vec<_>>();
    assert_eq!(judged(&steps(&completed, 10), &[], &EVIDENCE), Some(GapUse::Unclear));
    assert_eq!(judged(&steps(&without_requests, 10), &[], &EVIDENCE), Some(GapUse::Unclear));
    // After another call, they say nothing of those before.
    let send = |begin| call(Operation::Send, 3, begin);
    assert_eq!(judged(&steps(&send, 10), &[], &EVIDENCE), Some(GapUse::Asleep));
    // Nor does a call elsewhere that finds no request.
    let wait = |begin| Record { flags: CallFlags::NOTHING | CallFlags::INACTIVE, ..call(Operation::Waitall, 3, begin) };
    let waits = (0..20).flat_map(|k: u64| {
        let at = |ms| (100 * k + ms) * MS;
        [test(at(10)), done(at(20)), wait(at(40)), call(Operation::Isend, 2, at(41))]
    });
    assert_eq!(judged(&waits.collect::<Vec<_>>(), &[], &EVIDENCE), Some(GapUse::Asleep));
    // A loop that waits for one after the other goes on as long as there are requests.
    let one_after_the_other = |k: u64| {
        let at = |ms| (100 * k + ms) * MS;
        [test(at(10)), done(at(20)), completed(at(20) + 10), test(at(30)), done(at(40)), completed(at(40) + 10)]
    };
    let records: Vec<Record> = (0..20).flat_map(one_after_the_other).collect();
    let sums = survey(&records, &[]);
    assert!(sums[&site(1)].succeeded >= sums[&site(1)].ticks * 9 / 10, "{sums:?}");
}

#[test]
fn cpu_time_between_polls_is_computation() {
    let records = ten_polls(call(Operation::Iprobe, 1, 100 * MS));
    assert_eq!(judged(&records, &samples(0, 100 * MS), &EVIDENCE), Some(GapUse::Computing));
    // A third of the time is neither the one nor the other.
    assert_eq!(judged(&records, &samples(0, 30 * MS), &EVIDENCE), Some(GapUse::Unclear));
    // Samples before the polls and after them do not count.
    let later: Vec<Record> =
        records.iter().map(|one| Record { begin: one.begin + MS * 1000, end: one.end + MS * 1000, ..*one }).collect();
    let around = [samples(0, 1000 * MS), samples(1101 * MS, 2000 * MS)].concat();
    assert_eq!(judged(&later, &around, &EVIDENCE), Some(GapUse::Asleep));
}

#[test]
fn short_sleeps_cost_a_good_part_of_the_gaps() {
    // A thousand sleeps of 60 µs, of which the system takes 15 to put the thread to sleep and wake it.
    let polls = (0..1000).map(|k| poll(1, 60_000 * k));
    let records: Vec<Record> = polls.chain([call(Operation::Iprobe, 1, 60 * MS)]).collect();
    let found = samples(0, 15 * MS);
    let of_switches = |switches| {
        let evidence = CpuEvidence { voluntary_switches: Some(switches), ..EVIDENCE };
        judged(&records, &found, &evidence)
    };
    assert_eq!(of_switches(1100), Some(GapUse::Asleep));
    assert_eq!(of_switches(600), Some(GapUse::Unclear), "it sleeps in some of them, and may work in the others");
    assert_eq!(judged(&records, &samples(0, 40 * MS), &EVIDENCE), Some(GapUse::Computing));
}

#[test]
fn a_thread_that_does_not_give_up_its_core_is_preempted() {
    let records = ten_polls(call(Operation::Iprobe, 1, 100 * MS));
    let preempted = CpuEvidence { voluntary_switches: Some(4), ..EVIDENCE };
    assert_eq!(judged(&records, &[], &preempted), Some(GapUse::Computing));
    // It has its share of a core: a thread that is watched for a second without a sample yields to others instead.
    let long = (0..100).map(|k| poll(1, 10 * k * MS)).chain([call(Operation::Iprobe, 1, 1000 * MS)]);
    assert_eq!(judged(&long.collect::<Vec<_>>(), &[], &preempted), Some(GapUse::Asleep));
}

#[test]
fn gaps_too_short_for_samples_are_not_judged() {
    let records: Vec<_> = (0..10).map(|k| poll(1, k * MS)).chain([call(Operation::Iprobe, 1, 10 * MS)]).collect();
    assert_eq!(judged(&records, &[], &EVIDENCE), None);
    // Together with those of other polls they may be long enough.
    let others = (1..20).map(|k| poll(2, 10 * k * MS)).chain([call(Operation::Iprobe, 2, 200 * MS)]);
    let records: Vec<_> = records.into_iter().chain(others).collect();
    assert_eq!(judged(&records, &[], &EVIDENCE), Some(GapUse::Asleep));
    // Nor are brief gaps counted: there the polls themselves say that they wait.
    assert!(survey(&[poll(1, 0), poll(1, 10_000), call(Operation::Iprobe, 1, 20_000)], &[]).is_empty());
}

#[test]
fn several_polls_in_turn_are_one_loop() {
    // Four tags, then a sleep; in the end the second one finds something.
    let round = |k: u64| (1..=4).map(move |site| poll(site, 10 * k * MS + 1000 * site));
    let records: Vec<_> = (0..10).flat_map(round).chain([call(Operation::Iprobe, 2, 100 * MS)]).collect();
    let sums = survey(&records, &[]);
    assert_eq!(sums.keys().copied().collect::<Vec<_>>(), [site(4)]);
    assert_eq!(judged_at(site(4), &records, &[], &EVIDENCE), Some(GapUse::Asleep));
}

#[test]
fn without_samples_the_cpu_time_of_the_run_decides_where_it_can() {
    let records = ten_polls(call(Operation::Iprobe, 1, 100 * MS));
    let of = |cpu_ms, idle_ms| CpuEvidence {
        period_ns: None,
        cpu_ns: Some(cpu_ms * MS),
        idle_ns: Some(idle_ms * MS),
        ..EVIDENCE
    };
    assert_eq!(judged(&records, &[], &of(5, 95)), Some(GapUse::Asleep));
    assert_eq!(judged(&records, &[], &of(300, 5)), Some(GapUse::Computing));
    assert_eq!(judged(&records, &[], &of(300, 100)), Some(GapUse::Unclear));
    assert_eq!(judged(&records, &[], &CpuEvidence { period_ns: None, ..EVIDENCE }), None);
    // A thousand sleeps of 60 µs: what the thread computes in all is less than they last, and no more than sleeping costs.
    let polls = (0..1000).map(|k| poll(1, 60_000 * k));
    let records: Vec<Record> = polls.chain([call(Operation::Iprobe, 1, 60 * MS)]).collect();
    let of_switches = |switches| {
        let evidence = CpuEvidence { voluntary_switches: Some(switches), ..of(40, 300) };
        judged(&records, &[], &evidence)
    };
    assert_eq!(of_switches(3000), Some(GapUse::Asleep));
    assert_eq!(of_switches(600), Some(GapUse::Unclear));
}

#[test]
fn a_spin_with_sleep_in_each_round_waits_and_the_time_after_a_spin_is_work() {
    let sync = |begin| call(Operation::Win_sync, 1, begin);
    let sleeping: Vec<Record> = (0..20).map(|k| sync(10 * k * MS)).collect();
    let ended = [sleeping.clone(), vec![call(Operation::Barrier, 2, 200 * MS)]].concat();
    assert_eq!(judged(&ended, &[], &EVIDENCE), Some(GapUse::Asleep));
    // Work after each 100 calls in a row: too long for others that take the core.
    let rounds = |period: u64| (0..20).flat_map(move |k| (0..100).map(move |n| sync(period * k * MS + 1_000 * n)));
    assert!(survey(&rounds(21).collect::<Vec<_>>(), &[]).is_empty());
    // Shorter, by its samples or because it is slept for.
    let after_spin = PolledSite { call_site: 1, after_spin: true };
    let judged_after = |samples: &[CpuSample], voluntary_switches: u64| {
        let evidence = CpuEvidence { voluntary_switches: Some(voluntary_switches), ..EVIDENCE };
        judged_at(after_spin, &rounds(10).collect::<Vec<_>>(), samples, &evidence)
    };
    assert_eq!(judged_after(&samples(0, 200 * MS), 3), Some(GapUse::Computing));
    assert_eq!(judged_after(&[], 1000), Some(GapUse::Unclear));
    // Others have the core, again and again.
    assert_eq!(judged_after(&[], 3), Some(GapUse::Preempted));
    // Numbers from a counter may be fetched for pieces of work.
    let counter: Vec<Record> = (0..20).map(|k| call(Operation::Fetch_and_op, 1, 10 * k * MS)).collect();
    assert_eq!(judged(&counter, &[], &EVIDENCE), Some(GapUse::Unclear));
}
