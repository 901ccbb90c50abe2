//! Waits, causes and replays of a part of a run: a window of time, a region, ranks.

use std::collections::BTreeMap;
use std::path::Path;

use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_analysis::select::Selection;
use lbprof_simulator::noise::Chance;
use lbprof_simulator::script::Script;

use super::run::Run;
use lbprof_test_runs::{model_in, part_in, report_on, written};

fn window(from_ms: f64, to_ms: Option<f64>) -> Selection {
    let moment = |ms: f64| format!("{ms}ms").parse().unwrap();
    Selection { from: Some(moment(from_ms)), to: to_ms.map(moment), ..Selection::default() }
}

fn part(dir: &Path, selection: &Selection) -> Run {
    let run = Run { model: part_in(dir, selection) };
    run.check();
    run.check_savings();
    if selection.region.is_none() {
        run.check_nothing_changed();
    }
    run
}

fn region(name: &str) -> Selection {
    Selection { region: Some(name.into()), ..Selection::default() }
}

fn ranks(list: &str) -> Selection {
    Selection { ranks: Some(list.parse().unwrap()), ..Selection::default() }
}

/// Rank 0 computes 10 in `init` and 4 in `work`, rank 1 waits for both. Then they meet.
const CHAIN: &str = "ranks 2\nlatency 1\n\
    rank 0: phase init; compute 10; end; send 1; phase work; compute 4; end; send 1; barrier\n\
    rank 1: phase first; recv 0; end; phase second; recv 0; end; barrier\n";

fn chain() -> tempfile::TempDir {
    written(Script::parse(CHAIN).unwrap().scenario().unwrap())
}

#[test]
fn a_wait_is_cut_at_the_ends_of_a_window() {
    let dir = chain();
    // Rank 1 waits from 0 to 10 for the first message, which comes at 11; from 11 to 14 for the second, which comes at 15; rank 0 waits from 14 to 15
    // at the barrier.
    let run = part(dir.path(), &window(4.0, Some(12.0)));
    assert!((run.waits(WaitState::LateSender) - 8.0).abs() < 1e-6);
    let times = run.sums().states[&WaitState::LateSender];
    let ms = (times.waiting_s * 1e3, times.delay_s * 1e3);
    assert!((ms.0 - 7.0).abs() < 1e-6 && (ms.1 - 1.0).abs() < 1e-6, "{ms:?}");
    // The first begins before the window.
    assert_eq!(times.count, 1);
    assert!((run.elapsed_ms() - 8.0).abs() < 1e-6, "{} ms", run.elapsed_ms());
    assert!((run.replay_ms(WhatIfScenario::Measured) - 8.0).abs() < 1e-6);
    // Rank 0 computes all the time.
    assert!((run.replay_ms(WhatIfScenario::Ideal) - 8.0).abs() < 1e-6);
    let ranks: Vec<u32> =
        run.followed().critical_path.iter().map(|part| run.followed().world_rank(part.thread)).collect();
    assert!(ranks.iter().all(|&rank| rank == 0), "{ranks:?}");
}

#[test]
fn causes_before_a_window_keep_their_names() {
    // In the window rank 1 waits for 1 ms of the message's delay and what rank 0 did before: 10 of 11 in init.
    let run = part(chain().path(), &window(8.0, Some(10.0)));
    let causes = run.sums().causes;
    let init = causes.iter().find(|cause| cause.class == CauseClass::Imbalance).unwrap();
    assert_eq!(run.followed().regions[init.region as usize].path, "main/init");
    assert!((init.caused_s * 1e3 - 2.0 * 10.0 / 11.0).abs() < 1e-6, "{init:?}");
}

#[test]
fn an_ideal_network_makes_a_window_of_messages_shorter() {
    // From 10 on: 1 until the first message is there, 4 of computation meanwhile, 1 for the second.
    let run = part(chain().path(), &window(10.0, None));
    assert!((run.elapsed_ms() - run.replay_ms(WhatIfScenario::Measured)).abs() < 1e-6);
    assert!((run.replay_ms(WhatIfScenario::Ideal) - 4.0).abs() < 1e-6, "{}", run.replay_ms(WhatIfScenario::Ideal));
}

#[test]
fn balancing_in_a_window_is_of_its_work() {
    // Four steps; in the window, the last two, ranks compute 10 and 20; before, 30 and 10.
    let text = "ranks 2\nrank *: repeat 4; iteration step; if $i < 2; compute 30-20*$r; end; if $i > 1; compute 10+10*$r; end; barrier; end; end\n";
    let dir = written(Script::parse(text).unwrap().scenario().unwrap());
    let run = part(dir.path(), &window(60.0, None));
    assert!((run.elapsed_ms() - 40.0).abs() < 1e-6);
    let balanced =
        run.followed().scenario_times.iter().find(|(one, _)| matches!(one, WhatIfScenario::Balanced(_))).unwrap().1;
    assert!((balanced * 1e3 - 30.0).abs() < 1e-6, "{balanced} s");
    let iterations = Selection {
        from: Some("iteration=2".parse().unwrap()),
        to: Some("iteration=3".parse().unwrap()),
        ..Selection::default()
    };
    let run = part(dir.path(), &iterations);
    assert!((run.waits(WaitState::Barrier) - 20.0).abs() < 1e-6, "{}", run.waits(WaitState::Barrier));
    assert!((run.replay_ms(WhatIfScenario::Ideal) - 40.0).abs() < 1e-6);
    // Rank 1 waits in a call that ends when the window begins.
    assert!(
        (run.replay_ms(WhatIfScenario::Measured) - 40.0).abs() < 1e-6,
        "{} ms",
        run.replay_ms(WhatIfScenario::Measured)
    );
}

/// A script in which each rank passes iterations of its own length, and waits for some other in most: a ring, a chain, or all.
fn iterated(chance: &mut Chance) -> (String, u32) {
    let (ranks, steps) = (2 + chance.below(4), 3 + chance.below(5));
    let mut lines = vec![String::new(); ranks as usize];
    for _ in 0..steps {
        let meets = chance.below(4);
        for (rank, line) in (0..).zip(&mut lines) {
            let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let call = match meets {
                0 => "allreduce 8; ".to_owned(),
                1 => format!("irecv {from} as r; send {to}; wait r; "),
                2 if rank > 0 => {
                    format!("recv {from}; {}", if to > 0 { format!("send {to}; ") } else { String::new() })
                }
                2 => format!("send {to}; "),
                _ => String::new(),
            };
            let after = if chance.below(2) == 0 { format!("compute {}; ", chance.ms(5)) } else { String::new() };
            *line += &format!("  iteration step; compute {}; {call}{after}end\n", 0.001 + chance.ms(20));
        }
    }
    let mut text = format!("ranks {ranks}\nlatency {}\n", chance.ms(1));
    lines.iter().enumerate().for_each(|(rank, line)| text += &format!("rank {rank}:\n{line}"));
    (text, steps)
}

#[test]
fn with_nothing_changed_a_window_takes_as_long_as_it_did_wherever_it_begins_and_ends() {
    for seed in 0..12 {
        let mut chance = Chance(seed);
        let (text, steps) = iterated(&mut chance);
        let script = Script::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let dir = written(script.scenario().unwrap());
        let (from, to) = (chance.below(steps), chance.below(steps));
        let iterations = Selection {
            from: Some(format!("iteration={}", from.min(to)).parse().unwrap()),
            to: Some(format!("iteration={}", from.max(to)).parse().unwrap()),
            ..Selection::default()
        };
        part(dir.path(), &iterations);
        let elapsed_ms = script.simulate().unwrap().elapsed_ms();
        let mut moment = || elapsed_ms * f64::from(chance.below(1000)) / 1000.0;
        let (one, other) = (moment(), moment());
        part(dir.path(), &window(one.min(other), Some(one.max(other) + 0.01)));
        let some = Selection { ranks: Some("1-".parse().unwrap()), ..iterations };
        part(dir.path(), &some);
    }
}

#[test]
fn what_a_rank_computes_behind_its_window_takes_as_long_as_it_did() {
    // Iteration 0 of rank 0 ends at 10. Behind it computes 40 until rank 1 may go on, whose iteration 0 is still not over then.
    let text = "ranks 2\n\
        rank 0: iteration step; compute 10; end; iteration step; compute 40; send 1; end\n\
        rank 1: iteration step; compute 20; recv 0; end; iteration step; compute 1; end\n";
    let dir = written(Script::parse(text).unwrap().scenario().unwrap());
    let first = || Some("iteration=0".parse().unwrap());
    let run = part(dir.path(), &Selection { from: first(), to: first(), ..Selection::default() });
    assert!((run.elapsed_ms() - 50.0).abs() < 1e-5, "{} ms", run.elapsed_ms());
    // The second iterations begin at 10 and at 50, which no network changes: the window is from 10 to 51.
    let second = || Some("iteration=1".parse().unwrap());
    let later = part(dir.path(), &Selection { from: second(), to: second(), ..Selection::default() });
    assert!(
        (later.replay_ms(WhatIfScenario::Ideal) - 41.0).abs() < 1e-5,
        "{} ms",
        later.replay_ms(WhatIfScenario::Ideal)
    );
    let balanced =
        run.followed().scenario_times.iter().find(|(one, _)| matches!(one, WhatIfScenario::Balanced(_))).unwrap().1;
    // Rank 0 computes 15 in place of 10, and 40 as before.
    assert!((balanced * 1e3 - 55.0).abs() < 1e-5, "{balanced} s");
}

type Caused = BTreeMap<(u32, String, CauseClass), f64>;

fn add(all: &mut Caused, run: &Run) {
    run.causes().into_iter().for_each(|(key, ms)| *all.entry(key).or_default() += ms);
}

fn assert_same(seed: u64, parts: &Caused, whole: &Caused) {
    for key in parts.keys().chain(whole.keys()) {
        let [parts, whole] = [parts, whole].map(|all| all.get(key).copied().unwrap_or(0.0));
        assert!((parts - whole).abs() < 1e-5, "script {seed}, {key:?}: {parts} ms in parts, {whole} in all");
    }
}

/// Calls `check` with runs of chance, their folders and what is found in all of them.
fn with_runs(check: impl Fn(u64, &Path, &Run)) {
    for seed in 0..6 {
        let dir = written(Script::random(seed, 6 + seed as u32).scenario().unwrap());
        check(seed, dir.path(), &Run { model: model_in(dir.path()) });
    }
}

#[test]
fn windows_that_follow_one_another_add_up_to_the_run() {
    with_runs(|seed, dir, whole| {
        let (mut caused, mut total_ms, elapsed_ms) = (Caused::new(), 0.0, whole.elapsed_ms());
        let edges = [0.0, elapsed_ms / 3.0, elapsed_ms / 1.7];
        for (at, &from) in edges.iter().enumerate() {
            let run = part(dir, &window(from, edges.get(at + 1).copied()));
            add(&mut caused, &run);
            total_ms += run.elapsed_ms();
            let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
            assert!(
                (replayed_ms - run.elapsed_ms()).abs() < 1e-5,
                "script {seed}: {replayed_ms} of {}",
                run.elapsed_ms()
            );
        }
        assert!((total_ms - elapsed_ms).abs() < 1e-5, "script {seed}: {total_ms} ms of {elapsed_ms}");
        assert_same(seed, &caused, &whole.causes());
    });
}

#[test]
fn waits_of_ranks_add_up_to_those_of_all() {
    with_runs(|seed, dir, whole| {
        let n = whole.model.ranks.len() as u32;
        let halves = [format!("0-{}", n / 2 - 1), format!("{}-", n / 2)];
        let waits = |run: &Run, state| run.sums().states.get(&state).map_or(0.0, |times| times.blocked_s());
        let found: Vec<Run> = halves.iter().map(|list| part(dir, &ranks(list))).collect();
        for state in [WaitState::LateSender, WaitState::LateReceiver, WaitState::NxN, WaitState::LateBroadcast] {
            let parts: f64 = found.iter().map(|run| waits(run, state)).sum();
            assert!((parts - waits(whole, state)).abs() < 1e-9, "script {seed}, {state:?}");
        }
        let waiting: Vec<u32> = found[1].sums().waits_s.keys().copied().collect();
        assert!(waiting.iter().all(|&rank| rank >= n / 2), "script {seed}: {waiting:?}");
    });
}

#[test]
fn of_a_region_waits_in_its_calls_count_whatever_they_are_caused_by() {
    let dir = chain();
    let run = part(dir.path(), &region("second"));
    assert!((run.waits(WaitState::LateSender) - 4.0).abs() < 1e-6);
    assert_eq!(run.sums().states.len(), 1);
    let causes = run.sums().causes;
    let path = |at: u32| run.followed().regions[at as usize].path.as_str();
    assert!(causes.iter().any(|cause| path(cause.region) == "main/work" && cause.own_s.is_none()), "{causes:?}");
    assert!(run.followed().t_ideal_s().is_none() && run.followed().critical_path.is_empty());
    let report = report_on(&run.model);
    assert_eq!(report.efficiency.t_ideal_replay_s, None);
    assert_eq!(report.ranks.iter().map(|row| row.rank).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_region_without_calls_makes_ranks_wait_elsewhere() {
    let dir = chain();
    let whole = report_on(&model_in(dir.path())).blocking.unwrap();
    let caused_s: f64 = whole.causes.iter().filter(|row| row.region == "main/work").map(|row| row.cause.caused_s).sum();
    let own = report_on(&part(dir.path(), &region("work")).model).blocking.unwrap();
    let by = own.by_region.unwrap();
    assert!(own.sums.total_s == 0.0 && caused_s > 0.0 && (by.caused_s - caused_s).abs() < 1e-9, "{by:?} {caused_s}");
    assert!((by.share - caused_s / whole.sums.total_s).abs() < 1e-9 && whole.by_region.is_none());
}

#[test]
fn a_region_in_a_window_has_what_both_leave() {
    let selection = Selection { region: Some("first".into()), ..window(4.0, Some(12.0)) };
    let run = part(chain().path(), &selection);
    // From 4 to 11.
    assert!((run.waits(WaitState::LateSender) - 7.0).abs() < 1e-6, "{}", run.waits(WaitState::LateSender));
}
