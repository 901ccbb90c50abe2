//! In which functions ranks compute: generated logs with samples in a real program's code, whose truth is known.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::model::code::sites::CallSiteTable;
use lbprof_analysis::read::definitions::RankDefinitions;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_analysis::structure::code::code_readers::CodeReaders;
use lbprof_analysis::structure::code::symbols::{MOST_TIME, resolve_names};
use lbprof_collector::definition::Module;
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{CodeAddress, SamplingOutcome};
use lbprof_collector::{CoreState, Definition};
use lbprof_report::code::call_tree::CallTreeNodeKind;
use lbprof_report::code::functions::{FunctionRow, FunctionTable, RegionFunctions};
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::{CallTreeRow, Report, findings, json, text};
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::md::{Program, run_of, run_on, speed_of, step_of};
use lbprof_test_runs::{marked, written};

use crate::program::{lb_report, stdout_of, text_of};

fn report(dir: &Path, selection: &Selection) -> Report {
    let run = RecordedRun::open(Some(dir)).unwrap();
    let analysis = analyse_run(&run, selection, &AnalysisOptions { symbols: true, ..marked() }, |_| ()).unwrap();
    let report = Report::new(&analysis.model, &analysis.names);
    if let Some(table) = &report.functions {
        check_sums(table);
        check_tree(&report.call_tree, table);
    }
    report
}

fn table(dir: &Path, selection: &Selection) -> FunctionTable {
    report(dir, selection).functions.unwrap()
}

/// Functions add up to their region, and regions to the program.
fn check_sums(table: &FunctionTable) {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} and {b}");
    for part in table.regions.iter().chain([&table.program]) {
        let sum = |of: fn(&FunctionRow) -> f64, others: f64| part.functions.iter().map(of).sum::<f64>() + others;
        near(sum(|row| row.mean_s, part.others.mean_s), part.cpu_s);
        near(part.computation_s - part.not_running_s, part.cpu_s);
        let is_sure = |excess_s: f64, error_s: f64| excess_s >= 2.0 * error_s;
        assert!(part.explained.functions.iter().all(|one| is_sure(one.excess_s, one.excess_error_s)), "{part:?}");
        for row in &part.functions {
            assert!(row.lines.iter().map(|line| line.mean_s).sum::<f64>() <= row.mean_s + 1e-9, "{row:?}");
            assert!(row.min_s <= row.mean_s + 1e-12 && row.mean_s <= row.max_s + 1e-12, "{row:?}");
            near(row.slowest_s - row.mean_s, row.excess_s);
        }
    }
    near(table.regions.iter().map(|one| one.cpu_s).sum(), table.program.cpu_s);
    near(table.program.cpu_s * table.ranks as f64, table.computation_s);
}

/// Nodes of the tree are no less than those in them, and have the CPU time of the functions.
fn check_tree(rows: &[CallTreeRow], table: &FunctionTable) {
    let mut within = vec![[0.0; 2]; rows.len()];
    for row in rows {
        if let Some(parent) = row.parent {
            within[parent][0] += row.time_s;
            within[parent][1] += row.cpu_s.unwrap();
        }
    }
    assert!(
        (rows[0].cpu_s.unwrap() - table.program.cpu_s).abs() <= 1e-9 * table.program.cpu_s.max(1.0),
        "{:?}",
        rows[0]
    );
    for (row, [time_s, cpu_s]) in rows.iter().zip(within) {
        assert!(time_s <= row.time_s + 1e-9 && cpu_s <= row.cpu_s.unwrap() + 1e-9, "{row:?}");
        assert!((row.alone_s - (row.time_s - time_s)).abs() < 1e-9, "{row:?}");
    }
}

fn row<'a>(part: &'a RegionFunctions, function: &str) -> &'a FunctionRow {
    let found = part.functions.iter().find(|row| row.name.function.as_deref() == Some(function));
    found.unwrap_or_else(|| panic!("{function} is not in {:?}", part.functions))
}

fn region<'a>(table: &'a FunctionTable, end: &str) -> &'a RegionFunctions {
    table.regions.iter().find(|one| one.region.ends_with(end)).unwrap()
}

/// Seconds of one rank in steps in one of the four places.
fn truth_s(rank: u32, steps: std::ops::Range<u32>, place: usize) -> f64 {
    steps.map(|step| step_of(rank, step)[place] * 1e-3).sum()
}

fn mean_s(steps: std::ops::Range<u32>, place: usize) -> f64 {
    (0..4).map(|rank| truth_s(rank, steps.clone(), place)).sum::<f64>() / 4.0
}

const NAMES: [&str; 4] = ["force", "density", "halo", "sort"];

#[test]
fn times_of_functions_are_true_within_their_errors() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000));
    let table = table(dir.path(), &Selection::default());
    assert_eq!((table.ranks, table.program.slowest_rank), (4, Some(0)));
    assert!((table.period_s - 1e-3).abs() < 1e-12);
    for (place, function) in NAMES.into_iter().enumerate() {
        let row = row(&table.program, function);
        let truth = mean_s(0..50, place);
        assert!((row.mean_s - truth).abs() <= 2.0 * row.error_s, "{function}: {truth} {row:?}");
        let excess = truth_s(0, 0..50, place) - truth;
        assert!((row.excess_s - excess).abs() <= 2.0 * row.excess_error_s, "{function}: {excess} {row:?}");
        assert_eq!(row.significant, function != "halo", "{row:?}");
        assert_eq!((row.max_rank == 0, row.name.file.is_some()), (row.significant || row.max_rank == 0, true));
    }
    // Inlined functions have rows of their own. The excess is explained by the outer function, unless the inner one has nearly all of it.
    let pair = region(&table, "pair");
    assert_eq!(pair.functions.len(), 2);
    let shares: Vec<_> = pair.explained.functions.iter().map(|one| one.name.function.as_deref()).collect();
    assert_eq!(shares, [Some("force")]);
    assert!((pair.explained.functions[0].share.unwrap() - 1.0).abs() < 0.1, "{:?}", pair.explained);
    let density = row(pair, "density");
    assert_eq!((density.name.line, density.lines.len()), (Some(1), 1));
    let line = &density.lines[0];
    assert!((line.mean_s - density.mean_s).abs() < 1e-12 && (line.error_s - density.error_s).abs() < 1e-12);
    assert_eq!(
        (line.min_s, line.max_s, line.max_rank),
        (Some(density.min_s), Some(density.max_s), Some(density.max_rank))
    );
}

#[test]
fn the_error_stated_is_that_of_counting() {
    let program = Program::new(&["-g"]);
    for per_second in [100, 250, 1000] {
        let dir = written(run_of(&program, per_second));
        let table = table(dir.path(), &Selection::default());
        let row = row(&table.program, "force");
        let period_s = 1.0 / f64::from(per_second);
        assert!((row.error_s - period_s * (row.samples as f64).sqrt() / 4.0).abs() < 1e-9);
        assert!((row.mean_s - mean_s(0..50, 0)).abs() <= 2.0 * row.error_s);
    }
}

#[test]
fn a_part_of_the_run_has_its_own_functions() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000));
    let late = Selection { from: Some("iteration=25".parse().unwrap()), ..Selection::default() };
    let early = Selection { to: Some("iteration=24".parse().unwrap()), ..Selection::default() };
    for (selection, steps) in [(&early, 0..25), (&late, 25..50)] {
        let part = table(dir.path(), selection);
        let row = row(&part.program, "sort");
        let excess = truth_s(0, steps.clone(), 3) - mean_s(steps.clone(), 3);
        assert!((row.excess_s - excess).abs() <= 2.0 * row.excess_error_s, "{steps:?} {excess} {row:?}");
        assert_eq!(row.significant, steps.start == 25);
    }
    let whole = table(dir.path(), &Selection::default());
    let parts = [&early, &late].map(|selection| table(dir.path(), selection).samples).iter().sum::<u64>();
    assert_eq!(parts, whole.samples, "each sample is in one part");
    let pair = table(dir.path(), &Selection { region: Some("pair".into()), ..Selection::default() });
    assert_eq!(pair.program.functions, region(&whole, "pair").functions);
    let some = table(dir.path(), &Selection { ranks: Some("1-3".parse().unwrap()), ..Selection::default() });
    assert!(some.program.functions.iter().all(|row| !row.significant), "ranks 1 to 3 do the same: {some:?}");
    assert_eq!(some.program.explained.functions, []);
    let two = Selection { ranks: Some("0,2".parse().unwrap()), ..late.clone() };
    let two = table(dir.path(), &two);
    assert_eq!(two.ranks, 2);
    for (place, function) in NAMES.into_iter().enumerate() {
        let (row, own) = (row(&two.program, function), truth_s(0, 25..50, place));
        let mean_s = (own + truth_s(2, 25..50, place)) / 2.0;
        assert!((row.mean_s - mean_s).abs() <= 2.0 * row.error_s, "{function}: {mean_s} {row:?}");
        assert!((row.slowest_s - own).abs() <= 4.0 * row.error_s, "{function}: {own} {row:?}");
    }
}

#[test]
fn the_verdict_names_the_function() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000));
    let report = report(dir.path(), &Selection::default());
    let verdict = findings::answer_in_words(&report);
    assert!(verdict.contains("Where: force (md.c:") && verdict.contains(" % of the extra work."), "{verdict}");
    let document = json::report_document(&report, &ListBounds::SMALL);
    assert_eq!(document["verdict"]["worst"]["explained"]["functions"][0]["function"], "force");
    assert_eq!(document["functions"]["delaying_ranks"][0]["rank"], 0);
    let options = text::TextOptions { top: 10, ..lbprof_test_runs::text_options(100) };
    let shown = anstream::adapter::strip_str(&text::render_text(&report, &options)).to_string();
    let section = shown.split("\n\n").find(|part| part.starts_with("Functions")).unwrap();
    // The lines of instructions are up to the compiler.
    let lines = section.split("md.c:").map(|part| part.trim_start_matches(|one: char| one.is_ascii_digit()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("md.c:N"));
}

#[test]
fn the_verdict_names_the_function_of_nearly_all_time_where_few_samples_show_no_excess() {
    let program = Program::new(&["-g"]);
    let (program_path, id, force) = (program.path.to_str().unwrap(), program.build_id.clone(), program.begin("force"));
    // |=== force 4 =|..... barrier |      |=== force 8 ======| barrier |: rank 2, or another rank in each iteration
    for is_moving in [false, true] {
        let (path, build_id) = (program_path.to_owned(), id.clone());
        let dir = written(Scenario::ranks(3).each(move |rank, script| {
            let script = script.program(&path, &build_id).sampled(20);
            script.repeat(50, move |iteration, script| {
                let slow = if is_moving { iteration % 3 } else { 2 };
                let own = if rank as usize == slow as usize { 8.0 } else { 4.0 };
                script.iteration("step", |script| script.compute_at(force, own).barrier(9.0 - own))
            })
        }));
        let report = report(dir.path(), &Selection::default());
        assert!(report.functions.as_ref().unwrap().regions.iter().all(|row| row.explained.functions.is_empty()));
        let verdict = findings::answer_in_words(&report);
        assert!(verdict.contains("Where: mostly in force (md.c:"), "{verdict}");
    }
}

#[test]
fn the_call_tree_has_the_functions_between_calls() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000));
    let report = report(dir.path(), &Selection::default());
    let (rows, table) = (&report.call_tree, report.functions.as_ref().unwrap());
    let found = |name: &str| (0..).zip(rows).find(|(_, row)| row.name == name).unwrap();
    let [(pair, _), (force, in_force), (_, in_density)] = ["pair", "force", "density"].map(found);
    // The compiler has put `density` into `force`.
    assert_eq!((in_force.parent, in_density.parent), (Some(pair), Some(force)));
    for (row, alone_s) in [(in_force, in_force.alone_s), (in_density, in_density.time_s)] {
        assert_eq!((row.kind, row.waiting_s, row.load_balance), (CallTreeNodeKind::Function, Some(0.0), None));
        let sampled = region(table, "pair").functions.iter().find(|one| one.name.function.as_ref() == Some(&row.name));
        let sampled_s = 4.0 * sampled.unwrap().mean_s;
        assert!(alone_s <= sampled_s + 1e-9 && alone_s > 0.9 * sampled_s, "{sampled_s} {row:?}");
    }
    let excess = in_force.excess_s.unwrap();
    assert!((excess - in_force.slowest_cpu_s.unwrap() + in_force.cpu_s.unwrap()).abs() < 1e-12, "{in_force:?}");
}

#[test]
fn a_delaying_rank_computes_longer_in_its_function_than_the_mean() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [force, halo] = ["force", "halo"].map(|name| program.begin(name));
    // |= halo 9 =|= force 2 =|..... barrier |
    // |= halo 9 =|===== force 8 =====| barrier |      rank 2 of 3
    let dir = written(Scenario::ranks(3).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        script.repeat(50, move |_, script| {
            let own = if rank == 2 { 8.0 } else { 2.0 };
            script.compute_at(halo, 9.0).compute_at(force, own).barrier(9.0 - own)
        })
    }));
    let table = table(dir.path(), &Selection::default());
    let [delaying] = table.delaying_ranks.as_slice() else { panic!("{:?}", table.delaying_ranks) };
    assert_eq!((delaying.rank, delaying.region.as_str()), (2, "main"));
    assert!((delaying.caused_s - 2.0 * 50.0 * 6e-3).abs() < 0.01, "{delaying:?}");
    let names: Vec<_> = delaying.functions.iter().map(|one| one.name.function.as_deref().unwrap()).collect();
    // It spends more time in `halo`, but so do all.
    assert_eq!(names, ["force", "halo"]);
    let [force, halo] = delaying.functions.as_slice() else { panic!("{delaying:?}") };
    assert!((force.excess_s - 50.0 * 4e-3).abs() <= 2.0 * force.excess_error_s, "{force:?}");
    assert_eq!((force.significant, halo.significant), (true, false));
    assert!((force.share - 8.0 / 17.0).abs() < 0.02 && (halo.share - 9.0 / 17.0).abs() < 0.02, "{delaying:?}");
    assert!((delaying.cpu_s - 50.0 * 17e-3).abs() < 0.01, "{delaying:?}");
}

#[test]
fn only_what_is_computed_while_others_wait_for_it_delays_them() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [force, halo, sort] = ["force", "halo", "sort"].map(|name| program.begin(name));
    let dir = written(Scenario::ranks(2).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        script.repeat(60, move |_, script| {
            script.region("work", |script| {
                // rank 0  |= force 20 =|.......|= sort 6 =|= halo 3 =|      5 are waited for: 2 in sort, 3 in halo
                // rank 1  |===== force 25 =====|= sort 4 =|..........|
                let (first, second) = if rank == 0 { (20.0, [6.0, 3.0]) } else { (25.0, [4.0, 0.0]) };
                let script = script.compute_at(force, first).barrier(25.3 - first);
                let script = script.compute_at(sort, second[0]);
                let script = if second[1] > 0.0 { script.compute_at(halo, second[1]) } else { script };
                script.barrier(9.3 - second[0] - second[1])
            })
        })
    }));
    let run = RecordedRun::open(Some(dir.path())).unwrap();
    let options = AnalysisOptions { symbols: true, asked: Some(Vec::new()), ..marked() };
    let analysis = analyse_run(&run, &Selection::default(), &options, |_| ()).unwrap();
    let table = Report::new(&analysis.model, &analysis.names).functions.unwrap();
    for (rank, truth) in
        [(0, [("halo", 60.0 * 3e-3), ("sort", 60.0 * 2e-3)].as_slice()), (1, &[("force", 60.0 * 5e-3)])]
    {
        let of_rank = table.delaying_ranks.iter().find(|one| one.rank == rank).unwrap();
        assert!((of_rank.caused_s - 0.3).abs() < 1e-3 && of_rank.samples > 100, "{of_rank:?}");
        for (row, (function, truth_s)) in of_rank.functions.iter().zip(truth) {
            assert_eq!(row.name.function.as_deref(), Some(*function), "{of_rank:?}");
            let (caused_s, error_s) = (row.caused_s.unwrap(), row.caused_error_s.unwrap());
            assert!((caused_s - truth_s).abs() <= 2.0 * error_s && error_s < 0.06, "{truth_s} {row:?}");
        }
        // Whatever it computes while nobody waits for it: rank 0 has most of its CPU time in `force`.
        let others = &of_rank.functions[truth.len()..];
        assert!(!others.is_empty() && others.iter().all(|row| row.caused_s.unwrap() < 0.02), "{of_rank:?}");
    }
}

#[test]
fn without_debug_information_there_are_functions_without_lines_and_else_files() {
    let program = Program::new(&[]);
    let symbols = table(written(run_of(&program, 500)).path(), &Selection::default());
    let force = row(&symbols.program, "force");
    assert_eq!((force.name.file.as_deref(), force.name.line, force.lines.len()), (None, None, 0));
    assert_eq!(force.name.label(), "force (md)");
    let stripped = Program::new(&["-g"]);
    let run = run_of(&stripped, 500);
    assert!(Command::new("strip").arg(&stripped.path).status().unwrap().success());
    let files = table(written(run).path(), &Selection::default());
    let [only] = files.program.functions.as_slice() else { panic!("{files:?}") };
    assert_eq!(only.name.label(), "md");
}

/// The report on ranks that compute, and then are in a state for a time that differs; in the kernel unless they are off their cores.
fn ranks_besides(off_core: Option<CoreState>, page_faults: u64) -> Report {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let force = program.begin("force");
    let dir = written(Scenario::ranks(3).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000).usage(0.0, 0);
        let other = [0.0, 10.0, 4.0][rank as usize];
        let script = script.repeat(20, move |_, script| {
            let script = script.region("busy", |script| script.compute_at(force, 10.0));
            script.region("other", |script| script.compute(other)).barrier(11.0 - other)
        });
        let steps = (0..20).map(|step| 21.0 * f64::from(step) + 10.0);
        let intervals = steps.filter_map(|from| Some((from, from + other, off_core?)));
        let system_ms = if off_core.is_some() { 0.0 } else { 20.0 * other };
        script.off_core(&intervals.collect::<Vec<_>>(), system_ms, page_faults).usage(400.0, 0)
    }));
    report(dir.path(), &Selection::default())
}

#[test]
fn time_outside_of_user_space_is_called_what_it_is() {
    let kernel = ranks_besides(None, 150_000);
    let says = findings::answer_in_words(&kernel);
    assert!(says.contains("most of that in the kernel (page faults), and"), "{says}");
    assert!(says.contains("reuse large arrays") && !says.contains("sleep") && !says.contains("I/O"), "{says}");
    let states = kernel.core_states.as_ref().unwrap();
    assert!((states.user_space.unwrap() - 0.683).abs() < 0.02, "{states:?}");
    assert_eq!((states.with_core, states.awake), (Some(1.0), Some(1.0)));
    let calls = findings::answer_in_words(&ranks_besides(None, 10));
    assert!(calls.contains("in the kernel (system calls)") && calls.contains("strace"), "{calls}");
    let asleep = findings::answer_in_words(&ranks_besides(Some(CoreState::Asleep), 10));
    assert!(asleep.contains("most of that asleep or waiting for I/O"), "{asleep}");
    let report = ranks_besides(Some(CoreState::NoCore), 10);
    let rank_1 = report.ranks[1].core_states.unwrap();
    assert!((rank_1.get(CoreState::NoCore) - 0.2).abs() < 0.01, "{rank_1:?}");
    let without = findings::answer_in_words(&report);
    assert!(!without.contains("asleep") && without.contains("core"), "{without}");
}

#[test]
fn a_rank_that_sleeps_or_is_preempted_does_not_run() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let force = program.begin("force");
    let dir = written(Scenario::ranks(3).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        let asleep = [0.0, 10.0, 4.0][rank as usize];
        script.repeat(20, move |_, script| {
            let script = script.region("busy", |script| script.compute_at(force, 10.0));
            script.region("idle", |script| script.compute(asleep)).barrier(11.0 - asleep)
        })
    }));
    let report = report(dir.path(), &Selection::default());
    let table = report.functions.as_ref().unwrap();
    assert_eq!(table.program.not_running_rank, Some(1));
    assert!((table.program.max_not_running_s - 0.2).abs() < 0.03, "{:?}", table.program);
    let (excess_s, mean_s) = (table.program.explained.not_running_s.unwrap(), 0.28 / 3.0);
    assert!((excess_s - (0.2 - mean_s)).abs() < 0.03, "{:?}", table.program);
    let busy = region(table, "busy");
    assert_eq!((busy.not_running_rank, busy.explained.not_running_s), (None, None), "{busy:?}");
    assert!(busy.not_running_s.abs() <= 2.0 * busy.cpu_error_s);
    assert!(
        findings::answer_in_words(&report)
            .contains("rank 1 takes 1.4 times the average time, 106.7 ms more, most of that asleep or waiting for I/O"),
        "{}",
        findings::answer_in_words(&report)
    );
}

#[test]
fn samples_in_calls_are_no_computation_and_other_threads_are_apart() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let force = program.begin("force");
    let dir = written(Scenario::ranks(2).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000).busy_calls(Some("progress"));
        script.repeat(20, move |_, script| {
            let script = script.worker(4000 + rank, "in a worker", 5);
            script.compute_at(force, 6.0).barrier(4.0)
        })
    }));
    let report = report(dir.path(), &Selection::default());
    let table = report.functions.as_ref().unwrap();
    for (found, truth) in [(table.computation_s, 0.24), (table.mpi_s, 0.16), (table.other_threads_s, 0.2)] {
        assert!((found - truth).abs() < 0.03, "{found} {truth}");
    }
    let with_samples = report.call_tree.iter().filter(|row| row.cpu_s > Some(0.0));
    let kinds: Vec<_> = with_samples.map(|row| row.kind).collect();
    assert_eq!(kinds, [CallTreeNodeKind::Program, CallTreeNodeKind::Function]);
}

#[test]
fn samples_taken_while_recording_is_paused_are_in_no_region() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let force = program.begin("force");
    let dir = written(Scenario::ranks(2).each(move |_, script| {
        let script = script.program(&path, &build_id).sampled(1000).compute_at(force, 40.0).barrier(1.0);
        script.paused(|script| script.compute_at(force, 70.0)).compute_at(force, 50.0).barrier(1.0)
    }));
    let table = table(dir.path(), &Selection::default());
    for (found, truth) in [(table.computation_s, 0.18), (2.0 * table.unplaced.as_ref().unwrap().cpu_s, 0.14)] {
        assert!((found - truth).abs() < 0.01, "{found} {truth}");
    }
}

#[test]
fn of_calls_recorded_as_sums_functions_are_known_by_rank() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000).profile_mode());
    let report = report(dir.path(), &Selection::default());
    let table = report.functions.as_ref().unwrap();
    assert_eq!((table.samples, table.regions.len(), table.other_threads.len()), (0, 0, 0));
    let unplaced = table.unplaced.as_ref().unwrap();
    for (place, function) in NAMES.into_iter().enumerate() {
        let row = unplaced.functions.iter().find(|row| row.name.function.as_deref() == Some(function)).unwrap();
        let truth = mean_s(0..50, place);
        assert!((row.mean_s - truth).abs() <= 2.0 * row.error_s, "{function}: {truth} {row:?}");
        let excess = truth_s(0, 0..50, place) - truth;
        assert!((row.excess_s - excess).abs() <= 2.0 * row.excess_error_s, "{function}: {excess} {row:?}");
    }
    let options = text::TextOptions { top: 10, ..lbprof_test_runs::text_options(100) };
    let shown = anstream::adapter::strip_str(&text::render_text(&report, &options)).to_string();
    assert!(shown.contains("Functions, regions not known\n") && !shown.contains("\nFunctions  "), "{shown}");
}

#[test]
fn of_calls_recorded_as_sums_the_recorder_knows_the_regions() {
    let program = Program::new(&["-g"]);
    let recorded = |scenario: Scenario| table(written(scenario).path(), &Selection::default());
    let events = recorded(run_of(&program, 1000));
    let sums = recorded(run_of(&program, 1000).profile_mode().placing_samples());
    let rows = |table: &FunctionTable| -> Vec<_> {
        let of_region = |part: &RegionFunctions| {
            let row = |row: &FunctionRow| (row.name.label(), row.samples, row.max_rank, row.significant);
            (part.region.clone(), part.slowest_rank, part.functions.iter().map(row).collect::<Vec<_>>())
        };
        table.regions.iter().map(of_region).collect()
    };
    assert_eq!(rows(&sums), rows(&events));
    assert_eq!(rows(&sums).len(), 2);
    assert_eq!((sums.samples, sums.mpi_s, sums.unplaced), (events.samples, events.mpi_s, None));
}

#[test]
fn samples_lie_in_the_code_between_calls_that_was_found() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let (force, sort) = (program.begin("force"), program.begin("sort"));
    let dir = written(Scenario::ranks(2).each(move |_, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        script.repeat(40, move |_, script| {
            let script = script.compute_at(force, 7.0).at("first").barrier(1.0);
            script.compute_at(sort, 4.0).at("second").barrier(1.0)
        })
    }));
    let run = RecordedRun::open(Some(dir.path())).unwrap();
    let options = AnalysisOptions { symbols: true, ..AnalysisOptions::default() };
    let analysis = analyse_run(&run, &Selection::default(), &options, |_| ()).unwrap();
    let table = Report::new(&analysis.model, &analysis.names).functions.unwrap();
    // The first iteration is not in the loop that is found.
    for (function, truth_s) in [("force", 39.0 * 7e-3), ("sort", 39.0 * 4e-3)] {
        let own = table
            .regions
            .iter()
            .filter(|part| part.functions.iter().any(|row| row.name.function.as_deref() == Some(function)));
        let most = own.max_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s)).unwrap();
        assert_eq!(most.functions.len(), 1, "{most:?}");
        assert!((most.cpu_s - truth_s).abs() <= 2.0 * most.cpu_error_s + 0.012, "{truth_s} {most:?}");
    }
}

#[test]
fn other_threads_have_functions_by_region() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [force, halo, sort] = ["force", "halo", "sort"].map(|name| program.begin(name));
    let dir = written(Scenario::ranks(2).each(move |rank, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        script.repeat(40, move |_, script| {
            // |= pair: force 8 =|= rest: sort 2 =|= barrier 5 =|
            //  halo 7 (3 on rank 1)
            //  force 6                            sort 4           of another thread
            let script = script.region("pair", |script| {
                let script = script.worker_at(4000, halo, if rank == 0 { 7.0 } else { 3.0 });
                script.worker_at(4001, force, 6.0).compute_at(force, 8.0)
            });
            let script = script.region("rest", |script| script.compute_at(sort, 2.0));
            script.worker_at(4001, sort, 4.0).barrier(5.0)
        })
    }));
    let table = table(dir.path(), &Selection::default());
    let [threads] = table.other_threads.as_slice() else { panic!("{table:?}") };
    assert_eq!((threads.call_mpi, threads.threads, threads.ranks), (false, 4, 2));
    let near =
        |found: f64, truth: f64, error: f64| assert!((found - truth).abs() <= 2.0 * error, "{found} {truth} {error}");
    near(threads.cpu_s, 40.0 * (13.0 + 9.0 + 8.0) * 1e-3, 2.0 * threads.program.cpu_error_s);
    near(table.other_threads_s, threads.cpu_s, 1e-9);
    let part = |end: &str| threads.regions.iter().find(|one| one.region.ends_with(end)).unwrap();
    let row = |end: &str, function: &str| {
        part(end).functions.iter().find(|row| row.name.function.as_deref() == Some(function)).unwrap()
    };
    let halo = row("/pair", "halo");
    near(halo.mean_s, 40.0 * 5e-3, halo.error_s);
    near(halo.excess_s, 40.0 * 2e-3, halo.excess_error_s);
    assert!(halo.significant && halo.max_rank == 0 && halo.name.line.is_some(), "{halo:?}");
    let force = row("/pair", "force");
    near(force.mean_s, 40.0 * 6e-3, force.error_s);
    assert!(!force.significant, "{force:?}");
    let sort = row("main", "sort");
    near(sort.mean_s, 40.0 * 4e-3, sort.error_s);
    assert!(threads.regions.iter().all(|one| !one.region.ends_with("/rest")), "{threads:?}");
    near(part("main").during_mpi_s, sort.mean_s, 0.5 * sort.error_s);
    near(part("/pair").during_mpi_s, 0.0, 0.5 * force.error_s);
    // The first threads have what they would have alone.
    near(region(&table, "/pair").cpu_s, 40.0 * 8e-3, region(&table, "/pair").cpu_error_s);
    let only = self::table(dir.path(), &Selection { region: Some("pair".into()), ..Selection::default() });
    assert_eq!(only.other_threads[0].program.functions, part("/pair").functions);
    let options = text::TextOptions { top: 10, ..lbprof_test_runs::text_options(100) };
    let shown = text::render_text(&report(dir.path(), &Selection::default()), &options);
    let shown = anstream::adapter::strip_str(&shown).to_string();
    let section = shown.split("\n\n").find(|part| part.starts_with("Functions of threads")).unwrap();
    let lines = section.split("md.c:").map(|part| part.trim_start_matches(|one: char| one.is_ascii_digit()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("md.c:N"));
}

#[test]
fn threads_that_call_mpi_are_apart_from_those_that_do_not() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [force, halo] = ["force", "halo"].map(|name| program.begin(name));
    let dir = written(Scenario::ranks(2).each(move |_, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        let script = script.worker_at(4000, force, 60.0).worker_at(4001, halo, 90.0).records_as(4001, 1);
        script.thread(1, |script| script.compute(90).barrier(1)).compute(100).barrier(1)
    }));
    let table = table(dir.path(), &Selection::default());
    let found: Vec<_> =
        table.other_threads.iter().map(|one| (one.call_mpi, one.threads, one.program.functions.len())).collect();
    assert_eq!(found, [(false, 2, 1), (true, 2, 1)]);
    for (threads, function) in table.other_threads.iter().zip(["force", "halo"]) {
        assert_eq!(threads.program.functions[0].name.function.as_deref(), Some(function));
    }
}

#[test]
fn a_run_without_samples_has_no_functions() {
    let run = || Scenario::ranks(2).each(|_, script| script.compute(5).barrier(1));
    assert_eq!(report(written(run()).path(), &Selection::default()).functions, None);
    let refused = run().each(|_, script| script.not_sampled(SamplingOutcome::Refused(13)));
    assert_eq!(report(written(refused).path(), &Selection::default()).functions, None);
}

fn exported(arguments: &[&str]) -> std::process::Output {
    lb_report(Path::new("."), &[&["export"], arguments, &["--quiet"]].concat()).output().unwrap()
}

#[test]
fn samples_are_exported_as_stacks() {
    let program = Program::new(&["-g"]);
    let dir = written(run_of(&program, 1000));
    let folder = dir.path().to_str().unwrap();
    let table = table(dir.path(), &Selection::default());
    let folded = exported(&["folded", folder, "--weight", "cpu", "--by-rank"]).stdout;
    let folded = String::from_utf8(folded).unwrap();
    let mut sum_s = 0.0;
    for line in folded.lines() {
        let (stack, ns) = line.rsplit_once(' ').unwrap();
        sum_s += ns.parse::<f64>().unwrap() * 1e-9;
        let end = ["pair;force", "pair;force;density", "rest;halo", "rest;sort"];
        assert!(end.iter().any(|end| stack.ends_with(&format!(";main;step;{end}"))), "{line}");
    }
    assert!((sum_s - table.computation_s - table.mpi_s).abs() < 1e-6);
    // Of the time, computation is in its functions, too, but for what samples do not show.
    let folded = String::from_utf8(exported(&["folded", folder]).stdout).unwrap();
    let [mut force_s, mut computation_s] = [0.0; 2];
    for line in folded.lines().filter(|line| line.starts_with("main;step;pair") && !line.contains("MPI_")) {
        let (stack, ns) = line.rsplit_once(' ').unwrap();
        let seconds = ns.parse::<f64>().unwrap() * 1e-9;
        computation_s += seconds;
        force_s += if stack.starts_with("main;step;pair;force") { seconds } else { 0.0 };
    }
    let truth_s = 4.0 * region(&table, "pair").computation_s;
    assert!((computation_s - truth_s).abs() < 1e-6 && force_s > 0.8 * truth_s, "{force_s} of {truth_s}: {folded}");
    let bare = written(Scenario::ranks(2).each(|_, script| script.compute(5).barrier(1)));
    let refused = exported(&["folded", bare.path().to_str().unwrap(), "--weight", "cpu"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there are no samples"));
}

#[test]
fn other_threads_are_exported_apart() {
    let program = Program::new(&["-g"]);
    let (path, build_id) = (program.path.to_str().unwrap().to_owned(), program.build_id.clone());
    let [force, halo] = ["force", "halo"].map(|name| program.begin(name));
    let dir = written(Scenario::ranks(2).each(move |_, script| {
        let script = script.program(&path, &build_id).sampled(1000);
        let script = script.worker_at(4000, halo, 70.0).region("pair", |script| script.compute_at(force, 30.0));
        // The other thread goes on while the first one is in a call.
        let script = script.barrier(50.0);
        script.paused(|script| script.compute_at(force, 20.0)).compute_at(force, 5.0).barrier(1.0)
    }));
    let folder = dir.path().to_str().unwrap();
    let table = table(dir.path(), &Selection::default());
    let folded = String::from_utf8(exported(&["folded", folder, "--weight", "cpu"]).stdout).unwrap();
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for line in folded.lines() {
        let (stack, ns) = line.rsplit_once(' ').unwrap();
        let known = ["threads without MPI calls;main;pair;halo", "threads without MPI calls;main;halo"];
        let whose = match stack.split(';').next().unwrap() {
            "main" => "first",
            "regions not known" if stack == "regions not known;main;force" => "not known",
            _ if known.contains(&stack) => "others",
            other => panic!("{other} in {line}"),
        };
        *sums.entry(whose).or_default() += ns.parse::<f64>().unwrap() * 1e-9;
    }
    let unplaced_s = table.unplaced.as_ref().unwrap().cpu_s * 2.0;
    let expected = [("first", table.computation_s + table.mpi_s), ("others", table.other_threads_s)];
    for (whose, seconds) in expected.into_iter().chain([("not known", unplaced_s)]) {
        assert!(seconds > 0.03 && (sums[whose] - seconds).abs() < 1e-6, "{whose}: {sums:?} {seconds}");
    }
}

#[test]
fn compare_names_the_function_that_changed() {
    let program = Program::new(&["-g"]);
    let (base, new) = (
        written(run_of(&program, 1000)),
        written(run_of(&program, 1000).run_id(7).each(|rank, script| {
            let script = script.compute_at(program.begin("halo"), 60.0);
            script.barrier(1.0 + 0.0 * f64::from(rank))
        })),
    );
    let compared =
        |[one, other]: [&str; 2], format: &str| stdout_of(base.path(), &["compare", one, other, "--quiet", format], 0);
    let folders = [base.path(), new.path()].map(text_of);
    let document: serde_json::Value = serde_json::from_str(&compared(folders, "--json")).unwrap();
    let [change] = document["functions"].as_array().unwrap().as_slice() else { panic!("{document:#}") };
    assert_eq!(change["function"], "halo (md.c)");
    for change in [change, &change["regions"][0]] {
        let (found, error) = (change["change_s"].as_f64().unwrap(), change["error_s"].as_f64().unwrap());
        assert!((found - 0.06).abs() <= 2.0 * error && found >= 2.0 * error, "{change}");
    }
    assert_eq!((&change["regions"][0]["region"], change["regions"].as_array().unwrap().len()), (&"main".into(), 1));
    let text = compared(folders, "--color=never");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("By samples, halo (md.c) computes ") && words.contains(" ms more there in the mean over ranks."),
        "{text}"
    );
    assert!(text.contains("Functions\n") && text.contains("most of it in"), "{text}");

    stdout_of(base.path(), &["study", "add", "runs.study", folders[0], folders[1], "--quiet"], 0);
    let kept = compared(["runs.study:1", "runs.study:2"], "--json");
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["functions"], document["functions"]);
}

#[test]
fn what_processors_count_splits_an_excess() {
    let program = Program::new(&["-g"]);
    let dir = written(run_on(&program, 1000, true));
    let report = report(dir.path(), &Selection::default());
    let table = report.functions.as_ref().unwrap();
    let row = table.program.hardware.unwrap();
    let all_s = |rank: u32| -> f64 { (0..4).map(|place| truth_s(rank, 0..50, place)).sum() };
    let instructions = |rank: u32| all_s(rank) * 1e9 * speed_of(rank).instructions;
    let mean = (0..4).map(instructions).sum::<f64>() / 4.0;
    let mean_s = (0..4).map(all_s).sum::<f64>() / 4.0;
    let near = |found: f64, truth: f64| assert!((found - truth).abs() <= 0.01 * truth.abs(), "{found} {truth}");
    near(row.instructions, mean);
    near(row.slowest_instructions, instructions(0));
    near(row.frequency_hz.unwrap(), 2e9);
    near(row.slowest_ipc.unwrap(), 1.0);
    near(row.more_instructions_s, (instructions(0) - mean) * mean_s / mean);
    near(row.more_instructions_s + row.slower_instructions_s, all_s(0) - mean_s);
    assert_eq!(row.ranks, 4);
    let mut sum = 0.0;
    for (place, function) in NAMES.into_iter().enumerate() {
        let of = self::row(&table.program, function);
        let truth =
            (0..4).map(|rank| truth_s(rank, 0..50, place) * 1e9 * speed_of(rank).instructions).sum::<f64>() / 4.0;
        let found = of.instructions.unwrap();
        assert!((found - truth).abs() <= 2.0 * of.error_s * 2.5e9, "{function}: {found} {truth} {of:?}");
        let own = truth_s(0, 0..50, place) * 1e9 * speed_of(0).instructions;
        let own_error = (truth_s(0, 0..50, place) * 1e-3).sqrt() * 1e9 * speed_of(0).instructions;
        assert!((of.slowest_instructions.unwrap() - own).abs() <= 2.0 * own_error, "{function}: {own} {of:?}");
        near(of.slowest_ipc.unwrap(), 1.0);
        assert!((1.0..1.25).contains(&of.ipc.unwrap()), "{of:?}");
        sum += found;
    }
    near(sum, row.instructions);
    let options = text::TextOptions { top: 10, ..lbprof_test_runs::text_options(100) };
    let shown = text::render_text(&report, &options);
    assert!(shown.contains("Processor: ") && shown.contains("IPC"), "{shown}");
    let uncounted = self::report(written(run_of(&program, 1000)).path(), &Selection::default());
    let of_none = &uncounted.functions.as_ref().unwrap().program;
    assert!(of_none.hardware.is_none() && of_none.functions.iter().all(|row| row.instructions.is_none()));
    let shown = text::render_text(&uncounted, &options);
    assert!(!shown.contains("Processor: ") && !shown.contains("IPC"), "{shown}");
}

#[test]
fn a_file_that_only_samples_lie_in_is_no_problem() {
    let mut definitions = RankDefinitions::default();
    let path = "[vdso]".to_owned();
    definitions.add(Definition::Module(Module { id: 0, path, build_id: Vec::new(), base: 0, end: u64::MAX }));
    let mut sites = CallSiteTable::default();
    sites.enter_sampled(&definitions, [(CodeAddress { module: 0, offset: 0x10 }, NONE)].iter());
    let resolved = resolve_names(&sites, &CodeReaders::default(), MOST_TIME);
    assert!(resolved.problems.is_empty(), "{:?}", resolved.problems);
    let stack = resolved.sampled.stack((Some(0), 0x10), None).unwrap();
    let function = resolved.sampled.function(resolved.sampled.node_of(stack)).unwrap();
    assert_eq!((function.name.as_str(), function.module.as_deref()), ("", Some("[vdso]")));
}
