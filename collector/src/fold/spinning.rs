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
//! A program may also read other elements of a window, or take numbers from a counter for pieces of work, by calls that look the same. So a call
//! with data that is made again is no wait yet, and [`crate::polling`] takes only short gaps between such calls for waiting.

use crate::operation::Operation;
use crate::record::{NONE, Record};

/// Repetitions from which on calls with data may be a wait.
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

/// A call of such a loop, apart from its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RepeatedCall {
    call_site: u64,
    operation: u16,
    peer: i32,
    window: i32,
}

impl RepeatedCall {
    fn new(record: &Record) -> Self {
        let &Record { call_site, operation, peer, tag: window, .. } = record;
        RepeatedCall { call_site, operation, peer, window }
    }
}

/// The calls on windows that a thread made last, with no other calls between.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowSpin {
    calls: [RepeatedCall; IN_TURN],
    n_calls: usize,
    repetitions: u64,
    has_data: bool,
}

impl WindowSpin {
    /// Adds the thread's next record, unless it is the recorder's own.
    pub(crate) fn add(&mut self, record: &Record) {
        if !Operation::reads_window(record.operation) {
            self.n_calls = 0;
            self.repetitions = 0;
            self.has_data = false;
            return;
        }
        let call = RepeatedCall::new(record);
        self.has_data |= !Operation::only_synchronises_window(record.operation);
        // The recorder folds nothing else.
        let is_folded = FoldedCalls::new(record).is_some();
        if self.calls[..self.n_calls].contains(&call) {
            self.repetitions = self.repetitions.max(if is_folded { ENOUGH_REPETITIONS } else { 0 }) + 1;
            return;
        }
        if self.n_calls == IN_TURN {
            self.calls.rotate_left(1);
            self.n_calls -= 1;
        }
        self.calls[self.n_calls] = call;
        self.n_calls += 1;
        self.repetitions = if is_folded { ENOUGH_REPETITIONS } else { 0 };
    }

    /// Returns whether the last record may belong to a spin.
    pub(crate) fn has_calls(&self) -> bool {
        self.n_calls > 0
    }

    /// Returns whether the last call is one of those that repeat what was called before.
    pub(crate) fn is_spinning(&self) -> bool {
        self.repetitions >= if self.has_data { ENOUGH_REPETITIONS } else { 1 }
    }

    /// Returns whether the calls transfer data, so that each may be for something else.
    pub(crate) fn has_data(&self) -> bool {
        self.has_data
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

    #[test]
    fn calls_with_data_are_known() {
        let mut spin = WindowSpin::default();
        spin.add(&call(Operation::Win_sync, 1, 0));
        assert!(spin.has_calls() && !spin.has_data());
        spin.add(&call(Operation::Fetch_and_op, 2, 0));
        assert!(spin.has_data());
        spin.add(&call(Operation::Barrier, 3, 0));
        assert!(!spin.has_calls() && !spin.has_data());
    }
}
