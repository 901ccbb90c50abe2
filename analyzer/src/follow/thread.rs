//! Where a thread is in its steps.

use std::collections::VecDeque;

use crate::matching::{HearingId, MeetingId, Side, TransferId};
use crate::timeline::{Batch, Deed, Ns, Step};

/// What was started and is not over.
#[derive(Clone, Copy, Debug)]
pub enum Started {
    /// A send, or a receive.
    Transfer {
        /// The message.
        id: TransferId,
        /// Which.
        sends: bool,
    },
    /// A collective.
    Meeting(MeetingId),
    /// What some others tell.
    Hearing(HearingId),
    /// A receive of which it is not known yet what it receives.
    Any(Side),
    /// Something with a rank of which nothing is known.
    Nothing,
}

/// When a thread goes on, and whether a call ends then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Next {
    /// When.
    pub time: Ns,
    /// Whether it is the end of a call, and no begin.
    pub ends: bool,
}

impl Next {
    /// Behind all others.
    pub const NEVER: Next = Next { time: Ns::MAX, ends: true };
}

/// What a request stands for: a combined send and receive stands for two, others for one.
pub type Pending = [Started; 2];

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Place of its rank in the model.
    pub rank: u32,
    /// World rank.
    pub world: u32,
    /// Number in the rank's log.
    pub number: u32,
    /// The batch at hand; without steps where there is none.
    batch: Batch,
    /// Those behind it.
    later: VecDeque<Batch>,
    step: usize,
    deed: usize,
    /// Whether it is within the call of its step.
    pub in_call: bool,
    /// When that began.
    pub begun: Ns,
    /// How long it computed before.
    pub computed: Ns,
    /// Until when it is done.
    pub now: Ns,
    /// How much later than by its clock it is.
    pub shift: Ns,
    /// What the deeds of its step started, in their order.
    pub started: Vec<Started>,
    /// Whether it waits for another to be followed first.
    pub parked: bool,
    /// Whether what it waits for was given up.
    pub gives_up: bool,
    /// Whether it stands in the order of time.
    pub queued: bool,
    /// Whether its batches are all that it does.
    is_whole: bool,
    /// Whether it has done all that it does.
    pub ended: bool,
}

impl Thread {
    /// A thread that begins at `begin`.
    pub fn new(rank: u32, world: u32, number: u32, begin: Ns) -> Self {
        Thread {
            rank,
            world,
            number,
            batch: Batch::default(),
            later: VecDeque::new(),
            step: 0,
            deed: 0,
            in_call: false,
            begun: begin,
            computed: 0,
            now: begin,
            shift: 0,
            started: Vec::new(),
            parked: false,
            gives_up: false,
            queued: false,
            is_whole: false,
            ended: false,
        }
    }

    /// Adds a batch behind the others.
    pub fn add(&mut self, batch: Batch) {
        self.is_whole |= batch.last;
        if self.batch.steps.is_empty() {
            self.batch = batch;
        } else if !batch.steps.is_empty() {
            self.later.push_back(batch);
        }
        self.ended |= self.is_whole && self.batch.steps.is_empty();
    }

    /// Its step; `None`: its batches are at their end.
    pub fn step(&self) -> Option<&Step> {
        self.batch.steps.get(self.step)
    }

    /// The deeds of its step.
    pub fn deeds(&self) -> &[Deed] {
        let n = self.step().map_or(0, |step| usize::from(step.deeds));
        self.batch.deeds.get(self.deed..self.deed + n).unwrap_or_default()
    }

    /// Goes on to the next step.
    pub fn advance(&mut self) {
        self.deed += self.step().map_or(0, |step| usize::from(step.deeds));
        self.step += 1;
        self.in_call = false;
        self.gives_up = false;
        self.started.clear();
        if self.step >= self.batch.steps.len() {
            self.batch = self.later.pop_front().unwrap_or_default();
            (self.step, self.deed) = (0, 0);
            self.ended |= self.is_whole && self.batch.steps.is_empty();
        }
    }

    /// When what it does next is, by its clock as corrected.
    pub fn next(&self) -> Option<Next> {
        let step = self.step()?;
        let time = if self.in_call { step.end } else { step.begin };
        Some(Next { time: time.saturating_add(self.shift).max(self.now), ends: self.in_call })
    }
}
