//! Waits among some ranks of a communicator or window: neighbourhood collectives, epochs with groups, locks.

use lbprof_analysis::model::replayed::replay_results::ReplayCounts;
use lbprof_analysis::model::replayed::waits::WaitState::*;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::definition::{Definition, RankGroup, RankList};
use lbprof_simulator::script::Script;

use super::run::Run;
use super::waits::assert_waits;

fn waits_for(run: &Run, waits: u32, causes: u32) -> f64 {
    let pairs = run.sums().pairs;
    pairs.iter().filter(|pair| (pair.0, pair.1) == (waits, causes)).map(|pair| pair.2 * 1e3).sum()
}

#[test]
fn neighbours_wait_for_the_last_of_those_that_send_to_them() {
    // A line of ranks that enter at 10, 40, 20 and 5: 0 waits for 1, 2 for 1, 3 for 2; all have ended at 41.
    for call in [
        "neighbor_allgather 8 on line",
        "neighbor_alltoall 8 on line",
        "neighbor_alltoallv 8 on line",
        "ineighbor_allgather 8 on line as a; wait a",
        "ineighbor_alltoallw 8 on line as a; waitall a",
        "neighbor_alltoall_init 8 on line as a; start a; wait a",
        "neighbor_allgather_init 8 on line as a; recv_init null as b; startall a b; waitall a b",
    ] {
        let run = assert_waits(
            &format!(
                "ranks 4\nlatency 1\ncomm line 0..3\ngraph line 0-1 1-2 2-3\n
                rank 0: compute 10\nrank 1: compute 40\nrank 2: compute 20\nrank 3: compute 5\nrank *: {call}\n
                rank 1: compute 1\nrank 3: compute 20\n"
            ),
            &[(Neighbours, 30.0 + 20.0 + 15.0)],
        );
        let pairs = [waits_for(&run, 0, 1), waits_for(&run, 2, 1), waits_for(&run, 3, 2), waits_for(&run, 1, 2)];
        assert!(pairs.iter().zip([30.0, 20.0, 15.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{call}: {pairs:?}");
        assert_eq!(run.followed().counts.neighbourhoods, 4, "{call}");
        // Nobody waits for more: rank 3 has 20 in all before it goes on, the others what 1 has, or less.
        assert!((run.replay_ms(WhatIfScenario::Ideal) - 41.0).abs() < 1e-6, "{call}");
    }
}

#[test]
fn the_nth_collective_of_a_rank_meets_the_nth_of_its_neighbours() {
    // 0 is through both at 2, whatever the others do. 1 enters at 10 and 20; 2, which hears 1 alone, at 0 and 11.
    let run = assert_waits(
        "ranks 3\nlatency 1\ncomm line 0..2\ngraph line 0>1 1>2\n
        rank 0: compute 1; neighbor_allgather 8 on line; compute 1; neighbor_allgather 8 on line; compute 19\n
        rank 1: compute 10; neighbor_allgather 8 on line; compute 10; neighbor_allgather 8 on line; compute 1\n
        rank 2: neighbor_allgather 8 on line; neighbor_allgather 8 on line\n",
        &[(Neighbours, 10.0 + 9.0)],
    );
    assert!((waits_for(&run, 2, 1) - 19.0).abs() < 1e-6);
}

#[test]
fn neighbours_that_are_the_same_on_both_sides_meet_once() {
    // A periodic grid of two: each is the other's neighbour before and behind. And one of one, its own neighbour.
    assert_waits(
        "ranks 2\nlatency 1\ncomm ring 0..1\ngraph ring 0-1 0-1 0-0 1-1\n
        rank *: compute 5+10*$r; neighbor_alltoall 8 on ring; neighbor_alltoall 8 on ring\nrank 1: compute 0\n",
        &[(Neighbours, 10.0)],
    );
}

const EPOCH: &str = "rank *: win_create as w\nrank 0: compute 10; win_post w 1 2; win_wait w\n
    rank 1: win_start w 0; compute 5; win_complete w\nrank 2: compute 30; win_start w 0; win_complete w\n";

#[test]
fn start_waits_for_post_and_wait_for_complete() {
    // rank 0  |= 10 =|post|wait ...........|            exposed to 1 and 2
    // rank 1  |start .|== 5 ==|complete|
    // rank 2  |======= 30 ========|start|complete|
    let run = assert_waits(&format!("ranks 3\n{EPOCH}"), &[(Post, 10.0), (Complete, 20.0), (EarlyEnd, 15.0)]);
    assert!((waits_for(&run, 1, 0) - 10.0).abs() < 1e-6);
    assert!((waits_for(&run, 0, 2) - 20.0).abs() < 1e-6);
    assert_eq!(run.followed().counts.epochs, 3, "those of each access, and the exposure");
    assert!((run.replay_ms(WhatIfScenario::Ideal) - 30.0).abs() < 1e-6);
}

#[test]
fn where_the_epoch_begins_late_complete_waits_for_post() {
    assert_waits(&format!("ranks 3\nepochs deferred\n{EPOCH}"), &[(Post, 5.0), (Complete, 20.0), (EarlyEnd, 20.0)]);
}

#[test]
fn epochs_follow_one_another_with_other_groups() {
    // Rank 0 is exposed to 1, then to 2: 1 has to wait for the first post, at 5, 2 for the second, at 25.
    let run = assert_waits(
        "ranks 3\nrank *: win_create as w\n
        rank 0: compute 5; win_post w 1; win_wait w; compute 5; win_post w 2; win_wait w\n
        rank 1: win_start w 0; compute 15; win_complete w; compute 5\nrank 2: compute 2; win_start w 0; win_complete w\n",
        &[(Post, 5.0 + 23.0), (Complete, 15.0)],
    );
    assert!((waits_for(&run, 0, 1) - 15.0).abs() < 1e-6);
}

#[test]
fn a_lock_waits_for_those_that_it_does_not_go_with() {
    // 0 holds it from 0 to 30; 1 and 2 share it until 40 and 50, 3 comes last, and has it alone.
    let run = assert_waits(
        "ranks 4\nrank *: win_create as w\nrank 0: win_lock 3 on w; compute 30; win_unlock 3 on w\n
        rank 1: compute 10; win_lock 3 shared on w; compute 10; win_unlock 3 on w\n
        rank 2: compute 11; win_lock_all on w; compute 20; win_unlock_all on w\n
        rank 3: compute 12; win_lock 3 on w; win_unlock 3 on w\n",
        &[(Lock, 20.0 + 19.0 + 38.0), (EarlyEnd, 30.0)],
    );
    assert!((waits_for(&run, 1, 0) - 20.0).abs() < 1e-6);
    assert_eq!(run.followed().counts.epochs, 4);
    // A lock of another target, or one that goes with those that are held, waits for nobody.
    assert_waits(
        "ranks 3\nrank *: win_create as w\nrank 0: win_lock 2 shared on w; compute 30; win_unlock 2 on w\n
        rank 1: compute 10; win_lock 2 shared on w; compute 20; win_unlock 2 on w\n
        rank 2: compute 11; win_lock 1 on w; compute 19; win_unlock 1 on w\n",
        &[],
    );
}

#[test]
fn what_does_not_name_its_others_is_counted() {
    // The communicator has no neighbours in the logs, as in those of older recorders.
    let run = Run::of("ranks 2\ncomm line 0 1\nrank *: compute 1+$r; neighbor_allgather 8 on line\n");
    let counts = run.followed().counts;
    assert_eq!(counts, ReplayCounts { steps: counts.steps, unmatched_neighbours: 2, ..ReplayCounts::default() });
    assert_eq!(run.followed().t_ideal_s(), None);
    // A rank that exposes its window to one that never accesses it waits for ever, or is killed.
    let run = Run::of("ranks 2\nrank *: win_create as w\nrank 0: win_post w 1\nrank 1: win_unlock 0 on w\n");
    assert_eq!(run.followed().counts.unmatched_epochs, 1, "a lock that was not taken");
}

#[test]
fn behind_an_epoch_of_an_unknown_group_those_on_its_window_are_not_matched() {
    // Rank 0 waits 10 in each of three exposures; whom the second was to its log does not show in so few words as can be looked at.
    let text = "ranks 3\nrank *: win_create as w\n
        rank 0: win_post w 1; win_wait w; win_post w 1 2; win_wait w; win_post w 1; win_wait w\n
        rank 1: repeat 3; compute 10; win_start w 0; win_complete w; end\nrank 2: compute 15; win_start w 0; win_complete w\n";
    let scenario = || Script::parse(text).unwrap().scenario().unwrap();
    let whole = Run::of_scenario(scenario());
    assert!((whole.waits(Complete) - 30.0).abs() < 1e-6, "{}", whole.waits(Complete));
    let endless = Definition::Group(RankGroup { id: 1, ranks: RankList(vec![(1, 0, u32::MAX)]) });
    let run = Run::of_scenario(scenario().rank(0, |log| log.define(endless)));
    let counts = run.followed().counts;
    // Its own steps from then on, and the accesses of the others.
    assert_eq!((counts.unmatched_epochs, counts.behind_gaps, counts.not_recorded), (1, 3, 3), "{counts:?}");
    assert!((run.waits(Complete) - 10.0).abs() < 1e-6, "{}", run.waits(Complete));
}
