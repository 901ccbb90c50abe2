//! A fold in which only a span of time counts.
//!
//! Records before the span are folded and their sums discarded, because they show which regions are open. Records after it are left out. Records that
//! cross an end of the span are cut there:
//!
//! ```text
//!   span                   |═══════════════════════|
//!   calls        |= A =| |= B =|    |= C =|    |= D =|   |= E =|
//!   counts                 |==|~~~~~|=====|~~~~|===|
//! ```
//!
//! The time of B and D within the span counts. A call counts as one, with its bytes, where it begins: here C and D count. So the sums of two
//! consecutive spans add up to the sums of both together. A region that is left where a span begins, and one that is entered where it ends, are
//! outside.

use crate::read::span::TickSpan;
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::BatchHead;
use lbprof_collector::profile::{ProfileBatch, ThreadProfile};
use lbprof_collector::{Activity, Operation, Record};

use crate::profile::summed::times::TimesByRegion;

#[derive(Clone, Copy)]
enum SpanCrossing {
    Nothing,
    /// A call with its start and end.
    Call(u64, u64),
    /// A marker with a duration: its activity and its end.
    Marker(Activity, u64),
}

#[derive(Clone, Copy)]
enum FoldPosition {
    Before(SpanCrossing),
    Within,
    /// A call was cut at the span's end: its parts may follow.
    Cut,
    After,
}

/// A fold over one thread in which a span counts.
pub struct SpanFold {
    /// The fold over all records up to the end of the span. Its times by iteration may be taken after [`SpanFold::take`].
    pub(super) inner: ProfileFold<TimesByRegion>,
    span: TickSpan,
    position: FoldPosition,
    /// True if sums of profile mode lie across an end of the span, so that they were left out.
    pub(super) uncut: bool,
}

impl SpanFold {
    /// Starts a fold after `head`.
    pub fn new(head: BatchHead, span: TickSpan) -> Self {
        let position =
            if span == TickSpan::ALL { FoldPosition::Within } else { FoldPosition::Before(SpanCrossing::Nothing) };
        SpanFold { inner: ProfileFold::with_times(head), span, position, uncut: false }
    }

    /// Assigns the next record, which is no part of a call, and the time before it to a region and iteration, like
    /// [`ProfileFold::place_in`].
    #[inline(always)]
    pub fn place_in(&mut self, region: u32, iteration: u32) {
        if let FoldPosition::Before(crossing @ (SpanCrossing::Call(..) | SpanCrossing::Marker(..))) = self.position {
            // The crossing record is over, and its time belongs to its own region.
            self.begin(crossing);
        }
        self.inner.place_in(region, iteration);
    }

    /// Lets time pass up to `ticks`, where the next record begins, like [`ProfileFold::advance`].
    pub fn advance(&mut self, ticks: u64) {
        let ticks = ticks.min(self.span.end);
        if let FoldPosition::Before(crossing) = self.position
            && ticks >= self.span.begin
        {
            self.begin(crossing);
        }
        if matches!(self.position, FoldPosition::Before(SpanCrossing::Nothing) | FoldPosition::Within) {
            self.inner.advance(ticks);
        }
    }

    /// Folds records that follow those before; their call sites are ids.
    pub fn records(&mut self, records: &[Record]) {
        if self.span == TickSpan::ALL {
            self.fold(records);
            return;
        }
        let mut rest = records;
        while let Some(record) = rest.first() {
            let taken = match self.position {
                FoldPosition::Before(crossing) => self.before(rest, crossing),
                FoldPosition::Within => self.within(rest),
                FoldPosition::Cut if record.is_part() => self.fold(&[without_time(record, self.span.end)]),
                FoldPosition::Cut | FoldPosition::After => {
                    self.position = FoldPosition::After;
                    return;
                }
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    /// Folds the first of `records`, which are before the span, or starts the span. Returns the number of folded records.
    fn before(&mut self, records: &[Record], crossing: SpanCrossing) -> usize {
        let edge = self.span.begin;
        let (found, call) = match crossing {
            SpanCrossing::Nothing => (whole_before(records, edge), edge),
            SpanCrossing::Call(begin, _) => (&[][..], begin),
            SpanCrossing::Marker(..) => (&[][..], edge),
        };
        match records.first() {
            _ if !found.is_empty() => self.fold(found),
            Some(part) if part.is_part() => self.fold(&[without_time(part, call)]),
            Some(record) if matches!(crossing, SpanCrossing::Nothing) && is_before(record, edge) => {
                let (crossing, end) = match record.is_call() {
                    // Without an end its time counts on, and the call itself is discarded with the records before the span.
                    true => (SpanCrossing::Call(record.begin, record.end), 0),
                    false => (SpanCrossing::Marker(record.activity(), record.end), edge),
                };
                self.position = FoldPosition::Before(crossing);
                self.fold(&[Record { end, ..*record }])
            }
            _ => {
                self.begin(crossing);
                0
            }
        }
    }

    fn begin(&mut self, crossing: SpanCrossing) {
        self.inner.advance(self.span.begin);
        let (region, iteration) = self.inner.placed_in();
        self.inner.take();
        self.inner.take_times();
        self.inner.place_in(region, iteration);
        let end = match crossing {
            SpanCrossing::Nothing => self.span.begin,
            SpanCrossing::Call(_, end) => {
                self.inner.advance(end.min(self.span.end));
                self.inner.end_call();
                end
            }
            SpanCrossing::Marker(activity, end) => {
                self.inner.spend(activity, end.min(self.span.end));
                end
            }
        };
        self.position = if end > self.span.end { FoldPosition::After } else { FoldPosition::Within };
    }

    /// Folds the first of `records`, or ends the span. Returns the number of folded records.
    fn within(&mut self, records: &[Record]) -> usize {
        let edge = self.span.end;
        let found = whole_before(records, edge);
        match records.first() {
            _ if !found.is_empty() => self.fold(found),
            Some(record) if is_before(record, edge) => {
                self.position = if record.is_call() { FoldPosition::Cut } else { FoldPosition::After };
                self.fold(&[Record { end: edge, ..*record }])
            }
            _ => {
                self.inner.advance(edge);
                self.position = FoldPosition::After;
                0
            }
        }
    }

    fn fold(&mut self, records: &[Record]) -> usize {
        self.inner.records(records, |record| record.call_site);
        records.len()
    }

    /// Adds sums that were folded when they were recorded.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        let (from, to) = (batch.head.previous_end, batch.next.previous_end);
        let TickSpan { begin, end } = self.span;
        match self.position {
            FoldPosition::Before(_) if to <= begin => self.inner.absorb(batch),
            FoldPosition::Before(crossing) if from >= begin => {
                self.begin(crossing);
                self.absorb(batch);
            }
            FoldPosition::Within if to <= end => self.inner.absorb(batch),
            FoldPosition::Within if from >= end => self.position = FoldPosition::After,
            FoldPosition::Before(_) | FoldPosition::Within => (self.uncut, self.position) = (true, FoldPosition::After),
            FoldPosition::Cut | FoldPosition::After => {}
        }
    }

    /// Continues after `head`, after a gap in the records whose time belongs to nothing.
    pub fn skip_to(&mut self, head: &BatchHead) {
        match self.position {
            FoldPosition::Before(crossing) if head.previous_end >= self.span.begin => {
                self.begin(crossing);
                self.skip_to(head);
            }
            FoldPosition::Before(_) => self.inner.skip_to(head),
            FoldPosition::Within if head.previous_end < self.span.end || self.span == TickSpan::ALL => {
                self.inner.skip_to(head)
            }
            FoldPosition::Within | FoldPosition::Cut | FoldPosition::After => self.position = FoldPosition::After,
        }
    }

    /// Returns the sums of the span since the last take.
    pub fn take(&mut self) -> ProfileBatch {
        let batch = self.inner.take();
        match self.position {
            FoldPosition::Before(_) => {
                self.inner.take_times();
                ProfileBatch { profile: ThreadProfile::default(), ..batch }
            }
            _ => batch,
        }
    }

    /// Starts the span at the end of the thread if no record lay in it.
    pub fn end(&mut self) {
        if let FoldPosition::Before(crossing) = self.position {
            self.begin(crossing);
        }
    }
}

/// Returns whether `record` comes before a span that begins at `edge`, or in one that ends there.
fn is_before(record: &Record, edge: u64) -> bool {
    record.begin < edge || (record.begin == edge && record.operation == Operation::RegionLeave as u16)
}

/// Returns the first of `records` that start before `edge` and have ended there.
fn whole_before(records: &[Record], edge: u64) -> &[Record] {
    let n = records
        .iter()
        .take_while(|record| {
            let is_part_before = record.begin == edge && record.is_part();
            (is_before(record, edge) || is_part_before) && record.end <= edge
        })
        .count();
    records.get(..n).unwrap_or_default()
}

/// Moves a part of a call that ended after an edge to `ticks`: its bytes count, and no time passes.
fn without_time(part: &Record, ticks: u64) -> Record {
    Record { begin: ticks, end: ticks, ..*part }
}
