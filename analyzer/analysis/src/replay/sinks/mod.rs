//! Who is given what the replay finds out: the clocks of what-if scenarios, the analysis of waits, and a watcher, where there is one.
//!
//! ```text
//!   engine, matching ─→ Sinks ─┬→ predictions.rs     clocks: how long the run would take otherwise
//!        (Sink: the events)    ├→ wait_analysis.rs   who waited, and when two threads synchronised (sync_times.rs);
//!                              │                     explaining.rs hands it on: why, on another core
//!                              └→ watching.rs        what the page shows
//! ```
//!
//! Nothing flows back but [`NotedClocks`], by which a matched event keeps the clocks of its moment.

mod explanation_queue;
mod observer_sink;
mod predictions;
mod sync_times;
mod wait_analysis;

pub use explanation_queue::ExplanationQueue;
pub use observer_sink::ObserverSink;
pub use sync_times::PairSync;
pub use wait_analysis::WaitAnalysis;

use super::needs::EndedCall;
use super::timeline::ParallelPart;
use super::what_if::{NotedClocks, ReplayClocks};
use crate::model::interval::TimeInterval;
use crate::model::region_state::{Ns, RegionState};

/// A thread that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewThread {
    /// Place of its rank in the model.
    pub rank: u32,
    /// World rank.
    pub world: u32,
    /// Number in the rank's log.
    pub number: u32,
    /// When it begins.
    pub begin: Ns,
    /// What it goes on with, where the run has begun before.
    pub goes_on: Option<ContinuedThread>,
}

/// What a thread goes on with that was followed before: the end of a collective that all ranks entered.
#[derive(Clone, Copy, Debug)]
pub struct ContinuedThread {
    /// When the last of them entered.
    pub since: Ns,
    /// The kind of the thread's time in it.
    pub kind: RegionState,
}

/// A message that was received.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedMessage {
    /// The threads that sent and received it.
    pub from: u32,
    /// See above.
    pub to: u32,
    /// The thread that posted its receive.
    pub posted_by: u32,
    /// When its send began, and when the call ended in which it was received.
    pub time: TimeInterval,
    /// When its receive was posted.
    pub posted: Ns,
    /// Its bytes.
    pub bytes: u64,
    /// Its tag.
    pub tag: i32,
    /// Index of its communicator; NONE: not known.
    pub comm: u32,
    /// The requests of its send, and of its receive; NONE: blocking.
    pub send_request: u32,
    /// See above.
    pub request: u32,
}

/// A request that is over without a message of its own: that of a send, or of a receive that was cancelled.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// The request.
    pub request: u32,
    /// When the operation was started.
    pub started: Ns,
    /// The thread that started it.
    pub started_by: u32,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

/// Takes the events of the replay, in the order in which threads are followed: of a thread that is the order of time.
pub trait EventSink {
    /// A further thread begins, whose rank has this window; its number is the next one.
    fn begins(&mut self, thread: NewThread, window: TimeInterval);

    /// A thread was outside of MPI, some of the time in parallel regions, and enters a call; the time may have no length.
    fn computes(&mut self, _thread: u32, _kind: RegionState, _time: TimeInterval, _parallel: &[ParallelPart]) {}

    /// That thread came back to MPI after more than a moment: its clocks may be asked for by this slot.
    fn comes_back(&mut self, _thread: u32, _slot: u8) {}

    /// A call is over.
    fn calls(&mut self, call: &EndedCall);

    /// Two threads synchronised.
    fn synchronises(&mut self, _sync: PairSync) {}

    /// All members of a communicator are.
    fn synchronises_all(&mut self, _comm: u32, _at: Ns) {}

    /// A message was received, in the receiver's call that is given last.
    fn receives(&mut self, _message: &ReceivedMessage) {}

    /// A request is over, in the thread's call that is given last.
    fn ends_request(&mut self, _end: &RequestEnd) {}

    /// A thread's window ends before that of another.
    fn ends_early(&mut self, _thread: u32, _last: u32, _idle: TimeInterval) {}
}

/// All sinks.
pub struct EventSinks<'a, 'scope> {
    /// Of what-if scenarios.
    pub clocks: ReplayClocks<'a>,
    /// Of waits and their causes.
    pub waits: WaitAnalysis<'a, 'scope>,
    /// Of a watcher.
    pub watching: ObserverSink<'a>,
}

impl EventSinks<'_, '_> {
    /// Notes a thread's clocks.
    #[inline]
    pub fn note(&mut self, thread: u32) -> NotedClocks {
        self.clocks.note(thread)
    }

    /// Makes what is noted the later of it and a thread's clocks.
    #[inline]
    pub fn note_later(&mut self, note: NotedClocks, thread: u32) {
        self.clocks.note_later(note, thread);
    }

    /// What is noted is not needed any more.
    #[inline]
    pub fn forget(&mut self, note: NotedClocks) {
        self.clocks.forget(note);
    }
}

impl EventSink for EventSinks<'_, '_> {
    fn begins(&mut self, thread: NewThread, window: TimeInterval) {
        self.clocks.begins(thread, window);
        self.waits.begins(thread, window);
        self.watching.begins(thread, window);
    }

    #[inline]
    fn computes(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        self.clocks.computes(thread, kind, time, parallel);
        self.waits.computes(thread, kind, time, parallel);
        self.watching.computes(thread, kind, time, parallel);
    }

    #[inline]
    fn comes_back(&mut self, thread: u32, slot: u8) {
        EventSink::comes_back(&mut self.clocks, thread, slot);
    }

    #[inline]
    fn calls(&mut self, call: &EndedCall) {
        self.clocks.calls(call);
        self.waits.calls(call);
        self.watching.calls(call);
    }

    #[inline]
    fn synchronises(&mut self, sync: PairSync) {
        self.waits.synchronises(sync);
    }

    fn synchronises_all(&mut self, comm: u32, at: Ns) {
        self.waits.synchronises_all(comm, at);
    }

    #[inline]
    fn receives(&mut self, message: &ReceivedMessage) {
        self.watching.receives(message);
    }

    #[inline]
    fn ends_request(&mut self, end: &RequestEnd) {
        self.watching.ends_request(end);
    }

    fn ends_early(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        self.waits.ends_early(thread, last, idle);
        self.watching.ends_early(thread, last, idle);
    }
}
