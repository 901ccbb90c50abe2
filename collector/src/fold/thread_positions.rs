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
use crate::record::batch_head::BatchHead;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::record::NONE;
    use crate::record::batch_head::OpenRegion;

    #[test]
    fn instants_are_where_the_records_say() {
        let call = |begin: u64, end: u64| Record { end, ..Record::new(Operation::Barrier, begin) };
        let marker = |operation: Operation, at: u64, region: u32| Record {
            end: at,
            request: region,
            count: NONE,
            ..Record::new(operation, at)
        };
        let head = BatchHead {
            previous_end: 100,
            open: vec![OpenRegion { region: 4, iteration: NONE }],
            ..BatchHead::default()
        };
        let records = [
            call(200, 300),
            marker(Operation::RegionEnter, 400, 5),
            call(500, 510),
            marker(Operation::RegionLeave, 600, 5),
            marker(Operation::Pause, 700, 0),
            marker(Operation::Resume, 800, 0),
        ];
        let mut places = ThreadLocator::new(&head, &records);
        let (computes, waits) = (Activity::Computation, Activity::Synchronization);
        let expected = [
            (100, None),
            (101, Some((4, computes))),
            (200, Some((4, computes))),
            (201, Some((4, waits))),
            (300, Some((4, waits))),
            (400, Some((4, computes))),
            (401, Some((5, computes))),
            (505, Some((5, waits))),
            (600, Some((5, computes))),
            (650, Some((4, computes))),
            (750, None),
            (900, Some((4, computes))),
        ];
        for (ticks, place) in expected {
            assert_eq!(places.place_at(ticks), place, "{ticks}");
        }
    }
}
