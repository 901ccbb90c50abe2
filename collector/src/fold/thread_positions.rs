//! Locates a thread at given instants by its records: the region that it was in, and its activity.
//!
//! ```text
//!   records       |= computes =|-- Send --|== computes ==| Enter f |= computes
//!   instants           x            x            x                    x
//!   place          main, computation              main, computation   f, computation
//!                          main, point-to-point
//! ```
//!
//! The recorder does this before it folds records into sums. The analyzer does the same with a log of records, by the rules of [`crate::walk`].

use crate::record::Record;
use crate::record::heads::batch_head::BatchHead;
use crate::sample::Place;
use crate::states::Activity;
use crate::walk::{RecordWalk, WalkState};

/// The places of a thread while it made some records.
pub struct ThreadLocator<'a> {
    walk: RecordWalk,
    rest: std::slice::Iter<'a, Record>,
    begin: u64,
    end: u64,
    region: u32,
    before: WalkState,
    own: Activity,
    known_from: u64,
}

impl<'a> ThreadLocator<'a> {
    /// Creates a locator for the thread that made `records` after `head`.
    pub fn new(head: &BatchHead, records: &'a [Record]) -> Self {
        let (known_from, own) = (head.previous_end, Activity::Computation);
        let (walk, before) = (RecordWalk::new(head), WalkState::default());
        let (begin, end) = (known_from, known_from);
        ThreadLocator { walk, rest: records.iter(), begin, end, region: 0, before, own, known_from }
    }

    /// Returns the place of the thread at `ticks`, or `None` while paused and before the first record's time. `ticks` never decrease from call to call.
    /// After the last record the thread stays where that leaves it. Because samples stand for the time before them, `ticks` belong to the interval that
    /// ends then.
    pub fn place_at(&mut self, ticks: u64) -> Option<Place> {
        if ticks <= self.known_from {
            return None;
        }
        while self.end < ticks {
            let (region, _) = self.walk.open.innermost();
            let Some(record) = self.rest.next() else {
                return self.walk.time.state().activity().map(|activity| (region, activity));
            };
            let reached = self.walk.step(record);
            (self.begin, self.end, self.before) = (reached.begin, reached.end, reached.state);
            (self.region, self.own) = (region, record.activity());
        }
        let activity = if ticks <= self.begin { self.before.activity()? } else { self.own };
        Some((self.region, activity))
    }
}
