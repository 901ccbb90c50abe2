//! Room in the thread's ring: the next slot, and the rare cases where there is none.

use std::ptr::NonNull;

use lbprof_collector::record::Record;

use crate::harmless::enter;
use crate::harmless::signals::critical;
use crate::mpi::nesting;
use crate::recording::flush::{self, flush};
use crate::recording::registry::attach;
use crate::recording::slot::store;
use crate::recording::{in_finalize, nested};
use crate::state::stage::{self, RecordingState, state};
use crate::state::thread::{Canary, Thread};
use crate::system::clock::ticks;

/// Reserves the next slot for a call whose wrapper holds `canary`; `None` where nothing is to be recorded.
///
/// # Safety
/// `thread` is the calling thread's state, `canary` a word of the caller's frame that outlives the call.
#[inline(always)]
pub unsafe fn reserve(thread: *mut Thread, canary: *mut Canary) -> Option<NonNull<Record>> {
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

/// Writes a record that is not an intercepted call: a marker, or a part of the call before it. Counts it as lost
/// nowhere: it returns false only where the thread does not record.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn append(thread: *mut Thread, mut record: Record) -> bool {
    // SAFETY: as in `reserve`.
    unsafe {
        let mut slot = (*thread).cursor;
        if slot == (*thread).limit {
            slot = refill(thread);
            if slot.is_null() {
                return false;
            }
            // Its time was taken before the flush, whose record it follows.
            record.begin = ticks();
            record.end = record.end.max(record.begin);
        }
        (*thread).cursor = slot.add(1);
        store(slot, record);
        true
    }
}

/// Takes the next slot for a part of the call that has just ended, and fills it from `template`, all but its begin; null where
/// the thread does not record. [`publish_part`](super::slot::publish_part) ends it.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn add_part(thread: *mut Thread, template: &Record) -> *mut Record {
    // SAFETY: as in `reserve`.
    unsafe {
        let (mut slot, mut end) = ((*thread).cursor, template.end);
        if slot == (*thread).limit {
            slot = make_room(thread);
            if slot.is_null() {
                return slot;
            }
            // As in `append`: it follows the flush.
            end = ticks();
        }
        (*thread).cursor = slot.add(1);
        slot.write(Record { begin: 0, end, ..*template });
        slot
    }
}

/// The ring of the calling thread is full, or the thread makes its first call, or nothing is to be recorded. Gives the next
/// free slot, or null.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn make_room(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let is_recording = state() == RecordingState::Recording;
        if is_recording && (*thread).busy == 0 && !(*thread).refused && !stage::disabled() {
            return refill_for_call(thread);
        }
        // Also where recording ended while the thread had a ring: its slots must not be reused.
        (*thread).cursor = (*thread).limit;
        if is_recording || in_finalize::is_under_way() {
            left_out(thread, is_recording);
        }
    }
    std::ptr::null_mut()
}

/// As [`refill`]. Apart from [`make_room`], which has less to save without it: where recording is off each call comes by there.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn refill_for_call(thread: *mut Thread) -> *mut Record {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = refill(thread);
        if slot.is_null() {
            left_out(thread, true);
        }
        slot
    }
}

/// A record has no slot, but is not one of a process that records nothing: it may have to be counted.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
unsafe fn left_out(thread: *mut Thread, is_recording: bool) {
    // SAFETY: the thread's own state.
    unsafe {
        if is_recording && !nesting::is_any_mpi((*thread).caller) {
            if (*thread).busy != 0 {
                nested::found_at_work(thread);
            }
            if stage::disabled() && ((*thread).busy == 0 || (*thread).left) {
                flush::count_dropped(1);
            }
        }
        in_finalize::count(thread);
    }
}

/// As [`make_room`], also from within the recorder.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn refill(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        if (*thread).log.as_ref().is_some_and(|log| log.paused.is_some()) {
            return set_aside(thread);
        }
        let (caller, next) = ((*thread).caller, (*thread).next);
        enter::recording(thread, || {
            critical(|| {
                if (*thread).log.is_null() {
                    attach(thread);
                }
                // Also the ring of a thread that has ended may be full.
                if let Some(log) = (*thread).log.as_mut()
                    && (*thread).cursor == (*thread).limit
                {
                    flush(thread, log);
                }
            });
        });
        ((*thread).caller, (*thread).next) = (caller, next);
        if (*thread).cursor == (*thread).limit { std::ptr::null_mut() } else { (*thread).cursor }
    }
}

/// Has the next record written to where nobody reads it.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn set_aside(thread: *mut Thread) -> *mut Record {
    // SAFETY: the thread's own state.
    unsafe {
        let aside = (&raw mut (*thread).aside).cast::<Record>();
        (*thread).cursor = aside;
        (*thread).limit = aside.add(1);
        aside
    }
}
