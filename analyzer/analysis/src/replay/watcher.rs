//! Who wants to know what threads do while they are followed: the records are gone afterwards.

use bincode::{Decode, Encode};

use crate::model::RegionIdx;
use crate::model::followed::ThreadOf;
use crate::model::interval::Interval;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::WaitState;
use crate::replay::timeline::CallFacts;

/// Receives what threads do, in the order in which they are followed.
pub trait Watcher: Send {
    /// A thread did one thing for some time. Of a thread these come in the order of time.
    fn spends(&mut self, state: &StateInterval);

    /// A thread ran a parallel region with a team, in the computation that was reported last. Of a thread these come in the order of time.
    fn on_team(&mut self, _team: &TeamInterval) {}

    /// A message has arrived, in the call that was reported last.
    fn receives(&mut self, message: &Message);

    /// A request of a send is over, or that of a receive which was cancelled, in the call that was reported last.
    fn ends_request(&mut self, _ended: &EndedRequest) {}

    /// The call that was reported last begins or ends an epoch on a window with these world ranks, the caller apart.
    fn on_epoch_step(&mut self, _ranks: &[u32]) {}

    /// One for a segment of the run, which is followed while others are. `None`: this one has to be shown all of it, in the order of time.
    fn of_segment(&self) -> Option<Box<dyn SegmentWatcher + '_>> {
        None
    }

    /// Adds what such a one has seen; segments come in the order of time. Such a one adds what others have seen of the segments after its own, and has then seen
    /// what one of all these would have.
    fn add(&mut self, _seen: Seen) {}
}

/// Receives what threads do in a segment of the run.
pub trait SegmentWatcher: Watcher {
    /// What it has seen, for [`Watcher::add`] of the one that made it.
    fn seen(self: Box<Self>) -> Seen;
}

/// What a watcher of a segment has seen, as bytes ([`crate::transport::codec`]): another process may have followed it.
pub type Seen = Vec<u8>;

impl<W: Watcher + ?Sized> Watcher for &mut W {
    fn spends(&mut self, state: &StateInterval) {
        (**self).spends(state);
    }

    fn on_team(&mut self, team: &TeamInterval) {
        (**self).on_team(team);
    }

    fn receives(&mut self, message: &Message) {
        (**self).receives(message);
    }

    fn ends_request(&mut self, ended: &EndedRequest) {
        (**self).ends_request(ended);
    }

    fn on_epoch_step(&mut self, ranks: &[u32]) {
        (**self).on_epoch_step(ranks);
    }

    fn of_segment(&self) -> Option<Box<dyn SegmentWatcher + '_>> {
        (**self).of_segment()
    }

    fn add(&mut self, seen: Seen) {
        (**self).add(seen);
    }
}

impl Watcher for Box<dyn SegmentWatcher + '_> {
    fn spends(&mut self, state: &StateInterval) {
        (**self).spends(state);
    }

    fn on_team(&mut self, team: &TeamInterval) {
        (**self).on_team(team);
    }

    fn receives(&mut self, message: &Message) {
        (**self).receives(message);
    }

    fn ends_request(&mut self, ended: &EndedRequest) {
        (**self).ends_request(ended);
    }

    fn on_epoch_step(&mut self, ranks: &[u32]) {
        (**self).on_epoch_step(ranks);
    }

    fn add(&mut self, seen: Seen) {
        (**self).add(seen);
    }
}

/// What a thread did from one time to another: it computed, was in a call, or waited outside of its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateInterval {
    /// The thread.
    pub thread: ThreadOf,
    /// From when until when.
    pub interval: Interval,
    /// What it did, and where.
    pub kind: RegionState,
    /// Index of the call site; NONE outside of calls, or where it is not known.
    pub site: u32,
    /// Number of the operation; 0 outside of calls.
    pub operation: u16,
    /// What the call's arguments say; nothing outside of calls.
    pub facts: CallFacts,
    /// The wait that it began with.
    pub wait: Option<InitialWait>,
}

impl StateInterval {
    /// The part of it, from its begin, in which the thread only waits; empty where it does not.
    pub fn waiting(&self) -> Interval {
        let Interval { begin, end } = self.interval;
        Interval::new(begin, self.wait.map_or(begin, |wait| wait.until.clamp(begin, end)))
    }
}

/// An instance of a parallel region that a thread started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeamInterval {
    /// The thread.
    pub thread: ThreadOf,
    /// From when until when.
    pub interval: Interval,
    /// The region of the program that it is in.
    pub region: RegionIdx,
    /// Index of the call site that stands for it; NONE where that is not known.
    pub site: u32,
    /// Threads of the team.
    pub team: u32,
    /// How much shorter it would have been if all threads had worked equally long.
    pub excess: Ns,
}

/// A wait at the begin of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialWait {
    /// When what it waited for was done: until then it waited for another rank, after that for the message.
    pub awaited: Ns,
    /// Until when.
    pub until: Ns,
    /// Why.
    pub state: WaitState,
    /// World rank of who ended it last; `None`: nobody did.
    pub by: Option<u32>,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Message {
    /// World rank of who sent it.
    pub from: u32,
    /// World rank of who received it.
    pub to: u32,
    /// The number of the sender's thread in its log, and of the receiver's.
    pub from_thread: u32,
    /// See above.
    pub to_thread: u32,
    /// The number of the receiver's thread that posted the receive.
    pub posted_thread: u32,
    /// When its send began.
    pub sent: Ns,
    /// When its receive was posted.
    pub posted: Ns,
    /// When the call ended in which it was received.
    pub received: Ns,
    /// Its bytes.
    pub bytes: u64,
    /// Its tag.
    pub tag: i32,
    /// Index of its communicator in [`crate::model::Model::communicators`]; NONE: not known.
    pub comm: u32,
    /// The sender's request; NONE: a blocking send.
    pub send_request: u32,
    /// The receiver's request; NONE: a blocking receive.
    pub request: u32,
}

/// A request that is over and is not that of a received message, which [`Message`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRequest {
    /// World rank of who started and completed it.
    pub rank: u32,
    /// The number of the thread that started it.
    pub started_thread: u32,
    /// The request. A persistent one may be started again, later.
    pub request: u32,
    /// When it was started: of a send, [`Message::sent`] of its message.
    pub started: Ns,
    /// How its operation ended.
    pub outcome: RequestOutcome,
}

/// The end of an operation that was started under a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// A send is complete.
    Sent,
    /// A receive was cancelled.
    CancelledReceive,
    /// A send was cancelled: this message is never received.
    CancelledSend(CancelledMessage),
}

/// The message of a send that was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelledMessage {
    /// World rank of its receiver.
    pub to: u32,
    /// Its bytes.
    pub bytes: u64,
    /// Its tag.
    pub tag: i32,
    /// Index of its communicator in [`crate::model::Model::communicators`].
    pub comm: u32,
}
