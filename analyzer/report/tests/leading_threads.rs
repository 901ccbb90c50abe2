//! Ranks whose first thread sleeps while another one does its work, in logs without summaries.

use lbprof_collector::{Definition, ProblemKind};
use lbprof_report::Report;
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::report;

/// A thread that computes `ms` before each of ten barriers, in which it waits for the rest of 10 ms.
fn steps(rank: RankScript, ms: f64) -> RankScript {
    rank.repeat(10, |_, step| step.compute(ms).barrier(10.0 - ms))
}

/// The report of a run whose rank 0 has a second thread that does the steps, while its first one has the core for `first_ms` of 100 ms. Rank 1 does them itself.
fn report_of(first_ms: f64) -> Report {
    let run = Scenario::ranks(2)
        .rank(0, |r| {
            let r = r.define(Definition::Thread(1, 2000)).usage(0.0, 0);
            r.thread(1, |r| steps(r, 5.0)).compute(100.0).usage(first_ms, 0)
        })
        .rank(1, |r| steps(r, 10.0));
    report(run)
}

fn load_balance_percent(report: &Report) -> Option<f64> {
    report.efficiency.load_balance.map(|share| (share * 1e11).round() / 1e9)
}

fn notes(report: &Report) -> Vec<&str> {
    let found = report.problems.iter().filter(|problem| problem.kind == ProblemKind::OtherThreads);
    found.flat_map(|problem| problem.details.iter().map(String::as_str)).collect()
}

#[test]
fn a_rank_whose_first_thread_sleeps_is_what_another_thread_does_and_the_report_says_so() {
    let report = report_of(1.0);
    assert_eq!(load_balance_percent(&report), Some(75.0));
    let note = "rank 0: 1 more thread, whose calls count as the first one's, which sleeps meanwhile";
    assert_eq!(notes(&report), [note]);
}

#[test]
fn a_rank_whose_first_thread_computes_is_that_thread() {
    let report = report_of(90.0);
    assert_eq!(load_balance_percent(&report), Some(100.0));
    assert!(
        matches!(notes(&report)[..], [note] if note.starts_with("rank 0: 1 more thread, ") && note.ends_with(" in MPI"))
    );
}
