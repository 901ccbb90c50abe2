//! Small runs whose figures can be worked out by hand.

use lbprof_analysis::metrics::spread::load_balance::{
    phase_profile_ideal, phase_profile_ideal_of, region_efficiency_times, times_of,
};
use lbprof_collector::definition::{ClockPair, Definition, Region, RegionKind};
use lbprof_collector::format::{BatchHead, ClockSource, log_name, rings_name};
use lbprof_collector::ring::HEAD_BYTES;
use lbprof_collector::{Activity, Operation, ProblemKind, Record};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{assert_near, check_invariants, model, model_in, region, report, report_on, usage, written};

#[test]
fn the_ideal_time_of_the_run_adds_the_longest_computation_outside_of_iterations() {
    // Before the loop rank 0 computes 5 ms and rank 1 8 ms; in it 10 and 20 ms twice.
    let model = model(Scenario::ranks(2).each(|rank, script| {
        let (before, work) = if rank == 0 { (5.0, 10.0) } else { (8.0, 20.0) };
        let script = script.compute(before).repeat(2, move |_, script| {
            script.iteration("step", move |script| script.compute(work).send(0, 0, 8, 1.0))
        });
        script.barrier(30.0)
    }));
    let ideal = phase_profile_ideal(&model, 0).unwrap();
    assert_near(ideal.seconds, 0.020 + 0.020 + 0.008);
    // Its error: the time in MPI of rank 1, the slowest in both iterations.
    assert_near(ideal.bound_s, 0.002);
}

#[test]
fn nested_iterations_count_in_the_outermost() {
    // Two steps of two substeps: rank 0 works 3 1 | 1 3, rank 1 works 1 3 | 3 1 (ms). By step both work 4 ms, so at the level
    // of steps nothing is lost; by substep 3 ms each, 12 in all.
    let model = model(Scenario::ranks(2).each(|rank, script| {
        script.repeat(2, move |step, script| {
            script.iteration("step", move |script| {
                script.repeat(2, move |sub, script| {
                    let work = if (sub + step + rank) % 2 == 0 { 3.0 } else { 1.0 };
                    script.iteration("sub", move |script| {
                        script.region("x", move |script| script.compute(work)).barrier(3.0 - work)
                    })
                })
            })
        })
    }));
    assert_near(region_efficiency_times(&model, 0).t_ideal_s.unwrap(), 0.008);
    assert_near(region_efficiency_times(&model, region(&model, "main/step")).t_ideal_s.unwrap(), 0.008);
    assert_near(region_efficiency_times(&model, region(&model, "main/step/sub")).t_ideal_s.unwrap(), 0.012);
    assert_near(region_efficiency_times(&model, region(&model, "main/step/sub/x")).t_ideal_s.unwrap(), 0.012);
    let series = model.ranks[1].series(region(&model, "main/step")).unwrap();
    assert_eq!(series.numbers, [0, 1]);
    assert_near(series.seconds[Activity::Computation as usize][1], 0.004);
    assert_near(series.begin_s[1], 0.006);
}

#[test]
fn efficiencies_of_some_ranks_are_as_if_there_were_no_others() {
    // Ranks 0 and 1 take turns at 3 and 1 ms; ranks 2 and 3, which begin 5 ms later, always compute 10 ms.
    let model = model(Scenario::ranks(4).each(|rank, script| {
        let script = if rank < 2 { script } else { script.late(5) };
        script.repeat(6, move |step, script| {
            let work = if rank < 2 { [1.0, 3.0][((rank + step) % 2) as usize] } else { 10.0 };
            script.iteration("step", move |script| {
                script.region("work", move |script| script.compute(work)).send(0, 0, 8, 0.5).barrier(10.0 - work)
            })
        })
    }));
    let first = times_of(&model, &[0, 1], 0);
    assert_near(first.elapsed_s, 6.0 * 0.0105);
    assert_near(first.max_computation_s, 0.012);
    assert_near(first.t_ideal_s.unwrap(), 0.018);
    let ideal = phase_profile_ideal_of(&model, &[0, 1], 0).unwrap();
    assert_near(ideal.bound_s, 6.0 * 0.0075);
    let others = times_of(&model, &[2, 3], 0);
    assert_near(others.elapsed_s, 6.0 * 0.0105);
    assert_near(others.micro_load_balance().unwrap(), 1.0);
    let step = region(&model, "main/step");
    assert_near(times_of(&model, &[0, 1], step).t_ideal_s.unwrap(), 0.018);
    // Inside of an iterated region only all ranks together are known by iteration.
    let work = region(&model, "main/step/work");
    assert_eq!(times_of(&model, &[0, 1], work).t_ideal_s, None);
    assert_eq!(times_of(&model, &[0, 1, 2, 3], work), region_efficiency_times(&model, work));
}

#[test]
fn regions_are_the_same_by_path_whatever_their_ids_are() {
    let model = model(
        Scenario::ranks(2)
            .rank(0, |r| r.region("a", |r| r.compute(1)).region("b", |r| r.compute(2)))
            .rank(1, |r| r.region("b", |r| r.compute(4)).region("a", |r| r.region("b", |r| r.compute(8)))),
    );
    let paths: Vec<&str> = model.regions.iter().map(|region| region.path.as_str()).collect();
    assert_eq!(paths, ["main", "main/a", "main/a/b", "main/b"]);
    let computation = |path| model.inclusive_s(region(&model, path), Activity::Computation);
    assert_eq!(computation("main/a"), [0.001, 0.008]);
    assert_eq!(computation("main/b"), [0.002, 0.004]);
    assert_near(model.region_elapsed_s(region(&model, "main/a")), 0.008);
}

#[test]
fn a_rank_that_comes_late_and_one_that_leaves_early_are_idle() {
    let model = model(
        Scenario::ranks(3).rank(0, |r| r.compute(100)).rank(1, |r| r.late(30).compute(70)).rank(2, |r| r.compute(40)),
    );
    let idle: Vec<f64> = model.ranks.iter().map(|rank| rank.idle_s(model.window_s())).collect();
    assert_near(model.elapsed_s(), 0.1);
    for (found, expected) in idle.iter().zip([0.0, 0.03, 0.06]) {
        assert_near(*found, expected);
    }
    assert_near(region_efficiency_times(&model, 0).parallel().unwrap(), 0.7);
}

#[test]
fn the_recorders_own_time_is_nobodys_computation() {
    let model = model(Scenario::ranks(1).rank(0, |r| r.compute(10).flush(5).compute(10)));
    let seconds = model.ranks[0].inclusive(0);
    assert_near(seconds[Activity::Computation as usize], 0.02);
    assert_near(seconds[Activity::Recorder as usize], 0.005);
}

/// The same run recorded as events and as profile: a loop with nested regions, messages, a collective.
fn for_both_modes() -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        let work = 5.0 + f64::from(rank);
        script.batch(7).compute(1).repeat(6, move |step, script| {
            script.iteration("step", move |script| {
                script
                    .region("force", move |script| script.compute(work).count("atoms", 10.0 * f64::from(step)))
                    .send(0, 1, 100, 0.5)
                    .allreduce(8, 9.5 - work)
            })
        })
    })
}

#[test]
fn profile_mode_gives_the_same_figures() {
    let events = model(for_both_modes());
    let profile = model(for_both_modes().profile_mode());
    assert_eq!(events.ranks, profile.ranks);
    assert_eq!(events.slowest, profile.slowest);
    assert_eq!(events.regions, profile.regions);
}

#[test]
fn a_killed_rank_gives_all_its_events_and_is_idle_after() {
    let model = model(
        Scenario::ranks(2)
            .rank(0, |r| r.compute(100).barrier(1.0))
            .rank(1, |r| r.repeat(10, |_, r| r.compute(5).send(0, 0, 8, 1.0)).kill(4)),
    );
    let seconds = model.ranks[1].inclusive(0);
    assert_near(seconds[Activity::Computation as usize], 0.05);
    assert_near(seconds[Activity::PointToPoint as usize], 0.01);
    assert_near(model.ranks[1].idle_s(model.window_s()), 0.101 - 0.06);
    assert!(model.problems.iter().any(|problem| problem.kind == ProblemKind::NotClosed && problem.rank == Some(1)));
    let report = report_on(&model);
    assert!(report.data.complete, "all of its events are in the report");
}

#[test]
fn a_rank_killed_in_a_call_counts_what_came_before() {
    let model = model(Scenario::ranks(1).rank(0, |r| r.compute(10).kill_in(Operation::Recv, 1)));
    assert_near(model.ranks[0].inclusive(0)[Activity::Computation as usize], 0.01);
}

#[test]
fn an_iteration_in_which_a_rank_was_killed_counts() {
    let dir =
        written(Scenario::ranks(1).rank(0, |r| {
            r.repeat(3, |step, r| r.iteration("step", move |r| r.compute(5 - step).barrier(1.0))).kill(2)
        }));
    // The last record in the ring, the end of the iteration, never came: its slot is unused.
    let path = dir.path().join(rings_name(0));
    let mut ring = std::fs::read(&path).unwrap();
    let slot = HEAD_BYTES + size_of::<Record>();
    ring[slot..slot + 8].fill(0);
    std::fs::write(&path, ring).unwrap();
    let model = model_in(dir.path());
    let series = model.ranks[0].series(region(&model, "main/step")).unwrap();
    assert_eq!(series.numbers, [0, 1, 2]);
    assert_near(series.seconds[Activity::Computation as usize][2], 0.003);
    assert!(series.end_s[2].is_nan());
    assert_near(series.begin_s[2], 0.011);
}

#[test]
fn clocks_that_differ_are_brought_together() {
    let events = |ahead: i64| {
        Scenario::ranks(2)
            .rank(0, |r| r.compute(20).barrier(1.0))
            .rank(1, move |r| r.clock_ahead(ahead).compute(20).barrier(1.0))
            .hosts(|rank| format!("node{rank}"))
    };
    let model = model(events(3_600_000_000_000));
    assert_near(model.elapsed_s(), 0.021);
    assert!(model.facts.common_clock);
}

#[test]
fn a_preempted_rank_is_reported() {
    // Both compute 2 s; rank 0 had a core for half of the time only.
    let report = report(
        Scenario::ranks(2)
            .rank(0, |r| r.define(usage(0, 0, 0, 0)).define(usage(2000, 1000, 1000, 400)).compute(2000))
            .rank(1, |r| r.define(usage(0, 0, 0, 0)).define(usage(2000, 1990, 10, 3)).compute(2000)),
    );
    let problem = report.problems.iter().find(|problem| problem.kind == ProblemKind::Preempted).unwrap();
    assert_eq!(problem.ranks, [0]);
    assert!(problem.details[0].contains("at least 1.00 s of 2.00 s"), "{:?}", problem.details);
}

#[test]
fn blocks_cut_differently_change_nothing() {
    let by = |records: usize| {
        model(Scenario::ranks(2).each(move |_, script| {
            script
                .batch(records)
                .repeat(20, |_, script| script.iteration("step", |script| script.compute(2).allreduce(8, 0.5)))
        }))
    };
    let (small, large) = (by(3), by(1000));
    assert_eq!(small.ranks, large.ranks);
}

#[test]
fn one_thread_and_many_give_the_same_model() {
    let dir = written(Scenario::ranks(13).each(|rank, script| {
        script.region(&format!("only {}", rank % 5), |script| script.compute(1.0 / 3.0 + f64::from(rank))).barrier(0.7)
    }));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let model = pool.install(|| model_in(dir.path()));
        check_invariants(&model);
        lbprof_test_runs::json(&report_on(&model))
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(7));
}

#[test]
fn ranks_that_iterate_in_different_code_have_no_ideal_time() {
    // An ocean on rank 0 and an ice sheet on rank 1: neither waits for the other's iterations.
    let model = model(Scenario::ranks(2).each(|rank, script| {
        let name = if rank == 0 { "ocean" } else { "ice" };
        script.repeat(10, move |_, script| script.iteration(name, |script| script.compute(1.0).barrier(0.1)))
    }));
    let times = region_efficiency_times(&model, 0);
    assert_eq!((times.t_ideal_s, times.micro_load_balance()), (None, None));
}

#[test]
fn of_the_ranks_of_one_code_there_is_an_ideal_time() {
    // Ranks 0 and 1 are an ocean and take turns at 3 and 1 ms; ranks 2 and 3 are an ice sheet, 2 ms each.
    let model = model(Scenario::ranks(4).each(|rank, script| {
        let name = if rank < 2 { "ocean" } else { "ice" };
        script.repeat(10, move |step, script| {
            let work = if rank < 2 { [3.0, 1.0][((rank + step) % 2) as usize] } else { 2.0 };
            script.iteration(name, |script| script.compute(work).barrier(3.0 - work))
        })
    }));
    assert_eq!(region_efficiency_times(&model, 0).t_ideal_s, None);
    let ocean = times_of(&model, &[0, 1], 0);
    assert_near(ocean.load_balance().unwrap(), 1.0);
    assert_near(ocean.micro_load_balance().unwrap(), 20.0 / 30.0);
    assert_near(ocean.transfer().unwrap(), 1.0);
    let ice = times_of(&model, &[2, 3], 0);
    assert_near(ice.micro_load_balance().unwrap(), 1.0);
    assert_near(ice.transfer().unwrap(), 2.0 / 3.0);
}

#[test]
fn efficiencies_are_of_the_time_that_was_recorded() {
    // 20 ms computed, 30 ms not recorded, nothing else: nothing is lost.
    let model = model(
        Scenario::ranks(2).each(|_, script| script.compute(10.0).paused(|script| script.compute(30.0)).compute(10.0)),
    );
    let report = report_on(&model);
    assert_near(report.efficiency.times.elapsed_s, 0.020);
    assert_near(report.efficiency.times.parallel().unwrap(), 1.0);
    assert_near(report.verdict.not_recorded_s, 0.030);
    assert_near(report.verdict.lost_s, 0.0);
}

#[test]
fn a_pause_of_some_ranks_only_makes_the_figures_doubtful() {
    let model = model(Scenario::ranks(2).each(|rank, script| {
        if rank == 0 { script.compute(20.0) } else { script.compute(10.0).paused(|script| script.compute(10.0)) }
    }));
    let report = report_on(&model);
    assert!(report.problems.iter().any(|row| row.kind == ProblemKind::UnevenPause));
    assert_near(report.efficiency.times.elapsed_s, 0.020);
}

#[test]
fn time_in_other_threads_is_not_the_ranks_own() {
    // A helper thread waits in Recv for 50 ms of a run of 10 ms of computation and 1 ms of Barrier.
    let folder = written(Scenario::ranks(1).rank(0, |script| script.compute(10.0).barrier(1.0)));
    let header = lbprof_simulator::scenario::header(0, 1);
    let begin = header.instants[1].ticks;
    let head = BatchHead { thread: 1, previous_end: begin, ..BatchHead::default() };
    let record = Record { end: begin + 50_000_000, ..Record::new(Operation::Recv, begin) };
    let ring = lbprof_simulator::scenario::ring(&header, &head, &[record], 0);
    std::fs::write(folder.path().join(rings_name(0)), ring).unwrap();
    let report = report_on(&model_in(folder.path()));
    let named = report.loss_facts.communication.as_ref().and_then(|place| place.at.as_ref());
    assert_eq!(named.map(|at| at.operation.as_str()), Some("Barrier"));
    let row = report.call_sites.iter().find(|row| row.operation == "Recv").unwrap();
    assert_near(row.sum.seconds, 0.0);
    assert_near(row.other_threads.seconds, 0.050);
}

#[test]
fn a_slash_in_a_name_makes_no_region_of_another() {
    let model = model(Scenario::ranks(1).rank(0, |script| {
        script.region("a/b", |script| script.compute(1.0)).region("a", |script| script.region("b", |s| s.compute(2.0)))
    }));
    let paths: Vec<&str> = model.regions.iter().map(|region| region.path.as_str()).collect();
    assert_eq!(paths, ["main", "main/a", "main/a/b", "main/a\\/b"]);
    assert_near(model.ranks[0].inclusive(region(&model, "main/a/b")).iter().sum(), 0.002);
}

#[test]
fn what_the_recorder_and_the_figures_both_report_counts_once() {
    let model = model(Scenario::ranks(2).each(|_, script| {
        script.compute(1.0).paused(|script| script.compute(1.0)).problem(ProblemKind::Paused, 1).compute(1.0)
    }));
    let report = report_on(&model);
    let row = report.problems.iter().find(|row| row.kind == ProblemKind::Paused).unwrap();
    assert_eq!((row.count, row.ranks.as_slice()), (2, &[0, 1][..]));
}

#[test]
fn a_problem_that_only_a_newer_recorder_knows_is_reported() {
    let unknown = Definition::Problem(9999, 3, "of the future".into());
    let report = report_on(&model(Scenario::ranks(1).rank(0, |script| script.compute(1.0).define(unknown))));
    let row = report.problems.iter().find(|row| row.kind == ProblemKind::NewerProblem).unwrap();
    assert_eq!((row.count, row.details[0].as_str()), (3, "problem 9999: of the future"));
}

#[test]
fn a_rank_of_which_nothing_can_be_read_is_no_rank_that_never_computes() {
    let folder = written(Scenario::ranks(2).each(|_, script| script.compute(10.0).barrier(1.0)));
    let log = folder.path().join(log_name(1));
    let mut bytes = std::fs::read(&log).unwrap();
    // All blocks but the header's neighbour lose their marks.
    for at in (0..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(b"LBBK")).collect::<Vec<_>>() {
        bytes[at] = b'X';
    }
    std::fs::write(&log, bytes).unwrap();
    let model = model_in(folder.path());
    assert_eq!(model.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0]);
    assert_near(region_efficiency_times(&model, 0).load_balance().unwrap(), 1.0);
    assert!(!report_on(&model).data.complete);
}

#[test]
fn regions_deeper_than_any_are_reported_and_bounded() {
    let name = |at: u32| format!("{}{at}", "long name ".repeat(100));
    let nested = |at: u32| Region { id: at, parent: at - 1, name: name(at), kind: RegionKind::Useful, iterated: false };
    let folder = written(Scenario::ranks(1).rank(0, |mut script| {
        for at in 1..2000 {
            script = script.define(Definition::Region(nested(at)));
        }
        for at in 1..2000 {
            script = script.call(Operation::RegionEnter, 0.001, |record| record.request = at);
        }
        script
    }));
    let model = model_in(folder.path());
    let bytes: usize = model.regions.iter().map(|region| region.path.len()).sum();
    assert!(model.regions.len() > 100, "{} regions", model.regions.len());
    assert!(bytes <= 65 << 20, "{bytes} bytes of paths");
    assert!(model.problems.iter().any(|problem| problem.kind == ProblemKind::TooMany));
}

#[test]
fn a_run_that_hung_is_reported_where() {
    // Ranks 0 and 2 wait in a barrier, to which rank 1 does not come: it waits for a message.
    let report = report(Scenario::ranks(3).each(|rank, script| match rank {
        1 => script.compute(100.0).at("solve").kill_in(Operation::Recv, 3),
        _ => script.compute(100.0).at("end").kill_in(Operation::Barrier, 3),
    }));
    let verdict = lbprof_report::findings::answer_in_words(&report);
    let expected = "The run did not end by MPI_Finalize or exit; last seen: rank 1 in MPI_Recv at scenario+0x";
    assert!(verdict.starts_with(expected) && verdict.contains("ranks 0, 2 in MPI_Barrier at scenario+0x"), "{verdict}");
    assert!(!verdict.contains("Nothing to gain"), "{verdict}");
}

#[test]
fn waiting_within_iterations_is_not_reported_as_transfer() {
    // In each of 30 steps rank 3 works 50 ms and the others 20; they meet; then rank 0 works 40 ms alone and the others wait
    // for it. On an ideal network a step takes 90 ms; the estimate knows of 60 (rank 0's 20 + 40).
    let report = report(Scenario::ranks(4).each(|rank, script| {
        script.repeat(30, move |_, script| {
            script.iteration("step", move |script| {
                let first = if rank == 3 { 50.0 } else { 20.0 };
                let script = script.compute(first).barrier(50.0 - first);
                if rank == 0 { script.compute(40.0) } else { script.allreduce(8, 40.0) }
            })
        })
    }));
    let of = report.efficiency;
    assert_near(of.t_ideal_phase_profile_s.unwrap(), 30.0 * 0.060);
    assert_near(of.t_ideal_phase_profile_bound_s.unwrap(), 30.0 * 0.030);
    assert_eq!(of.certain_ideal(), None);
    // It takes 90 ms, which is the upper bound; the longest rank computes 60.
    assert_near(of.micro_load_balance_min.unwrap(), 60.0 / 90.0);
    assert_near(of.transfer_max.unwrap(), 30.0 * 0.090 / of.times.elapsed_s);
    assert_eq!(report.verdict.serialization, None);
}

#[test]
fn an_iteration_that_a_rank_did_not_end_is_marked() {
    let report = report(Scenario::ranks(2).each(|rank, script| {
        let script = script.repeat(3, |_, script| script.iteration("step", |script| script.compute(10.0).barrier(1.0)));
        let last = |script: RankScript| script.compute(5.0).kill(4);
        if rank == 1 {
            script.iteration("step", last)
        } else {
            script.iteration("step", |s| s.compute(10.0).barrier(1.0))
        }
    }));
    let ranks: Vec<u32> = report.iterations.unwrap().rows.iter().map(|row| row.ranks).collect();
    assert_eq!(ranks[..3], [2, 2, 2]);
}

#[test]
fn overheads_and_the_parts_of_imbalance_are_as_reckoned_by_hand() {
    // Each of 20 steps on 3 ranks, in ms:
    //   rank 0  serial 6   |== 10 ==|..........|       T_p = 16, 20, 15; all end together after 6 + 20 = 26
    //   rank 1  ..........  |======= 20 ======|
    //   rank 2  ..........  |==== 15 ====|.....|
    let report = report(Scenario::ranks(3).each(|rank, script| {
        let work = [10.0, 20.0, 15.0][rank as usize];
        script.repeat(20, move |_, script| {
            script.iteration("step", move |script| {
                let script = match rank {
                    0 => script.region_of("read", RegionKind::Serial, |script| script.compute(6.0)).barrier(0.0),
                    _ => script.barrier(6.0),
                };
                script.compute(work).allreduce(8, 20.0 - work)
            })
        })
    }));
    let table = &report.overheads;
    let overheads = &table.overheads;
    assert_near(overheads.t_seq_s, 20.0 * 0.051);
    let ratio = |name: &str| {
        let phase = overheads.phases.iter().find(|phase| phase.phase.name() == name).expect("the phase is there");
        overheads.ratio(phase).unwrap()
    };
    assert_near(ratio("useful work"), 45.0 / 51.0);
    assert_near(ratio("serial work"), 6.0 / 51.0);
    assert_near(ratio("collective"), 15.0 / 51.0);
    assert_near(ratio("synchronization"), 12.0 / 51.0);
    assert_near(overheads.efficiency().unwrap(), 51.0 / 78.0);
    assert_near(overheads.speedup().unwrap(), 51.0 / 26.0);
    // Alone for 6 ms a step: Amdahl 2 · 6 = 12. P · max − Σ = 3 · 20 − 51 = 9 is less: global 0, and by step nothing is left.
    let alone = table.alone.as_ref().unwrap();
    assert_eq!(alone.serial.iter().map(|one| one.0).collect::<Vec<_>>(), [0]);
    assert!((alone.serial_s() - 0.120).abs() <= alone.error_s && alone.error_s < 0.01, "{alone:?}");
    let parts = &table.imbalance;
    assert_near(parts.amdahl_s.unwrap(), 2.0 * alone.serial_s());
    assert_near(parts.global_s, 0.0);
    assert_near(parts.temporal_s.unwrap(), 0.0);
}

#[test]
fn what_lies_in_a_region_for_control_is_control() {
    // Of 10 ms 4 are for control, 1 of them in a phase within that is marked as nothing else.
    let report = report(Scenario::ranks(1).rank(0, |script| {
        let inner = |script: RankScript| script.region("sort", |script| script.compute(1.0));
        script.compute(6.0).region_of("partition", RegionKind::Control, move |script| inner(script.compute(3.0)))
    }));
    let seconds: Vec<(&str, f64)> =
        report.overheads.overheads.phases.iter().map(|one| (one.phase.name(), one.total_s())).collect();
    assert_eq!(seconds, [("useful work", 0.006), ("control of parallelism", 0.004)]);
    assert_near(report.overheads.overheads.efficiency().unwrap(), 0.6);
}

#[test]
fn imbalance_without_serial_work_is_global_or_temporal() {
    // Two ranks take turns at 30 and 10 ms, a third always has 40.
    let report = report(Scenario::ranks(3).each(|rank, script| {
        script.repeat(10, move |step, script| {
            let work = if rank == 2 { 40.0 } else { [30.0, 10.0][((rank + step) % 2) as usize] };
            script.iteration("step", move |script| script.compute(work).barrier(40.0 - work))
        })
    }));
    let parts = &report.overheads.imbalance;
    assert_near(parts.amdahl_s.unwrap(), 0.0);
    assert_near(parts.global_s, 10.0 * 0.040);
    assert_near(parts.temporal_s.unwrap(), 0.0);
}

#[test]
fn a_slow_rank_that_rotates_is_temporal() {
    let report = report(Scenario::ranks(2).each(|rank, script| {
        script.repeat(10, move |step, script| {
            let work = if step % 2 == rank { 30.0 } else { 10.0 };
            script.iteration("step", move |script| script.compute(work).barrier(30.0 - work))
        })
    }));
    let parts = &report.overheads.imbalance;
    assert_near(parts.global_s, 0.0);
    assert_near(parts.temporal_s.unwrap(), 10.0 * 0.020);
    let course = report.iterations.unwrap().course;
    assert_eq!(course.slowest.iter().map(|one| (one.rank, one.count)).collect::<Vec<_>>(), [(0, 5), (1, 5)]);
}

#[test]
fn in_profile_mode_it_is_not_known_how_long_one_rank_works_alone() {
    let report = report(for_both_modes().profile_mode());
    assert_eq!(report.overheads.alone, None);
    assert_eq!(report.overheads.imbalance.amdahl_s, None);
}

#[test]
fn where_hosts_have_clocks_that_cannot_be_compared_neither() {
    let scenario = Scenario::ranks(2).each(|_, script| script.compute(10.0).barrier(1.0));
    let report = report(scenario.hosts(|rank| format!("node{rank}")).header(1, |header| {
        header.clock = ClockSource::Tsc;
        header.instants = [ClockPair { ticks: 0, monotonic_ns: 0 }; 2];
    }));
    assert_eq!(report.overheads.alone, None);
}

#[test]
fn what_grows_over_the_iterations_is_found() {
    // Rank 1 has 2 ms more than rank 0 at first and 8 ms more at last; every 10th step both have 12 ms more, from the 4th on.
    let report = report(Scenario::ranks(2).each(|rank, script| {
        script.repeat(200, move |step, script| {
            let more = if rank == 1 { 2.0 + 6.0 * f64::from(step) / 199.0 } else { 0.0 };
            let often = if step % 10 == 3 { 12.0 } else { 0.0 };
            let longest = 40.0 - more;
            script.iteration("step", move |script| script.compute(10.0 + often + more).barrier(longest))
        })
    }));
    let course = report.iterations.unwrap().course;
    let trends = course.trends.unwrap();
    let trend = trends.imbalance.trend.unwrap();
    // Half of the difference between two ranks is the longest less the mean.
    assert!((trend.slope - 0.5 * 0.006 / 199.0).abs() < 1e-9, "{trend:?}");
    assert!((trend.first - 0.001).abs() < 0.0002 && (trend.last - 0.004).abs() < 0.0002, "{trend:?}");
    assert_eq!(course.slowest.iter().map(|one| (one.rank, one.count)).collect::<Vec<_>>(), [(1, 200)]);
}
