//! A full ring: its records go to the rank's log.
//!
//! A flush mends records that never ended, hands the batch to the rank's log, clears the ring's slots, moves its head on,
//! and leaves a record of itself. The order keeps every record in the log or in the ring at each instant; see
//! [`lbprof_collector::ring`]. A signal's handler may come at any instant and end the process, or call MPI
//! ([`crate::harmless::signals`]): while a flush is under way the thread has no free slot.
//!
//! The last slot of a ring is kept free for the record of the program's end ([`super::close::last_record`]), which must go in without a flush.

use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, compiler_fence};

use lbprof_collector::Operation;
use lbprof_collector::definition::Definition;
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::joined;
use lbprof_collector::poll_gaps::{GapSums, ProfileGaps};
use lbprof_collector::problem::ProblemKind;
use lbprof_collector::record::{CallFlags, Record};
use lbprof_collector::ring::{MANY_EMPTY, MAX_OPEN};
use lbprof_collector::saved_sums::SavedSums;

use crate::harmless::guard;
use crate::harmless::signals::run_critical_section;
use crate::log::{BatchOutcome, FIRST_THREAD, LOG, OpenLog, define_now, is_writing_records, rings};
use crate::machine::system::clock::read_ticks;
use crate::machine::system::faults;
use crate::recording::filled_slots::filled_records;
use crate::recording::slot::store_record;
use crate::recording::{lost_records, mpi_time};
use crate::sampling;
use crate::state::stage::{RecordingState, recording_state};
use crate::state::thread::{RecorderThread, VolatileCell};
use crate::state::thread_log::ThreadLog;

pub static RECORDED: AtomicU64 = AtomicU64::new(0);

/// True if there are sums that the log may lack.
pub static SUMS: AtomicBool = AtomicBool::new(false);

/// True if the last sums were written, for the process ends. Changed with the log locked.
pub static SUMS_ENDED: AtomicBool = AtomicBool::new(false);

pub static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Counts records that are in no ring and no log because recording was given up. In the first ring's head the count outlives the process.
pub fn count_dropped(records: u64) {
    DROPPED.fetch_add(records, Relaxed);
    if let Some(head) = guard::mirrored_head() {
        head.dropped.fetch_add(records, Relaxed);
    }
}

/// Hands the ring's records to the log, and starts it anew with a record of the flush.
pub fn flush_ring(thread: &RecorderThread, log: &mut ThreadLog) {
    let begin = read_ticks();
    // Until the last store it has no free slot, so that a handler's calls find none.
    thread.limit.set(thread.cursor.get());
    let Some(written) = hand_over(Some(thread), log, begin) else { return };
    if sampling::is_on() {
        sampling::look_at_rings(begin, log.number);
        log.pass_check(begin, sampling::look_interval());
    }
    let slots = log.ring.slots();
    let record = Record { end: read_ticks(), count: written, ..Record::new(Operation::Flush, begin) };
    // SAFETY: the thread's own ring.
    unsafe { store_record(slots, record) };
    compiler_fence(Release);
    // In this order: the slots between the two are free at each instant.
    thread.cursor.set_volatile(slots.wrapping_add(1));
    thread.limit.set_volatile(log.check_point(slots.wrapping_add(1)));
}

/// Hands the ring's records to the log, and returns how many, or `None` if the log is closed and they stay in the ring. Only the cursor of a pause
/// moves. `thread` is the thread whose log this is, and the caller's own or one that makes no calls any more; `None`: it has ended.
pub fn hand_over(thread: Option<&RecorderThread>, log: &mut ThreadLog, now: u64) -> Option<u32> {
    let mut records;
    let mut count;
    loop {
        records = whole_batch(thread, log, now);
        count = joined::count_joined_records(records);
        if records.is_empty() {
            break;
        }
        place_samples(log, records);
        // If the log is closed or the process ends they stay in the ring, for the reader.
        let written =
            LOG.with(|rank_log| (!SUMS_ENDED.load(Relaxed)).then(|| write_batch(rank_log, log, records, count, now)));
        if written.flatten()? != BatchOutcome::Changed {
            break;
        }
    }
    if count != 0 {
        if let Some(thread) = thread {
            mpi_time::keep_mpi_time(thread, records);
        }
        RECORDED.fetch_add(count as u64, Relaxed);
        log.head.first += count as u64;
        log.head.previous_end = records.last().map_or(now, |last| last.end);
        log.head.open.clone_from(&log.phases.recorded);
        // The log or its sums have them, or they are counted as dropped: only now may the slots be taken again. If the process ends
        // in between, the reader finds a part of them, and sums may be lost.
        log.ring.head().handed_over.store(log.head.first, SeqCst);
        compiler_fence(SeqCst);
        for record in records.iter_mut() {
            (record.begin, record.end) = (0, 0);
        }
        let head = log.ring.head();
        head.previous_end.store(log.head.previous_end, Relaxed);
        for (slot, open) in head.open.iter().zip(&log.head.open) {
            slot.0.store(open.region, Relaxed);
            slot.1.store(open.iteration, Relaxed);
        }
        head.n_open.store(log.head.open.len().min(MAX_OPEN) as u32, Relaxed);
        head.paused.store(u32::from(log.in_pause), Relaxed);
        head.first.store(log.head.first, SeqCst);
    }
    log.head.paused = log.in_pause;
    log.paused = log.paused.map(|_| log.ring.slots());
    if let Some(thread) = thread {
        thread.poll.set(std::ptr::null_mut());
        thread.spin.set(std::ptr::null_mut());
    }
    Some(count as u32)
}

/// Locates the samples of a time for which only sums of the records go to the log, by the records of the rank's first thread.
pub fn place_samples(log: &mut ThreadLog, records: &[Record]) {
    if log.number == FIRST_THREAD && sampling::is_on() && !is_writing_records() {
        log.cpu_samples.extend(sampling::place_cpu_samples(&log.head, records));
    }
}

/// Returns the records in the ring, in order, each with an end.
fn whole_batch<'a>(thread: Option<&RecorderThread>, log: &mut ThreadLog, now: u64) -> &'a mut [Record] {
    loop {
        look_at_file(thread, log);
        let records = filled_records(thread, log);
        if mend_records(records, now) {
            return records;
        }
        if !has_lost_file(log) {
            break;
        }
    }
    let left_out = leave_out(thread, log, lost_records::leave_out_unbegun);
    if MANY_EMPTY <= left_out {
        report_lost(log, left_out);
    }
    filled_records(thread, log)
}

/// Checks whether the ring has lost its file, and with it records: the remaining ones become the batch, and the loss is reported.
fn look_at_file(thread: Option<&RecorderThread>, log: &mut ThreadLog) {
    if !faults::cover_sigbus() {
        faults::try_pages(log.number);
    }
    if has_lost_file(log) {
        faults::give_up_file(log.number);
    }
    let Some(replaced) = faults::newly_lost(log.number) else { return };
    let lost = leave_out(thread, log, |records| lost_records::leave_out_lost(records, replaced));
    if let Some(thread) = thread.filter(|_| log.paused.is_none()) {
        // As `flush_ring` has it: no slot is free until the batch is handed over.
        thread.limit.set(thread.cursor.get());
    }
    report_lost(log, lost);
}

fn report_lost(log: &ThreadLog, lost: usize) {
    let path = rings::rings_path().display();
    let loss = format_args!("{lost} records are lost, recording continues");
    guard::report_problem(ProblemKind::RingLost, format_args!("{path} was truncated or its disk failed; {loss}"));
    let detail = format!("thread {}: {lost} records are lost", log.number);
    define_now(Definition::Problem(ProblemKind::RingLost as u16, 1, detail));
}

/// Returns whether the records of a batch, all of which have begun, were there until now. If the file was cut short, whole pages or their ends are
/// gone: nothing can be read from them until the ring is marked as lost; and they are zeros where the file was made longer again.
#[inline(never)] // Once a flush; the loop over the records is what counts.
fn is_still_whole(log: &ThreadLog, records: &[Record]) -> bool {
    !has_lost_file(log) && !lost_records::has_lost_pages(records)
}

/// Returns whether the ring has lost its file, or its file was emptied, which is not reported yet.
fn has_lost_file(log: &ThreadLog) -> bool {
    faults::has_lost_file(log.number, || log.ring.is_set_up())
}

/// Gives an end to calls that were left by longjmp or an exception: the start of the next record. Returns whether all slots are filled.
pub fn mend_records(records: &mut [Record], now: u64) -> bool {
    // One comparison and no branch, because all records pass here: a whole one has a begin that is not 0 nor after its end.
    let others: usize = records.iter().map(|record| usize::from(record.begin.wrapping_sub(1) >= record.end)).sum();
    others == 0 || mend_others(records, now)
}

#[cold]
#[inline(never)]
fn mend_others(records: &mut [Record], now: u64) -> bool {
    let (mut next, mut filled) = (now, true);
    for record in records.iter_mut().rev() {
        if record.begin.wrapping_sub(1) < record.end {
            next = record.begin;
            continue;
        }
        if record.begin == 0 {
            filled = false;
            continue;
        }
        if record.end == 0 {
            record.end = next;
            record.flags |= CallFlags::UNFINISHED;
            guard::count_problem(ProblemKind::Unfinished, 1);
        }
        next = record.begin;
    }
    filled
}

/// Writes a batch, which counts as `count` records, in the log's mode, unless it changes while it is read. Counts what cannot be written.
fn write_batch(
    rank_log: &mut OpenLog,
    log: &mut ThreadLog,
    records: &[Record],
    count: usize,
    now: u64,
) -> BatchOutcome {
    let written;
    if rank_log.events() {
        written = rank_log.records(&log.head, records, count, || is_still_whole(log, records));
        match written {
            BatchOutcome::Dropped => note_dropped(log, count as u64),
            BatchOutcome::Taken if log.sums_events => {
                log.is_fold_logged = true;
                if fold_batch(rank_log, log, records, count, now) == BatchOutcome::Changed {
                    rank_log.summaries.give_up();
                }
            }
            _ => {}
        }
    } else {
        if log.is_fold_logged {
            // The log reached its limit: from here on it has the sums alone.
            write_fold(rank_log, log, now);
            log.is_fold_logged = false;
        }
        SUMS.store(true, Relaxed);
        written = fold_batch(rank_log, log, records, count, now);
    }
    rank_log.sample_usage(now, log.number);
    written
}

fn note_dropped(log: &ThreadLog, records: u64) {
    DROPPED.fetch_add(records, Relaxed);
    log.ring.head().dropped.fetch_add(records, Relaxed);
}

fn fold_batch(rank_log: &mut OpenLog, log: &mut ThreadLog, records: &[Record], count: usize, now: u64) -> BatchOutcome {
    let mut fold = log.fold.take().unwrap_or_else(|| rank_log.new_fold(&log.head));
    fold.add_samples(log.cpu_samples.drain(..));
    let folded = rank_log.fold(&mut fold, records, count, || is_still_whole(log, records));
    log.fold = Some(fold);
    if rank_log.slot_has_passed(log.folded_at, now) {
        write_fold(rank_log, log, now);
    } else if !log.is_fold_logged && rank_log.second_has_passed(log.saved_at, now) {
        save_fold(rank_log, log, now);
    }
    folded
}

/// Takes the sums of a fold, with the gaps between polls if there are any.
fn take_sums(fold: &mut ProfileFold, thread: u32) -> SavedSums {
    let batch = fold.take();
    let (sums, places) = fold.take_gaps();
    let first = batch.head.first;
    let gaps = (sums != GapSums::default()).then_some(ProfileGaps { thread, first, sums, places });
    SavedSums { batch, gaps }
}

/// Keeps the sums so far beside the log: a killed process loses what was not kept, a second at most.
fn save_fold(rank_log: &mut OpenLog, log: &mut ThreadLog, now: u64) {
    let Some(mut fold) = log.fold.clone() else { return };
    let sums = take_sums(&mut fold, log.number);
    log.saves_second ^= rank_log.saved.save(&sums, log.saves_second);
    log.saved_at = now;
}

/// Writes the sums so far, unless the log has them as events, and adds them to the thread's summary.
pub fn write_fold(rank_log: &mut OpenLog, log: &mut ThreadLog, now: u64) {
    if let Some(fold) = log.fold.as_mut() {
        let SavedSums { batch, gaps } = take_sums(fold, log.number);
        if batch.profile.records != 0 {
            if let Some(gaps) = gaps.filter(|_| !log.is_fold_logged) {
                rank_log.define(&[Definition::ProfileGaps(gaps)]);
            }
            if !log.is_fold_logged && !rank_log.profile(&batch) {
                note_dropped(log, batch.profile.records);
            }
            rank_log.summaries.add(&mut log.summary, batch);
        }
        (log.folded_at, log.saved_at) = (now, now);
    }
}

/// Has `leave` take records out of the batch: it moves the others to the front and returns their number. Returns how many were taken out.
fn leave_out(
    thread: Option<&RecorderThread>,
    log: &mut ThreadLog,
    leave: impl FnOnce(&mut [Record]) -> usize,
) -> usize {
    let records = filled_records(thread, log);
    let stay = leave(records);
    let left_out = records.len() - stay;
    if left_out != 0 {
        let cursor = log.ring.slots().wrapping_add(stay);
        match (log.paused.as_mut(), thread) {
            (Some(paused), _) => *paused = cursor,
            (None, Some(thread)) => thread.cursor.set(cursor),
            (None, None) => {}
        }
    }
    left_out
}

/// Hands over all that the ring holds; if the log took everything, the ring's file goes when the log is closed.
/// `thread` as in [`hand_over`].
pub fn close_ring(thread: Option<&RecorderThread>, log: &mut ThreadLog) {
    let now = read_ticks();
    faults::try_pages(log.number);
    look_at_file(thread, log);
    leave_out(thread, log, lost_records::leave_out_unbegun);
    let n = filled_records(thread, log).len();
    if log.head.first == 0 {
        LOG.with(|rank_log| log.sums_events |= rank_log.summaries.is_folding_last(n));
    }
    hand_over(thread, log, now);
    LOG.with(|rank_log| {
        write_fold(rank_log, log, now);
        rank_log.summaries.end(log.summary.take());
        rank_log.emptied += u32::from(log.ring.head().dropped.load(Relaxed) == 0);
    });
}

/// Writes the calling thread's ring to the log now (MPI_Pcontrol(2)).
pub fn flush_now(thread: &RecorderThread) {
    if recording_state() == RecordingState::Recording
        && let Some(log) = thread.log().filter(|log| log.paused.is_none())
    {
        run_critical_section(|| {
            flush_ring(thread, log);
            LOG.with(|rank_log| write_fold(rank_log, log, read_ticks()));
        });
    }
}
