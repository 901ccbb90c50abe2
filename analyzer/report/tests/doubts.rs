//! What the report says before any figure, and that it does not advise where it cannot.

use std::collections::BTreeMap;

use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::{Report, ReportDoubts, findings, json};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{report, usage};

/// 10 steps of 100 ms of computation, one rank 40 ms less, each ended by a barrier.
fn steps(rank: u32, script: RankScript) -> RankScript {
    let short = if rank == 1 { 40.0 } else { 0.0 };
    script.repeat(10, move |_, script| script.compute(100.0 - short).barrier(0.1 + short))
}

#[test]
fn a_run_without_cores_is_not_judged_by_its_times() {
    // Of 1 s of computation rank 0 had no core for 0.6 s, and was pushed off 100 times.
    let report = report(Scenario::ranks(2).each(|rank, script| {
        let (cpu_ms, delayed_ms) = if rank == 0 { (400, 600) } else { (1000, 0) };
        let before = script.define(usage(0, 0, 0, 0)).define(usage(1000, cpu_ms, delayed_ms, 100));
        steps(rank, before)
    }));
    assert!(report.doubts.no_core_to_compute.is_some() && report.doubts.no_core.is_none());
    let words = findings::answer_in_words(&report);
    assert!(
        words.starts_with("Ranks had no cores of their own, so the times say little about the program. Try: "),
        "{words}"
    );
    for note in [
        "Note: as measured, 20 % of the time is lost: ",
        "at least 0.60 s of the 1.00 s of rank 0's computation is waiting for a core.",
    ] {
        assert!(words.contains(note), "{note}: {words}");
    }
    assert!(!words.contains("Gain: "), "{words}");
    assert!(report.findings.iter().all(|one| one.gain.is_none()), "{:?}", report.findings);
}

#[test]
fn ranks_that_wait_in_mpi_without_a_core_are_reported_first_too() {
    // MPI yields: 100,000 switches. Half of the time without a core need not be of the computation, of which there is a tenth.
    let report = report(Scenario::ranks(2).each(|_, script| {
        let script = script.define(usage(0, 0, 0, 0)).define(usage(1000, 500, 500, 100_000));
        script.repeat(10, |_, script| script.compute(10.0).barrier(90.0))
    }));
    assert!(report.doubts.no_core.is_some());
    let words = findings::answer_in_words(&report);
    assert!(words.starts_with("Ranks had no cores of their own"), "{words}");
    assert!(
        words.contains("Note: ranks shared cores: on average they had none for 50.0 % of the time. Give"),
        "{words}"
    );
}

#[test]
fn ranks_without_a_core_in_mpi_do_not_overturn_that_they_wait_for_a_slow_rank() {
    // Rank 0 computes nine tenths of the time, the others three; while they wait they yield their cores, which other programs take.
    let report = report(Scenario::ranks(3).each(|rank, script| {
        let (own, cpu_ms, delayed_ms, switches) =
            if rank == 0 { (90.0, 1000, 0, 5) } else { (30.0, 350, 650, 100_000) };
        let script = script.define(usage(0, 0, 0, 0)).define(usage(1000, cpu_ms, delayed_ms, switches));
        script.repeat(10, |_, script| script.compute(own).barrier(100.0 - own))
    }));
    assert!(report.doubts.no_core.is_some());
    let words = findings::answer_in_words(&report);
    assert!(words.contains("rank 0 has 1.8 times the average work, and the others wait for it"), "{words}");
    assert!(words.contains("Note: ranks shared cores"), "{words}");
}

#[test]
fn a_short_run_without_cores_says_so_too_and_no_network_is_advised() {
    // Four ranks on two cores, as a benchmark of 50 ms: half of the time in a barrier, in which each has no core.
    let report = report(Scenario::ranks(2).each(|_, script| {
        let script = script.define(usage(0, 0, 0, 0)).define(usage(50, 25, 25, 5000));
        script.repeat(10, |_, script| script.compute(2.5).barrier(2.5))
    }));
    assert!(report.doubts.no_core.is_some());
    let words = findings::answer_in_words(&report);
    assert!(words.contains("ranks shared cores: on average they had none for"), "{words}");
    let calls = report.findings.iter().find(|one| one.is_of_messages()).expect("they wait in barriers");
    assert!(calls.gain.is_none() && calls.advice.is_none(), "{calls:?}");
}

#[test]
fn ranks_that_spin_in_mpi_without_cores_for_all_do_not_wait_for_a_network() {
    // Three ranks on two cores, of an MPI that keeps its core while it waits: 0.4 s in barriers, 0.22 s of that without a core.
    let spinning = |delayed_ms, switches| {
        report(Scenario::ranks(3).each(move |_, script| {
            let script = script.define(usage(0, 0, 0, 0)).define(usage(1000, 1000 - delayed_ms, delayed_ms, switches));
            script.repeat(10, |_, script| script.compute(60.0).barrier(40.0))
        }))
    };
    let report = spinning(220, 300);
    assert!(report.doubts.no_core.is_some());
    assert!(findings::answer_in_words(&report).starts_with("Ranks had no cores of their own"));
    // Less of it, or an MPI that yields.
    for (delayed_ms, switches) in [(120, 300), (220, 100_000)] {
        assert_eq!(spinning(delayed_ms, switches).doubts, ReportDoubts::default());
    }
}

/// Rank 0 computes 100 ms in each step and rank 1 60 ms; rank 0 lacks a core for so much of each second.
fn slow_rank_without_core(delayed_ms: u64) -> Report {
    report(Scenario::ranks(2).each(move |rank, script| {
        let delayed_ms = if rank == 0 { delayed_ms } else { 0 };
        let before = script.define(usage(0, 0, 0, 0)).define(usage(1000, 1000 - delayed_ms, delayed_ms, 100));
        steps(rank, before)
    }))
}

#[test]
fn a_finding_that_is_laid_to_a_rank_without_a_core_says_so() {
    // A fifth of its computation; the run as a whole is not in doubt, and advised.
    for (delayed_ms, lacked_core) in [(200, true), (20, false)] {
        let report = slow_rank_without_core(delayed_ms);
        assert_eq!(report.doubts, ReportDoubts::default());
        assert_eq!(report.findings[0].ranks, [0]);
        let words = "0.20 s of its 1.00 s for a core";
        let document = json::report_document(&report, &ListBounds::SMALL);
        let text = document["verdict"]["text"].as_str().unwrap();
        assert_eq!(text.contains(words), lacked_core, "{text}");
        assert_eq!(text.contains("for a core"), lacked_core, "{text}");
    }
}

#[test]
fn ranks_that_sleep_are_said_to() {
    let report = report(Scenario::ranks(3).each(|rank, script| {
        let cpu_ms = if rank == 1 { 900 } else { 100 };
        let script = script.define(usage(0, 0, 0, 0)).define(usage(1000, cpu_ms, 1, 5));
        script.repeat(10, |_, script| script.compute(99.0).barrier(1.0))
    }));
    assert!(report.doubts.asleep.is_some());
    let words = findings::answer_in_words(&report);
    let first = "Little is lost in MPI: 99 % of the time is spent outside of it, but most of it asleep or waiting for I/O. Look at: ";
    assert!(words.starts_with(first), "{words}");
    let note = "Note: ranks 0, 2 slept or waited for I/O in most of what counts as computation (at least 0.89 s of rank 0's 0.99 s used no CPU); others less, as far as is known.";
    assert!(words.ends_with(note), "{words}");
    assert_eq!(json::report_document(&report, &ListBounds::SMALL)["findings"][0]["kind"], "asleep");
}

#[test]
fn a_run_that_failed_is_described() {
    let failed = |rank: u32, script: RankScript| {
        if rank == 1 { steps(rank, script).exit_status(3) } else { steps(rank, script) }
    };
    let run = report(Scenario::ranks(4).each(failed));
    let failed = BTreeMap::from([(3, vec![1])]);
    assert_eq!(run.doubts, ReportDoubts { failed, ..ReportDoubts::default() });
    let words = findings::answer_in_words(&run);
    assert!(words.starts_with("10 % of the time is lost: ranks 0, 2, 3 have 1.1 times the average work"), "{words}");
    assert!(words.ends_with("Note: rank 1 ended with exit status 3."), "{words}");
    assert!(!words.contains("Gain: ") && !words.contains("Look at: "), "{words}");
    // A rank that ended with 0 did not fail.
    let fine = report(Scenario::ranks(4).each(|rank, script| steps(rank, script).exit_status(0)));
    assert_eq!(fine.doubts, ReportDoubts::default());
    assert!(findings::answer_in_words(&fine).contains("Gain: "), "{}", findings::answer_in_words(&fine));
}

#[test]
fn a_run_with_hardly_a_call_is_not_praised() {
    let silent = report(Scenario::ranks(4).each(|_, script| script.compute(100.0).barrier(0.1)));
    assert_eq!(silent.doubts, ReportDoubts { few_calls: Some(4), ..ReportDoubts::default() });
    let words = findings::answer_in_words(&silent);
    assert_eq!(words, "The ranks made 4 calls of MPI in 100.1 ms: too few to say how they depend on each other.");
    // The same with two calls a rank is judged, and one rank depends on nobody.
    let judged = report(Scenario::ranks(4).each(|_, script| script.compute(100.0).barrier(0.1).barrier(0.1)));
    assert!(
        findings::answer_in_words(&judged)
            .starts_with("Well balanced: 100 % of the time is computation, at most 0.2 % to gain."),
        "{}",
        findings::answer_in_words(&judged)
    );
    let alone = report(Scenario::ranks(1).each(|_, script| script.compute(100.0)));
    assert_eq!(alone.doubts, ReportDoubts::default());
    // 5 ms that are mostly start and end.
    let short = report(
        Scenario::ranks(2).each(|_, script| script.repeat(5, |_, script| script.compute(0.2).allreduce(8, 0.8))),
    );
    assert!(short.doubts.few_calls.is_some());
}
