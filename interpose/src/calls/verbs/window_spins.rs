//! Folds calls on a window that a program repeats until it reads the value that it waits for ([`lbprof_collector::spinning`]): repetitions
//! that follow one another at once become one record of each kind.
//!
//! ```text
//!   |sync|.|sync|.|sync|…            16 of them have their own records, the others share the last one's
//!   |lock|get|unlock|.|lock|get|…    each kind counts its own calls and bytes; the last record has the time of all
//! ```
//!
//! No call shows whether the program has read that value. So only short gaps are folded, which count as waiting whatever lies in them.

use lbprof_collector::record::Record;
use lbprof_collector::spinning::{IN_TURN, encode_gaps};

use super::polls::{pull_after, record_known_poll, short_gap};
use crate::recording::slot;
use crate::state::thread::RecorderThread;

/// Repetitions that keep their own records.
const ENOUGH_REPETITIONS: u32 = 16;

/// Folds a call on a window that has ended into the records of the calls that it repeats, if it follows them at once.
///
/// # Safety
/// `thread` is the calling thread's state. `slot` is the slot of the call that has just returned, and has no parts.
#[inline(never)]
pub unsafe fn fold_repetition(thread: &RecorderThread, slot: *mut Record) {
    // SAFETY: the slot is the newest of this thread's ring; `spin` is null or an older one of the same ring and batch.
    unsafe {
        let (begin, end) = ((*slot).begin, (*slot).end);
        let gap = begin.wrapping_sub(thread.poll_end.get());
        let follows = thread.spin.get().wrapping_add(1) == slot;
        let known = if follows { record_known_poll(thread, slot, (*slot).flags, IN_TURN) } else { None };
        thread.poll_end.set(end);
        thread.spin_repetitions.set(if known.is_some() { thread.spin_repetitions.get() + 1 } else { 0 });
        if let Some(known) = known.filter(|_| gap < short_gap() && thread.spin_repetitions.get() > ENOUGH_REPETITIONS) {
            thread.spin_repetitions.set(thread.spin_repetitions.get() - 1);
            (*known).count = (*known).count.saturating_add(1);
            (*known).sent = (*known).sent.wrapping_add((*slot).sent);
            (*known).received = (*known).received.wrapping_add((*slot).received);
            let timed = thread.timed_poll.get();
            thread.poll_ticks.set(thread.poll_ticks.get() + gap);
            (*timed).request = encode_gaps(thread.poll_ticks.get());
            (*timed).end = end;
            pull_after(timed, thread.spin.get(), end);
            slot::take_back(thread, slot);
            return;
        }
        if !follows || gap >= short_gap() {
            thread.first_poll.set(slot);
        }
        thread.spin.set(slot);
        thread.timed_poll.set(slot);
        thread.poll_ticks.set(0);
    }
}
