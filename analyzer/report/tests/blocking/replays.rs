//! Replays against the estimate by iterations (docs/metrics.md §1), and what would be gained.

use lbprof_analysis::metrics::spread::load_balance::phase_profile_ideal;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::ProblemKind;
use lbprof_report::{ProblemRow, Report};

use super::run::Run;
use lbprof_test_runs::{first_screen, report_on};

fn ideal_ms(text: &str) -> (f64, f64) {
    let run = Run::of(text);
    let estimate = phase_profile_ideal(&run.model, 0).expect("there are iterations");
    (run.replay_ms(WhatIfScenario::Ideal), estimate.seconds * 1e3)
}

fn assert_ideal(text: &str, replay_ms: f64, estimate_ms: f64) {
    let found = ideal_ms(text);
    let same = (found.0 - replay_ms).abs() < 1e-6 && (found.1 - estimate_ms).abs() < 1e-6;
    assert!(same, "{found:?} instead of {:?}", (replay_ms, estimate_ms));
}

#[test]
fn both_agree_where_each_iteration_ends_in_a_collective() {
    // By turns 10 and 20, so 20 an iteration, whatever the network takes.
    assert_ideal(
        "ranks 2\nlatency 1\noverhead 0.5\nrank *: repeat 4; iteration step; compute 10+10*(($i+$r)%2); barrier; end; end\n",
        80.0,
        80.0,
    );
}

#[test]
fn finer_synchronisation_makes_the_replay_longer() {
    // Rank 1 begins its 10 when rank 0 is done with 10: 20 an iteration, of which no rank computes more than 10.
    assert_ideal(
        "ranks 2\nlatency 1\nrank *: repeat 3; iteration step; if $r == 0; compute 10; send 1; end; if $r == 1; recv 0; compute 10; end; barrier; end; end\n",
        60.0,
        30.0,
    );
}

#[test]
fn looser_synchronisation_makes_the_replay_shorter() {
    // By turns 10 and 20 without meeting: 4 iterations take each rank 60, though one has 20 in each.
    assert_ideal(
        "ranks 2\nlatency 1\nrank *: repeat 4; iteration step; compute 10+10*(($i+$r)%2); end; end; barrier\n",
        60.0,
        80.0,
    );
}

/// Ranks compute 10 and 20 in a, 20 and 12 in b, and meet after each, four times.
const BY_TURNS: &str = "ranks 2\nrank *: repeat 4; iteration step\n\
    phase a; compute 10+10*$r; barrier; end; phase b; compute 20-8*$r; barrier; end; end; end\n";

#[test]
fn balancing_a_region_can_gain_less_than_one_in_it() {
    let run = Run::of(BY_TURNS);
    let balanced_ms = |path: &str| {
        let region = run.model.regions.iter().position(|region| region.path == path).unwrap() as u32;
        run.replay_ms(WhatIfScenario::Balanced(region))
    };
    // 40 a step. With a balanced 15 + 20, with b balanced 20 + 16. In all of a step ranks compute 30 and 32: 31 each leaves 10 and 20 in a
    // almost as they are, 31/32 of 20, and 31/30 of 20 in b.
    assert!((run.elapsed_ms() - 160.0).abs() < 1e-6);
    assert!((balanced_ms("main/step/a") - 4.0 * 35.0).abs() < 1e-3);
    assert!((balanced_ms("main/step/b") - 4.0 * 36.0).abs() < 1e-3);
    assert!((balanced_ms("main/step") - 4.0 * 20.0 * (31.0 / 32.0 + 31.0 / 30.0)).abs() < 1e-3);
}

#[test]
fn predictions_stand_in_the_order_of_what_they_gain_and_the_first_screen_shows_the_largest() {
    let run = Run::of(BY_TURNS);
    let report = report_on(&run.model);
    let (fixed, others) = report.what_if.rows.split_at(2);
    let scenarios: Vec<WhatIfScenario> = fixed.iter().map(|row| row.scenario).collect();
    assert_eq!(scenarios, [WhatIfScenario::Measured, WhatIfScenario::Ideal]);
    assert!(others.len() >= 3 && others.windows(2).all(|two| two[0].saved_s >= two[1].saved_s), "{others:?}");
    let screen = first_screen(&report, 100).replace('\n', " ");
    assert!(screen.contains("even work in every region: 160.0 ms → 124.0 ms (−22 %)"), "{screen}");
}

#[test]
fn another_network_is_advice_where_ranks_of_several_hosts_have_their_cores() {
    let run = Run::of("ranks 2\nlatency 5\nrank *: repeat 40; iteration step; compute 1; allreduce 8; end; end\n");
    let mut report = report_on(&run.model);
    let advises = |report: &Report| first_screen(report, 100).contains("--what-if network=");
    assert!(!advises(&report), "one host");
    report.ranks[1].host = "another".to_owned();
    assert!(advises(&report), "two hosts: {}", first_screen(&report, 100));
    for kind in [ProblemKind::NoCore, ProblemKind::Preempted] {
        report.problems = vec![ProblemRow { kind, rank_count: 1, ranks: vec![1], count: 1, details: Vec::new() }];
        assert!(!advises(&report), "{kind:?}");
    }
}

#[test]
fn spreading_a_serial_phase_saves_no_more_than_is_lost() {
    // Rank 0 alone computes a for 30, while rank 1 computes 15: spread, each computes 22.5 in all, though 15 is half of a.
    let run = Run::of("ranks 2\nrank 0: phase a; compute 30; end; barrier\nrank 1: compute 15; barrier\n");
    let report = report_on(&run.model);
    let row = report.what_if.rows.iter().find(|row| row.region.as_deref() == Some("main/a")).unwrap();
    assert!((row.time_s * 1e3 - 22.5).abs() < 1e-6 && (row.saved_s * 1e3 - 7.5).abs() < 1e-6, "{row:?}");
}
