//! What is lost by what: also where no change of the network or the balance would save it.

use lbprof_collector::{Operation, ProblemKind};
use lbprof_report::loss_kind::LossKind;
use lbprof_report::{Report, text};
use lbprof_simulator::scenario::Scenario;

use lbprof_test_runs::report;

const STEPS: u32 = 10;

/// Returns the losses as sentences.
fn sentences(report: &Report) -> Vec<String> {
    report.losses.iter().map(|loss| text::loss(report, loss)).collect()
}

#[test]
fn access_to_files_by_one_rank_is_no_loss_to_the_network() {
    // In each step of 26 ms rank 0 writes for 20 ms, while the two others wait in a barrier.
    let report = report(Scenario::ranks(3).each(|rank, script| {
        script.repeat(STEPS, move |_, script| match rank {
            0 => script.compute(5).call(Operation::File_write_at, 20, |_| {}).barrier(1),
            _ => script.compute(5).barrier(21),
        })
    }));
    let loss = &report.losses[0];
    assert_eq!((loss.kind, loss.ranks.as_slice()), (LossKind::FileAccess, &[(0, 1.0)][..]));
    assert!((loss.lost_s - 0.020 * f64::from(STEPS)).abs() < 1e-9, "{loss:?}");
    assert_eq!(loss.at.as_ref().map(|at| at.operation.as_str()), Some("File_write_at"));
    let words = sentences(&report);
    assert!(words[0].contains("access to files, and waiting for that of rank 0"), "{words:?}");
    assert!(words[0].ends_with("a better network saves nothing."), "{words:?}");
    // What remains is a millisecond a step.
    let of_network = report.losses.iter().find(|loss| loss.kind == LossKind::Communication).unwrap();
    assert!((of_network.lost_s - 0.001 * f64::from(STEPS)).abs() < 1e-9, "{of_network:?}");
    assert!(of_network.saved_s.is_none_or(|saved_s| saved_s <= of_network.lost_s), "{of_network:?}");
    let lost_s: f64 = report.losses.iter().map(|loss| loss.lost_s).sum();
    assert!((lost_s - report.verdict.lost_s).abs() < 1e-9, "{lost_s} of {}", report.verdict.lost_s);
}

#[test]
fn nothing_is_said_of_the_network_where_others_were_not_recorded() {
    // All wait for rank 2, or for processes that were spawned.
    let steps = || Scenario::ranks(3).each(|_, script| script.repeat(STEPS, |_, script| script.compute(5).barrier(20)));
    let spawned = |scenario: Scenario| scenario.rank(0, |script| script.problem(ProblemKind::Spawned, 2));
    for (scenario, is_known) in [(steps(), true), (steps().missing(2), false), (spawned(steps()), false)] {
        let report = report(scenario);
        let loss = report.losses.iter().find(|loss| loss.kind == LossKind::Communication).unwrap();
        assert_eq!(loss.saved_s.is_some(), is_known, "{:?}", sentences(&report));
        let words = text::loss(&report, loss);
        assert_eq!(words.contains("processes that were not recorded"), !is_known, "{words}");
    }
}

#[test]
fn a_rank_for_whose_calls_all_wait_is_named_not_the_call_in_which_they_do() {
    // In each step of 26 ms rank 0 receives from and sends to a few others for 20 ms, while all wait in MPI_Allreduce.
    let n_ranks = 128;
    let report = report(Scenario::ranks(n_ranks).each(|rank, script| {
        script.repeat(STEPS, move |_, script| {
            let script = script.compute(5);
            match rank {
                0 => script.recv(1, 0, 8, 10).send(2, 0, 8, 10).allreduce(8, 1),
                1 => script.send(0, 0, 8, 10).allreduce(8, 11),
                2 => script.recv(0, 0, 8, 20).allreduce(8, 1),
                _ => script.allreduce(8, 21),
            }
        })
    }));
    let loss = &report.losses[0];
    let words = sentences(&report);
    assert_eq!((loss.kind, loss.ranks.len()), (LossKind::Communication, 1), "{words:#?}");
    assert!(loss.ranks[0].0 == 0 && loss.ranks[0].1 > 0.8, "{words:#?}");
    assert!(["Recv", "Send"].contains(&loss.at.as_ref().unwrap().operation.as_str()), "{words:#?}");
    assert!(words[0].contains("waiting for the calls of rank"), "{words:#?}");
    assert!(report.verdict.is_mostly(LossKind::Communication));
}

#[test]
fn ranks_wait_for_each_region_where_it_makes_them_wait() {
    // In each step rank 1 computes for 30 ms and the others for 10 ms; after the last one it alone writes for 300 ms, while the others have called MPI_Finalize.
    let report = report(Scenario::ranks(4).each(|rank, script| {
        let work = if rank == 1 { 30.0 } else { 10.0 };
        let script = script.repeat(STEPS, move |_, script| {
            script.region("refine", |script| script.compute(work)).allreduce(8, 30.1 - work)
        });
        match rank {
            1 => script.region("output", |script| script.compute(300.0)),
            _ => script,
        }
    }));
    let words = sentences(&report);
    let place_of = |region: &str| {
        let mut losses = report.losses.iter().filter(|loss| loss.kind == LossKind::Imbalance);
        let loss = losses.find(|loss| loss.region.as_deref() == Some(region));
        loss.and_then(|loss| Some(loss.at.as_ref()?.operation.clone()))
    };
    assert_eq!(place_of("main/output").as_deref(), Some("Finalize"), "{words:#?}");
    assert_eq!(place_of("main/refine").as_deref(), Some("Allreduce"), "{words:#?}");
    assert!(words.iter().any(|words| words.contains("Ranks wait for it mostly in MPI_Finalize.")), "{words:#?}");
}

#[test]
fn a_gain_that_exceeds_its_loss_says_why() {
    // Rank 1 has more work in both regions of a step, so that even work in the outer region saves the losses of the inner ones, too.
    let report = report(Scenario::ranks(3).each(|rank, script| {
        let (first, second) = if rank == 1 { (30.0, 15.0) } else { (10.0, 5.0) };
        script.repeat(STEPS, move |_, script| {
            script.iteration("step", |script| {
                let script = script.region("first", |script| script.compute(first)).allreduce(8, 30.1 - first);
                script.region("second", |script| script.compute(second)).allreduce(8, 15.1 - second)
            })
        })
    }));
    for loss in &report.losses {
        let words = text::loss(&report, loss);
        let is_more = loss.saved_s.is_some_and(|saved_s| saved_s > loss.lost_s + 0.005 * report.verdict.elapsed_s);
        assert_eq!(words.contains("with what it saves of other losses"), is_more, "{words}");
    }
}
