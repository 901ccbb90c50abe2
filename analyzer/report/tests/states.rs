//! Intervals that the recorder has seen in a state of computation: computation in every sum, and that state where states are kept apart.

use lbprof_analysis::metrics::sampled::core_time::RankCoreTimes;
use lbprof_analysis::model::Model;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::{Activity, CoreState};
use lbprof_report::Report;
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::{model_asking, written};

const STEPS: u32 = 20;

/// Ranks compute for 5 ms, then rank 1 is stopped for 10 ms, in each step.
fn stopped_rank(knows_switches: bool) -> Model {
    let scenario = Scenario::ranks(2).each(move |rank, script| {
        let script = script.repeat(STEPS, move |_, script| {
            let script = script.at("work").compute(5.0);
            let script = if rank == 1 { script.in_state(CoreState::Stopped, 10.0) } else { script };
            script.at("end").barrier(if rank == 1 { 0.1 } else { 10.1 })
        });
        if knows_switches { script.off_core(&[], 0.0, 0) } else { script }
    });
    model_asking(written(scenario).path(), &["faster=stopped:2"])
}

#[test]
fn a_recorded_state_is_computation_of_which_more_is_known() {
    let model = stopped_rank(true);
    let rank_1 = &model.ranks[1];
    assert!((rank_1.inclusive(0)[Activity::Computation as usize] - 0.3).abs() < 1e-6);
    let time = RankCoreTimes::new(rank_1).expect("switches are known").in_all();
    assert!((time.get(CoreState::Stopped) - 0.2).abs() < 1e-6, "{time:?}");
    let windows = &model.statistics.as_ref().unwrap().time_windows;
    let computing: i64 = windows.computation.iter().map(|ranks| ranks[1]).sum();
    assert!((computing as f64 * 1e-9 - 0.3).abs() < 1e-3, "{computing}");
}

#[test]
fn others_wait_for_a_rank_in_a_recorded_state() {
    let model = stopped_rank(true);
    let symbols = lbprof_analysis::structure::code::symbols::sites_without_names(&model.sites);
    let report = Report::new(&model, &symbols);
    let causes = &report.blocking.as_ref().unwrap().causes;
    let stopped = causes.iter().find(|row| row.state == Some("stopped")).expect("a cause");
    assert_eq!(stopped.cause.rank, 1);
    assert!((stopped.cause.caused_s - 0.2).abs() < 0.01, "{stopped:?}");
    let in_state: f64 = report.windows.iter().map(|window| window.time_s("stopped")).sum();
    assert!((in_state - 0.2).abs() < 1e-3, "{in_state}");
}

#[test]
fn a_state_that_takes_half_as_long_shortens_the_run() {
    let model = stopped_rank(true);
    let times = &model.followed.as_ref().unwrap().scenario_times;
    let asked = times.iter().find(|(scenario, _)| matches!(scenario, WhatIfScenario::FunctionFaster(..)));
    let saved_s = model.elapsed_s() - asked.expect("a prediction").1;
    assert!((saved_s - 0.1).abs() < 0.005, "{saved_s}");
}
