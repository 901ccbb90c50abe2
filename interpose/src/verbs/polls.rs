//! Unsuccessful polls: those that follow one another at once become one record.
//!
//! A program that waits by polling makes millions of them. The record lasts from the begin of the first to the end of the last, and
//! says how many they are, how long they took together, and the gaps between them, so that the analysis can distinguish a wait from
//! computation ([`lbprof_collector::polling`]). Where a program polls several things in turn, each kind of poll has a record that
//! counts them, and the last of these has the time of all. Completions of nothing that is active do not end a wait
//! ([`nothing_active`]).
//!
//! Reading the clock costs more than the rest: it waits for all that the program does meanwhile. So of many polls that follow one another at once only one of some reads
//! it. That decides nothing, for what lies between are short gaps, however they are divided; a longer one is seen with the next poll that
//! reads the clock, and counts as one gap.

use std::mem::offset_of;

use lbprof_collector::format::ClockSource;
use lbprof_collector::polling::SPINNING;
use lbprof_collector::record::{CallFlags, PollGaps, Record};

use crate::recording::slot;
use crate::state::thread::RecorderThread;
use crate::system::clock;

/// Ticks between two unsuccessful polls from which they are two records: about 20 µs
/// ([`lbprof_collector::polling::WAITING_NS`]), for counters of processors make 2 to 3 ticks a nanosecond, the system's clock one.
fn longest_gap() -> u64 {
    if clock::source() == ClockSource::Monotonic { 20_000 } else { 50_000 }
}

/// Ticks below which gaps are short: about [`lbprof_collector::polling::SHORT_NS`].
pub(super) fn short_gap() -> u64 {
    longest_gap() / 4
}

/// Polls of so many kinds are folded where a program makes them in turn.
const IN_TURN: usize = 16;

/// Quick polls in a row from which on only one of [`STRIDE`] reads the clock: as many after which a longer gap is part of the wait.
const MANY_QUICK: u32 = 64;
const _: () = assert!(MANY_QUICK as u64 >= SPINNING);

/// So many quick polls take a few microseconds together.
const STRIDE: u32 = 16;

/// Returns whether the poll that takes `slot` does not read the clock.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
pub unsafe fn is_unmeasured(thread: *mut RecorderThread, slot: *mut Record) -> bool {
    // SAFETY: the thread's own state.
    unsafe {
        let quick = (*thread).quick_polls;
        (*thread).poll.wrapping_add(1) == slot && quick >= MANY_QUICK && !quick.is_multiple_of(STRIDE)
    }
}

/// Ends a call that has not read the clock after all, because it does not become part of the record before it. It took as long as such polls usually do, as far as
/// there was time.
///
/// # Safety
/// `thread` is the calling thread's state. `slot` is that of the call that has just returned, after [`is_unmeasured`].
#[inline(never)]
pub unsafe fn measure(thread: *mut RecorderThread, slot: *mut Record) {
    // SAFETY: the slot is this call's.
    unsafe {
        slot::close(slot, clock::ticks());
        let end = (*slot).end;
        let took = end.saturating_sub((*thread).poll_end);
        (*slot).begin = end - took.min((*thread).usual_poll_ticks);
    }
}

/// Counts a poll that found nothing, and took `within`, among those that follow one another at once, `gap` after the last one that was measured. Returns the ticks
/// within those since.
///
/// # Safety
/// `thread` is the calling thread's state.
#[inline(always)]
unsafe fn count_measured(thread: *mut RecorderThread, gap: u64, within: u64) -> u64 {
    // SAFETY: the thread's own state.
    unsafe {
        let (quick, usual) = ((*thread).quick_polls, (*thread).usual_poll_ticks);
        let unmeasured = u64::from(std::mem::take(&mut (*thread).unmeasured_polls));
        (*thread).usual_poll_ticks = if quick == 0 { within } else { (3 * usual + within) / 4 };
        let is_quick = gap + within < short_gap();
        (*thread).quick_polls = if is_quick { quick + 1 } else { 0 };
        (unmeasured * usual).min(gap)
    }
}

/// A test or probe found nothing: it becomes part of the record of such polls before it, where they follow one another at once.
///
/// # Safety
/// `thread` is the calling thread's state. `slot` is that of the call that has just returned.
#[inline]
pub(super) unsafe fn found_nothing(thread: *mut RecorderThread, slot: *mut Record) {
    // SAFETY: the slot is the newest of this thread's ring; `poll` is null or an older one of the same ring and batch.
    unsafe {
        let flags = (*slot).flags | CallFlags::NOTHING;
        (*slot).flags = flags;
        if (*slot).end == 0 {
            if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
                (*known).count = (*known).count.saturating_add(1);
                // A multiple of the stride follows the largest number, so that one of several is measured however long it goes on.
                (*thread).quick_polls = (*thread).quick_polls.wrapping_add(1).max(MANY_QUICK);
                (*thread).unmeasured_polls += 1;
                slot::take_back(thread, slot);
                return;
            }
            measure(thread, slot);
        }
        let (poll, end) = ((*thread).poll, (*slot).end);
        let gap = (*slot).begin.wrapping_sub((*thread).poll_end);
        let within = end.saturating_sub((*slot).begin);
        (*thread).poll_end = end;
        if poll.wrapping_add(1) != slot || gap >= longest_gap() {
            (*thread).first_poll = slot;
        } else if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
            (*known).count = (*known).count.saturating_add(1);
            let unmeasured = count_measured(thread, gap, within);
            lengthen(thread, gap - unmeasured, within + unmeasured, end);
            slot::take_back(thread, slot);
            return;
        }
        ((*thread).quick_polls, (*thread).unmeasured_polls) = (0, 0);
        (*thread).poll = slot;
        (*thread).timed_poll = slot;
        (*thread).poll_ticks = within;
    }
}

/// A completion had no active request: it returned at once and did nothing (MPI-4.1 §3.7.3, §3.7.5).
///
/// Between unsuccessful polls its time is part of theirs, so that the wait goes on; the calls are counted in a record without time.
///
/// # Safety
/// As [`found_nothing`].
#[inline(never)]
pub(super) unsafe fn nothing_active(thread: *mut RecorderThread, slot: *mut Record) {
    // SAFETY: as in `found_nothing`.
    unsafe {
        let flags = (*slot).flags | CallFlags::NOTHING | CallFlags::INACTIVE;
        (*slot).flags = flags;
        let (begin, end) = ((*slot).begin, (*slot).end);
        let gap = begin.wrapping_sub((*thread).poll_end);
        if (*thread).poll.wrapping_add(1) != slot || gap >= longest_gap() {
            return;
        }
        (*thread).poll_end = end;
        if let Some(known) = record_known_poll(thread, slot, flags, IN_TURN) {
            (*known).count = (*known).count.saturating_add(1);
            slot::take_back(thread, slot);
        } else {
            (*thread).poll = slot;
        }
        lengthen(thread, gap, end.saturating_sub(begin), end);
    }
}

/// The record that has the time of the polls lasts until `end` and has another gap, and a call of `within` ticks; the records
/// after it have no time.
///
/// # Safety
/// `thread` is the calling thread's state, with such a record.
#[inline(always)]
unsafe fn lengthen(thread: *mut RecorderThread, gap: u64, within: u64, end: u64) {
    // SAFETY: from the record that has the time to the last one, all are of this thread's ring and batch.
    unsafe {
        let timed = (*thread).timed_poll;
        (*thread).poll_ticks += within;
        (*timed).sent = (*thread).poll_ticks;
        let (gaps, short) = (PollGaps((*timed).received), short_gap());
        // Most gaps are neither the longest so far nor count among those that are not short, and change nothing.
        if gap > gaps.longest() || gap >= short {
            (*timed).received = gaps.and(gap, short).0;
        }
        (*timed).end = end;
        pull_after(timed, (*thread).poll, end);
    }
}

/// Moves the records after the one that has the time of all, up to the last one, to the end of that time: they have none.
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

/// True if the poll at `slot`, which has these flags, is of the same kind as the earlier one at `poll`.
///
/// # Safety
/// Both are records of the calling thread's ring.
#[inline(always)]
unsafe fn is_same_poll(poll: *const Record, slot: *const Record, flags: CallFlags) -> bool {
    // SAFETY: the caller's promise. Neighbours are compared together: the record is aligned to more than the words that they make up.
    unsafe {
        // The flags have just been stored alone: a wider load would have to wait until they are in the cache.
        let operation_flags = u32::from((*slot).operation) | u32::from(flags.0) << 16;
        (*poll).call_site == (*slot).call_site
            && (&raw const (*poll).operation).cast::<u32>().read() == operation_flags
            && (*poll).comm == (*slot).comm
            && (&raw const (*poll).peer).cast::<u64>().read() == (&raw const (*slot).peer).cast::<u64>().read()
    }
}

/// The record of polls of the same kind as that at `slot`, which follows them and has these flags, among so many before it.
///
/// # Safety
/// As [`found_nothing`].
#[inline]
pub(super) unsafe fn record_known_poll(
    thread: *mut RecorderThread,
    slot: *mut Record,
    flags: CallFlags,
    in_turn: usize,
) -> Option<*mut Record> {
    // SAFETY: records of polls lie between the first of them and the slot, without others between.
    unsafe {
        let mut poll = slot.sub(1);
        for _ in 0..in_turn {
            if is_same_poll(poll, slot, flags) {
                return Some(poll);
            }
            if poll == (*thread).first_poll {
                break;
            }
            poll = poll.sub(1);
        }
        None
    }
}
