//! The time that a thread spends in MPI and in the recorder from an instant on, by its records.

use lbprof_collector::Operation;
use lbprof_collector::joined::JOINED_COMPLETED;
use lbprof_collector::record::Record;

use crate::machine::system::clock::read_ticks;
use crate::recording::filled_slots::filled_records;
use crate::state::thread::RecorderThread;

/// Starts to count anew, and returns this instant, in ticks.
#[inline(always)]
pub fn begin_mpi_time(thread: &RecorderThread) -> u64 {
    let now = read_ticks();
    thread.team.mpi_since.set(now);
    thread.team.mpi_flushed.set(0);
    now
}

/// Returns the ticks in MPI since [`begin_mpi_time`].
#[inline(always)]
pub fn so_far(thread: &RecorderThread) -> u64 {
    let records = thread.log().map(|log| filled_records(Some(thread), log)).unwrap_or_default();
    thread.team.mpi_flushed.get() + ticks_since(records, thread.team.mpi_since.get())
}

/// Keeps the time of these records, which are about to be cleared.
pub fn keep_mpi_time(thread: &RecorderThread, records: &[Record]) {
    let since = thread.team.mpi_since.get();
    if since != 0 {
        thread.team.mpi_flushed.set(thread.team.mpi_flushed.get() + ticks_since(records, since));
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
