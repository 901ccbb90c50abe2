//! A run that is being recorded is read as far as it goes at each look, and nothing is read twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lbprof_collector::folder::RunFolder;
use lbprof_collector::live_run::LiveRun;
use lbprof_collector::reader::LogItem;
use lbprof_collector::{Problem, Record};
use lbprof_simulator::scenario::Scenario;
use tempfile::TempDir;

type Found = BTreeMap<u32, (Vec<Record>, Vec<Problem>)>;

/// Three ranks with several blocks each; rank 1 was killed with records in its ring.
fn written() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let scenario = Scenario::ranks(3).each(|rank, script| {
        let script = script.batch(4).repeat(9, move |_, script| script.compute(1 + rank).allreduce(8, 0.1));
        if rank == 1 { script.kill(3) } else { script }
    });
    scenario.write(dir.path()).unwrap();
    dir
}

fn read_whole(dir: &Path) -> BTreeMap<u32, Vec<Record>> {
    let folder = RunFolder::list(dir).unwrap();
    let read = |rank| {
        let mut log = folder.open(rank).unwrap();
        let mut all = Vec::new();
        while let Some(item) = log.next_item() {
            if let LogItem::Records { records, .. } = item {
                all.extend(records);
            }
        }
        (rank, all)
    };
    folder.ranks().map(read).collect()
}

fn look(run: &mut LiveRun, found: &mut Found) {
    run.look_again().unwrap();
    for (log, _) in run.logs() {
        let (records, problems) = found.entry(log.header().rank).or_default();
        let left = log.read_new(|item| {
            match item {
                LogItem::Records { records: new, .. } => records.extend(new),
                LogItem::Problem(problem) => problems.push(problem),
                _ => {}
            }
            true
        });
        left.unwrap();
    }
}

fn add_rings(run: &mut LiveRun, found: &mut Found) {
    for (log, ring) in run.logs() {
        let beyond = ring.and_then(|ring| log.beyond(&ring));
        found.entry(log.header().rank).or_default().0.extend(beyond.into_iter().flat_map(|ring| ring.records));
    }
}

fn records_of(found: &Found) -> BTreeMap<u32, Vec<Record>> {
    found.iter().map(|(rank, (records, _))| (*rank, records.clone())).collect()
}

#[test]
fn logs_that_grow_by_any_bytes_are_read_once() {
    let whole = written();
    let expected = read_whole(whole.path());
    for step in [50, 300] {
        let dir = tempfile::tempdir().unwrap();
        let files: Vec<_> = fs::read_dir(whole.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let mut run = LiveRun::open(dir.path()).unwrap();
        let mut found = Found::new();
        let longest = files.iter().map(|file| fs::metadata(file).unwrap().len()).max().unwrap() as usize;
        for length in (0..longest + step).step_by(step) {
            for file in &files {
                let bytes = fs::read(file).unwrap();
                let is_log = file.extension().is_some_and(|extension| extension == "lbp");
                let shown = if is_log { length.min(bytes.len()) } else { bytes.len() };
                fs::write(dir.path().join(file.file_name().unwrap()), &bytes[..shown]).unwrap();
            }
            look(&mut run, &mut found);
        }
        assert_eq!(run.n_ranks(), 3);
        add_rings(&mut run, &mut found);
        assert_eq!(records_of(&found), expected, "in steps of {step} bytes");
        assert!(found.values().all(|(_, problems)| problems.is_empty()), "{found:?}");
    }
}
