//! Parts of runs: what is computed from them, and that nothing else changes.

use std::collections::BTreeMap;
use std::path::Path;

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::model::Model;
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_collector::definition::RankList;
use lbprof_collector::{Activity, Operation, ProblemKind};
use lbprof_report::{Report, findings, text};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_test_runs::{
    check_invariants, json, model_in, part_in, plain, report, report_on, try_part_in, usage, written,
};

fn ranks(list: &str) -> Selection {
    Selection { ranks: Some(list.parse().expect("a list of ranks")), ..Selection::default() }
}

fn head(report: &Report, columns: usize) -> String {
    plain(report, columns).split("\n\n").take(3).collect::<Vec<_>>().join("\n\n")
}

fn json_of(report: &Report) -> serde_json::Value {
    serde_json::from_str(&json(report)).expect("JSON")
}

/// Eight ranks on two hosts; rank p computes 10·(p + 1) ms, and all meet.
fn eight_ranks() -> Scenario {
    Scenario::ranks(8).hosts(|rank| format!("node{}", rank / 4)).each(|rank, script| {
        script
            .region("work", |script| script.compute(10 * (rank + 1)).send(0, 1, 100 * u64::from(rank), 1.0))
            .barrier(10 * (8 - rank))
    })
}

#[test]
fn everything_is_computed_from_the_selected_ranks_alone() {
    let dir = written(eight_ranks());
    let model = part_in(dir.path(), &ranks("host=node0,6-7:1"));
    let numbers: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 6, 7]);
    let report = report_on(&model);
    // They compute 10, 20, 30, 40, 70 and 80 ms.
    assert_eq!(report.efficiency.times.load_balance(), Some(0.25 / 6.0 / 0.08));
    assert_eq!(report.data.hosts, 2);
    assert_eq!(report.verdict.worst.as_ref().unwrap().rank, 7);
    let region = report.regions.iter().find(|row| row.path == "main/work").unwrap();
    assert_eq!(region.totals.invocations, 6);
    let sends = report.call_sites.iter().find(|row| row.operation == "Send").unwrap();
    assert_eq!((sends.sum.calls, sends.sum.sent), (6, 100 * (1 + 2 + 3 + 6 + 7)));
}

#[test]
fn a_rank_that_is_waited_for_but_not_selected_is_reported_as_such() {
    let dir = written(eight_ranks());
    // All wait for rank 7 in the barrier, and balancing the first four does not change that.
    let report = report_on(&part_in(dir.path(), &ranks("0-3")));
    let words = findings::answer_in_words(&report);
    assert!(words.contains("for the computation of rank 7 (not selected) in work"), "{words}");
    assert!(!words.contains("average work on rank 7"), "{words}");
    let report = report_on(&part_in(dir.path(), &ranks("4-")));
    let words = findings::answer_in_words(&report);
    assert!(!words.contains("not selected"), "{words}");
    let slow = report.findings.iter().find(|one| one.ranks == [7]).expect("rank 7 computes longest");
    let region = slow.place.as_ref().and_then(|place| place.region.as_deref());
    assert_eq!(region, Some("main/work"), "{slow:?}");
}

#[test]
fn selecting_all_ranks_changes_no_figure() {
    let dir = written(eight_ranks());
    let all = json(&report_on(&model_in(dir.path())));
    let selected = json(&report_on(&part_in(dir.path(), &ranks("0-"))));
    let without = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        value.as_object_mut().unwrap().remove("selection");
        value
    };
    assert_eq!(without(&all), without(&selected));
    assert_ne!(all, selected);
}

#[test]
fn what_was_selected_is_reported_at_the_head() {
    let dir = written(eight_ranks());
    let report = report_on(&part_in(dir.path(), &ranks("0-:2")));
    insta::assert_snapshot!(head(&report, 100));
}

#[test]
fn a_run_without_a_call_says_that_none_was_seen() {
    let nothing = || Scenario::ranks(2).each(|_, script| script.compute(1500));
    let kinds = |of: &Report| of.problems.iter().map(|row| row.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&report(nothing())), [ProblemKind::NothingSeen]);
    let one_call = Scenario::ranks(2).each(|_, script| script.compute(30).allreduce(8, 1));
    assert_eq!(kinds(&report(one_call)), []);
    // A part of a run may well have none.
    let dir = written(nothing());
    let first = Selection { ranks: Some("0".parse().unwrap()), ..Selection::default() };
    assert!(!kinds(&report_on(&part_in(dir.path(), &first))).contains(&ProblemKind::NothingSeen));
}

/// Hosts of four ranks each: who is missing between ranks of one host was not lost with its host's folder.
#[test]
fn of_missing_ranks_the_hosts_of_the_others_are_reported() {
    let missing = |ranks: &[u32], ranks_per_host: u32| {
        let all = eight_ranks().hosts(|rank| format!("node{}", rank / ranks_per_host));
        let report = report(ranks.iter().fold(all, |scenario, &rank| scenario.missing(rank)));
        report.problems.iter().find(|row| row.kind == ProblemKind::MissingRank).unwrap().details.clone()
    };
    let between = "the ranks before and after ran on the same host and have logs";
    assert_eq!(missing(&[1, 2, 6], 4), [format!("of 8 ranks: 1, 2, 6; {between}")]);
    assert_eq!(missing(&[4, 5, 6, 7], 4), ["of 8 ranks: 4-7; all logs here are from host node0"]);
    // They may have run on either host, or on a third one.
    assert_eq!(missing(&[2, 3, 4], 4), ["of 8 ranks: 2-4"]);
    assert_eq!(missing(&[1, 7], 4), ["of 8 ranks: 1, 7"]);
}

#[test]
fn of_problems_those_of_the_selected_ranks_are_reported() {
    let scenario = eight_ranks()
        .missing(2)
        .missing(5)
        .rank(1, |script| script.problem(ProblemKind::PhaseMismatch, 3))
        .rank(7, |script| script.problem(ProblemKind::TooMany, 1));
    let dir = written(scenario);
    let report = report_on(&part_in(dir.path(), &ranks("0-3")));
    let kinds: Vec<ProblemKind> = report.problems.iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [ProblemKind::PhaseMismatch, ProblemKind::MissingRank]);
    assert_eq!(report.problems[1].details, ["of 4 selected ranks: 2"]);
    assert!(!report.data.complete);
    let report = report_on(&part_in(dir.path(), &ranks("0,3,7")));
    assert_eq!(report.problems.iter().map(|row| row.kind).collect::<Vec<_>>(), [ProblemKind::TooMany]);
    assert!(report.data.complete, "no selected rank is missing");
    let error = try_part_in(dir.path(), &ranks("2,5")).unwrap_err();
    assert_eq!(error, "--ranks: there is no log of any of the ranks 2, 5");
}

#[test]
fn ranks_that_were_left_out_of_recording_are_no_problem_of_a_selection() {
    let recorded = RankList::from_ranks([0, 1, 2, 3]);
    let scenario = (0..8).fold(eight_ranks(), |all, rank| {
        let all = all.header(rank, |header| header.recorded_ranks = recorded.clone());
        if rank < 4 { all } else { all.missing(rank) }
    });
    let dir = written(scenario);
    let report = report_on(&part_in(dir.path(), &ranks("1-")));
    assert_eq!((report.data.ranks_recorded, report.ranks.len()), (3, 3));
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let computation: f64 = report.ranks.iter().map(|row| row.seconds[Activity::Computation as usize]).sum();
    assert!((computation - 0.09).abs() < 1e-12);
}

fn window(from: &str, to: &str) -> Selection {
    let moment = |text: &str| (!text.is_empty()).then(|| text.parse().expect("a moment"));
    Selection { from: moment(from), to: moment(to), ..Selection::default() }
}

/// Figures by name: seconds, calls and bytes by rank, region and activity, and by call site; and what else adds up.
fn sums(model: &Model) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let path = |idx: u32| model.regions[idx as usize].path.clone();
    for rank in &model.ranks {
        let mut add = |name: String, value: f64| *all.entry(format!("rank {} {name}", rank.rank)).or_default() += value;
        for ((region, activity), cell) in &rank.cells {
            let name = format!("{} {}", path(*region), activity.name());
            add(format!("{name} seconds"), cell.seconds);
            // An interval that is cut is one in both parts.
            if !matches!(activity, Activity::Computation) {
                add(format!("{name} calls"), cell.calls as f64);
            }
            add(format!("{name} bytes"), (cell.sent + cell.received) as f64);
        }
        let of_threads = [("first", &rank.sites), ("other", &rank.other_sites)];
        for (whose, sites) in of_threads {
            for (key, cell) in sites {
                let name =
                    format!("{whose} site {:?} {} {}", key.site, operation_name(key.operation), path(key.region));
                add(format!("{name} seconds"), cell.seconds);
                add(format!("{name} calls"), cell.calls as f64);
                add(format!("{name} bytes"), (cell.sent + cell.received) as f64);
            }
        }
        for (region, totals) in &rank.totals {
            add(format!("{} invocations", path(*region)), totals.invocations as f64);
            add(format!("{} operations", path(*region)), totals.operations);
        }
        for ((region, counter), totals) in &rank.counters {
            add(format!("{} counter {counter}", path(*region)), totals.sum);
        }
        for (region, series) in &rank.iterations {
            for (at, number) in series.numbers.iter().enumerate() {
                for (activity, seconds) in Activity::ALL.into_iter().zip(&series.seconds) {
                    let name = format!("{} iteration {number} {}", path(*region), activity.name());
                    add(name, seconds.get(at).copied().unwrap_or(0.0));
                }
            }
        }
        add("window".into(), rank.end_s - rank.begin_s);
        add("paused".into(), rank.paused_s);
        add("records".into(), rank.records as f64);
        add("calls".into(), rank.calls as f64);
        add("MPI of other threads".into(), rank.other_threads_mpi_s);
    }
    all.retain(|_, value| *value != 0.0);
    all
}

#[track_caller]
fn assert_adds_up(parts: &[Model], whole: &Model, what: &str) {
    let mut added: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in parts.iter().flat_map(sums) {
        *added.entry(name).or_default() += value;
    }
    let whole = sums(whole);
    assert_eq!(added.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "{what}");
    for (name, value) in added {
        assert!((value - whole[&name]).abs() <= 1e-12 * value.max(1.0), "{what}: {name}: {value} of {}", whole[&name]);
    }
}

/// All that can cross an end of a window: calls with parts, regions, iterations, flushes, pauses, on clocks that differ.
fn busy() -> Scenario {
    Scenario::ranks(3).hosts(|rank| format!("node{rank}")).each(|rank, script| {
        let script = if rank == 2 { script.late(7).clock_ahead(1_000_000_007) } else { script };
        script.batch(5).compute(1.5).repeat(6, move |step, script| {
            let script = script.iteration("step", move |script| {
                script
                    .region("force", |script| script.compute(2 + rank).work(1e3, 1.0).count("atoms", step))
                    .isend(0, 1, 10, 0.25)
                    .irecv(1, 2, 0.25)
                    .compute(0.5)
                    .waitall(&[(2 * step, 0), (2 * step + 1, 33)], 1.75)
            });
            match step {
                2 => script.flush(3.0).compute(1),
                3 => script.paused(|script| script.compute(4).barrier(1.0)).compute(1),
                _ => script.allreduce(8, 1.0),
            }
        })
    })
}

#[test]
fn two_windows_that_follow_one_another_add_up_to_the_whole() {
    let dir = written(busy());
    let whole = model_in(dir.path());
    // In steps that meet begins and ends of all kinds, and what lies between.
    for t in (1_000..(whole.elapsed_s() * 1e6) as u64).step_by(1_875) {
        let t = format!("{t}us");
        let parts = [part_in(dir.path(), &window("", &t)), part_in(dir.path(), &window(&t, ""))];
        assert_adds_up(&parts, &whole, &t);
    }
}

fn ms(model: &Model, rank: usize, activity: Activity) -> f64 {
    (model.ranks[rank].inclusive(0)[activity as usize] * 1e9).round() / 1e6
}

#[test]
fn what_crosses_the_ends_of_a_window_is_cut_there() {
    // rank 0   |== computes 10 ==|== barrier 10 ==|== computes 10 ==|
    // rank 1   |== computes 2 ===|== barrier 18 ==|== computes 10 ==|
    // window        5 |═══════════════════════════════| 22
    let dir = written(
        Scenario::ranks(2)
            .rank(0, |script| script.region("work", |script| script.compute(10)).barrier(10.0).compute(10))
            .rank(1, |script| script.compute(2).barrier(18.0).compute(10)),
    );
    let model = part_in(dir.path(), &window("5ms", "22ms"));
    assert_eq!((ms(&model, 0, Activity::Computation), ms(&model, 0, Activity::Synchronization)), (7.0, 10.0));
    assert_eq!((ms(&model, 1, Activity::Computation), ms(&model, 1, Activity::Synchronization)), (2.0, 15.0));
    assert!((model.elapsed_s() - 0.017).abs() < 1e-12);
    let report = report_on(&model);
    // Rank 0's barrier begins in the window, rank 1's before it.
    let barrier = report.call_sites.iter().find(|row| row.operation == "Barrier").unwrap();
    assert_eq!((barrier.sum.calls, barrier.max_rank), (1, 1));
    let work = report.regions.iter().find(|row| row.path == "main/work").unwrap();
    assert_eq!((work.totals.invocations, work.efficiency.times.max_computation_s), (0, 0.005));
    insta::assert_snapshot!(head(&report, 60));
}

#[test]
fn a_window_around_everything_changes_no_figure() {
    let dir = written(busy().rank(1, |script| {
        script.problem(ProblemKind::PhaseMismatch, 3).define(usage(0, 0, 0, 0)).define(usage(150, 100, 50, 20))
    }));
    let without_selection = |model: &Model| {
        let mut value: serde_json::Value = serde_json::from_str(&json(&report_on(model))).unwrap();
        value.as_object_mut().unwrap().remove("selection");
        value
    };
    let all = without_selection(&model_in(dir.path()));
    for everything in [window("0", ""), window("", "1h"), window("0s", "100 s")] {
        assert_eq!(without_selection(&part_in(dir.path(), &everything)), all);
    }
}

/// Rank 0 is 5 ms late with each of its ten steps; rank 2 does something else. Step k computes k + 1 ms.
fn staggered() -> Scenario {
    let steps = |script: RankScript| {
        script.repeat(10, |step, script| {
            script.iteration("step", move |script| script.compute(step + 1).barrier(f64::from(10 - step)))
        })
    };
    Scenario::ranks(3)
        .rank(0, |script| steps(script.compute(5)))
        .rank(1, |script| steps(script.compute(1)).compute(4))
        .rank(2, |script| script.compute(60).send(0, 1, 8, 1.0).compute(54))
}

#[test]
fn iterations_are_those_of_each_rank() {
    let dir = written(staggered());
    let model = part_in(dir.path(), &window("iteration=3", "iteration=5"));
    for rank in [0, 1] {
        // Steps 3, 4 and 5 compute 4, 5 and 6 ms and last 11 ms each.
        assert_eq!(ms(&model, rank, Activity::Computation), 15.0);
        assert_eq!(ms(&model, rank, Activity::Synchronization), 18.0);
        let window = model.ranks[rank].end_s - model.ranks[rank].begin_s;
        assert!((window - 0.033).abs() < 1e-12, "{window}");
        let series = model.ranks[rank].series(1).unwrap();
        assert_eq!(series.numbers, [3, 4, 5]);
        assert!(series.begin_s.iter().chain(&series.end_s).all(|time| !time.is_nan()), "they are whole");
        assert_eq!(model.ranks[rank].totals(1).invocations, 3);
    }
    // Rank 2 counts from the begin on rank 1, at 34 ms, to the end on rank 0, at 71 ms; it sends at 60 ms.
    assert_eq!((ms(&model, 2, Activity::Computation), ms(&model, 2, Activity::PointToPoint)), (36.0, 1.0));
    assert!((model.elapsed_s() - 0.037).abs() < 1e-12);
    let report = report_on(&model);
    assert_eq!(report.iterations.as_ref().unwrap().rows.len(), 3);
    insta::assert_snapshot!(head(&report, 100));
}

#[test]
fn windows_of_iterations_add_up_to_the_loop() {
    let dir = written(staggered().rank(2, |script| script));
    let only_first_two = Selection { ranks: Some("0-1".parse().unwrap()), ..window("iteration=0", "iteration=9") };
    let whole = part_in(dir.path(), &only_first_two);
    for last in 0..9 {
        let before = window("iteration=0", &format!("iteration={last}"));
        let behind = window(&format!("iteration={}", last + 1), "iteration=9");
        let parts = [before, behind]
            .map(|window| part_in(dir.path(), &Selection { ranks: only_first_two.ranks.clone(), ..window }));
        assert_adds_up(&parts, &whole, &format!("after {last}"));
    }
}

#[test]
fn times_count_from_the_begin_of_the_run_whatever_ranks_are_selected() {
    let scenario =
        Scenario::ranks(2).rank(0, |script| script.compute(30)).rank(1, |script| script.late(10).compute(30));
    let dir = written(scenario);
    let model = part_in(dir.path(), &Selection { ranks: Some("1".parse().unwrap()), ..window("5ms", "25ms") });
    assert_eq!(ms(&model, 0, Activity::Computation), 15.0);
    assert!((model.elapsed_s() - 0.015).abs() < 1e-12, "{}", model.elapsed_s());
}

#[test]
fn a_rank_outside_of_the_window_is_idle_in_it() {
    let scenario = Scenario::ranks(2).rank(0, |script| script.compute(30)).rank(1, |script| script.compute(4).kill(1));
    let dir = written(scenario);
    let report = report_on(&part_in(dir.path(), &window("10ms", "20ms")));
    assert_eq!(report.ranks.len(), 2);
    assert!((report.ranks[1].idle_s - 0.01).abs() < 1e-12, "{}", report.ranks[1].idle_s);
    // What is wrong with the data is reported of all of their time.
    let killed = report.problems.iter().find(|row| row.kind == ProblemKind::NotClosed).unwrap();
    assert_eq!((killed.ranks.as_slice(), killed.details.len()), (&[1][..], 1));
}

#[test]
fn a_profile_cannot_be_cut_in_time() {
    let scenario = || Scenario::ranks(2).profile_mode().each(|_, script| script.compute(10).barrier(1.0).compute(10));
    let dir = written(scenario());
    let error = try_part_in(dir.path(), &window("5ms", "")).unwrap_err();
    assert!(error.starts_with("--from, --to: rank 0 has sums in place of records"), "{error}");
    assert!(try_part_in(dir.path(), &window("", "12ms")).is_err());
    let all = sums(&model_in(dir.path()));
    assert_eq!(sums(&part_in(dir.path(), &window("0", "1s"))), all, "nothing is to be cut");
}

#[test]
fn what_the_run_does_not_last_or_repeat_is_reported() {
    let dir = written(staggered());
    for (from, to, says) in [
        ("1s", "", "--from 1 s: the run lasts 0.115000 s"),
        ("2ms", "2ms", "--from 0.002 s, --to 0.002 s: no time lies between"),
        ("", "0", "--from 0 s, --to 0 s: no time lies between"),
        ("iteration=5", "iteration=4", "--from iteration 5, --to iteration 4: no time lies between"),
        ("iteration=10", "", "there is no iteration 10: the main loop main/step has 0 to 9"),
        ("", "iteration=4294967295", "there is no iteration 4294967295: the main loop main/step has 0 to 9"),
    ] {
        assert_eq!(try_part_in(dir.path(), &window(from, to)).unwrap_err(), says);
    }
    let plain = written(Scenario::ranks(1).each(|_, script| script.compute(1)));
    let error = try_part_in(plain.path(), &window("iteration=0", "")).unwrap_err();
    assert!(error.contains("no main loop"), "{error}");
}

/// A program without markers: twelve iterations that differ, of two call sites with code between them, and an end.
fn unmarked() -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        let script = script.late(rank).compute(3).at("setup").allreduce(8, 1.0);
        let script = script.repeat(12, move |step, script| {
            let script = script.compute(2 + rank).at("halo").irecv(0, 1, 0.25).compute(1.5).at("halo wait");
            let script = script.waitall(&[(step, 64)], 0.75).compute(0.5);
            let script =
                if step % 5 == 4 { script.at("output").call(Operation::File_write, 2.0, |_| ()) } else { script };
            script.at("residual").allreduce(8, f64::from(3 - rank))
        });
        script.compute(2).at("end").barrier(1.0)
    })
}

fn found_part_in(dir: &Path, selection: &Selection) -> Model {
    let run = RecordedRun::open(Some(dir)).expect("the run opens");
    let options = AnalysisOptions { symbols: false, ..AnalysisOptions::default() };
    let model = analyse_run(&run, selection, &options, |_| ()).expect("the run has the part").model;
    check_invariants(&model);
    model
}

#[test]
fn windows_add_up_where_loops_and_regions_were_found() {
    let dir = written(unmarked());
    let whole = found_part_in(dir.path(), &Selection::default());
    assert_eq!(whole.main_loop().map(|idx| whole.slowest[idx as usize].len()), Some(12));
    for t in (1_000..(whole.elapsed_s() * 1e6) as u64).step_by(3_375) {
        let t = format!("{t}us");
        let parts = [found_part_in(dir.path(), &window("", &t)), found_part_in(dir.path(), &window(&t, ""))];
        assert_adds_up(&parts, &whole, &t);
    }
}

/// The paths of the report's regions with their invocations, by the table in wide lines; those that are not in the table are not here.
fn shown_invocations(report: &Report) -> BTreeMap<String, Option<u64>> {
    let options = text::TextOptions { full: true, ..lbprof_test_runs::text_options(160) };
    let text = anstream::adapter::strip_str(&text::render_text(report, &options)).to_string();
    let lines =
        text.lines().skip_while(|line| !line.starts_with("Regions")).skip(3).take_while(|line| !line.is_empty());
    let last = lines.map(|line| line.split_whitespace().last().expect("a cell").parse().ok()).collect::<Vec<_>>();
    let rows = report.regions.iter().filter(|row| row.occurs()).map(|row| row.path.clone());
    assert!(last.is_empty() || last.len() == rows.clone().count(), "{text}");
    rows.zip(last).skip(1).collect()
}

#[test]
fn no_region_of_a_part_of_the_time_is_shown_with_0_invocations() {
    let dir = written(busy());
    let whole = shown_invocations(&report_on(&model_in(dir.path())));
    assert_eq!(whole["main/step"], Some(18));
    assert!(whole.values().all(Option::is_some), "{whole:?}");
    // All are in their first step then, entered before; rank 0 and 1 have left the work in it.
    let part = report_on(&part_in(dir.path(), &window("6ms", "6500us")));
    assert_eq!(shown_invocations(&part)["main/step"], None, "how often is not known of what was entered before");
    let of_step = json_of(&part)["regions"][1].clone();
    assert!(of_step["path"] == "main/step" && of_step["invocations"].is_null(), "{of_step}");
    // Before the first step.
    let before = report_on(&part_in(dir.path(), &window("", "1ms")));
    assert!(shown_invocations(&before).is_empty(), "of regions that do not occur no row is shown");
    let dir = written(unmarked());
    for (from, to) in [("", ""), ("iteration=4", "iteration=6"), ("22ms", "40ms"), ("", "2ms"), ("2ms", "4ms")] {
        let shown = shown_invocations(&report_on(&found_part_in(dir.path(), &window(from, to))));
        assert!(!shown.values().any(|invocations| *invocations == Some(0)), "{from}–{to}: {shown:?}");
    }
}

#[test]
fn found_iterations_keep_their_numbers() {
    let dir = written(unmarked());
    let model = found_part_in(dir.path(), &window("iteration=4", "iteration=6"));
    let main_loop = model.main_loop().unwrap();
    for rank in 0..3 {
        let series = model.ranks[rank].series(main_loop).unwrap();
        assert_eq!(series.numbers, [4, 5, 6]);
        assert!(series.begin_s.iter().chain(&series.end_s).all(|time| !time.is_nan()), "they are whole");
        assert_eq!(ms(&model, rank, Activity::Computation), 3.0 * (4.0 + rank as f64));
        // The fifth of five iterations writes.
        assert_eq!(ms(&model, rank, Activity::Io), 2.0);
    }
}

#[test]
fn found_loops_are_counted_in_the_window() {
    let dir = written(unmarked());
    let seen = |selection: &Selection| {
        let report = report_on(&found_part_in(dir.path(), selection));
        let row = report.loops.rows.iter().find(|row| row.main).expect("a main loop");
        ((row.iterations_min, row.iterations_max), (row.covered * 1000.0).round() / 10.0, row.confidence, row.in_report)
    };
    let (iterations, _, confidence, is_used) = seen(&Selection::default());
    assert_eq!((iterations, is_used), ((12.0, 12.0), true));
    assert_eq!(seen(&window("iteration=4", "iteration=6")), ((3.0, 3.0), 100.0, confidence, true));
    // From within an iteration of each rank to within another.
    let (iterations, covered, ..) = seen(&window("22ms", "40ms"));
    assert_eq!(covered, 100.0, "what is cut is in the loop, too");
    assert!((2.0..=3.0).contains(&iterations.0) && (3.0..=4.0).contains(&iterations.1), "{iterations:?}");
    let (iterations, covered, _, is_used) = seen(&window("", "2ms"));
    assert_eq!((iterations, covered, is_used), ((0.0, 0.0), 0.0, false));
}

#[test]
fn serial_work_is_that_of_the_window() {
    // rank 0   |= 10 =|= barrier =|== alone 20 ==|= barrier =|
    // rank 1   |= 10 =|= barrier ................=|
    let dir = written(
        Scenario::ranks(2)
            .rank(0, |script| script.compute(10).barrier(0.5).compute(20).barrier(0.5).compute(10))
            .rank(1, |script| script.compute(10).barrier(0.5).barrier(20.5).compute(10)),
    );
    let alone_s = |selection: &Selection| found_part_in(dir.path(), selection).alone.unwrap().serial_s();
    assert!((alone_s(&Selection::default()) - 0.02).abs() < 0.001);
    assert!((alone_s(&window("20.5ms", "")) - 0.01).abs() < 0.001);
    assert_eq!(alone_s(&window("", "10ms")), 0.0);
}

fn region(name: &str) -> Selection {
    Selection { region: Some(name.into()), ..Selection::default() }
}

/// main/step (iterated)/solve/dot, and main/step/output; rank 3 is slow in solve, rank 0 alone does output.
fn nested() -> Scenario {
    Scenario::ranks(4).each(|rank, script| {
        let script = script.region("setup", |script| script.compute(3)).repeat(4, move |step, script| {
            script.iteration("step", move |script| {
                let dot = |script: RankScript| script.compute(1 + (rank + step) % 2).allreduce(8, 1.0);
                let solve = move |script: RankScript| script.compute(2 + rank).region("dot", dot).send(0, 1, 10, 0.5);
                let script = script.region("solve", solve);
                let script = if rank == 0 { script.region("output", |script| script.compute(2)) } else { script };
                script.barrier(f64::from(4 - rank))
            })
        });
        script.allreduce(8, 1.0)
    })
}

#[test]
fn a_region_alone_has_the_efficiencies_that_it_has_in_the_whole() {
    for scenario in [nested(), busy(), staggered()] {
        let dir = written(scenario);
        let whole = report_on(&model_in(dir.path()));
        for row in &whole.regions {
            let alone = report_on(&part_in(dir.path(), &region(&row.path)));
            let first = &alone.regions[0];
            assert_eq!((&first.path, first.kind, first.iterated), (&row.path, row.kind, row.iterated));
            assert_eq!((first.time_s, first.inclusive_s), (row.time_s, row.inclusive_s), "{}", row.path);
            assert_eq!(first.slowest_rank, row.slowest_rank, "{}", row.path);
            assert_eq!(alone.efficiency, row.efficiency, "{}", row.path);
            // Regions in it come in the same order, with the same figures.
            let inside: Vec<_> = whole.regions.iter().filter(|one| one.path.starts_with(&row.path)).collect();
            assert_eq!(inside.len(), alone.regions.len());
            for (one, inside) in alone.regions.iter().zip(inside) {
                assert_eq!((&one.path, one.efficiency, one.totals), (&inside.path, inside.efficiency, inside.totals));
            }
        }
    }
}

#[test]
fn of_a_region_only_its_own_is_reported() {
    let dir = written(nested());
    let model = part_in(dir.path(), &region("solve"));
    let report = report_on(&model);
    assert_eq!(
        report.regions.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(),
        ["main/step/solve", "main/step/solve/dot"]
    );
    let calls: Vec<(&str, u64)> = report.call_sites.iter().map(|row| (row.operation.as_str(), row.sum.calls)).collect();
    assert_eq!(calls, [("Allreduce", 16), ("Send", 16)], "the allreduce outside of it is not there");
    assert_eq!(model.ranks[0].calls, 8);
    // Rank 3 computes 4 · 5 + 1 + 2 + 1 + 2 ms and sends and sums for 6 ms; rank 0 has 12 ms less.
    assert!((report.data.elapsed_s - 0.032).abs() < 1e-12);
    assert!((report.ranks[0].idle_s - 0.012).abs() < 1e-12);
    insta::assert_snapshot!(head(&report, 100));
    // What ranks call elsewhere, and whether they computed alone, one region does not show; nor are its calls sums.
    let text = plain(&report, 100);
    assert!(report.clusters.rows.is_empty() && report.clusters.of == [None; 4]);
    assert!(!text.contains("recorded as sums") && !text.contains("marked iterations"), "{text}");
    let step = report_on(&part_in(dir.path(), &region("main/step")));
    assert_eq!(step.iterations.as_ref().map(|one| (one.region.as_str(), one.rows.len())), Some(("main/step", 4)));
    let output = report_on(&part_in(dir.path(), &region("output")));
    assert_eq!((output.ranks.len(), output.efficiency.times.load_balance()), (4, Some(0.25)));
}

#[test]
fn a_region_and_a_window_are_selected_together() {
    let dir = written(nested());
    let both = Selection {
        ranks: Some("1-3".parse().unwrap()),
        region: Some("dot".into()),
        ..window("iteration=1", "iteration=1")
    };
    let model = part_in(dir.path(), &both);
    // In the second step ranks 1, 2 and 3 compute 1, 2 and 1 ms there.
    let computation: Vec<f64> = (0..3).map(|at| ms(&model, at, Activity::Computation)).collect();
    assert_eq!(computation, [1.0, 2.0, 1.0]);
    assert_eq!(model.facts.selected.region.as_deref(), Some("main/step/solve/dot"));
}

#[test]
fn regions_are_named_by_the_end_of_their_paths_or_by_patterns() {
    let dir = written(nested());
    let found = |name: &str| try_part_in(dir.path(), &region(name)).map(|model| model.regions[0].path.clone());
    for (name, path) in [
        ("main", "main"),
        ("main/step", "main/step"),
        ("step/solve", "main/step/solve"),
        ("dot", "main/step/solve/dot"),
        ("*output", "main/step/output"),
        ("*/solve/*", "main/step/solve/dot"),
        ("d?t", "main/step/solve/dot"),
        ("out", "main/step/output"),
    ] {
        assert_eq!(found(name), Ok(path.to_owned()), "{name}");
    }
    let error = |name: &str| found(name).unwrap_err();
    assert_eq!(
        error("s*"),
        "--region: s* may be any of main/setup, main/step, main/step/output, main/step/solve, main/step/solve/dot: give more of the path"
    );
    assert_eq!(error("slove"), "--region: there is no region slove; did you mean main/step/solve?");
    assert_eq!(
        error("main/zzz"),
        "--region: there is no region main/zzz; there are main, main/setup, main/step, main/step/output, main/step/solve, main/step/solve/dot"
    );
    assert_eq!(error("*Sol*"), "--region: there is no region *Sol*; did you mean main/step/solve?");
    assert!(error("").starts_with("--region: there is no region ;"));
}

#[test]
fn a_cluster_is_known_by_its_number() {
    // Ranks 0 and 1 do one thing, 2 to 5 another.
    let dir = written(Scenario::ranks(6).each(|rank, script| {
        script.repeat(20, |_, script| match rank {
            0 | 1 => script.region("serve", |script| script.compute(1).recv(2, 1, 8, 0.5)),
            _ => script.region("work", |script| script.compute(2).allreduce(8, 0.5)),
        })
    }));
    let whole = report_on(&model_in(dir.path()));
    for row in &whole.clusters.rows {
        let model = part_in(dir.path(), &ranks(&format!("cluster={}", row.id)));
        assert_eq!(model.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), row.ranks);
    }
    assert_eq!(whole.clusters.rows.len(), 2);
    let error = try_part_in(dir.path(), &ranks("cluster=3")).unwrap_err();
    assert_eq!(error, "--ranks: there is no cluster 3; there are 1, 2");
}
