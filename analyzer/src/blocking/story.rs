//! What threads did and whom they waited for, as it is handed to who explains it.

use super::causes::Causer;
use super::history::EndedBy;
use super::tables::{WaitKey, WaitSums};
use crate::timeline::{Kind, Ns};

/// Something that a thread did.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A further thread begins; its number is the next one. `late`: as the first of its rank, and others began at 0.
    /// `counted`: nanoseconds before that count as its wait.
    Begin { at: Ns, late: bool, counted: Ns },
    /// It goes on until `end` with time of a kind.
    Spend { thread: u32, kind: Kind, end: Ns },
    /// The next of the waits.
    Wait,
}

/// A wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Who waited, where and why.
    pub key: WaitKey,
    /// From when.
    pub begin: Ns,
    /// How long before and behind what it waited for; together until the wait was over.
    pub sums: WaitSums,
    /// As much of that as counts: what lies in the selected part of the run.
    pub counted: WaitSums,
    /// Who ended it last.
    pub by: EndedBy,
}

/// What happened, in the order in which it was found out.
#[derive(Debug, Default)]
pub struct Story {
    pub(super) events: Vec<Event>,
    /// Each with the number of its causers.
    pub(super) waits: Vec<(Wait, usize)>,
    pub(super) causers: Vec<Causer>,
}

impl Story {
    /// A further thread begins at a time; its number is the next one. `counted` nanoseconds before that count as its wait.
    pub fn begin(&mut self, at: Ns, late: bool, counted: Ns) {
        self.events.push(Event::Begin { at, late, counted });
    }

    /// A thread goes on until `end` with time of a kind.
    #[inline]
    pub fn spend(&mut self, thread: u32, kind: Kind, end: Ns) {
        self.events.push(Event::Spend { thread, kind, end });
    }

    /// A thread waits, because of these.
    pub fn wait(&mut self, wait: Wait, causers: impl Iterator<Item = Causer>) {
        let before = self.causers.len();
        self.causers.extend(causers);
        self.waits.push((wait, self.causers.len() - before));
        self.events.push(Event::Wait);
    }

    /// Forgets what it told.
    pub fn clear(&mut self) {
        self.events.clear();
        self.waits.clear();
        self.causers.clear();
    }
}
