//! A walk over one thread's records: what its time is between them and in them, and where it is spent.
//!
//! ```text
//!   record        begin … end     time before it           its own time
//!   Send          10 … 25         0 … 10    computing      10 … 25   in the call
//!   Enter f       40              25 … 40   computing      none; what follows is in f
//!   Barrier       50 … (none)     40 … 50   computing      none; what follows is in the call
//!   Enter g       70              50 … 70   in the call    none; what follows is computing in g
//!   Pause         80              70 … 80   computing      none; what follows is paused
//! ```
//!
//! Each tick from the first record to the last counts once: a time stamp that goes backwards is moved up to the latest one
//! seen, and a call without an end lasts until the next record that is no part of it.
//!
//! The [`fold`](crate::fold), the reader where it skips records, and the analyzer share this. [`ThreadTime`] tracks the time alone, [`OpenRegions`]
//! the place alone. Only entering a region allocates.

use crate::operation::Operation;
use crate::record::heads::batch_head::{BatchHead, MAX_OPEN_REGIONS, OpenRegion};
use crate::record::{NONE, Record};
use crate::states::Activity;

/// The state of a thread between two records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalkState {
    /// The thread is in its own code.
    #[default]
    Computing,
    /// The thread is in a call of this activity that has no end.
    InCall(Activity),
    /// Recording is paused.
    Paused,
}

impl WalkState {
    /// Returns the activity that the time belongs to, or `None` while paused.
    pub fn activity(self) -> Option<Activity> {
        match self {
            WalkState::Computing => Some(Activity::Computation),
            WalkState::InCall(activity) => Some(activity),
            WalkState::Paused => None,
        }
    }
}

/// The times of a record on the thread's own clock, which never goes back: `from ≤ begin ≤ end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTimes {
    /// The thread's state from `from` to `begin`.
    pub state: WalkState,
    /// The end of the record before.
    pub from: u64,
    /// Start of the record. From here to `end` the time is of its own activity.
    pub begin: u64,
    /// End of the record; its start if it has no end.
    pub end: u64,
}

impl RecordTimes {
    /// Ticks in the thread's state, before the record.
    #[inline(always)]
    pub fn before(&self) -> u64 {
        self.begin - self.from
    }

    /// Ticks of the record itself.
    #[inline(always)]
    pub fn own_ticks(&self) -> u64 {
        self.end - self.begin
    }
}

/// A thread's time, and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    now: u64,
    state: WalkState,
}

impl ThreadTime {
    /// The time before the record after `head`.
    pub fn new(head: &BatchHead) -> Self {
        ThreadTime { now: head.previous_end, state: if head.paused { WalkState::Paused } else { WalkState::Computing } }
    }

    /// The latest time stamp seen, in ticks.
    #[inline(always)]
    pub fn current_ticks(&self) -> u64 {
        self.now
    }

    /// The state of the time that follows.
    #[inline(always)]
    pub fn state(&self) -> WalkState {
        self.state
    }

    /// Goes to `ticks` without a record.
    #[inline(always)]
    pub fn advance(&mut self, ticks: u64) -> RecordTimes {
        let from = self.now;
        self.now = ticks.max(from);
        RecordTimes { state: self.state, from, begin: self.now, end: self.now }
    }

    /// Goes to the end of a record. [`ThreadTime::pass`] sets the state after it.
    #[inline(always)]
    pub fn reach(&mut self, record: &Record) -> RecordTimes {
        let from = self.now;
        let begin = record.begin.max(from);
        let end = record.end.max(begin);
        self.now = end;
        RecordTimes { state: self.state, from, begin, end }
    }

    /// Sets the state after a record.
    #[inline(always)]
    pub fn pass(&mut self, record: &Record) {
        if record.operation < Operation::FIRST_MARKER {
            self.pass_call(record);
        } else {
            self.pass_marker(record);
        }
    }

    /// Passes a record that is known to be a call. Most change nothing.
    #[inline(always)]
    pub fn pass_call(&mut self, record: &Record) {
        if record.end == 0 || self.state != WalkState::Computing {
            self.pass_unusual_call(record);
        }
    }

    /// Passes a call that has no end, or that follows one, or is in a pause.
    #[cold]
    fn pass_unusual_call(&mut self, record: &Record) {
        match self.state {
            WalkState::Paused => {}
            _ if record.end == 0 => self.state = WalkState::InCall(record.activity()),
            _ => self.state = WalkState::Computing,
        }
    }

    /// Passes a record that is known to be no call. Parts of a call leave the thread in the call.
    #[inline(always)]
    pub fn pass_marker(&mut self, record: &Record) {
        const PAUSE: u16 = Operation::Pause as u16;
        const RESUME: u16 = Operation::Resume as u16;
        match record.operation {
            PAUSE => self.state = WalkState::Paused,
            RESUME => self.state = WalkState::Computing,
            number if Operation::is_part(number) => {}
            _ => self.end_call(),
        }
    }

    /// Ends the call that has no end, where the time is.
    #[inline(always)]
    pub fn end_call(&mut self) {
        if let WalkState::InCall(_) = self.state {
            self.state = WalkState::Computing;
        }
    }
}

/// A region that a marker has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnteredRegion {
    /// Id of the region.
    pub region: u32,
    /// Its own iteration, or [`NONE`].
    pub iteration: u32,
    /// The iteration that it was entered in, or [`NONE`].
    pub outer: u32,
    /// Time at which it was entered, in ticks.
    pub entered: u64,
}

impl EnteredRegion {
    /// Returns the iteration that time in it belongs to: its own, or the one in which it was entered.
    pub fn within(&self) -> u32 {
        if self.iteration == NONE { self.outer } else { self.iteration }
    }
}

/// The regions that markers have opened in a thread, outermost first, without region 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRegions(Vec<EnteredRegion>);

impl OpenRegions {
    /// Creates the regions open before the record after `head`. `entered` holds the times at which the first of them were entered; the
    /// others count as entered at the head's `previous_end`.
    pub fn new(head: &BatchHead, entered: &[u64]) -> Self {
        let mut regions = OpenRegions::default();
        regions.place(head, entered);
        regions
    }

    /// Becomes [`OpenRegions::new`] of these.
    pub fn place(&mut self, head: &BatchHead, entered: &[u64]) {
        self.0.clear();
        let mut outer = NONE;
        for (i, &OpenRegion { region, iteration }) in head.open.iter().enumerate() {
            let entered = entered.get(i).copied().unwrap_or(head.previous_end);
            let open = EnteredRegion { region, iteration, outer, entered };
            outer = open.within();
            self.0.push(open);
        }
    }

    /// The regions.
    #[inline(always)]
    pub fn entered(&self) -> &[EnteredRegion] {
        &self.0
    }

    /// Converts to the form of a batch's head.
    pub fn of_head(&self) -> Vec<OpenRegion> {
        self.0.iter().map(|open| OpenRegion { region: open.region, iteration: open.iteration }).collect()
    }

    /// Returns the innermost region and its own iteration, or (0, [`NONE`]) if none is open.
    #[inline(always)]
    pub fn innermost(&self) -> (u32, u32) {
        self.0.last().map_or((0, NONE), |open| (open.region, open.iteration))
    }

    /// Returns the innermost region and the iteration that time in it belongs to, or (0, [`NONE`]) if none is open.
    #[inline(always)]
    pub fn place_of_time(&self) -> (u32, u32) {
        self.0.last().map_or((0, NONE), |open| (open.region, open.within()))
    }

    /// Enters a region at these ticks. Returns false if the maximum number of regions is open.
    pub fn enter(&mut self, region: u32, iteration: u32, ticks: u64) -> bool {
        let is_room = self.0.len() < MAX_OPEN_REGIONS;
        if is_room {
            let (_, outer) = self.place_of_time();
            self.0.push(EnteredRegion { region, iteration, outer, entered: ticks });
        }
        is_room
    }

    /// Leaves a region and the regions left open in it, innermost first. A region that is not open ends nothing.
    #[inline(always)]
    pub fn leave(&mut self, region: u32, mut left: impl FnMut(EnteredRegion)) {
        let Some(depth) = self.0.iter().rposition(|open| open.region == region) else { return };
        while self.0.len() > depth {
            let Some(open) = self.0.pop() else { break };
            left(open);
        }
    }

    /// Sets the open regions after a record that begins at these ticks.
    #[inline(always)]
    pub fn pass(&mut self, record: &Record, ticks: u64) {
        match record.operation() {
            Some(Operation::RegionEnter) => _ = self.enter(record.request, record.count, ticks),
            Some(Operation::RegionLeave) => self.leave(record.request, |_| ()),
            _ => {}
        }
    }
}

/// The state of a thread while its records are walked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordWalk {
    /// Number of the thread in its log.
    pub thread: u32,
    /// Sequence number of the next record. Who goes over records counts it by batches.
    pub next: u64,
    /// Its time.
    pub time: ThreadTime,
    /// Its place.
    pub open: OpenRegions,
}

impl RecordWalk {
    /// Before the record after `head`.
    pub fn new(head: &BatchHead) -> Self {
        let (time, open) = (ThreadTime::new(head), OpenRegions::new(head, &[]));
        RecordWalk { thread: head.thread, next: head.first, time, open }
    }

    /// Moves to before the record after `head`. `entered`: as of [`OpenRegions::new`].
    pub fn place(&mut self, head: &BatchHead, entered: &[u64]) {
        (self.thread, self.next, self.time) = (head.thread, head.first, ThreadTime::new(head));
        self.open.place(head, entered);
    }

    /// Moves past a record.
    #[inline(always)]
    pub fn step(&mut self, record: &Record) -> RecordTimes {
        let reached = self.time.reach(record);
        self.time.pass(record);
        if record.operation >= Operation::FIRST_MARKER {
            self.open.pass(record, reached.begin);
        }
        reached
    }

    /// Returns the position of the next record.
    pub fn head(&self) -> BatchHead {
        BatchHead {
            thread: self.thread,
            first: self.next,
            previous_end: self.time.now,
            open: self.open.of_head(),
            paused: self.time.state == WalkState::Paused,
        }
    }
}

impl BatchHead {
    /// Moves the head past `records`: what it would be for the batch that follows them.
    pub fn advance(&mut self, records: &[Record]) {
        if records.is_empty() {
            return;
        }
        let mut walk = RecordWalk::new(self);
        for record in records {
            walk.step(record);
        }
        walk.next = walk.next.saturating_add(records.len() as u64);
        *self = walk.head();
    }
}
