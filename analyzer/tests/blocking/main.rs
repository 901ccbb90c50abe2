//! Waits, their causes, replays and the critical path of runs whose truth is worked out by hand or known to who simulated them.

use Class::Imbalance;
use lbprof_analyzer::blocking::WaitState;
use lbprof_analyzer::metrics::blocking::Class;
use lbprof_analyzer::replay::Question;

mod properties;
mod run;
#[path = "../support/mod.rs"]
mod support;

use run::Run;

/// The causes that are to be found, in milliseconds: rank, region, class.
fn assert_causes(run: &Run, expected: &[(u32, &str, Class, f64)]) {
    let causes = run.causes();
    let found: Vec<_> =
        causes.iter().map(|((rank, region, class), ms)| (*rank, region.as_str(), *class, *ms)).collect();
    let mut expected = expected.to_vec();
    expected.sort_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
    assert_eq!(found.len(), expected.len(), "{found:?}\ninstead of\n{expected:?}");
    for (found, expected) in found.iter().zip(&expected) {
        let same = (found.0, found.1, found.2) == (expected.0, expected.1, expected.2);
        assert!(same && (found.3 - expected.3).abs() < 1e-4, "{found:?} instead of {expected:?}");
    }
}

#[test]
fn a_late_sender_is_the_cause() {
    let run = Run::of(
        "ranks 2\nrank 0:\n phase a\n compute 30\n end\n send 1\nrank 1:\n compute 10\n recv 0\n phase b\n compute 5\n end\n",
    );
    assert_eq!(run.waits(WaitState::LateSender).round(), 20.0);
    // Rank 0 ends 5 before rank 1, which computes then.
    assert_causes(&run, &[(0, "a", Imbalance, 20.0), (1, "b", Imbalance, 5.0)]);
    assert_eq!(run.waits(WaitState::EarlyEnd).round(), 5.0);
}

#[test]
fn a_replay_with_nothing_changed_takes_as_long_as_the_run() {
    let run = Run::of(
        "ranks 3\nlatency 0.5\noverhead 0.1\nrank *:\n repeat 4\n iteration step\n compute 10+5*$r\n allreduce 8\n end\n end\n",
    );
    let elapsed_ms = run.followed().elapsed as f64 * 1e-6;
    assert!((run.replay_ms(Question::Measured) - elapsed_ms).abs() < 1e-6);
    assert!((run.replay_ms(Question::Ideal) - 80.0).abs() < 1e-6);
}
