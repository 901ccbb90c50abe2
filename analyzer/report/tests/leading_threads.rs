//! Ranks whose first thread sleeps while another one does its work, in logs without summaries.

use lbprof_collector::Definition;
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::report;

/// A thread that computes `ms` before each of ten barriers, in which it waits for the rest of 10 ms.
fn steps(rank: RankScript, ms: f64) -> RankScript {
    rank.repeat(10, |_, step| step.compute(ms).barrier(10.0 - ms))
}

/// Rank 0 has a second thread that does the steps, while its first one has the core for `first_ms` of 100 ms. Rank 1 does them itself.
fn load_balance_percent(first_ms: f64) -> Option<f64> {
    let run = Scenario::ranks(2)
        .rank(0, |r| {
            let r = r.define(Definition::Thread(1, 2000)).usage(0.0, 0);
            r.thread(1, |r| steps(r, 5.0)).compute(100.0).usage(first_ms, 0)
        })
        .rank(1, |r| steps(r, 10.0));
    report(run).efficiency.load_balance.map(|share| (share * 1e11).round() / 1e9)
}

#[test]
fn a_rank_whose_first_thread_sleeps_is_what_another_thread_does() {
    assert_eq!(load_balance_percent(1.0), Some(75.0));
}

#[test]
fn a_rank_whose_first_thread_computes_is_that_thread() {
    assert_eq!(load_balance_percent(90.0), Some(100.0));
}
