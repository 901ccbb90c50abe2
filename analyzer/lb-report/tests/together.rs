//! Several processes that analyse a run together report what one process reports, byte for byte; where one of them fails, all end and say why.
//!
//! The processes are threads here; tests/real_programs/distributed.rs has real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lbprof_analysis::analyse::{AnalysisError, AnalysisOptions, PassRunner, ProcessFailure, analyse_run};
use lbprof_analysis::distributed::{DistributedOpenError, LeaderProcess, ProcessGroup, in_threads, serve_leader};
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_analysis::views::TimelineView;
use lbprof_collector::Operation;
use lbprof_collector::format::log_name;
use lbprof_collector::polling::PollGapRule;
use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::{Report, json};
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;
use lbprof_simulator::summaries::sum_up;
use lbprof_test_runs::written;
use proptest::prelude::*;
use tempfile::TempDir;

const PROCESSES: [usize; 5] = [1, 2, 3, 4, 8];

/// Steps of all ranks in a segment of the third pass: some segments in the runs below.
const SEGMENT_STEPS: usize = 60;

#[derive(Clone, Default)]
struct RunRequest {
    selection: Selection,
    polling: PollGapRule,
    /// Whether ranks' summaries are read in place of their events; there is no replay then.
    first_look: bool,
    /// Steps of all ranks in a segment of the third pass, if not [`SEGMENT_STEPS`].
    segment_steps: Option<usize>,
    /// Iterations of all ranks together above which they are joined, if not as many as usual.
    most_iterations: Option<usize>,
}

#[derive(Debug, PartialEq)]
struct RunOutput {
    /// The JSON report, with all rows.
    json: String,
    /// What the page shows beside that.
    watched: Option<TimelineView>,
    /// In how many segments the run was followed.
    segments: usize,
}

/// What is found of a part of `run`; why nothing is.
fn report(run: RecordedRun, passes: PassRunner, wanted: &RunRequest) -> Result<RunOutput, AnalysisError> {
    let RunRequest { selection, polling, first_look, segment_steps, most_iterations } = wanted;
    let run = if *first_look { run.first_look() } else { run };
    let (run, asked) = (run.polling(*polling), (!first_look).then(Vec::new));
    let segment_steps = segment_steps.or(Some(SEGMENT_STEPS));
    let default = AnalysisOptions::default();
    let most_iterations = most_iterations.unwrap_or(default.most_iterations);
    let options =
        AnalysisOptions { symbols: false, asked, watch: true, segment_steps, most_iterations, passes, ..default };
    let analysis = analyse_run(&run, selection, &options, |_| ())?;
    let mut bytes = Vec::new();
    json::write_report_json(&Report::new(&analysis.model, &analysis.names), &ListBounds::ALL, &mut bytes)
        .expect("writing to memory");
    let json = String::from_utf8(bytes).expect("JSON is UTF-8");
    let segments = analysis.model.followed.map_or(0, |followed| followed.segments);
    Ok(RunOutput { json, watched: analysis.watched, segments })
}

fn alone(dir: &Path, wanted: &RunRequest) -> Result<RunOutput, String> {
    let run = RecordedRun::open(Some(dir)).map_err(|error| error.to_string())?;
    report(run, PassRunner::default(), wanted).map_err(|error| error.to_string())
}

fn together(n: usize, dir: &Path, wanted: &RunRequest) -> Result<RunOutput, String> {
    let follow = |team: ProcessGroup| serve_leader(&team, || ()).expect("process 0 ends the work");
    in_threads(n, |team| lead(team, dir, wanted), follow).map_err(|error| error.to_string())
}

fn lead(team: ProcessGroup, dir: &Path, wanted: &RunRequest) -> Result<RunOutput, anyhow::Error> {
    let leader = Arc::new(LeaderProcess::new(team));
    let done = leader.open(dir).map_err(|error| match error {
        DistributedOpenError::Run(error) => error.into(),
        DistributedOpenError::Failure(failure) => failure.into(),
    });
    let done = done.and_then(|run| Ok(report(run, leader.passes(), wanted)?));
    leader.end()?;
    done
}

#[track_caller]
fn assert_same(dir: &Path, wanted: &RunRequest) {
    assert_same_by(&PROCESSES, dir, wanted);
}

#[track_caller]
fn assert_same_by(processes: &[usize], dir: &Path, wanted: &RunRequest) {
    let expected = alone(dir, wanted);
    for &n in processes {
        let found = together(n, dir, wanted);
        assert!(found == expected, "{n} processes, {}:\n{}", dir.display(), difference(&found, &expected));
    }
}

fn difference(found: &Result<RunOutput, String>, expected: &Result<RunOutput, String>) -> String {
    let (Ok(found), Ok(expected)) = (found, expected) else {
        let why = |one: &Result<RunOutput, String>| one.as_ref().map(|_| "a report").map_err(String::clone);
        return format!("{:?}\n{:?}", why(found), why(expected));
    };
    let mut parts = found.json.split(',').zip(expected.json.split(','));
    match parts.find(|(found, expected)| found != expected) {
        Some(different) => format!("{different:?}"),
        None => format!("{} and {} segments, or the page's data", found.segments, expected.segments),
    }
}

fn all() -> RunRequest {
    RunRequest::default()
}

/// Ranks on hosts of three that exchange messages in found and marked phases, two threads each, sampled; one was killed.
fn scenario(n: u32) -> Scenario {
    let one = move |rank: u32, script: RankScript| {
        let script = script.define(lbprof_test_runs::usage(0, 0, 0, 0)).param("cells", 7.0).sampled(1000).batch(7);
        let script = script.repeat(12, move |at, script| {
            let (right, left) = (((rank + 1) % n) as i32, ((rank + n - 1) % n) as i32);
            script
                .region(if rank.is_multiple_of(2) { "even" } else { "odd" }, |script| {
                    script.compute_in(&format!("work_{}", rank % 3), 1 + rank % 4 + at % 2).count("flops", 5 + rank)
                })
                .at("exchange")
                .send(right, 1, 100 * u64::from(rank), 0.1)
                .recv(left, 1, 100 * u64::from((rank + n - 1) % n), 0.2)
                .at("sum")
                .allreduce(8, f64::from(7 - rank % 5))
        });
        if rank == 4 { script.kill(5) } else { script }
    };
    Scenario::ranks(n).hosts(|rank| format!("node{}", rank / 3)).each(one)
}

/// Renames ranks within a folder of their own files.
fn renamed(dir: &Path, from: u32, to: u32) {
    fs::rename(dir.join(log_name(from)), dir.join(log_name(to))).unwrap();
}

#[test]
fn runs_in_profile_mode_are_reported_as_by_one_process() {
    assert_same(written(scenario(7).profile_mode()).path(), &all());
}

#[test]
fn so_is_a_first_look_from_summaries_and_the_events_of_a_rank_without() {
    let dir = written(scenario(7));
    assert_eq!(sum_up(dir.path(), 4096).unwrap(), 6, "rank 4 was killed");
    let first_look = RunRequest { first_look: true, ..all() };
    assert_same(dir.path(), &first_look);
    let report: serde_json::Value = serde_json::from_str(&alone(dir.path(), &first_look).unwrap().json).unwrap();
    let summary = &report["run"]["summary"];
    assert_eq!((&summary["ranks_from_summaries"], &summary["ranks_from_events"]), (&6.into(), &1.into()));
}

#[test]
fn runs_are_reported_as_by_one_process() {
    assert_same(written(scenario(9)).path(), &all());
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn ranks_are_followed_by_all_processes() {
    let dir = tempfile::tempdir().unwrap();
    // Always something is in transit where all meet in the rounds before the last.
    for (kinds, segments) in [(0..8, 20), (0..6, 20), (8..9, 1)] {
        let kinds: Vec<(u8, u32)> = (0..120).map(|i| (kinds.start + i as u8 % kinds.len() as u8, 7919 * i)).collect();
        Script::rounds(&kinds).write(dir.path()).unwrap();
        let found = alone(dir.path(), &all()).unwrap().segments;
        assert!(found >= segments, "{found}");
        assert_same_by(&[1, 2, 3, 5, 11], dir.path(), &all());
    }
}

#[test]
fn ranks_that_do_all_at_the_same_time_are_followed_in_the_same_order() {
    let one = |rank: u32, script: RankScript| {
        script.repeat(1500, move |at, script| {
            let (right, left) = (((rank + 1) % 6) as i32, ((rank + 5) % 6) as i32);
            let more = f64::from((7 * rank + 3 * at) % 11) / 1e3;
            let script = script.compute(0.1).call(Operation::Buffer_flush, 0.07 + more, |_| ()).compute(0.03 - more);
            script.send(right, 1, 100, 0.07).recv(left, 1, 100, 0.013).compute(0.07).allreduce(8, 0.0171)
        })
    };
    let dir = written(Scenario::ranks(6).each(one));
    let several = RunRequest { segment_steps: Some(6 * 700), ..all() };
    assert!(alone(dir.path(), &several).unwrap().segments > 5);
    assert_same_by(&[2, 3, 4], dir.path(), &several);
}

#[test]
fn where_a_rank_ends_early_the_rest_is_followed_in_the_same_order() {
    let one = |rank: u32, script: RankScript| {
        let script = script.repeat(1500, move |at, script| {
            let more = f64::from((7 * rank + 3 * at) % 11) / 1e3;
            let script = script.compute(0.1).call(Operation::Buffer_flush, 0.07 + more, |_| ()).compute(0.03 - more);
            script.allreduce(8, 0.0171)
        });
        if rank == 3 { script.kill(1000) } else { script }
    };
    let dir = written(Scenario::ranks(6).each(one));
    let several = RunRequest { segment_steps: Some(6 * 150), ..all() };
    assert!(alone(dir.path(), &several).unwrap().segments > 3);
    assert_same_by(&[2, 3, 5, 8], dir.path(), &several);
}

/// Ranks that pass 40 marked iterations, in each of which another one computes longest; the last rank passes 80 more by itself.
fn iterated(n: u32) -> Scenario {
    Scenario::ranks(n).each(move |rank, script| {
        let script = script.repeat(40, move |at, script| {
            let (work, rest) = (1.0 + f64::from(at % n == rank) / 3.0, f64::from(rank + 1) / 7.0);
            script.iteration("step", |script| {
                script.region("work", |script| script.compute(work)).compute(rest).allreduce(8, 4.0 - work - rest)
            })
        });
        if rank == n - 1 {
            script.repeat(80, |_, script| script.iteration("step", |script| script.compute(0.7)))
        } else {
            script
        }
    })
}

#[test]
fn iterations_that_are_joined_are_joined_alike_by_all_processes() {
    let dir = written(iterated(6));
    // 16 of each rank: the last one's 120 need blocks of 8, the others' 40 of 4.
    let joined = RunRequest { most_iterations: Some(6 * 16), ..all() };
    let found = alone(dir.path(), &joined).unwrap();
    assert!(found.json.contains("blocks of 8 iterations of main/step"), "{}", found.json);
    assert_same(dir.path(), &joined);
}

#[test]
fn what_is_known_of_all_ranks_stays_exact_when_iterations_are_joined() {
    let dir = written(iterated(6));
    let [each, joined] = [None, Some(6 * 16)].map(|most_iterations| {
        let found = alone(dir.path(), &RunRequest { most_iterations, ..all() }).unwrap();
        serde_json::from_str::<serde_json::Value>(&found.json).unwrap()
    });
    for part in ["/iterations", "/efficiency", "/regions", "/ranks", "/windows"] {
        let [each, joined] = [&each, &joined].map(|report| report.pointer(part).cloned().unwrap_or_default());
        assert!(!each.is_null(), "{part}");
        assert_eq!(rounded(each), rounded(joined), "{part}");
    }
    let problems = |report: &serde_json::Value| report["run"]["problems"].to_string().contains("IterationsJoined");
    assert!(!problems(&each) && problems(&joined));
}

/// A value with its numbers to ten digits: sums in another order differ in the last ones.
fn rounded(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => format!("{:.10e}", number.as_f64().unwrap_or(f64::NAN)).into(),
        serde_json::Value::Array(all) => all.into_iter().map(rounded).collect(),
        serde_json::Value::Object(all) => all.into_iter().map(|(key, one)| (key, rounded(one))).collect(),
        other => other,
    }
}

#[test]
fn code_that_makes_others_wait_is_found_by_all_processes() {
    let one = |rank: u32, script: RankScript| {
        script.sampled(1000).repeat(60, move |at, script| {
            let ms = 1 + (rank + at) % 4;
            script.compute_in(&format!("work_{}", rank % 3), ms).at("sum").allreduce(8, f64::from(6 - ms))
        })
    };
    let dir = written(Scenario::ranks(5).each(one));
    let RunOutput { json, segments, .. } = alone(dir.path(), &all()).unwrap();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(segments > 4, "{segments}");
    assert!(report["functions"]["delaying_ranks"].as_array().is_some_and(|ranks| !ranks.is_empty()), "{report:#}");
    assert_same_by(&[2, 3, 4, 8], dir.path(), &all());
}

#[test]
fn parts_of_runs_are_reported_as_by_one_process() {
    let dir = written(scenario(9));
    let ranks = |list: &str| Selection { ranks: Some(list.parse().unwrap()), ..Selection::default() };
    let moment = |text: &str| Some(text.parse().unwrap());
    for selection in [
        ranks("2-5"),
        ranks("0,8"),
        ranks("host=node1"),
        Selection { from: moment("20ms"), to: moment("60ms"), ..Selection::default() },
        Selection { from: moment("iteration=3"), ..ranks("1-7") },
        Selection { region: Some("even".to_owned()), ..Selection::default() },
        ranks("17"),
    ] {
        assert_same_by(&[3, 4], dir.path(), &RunRequest { selection, ..all() });
    }
    assert!(alone(dir.path(), &RunRequest { selection: ranks("17"), ..all() }).is_err(), "there is no such rank");
    assert_same(dir.path(), &RunRequest { polling: PollGapRule::Waiting, ..all() });
}

#[test]
#[ignore = "takes long: scripts/test --all"]
fn incomplete_and_damaged_runs_are_reported_as_by_one_process() {
    let cases: [&dyn Fn(&Path); 6] = [
        &|dir| fs::remove_file(dir.join(log_name(0))).unwrap(),
        &|dir| fs::remove_file(dir.join(log_name(6))).unwrap(),
        &|dir| fs::write(dir.join(log_name(5)), b"").unwrap(),
        &|dir| fs::write(dir.join(log_name(2)), b"no log at all, but long enough for a header of one").unwrap(),
        &|dir| {
            fs::remove_file(dir.join(log_name(8))).unwrap();
            renamed(dir, 2, 8);
        },
        &|dir| {
            let other = written(scenario(9).run_id(77));
            for name in (0..3).map(log_name) {
                fs::copy(other.path().join(&name), dir.join(&name)).unwrap();
            }
        },
    ];
    for damage in cases {
        let dir = written(scenario(9));
        damage(dir.path());
        assert_same_by(&[3, 8], dir.path(), &all());
    }
    // Cut and overwritten at places of chance, which are the same each time.
    for at in 0..8_usize {
        let dir = written(scenario(9));
        let mut files: Vec<PathBuf> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for (number, path) in files.iter().enumerate().filter(|(number, _)| number % 3 == at % 3) {
            let mut bytes = fs::read(path).unwrap();
            let place = (7919 * (at + 1) * (number + 3)) % bytes.len();
            match at % 4 {
                0 | 1 => bytes.truncate(place),
                _ => bytes[place] ^= 0x55,
            }
            fs::write(path, bytes).unwrap();
        }
        assert_same_by(&[2 + at % 3], dir.path(), &all());
    }
}

#[test]
fn what_is_no_run_is_refused_as_by_one_process() {
    let empty = tempfile::tempdir().unwrap();
    assert_same(empty.path(), &all());
    assert_same(&empty.path().join("missing"), &all());
    fs::write(empty.path().join(log_name(3)), b"").unwrap();
    assert_same(empty.path(), &all());
    assert!(alone(empty.path(), &all()).is_err());
}

#[test]
fn profiles_are_reported_as_by_one_process() {
    let run = || {
        Scenario::ranks(5)
            .profile_mode()
            .each(|rank, script| script.repeat(9, move |_, script| script.compute(1 + rank).barrier(0.5)))
    };
    assert_same(written(run()).path(), &all());
}

/// What process 0 reports where the others do `follow`.
fn led(n: usize, dir: &Path, follow: impl Fn(ProcessGroup) + Sync) -> Result<RunOutput, ProcessFailure> {
    in_threads(n, |team| lead(team, dir, &all()), follow).map_err(|error| {
        let of_analysis = |error: &AnalysisError| match error {
            AnalysisError::Failure(failure) => Some(failure.clone()),
            AnalysisError::Selection(_) | AnalysisError::NoRecords { .. } => None,
        };
        let failure = error.downcast_ref::<ProcessFailure>().cloned();
        failure.or_else(|| error.downcast_ref().and_then(of_analysis)).unwrap_or_else(|| panic!("{error:#}"))
    })
}

fn run_of_nine() -> TempDir {
    written(scenario(9))
}

#[test]
fn a_folder_that_is_another_one_elsewhere_ends_all() {
    let dir = run_of_nine();
    let missing = dir.path().join(log_name(6));
    let failure = led(3, dir.path(), |team| {
        let last = team.process() == 2;
        let _ = serve_leader(&team, || {
            if last {
                fs::remove_file(&missing).unwrap()
            }
        });
    });
    let failure = failure.unwrap_err();
    assert_eq!(failure.process, 2);
    assert!(failure.what.contains("rank-000006.lbp") && failure.what.contains("all nodes share"), "{failure}");
}

#[test]
fn a_panic_in_a_process_ends_all() {
    let dir = run_of_nine();
    let failure = led(4, dir.path(), |team| {
        let third = team.process() == 2;
        let _ = serve_leader(&team, || assert!(!third, "out of luck"));
    });
    assert_eq!(
        failure.map(|_| ()),
        Err(ProcessFailure { process: 2, what: "a mistake in lbprof: out of luck".to_owned() })
    );
}

#[test]
fn a_process_that_is_gone_ends_all() {
    let dir = run_of_nine();
    let failure = led(4, dir.path(), |team| {
        if team.process() != 3 {
            let _ = serve_leader(&team, || ());
        }
    });
    assert!(failure.unwrap_err().what.contains("ended before"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(3).min(8), ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes long: scripts/test --all"]
    fn so_are_rounds_of_chance(kinds in prop::collection::vec((0_u8..14, any::<u32>()), 5..120), n in 2_usize..7) {
        let dir = tempfile::tempdir().unwrap();
        Script::rounds(&kinds).write(dir.path()).unwrap();
        assert_same_by(&[n], dir.path(), &all());
    }

    #[test]
    fn scripts_of_chance_are_reported_as_by_one_process(seed: u64, size in 1u32..20) {
        let dir = tempfile::tempdir().unwrap();
        Script::random(seed, size).write(dir.path()).unwrap();
        assert_same_by(&[3, 8], dir.path(), &all());
    }
}
