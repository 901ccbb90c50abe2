//! A run is the same in whatever segments it is followed.

use lbprof_collector::Operation;
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;
use proptest::prelude::*;

use super::*;
use crate::metrics::statistics::StatisticsObserver;
use crate::model::Model;
use crate::model::replayed::replay_results::CriticalPathEntry;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::profile::{GatherInput, gather_run};
use crate::read::open::RecordedRun;
use crate::replay::observers::scope::ReplayScope;
use crate::replay::what_if::{ScenarioConditions, ScenarioNetwork, ScenarioWork};
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::code::symbols;
use crate::structure::survey::{CallSurvey, survey_run};
use crate::structure::{self, RunStructure};
use crate::views::{TimelineObserver, TimelineView};

/// A run that was written, and what is known of it before its ranks are followed.
pub(in crate::replay) struct SurveyedTestRun {
    _dir: tempfile::TempDir,
    pub run: RecordedRun,
    pub survey: CallSurvey,
    pub structure: RunStructure,
    pub model: Model,
}

impl SurveyedTestRun {
    pub fn new(write: impl FnOnce(&std::path::Path), detect: bool) -> SurveyedTestRun {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path());
        let run = RecordedRun::open(Some(dir.path())).unwrap();
        let survey = survey_run(&run, &|_| ());
        let names = symbols::sites_without_names(&survey.sites);
        let wanted = structure::StructureOptions { detect, ..structure::StructureOptions::default() };
        let structure = RunStructure::find(&run, &survey, &names, &wanted);
        let code = SampledCode::default();
        let input = GatherInput { survey: &survey, structure: &structure, code: &code, most_iterations: usize::MAX };
        let model = gather_run(&run, input, &|_| ());
        SurveyedTestRun { _dir: dir, run, survey, structure, model }
    }

    /// Follows it in segments of so many steps of all ranks, each with a fork of the observer.
    fn follow<W: SegmentObserver>(&self, steps: usize, observer: Option<&mut W>) -> ReplayResults {
        let scope = ReplayScope::whole_run(&self.model);
        replay_run(self.surveyed(), options(&scope, steps), observer, &|_| ())
    }

    pub fn surveyed(&self) -> SurveyedRun<'_> {
        let SurveyedTestRun { run, survey, structure, model, .. } = self;
        SurveyedRun { run, survey, structure, model }
    }
}

/// Several what-if scenarios, in segments of so many steps.
fn options(scope: &ReplayScope, steps: usize) -> ReplayOptions<'_> {
    let given = ScenarioNetwork::Given { latency_s: 3e-4, bytes_per_s: 1e6 };
    let conditions = [
        ScenarioConditions::IDEAL,
        ScenarioConditions::MEASURED,
        ScenarioConditions { network: given, ..ScenarioConditions::MEASURED },
        ScenarioConditions { work: ScenarioWork::Rank(1, vec![0.5; 8]), ..ScenarioConditions::MEASURED },
        ScenarioConditions { work: ScenarioWork::Rank(0, vec![3.0; 8]), ..ScenarioConditions::IDEAL },
    ];
    let scenarios = conditions.into_iter().map(|condition| (WhatIfScenario::Ideal, condition)).collect();
    ReplayOptions { scenarios, segment_steps: Some(steps), ..ReplayOptions::new(scope) }
}

/// Follows a run in segments of so many steps of all ranks.
fn followed(write: impl Fn(&std::path::Path), steps: usize) -> ReplayResults {
    SurveyedTestRun::new(write, true).follow(steps, None::<&mut StatisticsObserver>)
}

/// The same but for the last digits of sums.
fn are_same(one: &ReplayResults, other: &ReplayResults) -> Result<(), TestCaseError> {
    prop_assert_eq!(&one.threads, &other.threads);
    prop_assert_eq!(one.elapsed, other.elapsed);
    prop_assert_eq!(one.counts, other.counts);
    prop_assert_eq!(&one.blocking.waits, &other.blocking.waits);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(1e3);
    prop_assert_eq!(one.blocking.causes.len(), other.blocking.causes.len());
    for (key, &ns) in &one.blocking.causes {
        prop_assert!(close(ns, other.blocking.causes[key]), "{:?}: {} {}", key, ns, other.blocking.causes[key]);
    }
    prop_assert_eq!(one.blocking.pairs.len(), other.blocking.pairs.len());
    for (key, &ns) in &one.blocking.pairs {
        prop_assert!(close(ns, other.blocking.pairs[key]), "{:?}", key);
    }
    for ((_, a), (_, b)) in one.scenario_times.iter().zip(&other.scenario_times) {
        prop_assert!((a - b).abs() < 1e-11, "replays {:?} {:?}", one.scenario_times, other.scenario_times);
    }
    let lacks = |all: &ReplayResults, others: &ReplayResults| -> Vec<CriticalPathEntry> {
        all.critical_path.iter().copied().filter(|part| !others.critical_path.contains(part)).collect()
    };
    prop_assert_eq!(lacks(one, other), lacks(other, one));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rounds_are_the_same_in_segments(kinds in prop::collection::vec((0_u8..14, any::<u32>()), 5..60), steps in 4_usize..80) {
        let script = Script::rounds(&kinds);
        let write = |dir: &std::path::Path| script.write(dir).unwrap();
        let known = SurveyedTestRun::new(write, true);
        let watched = |steps| {
            let mut watch = TimelineObserver::new(&known.model).unwrap();
            (known.follow(steps, Some(&mut watch)), watch.finish())
        };
        let ((whole, all_seen), (cut, seen)) = (watched(1 << 40), watched(steps));
        are_same(&whole, &cut).map_err(|error| TestCaseError::fail(format!("{error}\n{} segments\n{}", cut.segments, script.text())))?;
        prop_assert_eq!((all_seen.spans, all_seen.waits, all_seen.shares), (seen.spans, seen.waits, seen.shares));
        prop_assert_eq!(all_seen.all_messages, seen.all_messages);
    }
}

#[test]
fn a_critical_path_is_the_same_in_segments_where_two_ranks_enter_last() {
    let kinds = [
        (0, 0),
        (7, 0),
        (0, 0),
        (2, 0),
        (0, 0),
        (0, 79119),
        (10, 1171362554),
        (4, 3775308893),
        (2, 2029084448),
        (2, 3935204228),
        (12, 2938970224),
        (5, 1186145496),
        (13, 2098106742),
    ];
    let script = Script::rounds(&kinds);
    let write = |dir: &std::path::Path| script.write(dir).unwrap();
    let whole = followed(write, 1 << 40);
    for steps in 4..80 {
        let cut = followed(write, steps);
        are_same(&whole, &cut).map_err(|error| format!("{steps} steps: {error}\n{}", script.text())).unwrap();
    }
}

/// Steps in which ranks compute for other times each, and wait for the slowest.
fn steps(rank: u32, script: RankScript, n: u32, between: impl Fn(u32, RankScript) -> RankScript) -> RankScript {
    script.repeat(n, |i, script| {
        let ms = 1.0 + f64::from((i * 7 + rank * 3) % 11) / 16.0;
        between(i, script.compute(ms)).barrier(2.0 - ms + 0.25)
    })
}

#[test]
fn a_run_is_cut_where_nothing_is_in_transit() {
    let scenario = |dir: &std::path::Path| {
        Scenario::ranks(3).each(|rank, script| steps(rank, script, 40, |_, script| script)).write(dir).unwrap();
    };
    let cut = followed(scenario, 30);
    assert_eq!(cut.segments, 5, "four of 10 steps of each rank, and the end");
    let total: f64 = cut.critical_path.iter().map(|CriticalPathEntry { ns, .. }| ns).sum();
    assert_eq!(total, cut.elapsed as f64);
    are_same(&followed(scenario, 1 << 40), &cut).unwrap();
}

#[test]
fn a_rank_that_does_far_more_than_others_is_not_kept_in_memory() {
    let scenario = |more: u32| {
        let between = move |rank: u32| {
            move |_, script: RankScript| match rank {
                // As many calls as the others make, and the one in the middle leads.
                0 => script.repeat(more, |_, script| script.iteration("cell", |script| script.compute(0.01))),
                _ => script.compute(0.01 * f64::from(more)),
            }
        };
        move |dir: &std::path::Path| {
            Scenario::ranks(3).each(|rank, script| steps(rank, script, 40, between(rank))).write(dir).unwrap();
        }
    };
    assert!(followed(scenario(1), 30).segments > 3);
    let cut = followed(scenario(250), 30);
    assert_eq!(cut.segments, 1, "501 of its steps to one of the others, and more than are read at a time");
    are_same(&followed(scenario(250), 1 << 40), &cut).unwrap();
}

#[test]
fn a_message_that_is_in_transit_in_all_collectives_joins_all_segments() {
    // Sent before the first collective, received after the last.
    let scenario = |dir: &std::path::Path| {
        let script = |rank: u32, script: RankScript| {
            let script = if rank == 0 { script.send(1, 5, 8, 0.01) } else { script.compute(0.01) };
            let script = steps(rank, script, 40, |_, script| script);
            if rank == 1 { script.recv(0, 5, 8, 0.01) } else { script.compute(0.01) }
        };
        Scenario::ranks(2).each(script).write(dir).unwrap();
    };
    let cut = followed(scenario, 20);
    assert_eq!((cut.segments, cut.counts.messages), (1, 1));
    are_same(&followed(scenario, 1 << 40), &cut).unwrap();
}

#[test]
fn a_message_whose_send_has_no_request_is_over_when_it_is_received() {
    // As MPIs send short messages: MPI_Isend completes at once, and gives a request that stands for nothing.
    let scenario = |dir: &std::path::Path| {
        let script = |rank: u32, script: RankScript| {
            let other = 1 - rank as i32;
            let send = move |script: RankScript| {
                script.call(Operation::Isend, 0.01, move |r| (r.peer, r.tag, r.sent) = (other, 5, 8))
            };
            steps(rank, script, 40, move |_, script| send(script).recv(other, 5, 8, 0.01))
        };
        Scenario::ranks(2).each(script).write(dir).unwrap();
    };
    let cut = followed(scenario, 20);
    assert!(cut.segments > 5, "{} segments", cut.segments);
    assert_eq!(cut.counts.messages, 80);
    are_same(&followed(scenario, 1 << 40), &cut).unwrap();
}

#[test]
fn what_was_cut_before_stays_cut_where_the_rest_cannot_be() {
    let scenario = |dir: &std::path::Path| {
        let script = |rank: u32, script: RankScript| {
            let between = |i, script: RankScript| match (i, rank) {
                (20, 0) => script.send(1, 5, 8, 0.01),
                (39, 1) => script.recv(0, 5, 8, 0.01),
                _ => script.compute(0.01),
            };
            steps(rank, script, 40, between)
        };
        Scenario::ranks(2).each(script).write(dir).unwrap();
    };
    let cut = followed(scenario, 20);
    assert_eq!((cut.segments, cut.counts.messages), (3, 1), "steps 0 to 9, 10 to 19, and the others");
    are_same(&followed(scenario, 1 << 40), &cut).unwrap();
}

#[test]
fn watchers_of_segments_together_see_what_one_of_the_whole_sees() {
    let kinds: Vec<(u8, u32)> = (0..60).map(|i| (i as u8 % 8, 7919 * i)).collect();
    let script = Script::rounds(&kinds);
    let known = SurveyedTestRun::new(|dir| script.write(dir).unwrap(), true);
    let watched = |steps| {
        let (mut watch, mut statistics) =
            (TimelineObserver::new(&known.model).unwrap(), StatisticsObserver::new(&known.model).unwrap());
        let segments = known.follow(steps, Some(&mut watch)).segments;
        assert_eq!(known.follow(steps, Some(&mut statistics)).segments, segments);
        (segments, watch.finish(), statistics.into_observations())
    };
    let ((one, whole, all), (several, joined, sums)) = (watched(1 << 40), watched(40));
    assert!(one == 1 && several > 5, "{several}");

    assert_eq!((&joined.spans, &joined.waits, joined.all_waits), (&whole.spans, &whole.waits, whole.all_waits));
    assert_eq!(joined.all_messages, whole.all_messages);
    let sorted = |watched: &TimelineView| {
        let mut messages: Vec<_> = watched.messages.iter().map(|one| (one.received, one.from, one.to)).collect();
        messages.sort_unstable();
        messages
    };
    assert_eq!(sorted(&joined), sorted(&whole));
    assert_eq!(joined.shares, whole.shares);

    assert_eq!((&sums.messages, sums.unlisted), (&all.messages, all.unlisted));
    assert_eq!((&sums.message_sizes, &sums.sizes), (&all.message_sizes, &all.sizes));
    assert_eq!(
        (&sums.time_windows.states, &sums.time_windows.computation),
        (&all.time_windows.states, &all.time_windows.computation)
    );
    assert_eq!((&sums.calls, &sums.communicators), (&all.calls, &all.communicators));
}
