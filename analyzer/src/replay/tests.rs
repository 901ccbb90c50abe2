//! What is kept of a long run.

use lbprof_simulator::scenario::{RankScript, Scenario};

use super::{FollowOptions, Scope, Surveyed, follow};
use crate::model::followed::Followed;
use crate::profile::gather;
use crate::read::open::Run;
use crate::structure::survey::survey;
use crate::structure::symbols;
use crate::structure::{self, Structure};

/// Intervals and causes from which on old ones are forgotten, and what may come in before that is looked at next: three of each step at most
/// in two batches of 8,192 steps.
const MOST: usize = 1 << 14;
const ON_THE_WAY: usize = 3 * 2 * (1 << 13);

/// A scenario, followed with little history.
fn followed(scenario: Scenario) -> Followed {
    let dir = tempfile::tempdir().unwrap();
    scenario.write(dir.path()).unwrap();
    let run = Run::open(Some(dir.path())).unwrap();
    let survey = survey(&run, |_| ());
    let names = symbols::unnamed(&survey.sites);
    let structure =
        Structure::find(&run, &survey, &names, &structure::Wanted { detect: false, ..structure::Wanted::default() });
    let model = gather(&run, &survey, &structure, |_| ());
    let (scope, surveyed) =
        (Scope::all(&model), Surveyed { run: &run, survey: &survey, structure: &structure, model: &model });
    follow(surveyed, FollowOptions { most_kept: MOST, ..FollowOptions::new(&scope) }, |_| ())
}

/// Computes and meets the other rank, so often that a thread's history would be long; rank 0 waits each time.
fn long(rank: u32, script: RankScript) -> RankScript {
    let waits = f64::from(1 - rank);
    script.repeat(40_000, |_, script| script.compute(0.01 - 0.005 * waits).barrier(0.001 + 0.005 * waits))
}

#[test]
fn history_is_bounded() {
    let found = followed(Scenario::ranks(2).each(long));
    assert!(found.kept > MOST && found.kept < MOST + ON_THE_WAY, "{}", found.kept);
    assert_eq!(found.blocking.waits.values().map(|wait| wait.count).sum::<u64>(), 40_000);
}

#[test]
fn a_thread_that_stops_calling_early_keeps_no_history() {
    let early = |rank: u32, script: RankScript| {
        let other = 1 - rank as i32;
        let thread = |script: RankScript| script.send(other, 7, 8, 0.001).recv(other, 7, 8, 0.001);
        long(rank, script.thread(1, thread))
    };
    let found = followed(Scenario::ranks(2).each(early));
    assert_eq!((found.threads.len(), found.counts.messages, found.counts.lone_receives), (4, 2, 0));
    assert!(found.kept > MOST && found.kept < MOST + ON_THE_WAY, "{}", found.kept);
}

#[test]
fn a_rank_that_ends_early_keeps_no_history() {
    let two_of_three = |rank: u32, script: RankScript| {
        let script = script.communicator(9, &[0, 1]).compute(1).barrier(0.001);
        let waits = f64::from(1 - rank.min(1));
        match rank {
            2 => script,
            _ => script.repeat(40_000, |_, script| {
                script.compute(0.01 - 0.005 * waits).call(
                    lbprof_collector::Operation::Barrier,
                    0.001 + 0.005 * waits,
                    |r| r.comm = 2,
                )
            }),
        }
    };
    let found = followed(Scenario::ranks(3).each(two_of_three));
    assert!(found.kept > MOST && found.kept < MOST + ON_THE_WAY, "{}", found.kept);
}
