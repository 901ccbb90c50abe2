//! The time that a thread spends in MPI and in the recorder from an instant on, by its records.

use lbprof_collector::Operation;
use lbprof_collector::joined::JOINED_COMPLETED;
use lbprof_collector::record::Record;

use crate::recording::filled_slots::filled_records;
use crate::state::thread::RecorderThread;
use crate::system::clock::read_ticks;

/// Starts to count anew, and returns this instant, in ticks.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn begin_mpi_time(thread: *mut RecorderThread) -> u64 {
    let now = read_ticks();
    // SAFETY: the thread's own state.
    unsafe {
        (*thread).team.mpi_since = now;
        (*thread).team.mpi_flushed = 0;
    }
    now
}

/// Returns the ticks in MPI since [`begin_mpi_time`].
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn so_far(thread: *mut RecorderThread) -> u64 {
    // SAFETY: the thread's own state.
    unsafe {
        let team = &(*thread).team;
        let in_ring = match (*thread).log.as_ref() {
            Some(log) => ticks_since(filled_records(thread, log), team.mpi_since),
            None => 0,
        };
        team.mpi_flushed + in_ring
    }
}

/// Keeps the time of these records, which are about to be cleared.
///
/// # Safety
/// `thread` is null, or the state of a thread that is this one or makes no calls any more.
pub unsafe fn keep_mpi_time(thread: *mut RecorderThread, records: &[Record]) {
    // SAFETY: the caller's promise.
    if let Some(thread) = unsafe { thread.as_mut() }
        && thread.team.mpi_since != 0
    {
        thread.team.mpi_flushed += ticks_since(records, thread.team.mpi_since);
    }
}

/// Returns the ticks of the calls, and of the recorder, in the records that began since then.
fn ticks_since(records: &[Record], since: u64) -> u64 {
    let recent = records.iter().rev().take_while(|record| record.begin >= since);
    let timed = recent.filter(|record| {
        let operation = record.operation & !JOINED_COMPLETED;
        operation < Operation::FIRST_MARKER || operation == Operation::Flush as u16
    });
    timed.map(|record| record.end.saturating_sub(record.begin)).sum()
}
