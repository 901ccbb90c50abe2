//! Sums up waits for nonblocking access to files, and the computation that could have hidden them.
//!
//! ```text
//!   File_iwrite_at   12 ms computing   Barrier   3 ms computing   Wait, 10 ms      computed 15, waited 10, hidable 10 ms
//! ```
//!
//! A call that completes several operations could be hidden by the computation since the first of them started. A call that also completes messages
//! is left out, because the cause of its wait is not known.

use std::collections::HashMap;

use lbprof_collector::format::BatchHead;
use lbprof_collector::record::{CallFlags, NONE};
use lbprof_collector::semantics::CompletionEffect;
use lbprof_collector::walk::{ThreadTime, WalkState};
use lbprof_collector::{Activity, Operation, Record};

use crate::model::FileWaits;
use crate::read::span::TickSpan;

/// Maximum number of open operations; further ones are not followed.
const MAX_OPEN_OPERATIONS: usize = 1 << 16;

pub(super) struct FileWaitFold {
    span: TickSpan,
    /// Ticks of computation so far, while operations are open.
    computed: u64,
    /// Open operations by request.
    open: HashMap<u32, OpenFileOperation>,
    /// The last call, if it completes requests, until all its parts are known.
    completing: Option<CompletingCall>,
    sums: FileWaits,
    /// Ticks of `sums`: waited, computed, hidable.
    ticks: [u64; 3],
}

struct OpenFileOperation {
    /// Ticks of computation before its start.
    computed: u64,
    written: u64,
}

#[derive(Default)]
struct CompletingCall {
    /// Ticks in it.
    waited: u64,
    /// Ticks of computation since the first start of its operations.
    computed: u64,
    operations: u64,
    /// True if it completes other requests.
    completes_others: bool,
    written: u64,
    read: u64,
}

impl FileWaitFold {
    pub(super) fn new(span: TickSpan) -> Self {
        let (open, sums) = (HashMap::new(), FileWaits::default());
        FileWaitFold { span, computed: 0, open, completing: None, sums, ticks: [0; 3] }
    }

    pub(super) fn records(&mut self, head: &BatchHead, records: &[Record]) {
        if self.open.is_empty() && self.completing.is_none() && !records.iter().any(starts_operation) {
            return;
        }
        let mut time = ThreadTime::new(head);
        for record in records {
            let reached = time.reach(record);
            time.pass(record);
            if reached.state == WalkState::Computing {
                self.computed = self.computed.saturating_add(reached.before());
            }
            if record.is_call() {
                self.end_call();
                self.begin_call(record, self.span.clamp(reached.end) - self.span.clamp(reached.begin));
            } else if record.operation == Operation::Completed as u16 {
                self.complete(record);
            } else if record.activity() == Activity::Computation {
                self.computed = self.computed.saturating_add(reached.own_ticks());
            }
        }
    }

    pub(super) fn finish(mut self, seconds: impl Fn(u64) -> f64) -> FileWaits {
        self.end_call();
        let [waited_s, computed_s, hidable_s] = self.ticks.map(seconds);
        FileWaits { waited_s, computed_s, hidable_s, ..self.sums }
    }

    fn begin_call(&mut self, record: &Record, waited: u64) {
        let completes = Operation::completes(record.operation);
        let is_one = completes == CompletionEffect::Request && !record.flags.contains(CallFlags::NOTHING);
        if starts_operation(record) && self.open.len() < MAX_OPEN_OPERATIONS {
            self.open.insert(record.request, OpenFileOperation { computed: self.computed, written: record.sent });
        } else if is_one || completes.has_parts() {
            self.completing = Some(CompletingCall { waited, ..CompletingCall::default() });
            if is_one {
                self.complete(record);
            }
        }
    }

    fn complete(&mut self, record: &Record) {
        let started = self.open.remove(&record.request);
        let Some(call) = &mut self.completing else { return };
        let Some(started) = started else {
            call.completes_others = true;
            return;
        };
        call.operations += 1;
        call.computed = call.computed.max(self.computed - started.computed);
        call.written = call.written.saturating_add(started.written);
        call.read = call.read.saturating_add(record.received);
    }

    fn end_call(&mut self) {
        let Some(call) = self.completing.take() else { return };
        if call.operations == 0 || call.completes_others || call.waited == 0 {
            return;
        }
        self.sums.calls += 1;
        self.sums.written = self.sums.written.saturating_add(call.written);
        self.sums.read = self.sums.read.saturating_add(call.read);
        let ticks = [call.waited, call.computed, call.waited.min(call.computed)];
        for (sum, more) in self.ticks.iter_mut().zip(ticks) {
            *sum = sum.saturating_add(more);
        }
    }
}

fn starts_operation(record: &Record) -> bool {
    record.is_call()
        && record.request != NONE
        && record.activity() == Activity::Io
        && Operation::completes(record.operation) == CompletionEffect::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: Operation, begin: u64, end: u64, request: u32) -> Record {
        Record { end, request, sent: 8, ..Record::new(operation, begin) }
    }

    /// Returns calls, and ticks waited, computed and hidable.
    fn sums(batches: &[&[Record]]) -> (u64, [f64; 3]) {
        let mut fold = FileWaitFold::new(TickSpan::ALL);
        let mut head = BatchHead::default();
        for records in batches {
            fold.records(&head, records);
            head.advance(records);
        }
        let found = fold.finish(|ticks| ticks as f64);
        assert_eq!(found.written, 8 * found.calls);
        (found.calls, [found.waited_s, found.computed_s, found.hidable_s])
    }

    #[test]
    fn a_wait_is_hidable_by_the_computation_since_the_start() {
        let start = call(Operation::File_iwrite_at, 10, 20, 0);
        let barrier = call(Operation::Barrier, 30, 100, NONE);
        let long = call(Operation::Wait, 105, 205, 0);
        assert_eq!(sums(&[&[start, barrier, long]]), (1, [100.0, 15.0, 15.0]));
        let short = call(Operation::Wait, 105, 112, 0);
        assert_eq!(sums(&[&[start], &[barrier, short]]), (1, [7.0, 15.0, 7.0]));
    }

    #[test]
    fn polls_that_find_nothing_complete_nothing() {
        let start = call(Operation::File_iread, 10, 20, 0);
        let mut poll = call(Operation::Test, 30, 31, 0);
        poll.flags |= CallFlags::NOTHING;
        assert_eq!(sums(&[&[start, poll, call(Operation::Wait, 40, 45, 0)]]), (1, [5.0, 19.0, 5.0]));
    }

    #[test]
    fn a_call_that_also_completes_messages_is_left_out() {
        let starts = [call(Operation::File_iwrite, 10, 20, 0), call(Operation::Irecv, 20, 21, 1)];
        let both = [call(Operation::Waitall, 50, 90, NONE), call(Operation::Completed, 90, 90, 0)];
        let message = call(Operation::Completed, 90, 90, 1);
        assert_eq!(sums(&[&starts, &both, &[message]]), (0, [0.0; 3]));
        assert_eq!(sums(&[&starts, &both]), (1, [40.0, 29.0, 29.0]));
    }
}
