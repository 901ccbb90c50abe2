//! Parts of runs: what is computed from them, and that nothing else changes.

mod support;

use lbprof_analyzer::selection::Selection;
use lbprof_collector::definition::RankList;
use lbprof_collector::scenario::Scenario;
use lbprof_collector::{Activity, ProblemKind};
use support::{json, model_in, part_in, plain, report_on, try_part_in, written};

/// Only these ranks.
fn ranks(list: &str) -> Selection {
    Selection { ranks: Some(list.parse().expect("a list of ranks")) }
}

/// Eight ranks on two hosts; rank p computes 10·(p + 1) ms, and all meet.
fn eight_ranks() -> Scenario {
    Scenario::ranks(8).hosts(|rank| format!("node{}", rank / 4)).each(|rank, script| {
        script
            .region("work", |script| script.compute(10 * (rank + 1)).send(0, 1, 100 * u64::from(rank), 1.0))
            .barrier(10 * (8 - rank))
    })
}

#[test]
fn everything_is_computed_from_the_selected_ranks_alone() {
    let dir = written(eight_ranks());
    let model = part_in(dir.path(), &ranks("host=node0,6-7:1"));
    let numbers: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 6, 7]);
    let report = report_on(&model);
    // They compute 10, 20, 30, 40, 70 and 80 ms.
    assert_eq!(report.efficiency.times.load_balance(), Some(0.25 / 6.0 / 0.08));
    assert_eq!(report.data.hosts, 2);
    assert_eq!(report.verdict.worst.as_ref().unwrap().rank, 7);
    let region = report.regions.iter().find(|row| row.path == "main/work").unwrap();
    assert_eq!(region.totals.invocations, 6);
    let sends = report.call_sites.iter().find(|row| row.operation == "Send").unwrap();
    assert_eq!((sends.sum.calls, sends.sum.sent), (6, 100 * (1 + 2 + 3 + 6 + 7)));
}

#[test]
fn selecting_all_ranks_changes_no_figure() {
    let dir = written(eight_ranks());
    let all = json(&report_on(&model_in(dir.path())));
    let selected = json(&report_on(&part_in(dir.path(), &ranks("0-"))));
    let without = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        value.as_object_mut().unwrap().remove("selection");
        value
    };
    assert_eq!(without(&all), without(&selected));
    assert_ne!(all, selected);
}

#[test]
fn what_was_selected_is_told_at_the_head() {
    let dir = written(eight_ranks());
    let report = report_on(&part_in(dir.path(), &ranks("0-:2")));
    insta::assert_snapshot!(plain(&report, 100));
}

#[test]
fn of_problems_those_of_the_selected_ranks_are_told() {
    let scenario = eight_ranks()
        .missing(2)
        .missing(5)
        .rank(1, |script| script.problem(ProblemKind::PhaseMismatch, 3))
        .rank(7, |script| script.problem(ProblemKind::TooMany, 1));
    let dir = written(scenario);
    let report = report_on(&part_in(dir.path(), &ranks("0-3")));
    let kinds: Vec<ProblemKind> = report.problems.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [ProblemKind::PhaseMismatch, ProblemKind::MissingRank]);
    assert_eq!(report.problems[1].details, ["of 4 selected ranks: 2"]);
    assert!(!report.data.complete);
    let report = report_on(&part_in(dir.path(), &ranks("0,3,7")));
    assert_eq!(report.problems.iter().map(|row| row.kind).collect::<Vec<_>>(), [ProblemKind::TooMany]);
    assert!(report.data.complete, "no selected rank is missing");
    let error = try_part_in(dir.path(), &ranks("2,5")).unwrap_err();
    assert_eq!(error, "--ranks: there is no log of any of the ranks 2, 5");
}

#[test]
fn ranks_that_were_left_out_of_recording_are_no_problem_of_a_selection() {
    let recorded = RankList::from_ranks([0, 1, 2, 3]);
    let scenario = (0..8).fold(eight_ranks(), |all, rank| {
        let all = all.header(rank, |header| header.recorded_ranks = recorded.clone());
        if rank < 4 { all } else { all.missing(rank) }
    });
    let dir = written(scenario);
    let report = report_on(&part_in(dir.path(), &ranks("1-")));
    assert_eq!((report.data.ranks_recorded, report.ranks.len()), (3, 3));
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let computation: f64 = report.ranks.iter().map(|row| row.seconds[Activity::Computation as usize]).sum();
    assert!((computation - 0.09).abs() < 1e-12);
}
