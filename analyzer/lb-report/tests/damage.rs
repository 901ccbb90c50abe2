//! Whatever is in a run's folder, lb-report's library says something and does not panic.

use std::fs;

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_analysis::structure::code::symbols;
use lbprof_collector::format::log_name;
use lbprof_export::dump::write_dump;
use lbprof_simulator::scenario::Scenario;
use lbprof_test_runs::{json, plain, report_on, usage, written};
use proptest::prelude::*;

/// A run with all kinds of definitions and records.
fn everything() -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        script
            .define(usage(0, 0, 0, 0))
            .communicator(77, &[0, 2])
            .batch(9)
            .param("n", 3.0)
            .repeat(12, move |step, script| {
                script.iteration("step", move |script| {
                    script
                        .region("force", |script| script.compute(1 + rank).work(10.0, 2.0).memory(1 << 20, 0))
                        .count("c", f64::from(step))
                        .isend(0, 1, 100, 0.1)
                        .irecv(0, 1, 0.1)
                        .waitall(&[(2 * step, 0), (2 * step + 1, 100)], 0.5)
                        .allreduce(8, 0.1)
                })
            })
            .flush(0.5)
            .paused(|script| script.compute(1))
            .kill(if rank == 1 { 6 } else { 0 })
    })
}

/// Reads the folder in every way, which may only lead to an error or a report.
fn read_all(dir: &std::path::Path) {
    let Ok(run) = RecordedRun::open(Some(dir)) else { return };
    let model = analyse_run(
        &run,
        &Selection::default(),
        &AnalysisOptions { symbols: false, ..AnalysisOptions::default() },
        |_| (),
    )
    .unwrap()
    .model;
    let report = report_on(&model);
    assert!(!plain(&report, 80).is_empty());
    assert!(serde_json::from_str::<serde_json::Value>(&json(&report)).is_ok());
    let mut lines = Vec::new();
    write_dump(&run, &model, &symbols::sites_without_names(&model.sites).places, None, &mut lines)
        .expect("the logs can be read a second time");
    let text = String::from_utf8(lines).expect("JSON is UTF-8");
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    read_part(&run, model.regions.last().map(|region| region.path.clone()));
}

fn read_part(run: &RecordedRun, region: Option<String>) {
    let part = Selection {
        ranks: Some("1-".parse().expect("ranks")),
        from: Some("1ms".parse().expect("a time")),
        to: Some("iteration=2".parse().expect("an iteration")),
        region,
    };
    let options = AnalysisOptions { symbols: false, ..AnalysisOptions::default() };
    if let Ok(analysis) = analyse_run(run, &part, &options, |_| ()) {
        assert!(!plain(&report_on(&analysis.model), 80).is_empty());
    }
}

#[test]
fn the_undamaged_run_is_read_in_every_way() {
    read_all(written(everything()).path());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(100)))]

    #[test]
    #[ignore = "takes long: scripts/test --all"]
    fn a_cut_log_is_survived(rank in 0..3_u32, part in 0.0..1.0_f64) {
        let dir = written(everything());
        let path = dir.path().join(log_name(rank));
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..(bytes.len() as f64 * part) as usize]).unwrap();
        read_all(dir.path());
    }

    #[test]
    #[ignore = "takes long: scripts/test --all"]
    fn flipped_bytes_in_logs_and_rings_are_survived(
        flips in prop::collection::vec((0..5_usize, any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let dir = written(everything());
        let mut files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for (file, at, value) in flips {
            let path = &files[file % files.len()];
            let mut bytes = fs::read(path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = value;
            fs::write(path, bytes).unwrap();
        }
        read_all(dir.path());
    }
}

/// Damage that checksums cannot see: what a hostile writer would put into definitions.
#[test]
fn absurd_definitions_are_survived() {
    use lbprof_collector::Definition;
    use lbprof_collector::definition::{
        ClockOffset, ClockPair, Communicator, EndReason, Module, RankList, Region, RegionKind,
    };
    let region = |id, parent| {
        Definition::Region(Region { id, parent, name: "a/b//".to_owned(), kind: RegionKind::Useful, iterated: true })
    };
    let everyone = RankList(vec![(u32::MAX, i32::MIN, u32::MAX), (0, 1, u32::MAX)]);
    let absurd = [
        region(u32::MAX, u32::MAX),
        region(5, 7),
        region(7, 5),
        Definition::Module(Module { id: 0, path: String::new(), build_id: vec![0; 300], base: u64::MAX, end: 0 }),
        Definition::Communicator(Communicator {
            id: 0,
            uid: 1,
            parent: 0,
            rank: u32::MAX,
            group: everyone.clone(),
            remote: everyone,
        }),
        Definition::Instant(ClockPair { ticks: u64::MAX, monotonic_ns: 0 }),
        Definition::ClockOffset(ClockOffset { ticks: u64::MAX, offset_ns: i64::MIN, error_ns: u64::MAX }),
        Definition::ClockOffset(ClockOffset { ticks: 1, offset_ns: i64::MAX, error_ns: u64::MAX }),
        Definition::WindowBegin(u64::MAX),
        Definition::WindowEnd(1),
        Definition::End(EndReason::Abort(i32::MIN), u64::MAX),
        Definition::Problem(9999, u64::MAX, "?".to_owned()),
        Definition::Problem(1, u64::MAX, "?".to_owned()),
        Definition::Problem(1, u64::MAX, "?".to_owned()),
        Definition::Param("nan".to_owned(), f64::NAN),
    ];
    for one in absurd.iter().cloned().map(|one| vec![one]).chain([absurd.to_vec()]) {
        let define = |rank: u32, mut script: lbprof_simulator::scenario::RankScript| {
            for definition in one.clone().into_iter().filter(|_| rank == 1) {
                script = script.define(definition);
            }
            script.compute(1).barrier(1.0)
        };
        let header = |header: &mut lbprof_collector::format::LogHeader| {
            header.n_ranks = u32::MAX;
            header.recorded_ranks = RankList(vec![(0, 0, u32::MAX)]);
        };
        read_all(written(everything().header(0, header).each(define)).path());
    }
}
