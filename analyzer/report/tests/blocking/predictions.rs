//! Predictions against the simulator: what a run takes with the change really made (DESIGN: a prediction is right when doing it gives it).

use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::replayed::what_if::WhatIfScenario;
use lbprof_collector::record::CallFlags;
use lbprof_collector::{Activity, Operation};
use lbprof_report::json;
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::waiting::what_if::{PredictionNote, PredictionRow};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;

use super::run::Run;
use lbprof_test_runs::{plain, report_on};

const STEPS: usize = 12;

fn simulated_ms(text: &str) -> f64 {
    let script = Script::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    script.simulate().unwrap().elapsed_ms()
}

/// Holds the change of a run's time that is predicted against that of the simulator, in percent of the run's time.
fn assert_change(what: &str, run: &Run, scenario: WhatIfScenario, after: &str) {
    let predicted = 100.0 * (run.replay_ms(scenario) / run.replay_ms(WhatIfScenario::Measured) - 1.0);
    let truth = 100.0 * (simulated_ms(after) / run.elapsed_ms() - 1.0);
    assert!((truth - predicted).abs() < 5.0, "{what}: {scenario:?}: really {truth:.1} %, predicted {predicted:.1} %");
}

/// Ranks of which the last has three times the work in the first of two parts of a step, and none more in the second.
fn two_parts(first_ms: &str, rank_3_ms: &str) -> String {
    format!(
        "ranks 4\nlatency 0.01\nrank *:\nrepeat 12\nif $r < 3\ncompute {first_ms}\nend\nif $r == 3\ncompute {rank_3_ms}\nend\nallreduce 8\n\
         compute 6\nbarrier\nend\n"
    )
}

#[test]
fn an_excess_is_taken_away_in_the_part_of_a_step_where_it_is() {
    let run = Run::found(&two_parts("6", "18"));
    assert_change("cut", &run, WhatIfScenario::RankAsMean(3), &two_parts("6", "9"));
    assert_change("each", &run, WhatIfScenario::RunBalancedEach, &two_parts("9", "9"));
}

#[test]
fn of_work_that_is_handed_out_on_demand_no_balance_is_predicted() {
    // Rank 2 asks 1 later than rank 1, and each computes 10 or 11 before it asks again.
    let text = |first: &str, second: &str| {
        format!(
            "ranks 3\nrank 0: repeat 4; recv {first}; send 1; recv {second}; send 2; end\n\
             rank 1: repeat 4; send 0; recv 0; compute 10; end\nrank 2: compute 1; repeat 4; send 0; recv 0; compute 11; end\n"
        )
    };
    let has_balance = |text: &str| {
        let report = report_on(&Run::of(text).model);
        report.what_if.rows.iter().any(|row| row.scenario.is_redistribution())
    };
    assert!(!has_balance(&text("any", "any")));
    assert!(has_balance(&text("1", "2")));
    // Who looks which message is there, and receives that, takes the first of any source, too.
    let probes = |probe: &str| text("1", "2").replace("recv 1", &format!("{probe}; recv 1"));
    assert!(!has_balance(&probes("probe any").replace("recv 2", "probe any; recv 2")));
    assert!(has_balance(&probes("probe 1")));
    // Ranks that meet between an answer and the next question share their work in another way: rank 0 serves them.
    let meets = |text: &str| {
        text.replace("; compute 1", "; barrier on others; compute 1").replace("ranks 3", "ranks 3\ncomm others 1 2")
    };
    let served = meets(&text("any", "any")).replace("rank 2: compute 1; repeat", "rank 2: repeat");
    assert!(has_balance(&served), "{served}");
}

/// Three ranks that take tasks from a counter of rank 0, by fetches that change it by so many bytes, with what else they do after a task.
fn tasks(bytes: u64, after: fn(RankScript) -> RankScript) -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        script.repeat(8, |_, script| {
            let fetched = script.call(Operation::Fetch_and_op, 0.01, |record| {
                (record.peer, record.sent, record.received) = (0, bytes, 8);
            });
            after(fetched.compute(5.0 + f64::from(rank)))
        })
    })
}

#[test]
fn of_tasks_that_ranks_take_from_a_counter_no_balance_is_predicted() {
    let has_balance = |scenario: Scenario| {
        let report = report_on(&Run::of_scenario(scenario).model);
        assert_eq!(
            report.what_if.notes.contains(&PredictionNote::OnDemand),
            !report.what_if.rows.iter().any(|row| row.scenario.is_redistribution())
        );
        report.what_if.rows.iter().any(|row| row.scenario.is_redistribution())
    };
    assert!(!has_balance(tasks(8, |script| script)));
    // Who only reads, as a flag of another rank, takes no task.
    assert!(has_balance(tasks(0, |script| script)));
    // Ranks that meet between two fetches share their work in another way.
    assert!(has_balance(tasks(8, |script| script.allreduce(8, 0.1))));
}

#[test]
fn others_wait_for_the_last_task_from_a_counter() {
    let scenario = Scenario::ranks(3).each(|rank, script| {
        let fetch = |script: RankScript| {
            script.call(Operation::Fetch_and_op, 0.01, |record| (record.peer, record.sent, record.received) = (0, 8, 8))
        };
        let is_long = |task| rank == 2 && task == 7;
        let script = script.repeat(8, |task, script| fetch(script).compute(if is_long(task) { 40.0 } else { 5.0 }));
        fetch(script).allreduce(8, 0.01)
    });
    let report = report_on(&Run::of_scenario(scenario).model);
    let task = report.awaited_task.expect("rank 2 takes the last task");
    assert_eq!((task.rank, task.rounds, task.is_long()), (2, 1, true));
    assert!((task.task_s - 0.04).abs() < 1e-6 && (task.mean_task_s - 0.155 / 24.0).abs() < 1e-6, "{task:?}");
}

#[test]
fn who_fetches_from_a_rank_that_computes_waits_for_it() {
    // rank 0  |fetch|======= 30 ========|fetch|=====            its window answers when it is in MPI
    // rank 1  |fetch|= 3 =|fetch ........|= 3 =|fetch ...
    let scenario = Scenario::ranks(2).each(|rank, script| {
        let fetch = |script: RankScript, ms: f64| {
            script.call(Operation::Fetch_and_op, ms, |record| {
                (record.peer, record.sent, record.received) = (0, 8, 8);
            })
        };
        let ms = if rank == 0 { 30.0 } else { 3.0 };
        let script = fetch(script, 0.01).compute(ms);
        script.repeat(5, move |_, script| fetch(script, 30.01 - ms).compute(ms))
    });
    let run = Run::of_scenario(scenario);
    let waited_ms = run.waits(WaitState::Target);
    assert!((waited_ms - 5.0 * 27.0).abs() < 0.1, "{waited_ms}");
    let replayed_ms = run.replay_ms(WhatIfScenario::Measured);
    assert!((replayed_ms - run.elapsed_ms()).abs() < 0.1, "{replayed_ms} of {}", run.elapsed_ms());
}

#[test]
fn who_waits_for_a_started_access_waits_for_its_target() {
    // rank 0  |======= 30 ========|poll|=====         each access is over when rank 0 is in MPI
    // rank 1  |start|= 3 =|wait ......|start|= 3 …
    for (operation, bytes) in
        [(Operation::Rput, [8, 0]), (Operation::Rget, [0, 8]), (Operation::Rget_accumulate, [8, 8])]
    {
        let scenario = Scenario::ranks(2).each(|rank, script| {
            (0..5).fold(script, |script, request| match rank {
                0 => script.compute(30.0).call(Operation::Iprobe, 0.01, |record| record.flags |= CallFlags::NOTHING),
                _ => {
                    let started = script.call(operation, 0.01, |record| {
                        (record.peer, record.request) = (0, request);
                        [record.sent, record.received] = bytes;
                    });
                    started.compute(3.0).call(Operation::Wait, 27.0, |record| record.request = request)
                }
            })
        });
        let run = Run::of_scenario(scenario);
        let waited_ms = run.waits(WaitState::Target);
        assert!((waited_ms - 5.0 * 27.0).abs() < 0.5, "{operation:?}: {waited_ms}");
    }
}

#[test]
fn who_waits_for_a_target_may_do_so_while_that_computes_many_times() {
    // rank 0  |= 10 =|poll|= 10 =|poll|= 10 =| …       its calls are too short for the access; it is over when rank 0 comes to the barrier
    // rank 1  |start|wait ........................
    let scenario = Scenario::ranks(2).each(|rank, script| match rank {
        0 => script.repeat(60, |_, script| script.compute(10.0).call(Operation::Iprobe, 0.001, |_| {})).barrier(0.1),
        _ => {
            let started = script.call(Operation::Rget_accumulate, 0.01, |record| {
                (record.peer, record.request) = (0, 0);
                (record.sent, record.received) = (8, 8);
            });
            started.call(Operation::Wait, 600.1, |record| record.request = 0).barrier(0.1)
        }
    });
    let run = Run::of_scenario(scenario);
    let waited_ms = run.waits(WaitState::Target);
    assert!(waited_ms > 590.0, "{waited_ms}");
}

#[test]
fn ranks_that_meet_through_a_third_one_have_one_loop() {
    // Pairs of neighbours exchange: 0 with 1, 2 with 3, then 1 with 2. Each rank has calls of its own.
    let text = "ranks 4\nrank *:\nrepeat 30\ncompute 6\nif $r == 0\nsend 1\nrecv 1\nend\nif $r == 2\ncompute 8\nsend 3\nrecv 3\nsend 1\nrecv 1\nend\n\
                if $r == 1\nrecv 0\nsend 0\nrecv 2\nsend 2\nend\nif $r == 3\nrecv 2\nsend 2\nend\nend\n";
    let run = Run::found(text);
    let main = run.model.loops.iter().filter(|one| one.main);
    let names: Vec<&str> = main.map(|one| one.name.as_str()).collect();
    assert!(names.iter().all(|&name| name == "loop"), "{names:?}");
    let as_mean_ms = run.replay_ms(WhatIfScenario::RankAsMean(2));
    assert!(as_mean_ms < 0.75 * run.elapsed_ms(), "{as_mean_ms} of {}", run.elapsed_ms());
}

#[test]
fn who_waits_for_a_lock_waits_for_what_its_holder_does_meanwhile() {
    // Both work 2 ms and hold the lock for 5 ms in each step, so that each waits for 3 ms while the other one holds it.
    let text =
        "ranks 2\nrank *:\nwin_create as w\nrepeat 20\ncompute 2\nwin_lock 0 on w\ncompute 5\nwin_unlock 0 on w\nend\n";
    let run = Run::found(text);
    let waited_ms = run.waits(WaitState::Lock);
    assert!(waited_ms > 100.0, "{waited_ms}");
    let causes = run.sums().causes;
    let of_work = causes.iter().filter(|cause| cause.activity == Some(Activity::Computation));
    let worked_ms: f64 = of_work.map(|cause| cause.caused_s * 1e3).sum();
    assert!(worked_ms >= 0.9 * waited_ms, "{worked_ms} of {waited_ms}: {causes:?}");
}

#[test]
fn a_collective_that_was_started_goes_on_while_its_members_are_in_mpi() {
    // rank 0, 1  |start|= 5 =|wait ..........|        though all have started it, the wait ends when rank 2 is back
    // rank 2     |start|====== 20 =======|wait|
    let scenario = Scenario::ranks(3).each(|rank, script| {
        let ms = if rank == 2 { 20.0 } else { 5.0 };
        (0..6).fold(script, |script, request| {
            let started = script.call(Operation::Iallreduce, 0.01, |record| record.request = request);
            started.compute(ms).wait(request, 0, 20.02 - ms)
        })
    });
    let run = Run::of_scenario(scenario);
    let waited_ms = run.waits(WaitState::NxN);
    assert!((waited_ms - 6.0 * 2.0 * 15.0).abs() < 1.0, "{waited_ms}");
    let of_others: f64 = run.causes().into_iter().filter(|((rank, ..), _)| *rank != 2).map(|(_, ms)| ms).sum();
    assert!(of_others < 1.0, "{:?}", run.causes());
    let as_mean_ms = run.replay_ms(WhatIfScenario::RankAsMean(2));
    assert!((as_mean_ms - 6.0 * 10.0).abs() < 1.0, "{as_mean_ms}");
}

#[test]
fn nothing_is_balanced_among_ranks_with_loops_of_their_own() {
    // Rank 0 takes what the others have, one by one; of the three that work rank 3 works twice as long.
    let text = "ranks 4\nrank *:\nif $r == 0\nrepeat 90\nrecv 1+$i%3\ncompute 1\nend\nend\n\
        if $r > 0\nrepeat 30\nif $r == 3\ncompute 10\nend\ncompute 10\nsend 0\nend\nend\n";
    let run = Run::found(text);
    let report = report_on(&run.model);
    assert!(report.what_if.notes.contains(&PredictionNote::OwnLoops), "{:?}", run.model.loops);
    let of_all = |scenario| {
        matches!(
            scenario,
            WhatIfScenario::Balanced(0) | WhatIfScenario::RunBalancedEach | WhatIfScenario::RankAsMean(_)
        )
    };
    let asked = || run.followed().scenario_times.iter().map(|&(scenario, _)| scenario);
    assert!(!asked().any(of_all), "{:?}", run.followed().scenario_times);
    let page = plain(&report, 100).replace("\n  ", " ");
    assert!(page.contains("balancing is predicted only among the ranks of one loop"), "{page}");
    // In the loop of the three that work they can share: 40 in place of 30, 20 a step.
    let balanced: Vec<_> = report.what_if.rows.iter().filter(|row| row.scenario.is_redistribution()).collect();
    assert!(!balanced.is_empty() && balanced.iter().all(|row| row.region.is_some()), "{balanced:?}");
    // Who asks for it is answered.
    let script = Script::parse(text).unwrap();
    let asked = Run::asking_of(&script, &["balanced=main"]);
    assert!(asked.replay_ms(WhatIfScenario::Balanced(0)) > 0.0);
}

#[test]
fn nothing_is_balanced_among_ranks_that_run_other_code() {
    // Two marked codes, which meet at the end only: in one rank 1 works twice as long as rank 0, in the other all work alike.
    let text = "ranks 4\ncomm ocean 0 1\ncomm air 2 3\nrank *:\nif $r < 2\nrepeat 20\niteration ocean\ncompute 10+10*$r\n\
        barrier on ocean\nend\nend\nend\nif $r > 1\nrepeat 30\niteration air\ncompute 5\nallreduce 8 on air\nend\nend\nend\nbarrier\n";
    let run = Run::of(text);
    let report = report_on(&run.model);
    assert!(report.clusters.are_apart());
    assert_eq!(report.what_if.notes, [PredictionNote::OtherCode]);
    let balanced: Vec<_> = report.what_if.rows.iter().filter(|row| row.scenario.is_redistribution()).collect();
    let of_ocean = |row: &&PredictionRow| row.region.as_deref() == Some("main/ocean") && row.rank.is_none();
    assert!(!balanced.is_empty() && balanced.iter().all(of_ocean), "{balanced:?}");
    let words = "balancing is predicted only among the ranks of one cluster";
    assert!(plain(&report, 100).replace("\n  ", " ").contains(words));
    assert!(
        json::report_document(&report, &ListBounds::SMALL)["prediction_notes"][0].as_str().unwrap().contains(words)
    );
    // Who asks for it is answered.
    let asked = Run::asking_of(&Script::parse(text).unwrap(), &["balanced=main"]);
    assert!(report_on(&asked.model).what_if.rows.iter().any(|row| row.scenario == WhatIfScenario::Balanced(0)));
}

#[test]
fn the_last_to_enter_a_collective_waits_for_others_once_it_computes_less() {
    // Rank 2 enters last, after 20 and then 10. Cut to the mean, 20 in all, it enters after 13.3, waits for rank 1 until 18, and computes 6.7.
    for collective in ["barrier", "allreduce 8", "alltoall 8", "allgather 8"] {
        let run = Run::of(&format!(
            "ranks 3\nrank 0: compute 10; {collective}; compute 1; {collective}\n\
             rank 1: compute 18; {collective}; compute 1; {collective}\n\
             rank 2: compute 20; {collective}; compute 10; {collective}\n"
        ));
        assert!((run.elapsed_ms() - 30.0).abs() < 1e-3);
        let cut_ms = run.replay_ms(WhatIfScenario::RankAsMean(2));
        assert!((cut_ms - (18.0 + 10.0 * 2.0 / 3.0)).abs() < 1e-3, "{collective}: {cut_ms} ms");
    }
}

/// A pipeline without marks, in which the first rank only sends and the last only receives: its steps are found in the calls.
fn unmarked_pipeline(work: &str) -> String {
    format!(
        "ranks 4\nlatency 0.01\nrank *:\nrepeat 12\nif $r > 0\nrecv $r-1\nend\n{work}\nif $r < 3\nsend $r+1 bytes 1024\nend\nend\nbarrier\n"
    )
}

fn is_each(scenario: WhatIfScenario) -> bool {
    matches!(scenario, WhatIfScenario::RunBalancedEach | WhatIfScenario::BalancedEach(_))
}

#[test]
fn balance_in_each_iteration_is_not_predicted_where_it_is_not_known_which_of_them_are_the_same() {
    // Another rank is slow in each step, and the last rank's step ends with the receive, the others' with the send.
    let rotating = "compute 6\nif ($i+4-$r)%4 == 0\ncompute 6\nend";
    let run = Run::found(&unmarked_pipeline(rotating));
    assert!(run.model.main_loop().is_some());
    assert!(
        !run.followed().scenario_times.iter().any(|&(scenario, _)| is_each(scenario)),
        "{:?}",
        run.followed().scenario_times
    );
    let text = plain(&report_on(&run.model), 100).replace("\n  ", " ");
    assert!(text.contains("balance in each iteration is not predicted"), "{text}");
    // Marked, they are known.
    let marked = unmarked_pipeline(rotating)
        .replace("repeat 12\n", "repeat 12\niteration step\n")
        .replace("end\nbarrier", "end\nend\nbarrier");
    let run = Run::of(&marked);
    let (each_ms, truth_ms) =
        (run.replay_ms(WhatIfScenario::RunBalancedEach), simulated_ms(&unmarked_pipeline("compute 7.5")));
    assert!((each_ms - truth_ms).abs() < 0.1, "{each_ms} ms instead of {truth_ms} ms");
    // Where each step takes a rank as long as the others, it does not matter. The first step of the first rank, and the last of the last, lie
    // outside of the loop: they are balanced as well.
    let steady = Run::found(&unmarked_pipeline("compute 6+2*$r"));
    let text = plain(&report_on(&steady.model), 100).replace("\n  ", " ");
    assert!(!text.contains("is not predicted"), "{text}");
    let (found_ms, truth_ms) =
        (steady.replay_ms(WhatIfScenario::RunBalancedEach), simulated_ms(&unmarked_pipeline("compute 9")));
    assert!((found_ms - truth_ms).abs() < 0.02 * truth_ms, "{found_ms} ms instead of {truth_ms} ms");
}

#[test]
fn iterations_of_a_tree_are_counted_from_the_last_in_which_all_compute() {
    // Ranks reduce to rank 0 and wait for its answer; the root's step ends with a send, the others' with a receive or a send. Another rank is slow in each step.
    let tree = |work: &str| {
        let up = "if $r%2 == 1\nsend $r-1 bytes 1024\nend\nif $r%2 == 0\nrecv $r+1\nend\nif $r == 2\nsend 0 bytes 1024\nend\n";
        let root = "if $r == 0\nrecv 2\nsend 2 bytes 1024\nend\nif $r == 2\nrecv 0\nend\n";
        let down = "if $r%2 == 0\nsend $r+1 bytes 1024\nend\nif $r%2 == 1\nrecv $r-1\nend\n";
        format!("ranks 4\nlatency 0.01\nrank *:\nrepeat 12\n{work}\n{up}{root}{down}end\nbarrier\n")
    };
    let run = Run::found(&tree("compute 6\nif ($i+4-$r)%4 == 0\ncompute 6\nend"));
    let (each_ms, truth_ms) = (run.replay_ms(WhatIfScenario::RunBalancedEach), simulated_ms(&tree("compute 7.5")));
    assert!((each_ms - truth_ms).abs() < 0.02 * truth_ms, "{each_ms} ms instead of {truth_ms} ms");
}

#[test]
fn what_ranks_compute_outside_of_a_found_loop_is_balanced_where_it_may_be_a_part_of_it_and_else_stays() {
    let steps = |before: &str| {
        format!("ranks 2\nrank *:\n{before}\nrepeat 10\ncompute 10+10*$r\nallreduce 8\nend\ncompute 0.001\n")
    };
    // The first step's computation comes before the first call of the loop.
    let run = Run::found(&steps("compute 0"));
    assert!((run.replay_ms(WhatIfScenario::RunBalancedEach) - 150.0).abs() < 0.1);
    // Rank 0 reads the input for 300: that is no part of a step.
    let run = Run::found(&steps("if $r == 0\ncompute 300\nend"));
    let each_ms = run.replay_ms(WhatIfScenario::RunBalancedEach);
    assert!((each_ms - (310.0 + 9.0 * 15.0)).abs() < 0.1, "{each_ms} ms");
}

#[test]
fn evenly_loaded_threads_shorten_a_step_as_far_as_no_other_rank_is_waited_for() {
    // Rank 0's threads work 10 and 50, rank 1's both 40: a step takes 50, and 40 where rank 0's threads work 30 each. A serial part of 5 stays.
    let run = Run::of_scenario_asking(
        Scenario::ranks(2).each(|rank, script| {
            script.repeat(4, move |_, script| {
                let works = if rank == 0 { [10.0, 50.0] } else { [40.0, 40.0] };
                script.compute(5).team(&works).barrier(if rank == 0 { 0.01 } else { 10.01 })
            })
        }),
        &[],
    );
    assert!((run.elapsed_ms() - 4.0 * 55.01).abs() < 1e-3);
    let balanced_ms = run.replay_ms(WhatIfScenario::ThreadsBalanced(None));
    assert!((balanced_ms - 4.0 * 45.01).abs() < 0.1, "{balanced_ms} ms");
}

#[test]
fn a_small_send_waits_for_a_receiver_that_left_again_at_once() {
    // Rank 0 sends 1 kB after 10, and is in the call until 16.05. Rank 1 comes for another message at that very moment, leaves without having
    // seen this one, and comes back after 16, to receive yet another one first. With half of the work that is after 8, and the send ends then: it does not take 6 by itself.
    let run = Run::of_scenario_asking(
        Scenario::ranks(2).each(|rank, script| {
            script.repeat(3, move |_, script| match rank {
                0 => {
                    script.send(1, 1, 8, 0.005).send(1, 3, 8, 0.005).compute(9.99).send(1, 2, 1024, 6.05).barrier(0.05)
                }
                _ => script
                    .compute(9.995)
                    .recv(0, 1, 8, 0.015)
                    .compute(5.99)
                    .recv(0, 3, 8, 0.06)
                    .recv(0, 2, 1024, 0.01)
                    .barrier(0.03),
            })
        }),
        &["faster=main:2"],
    );
    assert!((run.elapsed_ms() - 3.0 * 16.1).abs() < 1e-3);
    let halved_ms = run.replay_ms(WhatIfScenario::Faster(0, 2.0));
    assert!((halved_ms - 3.0 * 8.1).abs() < 0.1, "{halved_ms} ms");
}

/// Messages of so many bytes are exchanged while ranks compute 15 and 5 ms a step. `moves_alone`: they come whatever their sender does; else
/// when it is in MPI again.
fn overlapped(bytes: u64, moves_alone: bool) -> Scenario {
    Scenario::ranks(2).each(|rank, script| {
        let other = 1 - rank as i32;
        let script = script.barrier(1);
        script.repeat(STEPS as u32, |step, script| {
            let script = script.irecv(other, 7, 0.01).isend(other, 7, bytes, 0.01);
            let received = [(2 * step, bytes), (2 * step + 1, 0)];
            match (rank, moves_alone) {
                (0, _) => script.compute(15).waitall(&received, 0.05),
                (_, false) => script.compute(5).waitall(&received, 10.05),
                (_, true) => script.compute(5).waitall(&received, 0.05).compute(10),
            }
        })
    })
}

#[test]
fn of_messages_of_any_size_the_run_shows_whether_they_need_their_sender_in_mpi() {
    for bytes in [65, 512, 1000, 4000, 8192, 65536] {
        let run = Run::of_scenario(overlapped(bytes, false));
        // Rank 1 waits each step for rank 0 to come back.
        let waits_ms = run.waits(WaitState::LateSender);
        let expected_ms = 10.0 * STEPS as f64;
        assert!((waits_ms - expected_ms).abs() < 0.1 * expected_ms, "{bytes} B: {waits_ms} ms");
        // With rank 0 computing 10 ms, the mean, steps take 10 ms.
        let saved = 1.0 - run.replay_ms(WhatIfScenario::RankAsMean(0)) / run.elapsed_ms();
        assert!((saved - 1.0 / 3.0).abs() < 0.05, "{bytes} B: {saved}");
        assert!(report_on(&run.model).what_if.notes.contains(&PredictionNote::InferredProgress), "{bytes} B");
        let alone = Run::of_scenario(overlapped(bytes, true));
        assert!(!report_on(&alone.model).what_if.notes.contains(&PredictionNote::InferredProgress), "{bytes} B");
        assert!(alone.waits(WaitState::LateSender) < 0.1 * STEPS as f64, "{bytes} B");
    }
}
