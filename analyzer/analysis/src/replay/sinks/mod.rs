//! Who is given what the replay finds out: the clocks of what-if scenarios, the analysis of waits, and a watcher, where there is one.
//!
//! ```text
//!   engine, matching ─→ Sinks ─┬→ predictions.rs     clocks: how long the run would take otherwise
//!        (Sink: the events)    ├→ wait_analysis.rs   who waited, and when two threads synchronised (sync_times.rs);
//!                              │                     explaining.rs hands it on: why, on another core
//!                              └→ watching.rs        what the page shows
//! ```
//!
//! Nothing flows back but [`Noted`], by which a matched event keeps the clocks of its moment.

mod explaining;
mod predictions;
mod sync_times;
mod wait_analysis;
mod watching;

pub use explaining::Explaining;
pub use sync_times::PairSync;
pub use wait_analysis::WaitAnalysis;
pub use watching::Watching;

use super::needs::EndedCall;
use super::timeline::ParallelPart;
use super::watcher::RequestOutcome;
use super::what_if::{Clocks, Noted};
use crate::model::interval::Interval;
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
    pub goes_on: Option<GoesOn>,
}

/// What a thread goes on with that was followed before: the end of a collective that all ranks entered.
#[derive(Clone, Copy, Debug)]
pub struct GoesOn {
    /// When the last of them entered.
    pub since: Ns,
    /// The kind of the thread's time in it.
    pub kind: RegionState,
}

/// A message that was received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The threads that sent and received it.
    pub from: u32,
    /// See above.
    pub to: u32,
    /// The thread that posted its receive.
    pub posted_by: u32,
    /// When its send began, and when the call ended in which it was received.
    pub time: Interval,
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

/// A request that is over and is not that of a received message.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd {
    /// The request.
    pub request: u32,
    /// When the operation was started.
    pub started: Ns,
    /// The thread that started it.
    pub started_by: u32,
    /// How its operation ended.
    pub outcome: RequestOutcome,
}

/// Takes the events of the replay, in the order in which threads are followed: of a thread that is the order of time.
pub trait Sink {
    /// A further thread begins, whose rank has this window; its number is the next one.
    fn begins(&mut self, thread: NewThread, window: Interval);

    /// A thread was outside of MPI, some of the time in parallel regions, and enters a call; the time may have no length.
    fn computes(&mut self, _thread: u32, _kind: RegionState, _time: Interval, _parallel: &[ParallelPart]) {}

    /// That thread came back to MPI after more than a moment: its clocks may be asked for by this slot.
    fn comes_back(&mut self, _thread: u32, _slot: u8) {}

    /// A call is over.
    fn calls(&mut self, call: &EndedCall);

    /// Two threads synchronised.
    fn synchronises(&mut self, _sync: PairSync) {}

    /// All members of a communicator are.
    fn synchronises_all(&mut self, _comm: u32, _at: Ns) {}

    /// A message was received, in the receiver's call that is given last.
    fn receives(&mut self, _message: &Received) {}

    /// A request is over, in the thread's call that is given last.
    fn ends_request(&mut self, _end: &RequestEnd) {}

    /// The call that is given last begins or ends an epoch with these world ranks, the caller apart.
    fn on_epoch_step(&mut self, _ranks: &[u32]) {}

    /// A thread's window ends before that of another.
    fn ends_early(&mut self, _thread: u32, _last: u32, _idle: Interval) {}
}

/// All sinks.
pub struct Sinks<'a, 'scope> {
    /// Of what-if scenarios.
    pub clocks: Clocks<'a>,
    /// Of waits and their causes.
    pub waits: WaitAnalysis<'a, 'scope>,
    /// Of a watcher.
    pub watching: Watching<'a>,
}

impl Sinks<'_, '_> {
    /// Notes a thread's clocks.
    #[inline]
    pub fn note(&mut self, thread: u32) -> Noted {
        self.clocks.note(thread)
    }

    /// Makes what is noted the later of it and a thread's clocks.
    #[inline]
    pub fn note_later(&mut self, note: Noted, thread: u32) {
        self.clocks.note_later(note, thread);
    }

    /// What is noted is not needed any more.
    #[inline]
    pub fn forget(&mut self, note: Noted) {
        self.clocks.forget(note);
    }
}

impl Sink for Sinks<'_, '_> {
    fn begins(&mut self, thread: NewThread, window: Interval) {
        self.clocks.begins(thread, window);
        self.waits.begins(thread, window);
        self.watching.begins(thread, window);
    }

    #[inline]
    fn computes(&mut self, thread: u32, kind: RegionState, time: Interval, parallel: &[ParallelPart]) {
        self.clocks.computes(thread, kind, time, parallel);
        self.waits.computes(thread, kind, time, parallel);
        self.watching.computes(thread, kind, time, parallel);
    }

    #[inline]
    fn comes_back(&mut self, thread: u32, slot: u8) {
        Sink::comes_back(&mut self.clocks, thread, slot);
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
    fn receives(&mut self, message: &Received) {
        self.watching.receives(message);
    }

    #[inline]
    fn ends_request(&mut self, end: &RequestEnd) {
        self.watching.ends_request(end);
    }

    fn on_epoch_step(&mut self, ranks: &[u32]) {
        self.watching.on_epoch_step(ranks);
    }

    fn ends_early(&mut self, thread: u32, last: u32, idle: Interval) {
        self.waits.ends_early(thread, last, idle);
        self.watching.ends_early(thread, last, idle);
    }
}
