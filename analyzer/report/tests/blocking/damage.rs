//! Runs of which something is missing: what is not known is counted, and not guessed.

use std::path::Path;

use lbprof_analysis::model::replayed::replay_results::ReplayCounts;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_collector::Operation;
use lbprof_collector::format::{BLOCK_HEAD_BYTES, BlockHead, BlockKind, log_name};
use lbprof_simulator::scenario::Scenario;
use lbprof_simulator::script::Script;

use super::run::Run;
use lbprof_test_runs::{model, model_in, report_on, written};

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
        assert_eq!(
            (counts.unmatched_sends, counts.unmatched_receives, counts.messages),
            (5, 5, 5),
            "without rank {missing}"
        );
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
    assert_eq!((counts.messages, counts.unmatched_receives, counts.unmatched_collectives), (1, 1, 2), "{counts:?}");
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
    assert!(run.followed().scenario_times.is_empty());
}

/// Makes the block of records with this number in a rank's log unreadable.
fn damage_block(dir: &Path, rank: u32, number: usize) {
    let path = dir.join(log_name(rank));
    let mut bytes = std::fs::read(&path).unwrap();
    let mut heads = (0..bytes.len() - BLOCK_HEAD_BYTES).filter_map(|at| {
        let head = BlockHead::from_bytes(bytes[at..at + BLOCK_HEAD_BYTES].try_into().unwrap())?;
        (head.kind == BlockKind::Records as u8).then_some(at)
    });
    let at = heads.nth(number).expect("the log has that many blocks");
    bytes[at + BLOCK_HEAD_BYTES] ^= 0xff;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn behind_records_lost_within_a_log_nothing_is_matched_with_its_rank() {
    // A block holds the six records of an iteration. Rank 0 sends to 1, 1 to 2, 2 to 0, and each iteration ends for all at once.
    let text = "ranks 3\nlatency 0.1\noverhead 0.01\nrank *: repeat 5; iteration step\n\
        compute 5+$r; sendrecv to ($r+1)%$n from ($r+$n-1)%$n; reduce 8 root 1; allreduce 8; end; end\n";
    let scenario = || Script::parse(text).unwrap().scenario().unwrap().rank(0, |log| log.batch(6));
    let whole = Run::of_scenario(scenario());
    assert_eq!((whole.followed().counts.messages, whole.followed().counts.collectives), (15, 10));
    for lost in 0..5 {
        let dir = written(scenario());
        damage_block(dir.path(), 0, lost);
        let run = Run { model: model_in(dir.path()) };
        run.check();
        let (counts, lost, behind) = (run.followed().counts, lost as u64, 4 - lost as u64);
        let expected = ReplayCounts {
            steps: counts.steps,
            // Ranks 1 and 2 have a message of their own; with rank 0 they exchange one each, and meet it in two collectives each.
            messages: 3 * lost + (5 - lost),
            collectives: 2 * lost,
            not_recorded: 6 * (5 - lost),
            // A send, a receive and two collectives of rank 0 an iteration.
            behind_gaps: 4 * behind,
            ..ReplayCounts::default()
        };
        assert_eq!(counts, expected, "without block {lost}");
        assert!((run.elapsed_ms() - whole.elapsed_ms()).abs() < 1e-6, "without block {lost}: nothing is moved");
        // What was waited for in iterations before the gap is known, and only that: rank 1 waits 1 for rank 2 in each as its root.
        let waits_ms = run.waits(WaitState::NxN);
        assert!((waits_ms - whole.waits(WaitState::NxN) * lost as f64 / 5.0).abs() < 1e-6, "{waits_ms} ms");
        assert_eq!(run.followed().t_ideal_s(), None, "without block {lost}");
        let report = report_on(&run.model);
        assert!(report.efficiency.t_ideal_replay_s.is_none(), "without block {lost}");
        assert!(report.what_if.rows.is_empty(), "without block {lost}: no gain is claimed");
        assert!(report.findings.iter().all(|one| one.gain.is_none()), "without block {lost}");
    }
}

#[test]
fn records_lost_on_several_ranks_leave_the_others() {
    // Ranks 2 and 3 lose their third iteration; 0 and 1 go on with each other alone.
    let text = "ranks 4\nlatency 0.1\nrank *: repeat 6; iteration step; compute 5+$r%2\n\
        sendrecv to $r+1-2*($r%2) from $r+1-2*($r%2); barrier; end; end\n";
    let scenario = Script::parse(text).unwrap().scenario().unwrap().each(|_, log| log.batch(5));
    let dir = written(scenario);
    [2, 3].into_iter().for_each(|rank| damage_block(dir.path(), rank, 2));
    let run = Run { model: model_in(dir.path()) };
    run.check();
    let counts = run.followed().counts;
    assert_eq!((counts.messages, counts.collectives), (2 * 6 + 2 * 2, 2), "{counts:?}");
    // Ranks 2 and 3: a send, a receive and a barrier in each of three iterations. Ranks 0 and 1: four barriers.
    assert_eq!((counts.behind_gaps, counts.not_recorded), (2 * 3 * 3, 2 * 4), "{counts:?}");
    assert_eq!(counts.unmatched_receives + counts.unmatched_sends + counts.unmatched_collectives, 0, "{counts:?}");
}
