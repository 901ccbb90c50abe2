//! Losses that one program has at several places: each with its own ranks, place and gain, and none twice.

use lbprof_report::Report;
use lbprof_report::findings::{Finding, FindingRow};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;
use lbprof_test_runs::{found_model, report, report_on};

const STEPS: u32 = 40;

fn assert_parts_add_up(report: &Report) {
    let sum_s: f64 = report.findings.iter().map(|one| one.seconds).sum();
    assert!((sum_s - report.verdict.lost_s).abs() < 0.01 * report.verdict.elapsed_s, "{:#?}", sentences(report));
}

fn sentences(report: &Report) -> Vec<String> {
    report.findings.iter().map(|finding| FindingRow::new(report, finding).sentence).collect()
}

/// The findings of a kind with at least 1 % of the time.
fn of_kind<'a>(report: &'a Report, kind: &str) -> Vec<&'a Finding> {
    let all = report.findings.iter().filter(|one| one.kind == kind);
    all.filter(|one| one.seconds > 0.01 * report.verdict.elapsed_s).collect()
}

/// Rank 0 reads for 400 ms, `late` takes 15 ms for a step of 10 ms, and `writer` writes for 300 ms.
fn set_up_steps_and_output(late: u32, writer: u32) -> Report {
    let once = |script: RankScript, name: &str, is_own: bool, ms: f64| match is_own {
        true => script.region(name, |script| script.compute(ms)).at(name).barrier(0.1),
        false => script.at(name).barrier(ms + 0.1),
    };
    report(Scenario::ranks(4).each(move |rank, script| {
        let script = once(script, "read", rank == 0, 400.0);
        let work = if rank == late { 15.0 } else { 10.0 };
        let script = script.repeat(STEPS, move |_, script| {
            script.iteration("step", |script| {
                script.region("update", |script| script.compute(work)).at("sum").allreduce(8, 15.1 - work)
            })
        });
        once(script, "write", rank == writer, 300.0)
    }))
}

#[test]
fn set_up_output_and_a_late_rank_are_three_losses() {
    // The loop's late rank is another one, the one that reads, or the one that writes; and one rank may read and write.
    for (late, writer) in [(2, 3), (0, 3), (3, 3), (1, 0), (0, 0)] {
        let report = set_up_steps_and_output(late, writer);
        let words = format!("{late} {writer} {:#?}", sentences(&report));
        assert_parts_add_up(&report);
        let outside = of_kind(&report, "work outside of the loop");
        let named: Vec<(&[u32], &str)> = outside
            .iter()
            .map(|one| (one.ranks.as_slice(), one.place.as_ref().map_or("", |place| place.text.as_str())))
            .collect();
        assert_eq!(named, [(&[0][..], "in region read"), (&[writer][..], "in region write")], "{words}");
        for (finding, seconds) in outside.iter().zip([0.300, 0.225]) {
            assert!((finding.seconds - seconds).abs() < 0.02, "{words}");
            let gain = finding.gain.as_ref().expect("even work saves it");
            assert!((gain.seconds - seconds).abs() < 0.05 * report.verdict.elapsed_s, "{gain:?} {words}");
        }
        let within = of_kind(&report, "static excess");
        let [within] = within.as_slice() else { panic!("{words}") };
        let place = within.place.as_ref().map_or("", |place| place.text.as_str());
        assert_eq!((within.ranks.as_slice(), place), (&[late][..], "in region step/update"), "{words}");
        let lost_s = 0.005 * f64::from(STEPS) * 0.75;
        assert!((within.seconds - lost_s).abs() < 0.02, "{words}");
        let gain = within.gain.as_ref().expect("even work saves it");
        assert!((gain.seconds - lost_s).abs() < 0.05 * report.verdict.elapsed_s, "{gain:?} {words}");
    }
}

#[test]
fn a_rank_that_reads_while_the_others_have_more_steps_delays_nobody() {
    // It has that much less to do in the loop, and they meet at the end alone.
    let report = report(Scenario::ranks(4).each(|rank, script| {
        let (first, work) = if rank == 0 { (390.0, 1.0) } else { (0.1, 10.75) };
        let script = script.region("read", |script| script.compute(first));
        script.repeat(STEPS, move |_, script| script.iteration("step", |script| script.compute(work))).barrier(0.1)
    }));
    assert!(of_kind(&report, "work outside of the loop").is_empty(), "{:#?}", sentences(&report));
}

#[test]
fn ranks_that_work_one_after_the_other_are_one_loss() {
    // After 10 ms of even work ranks 0, 1 and 2 have 5 parts of 4 ms each, one rank at a time: 60 of 70 ms.
    let report = report(Scenario::ranks(4).each(|rank, script| {
        script.repeat(STEPS, move |_, script| {
            script.iteration("step", |script| {
                let script = script.compute(10).at("start").barrier(0.1);
                script.repeat(15, move |part, script| {
                    let name = if part % 5 == 0 { "first" } else { "next" };
                    let ms = if part / 5 == rank { 4.0 } else { 0.0 };
                    script.region(name, |script| script.compute(ms)).at("gather").barrier(4.1 - ms)
                })
            })
        })
    }));
    let words = sentences(&report);
    assert_parts_add_up(&report);
    let serial = report.findings.iter().filter(|one| ["chains", "slow in parts"].contains(&one.kind));
    let serial: Vec<&Finding> = serial.filter(|one| one.seconds > 0.0).collect();
    let [serial] = serial.as_slice() else { panic!("{words:#?}") };
    assert_eq!(serial.ranks, [0, 1, 2], "{words:#?}");
    let gain = serial.gain.as_ref().expect("an upper bound");
    // At the same time they need 30 ms a step.
    assert!((gain.share - 40.0 / 72.0).abs() < 0.05, "{gain:?} {words:#?}");
}

/// Rank 0 reads for 300 ms and sends all ranks what it has read. Then each step of so many ms, one a rank, ends in an exchange.
fn loop_after_a_broadcast(exchange: &str, step: [f64; 4]) -> Script {
    let steps: String =
        step.iter().zip(0..).map(|(ms, rank)| format!("if $r == {rank}\ncompute {ms}\nend\n")).collect();
    let text = format!(
        "ranks 4\nlatency 0.01\nrank *:\nif $r == 0\ncompute 300\nend\nbcast 200000 root 0\nrepeat 60\n{steps}{exchange}\nend\nbarrier\n"
    );
    Script::parse(&text).expect("a script")
}

#[test]
fn a_loop_after_a_broadcast_gains_what_its_own_slow_rank_costs() {
    for exchange in [
        "allreduce 8",
        "sendrecv to ($r+1)%4 from ($r+3)%4 bytes 800; sendrecv to ($r+3)%4 from ($r+1)%4 bytes 800",
        "bcast 512 root 0",
        "reduce 8 root 0; bcast 512 root 0",
    ] {
        let script = loop_after_a_broadcast(exchange, [6.0, 6.0, 12.0, 6.0]);
        let report = report_on(&found_model(script.scenario().expect("a scenario")));
        let words = format!("{exchange}: {:#?}", sentences(&report));
        let [measured_s, even_s] = [[6.0, 6.0, 12.0, 6.0], [7.5; 4]]
            .map(|step| loop_after_a_broadcast(exchange, step).simulate().expect("a run").elapsed_ms() * 1e-3);
        let excess = of_kind(&report, "static excess");
        let [excess] = excess.as_slice() else { panic!("{words}") };
        let gain = excess.gain.as_ref().unwrap_or_else(|| panic!("no gain: {words}"));
        assert!((gain.seconds - (measured_s - even_s)).abs() < 0.03 * measured_s, "{gain:?} {words}");
    }
}

#[test]
fn large_messages_of_one_rank_are_no_wait_for_its_calls() {
    let report = report(Scenario::ranks(4).each(|rank, script| {
        script.repeat(STEPS, move |_, script| {
            let script = script.compute(5);
            match rank {
                0 => (1..4).fold(script, |script, to| script.at("send").send(to, 0, 4_000_000, 8)).barrier(0.1),
                _ => script.at("receive").recv(0, 0, 4_000_000, 8 * rank).barrier(8 * (3 - rank) + 1),
            }
        })
    }));
    let words = sentences(&report);
    let finding = &report.findings[0];
    assert_eq!(finding.kind, "large messages", "{words:#?}");
    assert!(words[0].contains("ranks 1-3 each make 40 calls of MPI_Recv of 4.00 MB"), "{words:#?}");
}

#[test]
fn a_call_that_all_ranks_make_is_not_that_of_the_rank_that_comes_last() {
    // All take 5 ms in MPI_Allreduce, and rank 1 is the last to leave it.
    let report = report(Scenario::ranks(4).each(|rank, script| {
        script.repeat(STEPS, move |_, script| {
            script.compute(5).at("sum").allreduce(8, if rank == 1 { 5.0 } else { 1.0 }).at("end").barrier(match rank {
                1 => 0.1,
                _ => 4.1,
            })
        })
    }));
    let words = sentences(&report);
    assert!(!words.iter().any(|words| words.contains("which is mostly in")), "{words:#?}");
}

#[test]
fn the_first_and_the_last_step_of_a_pipeline_are_no_set_up() {
    // Each of 16 blocks goes through all ranks, 9 ms on each: the pipeline fills and empties for 27 ms.
    let text = "ranks 4\nlatency 0.01\nrank *:\nbarrier\nrepeat 16\nif $r > 0\nrecv $r-1\nend\ncompute 9\n\
                if $r < 3\nsend $r+1 bytes 1000\nend\nend\nbarrier\n";
    let script = Script::parse(text).expect("a script");
    let report = report_on(&found_model(script.scenario().expect("a scenario")));
    let words = sentences(&report);
    assert_parts_add_up(&report);
    assert!(of_kind(&report, "work outside of the loop").is_empty(), "{words:#?}");
    let chains = of_kind(&report, "chains");
    let [chains] = chains.as_slice() else { panic!("{words:#?}") };
    assert!((chains.seconds - 0.027).abs() < 0.004, "{words:#?}");
}
