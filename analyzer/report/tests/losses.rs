//! What is lost to what: also where no change of the network or the balance would save it.

use lbprof_collector::{Operation, ProblemKind};
use lbprof_report::findings::{FindingRow, FindingSubject};
use lbprof_report::{Report, findings};
use lbprof_simulator::scenario::Scenario;

use lbprof_test_runs::report;

const STEPS: u32 = 10;

fn sentences(report: &Report) -> Vec<String> {
    report.findings.iter().map(|finding| FindingRow::new(report, finding).sentence).collect()
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
    let finding = &report.findings[0];
    assert_eq!((finding.kind, finding.ranks.as_slice()), ("file access", &[0][..]));
    assert!((finding.seconds - 0.020 * f64::from(STEPS)).abs() < 1e-9, "{finding:?}");
    let operation = finding.place.as_ref().and_then(|place| place.operation.as_deref());
    assert_eq!(operation, Some("File_write_at"));
    let words = sentences(&report);
    assert!(words[0].contains("because rank 0 accesses files"), "{words:?}");
    let advice = finding.advice.as_ref().map_or("", |advice| advice.label_and_text().1);
    assert!(advice.ends_with("a faster network will not help"), "{advice}");
    // What remains is a millisecond a step.
    let of_network = report.loss_facts.communication.as_ref().unwrap();
    assert!((of_network.lost_s - 0.001 * f64::from(STEPS)).abs() < 1e-9, "{of_network:?}");
    assert!(of_network.remedy.as_ref().is_none_or(|row| row.saved_s <= of_network.lost_s), "{of_network:?}");
    let calls = report.findings.iter().find(|one| one.is_of_messages()).unwrap();
    assert!((calls.seconds - of_network.lost_s).abs() < 1e-9, "{calls:?}");
    let lost_s: f64 = report.findings.iter().map(|one| one.seconds).sum();
    assert!((lost_s - report.verdict.lost_s).abs() < 1e-9, "{lost_s} of {}", report.verdict.lost_s);
}

#[test]
fn nothing_is_said_of_the_network_where_others_were_not_recorded() {
    // All wait for rank 2, or for processes that were spawned.
    let steps = || Scenario::ranks(3).each(|_, script| script.repeat(STEPS, |_, script| script.compute(5).barrier(20)));
    let spawned = |scenario: Scenario| scenario.rank(0, |script| script.problem(ProblemKind::Spawned, 2));
    for (scenario, is_known) in [(steps(), true), (steps().missing(2), false), (spawned(steps()), false)] {
        let report = report(scenario);
        let finding = report.findings.iter().find(|one| one.is_of_messages()).unwrap();
        assert_eq!(finding.gain.is_some(), is_known, "{:?}", sentences(&report));
        let words = findings::part_in_words(finding, true);
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
    let finding = &report.findings[0];
    let words = sentences(&report);
    assert_eq!((finding.kind, finding.ranks.as_slice()), ("rank in calls", &[0][..]), "{words:#?}");
    let causes = &report.loss_facts.communication.as_ref().unwrap().ranks;
    assert!(causes.len() == 1 && causes[0].0 == 0 && causes[0].1 > 0.8, "{causes:?}");
    let operation = finding.place.as_ref().and_then(|place| place.operation.as_deref());
    assert!(["Recv", "Send"].contains(&operation.unwrap()), "{words:#?}");
    assert!(words[0].contains("wait for rank 0, which is mostly in MPI_"), "{words:#?}");
    assert!(report.verdict.is_mostly_communication());
}

#[test]
fn ranks_wait_where_they_are_made_to_also_once_they_have_called_finalize() {
    // rank 0  |=== first ===|Barrier|...... Finalize     |
    // rank 1  |Barrier .............|====== second ======|   waits in the barrier; then rank 0 waits for it, having called MPI_Finalize
    for (first, second, operation) in [(60.0, 100.0, "Finalize"), (100.0, 60.0, "Barrier")] {
        let report = report(Scenario::ranks(2).each(|rank, script| match rank {
            0 => script.compute(first).at("sum").barrier(0.1),
            _ => script.at("sum").barrier(first + 0.1).compute(second),
        }));
        let words = sentences(&report);
        let at = report.loss_facts.undivided.as_ref().and_then(|loss| loss.at.as_ref());
        assert_eq!(at.map(|at| at.operation.as_str()), Some(operation), "{words:#?}");
        let finding = report.findings.iter().find(|one| one.kind == "serialization").expect("both wait");
        let place = &finding.place.as_ref().expect("a place").text;
        assert!(place.contains(&format!("ranks wait in MPI_{operation}")), "{place}");
    }
}

#[test]
fn a_gain_is_no_more_than_what_is_lost() {
    // Rank 1 has more work in both regions of a step, so that even work in the outer region saves what is lost in the inner ones, too.
    let report = report(Scenario::ranks(3).each(|rank, script| {
        let (first, second) = if rank == 1 { (30.0, 15.0) } else { (10.0, 5.0) };
        script.repeat(STEPS, move |_, script| {
            script.iteration("step", |script| {
                let script = script.region("first", |script| script.compute(first)).allreduce(8, 30.1 - first);
                script.region("second", |script| script.compute(second)).allreduce(8, 15.1 - second)
            })
        })
    }));
    let finding = &report.findings[0];
    // It computes 45 ms of a step, the mean is 25 ms: one finding for both regions.
    assert_eq!((finding.subject, finding.ranks.as_slice()), (FindingSubject::SlowRank, &[1][..]));
    assert!((finding.seconds - 0.020 * f64::from(STEPS)).abs() < 1e-6, "{finding:?}");
    let gain = finding.gain.as_ref().expect("even work saves it");
    assert!(gain.share > 0.4 && gain.share <= report.verdict.lost_share.unwrap(), "{gain:?}");
}
