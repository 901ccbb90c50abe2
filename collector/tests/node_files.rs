//! Node files give each rank's log as its own file would, whatever state they are in.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use lbprof_collector::folder::{RunFolder, started_unix_s};
use lbprof_collector::format::{log_name, ring_name};
use lbprof_collector::node::frame::{
    FRAME_HEAD_BYTES, FRAME_MAGIC, FrameHead, MAX_PAYLOAD, node_name, node_rings_name,
};
use lbprof_collector::reader::{LogItem, OpenError};
use lbprof_collector::{Definition, Problem, ProblemKind};
use lbprof_simulator::nodes::{frame, into_node_files, node_file, parts};
use lbprof_simulator::scenario::{RUN_ID, Scenario};
use proptest::prelude::*;
use tempfile::TempDir;

/// Three ranks with several blocks each; rank 1 was killed with records in its ring.
fn scenario() -> Scenario {
    Scenario::ranks(3).each(|rank, script| {
        let script = script.batch(4).repeat(6, move |_, script| script.compute(1 + rank).allreduce(8, 0.1));
        if rank == 1 { script.kill(3) } else { script }
    })
}

fn written() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    scenario().write(dir.path()).unwrap();
    dir
}

fn in_node_files(ranks_a_node: u32) -> TempDir {
    let dir = written();
    into_node_files(dir.path(), RUN_ID, ranks_a_node).unwrap();
    dir
}

/// The ranks' logs by themselves.
fn logs() -> BTreeMap<u32, Vec<u8>> {
    let dir = written();
    (0..3).map(|rank| (rank, fs::read(dir.path().join(log_name(rank))).unwrap())).collect()
}

/// A folder with this node file alone.
fn of_bytes(bytes: &[u8]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(node_name(0)), bytes).unwrap();
    dir
}

fn items_of(folder: &RunFolder, rank: u32) -> Result<Vec<LogItem>, OpenError> {
    let mut log = folder.open(rank)?;
    Ok(std::iter::from_fn(|| log.next_item()).collect())
}

/// What is there of each rank, and what is wrong with it; then what is wrong with the files.
fn all_of(dir: &Path) -> (BTreeMap<u32, Vec<LogItem>>, Vec<Problem>) {
    let folder = RunFolder::list(dir).unwrap();
    let items = folder.ranks().filter_map(|rank| Some((rank, items_of(&folder, rank).ok()?))).collect();
    (items, folder.problems().to_vec())
}

fn problems(items: &[LogItem]) -> Vec<Problem> {
    let problem = |item: &LogItem| if let LogItem::Problem(problem) = item { Some(problem.clone()) } else { None };
    items.iter().filter_map(problem).collect()
}

fn kinds(items: &[LogItem]) -> Vec<ProblemKind> {
    problems(items).iter().map(|problem| problem.kind).collect()
}

fn data(items: &[LogItem]) -> Vec<&LogItem> {
    items.iter().filter(|item| !matches!(item, LogItem::Problem(_))).collect()
}

fn has_ended(items: &[LogItem]) -> bool {
    let ends = |definition: &Definition| matches!(definition, Definition::End(..));
    items.iter().any(|item| matches!(item, LogItem::Definitions(list) if list.iter().any(ends)))
}

#[test]
fn a_node_file_gives_what_the_ranks_files_gave() {
    let apart = written();
    let (expected, none) = all_of(apart.path());
    assert_eq!((expected.len(), none.len()), (3, 0));
    assert_eq!(kinds(&expected[&1]), [ProblemKind::NotClosed]);
    for ranks_a_node in [1, 2, 3] {
        let dir = in_node_files(ranks_a_node);
        assert!(!dir.path().join(log_name(0)).exists() && !dir.path().join(ring_name(1, 0)).exists());
        assert_eq!(all_of(dir.path()), (expected.clone(), vec![]), "{ranks_a_node} ranks a node");
        let started = started_unix_s(apart.path());
        assert!(started.is_some_and(|seconds| seconds > 0));
        assert_eq!(started_unix_s(dir.path()), started);
        // A killed rank's ring in a file of its own does not say when the run began.
        fs::copy(apart.path().join(ring_name(1, 0)), dir.path().join(ring_name(1, 0))).unwrap();
        assert_eq!(started_unix_s(dir.path()), started, "with a ring beside");
    }
}

#[test]
fn a_node_file_cut_anywhere_gives_the_begin_of_each_log_and_says_so() {
    let whole = node_file(RUN_ID, &logs());
    let (expected, _) = all_of(of_bytes(&whole).path());
    for length in 0..whole.len() {
        let (found, of_files) = all_of(of_bytes(&whole[..length]).path());
        for (rank, items) in &found {
            let (found, expected) = (data(items), data(&expected[rank]));
            assert!(expected.starts_with(&found), "cut at {length}, rank {rank}");
            let is_said = !kinds(items).is_empty() || !of_files.is_empty();
            assert!(is_said || found.len() == expected.len(), "cut at {length}, rank {rank}: nothing is reported");
            assert!(
                has_ended(items) || kinds(items).contains(&ProblemKind::EndMissing),
                "cut at {length}, rank {rank}"
            );
        }
    }
}

proptest! {
    #[test]
    fn a_flipped_byte_costs_one_part_of_one_rank_at_most_and_is_reported(at in any::<prop::sample::Index>(), bits in 1u8..) {
        let logs = logs();
        let mut bytes = node_file(RUN_ID, &logs);
        let (expected, _) = all_of(of_bytes(&bytes).path());
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        let (found, of_files) = all_of(of_bytes(&bytes).path());
        let mut hit = 0;
        for (rank, expected) in &expected {
            match found.get(rank) {
                Some(items) if items == expected => {}
                Some(items) => {
                    hit += 1;
                    let (there, all) = (data(items), data(expected));
                    prop_assert!(there.len() + 1 >= all.len() && there.iter().all(|item| all.contains(item)));
                    prop_assert!(problems(items).len() > problems(expected).len() || !of_files.is_empty());
                }
                // Its header is gone.
                None => hit += 1,
            }
        }
        prop_assert!(hit <= 1, "{hit} ranks");
        // The first frame is of no rank.
        prop_assert!(hit == 1 || at < FRAME_HEAD_BYTES + 12 && !of_files.is_empty(), "nobody noticed");
    }

    #[test]
    fn any_bytes_are_a_node_file(bytes in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        let mut file = node_file(RUN_ID, &logs());
        let at = at.index(file.len());
        file.splice(at..at, bytes);
        all_of(of_bytes(&file).path());
    }
}

/// A frame of `rank` that holds the parts from `part` on of its log, and the log up to there.
fn split(logs: &BTreeMap<u32, Vec<u8>>, rank: u32, part: usize) -> (Vec<u8>, u64, Vec<u8>) {
    let parts = parts(&logs[&rank]);
    let before: Vec<u8> = parts[..part].concat();
    let offset = before.len() as u64;
    (before, offset, parts[part].to_vec())
}

#[test]
fn a_part_that_was_written_again_after_a_failure_is_there_once() {
    let logs = logs();
    let (expected, _) = all_of(of_bytes(&node_file(RUN_ID, &logs)).path());
    let (before, offset, part) = split(&logs, 2, 3);
    let again = frame(RUN_ID, 2, offset, &part);
    let rest = frame(RUN_ID, 2, offset + part.len() as u64, &logs[&2][before.len() + part.len()..]);
    let others =
        node_file(RUN_ID, &logs.iter().filter(|(rank, _)| **rank != 2).map(|(r, l)| (*r, l.clone())).collect());
    for written in [1, 10, FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + 1, again.len() - 1] {
        // The disk was full after some bytes; another rank appended; then it was written.
        let file = [&frame(RUN_ID, 2, 0, &before), &again[..written], &others, &again, &rest]
            .map(|part| part.to_vec())
            .concat();
        let (found, of_files) = all_of(of_bytes(&file).path());
        assert_eq!(found, expected, "{written} bytes");
        // What has no whole head is of no rank.
        assert_eq!(of_files.len(), usize::from(written < FRAME_HEAD_BYTES), "{written} bytes: {of_files:?}");
    }
    // A copy of all of it is nothing new.
    let twice = [frame(RUN_ID, 2, 0, &before), again.clone(), again, rest, others].concat();
    assert_eq!(all_of(of_bytes(&twice).path()), (expected, vec![]));
}

#[test]
fn what_a_killed_rank_was_writing_is_in_its_ring() {
    let (whole, apart) = (in_node_files(3), written());
    let (mut expected, _) = all_of(apart.path());
    let ring = fs::read(apart.path().join(ring_name(1, 0))).unwrap();
    // Its ring's records were about to be written: a part of them was.
    let next = frame(RUN_ID, 1, logs()[&1].len() as u64, &ring[4096..4160]);
    let path = whole.path().join(node_name(0));
    let file = fs::read(&path).unwrap();
    fs::write(&path, [&file, &next[..50], &frame(RUN_ID, 7, 0, b"")].map(|part| part.to_vec()).concat()).unwrap();
    assert_eq!(all_of(whole.path()), (expected.clone(), vec![]));
    // Without the ring it is reported.
    fs::remove_file(whole.path().join(node_rings_name(0))).unwrap();
    let (found, _) = all_of(whole.path());
    assert_eq!(kinds(&found[&1]), [ProblemKind::Truncated, ProblemKind::EndMissing]);
    assert_eq!(
        problems(&found[&1])[0].detail,
        format!("50 bytes of an unfinished block from byte {} of node-000000.lbp", file.len())
    );
    expected.remove(&1);
    assert_eq!((&found[&0], &found[&2]), (&expected[&0], &expected[&2]));
}

#[test]
fn a_missing_part_is_reported_with_its_rank() {
    let logs = logs();
    let (before, offset, part) = split(&logs, 0, 2);
    let rest = &logs[&0][before.len() + part.len()..];
    let file = [frame(RUN_ID, 0, 0, &before), frame(RUN_ID, 0, offset + part.len() as u64, rest)].concat();
    let (found, of_files) = all_of(of_bytes(&file).path());
    let problem = &problems(&found[&0])[0];
    assert_eq!((problem.kind, problem.rank, problem.count), (ProblemKind::Damaged, Some(0), part.len() as u64));
    assert_eq!(
        problem.detail,
        format!("missing in node-000000.lbp: {} bytes of its log, from byte {offset} of the log", part.len())
    );
    assert!(of_files.is_empty());
    // Where that is the header, nothing can be read.
    let file = frame(RUN_ID, 0, before.len() as u64, &logs[&0][before.len()..]);
    let dir = of_bytes(&file);
    let Err(error) = RunFolder::list(dir.path()).unwrap().open(0) else { panic!("it has no header") };
    assert!(
        error
            .to_string()
            .contains("node-000000.lbp, rank 0: the log's header is damaged (the part with it is missing)"),
        "{error}"
    );
}

#[test]
fn parts_of_frames_that_were_written_again_are_no_damage() {
    let logs = logs();
    let (before, offset, part) = split(&logs, 0, 2);
    let rest = frame(RUN_ID, 0, offset + part.len() as u64, &logs[&0][before.len() + part.len()..]);
    let whole = frame(RUN_ID, 0, offset, &part);
    let (half, third) = (whole[..whole.len() / 2].to_vec(), whole[..whole.len() / 3].to_vec());
    // Of another rank, whose log goes on in vain.
    let lost = frame(RUN_ID, 1, logs[&1].len() as u64, &[7; 100])[..60].to_vec();
    let other = frame(RUN_ID, 1, 0, &logs[&1]);
    let frames = [other, frame(RUN_ID, 0, 0, &before), half, third, lost, whole, rest];
    let (found, folder_problems) = all_of(of_bytes(&frames.concat()).path());
    let (expected, _) = all_of(of_bytes(&node_file(RUN_ID, &logs)).path());
    assert_eq!(data(&found[&0]), data(&expected[&0]));
    assert_eq!(kinds(&found[&0]), kinds(&expected[&0]));
    let said: Vec<Problem> = folder_problems.into_iter().chain(problems(&found[&1])).collect();
    assert!(said.iter().all(|problem| problem.kind != ProblemKind::Damaged), "{said:?}");
    assert!(said.iter().any(|problem| problem.kind == ProblemKind::Truncated), "{said:?}");
}

#[test]
fn two_contents_for_one_place_are_reported() {
    let logs = logs();
    let (before, offset, part) = split(&logs, 0, 2);
    let rest = frame(RUN_ID, 0, offset + part.len() as u64, &logs[&0][before.len() + part.len()..]);
    let other = vec![0; part.len()];
    let frames =
        [frame(RUN_ID, 0, 0, &before), frame(RUN_ID, 0, offset, &other), frame(RUN_ID, 0, offset, &part), rest];
    let (found, _) = all_of(of_bytes(&frames.concat()).path());
    assert_eq!(kinds(&found[&0]), [ProblemKind::PartsInConflict]);
    let (expected, _) = all_of(of_bytes(&node_file(RUN_ID, &logs)).path());
    assert_eq!(data(&found[&0]), data(&expected[&0]));
}

#[test]
fn frames_of_another_run_are_a_log_of_their_own() {
    let logs = logs();
    let other: BTreeMap<u32, Vec<u8>> = {
        let dir = tempfile::tempdir().unwrap();
        Scenario::ranks(1).run_id(99).each(|_, script| script.compute(1).barrier(1.0)).write(dir.path()).unwrap();
        [(0, fs::read(dir.path().join(log_name(0))).unwrap())].into()
    };
    let dir = of_bytes(&[node_file(RUN_ID, &logs), node_file(99, &other)].concat());
    let folder = RunFolder::list(dir.path()).unwrap();
    assert_eq!((folder.logs_of(0), folder.logs_of(1), folder.problems()), (2, 1, &[][..]));
    let mut ids: Vec<u64> = (0..2).map(|number| folder.open_log(0, number).unwrap().header().run_id).collect();
    ids.sort_unstable();
    assert_eq!(ids, {
        let mut ids = [RUN_ID, 99];
        ids.sort_unstable();
        ids
    });
}

#[test]
fn a_rank_that_still_writes_is_read_up_to_its_last_part() {
    let dir = in_node_files(3);
    let path = dir.path().join(node_name(0));
    let bytes = fs::read(&path).unwrap();
    let last = frame(RUN_ID, 1, logs()[&1].len() as u64, parts(&logs()[&1])[1]);
    fs::write(&path, [&bytes[..], &last[..40]].concat()).unwrap();
    let folder = RunFolder::list(dir.path()).unwrap();
    let before = items_of(&folder, 1).unwrap();
    // It has a ring, so it may be running: what it writes meanwhile is found.
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&last[40..]).unwrap();
    let after = items_of(&folder, 1).unwrap();
    assert_eq!(data(&after).len(), data(&before).len() + 1);
}

#[test]
fn files_that_claim_much_cost_little() {
    // Heads of the largest frames, one after the other, each of which is checked in vain; then a file with a hole.
    let head = FrameHead { length: MAX_PAYLOAD as u32, run_id: RUN_ID, offset: 0, rank: 0, crc: 1 };
    let mut heads = head.to_bytes().repeat(1 << 12);
    heads.resize(2 << 20, FRAME_MAGIC[0]);
    let dir = of_bytes(&heads);
    fs::File::options().append(true).open(dir.path().join(node_name(0))).unwrap().set_len(1 << 40).unwrap();
    fs::write(dir.path().join(node_name(5)), node_file(RUN_ID, &logs())).unwrap();
    let rings = dir.path().join(node_rings_name(0));
    fs::write(&rings, lbprof_collector::node::rings::first_words(4096, RUN_ID)).unwrap();
    fs::File::options().write(true).open(&rings).unwrap().set_len(1 << 42).unwrap();
    let (found, of_files) = all_of(dir.path());
    assert_eq!(found.len(), 3);
    // The first heads are taken for parts of frames, until too much was checked in vain.
    assert!(of_files.len() < 8, "{of_files:?}");
    assert_eq!(of_files.last().map(|problem| problem.kind), Some(ProblemKind::Damaged));
}

#[test]
fn a_file_of_rings_that_is_none_is_reported() {
    let dir = in_node_files(3);
    let path = dir.path().join(node_rings_name(0));
    fs::write(&path, "this is a text").unwrap();
    let (found, of_files) = all_of(dir.path());
    assert_eq!(of_files[0].detail, "node-000000.rings: not a file of rings of this version of lbprof");
    assert_eq!(kinds(&found[&1]), [ProblemKind::EndMissing]);
    // One whose head was not written yet holds nothing.
    fs::write(&path, [0; 8192]).unwrap();
    assert_eq!(all_of(dir.path()).1, []);
}
