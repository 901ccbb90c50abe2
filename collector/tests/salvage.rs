//! What a killed, crashed, disk-full or still running rank left is read as far as it goes.

mod support;

use std::fs::{self, File};
use std::path::Path;

use lbprof_collector::definition::{Communicator, EndReason, RankList};
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::folder::RunFolder;
use lbprof_collector::format::{
    BLOCK_HEAD_BYTES, BatchHead, BlockHead, BlockKind, log_name, rings_name, saved_sums_name,
};
use lbprof_collector::joined::JOINED;
use lbprof_collector::problem::{Problem, Severity};
use lbprof_collector::profile::{ProfileBatch, ThreadProfile};
use lbprof_collector::reader::{LogItem, UnreadableLog};
use lbprof_collector::record::{CallFlags, NONE, Record};
use lbprof_collector::ring::{ALIGNMENT, Ring, RingHead};
use lbprof_collector::salvage;
use lbprof_collector::saved_sums::SavedSums;
use lbprof_collector::writer::{LogWriter, block_of};
use lbprof_collector::{Definition, Operation, ProblemKind};
use lbprof_simulator::scenario::{self, RankScript, Scenario};

fn left(folder: &Path) -> Vec<LogItem> {
    let mut log = RunFolder::list(folder).unwrap().open(0).unwrap();
    std::iter::from_fn(|| log.next_item()).collect()
}

fn records(items: &[LogItem]) -> Vec<Record> {
    let records = items.iter().filter_map(|item| match item {
        LogItem::Records { records, .. } => Some(records.as_slice()),
        _ => None,
    });
    records.flatten().copied().collect()
}

fn problems(items: &[LogItem]) -> Vec<&Problem> {
    items.iter().filter_map(|item| if let LogItem::Problem(problem) = item { Some(problem) } else { None }).collect()
}

fn kinds(items: &[LogItem]) -> Vec<ProblemKind> {
    problems(items).iter().map(|problem| problem.kind).collect()
}

fn definitions(items: &[LogItem]) -> Vec<&Definition> {
    let lists = items.iter().filter_map(|item| if let LogItem::Definitions(list) = item { Some(list) } else { None });
    lists.flatten().collect()
}

fn one(script: impl FnOnce(RankScript) -> RankScript) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Scenario::ranks(1).rank(0, script).write(folder.path()).unwrap();
    folder
}

/// Puts an empty ring of the first thread in place of the rings of rank 0.
fn fresh_ring(folder: &Path) -> Ring {
    let path = folder.join(rings_name(0));
    fs::remove_file(&path).unwrap();
    Ring::create_in(&File::create_new(&path).unwrap(), 4096, 0, 0, scenario::RUN_ID).unwrap()
}

fn ten(r: RankScript) -> RankScript {
    r.batch(4).region("work", |r| r.repeat(10, |i, r| r.compute(1).send(1, i as i32, 8, 1)))
}

#[test]
fn the_records_of_a_killed_rank_come_from_its_log_and_then_its_ring() {
    let closed = one(ten);
    let killed = one(|r| ten(r).kill(5));
    let (closed, killed) = (left(closed.path()), left(killed.path()));
    assert_eq!(kinds(&closed), []);
    assert_eq!(kinds(&killed), [ProblemKind::NotClosed]);
    assert_eq!(problems(&killed)[0].detail, "its last 5 records come from its ring");
    // The closed log has a Finalize more.
    let closed = records(&closed);
    assert_eq!(records(&killed), closed[..closed.len() - 1]);
    assert!(!definitions(&killed).iter().any(|definition| matches!(definition, Definition::End(..))));
}

#[test]
fn a_rank_killed_between_writing_a_block_and_clearing_its_slots_has_no_record_twice() {
    let folder = one(|r| ten(r).kill(0));
    let in_log = records(&left(folder.path()));
    // The ring still holds the last block, and two records more.
    let more = [Operation::Barrier, Operation::Bcast].map(|operation| Record {
        end: in_log[11].end + 9,
        call_site: 1,
        ..Record::new(operation, in_log[11].end + 5)
    });
    let raw = in_log[8..].iter().map(|record| Record { call_site: record.call_site.wrapping_add(1), ..*record });
    let raw: Vec<_> = raw.chain(more).collect();
    let mut head = BatchHead { previous_end: scenario::START, ..BatchHead::default() };
    head.advance(&in_log[..8]);
    fs::write(folder.path().join(rings_name(0)), scenario::ring(&scenario::header(0, 1), &head, &raw, 0)).unwrap();
    let items = left(folder.path());
    let all = records(&items);
    assert_eq!(all.len(), 12 + 2);
    assert_eq!(all[..12], in_log);
    assert_eq!(all[12].operation(), Some(Operation::Barrier));
    let Some(LogItem::Records { head, .. }) = items.iter().rev().find(|item| matches!(item, LogItem::Records { .. }))
    else {
        panic!()
    };
    assert_eq!((head.first, head.previous_end), (12, in_log[11].end));
    assert!(head.open.is_empty(), "the region ended in the records that were left out");
}

#[test]
fn sums_beside_the_log_of_a_killed_rank_follow_what_it_has() {
    let folder = one(|r| ten(r).kill(5));
    let save = |first, next| {
        let head = |first| BatchHead { first, ..BatchHead::default() };
        let batch = ProfileBatch { head: head(first), next: head(next), ..ProfileBatch::default() };
        let mut bytes = Vec::new();
        assert!(SavedSums { batch, gaps: None }.encode(scenario::RUN_ID, &mut bytes));
        fs::write(folder.path().join(saved_sums_name(0)), bytes).unwrap();
        let items = left(folder.path());
        assert_eq!(kinds(&items), [ProblemKind::NotClosed]);
        let has_sums = items.iter().any(|item| matches!(item, LogItem::Profile(_)));
        (has_sums, records(&items).len())
    };
    // The log has 7 records, and the ring five more, of which two are in the sums.
    assert_eq!(save(7, 9), (true, 7 + 3));
    assert_eq!(save(4, 7), (false, 7 + 5), "the log has them by now");
    assert_eq!(save(8, 20), (false, 7 + 5), "of records that the log lacks");
}

#[test]
fn a_block_cut_in_the_middle_is_no_loss_where_the_ring_holds_its_records() {
    let folder = one(|r| ten(r).kill(5));
    let path = folder.path().join(log_name(0));
    let whole = fs::read(&path).unwrap();
    let before = left(folder.path());
    let mut log = whole.clone();
    let block = whole.windows(4).rposition(|window| window == b"LBBK").unwrap();
    log.extend_from_slice(&whole[block..whole.len() - 5]);
    fs::write(&path, &log).unwrap();
    assert_eq!(left(folder.path()), before);
    // Without the ring it is one.
    fs::remove_file(folder.path().join(rings_name(0))).unwrap();
    assert_eq!(kinds(&left(folder.path())), [ProblemKind::Truncated, ProblemKind::EndMissing]);
    // A block that was whole before and is cut now is a gap, ring or not.
    let ring = scenario::ring(&scenario::header(0, 1), &BatchHead { first: 12, ..BatchHead::default() }, &[], 0);
    fs::write(folder.path().join(rings_name(0)), ring).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    assert_eq!(kinds(&left(folder.path()))[0], ProblemKind::Truncated);
}

#[test]
fn a_call_in_which_the_rank_died_is_there_and_unfinished() {
    let folder = one(|r| ten(r).kill_in(Operation::Recv, 3));
    let records = records(&left(folder.path()));
    let last = records.last().unwrap();
    assert_eq!((last.operation(), last.end), (Some(Operation::Recv), 0));
    assert!(last.flags.contains(CallFlags::UNFINISHED));
    assert!(!records[records.len() - 2].flags.contains(CallFlags::UNFINISHED));
}

#[test]
fn a_full_disk_is_reported_with_what_was_dropped() {
    // Ended as it meant to: the log says so.
    let folder = one(|r| ten(r).drop_records(70));
    let items = left(folder.path());
    assert!(definitions(&items).contains(&&Definition::Problem(ProblemKind::Dropped as u16, 70, String::new())));
    assert_eq!(kinds(&items), []);
    // Killed: its ring says so, and where the records were is a gap.
    let folder = one(|r| ten(r).drop_records(70).kill(3));
    let items = left(folder.path());
    assert_eq!(kinds(&items), [ProblemKind::Gap, ProblemKind::Dropped, ProblemKind::NotClosed]);
    assert_eq!(problems(&items)[0].count, 70);
    assert_eq!(problems(&items)[1].count, 70);
}

#[test]
fn what_the_ring_says_of_the_end_counts_where_the_log_could_not_hold_it() {
    use std::sync::atomic::Ordering::Relaxed;
    let folder = one(|r| ten(r).kill(0));
    let ring = fresh_ring(folder.path());
    ring.head().first.store(12, Relaxed);
    ring.head().end_reason.store(3, Relaxed);
    ring.head().abort_code.store(-6, Relaxed);
    ring.head().end_ticks.store(77, Relaxed);
    ring.head().window_end.store(70, Relaxed);
    ring.head().dropped.store(5, Relaxed);
    ring.head().problems[ProblemKind::UnknownRequest as usize].store(2, Relaxed);
    let items = left(folder.path());
    assert_eq!(kinds(&items), [ProblemKind::UnknownRequest, ProblemKind::Dropped], "and not NotClosed");
    let [.., LogItem::Definitions(end)] = &items[..] else { panic!("{items:?}") };
    assert_eq!(*end, [Definition::WindowEnd(70), Definition::End(EndReason::Abort(-6), 77)]);
}

#[test]
fn a_ring_as_the_recorder_maps_it_is_read_while_it_lives() {
    use std::sync::atomic::Ordering::Relaxed;
    let folder = one(|r| r.kill(0));
    let ring = fresh_ring(folder.path());
    assert_eq!(records(&left(folder.path())), []);
    let head = ring.head();
    head.previous_end.store(5, Relaxed);
    head.n_open.store(1, Relaxed);
    head.open[0].0.store(2, Relaxed);
    head.open[0].1.store(NONE, Relaxed);
    let written =
        [10, 20, 30].map(|begin| Record { end: begin + 3, sent: begin, ..Record::new(Operation::Send, begin) });
    for (slot, record) in written.iter().enumerate() {
        // SAFETY: the ring has 64 slots, and no one else writes to it.
        unsafe { ring.slots().add(slot).write(*record) };
    }
    let items = left(folder.path());
    let expected = written.map(|record| Record { call_site: u64::MAX, ..record });
    assert_eq!(records(&items), expected);
    let Some(LogItem::Records { head, .. }) = items.iter().find(|item| matches!(item, LogItem::Records { .. })) else {
        panic!()
    };
    assert_eq!((head.previous_end, head.open.len(), head.open[0].region), (5, 1, 2));
}

fn comm_and_call(id: u32) -> (Definition, Record) {
    let comm = Communicator {
        id,
        uid: u64::from(id) << 40,
        parent: 0,
        rank: 0,
        group: RankList::from_ranks([0]),
        remote: RankList::default(),
    };
    let begin = 10 * u64::from(id);
    (Definition::Communicator(comm), Record { end: begin + 3, comm: id, ..Record::new(Operation::Barrier, begin) })
}

#[test]
fn definitions_that_wait_in_the_first_ring_outlive_the_rank() {
    let folder = one(|r| r.kill(0));
    let (path, log_path) = (folder.path().join(rings_name(0)), folder.path().join(log_name(0)));
    let ring = fresh_ring(folder.path());
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    let log_bytes = fs::metadata(&log_path).unwrap().len();
    let made: Vec<(Definition, Record)> = (5..40).map(comm_and_call).collect();
    for (slot, (definition, call)) in made.iter().enumerate() {
        log.definition_later(definition).unwrap();
        ring.head().keep_waiting(log_bytes, log.waiting());
        // SAFETY: the ring has 64 slots, and no one else writes to it.
        unsafe { ring.slots().add(slot).write(*call) };
    }
    let is_comm = |definition: &Definition| matches!(definition, Definition::Communicator(comm) if 5 <= comm.id);
    let comms = |items: &[LogItem]| {
        definitions(items).into_iter().filter(|found| is_comm(found)).cloned().collect::<Vec<Definition>>()
    };
    let items = left(folder.path());
    assert_eq!(comms(&items), made.iter().map(|(definition, _)| definition.clone()).collect::<Vec<_>>());
    assert_eq!(kinds(&items), [ProblemKind::NotClosed], "nothing is lost");
    let place = |wanted: fn(&LogItem) -> bool| items.iter().rposition(wanted).unwrap();
    let of_comms = items.iter().position(|item| matches!(item, LogItem::Definitions(list) if list.iter().any(is_comm)));
    assert!(of_comms.unwrap() < place(|item| matches!(item, LogItem::Records { .. })), "they come before the records");

    // Damage to the head is reported.
    let whole = fs::read(&path).unwrap();
    for at in [std::mem::offset_of!(RingHead, waiting_from), std::mem::offset_of!(RingHead, waiting_state), 1500] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let items = left(folder.path());
        assert_eq!(comms(&items), []);
        assert_eq!(kinds(&items), [ProblemKind::NotClosed, ProblemKind::Truncated], "{at}");
    }
    // Nor where the log has them, or had more before it was cut.
    let ring = salvage::parse_ring(&whole).unwrap();
    let waiting = ring.waiting.unwrap();
    assert_eq!((waiting.from, waiting.definitions.len()), (log_bytes, made.len()));
    fs::write(&path, &whole).unwrap();
    let mut longer = fs::read(&log_path).unwrap();
    let mut block = [0; 64];
    let length = block_of(&Definition::WindowEnd(9), &mut block).unwrap();
    longer.extend_from_slice(&block[..length]);
    fs::write(&log_path, &longer).unwrap();
    assert_eq!(comms(&left(folder.path())), []);
    // The process ended while it wrote the block, of which it has a part.
    for part in [20, length - 3] {
        fs::write(&log_path, &longer[..longer.len() - length + part]).unwrap();
        let items = left(folder.path());
        assert_eq!(comms(&items).len(), made.len(), "{part} bytes");
        assert_eq!(kinds(&items), [ProblemKind::NotClosed], "{part} bytes");
    }
}

#[test]
fn a_ring_keeps_definitions_until_the_log_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::options().read(true).write(true).create_new(true).open(folder.path().join("ring")).unwrap();
    let ring = Ring::create_in(&file, 4096, 0, 0, scenario::RUN_ID).unwrap();
    let waiting = || {
        let found = salvage::read_first_ring(&file).unwrap().unwrap().waiting.unwrap();
        (found.from, found.definitions.len())
    };
    let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
    assert_eq!(waiting(), (0, 0));
    let mut most = 0;
    for id in 0..500 {
        log.definition_later(&comm_and_call(id).0).unwrap();
        ring.head().keep_waiting(log.bytes(), log.waiting());
        let (from, n) = waiting();
        assert_eq!(from, log.bytes());
        assert!(n > 0);
        most = most.max(n);
    }
    assert!((50..500).contains(&most), "{most}");
    // As after a file that was emptied: what is in the head is not what was stored there.
    ring.head().waiting_state.store(u64::MAX, std::sync::atomic::Ordering::Relaxed);
    ring.head().keep_waiting(log.bytes(), log.waiting());
    assert_eq!(waiting().0, log.bytes());
    log.definitions(&[Definition::WindowEnd(9)]).unwrap();
    ring.head().keep_waiting(log.bytes(), log.waiting());
    assert_eq!(waiting(), (0, 0));
}

#[test]
fn a_call_that_was_joined_with_its_part_but_has_no_end_is_unfinished_and_has_no_part() {
    let folder = one(|r| r.kill(0));
    let ring = fresh_ring(folder.path());
    let exchange = Record { end: 0, peer: 1, sent: 8, ..Record::new(Operation::Sendrecv, 10) };
    let joined = Record { operation: exchange.operation | JOINED, received: 16, request: 5, count: 6, ..exchange };
    // SAFETY: the ring has 64 slots, and no one else writes to it.
    unsafe { ring.slots().write(joined) };
    let unfinished = Record { call_site: u64::MAX, flags: exchange.flags | CallFlags::UNFINISHED, ..exchange };
    assert_eq!(records(&left(folder.path())), [unfinished]);
}

#[test]
fn a_ring_without_its_log_is_read_alone() {
    let folder = one(|r| ten(r).kill(5));
    let log = folder.path().join(log_name(0));
    for empty in [false, true] {
        if empty {
            fs::write(&log, []).unwrap();
        } else {
            fs::remove_file(&log).unwrap();
        }
        assert!(RunFolder::list(folder.path()).unwrap().ranks().eq([0]));
        let opened = RunFolder::list(folder.path()).unwrap().open(0).unwrap();
        assert_eq!((opened.header().run_id, opened.header().rank, opened.header().n_ranks), (scenario::RUN_ID, 0, 0));
        let items = left(folder.path());
        assert_eq!(records(&items).len(), 5);
        assert_eq!(kinds(&items), [ProblemKind::MissingRank, ProblemKind::Gap, ProblemKind::NotClosed]);
    }
}

#[test]
fn a_ring_of_another_run_is_left_out() {
    let folder = one(|r| ten(r).kill(5));
    Scenario::ranks(1).run_id(99).rank(0, |r| ten(r).kill(0)).write(&folder.path().join("other")).unwrap();
    fs::copy(folder.path().join("other").join(log_name(0)), folder.path().join(log_name(0))).unwrap();
    let items = left(folder.path());
    assert_eq!(records(&items).len(), 12);
    assert_eq!(kinds(&items), [ProblemKind::OtherRun, ProblemKind::EndMissing]);
}

#[test]
fn a_file_that_is_no_ring_is_reported() {
    let folder = one(ten);
    fs::write(folder.path().join(rings_name(0)), "not a ring").unwrap();
    let items = left(folder.path());
    assert_eq!(kinds(&items), [ProblemKind::Damaged]);
    assert_eq!(problems(&items)[0].detail, "rank-000000.rings: no rings of this version of lbprof");
}

#[test]
fn a_rank_that_left_nothing_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let Err(error) = RunFolder::list(folder.path()).unwrap().open(4) else { panic!("nothing was opened") };
    assert!(matches!(error.reason, UnreadableLog::Io(_)) && error.path.ends_with("rank-000004.lbp"), "{error}");
}

#[test]
fn rings_of_several_threads_are_read_by_thread() {
    let folder = one(|r| ten(r).kill(0));
    let header = scenario::header(0, 1);
    let path = folder.path().join(rings_name(0));
    let mut rings = fs::read(&path).unwrap();
    for thread in [1, 2] {
        let head = BatchHead { thread, previous_end: 1, ..BatchHead::default() };
        let records = [Record { end: 9, sent: thread.into(), ..Record::new(Operation::Send, 5) }];
        rings.resize(rings.len().next_multiple_of(ALIGNMENT), 0);
        rings.extend(scenario::ring(&header, &head, &records, 0));
    }
    fs::write(path, rings).unwrap();
    let items = left(folder.path());
    let threads: Vec<_> = items
        .iter()
        .filter_map(|item| if let LogItem::Records { head, .. } = item { Some(head.thread) } else { None })
        .collect();
    assert_eq!(threads, [0, 0, 0, 1, 2]);
    assert_eq!(kinds(&items), [ProblemKind::NotClosed]);
}

#[test]
fn ranks_are_found_by_their_files() {
    let folder = tempfile::tempdir().unwrap();
    Scenario::ranks(12).rank(3, |r| r.compute(1).barrier(1).kill(1)).missing(7).write(folder.path()).unwrap();
    fs::remove_file(folder.path().join(log_name(3))).unwrap();
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    assert!(RunFolder::list(folder.path()).unwrap().ranks().eq([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]));
}

fn profile(folder: &Path) -> ThreadProfile {
    let mut fold = ProfileFold::new(BatchHead { previous_end: scenario::START, ..BatchHead::default() });
    for item in left(folder) {
        match item {
            LogItem::Records { records, .. } => fold.records(&records, |record| record.call_site),
            LogItem::Profile(batch) => fold.absorb(&batch),
            _ => {}
        }
    }
    fold.take().profile
}

#[test]
fn events_and_profiles_give_the_same_figures_killed_or_not() {
    let script = |r: RankScript| {
        r.batch(3).repeat(5, |_, r| {
            r.iteration("step", |r| {
                r.compute(2).irecv(0, 1, 1).isend(0, 1, 80, 1).barrier(3).work(10, 1).count("atoms", 7)
            })
        })
    };
    for kill in [None, Some(0), Some(4)] {
        let end = |r: RankScript| match kill {
            None => script(r),
            Some(in_ring) => script(r).kill(in_ring),
        };
        let events = tempfile::tempdir().unwrap();
        Scenario::ranks(1).rank(0, end).write(events.path()).unwrap();
        let profiled = tempfile::tempdir().unwrap();
        Scenario::ranks(1).rank(0, end).profile_mode().write(profiled.path()).unwrap();
        let events = profile(events.path());
        assert_eq!(events, profile(profiled.path()), "{kill:?}");
        assert_eq!(events.iterations.len(), 5);
        let total: u64 = events.cells.iter().map(|(_, cell)| cell.ticks).sum();
        assert_eq!(total, 5 * 7_000_000);
    }
}

#[test]
fn a_log_cut_back_after_a_failed_write_is_whole() {
    /// Takes a limited number of bytes; the write that exceeds it stores what fits and fails, as a full disk does.
    struct FullDisk {
        bytes: Vec<u8>,
        room: usize,
    }
    impl std::io::Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let n = bytes.len().min(self.room - self.bytes.len());
            self.bytes.extend_from_slice(&bytes[..n]);
            if n == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(n) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_, all) = support::example_log();
    let mut log = LogWriter::new(FullDisk { bytes: Vec::new(), room: 1200 }, &scenario::header(0, 1)).unwrap();
    let mut head = BatchHead { previous_end: scenario::START, ..BatchHead::default() };
    let mut failed = 0;
    let comm = comm_and_call(9).0;
    for batch in all.chunks(40) {
        if failed == 1 && log.waiting().is_empty() {
            log.definition_later(&comm).unwrap();
        }
        if log.records(&head, batch, |record| record.call_site).is_err() {
            let good = log.bytes() as usize;
            log.sink_mut().bytes.truncate(good);
            failed += 1;
        }
        head.advance(batch);
        if failed == 2 {
            log.sink_mut().room = 1 << 20; // space was freed
        }
    }
    assert_eq!(failed, 2);
    let items = support::items(&log.into_sink().bytes);
    assert_eq!(kinds(&items), [ProblemKind::Gap]);
    assert_eq!(problems(&items)[0].count, 80);
    assert_eq!(records(&items).len(), all.len() - 80);
    assert_eq!(
        definitions(&items).iter().filter(|&&found| *found == comm).count(),
        1,
        "it has waited until there was space"
    );
}

#[test]
fn an_end_that_is_missing_is_reported() {
    // Only the logs were copied: the last records are in a ring that is not there.
    let folder = one(|r| ten(r).kill(5));
    fs::remove_file(folder.path().join(rings_name(0))).unwrap();
    assert_eq!(kinds(&left(folder.path())), [ProblemKind::EndMissing]);
    // The ring was copied in part.
    let folder = one(|r| ten(r).kill(5));
    let ring = folder.path().join(rings_name(0));
    let bytes = fs::read(&ring).unwrap();
    fs::write(&ring, &bytes[..bytes.len() - 100]).unwrap();
    assert_eq!(kinds(&left(folder.path())), [ProblemKind::Truncated, ProblemKind::NotClosed]);
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_block() {
    let folder = one(|r| ten(r).kill(5));
    for name in [rings_name(0), log_name(0)] {
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        match RunFolder::list(folder.path()).unwrap().open(0) {
            Ok(_) => assert!(kinds(&left(folder.path())).contains(&ProblemKind::Damaged)),
            Err(error) => assert!(error.to_string().contains("not a regular file"), "{error}"),
        }
    }
}

#[test]
fn a_problem_of_a_newer_recorder_is_not_lost_in_its_ring() {
    use std::sync::atomic::Ordering::Relaxed;
    let folder = one(|r| ten(r).kill(0));
    let ring = fresh_ring(folder.path());
    ring.head().first.store(12, Relaxed);
    ring.head().problems[63].store(4, Relaxed);
    assert!(definitions(&left(folder.path())).contains(&&Definition::Problem(63, 4, String::new())));
}

#[test]
fn a_ring_that_was_being_made_when_the_process_died_is_no_damage() {
    for blank in [0, 10, 4096, 8192] {
        // The thread is defined once its ring is made: then something has emptied the file.
        let made: &[Definition] = &[Definition::Thread(0, 77)];
        for (definitions, expected) in
            [(&[][..], &[ProblemKind::NotClosed][..]), (made, &[ProblemKind::Damaged, ProblemKind::NotClosed])]
        {
            let folder = tempfile::tempdir().unwrap();
            let mut log = LogWriter::new(Vec::new(), &scenario::header(0, 1)).unwrap();
            log.definitions(definitions).unwrap();
            fs::write(folder.path().join(log_name(0)), log.into_sink()).unwrap();
            fs::write(folder.path().join(rings_name(0)), vec![0; blank]).unwrap();
            assert_eq!(kinds(&left(folder.path())), expected, "{blank} bytes");
        }
    }
}

#[test]
fn a_slot_that_was_taken_and_not_filled_hides_no_records() {
    let folder = one(|r| ten(r).kill(5));
    let path = folder.path().join(rings_name(0));
    let whole = records(&left(folder.path())).len();
    let mut ring = fs::read(&path).unwrap();
    let slot = 4096 + 2 * size_of::<Record>();
    ring[slot..slot + 8].fill(0);
    fs::write(&path, &ring).unwrap();
    assert_eq!(records(&left(folder.path())).len(), whole - 1);
}

#[test]
fn a_rank_that_ended_while_its_slots_were_cleared_has_no_record_twice_and_no_silent_loss() {
    let folder = one(|r| ten(r).kill(5));
    let path = folder.path().join(rings_name(0));
    let mut ring = fs::read(&path).unwrap();
    let in_log = records(&left(folder.path())).len() - 5;
    // A flush has handed all five records over, and cleared two slots.
    let at = std::mem::offset_of!(RingHead, handed_over);
    ring[at..at + 8].copy_from_slice(&(in_log as u64 + 5).to_le_bytes());
    ring[4096..4096 + 2 * size_of::<Record>()].fill(0);
    fs::write(&path, &ring).unwrap();
    // The log does not have them, as in profile mode, where they were added to sums that are lost.
    let items = left(folder.path());
    assert_eq!(records(&items).len(), in_log);
    let gap = problems(&items).into_iter().find(|problem| problem.kind == ProblemKind::Gap).unwrap();
    assert_eq!(gap.count, 5);
}

#[test]
fn a_ring_that_was_cut_and_made_longer_again_has_lost_records_which_is_reported() {
    let folder = one(|r| ten(r).kill(0));
    let in_log = records(&left(folder.path()));
    let mut head = BatchHead { previous_end: scenario::START, ..BatchHead::default() };
    head.advance(&in_log);
    let end = in_log.last().unwrap().end;
    let mut raw: Vec<_> = (0..200)
        .map(|i| Record { end: end + 10 * i + 5, call_site: 1, ..Record::new(Operation::Send, end + 10 * i) })
        .collect();
    // Slots 90 to 149 are lost; of the record in slot 150 only what was stored later is there.
    for slot in &mut raw[90..150] {
        (slot.begin, slot.end) = (0, 0);
    }
    raw[150].operation = 0;
    let ring = |records: &[Record]| scenario::ring(&scenario::header(0, 1), &head, records, 0);
    let path = folder.path().join(rings_name(0));
    fs::write(&path, ring(&raw)).unwrap();
    let items = left(folder.path());
    let lost = problems(&items);
    assert_eq!(lost[0].kind, ProblemKind::RingLost);
    assert_eq!(lost[0].detail, "rank-000000.rings was truncated: 61 records in it are lost");
    assert!(!kinds(&items).contains(&ProblemKind::NewerOperation));
    assert_eq!(records(&items).len(), in_log.len() + 200 - 61);
    // A single call that never began is no loss.
    (raw[20].begin, raw[20].end) = (0, 0);
    fs::write(&path, ring(&raw[..90])).unwrap();
    assert_eq!(kinds(&left(folder.path())), [ProblemKind::NotClosed]);
}

#[test]
fn a_log_that_lost_definitions_with_its_end_is_reported() {
    let folder = one(|r| (0..4).fold(r, |r, step| r.region(&format!("phase {step}"), ten)).kill(60));
    let path = folder.path().join(log_name(0));
    let whole = fs::read(&path).unwrap();
    let defined = |items: &[LogItem]| definitions(items).len();
    let before = defined(&left(folder.path()));
    let mut n_lost = 0;
    for cut in 1..400.min(whole.len() - 150) {
        fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let items = left(folder.path());
        let is_reported = kinds(&items).iter().any(|kind| kind.severity() == Severity::Partial);
        n_lost += usize::from(defined(&items) < before);
        assert!(is_reported || defined(&items) == before, "cut by {cut}: {:?}", problems(&items));
    }
    assert!(n_lost > 100, "{n_lost}");
}

#[test]
fn a_cut_that_loses_facts_without_ids_is_reported() {
    let folder = one(|r| ten(r).kill(5));
    let (path, ring_path) = (folder.path().join(log_name(0)), folder.path().join(rings_name(0)));
    let mut log = fs::read(&path).unwrap();
    let records = log[log.windows(4).rposition(|window| window == b"LBBK").unwrap()..].to_vec();
    let before = log.len();
    let mut block = [0; 200];
    let fact = Definition::Param("size".to_owned(), 4096.0);
    let length = block_of(&fact, &mut block).unwrap();
    log.extend_from_slice(&block[..length]);
    let whole = log.len();
    let mut ring = fs::read(&ring_path).unwrap();
    let at = std::mem::offset_of!(RingHead, facts_end);
    ring[at..at + 8].copy_from_slice(&(whole as u64).to_le_bytes());
    fs::write(&ring_path, ring).unwrap();
    // The copy of a block of records holds none that were not there before. Within a block's head its kind is not known.
    log.extend_from_slice(&records);
    for end in (before..=whole).chain(whole + BLOCK_HEAD_BYTES..log.len()) {
        fs::write(&path, &log[..end]).unwrap();
        let items = left(folder.path());
        let is_there = definitions(&items).contains(&&fact);
        assert_eq!(is_there, whole <= end);
        let expected: &[_] =
            if is_there { &[ProblemKind::NotClosed] } else { &[ProblemKind::Truncated, ProblemKind::NotClosed] };
        let mut found = kinds(&items);
        found.sort_by_key(|kind| *kind == ProblemKind::NotClosed);
        assert_eq!(found, expected, "{end} of {}: {:?}", log.len(), problems(&items));
    }
}

#[test]
fn a_name_that_is_not_utf8_costs_its_definition() {
    let folder = one(ten);
    let path = folder.path().join(log_name(0));
    let mut log = fs::read(&path).unwrap();
    // A region (2) with id, parent, the length of its name, kind and whether it is iterated.
    let region = [&[2, 77, 0, 5][..], b"gr\xfc\xdfe", &[0, 0]].concat();
    let payload = [&[region.len() as u8][..], &region].concat();
    let size = payload.len() as u32;
    let head = BlockHead { kind: BlockKind::Definitions as u8, stored: size, frame: 0, plain: size, crc: 0 };
    log.extend_from_slice(&BlockHead { crc: head.checksum(&payload), ..head }.to_bytes());
    log.extend_from_slice(&payload);
    fs::write(&path, &log).unwrap();
    assert_eq!(kinds(&left(folder.path())), [ProblemKind::NewerOperation]);
}
