//! Begins and ends recording: the first record of the window, and all rings at the end of the process or of MPI.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;

use lbprof_collector::Operation;
use lbprof_collector::definition::Definition;
use lbprof_collector::record::Record;

use crate::log::{LOG, define_now};
use crate::machine::system::clock::{monotonic_ns, read_ticks};
use crate::recording::filled_slots::filled_records;
use crate::recording::flush::{SUMS, SUMS_ENDED, close_ring, hand_over, place_samples, write_fold};
use crate::recording::registry::THREADS;
use crate::recording::room::append_record;
use crate::recording::slot::store_record;
use crate::sampling;
use crate::state::stage::{RecordingState, set_state};
use crate::state::thread::{RecorderThread, VolatileCell};
use crate::state::thread_log::ThreadLog;

/// Time for which the end of recording waits for other threads that are in the recorder.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Starts the analysed window, on the thread that called MPI_Init.
pub fn begin_window(thread: &RecorderThread) {
    if let Some(log) = thread.log() {
        let now = read_ticks();
        log.head.previous_end = now;
        log.ring.head().previous_end.store(now, Relaxed);
        define_now(Definition::WindowBegin(now));
        // Writing the definition is the recorder's time, not the program's.
        append_record(thread, Record { end: read_ticks(), ..Record::new(Operation::Flush, now) });
    }
}

/// Stores `record` in the slot that is kept for it, because the program ends, maybe in a handler that has interrupted this thread anywhere but in a
/// critical section. The ring stays as it is.
pub fn last_record(thread: &RecorderThread, record: Record) {
    let Some(log) = thread.log() else { return };
    let slots = log.ring.slots();
    let cursor = log.paused.unwrap_or(thread.cursor.get());
    if !log.closed && (slots..slots.wrapping_add(log.ring.capacity())).contains(&cursor) {
        // SAFETY: slots from the cursor on are free.
        unsafe { store_record(cursor, record) };
        if log.paused.is_none() {
            // It is one of the ring's records, and there is no slot left, be there a check point here or not.
            thread.limit.set(cursor.wrapping_add(1));
        }
    }
    thread.cursor.set(thread.limit.get());
}

/// Writes the sums of all threads that the log lacks when the program ends, as far as that can be done now. Only profile mode has any.
pub fn write_sums() {
    if !SUMS.load(Relaxed) {
        return;
    }
    // Sums are made with the log locked.
    let Some(mut threads) = THREADS.lock_at_end() else { return };
    let Some(mut guard) = LOG.lock_at_end() else { return };
    let Some(rank_log) = guard.as_mut() else { return };
    SUMS_ENDED.store(true, Relaxed);
    let now = read_ticks();
    threads.visit(|thread| {
        if let Some(log) = thread.log() {
            write_fold(rank_log, log, now);
        }
    });
    for log in &mut threads.idle {
        write_fold(rank_log, log, now);
    }
}

/// Writes every ring to the log in MPI_Finalize, this thread's with `last` as its last record. The other threads make no MPI calls at this point.
#[cold]
#[inline(never)] // scripts/bench finds the cost of the last flush by this name.
pub fn close_all(thread: &RecorderThread, last: Record) {
    if let Some(log) = thread.log() {
        let records = filled_records(Some(thread), log);
        place_samples(log, records);
    }
    sampling::end_sampling();
    if let Some(log) = thread.log() {
        log.checks = None;
        if let Some(cursor) = log.paused.take() {
            // The pause lasts until here.
            thread.cursor.set(cursor);
        }
        thread.limit.set(log.limit());
        if thread.cursor.get() == thread.limit.get() && hand_over(Some(thread), log, last.begin).is_some() {
            thread.cursor.set(log.ring.slots());
        }
        append_record(thread, last);
    }
    let idle = {
        let mut threads = THREADS.lock();
        set_state(RecordingState::Done);
        threads.as_mut().map(|threads| std::mem::take(&mut threads.idle)).unwrap_or_default()
    };
    for mut log in idle {
        close_ring(None, &mut log);
    }
    if let Some(log) = thread.log() {
        close_for_good(thread, log);
    }
    close_others();
}

/// Closes the ring of a thread, which gets no more slots.
fn close_for_good(thread: &RecorderThread, log: &mut ThreadLog) {
    close_ring(Some(thread), log);
    log.closed = true;
    thread.cursor.set(thread.limit.get());
}

/// Closes the rings of the other threads. They make no MPI calls, but they may mark phases, and they may end.
///
/// While the list is locked none of them ends. This waits for a thread in the recorder: it entered before recording ended,
/// and leaves soon; one that enters later finds that recording has ended ([`enter_recording`](crate::harmless::enter::enter_recording)). A thread that is
/// not busy does not touch its log any more.
fn close_others() {
    let patience = monotonic_ns() + PATIENCE_NS;
    loop {
        fence(SeqCst);
        let Some(threads) = THREADS.lock() else { return };
        let mut waiting = false;
        threads.visit(|other| {
            let is_busy = other.busy.get_volatile() != 0;
            match other.log() {
                Some(log) if !log.closed && is_busy => waiting = true,
                Some(log) if !log.closed => close_for_good(other, log),
                _ => {}
            }
        });
        drop(threads);
        if !waiting || monotonic_ns() > patience {
            return;
        }
        std::thread::yield_now();
    }
}

/// The process is a fork: what it inherited belongs to its parent, whose ring it must never touch. This is its only thread.
pub fn abandon_ring(thread: &RecorderThread) {
    for place in [&thread.cursor, &thread.limit, &thread.poll, &thread.spin] {
        place.set(std::ptr::null_mut());
    }
    thread.log.set(std::ptr::null_mut());
    thread.id.set(0);
}
