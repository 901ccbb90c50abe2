//! The program's tree: its functions as it calls them, loops and phases in them, down to the calls of MPI. Runs made by hand, whose
//! figures are known.

use lbprof_analysis::model::Model;
use lbprof_report::CallTreeRow;
use lbprof_report::code::call_tree::CallTreeNodeKind;
use lbprof_report::code::call_tree::CallTreeNodeKind::{Call, Function, Loop, Phase, Program};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{found_model, model, report_on};

/// The rows but that of the end of MPI, which each run has.
fn rows(model: &Model) -> Vec<CallTreeRow> {
    let mut rows = report_on(model).call_tree;
    rows.retain(|row| row.name != "MPI_Finalize");
    rows
}

/// Depth, kind and name of each row; without symbols functions have no names.
fn shape(rows: &[CallTreeRow]) -> Vec<(u32, CallTreeNodeKind, &str)> {
    rows.iter().map(|row| (row.depth, row.kind, row.name.as_str())).collect()
}

#[track_caller]
fn assert_ms(seconds: f64, ms: f64) {
    assert!((seconds * 1e3 - ms).abs() < 1e-6, "{} ms instead of {ms}", seconds * 1e3);
}

/// Twenty steps in a function: it computes 1 ms, calls one that computes 4 ms (8 on rank 1) between two barriers, and reduces.
fn steps() -> Scenario {
    Scenario::ranks(2).each(|rank, script| {
        let work = if rank == 1 { 8.0 } else { 4.0 };
        let script = script.through(&["main"]).at("start").barrier(0.5);
        let script = script.repeat(20, move |_, script| {
            let script = script.through(&["main too", "step"]).compute(1).at("enter").barrier(0.25);
            let script = script.compute(work).at("leave").barrier(8.25 - work);
            script.through(&["main too"]).at("reduce").allreduce(8, 0.5)
        });
        script.through(&[]).at("end").barrier(0.25)
    })
}

#[test]
fn functions_loops_and_calls_are_a_tree() {
    let rows = rows(&found_model(steps()));
    let expected = [
        (0, Program, "main"),
        (1, Function, ""),
        (2, Loop, "loop"),
        (3, Function, ""),
        (4, Call, "MPI_Barrier"),
        (4, Call, "MPI_Barrier"),
        (3, Call, "MPI_Allreduce"),
        (1, Function, ""),
        (2, Call, "MPI_Barrier"),
        (1, Call, "MPI_Barrier"),
    ];
    assert_eq!(shape(&rows), expected);
    let parents: Vec<Option<usize>> = rows.iter().map(|row| row.parent).collect();
    let at = |at: usize| Some(at);
    assert_eq!(parents, [None, at(0), at(1), at(2), at(3), at(3), at(2), at(0), at(7), at(0)]);
}

#[test]
fn a_node_has_the_time_of_what_is_in_it() {
    let model = found_model(steps());
    let rows = rows(&model);
    let [program, in_loop, inner, leave] = [0, 2, 3, 4].map(|at| &rows[at]);
    // What is computed before the first call of the loop is not of it: it may be anything.
    assert_ms(program.computation_s, 20.0 * (2.0 * 1.0 + 4.0 + 8.0));
    assert_ms(in_loop.computation_s, 20.0 * (4.0 + 8.0) + 19.0 * 2.0);
    assert_ms(inner.computation_s, 20.0 * (4.0 + 8.0));
    assert_ms(inner.max_computation_s, 20.0 * 8.0);
    assert_eq!((inner.slowest_rank, inner.load_balance), (Some(1), Some(0.75)));
    assert!(inner.micro_load_balance.is_some_and(|micro| (micro - 1.0).abs() < 1e-9), "it is a region");
    assert_ms(leave.time_s, 20.0 * (0.25 + 4.25));
    assert_ms(leave.waiting_s.unwrap(), 20.0 * 4.0);
    // The wait is caused by what rank 1 computes more, in the function.
    assert_ms(inner.caused_s.unwrap(), 20.0 * 4.0);
    assert_ms(inner.caused_alone_s.unwrap(), 20.0 * 4.0);
    // Lost there: the waiting caused, and both barriers besides waiting.
    assert_ms(inner.lost_s.unwrap(), 20.0 * (4.0 + 2.0 * 0.25 + 2.0 * 0.25));
    assert_ms(leave.lost_alone_s.unwrap(), 20.0 * 2.0 * 0.25);
    assert_eq!((leave.calls, inner.calls, in_loop.calls), (40, 80, 120));
    assert_eq!(in_loop.region.as_deref(), Some("main/loop"));
}

#[test]
fn what_is_computed_before_a_function_with_a_loop_is_not_of_the_function() {
    // A step computes 8 ms, exchanges in six rounds with a barrier each, and reduces.
    let model = found_model(Scenario::ranks(2).each(|_, script| {
        script.through(&["main"]).at("start").barrier(0.5).repeat(20, |_, script| {
            let script = script.compute(8).through(&["main too", "step"]);
            let rounds = script.repeat(6, |round, script| {
                let pack_ms = if round > 0 { 0.125 } else { 0.0 };
                script.compute(pack_ms).at("send").barrier(0.25).compute(0.0625).at("wait").barrier(0.5)
            });
            rounds.through(&["main too"]).compute(1).at("reduce").allreduce(8, 0.5)
        })
    }));
    let rows = rows(&model);
    let expected = [
        (0, Program, "main"),
        (1, Function, ""),
        (2, Loop, "loop"),
        (3, Function, ""),
        (4, Loop, "loop in +0x"),
        (5, Call, "MPI_Barrier"),
        (5, Call, "MPI_Barrier"),
        (3, Call, "MPI_Allreduce"),
        (1, Function, ""),
        (2, Call, "MPI_Barrier"),
    ];
    let is_like = |(found, expected): (&(u32, CallTreeNodeKind, &str), &(u32, CallTreeNodeKind, &str))| {
        (found.0, found.1) == (expected.0, expected.1) && (found.1 == Loop || found.2 == expected.2)
    };
    assert!(shape(&rows).iter().zip(&expected).all(is_like), "{:?}", shape(&rows));
    assert_ms(rows[3].computation_s, 2.0 * 20.0 * (5.0 * 0.125 + 6.0 * 0.0625));
    assert_eq!(rows[3].computation_s, rows[4].computation_s, "all of it is in its rounds");
    // The first step's is before the loop's first call: it may be anything.
    assert_ms(rows[2].alone_s, 2.0 * (20.0 + 19.0 * 8.0));
    assert_eq!(rows[4].calls, 2 * 20 * 12);
}

#[test]
fn a_marked_phase_lies_in_the_function_around_its_calls() {
    // The phase is begun in `step`, and what is called in it in turn.
    let run = Scenario::ranks(2).each(|_, script| {
        script.repeat(10, |_, script| {
            let script = script.through(&["main", "step"]);
            let halo = |script: RankScript| {
                let script = script.compute(1).at("begin").barrier(0.25);
                script.through(&["main", "step", "exchange"]).compute(2).at("meet").allreduce(8, 0.5)
            };
            script.region("halo", halo).through(&["main"]).compute(3).at("end").barrier(0.25)
        })
    });
    let rows = rows(&model(run));
    let expected = [
        (0, Program, "main"),
        (1, Function, ""),
        (2, Function, ""),
        (3, Phase, "halo"),
        (4, Function, ""),
        (5, Call, "MPI_Allreduce"),
        (4, Call, "MPI_Barrier"),
        (2, Call, "MPI_Barrier"),
    ];
    assert_eq!(shape(&rows), expected);
    // Computation is of the phase: where in it, its marks do not say.
    assert_ms(rows[3].alone_s, 2.0 * 10.0 * 3.0);
    assert_ms(rows[0].alone_s, 2.0 * 10.0 * 3.0);
}

#[test]
fn without_call_paths_there_are_calls_alone() {
    let run = Scenario::ranks(2).each(|_, script| script.repeat(5, |_, script| script.compute(1).barrier(0.25)));
    let model = model(run);
    assert_eq!(shape(&rows(&model)), [(0, Program, "main"), (1, Call, "MPI_Barrier")]);
    assert!(
        !lbprof_test_runs::plain(&report_on(&model), 100).contains("Call tree"),
        "the table of regions says as much"
    );
}
