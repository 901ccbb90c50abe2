//! What is kept of a long run; that steps have the same times as the profile.

use std::collections::BTreeMap;

use lbprof_collector::{Activity, Operation};
use lbprof_simulator::scenario::{RankScript, Scenario};

use proptest::prelude::*;

use super::segments::tests::SurveyedTestRun;
use super::timeline::{RankSteps, RegionLookup, RegionTable, RunClock, RunIds};
use super::{ReplayOptions, ReplayScope, replay_run};
use crate::metrics::statistics::StatisticsObserver;
use crate::model::RegionIdx;
use crate::model::replayed::replay_results::ReplayResults;
use crate::structure::CallPlacer;

/// Intervals and causes from which on old ones are forgotten, and what may come in before that is looked at next: three of each step at most
/// in two batches of 8,192 steps.
const MOST: usize = 1 << 14;
const ON_THE_WAY: usize = 3 * 2 * (1 << 13);

/// A scenario, followed with little history.
fn followed(scenario: Scenario) -> ReplayResults {
    let known = SurveyedTestRun::new(|dir| scenario.write(dir).unwrap(), false);
    let scope = ReplayScope::whole_run(&known.model);
    let options = ReplayOptions { most_kept: MOST, ..ReplayOptions::new(&scope) };
    replay_run(known.surveyed(), options, None::<&mut StatisticsObserver>, &|_| ())
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
    assert_eq!((found.threads.len(), found.counts.messages, found.counts.unmatched_receives), (4, 2, 0));
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
                script.compute(0.01 - 0.005 * waits).call(Operation::Barrier, 0.001 + 0.005 * waits, |r| r.comm = 2)
            }),
        }
    };
    let found = followed(Scenario::ranks(3).each(two_of_three));
    assert!(found.kept > MOST && found.kept < MOST + ON_THE_WAY, "{}", found.kept);
}

/// What a rank does by turns, one of these each: all that a walk over its records can meet.
fn turn(script: RankScript, turns: &[u8]) -> RankScript {
    let Some((&turn, rest)) = turns.split_first() else { return script };
    let (inside, after) = rest.split_at(rest.len() / 2);
    match turn {
        0 => self::turn(script.compute(3), rest),
        1 => self::turn(script.compute(0.5).barrier(2), rest),
        2 => self::turn(script.compute(0.25).flush(1), rest),
        3 => self::turn(script.paused(|script| script.compute(5)), rest),
        // It never returned: the next record is of what came after it.
        4 => self::turn(script.call(Operation::Recv, 0, |record| record.end = 0).compute(0.75), rest),
        5 => self::turn(script.compute(1).work(1.0, 1.0), rest),
        6 => self::turn(script.iteration("step", |script| self::turn(script, inside)), after),
        7 => self::turn(script.region("solve", |script| self::turn(script, inside)), after),
        _ => self::turn(script.region("other", |script| self::turn(script, inside)), after),
    }
}

/// Nanoseconds by region and activity; of no activity while recording was paused.
type Times = BTreeMap<(RegionIdx, Option<Activity>), i64>;

/// Those that the profile of rank 0 has, and those that its steps have.
fn times_by_both(scenario: Scenario, detect: bool) -> (Times, Times) {
    let SurveyedTestRun { run, survey, structure, model, .. } =
        &SurveyedTestRun::new(|dir| scenario.write(dir).unwrap(), detect);
    let rank = &model.ranks[0];
    let mut profile: Times = Times::new();
    for &((region, activity), cell) in &rank.cells {
        *profile.entry((region, Some(activity))).or_default() += (cell.seconds * 1e9).round() as i64;
    }

    let regions = RegionTable::new(model);
    let ids = RunIds {
        communicators: &model.communicators,
        places: RegionLookup { sites: &survey.sites, structure, regions: &regions },
        ranks: &[0, 1],
        facts: true,
    };
    let surveyed = survey.rank(0).unwrap();
    let clock = RunClock { clock: surveyed.clock.clone().unwrap(), zero: rank.zero_ns() };
    let placer = CallPlacer::new(structure, &survey.sites, 0);
    let mut log = RankSteps::new(ids, run.log(&run.headers[0]).unwrap(), surveyed, clock, placer);
    let (mut steps, mut now) = (Times::new(), 0);
    while let Some(batch) = log.next_batch() {
        for step in batch.steps {
            for (kind, ns) in [(step.before, step.begin - now), (step.kind, step.end - step.begin)] {
                *steps.entry((kind.region(), kind.activity())).or_default() += ns;
            }
            now = step.end;
        }
    }
    let paused: i64 = steps.extract_if(.., |(_, activity), _| activity.is_none()).map(|(_, ns)| ns).sum();
    assert_eq!(paused, (rank.paused_s * 1e9).round() as i64);
    (profile, steps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever walks over a thread's records finds the same time in the same places.
    #[test]
    fn steps_have_the_time_that_the_profile_has(turns in prop::collection::vec(0_u8..9, 1..30), detect in any::<bool>()) {
        let scenario = Scenario::ranks(2).each(|_, script| script.repeat(20, |_, script| turn(script, &turns).barrier(1)));
        let (mut profile, mut steps) = times_by_both(scenario, detect);
        profile.retain(|_, ns| *ns != 0);
        steps.retain(|_, ns| *ns != 0);
        prop_assert_eq!(steps, profile);
    }
}
