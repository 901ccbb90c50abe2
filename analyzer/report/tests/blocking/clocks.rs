//! Clocks that differ.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::model::replayed::replay_results::ReplayCounts;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::Activity;
use lbprof_simulator::script::Script;

use super::run::Run;

/// Chains and collectives, with these clocks.
fn run_with(clocks: &str) -> Run {
    Run::of(&format!(
        "ranks 3\nlatency 0.2\noverhead 0.01\n{clocks}\nrank *: repeat 20; iteration step\n\
         phase work; compute 5+3*(($i+$r)%3); end\n\
         sendrecv to ($r+1)%$n from ($r+$n-1)%$n\n\
         phase more; compute 1+$r; end; allreduce 8; end; end\n"
    ))
}

fn largest_difference(
    a: &BTreeMap<(u32, String, CauseClass), f64>,
    b: &BTreeMap<(u32, String, CauseClass), f64>,
) -> f64 {
    let of = |all: &BTreeMap<_, f64>, key| all.get(key).copied().unwrap_or(0.0);
    a.keys().chain(b.keys()).map(|key| (of(a, key) - of(b, key)).abs()).fold(0.0, f64::max)
}

/// The same of what each rank waits in each state.
fn largest_difference_of_waits(a: &Run, b: &Run) -> f64 {
    let waits_ms = |run: &Run| {
        let mut all: BTreeMap<(u32, WaitState), f64> = BTreeMap::new();
        for (key, sums) in &run.followed().blocking.waits {
            *all.entry((key.thread, key.state)).or_default() += (sums.waiting + sums.delay) as f64 * 1e-6;
        }
        all
    };
    let (a, b) = (waits_ms(a), waits_ms(b));
    let of = |all: &BTreeMap<_, f64>, key| all.get(key).copied().unwrap_or(0.0);
    a.keys().chain(b.keys()).map(|key| (of(&a, key) - of(&b, key)).abs()).fold(0.0, f64::max)
}

fn computation_ms(run: &Run) -> Vec<f64> {
    run.model.inclusive_s(0, Activity::Computation).into_iter().map(|seconds| seconds * 1e3).collect()
}

#[test]
fn clocks_that_are_known_change_nothing() {
    let without = run_with("");
    for clocks in ["clock 1 +300 drift 1e-5\nclock 2 -100 drift -2e-5", "clock 1 +3 drift 5e-5\nclock 2 +5 drift 5e-5"]
    {
        let with = run_with(clocks);
        let counts = with.followed().counts;
        assert_eq!((counts.violations, counts.messages), (0, 60), "{clocks}");
        // Times are rounded to a nanosecond: of 20 iterations that is some tens, of a drift of 5e-5 it would be 20,000.
        assert!(largest_difference(&without.causes(), &with.causes()) < 2e-4, "{clocks}");
        assert!(largest_difference_of_waits(&without, &with) < 2e-4, "{clocks}");
        assert!((with.elapsed_ms() - without.elapsed_ms()).abs() < 1e-5, "{clocks}");
        assert!(
            (with.replay_ms(WhatIfScenario::Ideal) - without.replay_ms(WhatIfScenario::Ideal)).abs() < 2e-4,
            "{clocks}"
        );
        // Sums of ticks are as long as the time between them.
        for (rank, (a, b)) in computation_ms(&with).into_iter().zip(computation_ms(&without)).enumerate() {
            assert!((a - b).abs() < 2e-4, "{clocks}, rank {rank}: {a} instead of {b} ms");
        }
    }
}

#[test]
fn clocks_that_are_known_to_an_error_move_waits_by_no_more() {
    let without = run_with("");
    for (error_ms, clocks) in [
        (0.04, "clock 1 +300 drift 5e-5 error 0.04\nclock 2 -100 drift -2e-5 error -0.03"),
        (0.1, "clock 2 +7 drift -5e-5 error 0.1"),
    ] {
        let with = run_with(clocks);
        assert!((with.model.facts.clock_error_s.unwrap() - error_ms * 1e-3).abs() < 1e-12);
        // Each wait is between two clocks: that of who waits, and that of who is waited for.
        let waits: u64 = without.followed().blocking.waits.values().map(|wait| wait.count).sum();
        let most_ms = waits as f64 * 2.0 * error_ms;
        assert!(largest_difference(&without.causes(), &with.causes()) < most_ms, "{clocks}");
        assert!(largest_difference_of_waits(&without, &with) < most_ms, "{clocks}");
        assert!((with.elapsed_ms() - without.elapsed_ms()).abs() < 2.0 * error_ms, "{clocks}");
    }
}

/// Messages arrive before they are sent, and collectives end before all have entered, by clocks that are off by more than these take.
#[test]
fn whatever_clocks_say_causes_add_up_and_no_wait_is_negative() {
    let mut violations = 0;
    for seed in 0..8 {
        let script = Script::random(seed, 4 + seed as u32 % 20);
        let text = script.text().to_owned();
        let right = Run::of(&text);
        // Up to 3 ms ahead and behind, where messages take 1 ms at most: by turns the log shows it, shows nothing, and is wrong.
        let clocks: Vec<String> = (1..script.n_ranks())
            .map(|rank| {
                let off = ((seed as u32 * 7 + rank * 5) % 13) as f64 * 0.5 - 3.0;
                match (seed as u32 + rank) % 3 {
                    0 => format!("clock {rank} {off:+}"),
                    1 => format!("clock {rank} {off:+} unknown"),
                    _ => format!("clock {rank} 0 drift {}e-5 error {off}", off * 10.0),
                }
            })
            .collect();
        let first = text.find("ranks ").unwrap();
        let behind = first + text[first..].find('\n').unwrap() + 1;
        // `check_invariants` and `Run::check` hold: causes add up to waits, none of which is negative.
        let run = Run::of(&format!("{}{}\n{}", &text[..behind], clocks.join("\n"), &text[behind..]));
        let (found, expected) = (run.followed().counts, right.followed().counts);
        let matched = |counts: ReplayCounts| {
            (counts.messages, counts.collectives, counts.unmatched_receives, counts.unmatched_sends)
        };
        assert_eq!(matched(found), matched(expected), "script {seed}: {clocks:?}");
        let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
        assert!(
            (replayed_ms - run.elapsed_ms()).abs() < 1e-6,
            "script {seed}: {replayed_ms} of {} ms",
            run.elapsed_ms()
        );
        assert_eq!(found.violations > 0, found.largest_violation > 0, "script {seed}: {found:?}");
        violations += found.violations;
    }
    assert!(violations > 20, "{violations}");
}

#[test]
fn calls_that_end_too_early_by_wrong_clocks_are_moved_and_counted() {
    let without = run_with("");
    for clocks in [
        "clock 1 +3 unknown",
        "clock 2 -3 unknown",
        "clock 1 +2 error 1.5",
        "clock 1 +1 error -2.5\nclock 2 -4 unknown",
    ] {
        let run = run_with(clocks);
        let counts = run.followed().counts;
        assert!(counts.violations > 0 && counts.largest_violation > 0, "{clocks}: {counts:?}");
        assert!(counts.largest_violation < 10_000_000, "{clocks}: {counts:?}");
        assert_eq!(
            (counts.messages, counts.collectives, counts.unmatched_sends, counts.unmatched_receives),
            (60, 20, 0, 0),
            "{clocks}"
        );
        // What was measured on the ranks cannot take less time.
        assert!(run.elapsed_ms() >= without.elapsed_ms() - 10.0, "{clocks}: {} ms", run.elapsed_ms());
        let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
        assert!((replayed_ms - run.elapsed_ms()).abs() < 1e-6, "{clocks}: {replayed_ms} of {} ms", run.elapsed_ms());
    }
}

#[test]
fn the_ideal_time_does_not_depend_on_clocks() {
    let (without, with) = (run_with(""), run_with("clock 1 +3 unknown\nclock 2 -2 error 1"));
    let [without, with] = [without, with].map(|run| run.replay_ms(WhatIfScenario::Ideal));
    assert!((without - with).abs() < 1e-3, "{with} instead of {without} ms");
}
