//! Tables of "Detailed Load Balance Analysis of Large Scale Parallel Applications" (2010) out of a study that holds their figures:
//! through the study's file, then as `lb-report study show` has them. To ±0.002; slips of the paper are named.

use std::collections::BTreeMap;

use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_study::table::{FigureTable, TableRequest, make_tables};
use lbprof_study::{RunMetrics, StudyFile};

const TOLERANCE: f64 = 0.002;

/// A column of a table: P, a parameter, T, max T_i, avg T_i, T_ideal, as printed.
struct PaperColumn {
    n_ranks: u32,
    param: Option<(&'static str, f64)>,
    times: [f64; 4],
}

fn run(id: u64, column: &PaperColumn) -> RunMetrics {
    let [elapsed_s, max_computation_s, avg_computation_s, t_ideal_s] = column.times;
    RunMetrics {
        id,
        command: vec!["./program".to_owned()],
        n_ranks: column.n_ranks,
        complete: true,
        params: column.param.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<BTreeMap<_, _>>(),
        times: EfficiencyTimes { elapsed_s, max_computation_s, avg_computation_s, t_ideal_s: Some(t_ideal_s) },
        // CPMD runs 20 iterations.
        iterations: Some(20),
        ..RunMetrics::default()
    }
}

/// The one table of a study of these columns.
fn table(columns: &[PaperColumn]) -> FigureTable {
    let dir = tempfile::tempdir().unwrap();
    let mut study = StudyFile::open_or_create(&dir.path().join("paper.study")).unwrap();
    for (at, column) in columns.iter().enumerate() {
        study.add(&run(at as u64 + 1, column), false).unwrap();
    }
    let mut found = make_tables(&study.runs().unwrap(), &TableRequest::default()).unwrap();
    assert_eq!(found.len(), 1, "the columns are side by side");
    found.remove(0)
}

#[track_caller]
fn assert_line(table: &FigureTable, section: &str, name: &str, printed: &[f64], tolerance: f64) {
    let section = table.sections.iter().find(|one| one.name == section).expect(section);
    let line = section.lines.iter().find(|line| line.name == name).expect(name);
    let found: Vec<f64> = line.cells.iter().map(|cell| cell.expect("all times are positive").value).collect();
    assert_eq!(found.len(), printed.len());
    for (found, printed) in found.iter().zip(printed) {
        assert!((found - printed).abs() <= tolerance, "{name}: {found}, the paper prints {printed}");
    }
}

/// The rows commEff, LB, µLB, Transfer and η.
#[track_caller]
fn assert_ratios(table: &FigureTable, rows: [&[f64]; 5]) {
    let names = ["communication", "load balance LB", "micro load balance µLB", "transfer", "parallel efficiency η"];
    for (name, printed) in names.into_iter().zip(rows) {
        assert_line(table, "Efficiency", name, printed, TOLERANCE);
    }
}

fn gadget(n_ranks: u32, times: [f64; 4]) -> PaperColumn {
    PaperColumn { n_ranks, param: None, times }
}

/// The warning that the column of a value is the shortest, but not the best.
fn warned_of<'a>(table: &'a FigureTable, shortest: &str) -> Option<&'a str> {
    let mut texts = table.remarks.iter().map(|remark| remark.text.as_str());
    texts.find(|text| text.starts_with(&format!("{shortest} is the shortest")))
}

#[test]
fn table_1_gadget_by_the_number_of_processes() {
    let table = table(&[
        gadget(32, [466.68, 361.41, 312.82, 361.41]),
        gadget(64, [229.84, 169.19, 154.17, 172.95]),
        gadget(128, [139.48, 78.29, 76.38, 78.52]),
    ]);
    assert_eq!(table.by, ["ranks"]);
    assert_line(&table, "Time", "elapsed T", &[466.68, 229.84, 139.48], 0.0);
    assert_line(&table, "Time", "ideal T", &[361.41, 172.95, 78.52], 0.0);
    assert_ratios(
        &table,
        [
            &[0.774, 0.736, 0.561],
            &[0.866, 0.911, 0.976],
            &[1.0, 0.978, 0.997],
            &[0.774, 0.752, 0.563],
            &[0.670, 0.671, 0.548],
        ],
    );
    // Not printed there: 466.68/229.84 on twice, 466.68/139.48 on four times the processes.
    assert_line(&table, "Scaling", "speedup", &[1.0, 2.0305, 3.3459], 1e-4);
    assert_line(&table, "Scaling", "efficiency", &[1.0, 1.0152, 0.8365], 1e-4);
}

#[test]
fn table_3_gadget_with_another_grid() {
    let columns = [(0.0, [105.78, 93.23, 87.18, 94.82]), (1.0, [123.77, 104.25, 100.22, 104.84])];
    let table = table(&columns.map(|(modified, times)| PaperColumn {
        n_ranks: 2048,
        param: Some(("modified", modified)),
        times,
    }));
    assert_eq!(table.by, ["modified"]);
    assert_ratios(&table, [&[0.881, 0.842], &[0.935, 0.961], &[0.983, 0.994], &[0.896, 0.847], &[0.824, 0.810]]);
    // The modified program is the better balanced, and the slower.
    let best = warned_of(&table, "modified=0").expect("a warning");
    assert!(best.contains("modified=1 has the best load balance") && !best.contains("parallel efficiency"), "{best}");
}

#[test]
fn table_4_an_inner_loop_reordered() {
    let columns = [(0.0, [5.881, 0.576, 0.336, 1.735]), (1.0, [4.507, 0.335, 0.321, 1.068])];
    let table = table(&columns.map(|(modified, times)| PaperColumn {
        n_ranks: 32,
        param: Some(("modified", modified)),
        times,
    }));
    assert_ratios(&table, [&[0.098, 0.074], &[0.583, 0.958], &[0.332, 0.313], &[0.295, 0.237], &[0.057, 0.071]]);
    assert!(
        !table.remarks.iter().any(|remark| remark.text.contains("is the shortest")),
        "the shorter one is the better in both"
    );
}

#[test]
fn table_6_cpmd_by_task_groups_where_the_shortest_run_is_the_worst_balanced() {
    let columns = [
        (1.0, [33.775, 6.432, 5.586, 7.377]),
        (2.0, [18.579, 5.678, 4.620, 6.150]),
        (4.0, [23.815, 11.103, 9.875, 11.562]),
        (8.0, [26.840, 12.862, 12.251, 13.715]),
        (16.0, [32.917, 18.083, 17.117, 18.844]),
    ];
    let table =
        table(&columns.map(|(groups, times)| PaperColumn { n_ranks: 256, param: Some(("taskgroups", groups)), times }));
    assert_eq!(table.by, ["taskgroups"]);
    // A slip of the paper: its row "commEff" repeats η (0.165, 0.249, 0.415, 0.456, 0.520). By its eq. 2 the row is max T_i / T.
    assert_ratios(
        &table,
        [
            &[0.190, 0.306, 0.466, 0.479, 0.549],
            &[0.868, 0.814, 0.889, 0.953, 0.947],
            &[0.872, 0.923, 0.960, 0.938, 0.960],
            &[0.218, 0.331, 0.485, 0.511, 0.572],
            &[0.165, 0.249, 0.415, 0.456, 0.520],
        ],
    );
    // Of 20 iterations; printed to two digits, so to ±0.005.
    let of_an_iteration = [
        ("elapsed", [1.690, 0.930, 1.190, 1.340, 1.650]),
        ("computing", [0.280, 0.230, 0.490, 0.610, 0.860]),
        ("communicating", [1.410, 0.700, 0.700, 0.730, 0.790]),
    ];
    for (name, printed) in of_an_iteration {
        assert_line(&table, "Of an iteration", name, &printed, 0.005);
    }
    // The warning of the paper: 2 task groups are the shortest, with the worst balance. It says that 16 have the best balance and
    // efficiency; its own row LB has 0.953 for 8, above 0.947: another slip.
    let best = warned_of(&table, "taskgroups=2").expect("a warning");
    assert!(best.contains("taskgroups=8 has the best load balance"), "{best}");
    assert!(best.contains("taskgroups=16 has the best parallel efficiency"), "{best}");
    let balance = table.sections.iter().flat_map(|one| &one.lines).find(|line| line.name == "load balance LB").unwrap();
    assert_eq!(balance.best_and_worst(), Some((3, 1)));
}
