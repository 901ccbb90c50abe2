//! A first look from what logs end with: its figures are those of the analysis of all events, and what contradicts these is reported.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lbprof_analysis::analyse::{AnalysisOptions, analyse_run};
use lbprof_analysis::model::Model;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::select::Selection;
use lbprof_collector::ProblemKind;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::{BlockHead, BlockKind, log_name};
use lbprof_collector::index::{self, IndexEntry, LogIndex};
use lbprof_collector::reader::{LogItem, LogReader};
use lbprof_collector::summary::ThreadSummary;
use lbprof_collector::writer::LogWriter;
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_simulator::script::Script;
use lbprof_simulator::summaries::{sum_up, summed_up};
use lbprof_test_runs::{json, marked, report_on, written};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::stdout_of;

/// Iterations that summaries keep, where a test is about something else.
const MANY: usize = 4096;

fn model_of(dir: &Path, is_first_look: bool) -> Model {
    let run = RecordedRun::open(Some(dir)).expect("the run opens");
    let run = if is_first_look { run.first_look() } else { run };
    let mut model = analyse_run(
        &run,
        &Selection::default(),
        &AnalysisOptions { asked: None, statistics: false, ..marked() },
        |_| (),
    )
    .unwrap()
    .model;
    // What functions compute, and so why a rank computes longer, events alone show.
    model.ranks.iter_mut().for_each(|rank| rank.samples = Default::default());
    model.lines.clear();
    model
}

/// Returns the report as JSON, without the parts that a first look lacks.
fn figures(model: &Model) -> Value {
    let mut all: Value = serde_json::from_str(&json(&report_on(model))).unwrap();
    all["run"]["summary"].take();
    // Only events show when one rank works alone, without which the parts of waiting are others.
    all["overheads"]["imbalance"].take();
    all["overheads"]["alone"].take();
    all
}

fn problems(model: &Model) -> BTreeSet<(ProblemKind, Option<u32>)> {
    model.problems.iter().map(|problem| (problem.kind, problem.rank)).collect()
}

fn without_problems(mut all: Value) -> Value {
    all["run"]["problems"].take();
    all["run"]["details"].take();
    all
}

/// Three ranks with all that a summary holds: regions, iterations, counters, work, memory, other threads, pauses, polls that found nothing.
fn rich() -> Scenario {
    let one = |rank: u32, script: RankScript| {
        script.define(lbprof_test_runs::usage(0, 0, 0, 0)).batch(7).count("cells", rank).param("n", 3.0).repeat(
            20,
            move |step, script| {
                let script = script.iteration("step", move |script| {
                    script
                        .region("force", |script| {
                            script.compute(1 + rank + step % 3).work(1000.0, 10.0).memory(1 << 20, 0)
                        })
                        .region("exchange", move |script| {
                            script.send(((rank + 1) % 3) as i32, 1, 100, 0.1).recv(((rank + 2) % 3) as i32, 1, 100, 0.2)
                        })
                        .allreduce(8, f64::from(7 - rank))
                });
                let script = if step == 4 { script.paused(|script| script.compute(2)) } else { script };
                script.thread(1, |script| script.compute(0.5).barrier(0.1))
            },
        )
    };
    Scenario::ranks(3).each(one)
}

fn with_summaries(scenario: Scenario, most_iterations: usize) -> TempDir {
    let dir = written(scenario);
    assert!(sum_up(dir.path(), most_iterations).unwrap() > 0);
    dir
}

/// Asserts that two documents are equal. Fails at the first difference.
fn same(one: &Value, other: &Value, place: String) {
    match (one, other) {
        (Value::Object(ones), Value::Object(others)) => {
            let keys: BTreeSet<&String> = ones.keys().chain(others.keys()).collect();
            keys.into_iter().for_each(|key| same(&one[key], &other[key], format!("{place}.{key}")));
        }
        (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => {
            let pairs = ones.iter().zip(others).enumerate();
            pairs.for_each(|(at, (one, other))| same(one, other, format!("{place}[{at}]")));
        }
        _ => assert_eq!(one, other, "{place}"),
    }
}

/// Asserts that both ways give the same figures, and returns how many summaries were used.
fn agrees(dir: &Path) -> u32 {
    let (look, full) = (model_of(dir, true), model_of(dir, false));
    assert_eq!(problems(&look), problems(&full), "{}", dir.display());
    same(&figures(&look), &figures(&full), dir.display().to_string());
    let facts = look.facts.summary.expect("it is a first look");
    assert_eq!(facts.ranks_from_summaries + facts.ranks_from_events, look.ranks.len() as u32);
    facts.ranks_from_summaries
}

#[test]
fn the_figures_of_a_first_look_are_those_of_all_events() {
    let dir = with_summaries(rich(), MANY);
    assert_eq!(agrees(dir.path()), 3);
    assert_eq!(agrees(with_summaries(rich().profile_mode(), MANY).path()), 3);
    // Without any summary the events are added up.
    assert_eq!(agrees(written(rich()).path()), 0);
}

#[test]
fn so_are_those_of_runs_of_chance() {
    for seed in 0..24 {
        let dir = tempfile::tempdir().unwrap();
        Script::random(seed, 12).write(dir.path()).unwrap();
        sum_up(dir.path(), MANY).unwrap();
        assert!(agrees(dir.path()) > 0, "seed {seed}");
    }
}

#[test]
fn ranks_that_did_not_end_are_looked_at_by_their_events() {
    let scenario = |rank: u32, script: RankScript| {
        let script =
            script.batch(9).repeat(12, |_, script| script.region("force", |script| script.compute(2)).barrier(1));
        if rank == 1 { script.kill(5) } else { script }
    };
    let dir = with_summaries(Scenario::ranks(3).each(scenario), MANY);
    assert_eq!(agrees(dir.path()), 2);
}

#[test]
fn without_iterations_of_a_rank_nothing_is_said_by_iteration() {
    let dir = with_summaries(rich(), 4);
    let (look, full) = (model_of(dir.path(), true), model_of(dir.path(), false));
    assert_eq!(look.facts.summary.unwrap().ranks_without_iterations, 3);
    let [mut look, mut full] = [look, full].map(|model| figures(&model));
    assert_eq!(look["efficiency"]["micro_load_balance"], Value::Null);
    assert!(full["efficiency"]["micro_load_balance"].is_number());
    for name in ["load_balance", "parallel", "max_computation_s", "avg_computation_s"] {
        assert_eq!(look["efficiency"][name], full["efficiency"][name], "{name}");
    }
    assert_eq!(look["activities"].take(), full["activities"].take());
    assert_eq!(look["call_sites"].take(), full["call_sites"].take());
}

fn log_and_index(dir: &Path) -> (PathBuf, Vec<u8>, Vec<IndexEntry>) {
    let path = dir.join(log_name(0));
    let mut log = fs::read(&path).unwrap();
    let place = u64::from_le_bytes(log[log.len() - 16..log.len() - 8].try_into().unwrap()) as usize;
    log.truncate(place);
    (path, log, RunFolder::list(dir).unwrap().index(0).unwrap().unwrap())
}

fn end_with(log: &mut Vec<u8>, entries: &[IndexEntry]) {
    let mut index = LogIndex::default();
    for &IndexEntry { kind, place, bytes, ref contents } in entries {
        index.add(kind, place, bytes, contents);
    }
    let plain = index.encoded().unwrap().to_vec();
    let payload = [&plain[..], &index::index_tail(log.len() as u64)].concat();
    let (stored, plain) = (payload.len() as u32, plain.len() as u32);
    let head = BlockHead { kind: BlockKind::Index as u8, stored, frame: 0, plain, crc: 0 };
    let head = BlockHead { crc: head.checksum(&payload), ..head };
    log.extend(head.to_bytes());
    log.extend(payload);
}

/// Asserts that the damage at rank 0's end is reported, and that the figures come from its events.
fn is_reported(dir: &Path, truth: &Value, what: &str) {
    for is_first_look in [true, false] {
        let model = model_of(dir, is_first_look);
        assert!(problems(&model).contains(&(ProblemKind::SummaryWrong, Some(0))), "{what}: {:?}", model.problems);
        same(&without_problems(figures(&model)), truth, what.to_owned());
    }
}

#[test]
fn an_index_that_lies_is_reported() {
    let dir = with_summaries(rich(), MANY);
    let truth = without_problems(figures(&model_of(dir.path(), false)));
    let (path, log, entries) = log_and_index(dir.path());
    let mut same = log.clone();
    end_with(&mut same, &entries);
    fs::write(&path, &same).unwrap();
    assert_eq!(agrees(dir.path()), 3);
    let batch = entries.iter().position(|entry| entry.kind == BlockKind::Records as u8).unwrap();
    type Lie = fn(&mut IndexEntry);
    let changes: [(&str, Lie); 10] = [
        ("a place", |entry| entry.place += 1),
        ("an overlap", |entry| entry.place -= 5),
        ("a size", |entry| entry.bytes += 7),
        ("a size of nothing", |entry| entry.bytes = 0),
        ("an absurd size", |entry| entry.bytes = u64::MAX / 2),
        ("a number of records", |entry| entry.contents.records += 1),
        ("an absurd number of records", |entry| entry.contents.records = 1 << 50),
        ("a thread", |entry| entry.contents.thread = 5),
        ("a kind", |entry| entry.kind = BlockKind::Definitions as u8),
        ("a time", |entry| entry.contents.begin += 1),
    ];
    for (what, change) in changes {
        let (mut log, mut entries) = (log.clone(), entries.clone());
        change(&mut entries[batch]);
        end_with(&mut log, &entries);
        fs::write(&path, &log).unwrap();
        is_reported(dir.path(), &truth, what);
    }
    let (mut shorter, mut other) = (log.clone(), log.clone());
    end_with(&mut shorter, &entries[1..]);
    end_with(&mut other, &[]);
    for (what, log) in [("a block less", shorter), ("no block", other)] {
        fs::write(&path, &log).unwrap();
        is_reported(dir.path(), &truth, what);
    }
}

fn with_other_summaries(log: &[u8], change: impl Fn(&mut Vec<ThreadSummary>)) -> Vec<u8> {
    let mut reader = LogReader::new(log).unwrap();
    let mut writer = LogWriter::new(Vec::new(), reader.header()).unwrap();
    let mut summaries = Vec::new();
    while let Some(item) = reader.next_item() {
        match item {
            LogItem::Definitions(definitions) => writer.definitions(&definitions).unwrap(),
            LogItem::Records { head, records } => writer.records(&head, &records, |record| record.call_site).unwrap(),
            LogItem::Summary(summary) => summaries.push(*summary),
            item => panic!("{item:?}"),
        }
    }
    change(&mut summaries);
    summaries.iter().for_each(|summary| writer.summary(summary).unwrap());
    writer.index().unwrap();
    writer.into_sink()
}

#[test]
fn a_summary_that_contradicts_the_index_is_reported() {
    let dir = with_summaries(rich(), MANY);
    let truth = without_problems(figures(&model_of(dir.path(), false)));
    let path = dir.path().join(log_name(0));
    let [log, other] = [0, 1].map(|rank| fs::read(dir.path().join(log_name(rank))).unwrap());
    let mut of_other = Vec::new();
    with_other_summaries(&other, |summaries| assert_eq!(summaries.len(), 2));
    let mut reader = LogReader::new(other.as_slice()).unwrap();
    while let Some(item) = reader.next_item() {
        if let LogItem::Summary(summary) = item {
            of_other.push(*summary);
        }
    }
    type Change<'a> = &'a dyn Fn(&mut Vec<ThreadSummary>);
    let changes: [(&str, Change); 5] = [
        ("too few records", &|summaries| summaries[0].batch.profile.records -= 1),
        ("another time", &|summaries| summaries[0].batch.next.previous_end += 1),
        ("no summary of a thread", &|summaries| drop(summaries.remove(1))),
        ("two of a thread", &|summaries| summaries.push(summaries[0].clone())),
        ("those of another rank", &|summaries| summaries.clone_from(&of_other)),
    ];
    for (what, change) in changes {
        fs::write(&path, with_other_summaries(&log, change)).unwrap();
        let model = model_of(dir.path(), true);
        assert!(problems(&model).contains(&(ProblemKind::SummaryWrong, Some(0))), "{what}: {:?}", model.problems);
        same(&without_problems(figures(&model)), &truth, what.to_owned());
    }
}

#[test]
fn an_end_that_is_damaged_or_cut_off_gives_no_wrong_figure() {
    let dir = with_summaries(rich(), MANY);
    let truth = without_problems(figures(&model_of(dir.path(), false)));
    let path = dir.path().join(log_name(0));
    let log = fs::read(&path).unwrap();
    let (_, before_index, entries) = log_and_index(dir.path());
    let summary = entries.iter().find(|entry| entry.kind == BlockKind::Summary as u8).unwrap().place as usize;
    for at in (summary..log.len()).step_by(23).chain(log.len() - 16..log.len()) {
        let mut damaged = log.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let look = model_of(dir.path(), true);
        assert_eq!(without_problems(figures(&look))["ranks"], truth["ranks"], "byte {at}");
        let is_said = |kind| problems(&look).contains(&(kind, Some(0)));
        assert!(is_said(ProblemKind::Damaged) || is_said(ProblemKind::SummaryWrong), "byte {at}: {:?}", look.problems);
    }
    for length in (summary..log.len()).step_by(37) {
        fs::write(&path, &log[..length]).unwrap();
        let look = model_of(dir.path(), true);
        assert_eq!(without_problems(figures(&look))["ranks"], truth["ranks"], "cut at byte {length}");
        assert_eq!(look.facts.summary.unwrap().ranks_from_summaries, 2);
    }
    assert!(before_index.len() > summary);
}

#[test]
fn a_summary_of_another_run_is_left_out_with_its_log() {
    let dir = with_summaries(rich(), MANY);
    let other = with_summaries(rich().run_id(77), MANY);
    fs::copy(other.path().join(log_name(2)), dir.path().join(log_name(2))).unwrap();
    let look = model_of(dir.path(), true);
    assert!(problems(&look).contains(&(ProblemKind::OtherRun, Some(2))), "{:?}", look.problems);
    assert_eq!(look.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(agrees(dir.path()), 2);
}

#[test]
fn what_is_added_after_the_index_counts() {
    use lbprof_collector::Definition;
    use lbprof_collector::writer::block_of;
    let dir = with_summaries(rich(), MANY);
    let path = dir.path().join(log_name(1));
    let mut log = fs::read(&path).unwrap();
    let mut memory = [0; 64];
    let length = block_of(&Definition::ExitStatus(7), &mut memory).unwrap();
    log.extend(&memory[..length]);
    fs::write(&path, &log).unwrap();
    assert_eq!(agrees(dir.path()), 3);
    assert_eq!(model_of(dir.path(), true).ranks[1].exit_status, Some(7));
    // Summing it up again leaves nothing out.
    assert!(summed_up(&log, MANY).unwrap().is_some());
}

fn text_and_json(dir: &Path, arguments: &[&str]) -> (String, Value) {
    let run = |more: &[&str]| stdout_of(dir, &[&["."], arguments, more].concat(), 0);
    (run(&[]), serde_json::from_str(&run(&["--json"])).unwrap())
}

#[test]
fn lb_report_says_that_it_took_a_first_look_and_how_to_get_more() {
    let dir = with_summaries(rich(), MANY);
    let (text, document) = text_and_json(dir.path(), &["--summary"]);
    assert!(text.contains("First look: from the summaries of 3 ranks. Not analysed:"), "{text}");
    let summary = &document["run"]["summary"];
    assert_eq!((&summary["asked"], &summary["ranks_from_summaries"]), (&true.into(), &3.into()));
    assert_eq!((&document["blocking"], &document["functions"]), (&Value::Null, &Value::Null));
    let (text, document) = text_and_json(dir.path(), &[]);
    assert!(!text.contains("First look"), "{text}");
    assert_eq!(document["run"]["summary"], Value::Null);
    assert!(document["blocking"].is_object());

    // As many records as no analysis gets done with in a minute: what the index states decides, right or wrong.
    let (path, mut log, mut entries) = log_and_index(dir.path());
    let batch = entries.iter().position(|entry| entry.kind == BlockKind::Records as u8).unwrap();
    entries[batch].contents.records = 300_000_000;
    end_with(&mut log, &entries);
    fs::write(&path, &log).unwrap();
    let (text, document) = text_and_json(dir.path(), &[]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("records would take about 75 s; --summary=no makes it."), "{text}");
    assert!(flat.contains("summaries of 2 ranks, and the events of 1 rank without a usable summary"), "{text}");
    assert_eq!(document["run"]["summary"]["asked"], false);
    for full in [&["--summary=no"][..], &["--no-blocking"], &["--what-if", "rank=0"], &["--from", "0s"]] {
        assert_eq!(text_and_json(dir.path(), full).1["run"]["summary"], Value::Null, "{full:?}");
    }
}
