//! Waits, their causes, replays and the critical path of runs whose truth is worked out by hand or known to who simulated them.

use std::collections::BTreeMap;

use Class::Imbalance;
use lbprof_analyzer::blocking::WaitState;
use lbprof_analyzer::follow::Followed;
use lbprof_analyzer::metrics::blocking::{BlockingSums, Class, sums};
use lbprof_analyzer::metrics::imbalance::ImbalanceSplit;
use lbprof_analyzer::model::Model;
use lbprof_analyzer::replay::Question;
use lbprof_collector::script::Script;
use tempfile::tempdir;

mod support;
use support::model_in;

/// A run of a script, followed.
struct Run {
    model: Model,
}

impl Run {
    fn of(text: &str) -> Run {
        Run::of_script(&Script::parse(text).unwrap())
    }

    fn of_script(script: &Script) -> Run {
        let dir = tempdir().unwrap();
        script.write(dir.path()).unwrap();
        Run { model: model_in(dir.path()) }
    }

    fn followed(&self) -> &Followed {
        self.model.followed.as_ref().unwrap()
    }

    fn sums(&self) -> BlockingSums {
        sums(&self.model, self.followed(), &ImbalanceSplit::default())
    }

    /// Milliseconds of waiting that each (rank, region, class) causes.
    fn causes(&self) -> BTreeMap<(u32, String, Class), f64> {
        let mut causes = BTreeMap::new();
        for cause in self.sums().causes {
            let region = self.model.regions[cause.region as usize].path.trim_start_matches("main/").to_owned();
            *causes.entry((cause.rank, region, cause.class)).or_insert(0.0) += cause.caused_s * 1e3;
        }
        causes
    }

    /// Milliseconds that ranks wait in a state.
    fn waits(&self, state: WaitState) -> f64 {
        self.sums().states.get(&state).map_or(0.0, |times| times.waiting_s * 1e3)
    }

    fn replay_ms(&self, question: Question) -> f64 {
        let found = self.followed().replays.iter().find(|(one, _)| *one == question);
        found.unwrap_or_else(|| panic!("{question:?} was not asked")).1 * 1e3
    }
}

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
