//! Room in the thread's ring: the next slot, and the rare cases where there is none.

use std::ptr::NonNull;

use lbprof_collector::Operation;
use lbprof_collector::record::Record;

use crate::harmless::enter;

use crate::mpi::nesting;
use crate::recording::flush::{self, flush_ring};
use crate::recording::registry::attach_ring;
use crate::recording::slot::store_record;
use crate::recording::{filled_slots, in_finalize, nested};
use crate::sampling;
use crate::state::stage::{self, RecordingState, recording_state};
use crate::state::thread::{Canary, RecorderThread};
use crate::state::thread_log::ThreadLog;
use crate::system::clock::read_ticks;

/// Reserves the next slot for a call whose wrapper holds `canary`; `None` where nothing is to be recorded.
///
/// # Safety
/// `thread` is the calling thread's state, `canary` a word of the caller's frame that outlives the call.
#[inline(always)]
pub unsafe fn reserve_slot(thread: *mut RecorderThread, canary: *mut Canary) -> Option<NonNull<Record>> {
    // SAFETY: the caller's promises; between cursor and limit lie slots of this thread's ring.
    unsafe {
        let cursor = (*thread).cursor;
        let slot = if cursor == (*thread).limit {
            NonNull::new(make_room(thread))?
        } else {
            // A thread without a ring has cursor and limit null, so this one has a ring.
            NonNull::new_unchecked(cursor)
        };
        (*thread).cursor = slot.as_ptr().add(1);
        canary.cast::<usize>().write_volatile(thread as usize);
        (*thread).inside = canary as usize;
        Some(slot)
    }
}

/// Writes a record that is not an intercepted call: a marker, or a part of the call before it. Returns false only if the thread does not record.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn append_record(thread: *mut RecorderThread, mut record: Record) -> bool {
    // SAFETY: as in `reserve`.
    unsafe {
        let mut slot = (*thread).cursor;
        if slot == (*thread).limit {
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
        (*thread).cursor = slot.add(1);
        store_record(slot, record);
        true
    }
}

/// Takes the next slot for a part of the call that has just ended, and fills it from `template`, all but its begin. Returns null if
/// the thread does not record. [`publish_part`](super::slot::publish_part) ends it.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn add_part(thread: *mut RecorderThread, template: &Record) -> *mut Record {
    // SAFETY: as in `reserve`.
    unsafe {
        let (mut slot, mut end) = ((*thread).cursor, template.end);
        if slot == (*thread).limit {
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
        (*thread).cursor = slot.add(1);
        slot.write(Record { begin: 0, end, ..*template });
        slot
    }
}

/// Returns the next free slot, or null, if the ring of the calling thread is full, or it makes its first call, or nothing is to be recorded.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn make_room(thread: *mut RecorderThread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let is_recording = recording_state() == RecordingState::Recording;
        if is_recording && (*thread).busy == 0 && !(*thread).refused {
            if !stage::is_disabled() {
                return refill_for_call(thread);
            }
            // Recording was given up: what goes into the ring without anything else is recorded still.
            if let Some(log) = (*thread).log.as_mut()
                && log.paused.is_none()
                && pass_check_point(thread, log, read_ticks())
            {
                return (*thread).cursor;
            }
        }
        // Also where recording ended while the thread had a ring: its slots must not be reused.
        (*thread).cursor = (*thread).limit;
        if is_recording || in_finalize::is_under_way() {
            left_out(thread, is_recording);
        }
    }
    std::ptr::null_mut()
}

/// Refills for a call, see [`refill`]. Apart from [`make_room`], which has less to save without it: if recording is off, each call comes by
/// there.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn refill_for_call(thread: *mut RecorderThread) -> *mut Record {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = refill(thread);
        if slot.is_null() {
            left_out(thread, true);
        }
        slot
    }
}

/// Counts a record without a slot, if need be.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn left_out(thread: *mut RecorderThread, is_recording: bool) {
    // SAFETY: the thread's own state.
    unsafe {
        if is_recording && !nesting::is_any_mpi((*thread).caller) {
            if (*thread).at_work != 0 {
                nested::found_at_work(thread);
            }
            if stage::is_disabled() && ((*thread).busy == 0 || (*thread).left) {
                flush::count_dropped(1);
            }
        }
        in_finalize::count_in_finalize(thread);
    }
}

/// Makes room like [`make_room`], also from within the recorder.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn refill(thread: *mut RecorderThread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        if let Some(log) = (*thread).log.as_mut() {
            if log.paused.is_some() {
                return set_aside(thread);
            }
            if log.checks.is_some() && (*thread).busy == 0 {
                let now = read_ticks();
                if !sampling::is_due(now) && pass_check_point(thread, log, now) {
                    return (*thread).cursor;
                }
            }
        }
        enter::run_critical(thread, || {
            if (*thread).log.is_null() {
                attach_ring(thread);
            }
            let Some(log) = (*thread).log.as_mut() else { return };
            if is_at_check_point(thread, log) {
                look_at_samples(thread, log);
                pass_check_point(thread, log, read_ticks());
            }
            // Also the ring of a thread that has ended may be full.
            if (*thread).cursor == (*thread).limit {
                flush_ring(thread, log);
            }
        });
        if (*thread).cursor == (*thread).limit { std::ptr::null_mut() } else { (*thread).cursor }
    }
}

/// Returns whether the cursor is at a check point with free slots after it.
///
/// # Safety
/// `thread` is the calling thread's state, and `log` its log.
unsafe fn is_at_check_point(thread: *mut RecorderThread, log: &ThreadLog) -> bool {
    // SAFETY: the thread's own state.
    let (cursor, limit) = unsafe { ((*thread).cursor, (*thread).limit) };
    cursor == limit && !log.closed && (log.ring.slots()..log.limit()).contains(&cursor)
}

/// Gives the thread the slots up to its next check point. Returns false if the ring is full.
///
/// # Safety
/// As [`is_at_check_point`].
unsafe fn pass_check_point(thread: *mut RecorderThread, log: &mut ThreadLog, now: u64) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let passes = is_at_check_point(thread, log);
        if passes {
            log.pass_check(now, sampling::look_interval());
            (*thread).limit = log.check_point((*thread).cursor);
        }
        passes
    }
}

/// Has the samples looked at. If any were written, that is the recorder's time, not the program's.
///
/// # Safety
/// As [`is_at_check_point`], which is so: there is a free slot.
unsafe fn look_at_samples(thread: *mut RecorderThread, log: &mut ThreadLog) {
    let begin = read_ticks();
    if sampling::is_due(begin) {
        // SAFETY: the thread's own ring.
        flush::place_samples(log, unsafe { filled_slots::filled_records(thread, log) });
    }
    if sampling::look_at_rings(begin, log.number) {
        // SAFETY: a free slot of the thread's own ring. Up to the last store it has none, so that a handler's calls find none.
        unsafe {
            store_record((*thread).cursor, Record { end: read_ticks(), ..Record::new(Operation::Flush, begin) });
            let next = (*thread).cursor.add(1);
            (&raw mut (*thread).limit).write_volatile(next);
            (&raw mut (*thread).cursor).write_volatile(next);
        }
    }
}

/// Has the next record written to memory that is never read.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn set_aside(thread: *mut RecorderThread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let aside = (&raw mut (*thread).aside).cast::<Record>();
        (*thread).cursor = aside;
        (*thread).limit = aside.add(1);
        aside
    }
}
