//! Ranks that wait by polling, and ranks that poll while they compute.

use lbprof_analysis::model::replayed::waits::WaitState::{EarlyEnd, LateSender};
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::polling::PollGapRule;
use lbprof_collector::record::{CallFlags, NONE};
use lbprof_collector::{Operation, ProblemKind};
use lbprof_report::waiting::blocking::WaitRow;
use lbprof_report::{findings, text};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;

use super::run::Run;
use lbprof_test_runs::{model_polling, report, report_on, usage, written};

/// Rank 0 computes 10 ms, then sends; rank 1 computes 3 ms, then does something. Each call takes a microsecond.
fn behind(receiver: &str) -> String {
    format!("ranks 2\noverhead 0.001\nrank 0: compute 10; send 1\nrank 1: compute 3; {receiver}\n")
}

/// The run of a text in which ranks wait for late senders so many milliseconds, beside what one ends before the other.
fn waiting(text: &str, waits_ms: f64) -> Run {
    let run = Run::of(text);
    let states: Vec<_> = run.sums().states.into_keys().filter(|&state| state != EarlyEnd).collect();
    assert!(states.iter().all(|&state| state == LateSender), "{states:?} in\n{text}");
    let found_ms = run.waits(LateSender);
    assert!((found_ms - waits_ms).abs() < 1e-5, "{found_ms} ms instead of {waits_ms} ms in\n{text}");
    run
}

fn caused_ms(run: &Run) -> f64 {
    run.causes().into_iter().filter(|((rank, ..), _)| *rank == 0).map(|(_, ms)| ms).sum()
}

fn computation_ms(run: &Run) -> f64 {
    report_on(&run.model).ranks[1].computation_s * 1e3
}

/// rank 0  |=========== 10 ===========|send|
/// rank 1  |=== 3 ===|Irecv|Test|Test|… |Test|      waits from its first poll, at 3.001 or 3, to the success
#[test]
fn a_loop_of_polls_waits_as_one_call_does() {
    let waits = waiting(&behind("irecv 0 as a; wait a"), 7.000);
    for (polls, waits_ms) in [
        ("irecv 0 as a; repeat 7000; test a; end", 7.000),
        ("irecv 0 as a; repeat 7000; testany a; end", 7.000),
        ("irecv 0 as a; repeat 7000; testall a; end", 7.000),
        ("irecv 0 as a; repeat 7000; testsome a; end", 7.000),
        // One that finds it at 10 ms, then those that receive it.
        ("repeat 7001; iprobe 0; end; recv 0", 7.001),
        ("repeat 7000; iprobe 0; end; improbe 0 as m; mrecv m", 7.001),
        // Two kinds of polls in turn; an open send that nobody receives until later.
        ("irecv 0 as a; repeat 3500; test a; iprobe 0 tag 7; end; test a", 7.001),
        // 2 µs of work between the polls, and a wait that goes on where they gave up.
        ("irecv 0 as a; repeat 2000; test a; compute 0.002; end; wait a", 7.000),
    ] {
        let run = waiting(&behind(polls), waits_ms);
        assert!((computation_ms(&run) - 3.0).abs() < 0.003, "{polls}: computes {} ms", computation_ms(&run));
        // What is caused, and what an ideal network would give, is the same.
        assert!((caused_ms(&run) - caused_ms(&waits)).abs() < 0.01, "{polls}: {} ms", caused_ms(&run));
        for scenario in [WhatIfScenario::Measured, WhatIfScenario::Ideal] {
            let (one, other) = (run.replay_ms(scenario), waits.replay_ms(scenario));
            assert!((one - other).abs() < 0.004, "{polls}: {one} ms instead of {other} ms, {scenario:?}");
        }
    }
}

/// rank 0  |=========== 10 ===========|Isend|
/// rank 1  |=== 3 ===|Irecv|Isend|Testsome|… |Testsome: both|      an eager send that is complete only when its receiver comes into MPI
#[test]
fn a_small_send_that_is_complete_with_a_receive_does_not_hide_the_wait_for_it() {
    for polls in [0, 7000] {
        let run = Run::of_scenario(Scenario::ranks(2).each(|rank, script| {
            let script = script.compute(if rank == 0 { 10 } else { 3 });
            if rank == 0 {
                return script.send(1, 7, 8, 0.001).recv(1, 7, 8, 0.001);
            }
            let script = script.irecv(0, 7, 0).isend(0, 7, 8, 0);
            let waits_ms = if polls == 0 { 7.001 } else { 0.001 };
            let script = match polls {
                0 => script,
                polls => script.call(Operation::Testsome, 7, |poll| {
                    (poll.count, poll.sent, poll.comm) = (polls - 1, poll.end - poll.begin, NONE);
                    poll.flags |= CallFlags::NOTHING;
                }),
            };
            let operation = if polls == 0 { Operation::Waitsome } else { Operation::Testsome };
            let both = script.call(operation, waits_ms, |call| (call.comm, call.count) = (NONE, 2));
            let part = |script: RankScript, request, received| {
                script.call(Operation::Completed, 0, |part| {
                    (part.peer, part.tag, part.request, part.received) = (0, 7, request, received);
                })
            };
            part(part(both, 0, 8), 1, 0)
        }));
        assert!((run.waits(LateSender) - 7.001).abs() < 1e-6, "{polls} polls: {} ms", run.waits(LateSender));
        assert!((caused_ms(&run) - 7.0).abs() < 0.01, "{polls} polls: {} ms", caused_ms(&run));
    }
}

#[test]
fn polls_between_pieces_of_work_are_no_wait() {
    // Seven polls, 1 ms of work after each, from 3.001 to 10.008; the message is there since 10. A wait for it needs no time then.
    let run = waiting(&behind("irecv 0 as a; repeat 7; test a; compute 1; end; wait a"), 0.0);
    assert!((computation_ms(&run) - 10.0).abs() < 1e-6, "{} ms", computation_ms(&run));
}

/// rank 1  |=== 3 ===|Irecv|Test|=== 0.1 ===|Test|=== 0.1 ===|… |Test|.|Test ok|      computes 3 + 69 × 0.1 ms, and 1 µs lies in one wait
#[test]
fn the_time_between_polls_is_reported_as_sums_of_waiting_and_of_computation() {
    let run = Run::of(&behind("irecv 0 as a; repeat 69; test a; compute 0.1; end; test a; compute 0.001; wait a"));
    let polls = run.model.ranks[1].polls;
    assert_eq!((polls.polls, polls.waits), (70, 1));
    let text = text::render_text(&report_on(&run.model), &lbprof_test_runs::text_options(1000));
    let expected =
        "70 unsuccessful polls (1 wait), in total 1.00 µs of waiting and 6.90 ms of computation between polls";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn polls_of_a_profile_were_decided_when_they_were_recorded() {
    let script = Script::parse(&behind("irecv 0 as a; repeat 500; test a; compute 0.01; end; wait a")).unwrap();
    let folder = written(script.scenario().unwrap().profile_mode());
    for polling in PollGapRule::ALL {
        let run = Run { model: model_polling(folder.path(), polling) };
        assert!((computation_ms(&run) - 3.0).abs() < 0.001, "{polling}: {}", computation_ms(&run));
        let said = run.model.found.iter().find(|one| one.kind == ProblemKind::PollingDecided);
        let said = said.map(|one| one.detail.as_str());
        let expected = format!("500 of 500 polls; --polling {polling}");
        assert_eq!(said, (polling != PollGapRule::Auto).then_some(expected.as_str()), "{polling}");
    }
}

#[test]
fn the_user_says_what_doubtful_time_is() {
    // 10 µs of something between 500 polls, then a wait of 1.5 ms.
    let script = Script::parse(&behind("irecv 0 as a; repeat 500; test a; compute 0.01; end; wait a")).unwrap();
    let folder = written(script.scenario().unwrap());
    let run = |polling| Run { model: model_polling(folder.path(), polling) };
    for (polling, computes_ms, waits_ms, doubtful_ms) in [
        (PollGapRule::Auto, 3.0, 7.0, 5.0),
        (PollGapRule::Waiting, 3.0, 7.0, 0.0),
        (PollGapRule::Computation, 8.0, 1.5, 0.0),
    ] {
        let run = run(polling);
        assert!((computation_ms(&run) - computes_ms).abs() < 0.001, "{polling}: {}", computation_ms(&run));
        assert!((run.waits(LateSender) - waits_ms).abs() < 0.011, "{polling}: {}", run.waits(LateSender));
        let polls = run.model.ranks[1].polls;
        assert_eq!(polls.polls, 500, "{polling}");
        assert!((polls.maybe_computation_s * 1e3 - doubtful_ms).abs() < 1e-6, "{polling}: {polls:?}");
        // The doubt is a note after the answer, with the parallel efficiency of both extremes: 10 + 3 ms and 10 + 8 ms of 2 × 10 ms.
        let words = findings::answer_in_words(&report_on(&run.model));
        let note = "Note: ranks poll, and it is not clear what 5.00 ms of their time between polls is, waiting or computation: parallel \
                     efficiency is from 65.0 % to 90.0 %. If you know which it is, use --polling waiting or --polling computation.";
        assert_eq!(words.contains(note), doubtful_ms > 0.0, "{polling}: {words}");
        let first =
            "10 % to 35 % of the time is lost (it is not clear whether ranks compute or wait between their polls): ";
        assert_eq!(words.starts_with(first), doubtful_ms > 0.0, "{polling}: {words}");
    }
}

/// rank 0  |============ 500 ============|send|
/// rank 1  |Irecv|Test|=== 10 ===|Test|=== 10 ===|… |Wait|      all of it computation, or all of it waiting
#[test]
fn time_between_polls_may_be_waiting_though_ranks_sleep_in_it() {
    let text = "ranks 2\noverhead 0.001\nrank 0: compute 500; send 1\nrank 1: irecv 0 as a; repeat 50; test a; compute 10; end; wait a\n";
    let asleep = |_, script: RankScript| script.define(usage(0, 0, 0, 0)).define(usage(500, 5, 1, 5));
    let report = report(Script::parse(text).unwrap().scenario().unwrap().each(asleep));
    assert!(report.doubts.asleep.is_some() && report.doubts.unclear_polls.is_some());
    let words = findings::answer_in_words(&report);
    let first = "It is not clear whether ranks compute or wait between their polls: 51 % to 100 % of the time is computation. Look at: ";
    assert!(words.starts_with(first), "{words}");
}

/// rank 1  |=== 3 ===|Irecv|Test|Wait|Test|Wait|… |Test ok|      the waits are for nothing that is active, and end at once
#[test]
fn completions_of_nothing_active_do_not_end_a_wait_by_polling() {
    let waits = waiting(&behind("irecv 0 as a; wait a"), 7.000);
    for idle in ["wait b", "waitall b", "waitany b", "test b", "testall b", "testany b"] {
        let polls = format!("recv_init 0 tag 9 as b; irecv 0 as a; repeat 3500; test a; {idle}; end; test a");
        // The wait lasts from the first poll, 1 µs after the other run's, to the success.
        let run = waiting(&behind(&polls), 6.999);
        assert!((caused_ms(&run) - caused_ms(&waits)).abs() < 0.01, "{idle}: {} ms", caused_ms(&run));
        let (one, other) = (run.replay_ms(WhatIfScenario::Ideal), waits.replay_ms(WhatIfScenario::Ideal));
        assert!((one - other).abs() < 0.004, "{idle}: {one} ms instead of {other} ms");
        assert_eq!(run.model.ranks[1].polls.waits, 1, "{idle}");
    }
}

#[test]
fn little_doubt_is_reported_where_it_changes_the_figures() {
    // 0.12 ms and 0.05 ms of the ranks' 20 ms are in doubt, 7 ms are lost.
    for (polls, is_reported) in [(12, true), (5, false)] {
        let run = Run::of(&behind(&format!("irecv 0 as a; repeat {polls}; test a; compute 0.01; end; wait a")));
        assert_eq!(report_on(&run.model).doubts.unclear_polls.is_some(), is_reported, "{polls} polls");
    }
}

#[test]
fn a_wait_by_polling_is_named_for_the_call_that_has_most_of_its_time() {
    for (polls, operation) in [
        ("repeat 5000; test a; end; wait a", Operation::Test),
        ("repeat 100; test a; end; wait a", Operation::Wait),
        ("repeat 3; test a; wait b; end; wait a", Operation::Wait),
        ("test a; repeat 6000; iprobe 0 tag 7; end; repeat 100; test a; end; wait a", Operation::Iprobe),
    ] {
        let run = Run::of(&behind(&format!("recv_init 0 tag 9 as b; irecv 0 as a; {polls}")));
        let sums = run.sums();
        let longest = sums.places.iter().max_by(|a, b| a.times.waiting_s.total_cmp(&b.times.waiting_s)).unwrap();
        assert_eq!(longest.operation, operation as u16, "{polls}");
    }
}

/// rank 0  |=== 10 ===|Allreduce|= 5 =|send|Recv .......|      waits 12 ms for rank 1
/// rank 1  |Allreduce ..........|Recv .....|=== 12 ===|send|   waits 10 and 5 ms for rank 0, which so causes most
#[test]
fn a_loss_is_where_most_of_the_waiting_for_all_its_ranks_is() {
    let text = "ranks 2
        rank 0: iteration step; compute 10; allreduce 8; compute 5; send 1; recv 1; end
        rank 1: iteration step; allreduce 8; recv 0; compute 12; send 0; end";
    let report = report_on(&Run::of(text).model);
    let loss = report.loss_facts.dependency_chains.as_ref().expect("a chain");
    let shares: Vec<_> = loss.ranks.iter().map(|&(rank, share)| (rank, (share * 27.0).round())).collect();
    assert_eq!(shares, [(0, 15.0), (1, 12.0)]);
    let at = loss.at.as_ref().unwrap();
    assert_eq!((at.operation.as_str(), (at.share.unwrap() * 27.0).round()), ("Recv", 12.0));
    let finding = report.findings.iter().find(|one| one.kind == "chains").expect("a chain");
    let place = &finding.place.as_ref().expect("the call").text;
    assert!(place.contains("ranks wait in MPI_Recv at"), "{place}");
}

#[test]
fn a_call_waits_in_one_place_whatever_region_it_is_called_in() {
    let scenario = Scenario::ranks(2).each(|rank, script| match rank {
        0 => script.compute(30).at("give").send(1, 7, 8, 1).compute(30).send(1, 7, 8, 1),
        _ => ["a", "b"].into_iter().fold(script, |script, region| {
            script.region(region, |script| script.compute(10).at("take").recv(0, 7, 8, 21))
        }),
    });
    let report = report_on(&Run::of_scenario(scenario).model);
    let table = report.blocking.as_ref().unwrap();
    let late = |rows: &[WaitRow]| {
        let late = rows.iter().filter(|row| row.state == LateSender);
        late.map(|row| (row.times.count, (row.times.waiting_s * 1e3).round())).collect::<Vec<_>>()
    };
    assert_eq!((late(&table.places), late(&table.waiting_calls())), (vec![(1, 20.0); 2], vec![(2, 40.0)]));
}
