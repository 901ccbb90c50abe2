//! A fold of which only a span of time counts.
//!
//! What is before the span is folded and thrown away, for it says which regions are open; what is after it is left out. What
//! crosses an end of the span is cut there:
//!
//! ```text
//!   span                   |═══════════════════════|
//!   calls        |= A =| |= B =|    |= C =|    |= D =|   |= E =|
//!   counts                 |==|~~~~~|=====|~~~~|===|
//! ```
//!
//! Of B and D the time within counts. A call counts as one, with its bytes, where it begins: of these C and D do. So the sums of
//! two spans that follow one another are those of both together. A region that is left where a span begins, and one that is
//! entered where it ends, are outside.

use crate::read::span::TickSpan;
use lbprof_collector::fold::ProfileFold;
use lbprof_collector::format::BatchHead;
use lbprof_collector::profile::{ProfileBatch, ThreadProfile};
use lbprof_collector::{Activity, Operation, Record};

use crate::profile::times::TimesByRegion;

/// The records that cross the begin of the span.
#[derive(Clone, Copy)]
enum SpanCrossing {
    Nothing,
    /// A call, and when it begins and ends.
    Call(u64, u64),
    /// A marker with a duration: its activity, and when it ends.
    Marker(Activity, u64),
}

/// The position of a fold in its thread.
#[derive(Clone, Copy)]
enum FoldPosition {
    Before(SpanCrossing),
    Within,
    /// A call was cut at the span's end: its parts may follow.
    Cut,
    After,
}

/// A fold over one thread of which a span counts.
pub struct SpanFold {
    fold: ProfileFold<TimesByRegion>,
    span: TickSpan,
    position: FoldPosition,
    uncut: bool,
}

impl SpanFold {
    /// A fold that begins after `head`, of which `span` counts.
    pub fn new(head: BatchHead, span: TickSpan) -> Self {
        let position =
            if span == TickSpan::ALL { FoldPosition::Within } else { FoldPosition::Before(SpanCrossing::Nothing) };
        SpanFold { fold: ProfileFold::with_times(head), span, position, uncut: false }
    }

    /// The innermost region that markers have opened, and its iteration.
    #[inline(always)]
    pub fn innermost_open(&self) -> (u32, u32) {
        self.fold.innermost_open()
    }

    /// The region and iteration that time goes to.
    #[inline(always)]
    pub fn placed_in(&self) -> (u32, u32) {
        self.fold.placed_in()
    }

    /// The next record, which is no part of a call, and the time before it belong to this region and iteration: as
    /// [`ProfileFold::place_in`].
    #[inline(always)]
    pub fn place_in(&mut self, region: u32, iteration: u32) {
        if let FoldPosition::Before(crossing @ (SpanCrossing::Call(..) | SpanCrossing::Marker(..))) = self.position {
            // What crosses the begin is over, and its time belongs to where it was.
            self.begin(crossing);
        }
        self.fold.place_in(region, iteration);
    }

    /// Lets time pass up to `ticks`, where the next record begins, which goes to where the thread is: as [`ProfileFold::advance`].
    pub fn advance(&mut self, ticks: u64) {
        let ticks = ticks.min(self.span.end);
        if let FoldPosition::Before(crossing) = self.position
            && ticks >= self.span.begin
        {
            self.begin(crossing);
        }
        if matches!(self.position, FoldPosition::Before(SpanCrossing::Nothing) | FoldPosition::Within) {
            self.fold.advance(ticks);
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

    /// Folds the first of `records`, which are before the span, or lets it begin; how many were folded.
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
                    // Without an end its time counts on, and the call itself is thrown away with what is before the span.
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

    /// Lets the span begin.
    fn begin(&mut self, crossing: SpanCrossing) {
        self.fold.advance(self.span.begin);
        let (region, iteration) = self.fold.placed_in();
        self.fold.take();
        self.fold.take_times();
        self.fold.place_in(region, iteration);
        let end = match crossing {
            SpanCrossing::Nothing => self.span.begin,
            SpanCrossing::Call(_, end) => {
                self.fold.advance(end.min(self.span.end));
                self.fold.end_call();
                end
            }
            SpanCrossing::Marker(activity, end) => {
                self.fold.spend(activity, end.min(self.span.end));
                end
            }
        };
        self.position = if end > self.span.end { FoldPosition::After } else { FoldPosition::Within };
    }

    /// Folds the first of `records`, or lets the span end; how many were folded.
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
                self.fold.advance(edge);
                self.position = FoldPosition::After;
                0
            }
        }
    }

    fn fold(&mut self, records: &[Record]) -> usize {
        self.fold.records(records, |record| record.call_site);
        records.len()
    }

    /// Adds what was folded when it was recorded.
    pub fn absorb(&mut self, batch: &ProfileBatch) {
        let (from, to) = (batch.head.previous_end, batch.next.previous_end);
        let TickSpan { begin, end } = self.span;
        match self.position {
            FoldPosition::Before(_) if to <= begin => self.fold.absorb(batch),
            FoldPosition::Before(crossing) if from >= begin => {
                self.begin(crossing);
                self.absorb(batch);
            }
            FoldPosition::Within if to <= end => self.fold.absorb(batch),
            FoldPosition::Within if from >= end => self.position = FoldPosition::After,
            FoldPosition::Before(_) | FoldPosition::Within => (self.uncut, self.position) = (true, FoldPosition::After),
            FoldPosition::Cut | FoldPosition::After => {}
        }
    }

    /// Goes on after `head`, after a gap in the records whose time belongs to nothing.
    pub fn skip_to(&mut self, head: &BatchHead) {
        match self.position {
            FoldPosition::Before(crossing) if head.previous_end >= self.span.begin => {
                self.begin(crossing);
                self.skip_to(head);
            }
            FoldPosition::Before(_) => self.fold.skip_to(head),
            FoldPosition::Within if head.previous_end < self.span.end || self.span == TickSpan::ALL => {
                self.fold.skip_to(head)
            }
            FoldPosition::Within | FoldPosition::Cut | FoldPosition::After => self.position = FoldPosition::After,
        }
    }

    /// Returns the position of the next record.
    pub fn head(&self) -> BatchHead {
        self.fold.head()
    }

    /// The sums of the span since the last take.
    pub fn take(&mut self) -> ProfileBatch {
        let batch = self.fold.take();
        match self.position {
            FoldPosition::Before(_) => {
                self.fold.take_times();
                ProfileBatch { profile: ThreadProfile::default(), ..batch }
            }
            _ => batch,
        }
    }

    /// The times by iteration of what was placed in the span, which are in no profile. To be called after [`SpanFold::take`].
    pub fn take_times(&mut self) -> TimesByRegion {
        self.fold.take_times()
    }

    /// Lets the span begin if no record lay in it: the thread has ended.
    pub fn end(&mut self) {
        if let FoldPosition::Before(crossing) = self.position {
            self.begin(crossing);
        }
    }

    /// Returns the number of regions entered beyond the maximum depth.
    pub fn too_deep(&self) -> u64 {
        self.fold.too_deep()
    }

    /// Returns whether sums of profile mode lie across an end of the span, so that they were left out.
    pub fn is_uncut(&self) -> bool {
        self.uncut
    }
}

/// Returns whether `record` comes before a span that begins at `edge`, or in one that ends there.
fn is_before(record: &Record, edge: u64) -> bool {
    record.begin < edge || (record.begin == edge && record.operation == Operation::RegionLeave as u16)
}

/// The first of `records` that come before `edge` and have ended there.
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

/// A part of a call that ended after an edge, as if at `ticks`: its bytes count, and no time passes.
fn without_time(part: &Record, ticks: u64) -> Record {
    Record { begin: ticks, end: ticks, ..*part }
}
