//! What is stored comes back, or is reported to be gone.

use std::fs;

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;
use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{StoreError, StudyFile, checksum};
use crate::RunMetrics;
use crate::run::{
    CauseFigures, CoreFigures, CountedFigures, FunctionFigures, FunctionSums, RankFigures, RegionFigures,
};
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::metrics::overhead::{PhaseTime, TimeCategory};
use lbprof_analysis::metrics::spread::load_balance::EfficiencyTimes;
use lbprof_analysis::model::CodeName;

/// A run of `n` ranks that has something of everything.
fn run(id: u64, n: u32) -> RunMetrics {
    let by_rank = |scale: f64| (0..n).map(|rank| scale * f64::from(rank + 1)).collect::<Vec<f64>>();
    let times =
        EfficiencyTimes { elapsed_s: 10.5, max_computation_s: 8.0, avg_computation_s: 0.1 + 0.2, t_ideal_s: Some(9.0) };
    RunMetrics {
        label: "v1".into(),
        id,
        command: vec!["/opt/it's here/solver".to_owned(), "--grid=\"8 µ\"".to_owned()],
        started_unix_s: 1_700_000_000,
        hosts: vec!["node1".to_owned(), "node2".to_owned()],
        mpi: "Open MPI 5.0.8".to_owned(),
        n_ranks: n + 1,
        complete: false,
        problems: vec!["missing-ranks".to_owned(), "not-closed".to_owned()],
        params: [("n".to_owned(), 1e300), ("µ".to_owned(), -0.5)].into(),
        times,
        ideal_by_replay: true,
        phases: vec![
            PhaseTime { phase: TimeCategory::Useful, seconds: by_rank(1.0) },
            PhaseTime { phase: TimeCategory::Activity(Activity::Collective), seconds: by_rank(0.1) },
            PhaseTime { phase: TimeCategory::NotRecorded, seconds: by_rank(1e-9) },
        ],
        iterations: Some(100),
        ranks: (0..n).map(self::rank).collect(),
        regions: vec![
            RegionFigures {
                path: "main".to_owned(),
                times: EfficiencyTimes { t_ideal_s: None, ..times },
                ..RegionFigures::default()
            },
            RegionFigures {
                path: "main/step".to_owned(),
                code: Some(CodeName { function: "step".to_owned(), calls: "Send → Wait".to_owned(), ordinal: 2 }),
                kind: RegionKind::Control,
                found: true,
                times,
                activities: [(Activity::Computation, by_rank(2.0)), (Activity::Io, by_rank(0.0))].into(),
                blocked_s: Some(0.25),
                iterations: Some(7),
                invocations: 14,
                operations: 1e12,
                quanta: 0.5,
                max_resident_bytes: 1 << 40,
                max_swapped_bytes: 3,
            },
        ],
        causes: Some(vec![
            cause(Some(Activity::Computation), CauseClass::Imbalance),
            cause(None, CauseClass::MessageDelay),
        ]),
        functions: Some(functions()),
        counted: Some(CountedFigures { instructions: 3e9, cycles: 2e9, seconds: 1.0 }),
        cores: Some(CoreFigures {
            cores: 8,
            threads_per_rank: 2,
            shares: std::array::from_fn(|at| (at != 3).then(|| 1.0 / (at + 1) as f64)),
        }),
        ..RunMetrics::default()
    }
}

/// Functions of the program and of a region, one of which has no name.
fn functions() -> FunctionFigures {
    let sums = |scale: f64| FunctionSums {
        times: [("force (\"md\".c)".to_owned(), (scale * 1.5, 0.125)), (String::new(), (scale / 3.0, 1e-9))].into(),
        others_s: scale * 0.1,
    };
    FunctionFigures { program: sums(2.0), regions: [("main/step".to_owned(), sums(1.0))].into() }
}

fn rank(rank: u32) -> RankFigures {
    RankFigures {
        rank: 2 * rank,
        host: format!("node{}", rank % 2 + 1),
        computation_s: f64::from(rank) / 3.0,
        blocked_s: (rank > 0).then_some(0.7),
        max_resident_bytes: u64::from(rank) << 20,
    }
}

fn cause(activity: Option<Activity>, class: CauseClass) -> CauseFigures {
    CauseFigures { rank: 3, region: "main/step".to_owned(), activity, class, caused_s: 0.125 }
}

fn study() -> (TempDir, StudyFile) {
    let dir = tempfile::tempdir().unwrap();
    let study = StudyFile::open_or_create(&dir.path().join("a.study")).unwrap();
    (dir, study)
}

#[test]
fn a_run_comes_back_as_it_was() {
    let (dir, mut study) = study();
    let not_followed =
        RunMetrics { id: 2, causes: None, functions: None, iterations: None, params: Default::default(), ..run(2, 4) };
    let nothing = RunMetrics { id: u64::MAX, ..RunMetrics::default() };
    for (number, run) in [(1, run(1, 3)), (2, not_followed.clone()), (3, nothing.clone())] {
        assert_eq!(study.add(&run, false).unwrap(), number);
    }
    drop(study);
    let study = StudyFile::open(&dir.path().join("a.study")).unwrap();
    let kept = study.runs().unwrap();
    let (heads, ranks) = (study.heads().unwrap(), vec![]);
    assert_eq!(
        heads[0].run,
        RunMetrics { ranks, phases: vec![], regions: vec![], causes: Some(vec![]), functions: None, ..run(1, 3) }
    );
    assert_eq!(kept.iter().map(|kept| kept.number).collect::<Vec<u32>>(), [1, 2, 3]);
    assert_eq!(kept.into_iter().map(|kept| kept.run).collect::<Vec<RunMetrics>>(), [run(1, 3), not_followed, nothing]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(24)))]
    /// Every number and every text comes back to its last bit.
    #[test]
    fn any_numbers_and_names_come_back(
        seconds in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, 8),
        name in ".*",
        whole in 0..i64::MAX as u64,
    ) {
        let (_dir, mut study) = study();
        let mut run = run(1, 3);
        run.command.push(name.clone());
        run.hosts[0] = name.clone();
        run.regions[1].path = name.clone();
        run.params.insert(name, seconds[0]);
        run.times.elapsed_s = seconds[1];
        run.phases[0].seconds.copy_from_slice(&seconds[2..5]);
        run.ranks[1].computation_s = seconds[5];
        run.regions[1].operations = seconds[6];
        run.causes.as_mut().unwrap()[0].caused_s = seconds[7];
        (run.started_unix_s, run.regions[1].invocations) = (whole, whole);
        study.add(&run, false).unwrap();
        prop_assert_eq!(&study.runs().unwrap()[0].run, &run);
    }
}

#[test]
fn a_run_that_is_there_is_refused_or_replaced() {
    let (_dir, mut study) = study();
    study.add(&run(7, 2), false).unwrap();
    study.add(&run(8, 2), false).unwrap();
    let again = RunMetrics { complete: true, ..run(7, 5) };
    assert!(matches!(study.add(&again, false), Err(StoreError::Twice { id: 7, number: 1, .. })));
    assert_eq!(study.runs().unwrap()[0].run, run(7, 2));
    assert_eq!(study.add(&again, true).unwrap(), 1);
    assert_eq!(study.runs().unwrap()[0].run, again);
    assert_eq!((study.number_of(8).unwrap(), study.number_of(9).unwrap()), (Some(2), None));
}

#[test]
fn what_is_removed_leaves_nothing_and_its_number_is_not_given_again() {
    let (dir, mut study) = study();
    for id in 1..=3 {
        study.add(&run(id, 2), false).unwrap();
    }
    assert!(matches!(study.remove(&[1, 9]), Err(StoreError::NoRun { .. })));
    assert_eq!(study.runs().unwrap().len(), 3, "all or nothing");
    study.remove(&[1, 2, 3]).unwrap();
    assert_eq!(study.add(&RunMetrics::default(), false).unwrap(), 4);
    let plain = Connection::open(dir.path().join("a.study")).unwrap();
    for table in ["hosts", "problems", "params", "ranks", "phases", "regions", "region_times", "causes", "functions"] {
        let left: i64 = plain.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

#[test]
fn without_space_nothing_is_added_and_nothing_lost() {
    let (_dir, mut study) = study();
    study.add(&run(1, 2), false).unwrap();
    let pages: i64 = study.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    study.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let large = run(2, 5000);
    assert!(matches!(study.add(&large, false), Err(StoreError::Full { .. })));
    assert!(matches!(study.add(&RunMetrics { id: 1, ..large.clone() }, true), Err(StoreError::Full { .. })));
    assert_eq!(study.runs().unwrap().len(), 1);
    assert_eq!(study.runs().unwrap()[0].run, run(1, 2), "neither was the run that was to be replaced");
    study.connection.pragma_update_and_check(None, "max_page_count", pages + 1000, |_| Ok(())).unwrap();
    assert_eq!(study.add(&large, false).unwrap(), 2);
}

#[test]
fn what_is_no_study_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    assert!(matches!(StudyFile::open(&path), Err(StoreError::Missing { .. })));
    assert!(matches!(StudyFile::open(dir.path()), Err(StoreError::NotAStudy { .. })));
    assert!(matches!(StudyFile::open_or_create(dir.path()), Err(StoreError::NotAStudy { .. })));
    fs::write(
        &path,
        "This is a text, and a long one, for SQLite looks at the first hundred bytes of what it is given to read.",
    )
    .unwrap();
    assert!(matches!(StudyFile::open_or_create(&path), Err(StoreError::NotAStudy { .. })));
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE runs (run INTEGER)").unwrap();
    assert!(matches!(StudyFile::open_or_create(&path), Err(StoreError::NotAStudy { .. })), "another SQLite file");
    let (dir, mut study) = study();
    study.add(&run(1, 2), false).unwrap();
    for version in [1, 99] {
        study.connection.pragma_update(None, "user_version", version).unwrap();
        let found = StudyFile::open(&dir.path().join("a.study")).map(drop);
        assert!(matches!(found, Err(StoreError::Version { found, read: 4, .. }) if found == version), "{found:?}");
    }
}

#[test]
fn an_empty_file_is_a_study_without_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty");
    fs::write(&path, "").unwrap();
    let mut study = StudyFile::open(&path).unwrap();
    assert_eq!(study.runs().unwrap(), []);
    assert_eq!(study.number_of(1).unwrap(), None);
    assert!(matches!(study.remove(&[1]), Err(StoreError::NoRun { .. })));
}

/// Cut anywhere, and with any page overwritten, a study is read, or is reported to be damaged.
#[test]
fn damage_is_reported_and_never_a_panic() {
    let (dir, mut study) = study();
    study.add(&run(1, 40), false).unwrap();
    drop(study);
    let whole = fs::read(dir.path().join("a.study")).unwrap();
    let path = dir.path().join("damaged");
    let read = || StudyFile::open(&path).and_then(|study| study.runs());
    for length in (1..whole.len()).step_by(1511) {
        fs::write(&path, &whole[..length]).unwrap();
        let found = read();
        assert!(matches!(found, Err(StoreError::Damaged { .. } | StoreError::NotAStudy { .. })), "{length}: {found:?}");
    }
    for at in (100..whole.len()).step_by(997) {
        let mut bytes = whole.clone();
        let end = bytes.len().min(at + 64);
        bytes[at..end].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        if let Err(error) = read() {
            assert!(matches!(error, StoreError::Damaged { .. } | StoreError::NotAStudy { .. }), "{at}: {error:?}");
        }
    }
}

/// Any flipped bit leaves the figures as they are, or is reported.
#[test]
fn a_flipped_bit_changes_no_figure() {
    let (dir, mut study) = study();
    for id in 1..=3 {
        study.add(&run(id, 12), false).unwrap();
    }
    let runs = study.runs().unwrap();
    drop(study);
    let whole = fs::read(dir.path().join("a.study")).unwrap();
    let path = dir.path().join("flipped");
    let mut state = 1u64;
    let mut n_refused = 0;
    for _ in 0..600 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) as usize % (whole.len() * 8);
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        match StudyFile::open(&path).and_then(|study| study.runs()) {
            Ok(found) => assert!(found == runs, "bit {at}"),
            Err(error) => {
                n_refused += 1;
                let is_clear = matches!(
                    error,
                    StoreError::Damaged { .. } | StoreError::NotAStudy { .. } | StoreError::Version { .. }
                );
                assert!(is_clear, "bit {at}: {error:?}");
            }
        }
    }
    assert!(n_refused > 50, "{n_refused}");
}

#[test]
fn rows_that_make_no_sense_are_damage() {
    for change in [
        "UPDATE runs SET n_ranks = -1",
        "UPDATE runs SET id = 'zebra'",
        "UPDATE runs SET command = '{}'",
        "UPDATE regions SET kind = 'royal'",
        "UPDATE region_times SET region = 77",
        "UPDATE phases SET rank = rank + 1000",
        "UPDATE causes SET activity = 'sleep'",
        "UPDATE ranks SET max_resident_bytes = -4",
        "UPDATE region_times SET seconds = -0.5",
        "UPDATE region_times SET seconds = NULL",
        "UPDATE phases SET seconds = 9e999",
        "UPDATE hardware SET seconds = -0.5",
        "UPDATE functions SET mean_s = -0.5",
        "UPDATE functions SET error_s = NULL",
        "UPDATE functions SET region = NULL",
        "DELETE FROM functions WHERE function IS NULL AND region IS NOT NULL",
        "DELETE FROM functions WHERE region IS NULL",
        "DELETE FROM ranks",
        "DELETE FROM region_times WHERE rank = 0",
        "DELETE FROM region_times WHERE rank > 0",
        "DELETE FROM phases WHERE rank > 0",
        "CREATE TRIGGER t AFTER DELETE ON runs BEGIN DELETE FROM causes; END",
        "DROP TABLE hosts; CREATE VIEW hosts AS SELECT 1 AS run, 0 AS position, 'node1' AS host",
        "DROP TABLE causes",
    ] {
        let (dir, mut study) = study();
        study.add(&run(1, 2), false).unwrap();
        study.connection.execute_batch(change).unwrap();
        let path = dir.path().join("a.study");
        assert!(matches!(StudyFile::open(&path), Err(StoreError::Damaged { .. })), "by the checksum: {change}");
        // So it is where somebody has changed the checksum, too. It cannot be made anew where a table is gone.
        let _ = checksum::write_checksum(&study.connection, 1);
        drop(study);
        let found = StudyFile::open(&dir.path().join("a.study")).and_then(|study| study.runs());
        assert!(matches!(found, Err(StoreError::Damaged { .. })), "{change}: {found:?}");
    }
}
