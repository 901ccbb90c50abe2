//! Runs of which something is missing: what is not known is counted, and not guessed.

use lbprof_analyzer::blocking::WaitState;
use lbprof_collector::Operation;
use lbprof_collector::scenario::Scenario;
use lbprof_collector::script::Script;

use crate::run::Run;
use crate::support::{model, model_in, written};

const TEXT: &str = "ranks 3\nlatency 0.1\noverhead 0.01\nrank *: repeat 5; iteration step\n\
    compute 5+$r; sendrecv to ($r+1)%$n from ($r+$n-1)%$n; allreduce 8; reduce 8 root 1; end; end\n";

fn scenario() -> Scenario {
    Script::parse(TEXT).unwrap().scenario().unwrap()
}

#[test]
fn of_a_whole_run_all_is_known() {
    let run = Run::of_scenario(scenario());
    assert!(run.followed().t_ideal_s().is_some());
    assert_eq!(run.followed().counts.collectives, 10);
}

#[test]
fn messages_with_a_rank_without_log_are_lone() {
    for missing in 0..3 {
        let run = Run::of_scenario(scenario().missing(missing));
        let counts = run.followed().counts;
        // Each of the others exchanges one message with it an iteration, and one with each other.
        assert_eq!((counts.lone_sends, counts.lone_receives, counts.messages), (5, 5, 5), "without rank {missing}");
        assert_eq!(run.followed().t_ideal_s(), None, "without rank {missing}");
    }
}

#[test]
fn ranks_with_sums_alone_are_not_followed() {
    assert!(model(scenario().profile_mode()).followed.is_none());
}

#[test]
fn a_rank_that_was_killed_in_a_receive_leaves_the_rest() {
    for in_ring in [1, 3, 1000] {
        let run = Run::of_scenario(scenario().rank(2, |log| log.kill_in(Operation::Recv, in_ring)));
        let counts = run.followed().counts;
        assert_eq!((counts.messages, counts.collectives), (15, 10), "{in_ring}: {counts:?}");
    }
}

#[test]
fn records_that_were_dropped_do_not_make_others_match() {
    let whole = Run::of_scenario(scenario()).followed().counts;
    let run = Run::of_scenario(scenario().rank(0, |log| log.drop_records(7)));
    let counts = run.followed().counts;
    assert!(counts.messages <= whole.messages && counts.sizes_differ == 0, "{counts:?}");
}

#[test]
fn a_rank_that_stops_leaves_the_others_waiting_for_nobody() {
    // Rank 0 goes on with messages and collectives that rank 1, which was killed, never came to.
    let scenario = Scenario::ranks(2)
        .rank(0, |log| {
            log.compute(5.0).recv(1, 0, 8, 1.0).recv(1, 0, 8, 10.0).allreduce(8, 5.0).barrier(3.0).compute(4.0)
        })
        .rank(1, |log| log.compute(5.0).send(0, 0, 8, 1.0).kill(2));
    let run = Run::of_scenario(scenario);
    let counts = run.followed().counts;
    assert_eq!((counts.messages, counts.lone_receives, counts.lone_collectives), (1, 1, 2), "{counts:?}");
    assert_eq!(run.followed().t_ideal_s(), None);
    assert!((run.followed().elapsed - 28_000_000).abs() <= 1, "nothing is moved: {} ns", run.followed().elapsed);
}

#[test]
fn beside_a_rank_with_sums_the_others_are_followed() {
    // Rank 2 is recorded as sums. Ranks 0 and 1 send to each other, and all meet, five times; rank 0 waits 1 for rank 1.
    let text = "ranks 3\nlatency 0.1\nrank *: repeat 5; compute 5+$r; if $r == 1; send 0; end; if $r == 0; recv 1; end; barrier; end\n";
    let scenario = Script::parse(text).unwrap().scenario().unwrap();
    let whole = Run::of_scenario(Script::parse(text).unwrap().scenario().unwrap());
    let dir = written(scenario);
    let sums = written(Script::parse(text).unwrap().scenario().unwrap().profile_mode());
    let name = "rank-000002.lbp";
    std::fs::copy(sums.path().join(name), dir.path().join(name)).unwrap();
    let run = Run { model: model_in(dir.path()) };
    let counts = run.followed().counts;
    assert_eq!((counts.messages, counts.collectives, counts.not_recorded), (5, 0, 10), "{counts:?}");
    let late = WaitState::LateSender;
    assert!((run.waits(late) - whole.waits(late)).abs() < 1e-6 && run.waits(late) > 5.0);
    assert_eq!(run.waits(WaitState::Barrier), 0.0, "rank 2 may have been the last");
    assert!(run.followed().replays.is_empty());
}
