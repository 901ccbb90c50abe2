//! Folds unsuccessful polls that follow one another at once into one record.
//!
//! A program that waits by polling makes millions of them. The record lasts from the start of the first poll to the end of the last. It
//! holds their number, their total time, and the gaps between them, so that the analysis can distinguish a wait from computation
//! ([`lbprof_collector::polling`]). If a program polls several things in turn, each kind of poll has a record that counts its calls, and the
//! last of these records has the time of all. Completions without an active request do not end a wait ([`nothing_active`]).
//!
//! Reading the clock costs more than the rest of a poll, because it waits for everything that the program does meanwhile. So only one of
//! several polls in a row reads it. That loses nothing: the gaps in between are short, however they are divided. The next poll that reads
//! the clock notices a longer gap, which counts as one.

use std::mem::offset_of;

use lbprof_collector::format::ClockSource;
use lbprof_collector::polling::SPINNING;
use lbprof_collector::record::{CallFlags, PollGaps, Record};

use super::{AfterCall, VerbCall};
use crate::machine::system::clock;
use crate::machine::word::{Word, int_at};
use crate::recording::slot;
use crate::state::thread::RecorderThread;

/// Returns the ticks between two unsuccessful polls that start a new record: about 20 µs ([`lbprof_collector::polling::WAITING_NS`]).
/// Counters of processors make 2 to 3 ticks per nanosecond, the system's clock one.
fn longest_gap() -> u64 {
    if clock::clock_source() == ClockSource::Monotonic { 20_000 } else { 50_000 }
}

/// Returns the ticks below which gaps are short: about [`lbprof_collector::polling::SHORT_NS`].
pub(super) fn short_gap() -> u64 {
    longest_gap() / 4
}

/// Kinds of polls that are folded if a program makes them in turn.
const IN_TURN: usize = 16;

/// Quick polls in a row after which only one of [`STRIDE`] reads the clock. After that many, a longer gap is part of the wait.
const MANY_QUICK: u32 = 64;
const _: () = assert!(MANY_QUICK as u64 >= SPINNING);

/// Quick polls that take a few microseconds together.
const STRIDE: u32 = 16;

/// A test that found nothing if its flag or outcount is 0. MPI_UNDEFINED, no active request, is not 0.
#[derive(Clone, Copy)]
pub struct FlagTest {
    /// Address of the flag or outcount.
    pub(super) out: Word,
}

impl AfterCall for FlagTest {
    #[inline(always)]
    unsafe fn is_empty(self) -> bool {
        // SAFETY: a successful call has filled the flag or outcount.
        unsafe { int_at(self.out) == 0 }
    }

    #[inline]
    unsafe fn after<C: VerbCall>(self, call: C, slot: *mut Record, ok: bool) {
        // SAFETY: as above.
        unsafe {
            if ok && self.is_empty() {
                found_nothing(call.thread(), slot);
            }
        }
    }
}

/// Returns whether the poll that takes `slot` does not read the clock.
#[inline(always)]
pub fn is_unmeasured(thread: &RecorderThread, slot: *mut Record) -> bool {
    let quick = thread.quick_polls.get();
    thread.poll.get().wrapping_add(1) == slot && quick >= MANY_QUICK && !quick.is_multiple_of(STRIDE)
}

/// Ends a call that has not read the clock but does not become part of the record before it. Its length is estimated as usual for such
/// polls, limited by the time since the last one.
///
/// # Safety
/// `thread` is the calling thread's state. `slot` is the slot of the call that has just returned, after [`is_unmeasured`].
#[inline(never)]
pub unsafe fn measure_poll(thread: &RecorderThread, slot: *mut Record) {
    // SAFETY: the slot is this call's.
    unsafe {
        slot::close_slot(slot, clock::read_ticks());
        let end = (*slot).end;
        let took = end.saturating_sub(thread.poll_end.get());
        (*slot).begin = end - took.min(thread.usual_poll_ticks.get());
    }
}

/// Counts an unsuccessful poll that took `within`, `gap` ticks after the last measured one. Returns the estimated ticks inside the
/// unmeasured polls in between.
#[inline(always)]
fn count_measured(thread: &RecorderThread, gap: u64, within: u64) -> u64 {
    let (quick, usual) = (thread.quick_polls.get(), thread.usual_poll_ticks.get());
    let unmeasured = u64::from(thread.unmeasured_polls.take());
    thread.usual_poll_ticks.set(if quick == 0 { within } else { (3 * usual + within) / 4 });
    let is_quick = gap + within < short_gap();
    thread.quick_polls.set(if is_quick { quick + 1 } else { 0 });
    (unmeasured * usual).min(gap)
}

/// Folds a test or probe that found nothing into the record of such polls before it, if it follows them at once.
///
/// # Safety
/// `thread` is the calling thread's state. `slot` is the slot of the call that has just returned.
#[inline]
pub(super) unsafe fn found_nothing(thread: &RecorderThread, slot: *mut Record) {
    // SAFETY: the slot is the newest of this thread's ring; `poll` is null or an older one of the same ring and batch.
    unsafe {
        let flags = (*slot).flags | CallFlags::NOTHING;
        (*slot).flags = flags;
        if (*slot).end == 0 {
            if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
                (*known).count = (*known).count.saturating_add(1);
                // A multiple of the stride follows the largest number, so that some polls are measured however long this goes on.
                thread.quick_polls.set(thread.quick_polls.get().wrapping_add(1).max(MANY_QUICK));
                thread.unmeasured_polls.set(thread.unmeasured_polls.get() + 1);
                slot::take_back(thread, slot);
                return;
            }
            measure_poll(thread, slot);
        }
        let (poll, end) = (thread.poll.get(), (*slot).end);
        let gap = (*slot).begin.wrapping_sub(thread.poll_end.get());
        let within = end.saturating_sub((*slot).begin);
        thread.poll_end.set(end);
        if poll.wrapping_add(1) != slot || gap >= longest_gap() {
            thread.first_poll.set(slot);
        } else if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
            (*known).count = (*known).count.saturating_add(1);
            let unmeasured = count_measured(thread, gap, within);
            lengthen_poll(thread, gap - unmeasured, within + unmeasured, end);
            slot::take_back(thread, slot);
            return;
        }
        thread.quick_polls.set(0);
        thread.unmeasured_polls.set(0);
        thread.poll.set(slot);
        thread.timed_poll.set(slot);
        thread.poll_ticks.set(within);
    }
}

/// Records a completion without an active request, which returned at once and did nothing (MPI-4.1 §3.7.3, §3.7.5).
///
/// Between unsuccessful polls its time is part of theirs, so that the wait goes on. The calls are counted in a record without time.
///
/// # Safety
/// As [`found_nothing`].
#[inline(never)]
pub(super) unsafe fn nothing_active(thread: &RecorderThread, slot: *mut Record) {
    // SAFETY: as in `found_nothing`.
    unsafe {
        let flags = (*slot).flags | CallFlags::NOTHING | CallFlags::INACTIVE;
        (*slot).flags = flags;
        let (begin, end) = ((*slot).begin, (*slot).end);
        let gap = begin.wrapping_sub(thread.poll_end.get());
        if thread.poll.get().wrapping_add(1) != slot || gap >= longest_gap() {
            return;
        }
        thread.poll_end.set(end);
        if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
            (*known).count = (*known).count.saturating_add(1);
            slot::take_back(thread, slot);
        } else {
            thread.poll.set(slot);
        }
        lengthen_poll(thread, gap, end.saturating_sub(begin), end);
    }
}

/// Lengthens the record that has the time of the polls until `end`, by a gap and a call of `within` ticks. The records after it have no
/// time.
///
/// # Safety
/// `thread` is the calling thread's state, with such a record.
#[inline(always)]
unsafe fn lengthen_poll(thread: &RecorderThread, gap: u64, within: u64, end: u64) {
    // SAFETY: from the record that has the time to the last one, all are of this thread's ring and batch.
    unsafe {
        let timed = thread.timed_poll.get();
        thread.poll_ticks.set(thread.poll_ticks.get() + within);
        (*timed).sent = thread.poll_ticks.get();
        let (gaps, short) = (PollGaps((*timed).received), short_gap());
        // Most gaps are short and not the longest so far, and change nothing.
        if gap > gaps.longest() || gap >= short {
            (*timed).received = gaps.and(gap, short).0;
        }
        (*timed).end = end;
        pull_after(timed, thread.poll.get(), end);
    }
}

/// Moves the records after the one that has the time of all, up to the last one, to the end of that time: they have no time.
///
/// # Safety
/// From `timed` to `last` all are of one ring and batch of the calling thread.
#[inline(always)]
pub(super) unsafe fn pull_after(timed: *mut Record, last: *mut Record, end: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut next = timed;
        while next != last {
            next = next.add(1);
            (&raw mut (*next).begin).write_volatile(end);
            (*next).end = end;
        }
    }
}

const _: () =
    assert!(offset_of!(Record, flags) == offset_of!(Record, operation) + 2 && offset_of!(Record, operation) % 4 == 0);
const _: () = assert!(offset_of!(Record, tag) == offset_of!(Record, peer) + 4 && offset_of!(Record, peer) % 8 == 0);

/// Returns whether the poll at `slot`, which has these flags, is of the same kind as the earlier one at `poll`.
///
/// # Safety
/// Both are records of the calling thread's ring.
#[inline(always)]
unsafe fn is_same_poll(poll: *const Record, slot: *const Record, flags: CallFlags) -> bool {
    // SAFETY: the caller's promise. Neighbours are compared as one word, to which the record is aligned.
    unsafe {
        // The flags have just been stored alone: a wider load would have to wait until they are in the cache.
        let operation_flags = u32::from((*slot).operation) | u32::from(flags.0) << 16;
        (*poll).call_site == (*slot).call_site
            && (&raw const (*poll).operation).cast::<u32>().read() == operation_flags
            && (*poll).comm == (*slot).comm
            && (&raw const (*poll).peer).cast::<u64>().read() == (&raw const (*slot).peer).cast::<u64>().read()
    }
}

/// Finds the record of polls of the same kind as the poll at `slot`, which has these flags, among the `in_turn` records before it.
///
/// # Safety
/// As [`found_nothing`].
#[inline]
pub(super) unsafe fn record_known_poll(
    thread: &RecorderThread,
    slot: *mut Record,
    flags: CallFlags,
    in_turn: usize,
) -> Option<*mut Record> {
    // SAFETY: only records of polls lie between the first of them and the slot.
    unsafe {
        let mut poll = slot.sub(1);
        for _ in 0..in_turn {
            if is_same_poll(poll, slot, flags) {
                return Some(poll);
            }
            if poll == thread.first_poll.get() {
                break;
            }
            poll = poll.sub(1);
        }
        None
    }
}
