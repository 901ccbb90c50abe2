//! The part of a thread's ring that is filled.

use lbprof_collector::record::Record;

use crate::state::thread::RecorderThread;
use crate::state::thread_log::ThreadLog;

/// The records in the ring, in order. The cursor of a paused thread, or of none (null), is kept aside.
///
/// # Safety
/// `thread` is the state of the thread whose log this is, and the caller's own or one that makes no calls any more; or null.
pub unsafe fn filled_records<'a>(thread: *mut RecorderThread, log: &ThreadLog) -> &'a mut [Record] {
    let slots = log.ring.slots();
    // SAFETY: the slots between the ring's first and the cursor were filled by this thread.
    unsafe {
        let cursor = log.paused.or(thread.as_ref().map(|thread| thread.cursor)).unwrap_or(slots);
        let filled = if cursor.is_null() { 0 } else { cursor.offset_from(slots).max(0) as usize };
        std::slice::from_raw_parts_mut(slots, filled.min(log.ring.capacity()))
    }
}
