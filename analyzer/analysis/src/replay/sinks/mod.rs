//! The consumers of replay events: the clocks of what-if scenarios, the wait analysis, and an observer, if there is one.
//!
//! ```text
//!   engine, matching ─→ EventSinks ─┬→ predictions.rs     clocks: how long the run would take otherwise
//!        (EventSink: the events)    ├→ wait_analysis.rs   who waited, and when two threads synchronised (sync_times.rs);
//!                                   │                     explanation_queue.rs hands it over to another core, which finds out why
//!                                   └→ observer_sink.rs   activities over time, for the page, statistics and exports
//! ```
//!
//! Nothing flows back except [`NotedClocks`], with which a matched event keeps the clocks of its time, and the time of a communicator's last
//! synchronisation ([`WaitAnalysis::last_collective`]), by which the engine judges whether a run can be cut.

mod explanation_queue;
mod observer_sink;
mod predictions;
mod sync_times;
mod wait_analysis;

pub use explanation_queue::ExplanationQueue;
pub use observer_sink::ObserverSink;
pub use sync_times::PairSync;
pub use wait_analysis::WaitAnalysis;

use super::ended_call::EndedCall;
use super::observer::RequestOutcome;
use super::timeline::ParallelPart;
use super::what_if::{NotedClocks, ScenarioClocks};
use crate::model::interval::TimeInterval;
use crate::model::region_state::{Ns, RegionState};

/// A thread that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewThread {
    /// Index of its rank in the model.
    pub rank_idx: u32,
    /// Its rank in MPI_COMM_WORLD.
    pub world_rank: u32,
    /// Number in the rank's log.
    pub number: u32,
    /// Begin of the thread.
    pub begin: Ns,
    /// State at the start of the segment, if the thread began before it.
    pub goes_on: Option<ContinuedThread>,
}

/// The state of a thread that was replayed up to a cut: the end of a collective that all ranks entered.
#[derive(Clone, Copy, Debug)]
pub struct ContinuedThread {
    /// Time at which the last rank entered.
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
    /// Begin of the send, and end of the call that received the message.
    pub time: TimeInterval,
    /// Time at which the receive was posted.
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

/// A request that is over and is not that of a received message.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// The request.
    pub request: u32,
    /// Start of the operation.
    pub started: Ns,
    /// The thread that started it.
    pub started_by: u32,
    /// Outcome of its operation.
    pub outcome: RequestOutcome,
}

/// Takes the events of the replay, in the order in which threads are followed: of a thread that is the order of time.
pub trait EventSink {
    /// A further thread begins, whose rank has this window; its index among all threads is the next one.
    fn on_thread_start(&mut self, thread: NewThread, rank_window: TimeInterval);

    /// A thread was outside of MPI, some of the time in parallel regions, and enters a call; the time may have no length.
    fn on_computation(&mut self, _thread: u32, _kind: RegionState, _time: TimeInterval, _parallel: &[ParallelPart]) {}

    /// Called when the thread returned to MPI after more than a moment: its clocks may be asked for by this slot.
    fn on_return_to_mpi(&mut self, _thread: u32, _slot: u8) {}

    /// A call is over.
    fn on_call(&mut self, call: &EndedCall);

    /// Two threads synchronised. Follows [`EventSink::on_call`] of the collector.
    fn on_pair_sync(&mut self, _sync: PairSync) {}

    /// Called when all members of a communicator synchronised.
    fn on_collective_sync(&mut self, _comm: u32, _at: Ns) {}

    /// A message was received, in the receiver's call that is given last.
    fn on_message(&mut self, _message: &ReceivedMessage) {}

    /// A request is over, in the thread's call that is given last.
    fn on_request_end(&mut self, _end: &RequestEnd) {}

    /// A rank's first thread ends before the last one, `last`, does.
    fn on_early_end(&mut self, _thread: u32, _last: u32, _idle: TimeInterval) {}
}

/// The consumers of a replay.
pub struct EventSinks<'a, 'scope> {
    /// Of what-if scenarios.
    pub clocks: ScenarioClocks<'a>,
    /// Of waits and their causes.
    pub waits: WaitAnalysis<'a, 'scope>,
    /// Of an observer.
    pub observer: ObserverSink<'a>,
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

    /// Releases a note.
    #[inline]
    pub fn forget(&mut self, note: NotedClocks) {
        self.clocks.forget(note);
    }
}

impl EventSink for EventSinks<'_, '_> {
    fn on_thread_start(&mut self, thread: NewThread, rank_window: TimeInterval) {
        self.clocks.on_thread_start(thread, rank_window);
        self.waits.on_thread_start(thread, rank_window);
        self.observer.on_thread_start(thread, rank_window);
    }

    #[inline]
    fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        self.clocks.on_computation(thread, kind, time, parallel);
        self.waits.on_computation(thread, kind, time, parallel);
        self.observer.on_computation(thread, kind, time, parallel);
    }

    #[inline]
    fn on_return_to_mpi(&mut self, thread: u32, slot: u8) {
        EventSink::on_return_to_mpi(&mut self.clocks, thread, slot);
    }

    #[inline]
    fn on_call(&mut self, call: &EndedCall) {
        self.clocks.on_call(call);
        self.waits.on_call(call);
        self.observer.on_call(call);
    }

    #[inline]
    fn on_pair_sync(&mut self, sync: PairSync) {
        self.waits.on_pair_sync(sync);
    }

    fn on_collective_sync(&mut self, comm: u32, at: Ns) {
        self.waits.on_collective_sync(comm, at);
    }

    #[inline]
    fn on_message(&mut self, message: &ReceivedMessage) {
        self.observer.on_message(message);
    }

    #[inline]
    fn on_request_end(&mut self, end: &RequestEnd) {
        self.observer.on_request_end(end);
    }

    fn on_early_end(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        self.waits.on_early_end(thread, last, idle);
        self.observer.on_early_end(thread, last, idle);
    }
}
