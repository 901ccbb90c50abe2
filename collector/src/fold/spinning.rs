//! Waits for what another process writes into a window: the same calls again and again, until the program reads what it waits for.
//!
//! ```text
//!   |Win_sync|.|Win_sync|.|Win_sync|.|…              no call shows what was read: only that the calls are the same
//!   |Fetch_and_op|Win_flush|.|Fetch_and_op|Win_flush|.|…
//! ```
//!
//! The recorder folds such calls, where the gaps between them are short: the record of each kind counts those folded into it, and one of them lasts until the end of all,
//! with the time between the calls in its `request` ([`encode_gaps`]).
//!
//! Calls that read other elements of a window, or take numbers from a counter for pieces of work, look the same. So a few repeated calls are no wait
//! yet, and [`crate::polling`] takes only short gaps between such calls for waiting.

use crate::operation::Operation;
use crate::record::{NONE, Record};

/// Repetitions from which on calls may be a wait.
const ENOUGH_REPETITIONS: u64 = 8;

/// Calls that a program may make in turn in such a loop.
pub const IN_TURN: usize = 4;

/// Ticks that are one in the `request` of a record with gaps.
const GAP_UNIT: u64 = 1 << 10;

/// Returns ticks of gaps as the `request` of the record that has the time of folded calls.
#[inline]
pub const fn encode_gaps(ticks: u64) -> u32 {
    let units = ticks / GAP_UNIT;
    if units < NONE as u64 { units as u32 } else { NONE - 1 }
}

/// Calls on a window that were folded into a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldedCalls {
    /// Calls beside the record's own.
    pub calls: u64,
    /// Ticks between calls, in the record that has the time of all; else 0.
    pub gaps: u64,
}

impl FoldedCalls {
    /// The calls that are folded into a record, if it is one of several.
    pub fn new(record: &Record) -> Option<FoldedCalls> {
        let has_gaps = record.request != NONE;
        let is_folded = Operation::folds_in_spin(record.operation) && (record.count > 0 || has_gaps);
        let length = record.end.saturating_sub(record.begin);
        let gaps = if has_gaps { u64::from(record.request) * GAP_UNIT } else { 0 };
        is_folded.then_some(FoldedCalls { calls: record.count.into(), gaps: gaps.min(length) })
    }
}

/// A call of such a loop, apart from its times: call site, operation, peer and window.
type RepeatedCall = (u64, u16, i32, i32);

#[derive(Clone, Debug, Default)]
pub(crate) struct WindowSpin {
    calls: [Option<RepeatedCall>; IN_TURN],
    oldest: usize,
    repetitions: u64,
}

impl WindowSpin {
    /// Adds the thread's next record, unless it is the recorder's own.
    pub(crate) fn add(&mut self, record: &Record) {
        if !Operation::is_window_read(record.operation) {
            if self.has_calls() {
                *self = WindowSpin::default();
            }
            return;
        }
        let call = Some((record.call_site, record.operation, record.peer, record.tag));
        // The recorder folds nothing else.
        let known = if FoldedCalls::new(record).is_some() { ENOUGH_REPETITIONS } else { 0 };
        if self.calls.contains(&call) {
            self.repetitions = self.repetitions.max(known) + 1;
            return;
        }
        self.calls[self.oldest] = call;
        self.oldest = (self.oldest + 1) % IN_TURN;
        self.repetitions = known;
    }

    /// Returns whether the last record may belong to a spin.
    pub(crate) fn has_calls(&self) -> bool {
        self.calls[0].is_some()
    }

    /// Returns whether the last call is one of those that repeat what was called before.
    pub(crate) fn is_spinning(&self) -> bool {
        self.repetitions >= ENOUGH_REPETITIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: Operation, call_site: u64, peer: i32) -> Record {
        Record { call_site, peer, tag: 1, ..Record::new(operation, 0) }
    }

    fn repetitions(calls: &[Record]) -> u64 {
        let mut spin = WindowSpin::default();
        for record in calls {
            spin.add(record);
        }
        spin.repetitions
    }

    #[test]
    fn the_same_calls_in_turn_are_repetitions() {
        let round = [call(Operation::Win_lock, 1, 0), call(Operation::Get, 2, 0), call(Operation::Win_unlock, 3, 0)];
        assert_eq!(repetitions(&round), 0);
        assert_eq!(repetitions(&[round, round, round].concat()), 6);
        assert_eq!(repetitions(&[call(Operation::Win_sync, 1, 0); 10]), 9);
    }

    #[test]
    fn other_calls_and_other_targets_are_none() {
        let sync = call(Operation::Win_sync, 1, 0);
        assert_eq!(repetitions(&[sync, sync, call(Operation::Barrier, 2, 0)]), 0);
        assert_eq!(repetitions(&[sync, sync, call(Operation::Barrier, 2, 0), sync]), 0);
        let reads: Vec<Record> =
            (0..10).flat_map(|peer| [call(Operation::Get, 1, peer), call(Operation::Win_flush, 2, peer)]).collect();
        assert_eq!(repetitions(&reads), 0);
    }
}
