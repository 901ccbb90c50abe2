//! Runs without markers, made by hand: what is found in their calls against what is known of them, and against the same run with
//! markers.

use lbprof_analysis::metrics::spread::load_balance::{
    phase_profile_ideal, phase_profile_ideal_of, region_efficiency_times,
};
use lbprof_analysis::model::Model;
use lbprof_analysis::model::code::loops::NoLoopReason;
use lbprof_analysis::structure::StructureOptions;
use lbprof_collector::{Activity, Operation};
use lbprof_report::time::loops::{LoopConfidence, LoopDoubt};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{assert_near, found_model, found_model_of, model, region, report_on};

fn iterations(model: &Model) -> Vec<Option<u32>> {
    model.ranks.iter().map(|rank| rank.found.map(|found| found.iterations)).collect()
}

/// A step: computes, exchanges with a neighbour, computes, and all meet; `work` is what the rank computes in it, of `longest`.
fn step(script: RankScript, work: f64, longest: f64) -> RankScript {
    let script =
        script.compute(0.75 * work).at("exchange").send(0, 1, 100, 0.125).at("exchange too").recv(0, 1, 100, 0.125);
    script.compute(0.25 * work).at("meet").allreduce(8, longest - work + 0.5)
}

/// Twenty steps on four ranks; `marked`: as iterations. Before and after them something else is done once.
fn steps(marked: bool, work: impl Fn(u32, u32) -> f64 + Copy + 'static, longest: f64) -> Scenario {
    Scenario::ranks(4).each(move |rank, script| {
        let script = script.compute(3).at("start").barrier(0.5);
        let script = script.repeat(20, move |number, script| match marked {
            true => script.iteration("loop", move |script| step(script, work(rank, number), longest)),
            false => step(script, work(rank, number), longest),
        });
        script.at("end").barrier(0.25)
    })
}

#[test]
fn a_found_loop_gives_the_figures_of_the_marked_one() {
    for work in [|rank: u32, _| f64::from(1 + rank), |rank: u32, step: u32| if rank == step % 4 { 4.0 } else { 1.0 }] {
        let (marked, found) = (model(steps(true, work, 4.0)), found_model(steps(false, work, 4.0)));
        assert_eq!(iterations(&found), [Some(20); 4]);
        let (of_all, marked_all) = (region_efficiency_times(&found, 0), region_efficiency_times(&marked, 0));
        assert_near(of_all.max_computation_s, marked_all.max_computation_s);
        assert_near(of_all.avg_computation_s, marked_all.avg_computation_s);
        assert_near(of_all.t_ideal_s.unwrap(), marked_all.t_ideal_s.unwrap());
        assert_near(of_all.elapsed_s, marked_all.elapsed_s);
        // What the first iteration computes before its first call, three quarters of its work, cannot be distinguished from what came before.
        let in_loop = |model: &Model| model.inclusive_s(region(model, "main/loop"), Activity::Computation);
        let slowest = &found.slowest[region(&found, "main/loop") as usize];
        assert_eq!(slowest.len(), 20);
        let (found, marked) = (in_loop(&found), in_loop(&marked));
        for (rank, (found, marked)) in found.into_iter().zip(marked).enumerate() {
            assert_near(found, marked - 0.000_75 * work(rank as u32, 0));
        }
    }
}

/// Twenty steps that exchange through one function from three places, of which the ranks compute `work` before the second; what it
/// carries differs by the place.
fn steps_through_a_function(work: impl Fn(u32) -> f64 + Copy + 'static) -> Scenario {
    Scenario::ranks(4).each(move |rank, script| {
        let script = script.through(&["main"]).at("start").barrier(0.5);
        let exchange = |script: RankScript, from: &str, bytes: u64, ms: f64| {
            let script = script.through(&["main too", from]);
            script.at("send").send(0, 1, bytes, 0.125).at("recv").recv(0, 1, bytes, 0.125).at("meet").barrier(ms)
        };
        script.repeat(20, move |_, script| {
            let script = exchange(script.compute(1), "predict", 10_000, 0.25);
            let script = exchange(script.compute(work(rank)), "correct", 100, 8.25 - work(rank));
            exchange(script.compute(0.5), "finish", 1_000, 0.25)
        })
    })
}

#[test]
fn a_function_that_is_called_from_several_places_of_a_step_makes_no_steps_of_its_own() {
    let model = found_model(steps_through_a_function(|rank| if rank == 2 { 8.0 } else { 2.0 }));
    assert_eq!(iterations(&model), [Some(20); 4]);
    let row = &report_on(&model).loops.rows[0];
    assert_eq!((row.confidence, row.doubt), (Some(LoopConfidence::Sure), None));
    assert_eq!((row.possible_min, row.possible_max), (Some(20.0), Some(20.0)));
    // Without the calls around them, the function's calls are all that there is.
    let alone = Scenario::ranks(4).each(|rank, script| {
        let step = move |_, script: RankScript| {
            let ms = if rank == 2 { 0.25 } else { 6.25 };
            let exchange = |script: RankScript, bytes, ms: f64| {
                script.at("send").send(0, 1, bytes, 0.125).at("recv").recv(0, 1, bytes, 0.125).at("meet").barrier(ms)
            };
            let script = exchange(script.compute(1), 10_000, 0.25);
            let script = exchange(script.compute(if rank == 2 { 8.0 } else { 2.0 }), 100, ms);
            exchange(script.compute(0.5), 1_000, 0.25)
        };
        script.repeat(20, step)
    });
    let report = report_on(&found_model(alone));
    assert_ne!(report.loops.rows[0].confidence, Some(LoopConfidence::Sure));
}

#[test]
fn code_between_calls_is_that_of_the_function_around_both() {
    let work = |rank| if rank == 2 { 8.0 } else { 2.0 };
    let model = found_model(steps_through_a_function(work));
    let computation = |path: &str| model.inclusive_s(region(&model, path), Activity::Computation);
    // The step's own code, between the calls in it that exchange; that of the function is a region for each of them.
    let is_own = |path: &&str| path.starts_with("main/loop/") && path.contains('→') && path.matches('/').count() == 2;
    let computes = |path: &&str| computation(path).iter().any(|&ms| ms > 0.0);
    let own: Vec<&str> = paths(&model).into_iter().filter(is_own).filter(computes).collect();
    assert_eq!(own.len(), 3, "{own:?}");
    let step = own.iter().map(|path| computation(path)).collect::<Vec<_>>();
    let mut longest: Vec<f64> = step.iter().map(|ranks| ranks.iter().copied().fold(0.0, f64::max)).collect();
    longest.sort_by(f64::total_cmp);
    // The first step's first part lies outside of the loop.
    assert_near(longest[0], 20.0 * 0.000_5);
    assert_near(longest[1], 19.0 * 0.001);
    assert_near(longest[2], 20.0 * 0.008);
}

fn paths(model: &Model) -> Vec<&str> {
    model.regions.iter().map(|region| region.path.as_str()).collect()
}

/// Rank 0 hands out two messages to each of the others, in a marked phase.
fn distributed(rank: u32, script: RankScript) -> RankScript {
    script.region("distribute", move |script| match rank {
        0 => (1..6)
            .fold(script, |script, other| script.at("a").send(other, 1, 800, 0.125).at("b").send(other, 2, 800, 0.125)),
        _ => script.at("a").recv(0, 1, 800, 0.5).at("b").recv(0, 2, 800, 0.5),
    })
}

#[test]
fn handing_out_in_a_marked_phase_is_no_loop() {
    let work = |script: RankScript| script.region("work", |script| script.compute(10)).barrier(0.5);
    let model = found_model(Scenario::ranks(6).each(|rank, script| work(distributed(rank, script))));
    assert_eq!(paths(&model), ["main", "main/distribute", "main/work"]);
    assert_eq!(iterations(&model), [None; 6]);
    // Within a loop it is a part of each iteration.
    let model = found_model(
        Scenario::ranks(6)
            .each(|rank, script| script.compute(1).repeat(10, |_, script| work(distributed(rank, script)))),
    );
    assert_eq!(paths(&model), ["main", "main/loop", "main/loop/distribute", "main/loop/work"]);
    assert_eq!(iterations(&model), [Some(10); 6]);
}

#[test]
fn a_queue_of_work_in_a_marked_phase_is_a_loop() {
    // Rank 0 serves the others by turns, each several times.
    let serve = |script: RankScript| {
        script.region("serve", |script| {
            (0..20).fold(script, |script, i| {
                let other = 1 + i % 3;
                script.at("ask").recv(other, 1, 8, 0.25).at("answer").send(other, 2, 800, 0.25)
            })
        })
    };
    let ask = |script: RankScript| script.at("ask").send(0, 1, 8, 0.25).at("answer").recv(0, 2, 800, 1).compute(5);
    let model = found_model(Scenario::ranks(4).each(|rank, script| match rank {
        0 => serve(script),
        _ => script.region("work", |script| script.repeat(if rank < 3 { 7 } else { 6 }, |_, script| ask(script))),
    }));
    assert_eq!(iterations(&model)[0], Some(20));
}

#[test]
fn code_between_calls_is_a_region_with_its_calls() {
    let model = found_model(steps(false, |rank, _| f64::from(1 + rank), 4.0));
    // Without names of functions a place is its offset; the places are numbered as they appear, 16 bytes apart.
    let before_exchange = region(&model, "main/loop/scenario+0x40 → scenario+0x20");
    let after_exchange = region(&model, "main/loop/scenario+0x30 → scenario+0x40");
    let computation = model.inclusive_s(before_exchange, Activity::Computation);
    // The first step comes from another place: what it computes is not the loop's, but its call is.
    assert_near(computation[3], 19.0 * 0.003);
    assert_near(model.inclusive_s(after_exchange, Activity::Computation)[3], 20.0 * 0.001);
    assert_near(model.inclusive_s(after_exchange, Activity::Collective)[3], 20.0 * 0.0005);
    assert_near(model.inclusive_s(before_exchange, Activity::PointToPoint)[0], 20.0 * 0.000_125);
    let ideal = phase_profile_ideal(&model, after_exchange).unwrap();
    assert_near(ideal.seconds, 20.0 * 0.001);
    assert_eq!(model.ranks[0].totals(after_exchange).invocations, 20);
}

#[test]
fn marked_phases_stay_regions_within_the_found_loop() {
    let model = found_model(Scenario::ranks(2).each(|rank, script| {
        let script = script.region("setup", |script| script.compute(5)).at("start").barrier(0.5);
        script.repeat(12, move |_, script| {
            script.region("force", move |script| script.compute(1 + rank)).at("meet").allreduce(8, 2 - rank)
        })
    }));
    assert_eq!(iterations(&model), [Some(12); 2]);
    let force = region(&model, "main/loop/force");
    // The first of them comes before the loop's first call.
    assert_near(model.inclusive_s(force, Activity::Computation)[1], 11.0 * 0.002);
    assert_near(phase_profile_ideal(&model, force).unwrap().seconds, 11.0 * 0.002);
    assert_near(model.inclusive_s(region(&model, "main/force"), Activity::Computation)[1], 0.002);
    assert_eq!(model.ranks[0].totals(force).invocations, 12);
    assert_near(model.inclusive_s(region(&model, "main/setup"), Activity::Computation)[0], 0.005);
    assert!(model.regions.iter().all(|region| !region.name.contains('→')), "phases are marked: {:?}", model.regions);
}

#[test]
fn marked_iterations_win_and_code_in_them_is_named_by_its_calls() {
    let model = found_model(steps(true, |_, _| 1.0, 1.0));
    assert_eq!(iterations(&model), [None; 4]);
    assert_eq!(model.without_loop, NoLoopReason::Marked);
    let within = region(&model, "main/loop/scenario+0x30 → scenario+0x40");
    assert_near(phase_profile_ideal(&model, within).unwrap().seconds, 20.0 * 0.000_25);
}

#[test]
fn ranks_at_the_border_have_the_same_loop_as_others() {
    // The first and the last rank have one neighbour only.
    let model = found_model(Scenario::ranks(5).each(|rank, script| {
        script.at("start").barrier(0.5).repeat(15, move |_, script| {
            let script = script.compute(1);
            let script = if rank > 0 { script.at("left").send(0, 0, 8, 0.5) } else { script };
            let script = if rank < 4 { script.at("right").recv(1, 0, 8, 0.5) } else { script };
            script.at("meet").allreduce(8, 1)
        })
    }));
    assert_eq!(iterations(&model), [Some(15); 5]);
    assert!(phase_profile_ideal(&model, 0).is_some());
}

/// Twelve steps in which even ranks compute 6 ms and odd ones 3 ms; even ones send before they receive, odd ones from places of
/// their own the other way round, and the sixth step gathers in place of that. `end` is where a rank ends a step.
fn branches(marked: bool, end: impl Fn(u32) -> &'static str + Copy + 'static) -> Scenario {
    let there = |rank, script: RankScript, number| match (rank % 2, number) {
        (0, 6) => script.at("gather").call(Operation::Allgather, 0.5, |_| ()),
        (_, 6) => script.at("gather too").call(Operation::Allgather, 0.5, |_| ()),
        (0, _) => script.at("send").send(rank as i32 + 1, 1, 8, 0.25).at("receive").recv(rank as i32 + 1, 1, 8, 0.25),
        _ => script.at("take").recv(rank as i32 - 1, 1, 8, 0.25).at("give").send(rank as i32 - 1, 1, 8, 0.25),
    };
    let step = move |rank, number, script: RankScript| {
        let odd = f64::from(rank % 2);
        there(rank, script.compute(6.0 - 3.0 * odd), number).at(end(rank)).allreduce(8, 0.5 + 3.0 * odd)
    };
    let places = ["send", "receive", "gather", "take", "give", "gather too", "meet", "meet too", "start"];
    Scenario::ranks(4).each(move |rank, script| {
        let script = script.places(&places).compute(1).at("start").barrier(0.5);
        script.repeat(12, move |number, script| match marked {
            true => script.iteration("loop", move |script| step(rank, number, script)),
            false => step(rank, number, script),
        })
    })
}

fn main_loops(model: &Model) -> Vec<(&str, &[u32])> {
    let mains = model.loops.iter().filter(|one| one.main);
    mains.map(|one| (one.name.as_str(), one.ranks.as_slice())).collect()
}

#[test]
fn ranks_with_other_calls_in_an_iteration_meet_at_its_end() {
    for end in [|_| "meet", |rank| if rank % 2 == 0 { "meet" } else { "meet too" }] {
        let (marked, found) = (model(branches(true, end)), found_model(branches(false, end)));
        assert_eq!(iterations(&found), [Some(12); 4]);
        assert_eq!(main_loops(&found), [("loop", &[0, 2][..]), ("loop", &[1, 3])]);
        let (of_all, marked_all) = (region_efficiency_times(&found, 0), region_efficiency_times(&marked, 0));
        // The slowest ranks take 12 times 6 ms, and all 1 ms before.
        assert_near(marked_all.t_ideal_s.unwrap(), 0.073);
        assert_near(of_all.t_ideal_s.unwrap(), 0.073);
        assert_near(of_all.load_balance().unwrap(), marked_all.load_balance().unwrap());
        let in_loop = found.inclusive_s(region(&found, "main/loop"), Activity::Computation);
        // Not that before the loop's first call. That before the one MPI_Allgather is: the call comes between iterations of the loop.
        assert_near(in_loop[1], 11.0 * 0.003);
    }
}

#[test]
fn ranks_that_exchange_messages_in_each_iteration_go_through_it_together() {
    // Rank 0 begins each round, the others pass on what they are given.
    let model = found_model(Scenario::ranks(3).each(|rank, script| {
        let (left, right) = ((rank as i32 + 2) % 3, (rank as i32 + 1) % 3);
        script.places(&["begin", "end", "take", "pass"]).repeat(10, move |_, script| match rank {
            0 => script.compute(4).at("begin").send(right, 1, 8, 0.25).at("end").recv(left, 1, 8, 6.75),
            _ => script.at("take").recv(left, 1, 8, 4).compute(3).at("pass").send(right, 1, 8, 4),
        })
    }));
    assert_eq!(main_loops(&model), [("loop", &[1, 2][..]), ("loop", &[0])]);
    // What rank 0 computes before its first call lies before the loop, but no rank waits between: it is one with its first iteration.
    assert_near(phase_profile_ideal(&model, 0).unwrap().seconds, 10.0 * 0.004);
}

#[test]
fn programs_that_never_meet_have_iterations_of_their_own_though_as_many() {
    let model = found_model(Scenario::ranks(4).each(|rank, script| {
        let (mine, place) = if rank < 2 { ([0, 1], "meet") } else { ([2, 3], "meet too") };
        let script = script.places(&["start", "meet", "meet too"]).communicator(u64::from(mine[0]) + 10, &mine);
        let script = script.at("start").barrier(0.5).repeat(10, move |_, script| {
            script.compute(3).at(place).call(Operation::Barrier, 0.5, |record| record.comm = 2)
        });
        script.at("start").barrier(0.5)
    }));
    assert_eq!(iterations(&model), [Some(10); 4]);
    assert_eq!(main_loops(&model), [("loop", &[0, 1][..]), ("loop 2", &[2, 3])]);
    assert_eq!(phase_profile_ideal(&model, 0), None);
    assert_near(phase_profile_ideal_of(&model, &[0, 1], 0).unwrap().seconds, 0.030);
}

#[test]
fn ranks_that_take_tasks_by_the_same_code_have_one_loop_however_many_each_takes() {
    let fetch = |script: RankScript| {
        let script = script.at("fetch").call(Operation::Fetch_and_op, 0.25, |record| {
            (record.peer, record.sent, record.received) = (0, 8, 8);
        });
        script.at("flush").call(Operation::Win_flush, 0.25, |record| record.peer = 0)
    };
    let tasks = |rank: u32| [0, 20, 30, 40][rank as usize];
    let model = found_model(Scenario::ranks(4).each(|rank, script| match rank {
        0 => script.at("meet").barrier(130.0),
        _ => {
            let task_ms = 120.0 / f64::from(tasks(rank)) - 0.5;
            script.repeat(tasks(rank), |_, script| fetch(script).compute(task_ms)).at("meet").barrier(10.0)
        }
    }));
    let mains = main_loops(&model);
    assert!(mains.iter().all(|(name, _)| *name == "loop"), "{mains:?}");
    let in_loop = model.inclusive_s(region(&model, "main/loop"), Activity::Computation);
    assert!(in_loop[1..].iter().all(|&seconds| seconds > 0.09), "{in_loop:?}");
    let report = report_on(&model);
    let [row] = report.loops.rows.as_slice() else { panic!("{:?}", report.loops.rows) };
    assert_eq!((row.ranks.as_slice(), row.confidence), (&[1, 2, 3][..], Some(LoopConfidence::Unsure)), "{row:?}");
}

#[test]
fn what_a_rank_alone_does_before_the_loop_does_not_make_its_loop_another_one() {
    let model = found_model(Scenario::ranks(4).each(|rank, script| {
        let script = script.places(&["hand out", "exchange", "meet"]);
        let script = match rank {
            0 => {
                script.repeat(3, |number, script| script.compute(1).at("hand out").send(number as i32 + 1, 2, 8, 0.25))
            }
            _ => script,
        };
        script.repeat(10, |_, script| script.compute(3).at("exchange").send(0, 1, 8, 0.25).at("meet").allreduce(8, 0.5))
    }));
    assert_eq!(main_loops(&model), [("loop", &[0, 1, 2, 3][..])]);
    assert_eq!(iterations(&model), [Some(10); 4]);
}

#[test]
fn the_user_names_the_call_that_ends_an_iteration() {
    let nested = || {
        Scenario::ranks(2).each(|_, script| {
            script.repeat(6, |_, script| {
                let script = script.repeat(5, |_, script| script.compute(1).at("inner").allreduce(8, 0.5));
                script.compute(2).at("outer").barrier(0.5)
            })
        })
    };
    let wanted = |label: &str| StructureOptions { loop_at: Some(label.to_owned()), ..StructureOptions::default() };
    assert_eq!(iterations(&found_model_of(nested(), wanted("scenario+0x10"))), [Some(30); 2]);
    assert_eq!(iterations(&found_model_of(nested(), wanted("scenario+0x20"))), [Some(6); 2]);
    let none = found_model_of(nested(), wanted("nowhere.c:7"));
    assert_eq!((iterations(&none), none.without_loop), (vec![None; 2], NoLoopReason::NoSuchCallSite));
}

#[test]
fn nothing_is_found_where_nothing_is_wanted_or_recorded() {
    let off = found_model_of(
        steps(false, |_, _| 1.0, 1.0),
        StructureOptions { detect: false, ..StructureOptions::default() },
    );
    assert_eq!((off.without_loop, off.regions.len()), (NoLoopReason::NotWanted, 1));
    let profiles = found_model(steps(false, |_, _| 1.0, 1.0).profile_mode());
    assert_eq!((profiles.without_loop, profiles.regions.len()), (NoLoopReason::Profiles, 1));
    let once = found_model(Scenario::ranks(2).each(|_, script| script.compute(5).at("end").barrier(1)));
    assert_eq!(once.without_loop, NoLoopReason::NoneFound);
}

#[test]
fn how_the_blocks_are_cut_changes_nothing() {
    let cut = |records: usize| {
        found_model(steps(false, |rank, _| f64::from(1 + rank), 4.0).each(move |_, script| script.batch(records)))
    };
    let whole = cut(100_000);
    for records in [1, 2, 7, 50] {
        let model = cut(records);
        assert_eq!(model.ranks, whole.ranks, "blocks of {records}");
        assert_eq!(model.regions, whole.regions);
        assert_eq!(model.slowest, whole.slowest);
    }
}

#[test]
fn a_found_loop_is_reported_with_how_sure_it_is() {
    let report = report_on(&found_model(steps(false, |rank, _| f64::from(1 + rank), 4.0)));
    insta::assert_snapshot!(lbprof_test_runs::plain(&report, 100));
    // What ranks compute in iteration 0 before its first call may be anything.
    let json: serde_json::Value = serde_json::from_str(&lbprof_test_runs::json(&report)).unwrap();
    let each = &json["iterations"]["per_iteration"];
    for key in ["max_s", "peak_s", "mean_s", "imbalance_s", "load_balance", "slowest_rank"] {
        assert!(each[0][key].is_null() && each[1][key].is_number(), "{key}: {}", each[0]);
    }
}

/// A program that sends, receives and sums through functions of its own, each with one call: cycles over levels of half the size,
/// down and up, as in a multigrid. `norm`: all sum up after each cycle.
fn cycles(n: u32, levels: u32, sweeps: u32, norm: bool) -> Scenario {
    let exchange = |script: RankScript, level: u32| {
        let bytes = 64 << (2 * level);
        let script = script.compute(f64::from(1 << level) / 64.0);
        script.at("send").send(0, 1, bytes, 0.125).at("receive").recv(0, 1, bytes, 0.125)
    };
    Scenario::ranks(2).each(move |_, script| {
        script.at("start").barrier(0.5).repeat(n, move |_, mut script| {
            for level in (0..levels).rev().chain(1..levels) {
                script = script.repeat(sweeps, |_, script| exchange(script, level));
            }
            if norm { script.at("sum").allreduce(8, 0.25) } else { script }
        })
    })
}

#[test]
fn iterations_of_a_program_that_wraps_its_calls_are_right_or_called_unsure() {
    for (n, levels, sweeps) in [(5, 4, 1), (12, 3, 1), (12, 5, 2), (20, 6, 3), (40, 4, 1)] {
        for norm in [false, true] {
            let report = report_on(&found_model(cycles(n, levels, sweeps, norm)));
            let main = report.loops.rows.iter().find(|row| row.main).expect("a main loop");
            let right = [main.iterations_min, main.iterations_max] == [f64::from(n); 2];
            let is_unsure = (main.confidence, main.doubt) == (Some(LoopConfidence::Unsure), Some(LoopDoubt::Period));
            assert!(right || is_unsure, "{n} cycles over {levels} levels, {sweeps} sweeps, norm {norm}: {main:?}");
        }
    }
}

#[test]
fn a_call_that_the_user_names_leaves_no_doubt() {
    let named = StructureOptions { loop_at: Some("scenario+0x30".to_owned()), ..StructureOptions::default() };
    let report = report_on(&found_model_of(cycles(20, 4, 1, false), named));
    let main = report.loops.rows.iter().find(|row| row.main).expect("a main loop");
    assert_eq!((main.confidence, main.doubt), (Some(LoopConfidence::Sure), None), "{main:?}");
}

#[test]
fn ranks_that_iterate_less_often_than_others_with_the_same_calls_are_not_sure() {
    // Rank 0 exchanges in each step; rank 1 has something to exchange in each twentieth alone.
    let model = found_model(Scenario::ranks(2).each(|rank, script| {
        script.repeat(400, move |step, script| {
            let script = script.compute(1);
            if rank == 0 || step % 20 == 19 {
                let script = script.at("send").send(0, 1, 100, 0.125).at("send too").send(0, 1, 100, 0.125);
                script.at("receive").recv(0, 1, 100, 0.125).at("receive too").recv(0, 1, 100, 0.125)
            } else {
                script
            }
        })
    }));
    let report = report_on(&model);
    let mains: Vec<_> = report.loops.rows.iter().filter(|row| row.main).collect();
    let of = |rank| mains.iter().find(|row| row.ranks.contains(&rank)).map(|row| (row.iterations_max, row.doubt));
    assert_eq!((of(0), of(1)), (Some((400.0, Some(LoopDoubt::Ends))), Some((20.0, Some(LoopDoubt::Ranks)))));
}

#[test]
fn ranks_that_meet_others_in_some_iterations_alone_keep_those_of_their_own() {
    // Rank 0 exchanges in each step; in each tenth all do so, and most ranks have no other calls.
    let exchange = |script: RankScript, there: &'static str, back: &'static str| {
        script.at(there).send(0, 1, 100, 0.125).at(back).recv(0, 1, 100, 0.125)
    };
    let model = found_model(Scenario::ranks(4).each(|rank, script| {
        let has_work = u32::from(rank == 0);
        let places = ["forward", "forwarded", "move", "moved", "list", "listed", "reverse", "reversed"];
        script.places(&places).repeat(200, move |step, script| {
            let script = script.compute(1);
            let script = match (step % 10, rank) {
                (9, _) => exchange(exchange(script, "move", "moved"), "list", "listed"),
                (_, 0) => exchange(script, "forward", "forwarded"),
                _ => script,
            };
            script.repeat(has_work, |_, script| exchange(script, "reverse", "reversed"))
        })
    }));
    let report = report_on(&model);
    let mains: Vec<_> = report.loops.rows.iter().filter(|row| row.main).collect();
    let of = |rank| mains.iter().find(|row| row.ranks.contains(&rank)).map(|row| (row.iterations_max, row.doubt));
    assert_eq!((of(0), of(3)), (Some((200.0, Some(LoopDoubt::Ends))), Some((20.0, Some(LoopDoubt::Ranks)))));
}

#[test]
fn work_at_the_edges_of_a_loop_is_balanced_with_that_of_its_iterations() {
    // Rank 0 works longer in the first of eleven steps and rank 1 in the last: before the first exchange, and after the last one. In all they work as long,
    // and neither the first nor the last step alone is what could be balanced.
    let scenario = Scenario::ranks(2).each(|rank, script| {
        let long = |step: u32| if step == 10 * rank { 9.0 } else { 6.0 };
        let script = script.through(&["run"]).at("start").barrier(0.5);
        let script = script.repeat(10, move |step, script| {
            let wait = if step == 0 { 9.0 - long(0) } else { 0.0 };
            script.compute(long(step)).at("exchange").barrier(0.5 + wait)
        });
        script.compute(long(10)).at("end").barrier(9.5 - long(10))
    });
    let model = found_model(scenario);
    assert_eq!(iterations(&model), [Some(10); 2]);
    let balanced: Vec<String> = report_on(&model).what_if.rows.iter().filter_map(|row| row.region.clone()).collect();
    assert_eq!(balanced, Vec::<String>::new());
}
