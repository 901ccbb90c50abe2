//! Room in the thread's ring: the next slot, and the rare cases where there is none.

use std::ptr::NonNull;

use lbprof_collector::Operation;
use lbprof_collector::record::Record;

use crate::harmless::enter;

use crate::machine::system::clock::read_ticks;
use crate::mpi::nesting;
use crate::recording::flush::{self, flush_ring};
use crate::recording::registry::attach_ring;
use crate::recording::slot::store_record;
use crate::recording::{filled_slots, nested};
use crate::sampling;
use crate::state::stage::{self, RecordingState, recording_state};
use crate::state::thread::{Canary, RecorderThread, VolatileCell};
use crate::state::thread_log::ThreadLog;

/// Reserves the next slot for a call whose wrapper holds `canary`; `None` where nothing is to be recorded.
///
/// # Safety
/// `canary` is a word of the caller's frame that outlives the call.
#[inline(always)]
pub unsafe fn reserve_slot(thread: &RecorderThread, canary: *mut Canary) -> Option<NonNull<Record>> {
    let cursor = thread.cursor.get();
    let slot = if cursor == thread.limit.get() {
        NonNull::new(make_room(thread))?
    } else {
        // SAFETY: a thread without a ring has cursor and limit null, so this one has a ring.
        unsafe { NonNull::new_unchecked(cursor) }
    };
    thread.cursor.set(slot.as_ptr().wrapping_add(1));
    // SAFETY: the caller's promise.
    unsafe { canary.cast::<usize>().write_volatile(thread.address()) };
    thread.inside.set(canary as usize);
    Some(slot)
}

/// Writes a record that is not an intercepted call: a marker, or a part of the call before it. Returns false only if the thread does not record.
pub fn append_record(thread: &RecorderThread, mut record: Record) -> bool {
    let mut slot = thread.cursor.get();
    if slot == thread.limit.get() {
        let full = slot;
        slot = refill(thread);
        if slot.is_null() {
            return false;
        }
        if slot != full {
            // Its time was taken before the flush, whose record it follows.
            record.begin = read_ticks();
            record.end = record.end.max(record.begin);
        }
    }
    thread.cursor.set(slot.wrapping_add(1));
    // SAFETY: between cursor and limit lie slots of this thread's ring.
    unsafe { store_record(slot, record) };
    true
}

/// Takes the next slot for a part of the call that has just ended, and fills it from `template`, all but its begin. Returns null if
/// the thread does not record. [`publish_part`](super::slot::publish_part) ends it.
#[inline(always)]
pub fn add_part(thread: &RecorderThread, template: &Record) -> *mut Record {
    let (mut slot, mut end) = (thread.cursor.get(), template.end);
    if slot == thread.limit.get() {
        let full = slot;
        slot = make_room(thread);
        if slot.is_null() {
            return slot;
        }
        if slot != full {
            // As in `append`: it follows the flush.
            end = read_ticks();
        }
    }
    thread.cursor.set(slot.wrapping_add(1));
    // SAFETY: as in `append_record`.
    unsafe { slot.write(Record { begin: 0, end, ..*template }) };
    slot
}

/// Returns the next free slot, or null, if the ring of the calling thread is full, or it makes its first call, or nothing is to be recorded.
#[cold]
#[inline(never)]
pub fn make_room(thread: &RecorderThread) -> *mut Record {
    let is_recording = recording_state() == RecordingState::Recording;
    if is_recording && thread.busy.get() == 0 && !thread.refused.get() {
        if !stage::is_disabled() {
            return refill_for_call(thread);
        }
        // Recording was given up: what goes into the ring without anything else is recorded still.
        if let Some(log) = thread.log()
            && log.paused.is_none()
            && pass_check_point(thread, log, read_ticks())
        {
            return thread.cursor.get();
        }
    }
    // Also where recording ended while the thread had a ring: its slots must not be reused.
    thread.cursor.set(thread.limit.get());
    if is_recording {
        left_out(thread);
    }
    std::ptr::null_mut()
}

/// Refills for a call, see [`refill`]. Apart from [`make_room`], which has less to save without it: if recording is off, each call comes by
/// there.
#[cold]
#[inline(never)]
fn refill_for_call(thread: &RecorderThread) -> *mut Record {
    let slot = refill(thread);
    if slot.is_null() {
        left_out(thread);
    }
    slot
}

/// Counts a record without a slot while recording is on, if need be.
#[cold]
#[inline(never)]
fn left_out(thread: &RecorderThread) {
    if !nesting::is_any_mpi(thread.caller.get()) {
        if thread.at_work.get() != 0 {
            nested::found_at_work(thread);
        }
        if stage::is_disabled() && (thread.busy.get() == 0 || thread.left.get()) {
            flush::count_dropped(1);
        }
    }
}

/// Makes room like [`make_room`], also from within the recorder.
#[cold]
#[inline(never)]
pub fn refill(thread: &RecorderThread) -> *mut Record {
    if let Some(log) = thread.log() {
        if log.paused.is_some() {
            return set_aside(thread);
        }
        if log.checks.is_some() && thread.busy.get() == 0 {
            let now = read_ticks();
            if !sampling::is_due(now) && pass_check_point(thread, log, now) {
                return thread.cursor.get();
            }
        }
    }
    enter::run_critical(|| {
        if !thread.has_log() {
            attach_ring(thread);
        }
        let Some(log) = thread.log() else { return };
        if is_at_check_point(thread, log) {
            look_at_samples(thread, log);
            pass_check_point(thread, log, read_ticks());
        }
        // Also the ring of a thread that has ended may be full.
        if thread.cursor.get() == thread.limit.get() {
            flush_ring(thread, log);
        }
    });
    if thread.cursor.get() == thread.limit.get() { std::ptr::null_mut() } else { thread.cursor.get() }
}

/// Returns whether the cursor is at a check point with free slots after it. `log` is the thread's.
fn is_at_check_point(thread: &RecorderThread, log: &ThreadLog) -> bool {
    let cursor = thread.cursor.get();
    cursor == thread.limit.get() && !log.closed && (log.ring.slots()..log.limit()).contains(&cursor)
}

/// Gives the thread the slots up to its next check point. Returns false if the ring is full.
fn pass_check_point(thread: &RecorderThread, log: &mut ThreadLog, now: u64) -> bool {
    let passes = is_at_check_point(thread, log);
    if passes {
        log.pass_check(now, sampling::look_interval());
        thread.limit.set(log.check_point(thread.cursor.get()));
    }
    passes
}

/// Has the samples looked at. If any were written, that is the recorder's time, not the program's: the slot at the check point has it.
fn look_at_samples(thread: &RecorderThread, log: &mut ThreadLog) {
    let begin = read_ticks();
    if sampling::is_due(begin) {
        flush::place_samples(log, filled_slots::filled_records(Some(thread), log));
    }
    if sampling::look_at_rings(begin, log.number) {
        let slot = thread.cursor.get();
        // SAFETY: a free slot of the thread's own ring. Up to the last store it has none, so that a handler's calls find none.
        unsafe { store_record(slot, Record { end: read_ticks(), ..Record::new(Operation::Flush, begin) }) };
        thread.limit.set_volatile(slot.wrapping_add(1));
        thread.cursor.set_volatile(slot.wrapping_add(1));
    }
}

/// Has the next record written to memory that is never read.
pub fn set_aside(thread: &RecorderThread) -> *mut Record {
    let aside = thread.aside.as_ptr().cast::<Record>();
    thread.cursor.set(aside);
    thread.limit.set(aside.wrapping_add(1));
    aside
}
