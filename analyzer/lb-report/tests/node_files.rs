//! Runs in node files are reported as those in files of ranks, and what is wrong with node files is reported.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use lbprof_analysis::analyse::{AnalysisError, AnalysisOptions, analyse};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_collector::ProblemKind;
use lbprof_collector::format::log_name;
use lbprof_collector::node::frame::{node_name, node_rings_name};
use lbprof_simulator::nodes::into_node_files;
use lbprof_simulator::scenario::{RUN_ID, Scenario};
use lbprof_test_runs::{json, report_on, written};
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

/// Six ranks that exchange messages; rank 4 was killed with records in its ring.
fn scenario(run_id: u64) -> Scenario {
    let one = |rank: u32, script: lbprof_simulator::scenario::RankScript| {
        let script = script.define(lbprof_test_runs::usage(0, 0, 0, 0)).batch(9).repeat(12, move |_, script| {
            let right = ((rank + 1) % 6) as i32;
            let left = ((rank + 5) % 6) as i32;
            script
                .region("force", |script| script.compute(1 + rank))
                .send(right, 1, 100, 0.1)
                .recv(left, 1, 100, 0.2)
                .allreduce(8, f64::from(7 - rank))
        });
        if rank == 4 { script.kill(5) } else { script }
    };
    Scenario::ranks(6).run_id(run_id).hosts(|rank| format!("node{}", rank / 3)).each(one)
}

/// The run in files of nodes with so many ranks each.
fn in_node_files(ranks_a_node: u32) -> TempDir {
    let dir = written(scenario(RUN_ID));
    into_node_files(dir.path(), RUN_ID, ranks_a_node).unwrap();
    dir
}

/// The JSON report on the run in `dir`, without the folder's name.
fn report_in(dir: &Path) -> String {
    let run = RecordedRun::open(Some(dir)).expect("the run opens");
    let model =
        analyse(&run, &Selection::default(), &AnalysisOptions { symbols: false, ..AnalysisOptions::default() }, |_| ())
            .unwrap()
            .model;
    json(&report_on(&model)).replace(dir.to_str().unwrap(), "DIR")
}

fn problems_in(dir: &Path) -> Vec<(ProblemKind, Option<u32>, String)> {
    let run = RecordedRun::open(Some(dir)).expect("the run opens");
    run.problems.into_iter().map(|problem| (problem.kind, problem.rank, problem.detail)).collect()
}

#[test]
fn the_report_on_node_files_is_that_on_files_of_ranks() {
    let apart = report_in(written(scenario(RUN_ID)).path());
    assert!(apart.contains("NotClosed"), "rank 4 was killed");
    for ranks_a_node in [1, 3, 6] {
        assert_eq!(report_in(in_node_files(ranks_a_node).path()), apart, "{ranks_a_node} ranks a node");
    }
    // Ranks that came late have files of their own beside those of the nodes.
    let (mixed, files) = (in_node_files(3), written(scenario(RUN_ID)));
    fs::remove_file(mixed.path().join(node_name(3))).unwrap();
    fs::remove_file(mixed.path().join(node_rings_name(3))).unwrap();
    for entry in fs::read_dir(files.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if ["rank-000003", "rank-000004", "rank-000005"].iter().any(|rank| name.starts_with(rank)) {
            fs::copy(&path, mixed.path().join(name)).unwrap();
        }
    }
    assert_eq!(report_in(mixed.path()), apart, "a node and three ranks of their own");
}

#[test]
fn commands_of_a_run_take_node_files() {
    let here = tempfile::tempdir().unwrap();
    let run = |name: &str, run_id: u64| {
        scenario(run_id).write(&here.path().join(name)).unwrap();
        here.path().join(name)
    };
    let (files, nodes) = (run("run-apart", RUN_ID), run("lbprof-out", RUN_ID));
    into_node_files(&nodes, RUN_ID, 3).unwrap();
    into_node_files(&run("lbprof-out-old", 7), 7, 6).unwrap();
    scenario(8).header(0, |header| header.started_unix_s -= 100).write(&here.path().join("lbprof-out-older")).unwrap();
    let output = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("lb-report").expect("lb-report is built");
        let output = command.current_dir(here.path()).args(arguments).output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let folder = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let (files, nodes) = (folder(&files), folder(&nodes));
    for arguments in [["dump", "DIR"], ["DIR", "--json"], ["DIR", "--full"]] {
        let of = |dir: &str| {
            let (stdout, _) = output(&arguments.map(|one| if one == "DIR" { dir } else { one }));
            stdout.replace(dir, "DIR")
        };
        assert!(!of(&files).is_empty());
        assert!(of(&nodes) == of(&files), "{arguments:?}");
    }
    let (compared, _) = output(&["compare", &files, &nodes]);
    assert!(compared.contains("6 ranks"), "{compared}");
    let (_, newest) = output(&[]);
    assert!(newest.starts_with("lb-report: the newest run here is lbprof-out"), "{newest}");
    // A folder in which there is a folder with a run.
    fs::create_dir(here.path().join("outer")).unwrap();
    fs::rename(here.path().join(&nodes), here.path().join("outer").join(&nodes)).unwrap();
    assert!(output(&["outer"]).1.contains("but in outer/lbprof-out"), "{:?}", output(&["outer"]));
}

#[test]
fn a_missing_node_is_reported_by_its_ranks() {
    let dir = in_node_files(3);
    fs::remove_file(dir.path().join(node_name(3))).unwrap();
    fs::remove_file(dir.path().join(node_rings_name(3))).unwrap();
    let detail = "of 6 ranks: 3-5; all logs here are from host node0".to_owned();
    assert_eq!(problems_in(dir.path()), [(ProblemKind::MissingRank, None, detail)]);
}

#[test]
fn a_node_file_of_another_run_is_left_out() {
    let (dir, other) = (in_node_files(2), written(scenario(99)));
    into_node_files(other.path(), 99, 2).unwrap();
    fs::copy(other.path().join(node_name(2)), dir.path().join(node_name(2))).unwrap();
    let found = problems_in(dir.path());
    let kinds: Vec<_> = found.iter().map(|(kind, rank, _)| (*kind, *rank)).collect();
    let other = |rank| (ProblemKind::OtherRun, Some(rank));
    assert_eq!(kinds, [other(2), other(3), (ProblemKind::MissingRank, None)], "{found:?}");
    // Beside the run's own, under another name.
    let both = in_node_files(2);
    fs::copy(dir.path().join(node_name(2)), both.path().join(node_name(1))).unwrap();
    let kinds: Vec<_> = problems_in(both.path()).into_iter().map(|(kind, rank, _)| (kind, rank)).collect();
    assert_eq!(kinds, [other(2), other(3)]);
    let values = |dir: &Path| {
        let mut report: Value = serde_json::from_str(&report_in(dir)).unwrap();
        report["run"]["problems"].take();
        report
    };
    assert_eq!(values(both.path())["efficiency"], values(in_node_files(2).path())["efficiency"]);
}

#[test]
fn a_rank_that_is_there_twice_counts_once() {
    let (dir, files) = (in_node_files(3), written(scenario(RUN_ID)));
    fs::copy(files.path().join(log_name(1)), dir.path().join(log_name(1))).unwrap();
    let detail = "it is in node-000000.lbp, which was read, and in rank-000001.lbp".to_owned();
    assert_eq!(problems_in(dir.path()), [(ProblemKind::LogTwice, Some(1), detail)]);
    // A log of another run is none of its.
    let other = written(scenario(5));
    fs::copy(other.path().join(log_name(1)), dir.path().join(log_name(1))).unwrap();
    let detail = "another run of ./scenario".to_owned();
    assert_eq!(problems_in(dir.path()), [(ProblemKind::OtherRun, Some(1), detail)]);
    let run = RecordedRun::open(Some(dir.path())).unwrap();
    assert!(run.headers.iter().all(|header| run.log(header).unwrap().header().run_id == RUN_ID));
}

#[test]
fn a_rank_beyond_the_job_is_left_out() {
    let dir = written(scenario(RUN_ID).header(5, |header| header.rank = 9).header(5, |header| header.n_ranks = 6));
    into_node_files(dir.path(), RUN_ID, 10).unwrap();
    let found = problems_in(dir.path());
    let detail = "node-000000.lbp has a log of rank 9, but the run has 6 ranks".to_owned();
    assert_eq!(found[0], (ProblemKind::OtherRun, Some(9), detail));
    assert_eq!(found[1].0, ProblemKind::MissingRank);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(40)))]

    #[test]
    fn a_node_file_cut_anywhere_is_a_report_that_says_so(part in 0.0..1.0_f64) {
        let dir = in_node_files(6);
        let path = dir.path().join(node_name(0));
        let bytes = fs::read(&path).unwrap();
        let length = (bytes.len() as f64 * part) as usize;
        fs::write(&path, &bytes[..length]).unwrap();
        let Ok(run) = RecordedRun::open(Some(dir.path())) else { return Ok(()) };
        let options = AnalysisOptions { symbols: false, ..AnalysisOptions::default() };
        let model = match analyse(&run, &Selection::default(), &options, |_| ()) {
            Ok(analysis) => analysis.model,
            Err(AnalysisError::NoRecords { .. }) => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        let report = report_on(&model);
        let serious = |kind: &str| ["MissingRank", "EndMissing", "Truncated", "Gap", "Damaged"].contains(&kind);
        let whole: Value = serde_json::from_str(&report_in(in_node_files(6).path())).unwrap();
        let found: Value = serde_json::from_str(&json(&report)).unwrap();
        let kinds = found["run"]["problems"].as_array().unwrap();
        let is_said = kinds.iter().any(|problem| serious(problem["kind"].as_str().unwrap()));
        prop_assert!(is_said || found["efficiency"] == whole["efficiency"], "cut at {length}: {kinds:?}");
    }
}
