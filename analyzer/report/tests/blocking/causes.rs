//! Causes of waits worked out by hand: the situations of Lemeire & Dirkx (2003), Figs 1 to 3, and the classes of §§3.2 and 3.3.
//!
//! Where ranks end at different times, the last one is made to wait for nobody, or all end together, so that nothing but the
//! waits in question has causes.

use lbprof_analysis::metrics::blocking::{CauseClass, WaitsByClass};
use lbprof_report::findings::{self, FindingSubject};
use lbprof_report::losses::verdict::UndividedReason;
use lbprof_report::time::loops::LoopConfidence;

use super::run::Run;
use CauseClass::{Communication, Control, Imbalance, MessageDelay};
use lbprof_test_runs::{json, plain, report_on};

/// The causes that are to be found, in milliseconds: rank, region, class.
fn assert_causes(run: &Run, expected: &[(u32, &str, CauseClass, f64)]) {
    let causes = run.causes();
    let found: Vec<_> =
        causes.iter().map(|((rank, region, class), ms)| (*rank, region.as_str(), *class, *ms)).collect();
    let mut expected = expected.to_vec();
    expected.sort_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
    assert_eq!(found.len(), expected.len(), "{found:?}\ninstead of\n{expected:?}");
    for (found, expected) in found.iter().zip(&expected) {
        let same = (found.0, found.1, found.2) == (expected.0, expected.1, expected.2);
        assert!(same && (found.3 - expected.3).abs() < 1e-4, "{found:?} instead of {expected:?}");
    }
}

fn by_class(run: &Run) -> WaitsByClass {
    report_on(&run.model).blocking.expect("ranks were followed").sums.by_class
}

#[test]
fn a_late_sender_is_the_cause() {
    // Rank 0 ends 5 before rank 1, which computes then.
    let run = Run::of(
        "ranks 2\nrank 0:\n phase a\n compute 30\n end\n send 1\nrank 1:\n compute 10\n recv 0\n phase b\n compute 5\n end\n",
    );
    assert_causes(&run, &[(0, "a", Imbalance, 20.0), (1, "b", Imbalance, 5.0)]);
}

/// Fig 1: a wait follows from imbalance, from communication and from the delay of the message.
#[test]
fn imbalance_communication_and_delay_add_up() {
    // rank 0  |== a 10 ==|recv . . . . . . . . 9|             19: the message was sent at 16, came at 17, and was taken by 19
    // rank 1  |==== a 14 ====|send 2|send 2|= b 1 =|          19
    // rank 2  |========= c 17 =========|recv 2|               19: its message is there
    //
    // Rank 0 has a 10 by its wait; rank 1 a 14, sends 2, then 3 of delay: 4 + 2 + 3 = 9.
    let run = Run::of(
        "ranks 3\nlatency 1\noverhead 2\n\
         rank 0: phase a; compute 10; end; recv 1\n\
         rank 1: phase a; compute 14; end; send 2; send 0; phase b; compute 1; end\n\
         rank 2: phase c; compute 17; end; recv 1\n",
    );
    assert_causes(&run, &[(1, "a", Imbalance, 4.0), (1, "main", Communication, 2.0), (1, "main", MessageDelay, 3.0)]);
}

/// Fig 2a: one rank makes several wait.
#[test]
fn one_causes_several_waits() {
    let run = Run::of(
        "ranks 3\nrank 0,2: phase x; compute 5; end; recv 1\nrank 1: phase x; compute 20; end; send 0; send 2\n",
    );
    assert_causes(&run, &[(1, "x", Imbalance, 30.0)]);
}

/// Fig 2a: several ranks end one wait.
#[test]
fn several_share_a_wait_by_how_late_they_are() {
    // Rank 0 waits from 5 to 11; rank 1 is late by 6, rank 2 by 3: 6 · 2/3 and 6 · 1/3.
    let run = Run::of(
        "ranks 3\n\
         rank 0: irecv 1 as a; irecv 2 as b; phase x; compute 5; end; waitall a b\n\
         rank 1: phase x; compute 11; end; send 0\n\
         rank 2: phase x; compute 8; end; send 0; phase x; compute 3; end\n",
    );
    assert_causes(&run, &[(1, "x", Imbalance, 4.0), (2, "x", Imbalance, 2.0)]);
}

/// Fig 2b: imbalance of one rank cancels with the other's communication, and what is left of several is reduced in proportion.
#[test]
fn imbalances_cancel_in_proportion() {
    // rank 0  |= x 6 =|send 4|recv . . . . . 12|    22: x 6, communication 4
    // rank 1  |==== x 12 ====|== y 6 ==|send 4|     22: x 12, y 6, and 4 of delay
    //
    // Of x 6 cancels. What is left, x 6, y 6 and the delay 4, is 16 for a wait of 12, for rank 0's 4 of communication make up for as
    // much: each is reduced by a quarter. Then rank 0 receives its own message for 8, and rank 1 has ended.
    let run = Run::of(
        "ranks 2\noverhead 4\n\
         rank 0: phase x; compute 6; end; isend 0 on self as s; recv 1; recv 0 on self; wait s\n\
         rank 1: phase x; compute 12; end; phase y; compute 6; end; send 0\n",
    );
    assert_causes(
        &run,
        &[
            (0, "main", Communication, 8.0),
            (1, "main", MessageDelay, 3.0),
            (1, "x", Imbalance, 4.5),
            (1, "y", Imbalance, 4.5),
        ],
    );
}

/// Fig 2b: a wait that makes another wait is replaced by its cause, beside what its rank did itself.
#[test]
fn a_wait_that_causes_another_is_replaced_by_its_cause() {
    // rank 0  |= x 6 =|y 4|recv . . . . . 20|     own path x 6, y 4
    // rank 1  |= x 10 =|recv . . . . . . .20|send    its path x 10 and, for its wait, rank 2's x 20
    // rank 2  |============ x 30 ===========|send
    //
    // Rank 0 and 1 both computed 10, so it is rank 2 alone that makes both wait. By the paper's rule rank 0's y would cancel with nothing in
    // particular, and 4 of rank 1's x would be blamed.
    let run = Run::of(
        "ranks 3\n\
         rank 0: phase x; compute 6; end; phase y; compute 4; end; recv 1\n\
         rank 1: phase x; compute 10; end; recv 2; send 0\n\
         rank 2: phase x; compute 30; end; send 1\n",
    );
    assert_causes(&run, &[(2, "x", Imbalance, 40.0)]);
}

/// Fig 3: only what was done since T*, when both were synchronised last, counts; the wait T1 is replaced.
#[test]
fn only_what_was_done_since_the_last_synchronisation_counts() {
    // The barrier is entered at 3, 8 and 5: waits 5, 0 and 3 for rank 1's s. Then rank 0 waits for rank 1, which waits for rank 2:
    // 20 each, for rank 2's x, whatever ranks did in s.
    let run = Run::of(
        "ranks 3\n\
         rank 0: phase s; compute 3; end; barrier; phase x; compute 5; end; recv 1\n\
         rank 1: phase s; compute 8; end; barrier; phase x; compute 5; end; recv 2; send 0\n\
         rank 2: phase s; compute 5; end; barrier; phase x; compute 25; end; send 1\n",
    );
    assert_causes(&run, &[(1, "s", Imbalance, 8.0), (2, "x", Imbalance, 40.0)]);
}

#[test]
fn a_message_synchronises_both_ways() {
    // Rank 1 is ahead in s by 10 when rank 0's message comes: it waits for that. Then rank 0 waits 4 for rank 1's x, and s is past.
    let run = Run::of(
        "ranks 2\n\
         rank 0: phase s; compute 12; end; send 1; phase x; compute 2; end; recv 1\n\
         rank 1: phase s; compute 2; end; recv 0; phase x; compute 6; end; send 0\n",
    );
    assert_causes(&run, &[(0, "s", Imbalance, 10.0), (1, "x", Imbalance, 4.0)]);
}

/// What both did, in whatever order, cancels at a collective: it synchronises when it ends the wait, not before.
#[test]
fn what_both_did_before_a_collective_cancels() {
    for collective in ["barrier", "allreduce 8", "ibarrier as c; wait c"] {
        // Rank 1 did 4 more of a, before the b that it did as long as rank 0.
        let run = Run::of(&format!(
            "ranks 2\nrank *: barrier\n\
             rank 0: phase a; compute 5; end; phase b; compute 2; end; {collective}\n\
             rank 1: phase a; compute 9; end; phase b; compute 2; end; {collective}\n"
        ));
        assert_causes(&run, &[(1, "a", Imbalance, 4.0)]);
    }
}

/// The same where a send waits for its receive, whichever of both is followed first.
#[test]
fn what_both_did_before_a_rendezvous_cancels() {
    for (sender, receiver) in [(0, 1), (1, 0)] {
        let run = Run::of(&format!(
            "ranks 2\neager 4096\n\
             rank {sender}: phase a; compute 5; end; phase b; compute 2; end; send {receiver} bytes 5000\n\
             rank {receiver}: phase a; compute 9; end; phase b; compute 2; end; recv {sender}\n"
        ));
        assert_causes(&run, &[(receiver, "a", Imbalance, 4.0)]);
    }
}

#[test]
fn waiting_for_partitioning_is_control_of_parallelism() {
    let run = Run::of(
        "ranks 4\nrank 0: phase part control; compute 10; end; bcast 8 root 0\nrank 1..3: bcast 8 root 0\n\
         rank *: phase work; compute 20; end; barrier\n",
    );
    assert_causes(&run, &[(0, "part", Control, 30.0)]);
    let beta = run.sums().phases.iter().find(|phase| phase.class == Control).and_then(|phase| phase.beta());
    assert_eq!(beta.map(f64::round), Some(3.0), "a second of it makes three ranks wait");
    let classes = by_class(&run);
    assert!((classes.control_s - 0.03).abs() < 1e-9 && classes.amdahl_s + classes.global_s == 0.0, "{classes:?}");
}

/// Classes of imbalance: one rank alone (Amdahl), in the sum (global), slow in turn (temporal), in seconds. All is 1e-3 of a wait.
fn assert_imbalance(text: &str, (amdahl, global, temporal): (f64, f64, f64)) {
    let run = Run::of(text);
    let found = by_class(&run);
    for (found, expected) in [(found.amdahl_s, amdahl), (found.global_s, global), (found.temporal_s, temporal)] {
        // The time alone is sampled at 16384 instants or more.
        assert!((found - expected).abs() < 1e-3 * (amdahl + global + temporal), "{found} instead of {expected} s");
    }
}

#[test]
fn what_one_rank_does_alone_is_amdahls() {
    // 3 ranks wait for 100 ms.
    assert_imbalance(
        "ranks 4\nrank 0: phase init serial; compute 100; end; bcast 8 root 0\nrank 1..3: bcast 8 root 0\n\
         rank *: compute 200; barrier\n",
        (0.3, 0.0, 0.0),
    );
}

#[test]
fn what_a_rank_always_does_more_is_global() {
    // Rank 1 computes 10 ms more in each of 5 iterations.
    assert_imbalance(
        "ranks 2\nrank *: repeat 5; iteration step; compute 10+10*$r; barrier; end; end\n",
        (0.0, 0.05, 0.0),
    );
}

/// Ranks that are slow in turn, 6 ms and 3 ms, in 40 steps without markers, each ended by a sum of so many bytes. It looks like a function
/// that is called from several places where the amounts differ much.
#[test]
fn what_depends_on_a_loop_that_is_unsure_is_not_divided() {
    let report = |bytes: &str| {
        let text =
            format!("ranks 2\nrank *: barrier; repeat 40; compute 3+3*(($i+$r)%2); allreduce {bytes}; end; barrier\n");
        let run = Run::found(&text);
        (by_class(&run), report_on(&run.model))
    };
    // The longest computes 20 · 9 = 180 ms, and 240 ms are the sum of the slowest.
    let (classes, known) = report("8");
    assert_eq!(known.loops.rows[0].confidence, Some(LoopConfidence::Likely));
    let serialization = known.verdict.serialization.unwrap();
    let slow_in_turn_s = serialization.slow_in_turn_s.unwrap();
    assert!((slow_in_turn_s - 0.060).abs() < 1e-6 && known.verdict.undivided.is_none(), "{:?}", known.verdict);
    assert!(classes.temporal_s > 0.119 && classes.unsplit_s == 0.0, "{classes:?}");
    let (classes, unsure) = report("8*(1+99*($i%3))");
    assert_eq!(unsure.loops.rows[0].confidence, Some(LoopConfidence::Unsure));
    let serialization = unsure.verdict.serialization.unwrap();
    assert!((serialization.total_s - 0.060).abs() < 1e-6, "{serialization:?}");
    assert_eq!((serialization.slow_in_turn_s, serialization.chains_s), (None, None));
    assert_eq!(unsure.verdict.undivided, Some(UndividedReason::UnsureLoop));
    assert!(classes.unsplit_s > 0.119 && classes.temporal_s + classes.chains_s == 0.0, "{classes:?}");
    let parts = unsure.overheads.imbalance;
    assert!(parts.temporal_s.is_none() && (parts.unsplit_s.unwrap() - 0.120).abs() < 1e-6, "{parts:?}");
    let finding = unsure.findings.iter().find(|one| one.kind == "serialization").expect("not divided");
    let advice = finding.advice.as_ref().expect("advice").label_and_text().1;
    assert!(advice.contains("or name a call that ends one (--loop CALLSITE)"), "{advice}");
    let words = findings::answer_in_words(&unsure);
    assert!(words.contains("Look at: which loop is the main one: mark its iterations"), "{words}");
    // The tables, the page and JSON say the same.
    let json: serde_json::Value = serde_json::from_str(&json(&unsure)).unwrap();
    let (verdict, imbalance) = (&json["verdict"], &json["overheads"]["imbalance"]);
    assert_eq!(verdict["serialization_undivided"], "unsure loop");
    assert!(verdict["slow_in_turn_s"].is_null() && imbalance["temporal"].is_null(), "{verdict}");
    let tables = plain(&unsure, 100);
    assert!(tables.contains("  not separated") && !tables.contains("slow in turn)"), "{tables}");
}

/// rank 0  |== 45 ==|send|Recv ......|send|
/// rank 1  |Recv ...|== 45 ==|send |  Recv|       each waits for the other for 45 ms
/// rank 2  |============ 100 ============|       others wait for it for 10 ms, but it computes longest, 36.7 ms more than the mean
#[test]
fn a_load_imbalance_is_laid_to_the_rank_whose_excess_it_is() {
    let steps = ["compute 45; send 1; recv 1", "recv 0; compute 45; send 0", "compute 100"];
    let step = |(rank, step)| format!("rank {rank}: repeat 3; iteration step; {step}; barrier; end; end\n");
    let text = format!("ranks 3\n{}", (0..).zip(steps).map(step).collect::<String>());
    let run = Run::of(&text);
    let caused_ms =
        |rank| run.causes().into_iter().filter(|((one, ..), _)| *one == rank).map(|(_, ms)| ms).sum::<f64>();
    assert!(caused_ms(0) > 120.0 && caused_ms(1) > 120.0 && caused_ms(2) < 75.0);
    let report = report_on(&run.model);
    let worst = report.verdict.worst.as_ref().unwrap().rank;
    let finding = report.findings.iter().find(|one| one.subject == FindingSubject::SlowRank).unwrap();
    assert_eq!((worst, finding.ranks.as_slice()), (2, &[2][..]));
    assert!((finding.seconds * 1e3 - 3.0 * (100.0 - 190.0 / 3.0)).abs() < 1e-6, "{} s", finding.seconds);
    let words = findings::part_in_words(finding, true);
    assert!(words.starts_with("because rank 2 "), "{words}");
    // Where that rank computes about as long as another, 91 and 90 ms, both are named.
    let alike = Run::of("ranks 3\nrank *: compute 45+67*$r-22*$r*$r; barrier");
    let report = report_on(&alike.model);
    let finding = report.findings.iter().find(|one| one.subject == FindingSubject::SlowRank).unwrap();
    assert_eq!(finding.ranks, [1, 2], "{finding:?}");
}

#[test]
fn what_ranks_do_more_by_turns_is_temporal() {
    // In each of 6 iterations one rank has 10 ms more, now this, now that.
    assert_imbalance(
        "ranks 2\nrank *: repeat 6; iteration step; compute 10+10*(($i+$r)%2); barrier; end; end\n",
        (0.0, 0.0, 0.06),
    );
}
