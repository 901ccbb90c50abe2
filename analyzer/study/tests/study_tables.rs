//! Which runs stand side by side in a study's tables, and what their figures are against.

use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_collector::Activity;
use lbprof_study::run::{RegionFigures, RunMetrics};
use lbprof_study::table::{FigureTable, TableRequest, make_tables};
use lbprof_study::{NotInStudy, StoredRun};

/// A run of `n_ranks` that compute all but 1 s of `elapsed_s`, which they spend in collective calls.
fn run(number: u32, n_ranks: u32, params: &[(&str, f64)], elapsed_s: f64) -> StoredRun {
    let all = |seconds: f64| vec![seconds; n_ranks as usize];
    let times = |t_ideal_s| EfficiencyTimes {
        elapsed_s,
        max_computation_s: elapsed_s - 1.0,
        avg_computation_s: elapsed_s - 1.0,
        t_ideal_s: Some(t_ideal_s),
    };
    let run = RunMetrics {
        id: u64::from(number) + 100,
        command: vec!["./heat".to_owned()],
        n_ranks,
        complete: true,
        params: params.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        times: times(elapsed_s - 1.0),
        ideal_by_replay: true,
        phases: vec![
            PhaseTime { phase: TimeCategory::Useful, seconds: all(elapsed_s - 1.0) },
            PhaseTime { phase: TimeCategory::Activity(Activity::Collective), seconds: all(1.0) },
        ],
        regions: vec![
            RegionFigures { path: "main".to_owned(), ..RegionFigures::default() },
            // An estimate above the elapsed time.
            RegionFigures { path: "main/step/force".to_owned(), times: times(2.0 * elapsed_s), ..Default::default() },
        ],
        ..RunMetrics::default()
    };
    StoredRun { number, run }
}

/// n = 100 and 200 on 1, 2 and 4 ranks: T = n/100 · 12 s / P + 1 s.
fn grid() -> Vec<StoredRun> {
    let all = [(100.0, 1), (100.0, 2), (100.0, 4), (200.0, 1), (200.0, 2), (200.0, 4)];
    let run =
        |(at, (n, p)): (usize, (f64, u32))| run(at as u32 + 1, p, &[("n", n)], n / 100.0 * 12.0 / f64::from(p) + 1.0);
    all.into_iter().enumerate().map(run).collect()
}

fn by(keys: &[&str]) -> TableRequest {
    TableRequest { by: keys.iter().map(|&key| key.to_owned()).collect(), ..TableRequest::default() }
}

/// The numbers of the runs of each column of each table.
fn runs(tables: &[FigureTable]) -> Vec<Vec<Vec<u32>>> {
    tables.iter().map(|table| table.columns.iter().map(|column| column.runs.clone()).collect()).collect()
}

/// Whether a remark begins with some words.
fn has_remark(table: &FigureTable, begin: &str) -> bool {
    table.remarks.iter().any(|remark| remark.text.starts_with(begin))
}

/// A line's figures, to 4 digits; -1 where there is none.
fn line(table: &FigureTable, section: &str, name: &str) -> Vec<f64> {
    let section = table.sections.iter().find(|one| one.name == section).expect(section);
    let line = section.lines.iter().find(|line| line.name == name).expect(name);
    line.cells.iter().map(|cell| cell.map_or(-1.0, |cell| (cell.value * 1e4).round() / 1e4)).collect()
}

#[test]
fn what_columns_do_not_show_makes_tables_of_its_own() {
    let runs_of = |wanted: &TableRequest| runs(&make_tables(&grid(), wanted).unwrap());
    let by_ranks = vec![vec![vec![1], vec![2], vec![3]], vec![vec![4], vec![5], vec![6]]];
    assert_eq!(runs_of(&TableRequest::default()), by_ranks);
    assert_eq!(runs_of(&by(&["n"])), [[[1], [4]], [[2], [5]], [[3], [6]]].map(|table| table.map(Vec::from).to_vec()));
    assert_eq!(runs_of(&by(&["n", "ranks"])), [[[1], [2], [3], [4], [5], [6]].map(Vec::from).to_vec()]);
    assert_eq!(runs_of(&by(&["ranks", "n"])), [[[1], [4], [2], [5], [3], [6]].map(Vec::from).to_vec()]);
    let weak = TableRequest { weak: true, ..TableRequest::default() };
    assert_eq!(
        runs_of(&weak),
        [[[1], [4], [2], [5], [3], [6]].map(Vec::from).to_vec()],
        "what grows is in no other table"
    );
    let only = TableRequest { conditions: vec!["n=2e2".parse().unwrap(), "ranks=1".parse().unwrap()], ..by(&["n"]) };
    assert_eq!(runs_of(&only), [[vec![4]]].map(Vec::from));
    let either = TableRequest {
        conditions: vec!["ranks=4".parse().unwrap(), "ranks=1".parse().unwrap()],
        ..by(&["n", "ranks"])
    };
    assert_eq!(runs_of(&either), [[[1], [3], [4], [6]].map(Vec::from).to_vec()]);
}

#[test]
fn runs_that_differ_in_all_stand_side_by_side() {
    // Work that grows with the ranks.
    let grown = [run(1, 1, &[("n", 100.0)], 10.0), run(2, 2, &[("n", 200.0)], 11.0), run(3, 4, &[("n", 400.0)], 12.5)];
    let found = make_tables(&grown, &TableRequest { weak: true, ..TableRequest::default() }).unwrap();
    assert_eq!(runs(&found), [[[1], [2], [3]].map(Vec::from).to_vec()]);
    assert_eq!(found[0].by, ["ranks", "n"]);
    assert_eq!(line(&found[0], "Scaling", "efficiency"), [1.0, 0.9091, 0.8]);
    let strong = make_tables(&grown, &TableRequest::default()).unwrap();
    assert_eq!(runs(&strong), runs(&found));
    assert!(has_remark(&strong[0], "no speedup"), "other work is no base");
    assert!(strong[0].sections.iter().all(|section| section.name != "Scaling"));
    let against_2 = make_tables(&grown, &TableRequest { base: Some(2), ..TableRequest::default() }).unwrap();
    assert_eq!(line(&against_2[0], "Scaling", "speedup"), [1.1, 1.0, 0.88]);
    assert_eq!(line(&against_2[0], "Scaling", "efficiency"), [2.2, 1.0, 0.44]);
}

#[test]
fn speedup_is_against_the_fewest_ranks_of_the_same_parameters() {
    let found = make_tables(&grid(), &TableRequest::default()).unwrap();
    // n = 200: 25 s, 13 s, 7 s.
    assert_eq!(line(&found[1], "Scaling", "speedup"), [1.0, 1.9231, 3.5714]);
    assert_eq!(line(&found[1], "Scaling", "efficiency"), [1.0, 0.9615, 0.8929]);
    // So it is where the columns are distinguished by n, though the base is then in another table.
    let by_n = make_tables(&grid(), &by(&["n"])).unwrap();
    assert_eq!(line(&by_n[2], "Scaling", "speedup"), [3.25, 3.5714]);
    assert!(has_remark(&by_n[2], "scaling against the run of the same parameters with the fewest ranks: speedup"));
}

#[test]
fn the_time_on_one_rank_is_that_of_a_run_where_there_is_one() {
    let all = grid();
    let found = make_tables(&all, &TableRequest::default()).unwrap();
    // 13 s on one rank: on 4 ranks 4 · 3 s are useful, 4 · 1 s are communication; E = 13 / (4 · 4) = 1 / (12/13 + 4/13).
    assert_eq!(line(&found[0], "Overheads", "useful work"), [0.9231, 0.9231, 0.9231]);
    assert_eq!(line(&found[0], "Overheads", "collective"), [0.0769, 0.1538, 0.3077]);
    assert_eq!(line(&found[0], "Overheads", "efficiency 1/Σ"), [1.0, 0.9286, 0.8125]);
    assert_eq!(line(&found[0], "Scaling", "efficiency"), line(&found[0], "Overheads", "efficiency 1/Σ"));
    assert!(has_remark(&found[0], "overheads are shares of the time on one rank, run 1"));
    // Without it the work of the run itself: 12 s. So it is where that run is incomplete.
    let incomplete = |mut kept: StoredRun| {
        kept.run.complete = kept.run.n_ranks > 1;
        kept
    };
    let without = make_tables(&all.into_iter().map(incomplete).collect::<Vec<_>>(), &TableRequest::default()).unwrap();
    assert_eq!(line(&without[0], "Overheads", "efficiency 1/Σ"), [0.9231, 0.8571, 0.75]);
    assert!(has_remark(&without[0], "overheads are shares of the work of all ranks of the same run"));
    assert!(has_remark(&without[0], "data are incomplete: run 1"));
}

#[test]
fn repeated_runs_are_their_median_and_range() {
    let times = [5.0, 4.0, 9.0, 6.0];
    let mut all: Vec<StoredRun> = (0..4).map(|at| run(at as u32 + 1, 2, &[], times[at])).collect();
    all.push(run(5, 4, &[], 2.75));
    let found = make_tables(&all, &TableRequest::default()).unwrap();
    assert_eq!(runs(&found), [vec![vec![1, 2, 3, 4], vec![5]]]);
    let elapsed = &found[0].sections[0].lines[0];
    let cell = elapsed.cells[0].unwrap();
    assert_eq!((cell.value, cell.range), (5.5, (4.0, 9.0)));
    assert_eq!(
        line(&found[0], "Scaling", "speedup"),
        [(5.5 / 5.0 + 5.5 / 6.0) / 2.0, 2.0].map(|x: f64| (x * 1e4).round() / 1e4)
    );
    assert!(has_remark(&found[0], "of repeated runs the median"));
    let odd = make_tables(&all[..3], &TableRequest::default()).unwrap();
    assert_eq!(line(&odd[0], "Time", "elapsed T"), [5.0]);
    let each = make_tables(&all, &TableRequest { each: true, ..TableRequest::default() }).unwrap();
    assert_eq!(runs(&each), [[[1], [2], [3], [4], [5]].map(Vec::from).to_vec()]);
}

#[test]
fn a_region_is_named_by_its_end_and_what_is_not_known_is_absent() {
    let mut all = grid();
    all[1].run.regions.truncate(1);
    let found =
        make_tables(&all, &TableRequest { region: Some("force".to_owned()), ..TableRequest::default() }).unwrap();
    assert_eq!(line(&found[0], "Time", "elapsed T"), [13.0, -1.0, 4.0]);
    let names: Vec<&str> = found[0].sections.iter().flat_map(|one| &one.lines).map(|line| line.name).collect();
    assert!(
        !names.contains(&"ideal T") && !names.contains(&"transfer"),
        "an estimate above the elapsed time says nothing"
    );
    assert!(has_remark(&found[0], "of runs 1 and 3 not known"), "{:?}", found[0].remarks);
    let none = make_tables(&all, &TableRequest { region: Some("orce".to_owned()), ..TableRequest::default() });
    let known = vec!["main".to_owned(), "main/step/force".to_owned()];
    assert_eq!(none, Err(NotInStudy::NoRegion("orce".to_owned(), known)));
}

#[test]
fn runs_without_a_parameter_are_reported() {
    let mut all = grid();
    all[3].run.params.clear();
    let found = make_tables(&all, &by(&["n", "ranks"])).unwrap();
    assert_eq!(found[0].columns[0].runs, [4], "first, for it has none");
    assert!(has_remark(&found[0], "no parameter n: run 4"));
    let apart = make_tables(&all, &TableRequest::default()).unwrap();
    let without = apart.iter().filter(|table| has_remark(table, "no parameter"));
    assert_eq!(runs(&without.cloned().collect::<Vec<_>>()), [[vec![4]]], "also where it distinguishes no columns");
    assert!(matches!(make_tables(&all, &by(&["m"])), Err(NotInStudy::NoParam { .. })));
    assert_eq!(make_tables(&[], &TableRequest::default()), Err(NotInStudy::NoRuns));
}

#[test]
fn runs_under_other_mpi_libraries_are_no_base_unless_they_stand_side_by_side() {
    let under = |mpi: &str, mut kept: StoredRun| {
        kept.run.mpi = mpi.to_owned();
        kept
    };
    let all = [
        under("MPICH Version:      4.0.2\nrelease date: 2022", run(1, 1, &[], 20.0)),
        under("Open MPI v5.0.8, package: x", run(2, 2, &[], 8.0)),
        under("Open MPI v5.0.8, package: y", run(3, 4, &[], 5.0)),
    ];
    let found = make_tables(&all, &TableRequest::default()).unwrap();
    assert_eq!(runs(&found), [vec![vec![1]], vec![vec![2], vec![3]]]);
    assert_eq!(line(&found[1], "Scaling", "speedup"), [1.0, 1.6]);
    assert!(has_remark(&found[1], "overheads are shares of the work of all ranks of the same run"));
    // So it is where the other library is not wanted.
    let only = TableRequest { conditions: vec!["mpi=Open*".parse().unwrap()], ..TableRequest::default() };
    assert_eq!(line(&make_tables(&all, &only).unwrap()[0], "Scaling", "speedup"), [1.0, 1.6]);
    let side_by_side = make_tables(&all, &by(&["mpi", "ranks"])).unwrap();
    assert_eq!(runs(&side_by_side), [[[1], [2], [3]].map(Vec::from).to_vec()]);
    assert_eq!(line(&side_by_side[0], "Scaling", "speedup"), [1.0, 2.5, 4.0]);
    let against = make_tables(&all, &TableRequest { base: Some(1), ..TableRequest::default() }).unwrap();
    assert_eq!(line(&against[1], "Scaling", "speedup"), [2.5, 4.0], "a base that is wanted");
}

#[test]
fn what_has_no_time_is_no_base() {
    let mut all = [run(1, 1, &[], 20.0), run(2, 2, &[], 8.0), run(3, 4, &[], 5.0)];
    all[0].run.times.elapsed_s = f64::NAN;
    let found = make_tables(&all, &TableRequest::default()).unwrap();
    assert_eq!(line(&found[0], "Scaling", "speedup"), [-1.0, 1.0, 1.6]);
    assert!(has_remark(&found[0], "overheads are shares of the work of all ranks of the same run"));
}

#[test]
fn programs_are_kept_apart() {
    let mut all = grid();
    all[5].run.command = vec!["/opt/bin/wave".to_owned(), "-x".to_owned()];
    let found = make_tables(&all, &TableRequest::default()).unwrap();
    let programs: Vec<&str> = found.iter().map(|table| table.program.as_str()).collect();
    assert_eq!(programs, ["heat", "heat", "wave"]);
    // Its only run has nothing to be compared with, though others have its parameters.
    assert!(!has_remark(&found[2], "scaling"));
}

#[test]
fn the_better_balanced_run_is_named_where_it_is_longer_on_as_many_ranks() {
    // Balance 1 in all; η is 2/3 in 3 s, and 5/6 in 6 s, with the same ranks.
    let found =
        make_tables(&[run(1, 4, &[("b", 1.0)], 3.0), run(2, 4, &[("b", 2.0)], 6.0)], &TableRequest::default()).unwrap();
    let best = &found[0].remarks[0].text;
    assert!(best.starts_with("b=1 is the shortest") && best.contains("b=2 has the best parallel efficiency"), "{best}");
    // Nor is it where work was counted, and is other work.
    let counted = |number: u32, operations: f64| {
        let mut kept = run(number, 4, &[("b", f64::from(number))], 3.0 * f64::from(number));
        kept.run.regions[1].operations = operations;
        kept
    };
    let warns = |runs: &[StoredRun]| {
        has_remark(&make_tables(runs, &TableRequest::default()).unwrap()[0], "b=1 is the shortest")
    };
    assert!(warns(&[counted(1, 1e6), counted(2, 1e6)]));
    assert!(!warns(&[counted(1, 1e6), counted(2, 8e6)]));
    // Fewer ranks are always more efficient: nothing to warn of.
    let scaled = make_tables(&[run(1, 2, &[], 6.0), run(2, 4, &[], 3.0)], &TableRequest::default()).unwrap();
    assert!(!scaled[0].remarks.iter().any(|remark| remark.text.contains("is the shortest")));
}
