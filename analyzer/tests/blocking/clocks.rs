//! Clocks that differ.

use std::collections::BTreeMap;

use lbprof_analyzer::metrics::blocking::Class;
use lbprof_analyzer::replay::Question;

use crate::run::Run;

/// Chains and collectives, with these clocks.
fn run_with(clocks: &str) -> Run {
    Run::drifting(&format!(
        "ranks 3\nlatency 0.2\noverhead 0.01\n{clocks}\nrank *: repeat 20; iteration step\n\
         phase work; compute 5+3*(($i+$r)%3); end\n\
         sendrecv to ($r+1)%$n from ($r+$n-1)%$n\n\
         phase more; compute 1+$r; end; allreduce 8; end; end\n"
    ))
}

fn largest_difference(a: &BTreeMap<(u32, String, Class), f64>, b: &BTreeMap<(u32, String, Class), f64>) -> f64 {
    let of = |all: &BTreeMap<_, f64>, key| all.get(key).copied().unwrap_or(0.0);
    a.keys().chain(b.keys()).map(|key| (of(a, key) - of(b, key)).abs()).fold(0.0, f64::max)
}

#[test]
fn clocks_that_are_known_change_nothing() {
    let without = run_with("");
    let with = run_with("clock 1 +300 drift 1e-5\nclock 2 -100 drift -2e-5");
    let counts = with.followed().counts;
    assert_eq!((counts.violations, counts.messages), (0, 60));
    // Times are rounded to a nanosecond.
    assert!(largest_difference(&without.causes(), &with.causes()) < 1e-3);
    assert!((with.elapsed_ms() - without.elapsed_ms()).abs() < 1e-4);
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
            (counts.messages, counts.collectives, counts.lone_sends, counts.lone_receives),
            (60, 20, 0, 0),
            "{clocks}"
        );
        // What was measured on the ranks cannot take less time.
        assert!(run.elapsed_ms() >= without.elapsed_ms() - 10.0, "{clocks}: {} ms", run.elapsed_ms());
        let replayed_ms = run.replay_ms(Question::Measured);
        assert!((replayed_ms - run.elapsed_ms()).abs() < 1e-6, "{clocks}: {replayed_ms} of {} ms", run.elapsed_ms());
    }
}

#[test]
fn the_ideal_time_does_not_depend_on_clocks() {
    let (without, with) = (run_with(""), run_with("clock 1 +3 unknown\nclock 2 -2 error 1"));
    let [without, with] = [without, with].map(|run| run.replay_ms(Question::Ideal));
    assert!((without - with).abs() < 1e-3, "{with} instead of {without} ms");
}
