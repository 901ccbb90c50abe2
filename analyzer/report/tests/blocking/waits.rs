//! Every way to wait: who waits how long, and for what, in small runs worked out by hand.

use lbprof_analysis::model::replayed::replay_results::ReplayCounts;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::waits::WaitState::*;
use lbprof_collector::Operation;
use lbprof_simulator::scenario::Scenario;

use super::run::Run;
use lbprof_test_runs::{model, report_on};

/// Holds all waits of a run against those that are to be found, in milliseconds by state, and that all was matched.
pub fn assert_waits(text: &str, expected: &[(WaitState, f64)]) -> Run {
    let run = Run::of(text);
    let states = run.sums().states;
    let found: Vec<_> = states.iter().map(|(&state, times)| (state, times.blocked_s() * 1e3)).collect();
    let mut expected = expected.to_vec();
    expected.sort_by_key(|one| one.0);
    let same = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(found, one)| found.0 == one.0 && (found.1 - one.1).abs() < 1e-5);
    assert!(same, "{found:?} instead of {expected:?} in\n{text}");
    let counts = run.followed().counts;
    let ReplayCounts { steps, messages, collectives, neighbourhoods, epochs, .. } = counts;
    let matched = ReplayCounts { steps, messages, collectives, neighbourhoods, epochs, ..ReplayCounts::default() };
    assert_eq!(counts, matched, "{text}");
    run
}

/// Two ranks that end together, as far as nothing else is said.
fn two(network: &str, first: &str, second: &str) -> String {
    format!("ranks 2\n{network}\nrank 0: {first}\nrank 1: {second}\n")
}

#[test]
fn late_senders() {
    // The message is sent at 10 and comes at 12.
    for receive in [
        "recv 0",
        "recv any tag any",
        "irecv 0 as a; wait a",
        "irecv any tag any as a; waitall a",
        "irecv 0 as a; waitany a",
    ] {
        let run = assert_waits(
            &two("latency 2", "compute 10; send 1; compute 2", &format!("compute 3; {receive}")),
            &[(LateSender, 9.0)],
        );
        let times = run.sums().states[&LateSender];
        assert!((times.waiting_s - 0.007).abs() < 1e-9 && (times.delay_s - 0.002).abs() < 1e-9, "{receive}: {times:?}");
    }
}

#[test]
fn a_message_that_is_on_its_way_is_not_waited_for() {
    // Sent at 1, before the receive at 3: until it comes, at 5, there is no rank to wait for.
    assert_waits(&two("latency 4", "compute 1; send 1; compute 4", "compute 3; recv 0"), &[]);
}

#[test]
fn late_receivers() {
    for send in [
        "send 1 bytes 5000",
        "isend 1 bytes 5000 as a; wait a",
        "ssend 1 bytes 8",
        "issend 1 as a; waitall a",
        "ssend_init 1 bytes 8 as a; start a; wait a",
    ] {
        assert_waits(
            &two("eager 4096\nlatency 1", &format!("compute 2; {send}"), "compute 10; recv 0"),
            &[(LateReceiver, 9.0)],
        );
    }
    // An eager one waits for nobody.
    assert_waits(&two("eager 5000", "compute 2; send 1 bytes 5000; compute 8", "compute 10; recv 0"), &[]);
}

#[test]
fn small_and_buffered_sends_wait_for_nobody() {
    // A call lasts 2, and the receive is posted in the middle of the last one.
    for (send, posted) in [
        ("send 1 bytes 4096", 3),
        ("rsend 1 bytes 8", 3),
        ("bsend 1 bytes 5000", 3),
        ("isend 1 bytes 8 as a; wait a", 5),
        ("ibsend 1 bytes 5000 as a; wait a", 5),
        ("send_init 1 bytes 8 as a; start a; wait a", 7),
    ] {
        let run = Run::of(&two("overhead 2", &format!("compute 2; {send}"), &format!("compute {posted}; recv 0")));
        assert_eq!(run.sums().states.get(&LateReceiver), None, "{send}");
    }
}

#[test]
fn collectives_of_all() {
    for (call, state) in [
        ("barrier", Barrier),
        ("ibarrier as a; wait a", Barrier),
        ("barrier_init as a; start a; wait a", Barrier),
        ("allreduce 8", NxN),
        ("alltoall 8", NxN),
        ("allgather 8", NxN),
        ("reduce_scatter_block 8", NxN),
        ("iallreduce 8 as a; wait a", NxN),
        ("allreduce_init 8 as a; start a; wait a", NxN),
        ("win_create as w", Epoch),
    ] {
        // Entered at 1, 5 and 9.
        assert_waits(&format!("ranks 3\nlatency 1\nrank *: compute 1+4*$r; {call}\n"), &[(state, 12.0)]);
    }
}

#[test]
fn persistent_collectives_are_the_same_started_one_or_several_at_once() {
    assert_waits(
        &two(
            "latency 1",
            "barrier_init as a; recv_init null as b; compute 1; start a; start b; waitall a b",
            "barrier_init as a; recv_init null as b; compute 5; startall a b; waitall a b",
        ),
        &[(NxN, 4.0)],
    );
}

#[test]
fn rooted_collectives() {
    for call in ["bcast 8 root 1", "scatter 8 root 1", "ibcast 8 root 1 as a; wait a"] {
        // The root enters at 6; rank 0 waits from 1, rank 2 comes later. All end at 11.
        let text = format!(
            "ranks 3\nlatency 1\nrank 0: compute 1; {call}; compute 4\nrank 1: compute 6; {call}; compute 5\nrank 2: compute 9; {call}; compute 2\n"
        );
        assert_waits(&text, &[(LateBroadcast, 5.0)]);
    }
    for call in ["reduce 8 root 1", "gather 8 root 1", "ireduce 8 root 1 as a; wait a"] {
        // The root enters at 6 and waits for rank 2, which comes at 9; 1 later it has all.
        let text = format!(
            "ranks 3\nlatency 1\nrank 0: compute 1; {call}; compute 9\nrank 1: compute 6; {call}\nrank 2: compute 9; {call}; compute 1\n"
        );
        assert_waits(&text, &[(EarlyReduce, 3.0)]);
    }
}

#[test]
fn scans_wait_for_those_before() {
    for call in ["scan 8", "exscan 8", "iscan 8 as a; wait a"] {
        // Entered at 5, 9 and 1: rank 2 waits 8 for rank 1, which waits for nobody. All end at 10.
        let text = format!(
            "ranks 3\nlatency 1\nrank 0: compute 5; {call}; compute 5\nrank 1: compute 9; {call}; compute 1\nrank 2: compute 1; {call}\n"
        );
        assert_waits(&text, &[(EarlyScan, 8.0)]);
        // Entered at 5, 1 and 5.5: rank 1 waits 4 for rank 0, not for rank 2, though that comes while it is there.
        let text = format!(
            "ranks 3\nlatency 1\nrank 0: compute 5; {call}; compute 5\nrank 1: compute 1; {call}; compute 4\nrank 2: compute 5.5; {call}; compute 4\n"
        );
        assert_waits(&text, &[(EarlyScan, 4.0)]);
    }
}

#[test]
fn fences_of_windows() {
    assert_waits(
        "ranks 2\nlatency 1\nrank *: win_create as w; compute 1+4*$r; fence w; put 1 on w; compute 5-4*$r; win_free w\n",
        &[(Epoch, 8.0)],
    );
}

#[test]
fn windows_that_begin_late_and_end_early() {
    // Rank 1 begins at 5, works until 15; rank 0 until 8.
    assert_waits("ranks 2\nlate 1 5\nrank 0: compute 8\nrank 1: compute 10\n", &[(LateBegin, 5.0), (EarlyEnd, 7.0)]);
}

#[test]
fn a_nonblocking_collective_is_waited_for_where_it_is_completed() {
    // Rank 1 enters at 9; rank 0 entered at 1, computes until 6, and waits from then on.
    assert_waits(
        &two("", "compute 1; ibarrier as a; compute 5; wait a", "compute 9; ibarrier as a; wait a"),
        &[(Barrier, 3.0)],
    );
}

#[test]
fn each_communicator_has_its_own_collectives() {
    // Rows 0, 1 and 2, 3 meet by themselves, twice: rank 0 waits 3 and rank 2 waits 7.
    assert_waits(
        "ranks 4\nlatency 1\ncomm row 0..1\ncomm row 2..3\n\
         rank 0: compute 1; barrier on row; barrier on row; compute 4\nrank 1: compute 4; barrier on row; barrier on row; compute 4\n\
         rank 2: compute 1; barrier on row; barrier on row\nrank 3: compute 8; barrier on row; barrier on row\n",
        &[(Barrier, 10.0)],
    );
}

#[test]
fn completions_of_some_wait_for_the_first() {
    // Messages come at 5 and at 9.
    for wait in ["waitany a b; waitany a b", "waitsome a b; waitsome a b"] {
        let text = format!(
            "ranks 3\nrank 0: irecv 1 as a; irecv 2 as b; compute 1; {wait}\nrank 1: compute 5; send 0; compute 4\nrank 2: compute 9; send 0\n"
        );
        assert_waits(&text, &[(LateSender, 8.0)]);
    }
}

#[test]
fn tests_do_not_wait() {
    assert_waits(&two("", "irecv 1 as a; test a; compute 10; test a", "compute 5; send 0; compute 5"), &[]);
    assert_waits(
        &two("", "irecv 1 as a; test a; compute 3; test a; wait a", "compute 5; send 0"),
        &[(LateSender, 2.0)],
    );
}

#[test]
fn probes_wait_and_their_receives_do_not() {
    for receive in [
        "probe 0; recv 0",
        "probe any tag any; recv any tag any",
        "mprobe any as m; mrecv m",
        "mprobe 0 as m; imrecv m as a; wait a",
    ] {
        assert_waits(
            &two("latency 1", "compute 7; send 1; compute 1", &format!("compute 2; {receive}")),
            &[(LateSender, 6.0)],
        );
    }
    // What is found at once was not waited for.
    for receive in ["iprobe 0; recv 0", "improbe 0 as m; mrecv m"] {
        assert_waits(&two("latency 1", "compute 2; send 1; compute 6", &format!("compute 8; {receive}")), &[]);
    }
}

#[test]
fn persistent_messages() {
    // Each of three messages is sent 4 after its receive was started.
    let run = assert_waits(
        &two(
            "latency 1",
            "send_init 1 as p; repeat 3; compute 4; start p; wait p; compute 1; end; request_free p",
            "recv_init 0 as q; repeat 3; start q; wait q; end; request_free q",
        ),
        &[(LateSender, 15.0)],
    );
    assert_eq!(run.followed().counts.messages, 3);
}

#[test]
fn exchanges_messages_to_oneself_and_to_nobody() {
    for exchange in ["sendrecv", "sendrecv_replace"] {
        let text = format!(
            "ranks 3\nlatency 1\nrank *: compute 1+4*$r; {exchange} to ($r+1)%3 from ($r+2)%3; compute 0.001\nrank 0: compute 0\n"
        );
        // From 2, 0 and 1, entered at 9, 1 and 5: rank 0 waits from 1 to 10; the others' messages are there. It ends last with rank 2.
        let run = Run::of(&text);
        assert!((run.waits(LateSender) - 9.0).abs() < 1e-5, "{exchange}: {}", run.waits(LateSender));
        assert_eq!(run.followed().counts.messages, 3);
    }
    let run = assert_waits(
        "ranks 1\nrank 0: isend 0 on self as a; compute 3; recv 0 on self; wait a; sendrecv to 0 from 0\n",
        &[],
    );
    assert_eq!(run.followed().counts.messages, 2);
    // Neither by requests, persistent or not.
    for nobody in
        ["irecv null as a; wait a", "send_init null as a; start a; wait a", "recv_init null as a; startall a; waitall"]
    {
        assert_waits(&two("", nobody, nobody), &[]);
    }
    let run = assert_waits(&two("", "send null; compute 3", "recv null; sendrecv to null from null; compute 3"), &[]);
    assert_eq!(run.followed().counts.messages, 0);
}

#[test]
fn messages_of_one_sender_are_taken_in_order() {
    // Requests are completed in the other order: the first message, sent at 2, belongs to a; the second, sent at 8, to b.
    let run = assert_waits(
        &two("", "compute 2; send 1; compute 6; send 1", "irecv 0 as a; irecv 0 as b; compute 1; wait b; wait a"),
        &[(LateSender, 7.0)],
    );
    assert_eq!(run.sums().states[&LateSender].count, 1);
    // With tags they go by these: that of tag 2 is sent at 8, that of tag 1 at 2.
    assert_waits(
        &two(
            "",
            "compute 2; send 1 tag 1; compute 6; send 1 tag 2",
            "irecv 0 tag 2 as a; irecv 0 tag 1 as b; wait b; wait a",
        ),
        &[(LateSender, 8.0)],
    );
}

#[test]
fn wildcards_take_their_place_among_the_others_in_the_order_of_posting() {
    // a takes the first message of rank 0, whoever it could have come from; b, posted later and completed first, the second.
    assert_waits(
        &two(
            "",
            "compute 2; send 1 bytes 10; compute 6; send 1 bytes 20",
            "irecv any tag any as a; irecv 0 as b; wait b; wait a",
        ),
        &[(LateSender, 8.0)],
    );
    // Two wildcards, and messages of two senders.
    let run = assert_waits(
        "ranks 3\nrank 0: irecv any as a; irecv any as b; wait b; wait a\n\
         rank 1: compute 3; send 0 bytes 10; compute 3\nrank 2: compute 6; send 0 bytes 20\n",
        &[(LateSender, 6.0)],
    );
    assert_eq!(run.sums().pairs.first().map(|pair| (pair.0, pair.1)), Some((0, 2)), "b takes what came second");
}

#[test]
fn what_a_call_completes_after_a_flush_is_known() {
    // rank 0  |======== compute 10 ========|isend .5|wait .5|
    // rank 1  |irecv .5|= 1.5 =|waitall ...........8.5......|flush 1|      waits from 2 to 10
    for batch in [2, 3, 2000] {
        let scenario = Scenario::ranks(2)
            .rank(0, |r| r.compute(10).isend(1, 7, 800, 0.5).waitall(&[(0, 0)], 0.5).compute(2))
            .rank(1, |r| {
                let r = r.irecv(0, 7, 0.5).compute(1.5);
                r.waitall_flushed(&[(0, 800)], 8.5, 1.0).compute(1).batch(batch)
            });
        let model = model(scenario);
        let followed = model.followed.as_ref().unwrap();
        assert_eq!((followed.counts.messages, followed.counts.all_is_known()), (1, true), "batches of {batch}");
        let late = followed.blocking.waits.iter().filter(|(key, _)| key.state == LateSender);
        let waited: i64 = late.map(|(_, sums)| sums.waiting + sums.delay).sum();
        assert_eq!(waited, 8_500_000, "batches of {batch}");
    }
}

#[test]
fn a_flush_waits_for_its_target_to_be_in_mpi() {
    // rank 0  |========= compute 30 =========|barrier|     rank 0 counts tasks in its window, and counts none while it computes
    // rank 1  |= compute 10 =|flush 0 .........|barrier|   waits 20 for that
    let scenario = Scenario::ranks(2)
        .rank(0, |script| script.compute(30).barrier(1))
        .rank(1, |script| script.compute(10).call(Operation::Win_flush, 20.25, |record| record.peer = 0).barrier(0.75));
    let report = report_on(&model(scenario));
    let causes = report.blocking.expect("ranks are followed").causes;
    let caused_ms = causes.iter().map(|row| (row.cause.rank, (1e3 * row.cause.caused_s).round()));
    assert_eq!(caused_ms.filter(|(_, ms)| *ms > 0.0).collect::<Vec<_>>(), [(0, 20.0)]);
}
