//! Observers of the replay. They see each event once, because the records are not kept.

use bincode::{Decode, Encode};

use crate::model::RegionIdx;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::ReplayedThread;
use crate::model::replayed::waits::WaitState;
use crate::replay::timeline::CallFacts;

/// Receives what threads do, in the order in which they are followed.
pub trait ReplayObserver: Send {
    /// Called for each interval of a thread's time, in chronological order for each thread.
    fn on_interval(&mut self, state: &StateInterval);

    /// Called when a thread ran a parallel region with a team, in the computation that was reported last; in chronological order for each thread.
    fn on_team(&mut self, _team: &TeamInterval) {}

    /// Called for each separately recorded thread of the team that was reported last, which ran the region's function.
    fn on_team_thread(&mut self, _thread: &TeamThreadInterval) {}

    /// Called when a message has arrived, in the call that was reported last.
    fn on_message(&mut self, message: &MatchedMessage);

    /// Called when the request of a send, or of a cancelled receive, is over, in the call that was reported last.
    fn on_request_end(&mut self, _ended: &EndedRequest) {}
}

/// An observer that need not see all of a run in chronological order: each segment is shown to a fork of it, on another core or in another
/// process, and the observations of the forks are merged.
pub trait SegmentObserver: ReplayObserver + Sync + Sized {
    /// The observations of one or more consecutive segments.
    type Observations: Encode + Decode<()> + Send;

    /// Creates an observer with the same settings and no observations.
    fn fork(&self) -> Self;

    /// Adds the observations of a fork in the segments that follow. The result is the same as if one observer had seen all segments.
    fn merge(&mut self, later: Self::Observations);

    /// Returns the observations, for [`SegmentObserver::merge`] of another fork or of the observer of the whole run.
    fn into_observations(self) -> Self::Observations;
}

impl<W: ReplayObserver + ?Sized> ReplayObserver for &mut W {
    fn on_interval(&mut self, state: &StateInterval) {
        (**self).on_interval(state);
    }

    fn on_team(&mut self, team: &TeamInterval) {
        (**self).on_team(team);
    }

    fn on_team_thread(&mut self, thread: &TeamThreadInterval) {
        (**self).on_team_thread(thread);
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        (**self).on_message(message);
    }

    fn on_request_end(&mut self, ended: &EndedRequest) {
        (**self).on_request_end(ended);
    }
}

/// A thread's interval in one state: it computed, was in a call, or waited outside of its rank's window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateInterval {
    /// The thread.
    pub thread: ReplayedThread,
    /// Time of the interval.
    pub interval: TimeInterval,
    /// The state and its region.
    pub kind: RegionState,
    /// Index of the call site; NONE outside of calls, or where it is not known.
    pub site: u32,
    /// Number of the operation; 0 outside of calls.
    pub operation: u16,
    /// Arguments of the call; nothing outside of calls.
    pub facts: CallFacts,
    /// The wait that it began with.
    pub wait: Option<InitialWait>,
}

impl StateInterval {
    /// Returns the part of the interval, from its begin, in which the thread only waits; empty if it does not wait.
    pub fn waiting(&self) -> TimeInterval {
        let TimeInterval { begin, end } = self.interval;
        TimeInterval::new(begin, self.wait.map_or(begin, |wait| wait.until.clamp(begin, end)))
    }

    /// Returns the part of the interval, to its end, in which the thread waits for no other rank: in a call, the time of MPI and of the network.
    pub fn transfer(&self) -> TimeInterval {
        let TimeInterval { begin, end } = self.interval;
        TimeInterval::new(self.wait.map_or(begin, |wait| wait.awaited.clamp(begin, end)), end)
    }
}

/// An instance of a parallel region that a thread started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeamInterval {
    /// The thread.
    pub thread: ReplayedThread,
    /// Time of the interval.
    pub interval: TimeInterval,
    /// The region of the program that it is in.
    pub region: RegionIdx,
    /// Index of the call site that stands for it; NONE where that is not known.
    pub site: u32,
    /// Threads of the team.
    pub team: u32,
    /// Time by which it would have been shorter if all threads had worked equally long.
    pub excess: Ns,
}

/// The time in which a thread of a team runs the function of a parallel region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeamThreadInterval {
    /// The thread that started the region.
    pub starter: ReplayedThread,
    /// Number of the thread in the team.
    pub number: u32,
    /// Time of the interval.
    pub interval: TimeInterval,
    /// Index of the call site that stands for the region; NONE where that is not known.
    pub site: u32,
    /// Work in that time; the thread waits, or is in MPI, in the remainder.
    pub useful: Ns,
}

/// A wait at the begin of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InitialWait {
    /// Time of the awaited event: until then the thread waited for another rank, after that for the message.
    pub awaited: Ns,
    /// End of the wait.
    pub until: Ns,
    /// The wait state.
    pub state: WaitState,
    /// World rank that ended it last, or `None`.
    pub by: Option<u32>,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct MatchedMessage {
    /// World rank of the sender.
    pub from: u32,
    /// World rank of the receiver.
    pub to: u32,
    /// The number of the sender's thread in its log, and of the receiver's.
    pub from_thread: u32,
    /// See above.
    pub to_thread: u32,
    /// The number of the receiver's thread that posted the receive.
    pub posted_thread: u32,
    /// Begin of the send.
    pub sent: Ns,
    /// Time at which the receive was posted.
    pub posted: Ns,
    /// End of the call that received the message.
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

/// A request that is over. The request of a received message is in [`MatchedMessage`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRequest {
    /// World rank that started and completed it.
    pub rank: u32,
    /// The number of the thread that started it.
    pub started_thread: u32,
    /// The request. A persistent one may be started again, later.
    pub request: u32,
    /// Start of the operation: of a send, [`MatchedMessage::sent`] of its message.
    pub started: Ns,
    /// Outcome of its operation.
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
