//! The part of a thread's ring that is filled.

use lbprof_collector::record::Record;

use crate::state::thread::RecorderThread;
use crate::state::thread_log::ThreadLog;

/// The records in the ring, in order, for the one who has its log. `thread` is the thread whose log this is; `None`: it has ended. The cursor of a paused
/// thread, or of none, is kept aside.
pub fn filled_records<'a>(thread: Option<&RecorderThread>, log: &ThreadLog) -> &'a mut [Record] {
    let slots = log.ring.slots();
    let cursor = log.paused.or(thread.map(|thread| thread.cursor.get())).unwrap_or(slots);
    // SAFETY: the slots between the ring's first and the cursor were filled by this thread.
    unsafe {
        let filled = if cursor.is_null() { 0 } else { cursor.offset_from(slots).max(0) as usize };
        std::slice::from_raw_parts_mut(slots, filled.min(log.ring.capacity()))
    }
}
