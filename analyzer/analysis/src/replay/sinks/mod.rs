//! The consumers of replay events: the clocks of what-if scenarios, the wait analysis, and an observer, if there is one.
//!
//! ```text
//!   engine, matching ─→ EventSinks ─┬→ what_if/           clocks: how long the run would take otherwise
//!                                   ├→ wait_analysis.rs   who waited, and when two threads synchronised (sync_times.rs);
//!                                   │                     explanation_queue.rs hands it over to another core, which finds out why
//!                                   └→ observer_sink.rs   activities over time, for the page, statistics and exports
//! ```
//!
//! Nothing flows back except [`NotedClocks`](super::what_if::NotedClocks), with which a matched event keeps the clocks of its time, and the time of a communicator's last
//! synchronisation ([`WaitAnalysis::last_collective`]), by which the engine judges whether a run can be cut.

mod explanation_queue;
mod observer_sink;
mod sync_times;
mod wait_analysis;

pub use explanation_queue::ExplanationQueue;
pub use observer_sink::ObserverSink;
pub use sync_times::PairSync;
pub use wait_analysis::WaitAnalysis;

use super::ended_call::{CallNeed, EndedCall, NeedClock};
use super::observers::scope::ReplayScope;
use super::timeline::ParallelPart;
use super::what_if::ScenarioClocks;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;

#[derive(Clone, Copy, Debug)]
pub struct NewThread {
    pub rank_idx: u32,
    pub world_rank: u32,
    /// Number in the rank's log.
    pub number: u32,
    pub begin: Ns,
    /// State at the start of the segment, if the thread began before it.
    pub goes_on: Option<ContinuedThread>,
}

/// The state of a thread that was replayed up to a cut: the end of a collective that all ranks entered.
#[derive(Clone, Copy, Debug)]
pub struct ContinuedThread {
    /// Time at which the last rank entered.
    pub since: Ns,
    pub kind: RegionState,
}

/// The consumers of a replay. They get the events in the order in which threads are followed; of a thread this is the order of time.
pub struct EventSinks<'a, 'scope> {
    pub scope: &'a ReplayScope,
    pub clocks: ScenarioClocks<'a>,
    pub waits: WaitAnalysis<'a, 'scope>,
    pub observer: ObserverSink<'a>,
}

impl EventSinks<'_, '_> {
    /// Adds the next thread, whose rank has this window.
    pub fn on_thread_start(&mut self, thread: NewThread, rank_window: TimeInterval) {
        // At a cut all clocks restart at the last entry into the collective.
        let since = thread.goes_on.map_or(0, |goes_on| goes_on.since);
        self.clocks.add_thread(self.scope.rank_in_part(thread.rank_idx), thread.begin - since, rank_window);
        self.waits.on_thread_start(thread);
        self.observer.on_thread_start(thread);
    }

    /// Called when a thread that was outside of MPI, some of the time in parallel regions, enters a call. The time may have no length.
    #[inline]
    pub fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        self.clocks.compute(thread, self.scope.state_in_part(kind), time, parallel);
        self.waits.on_computation(thread, kind, time);
        self.observer.on_computation(thread, kind, time, parallel);
    }

    #[inline]
    pub fn on_call(&mut self, call: &EndedCall) {
        self.predict_call(call);
        self.waits.on_call(call);
        self.observer.on_call(call);
    }

    /// Moves the clocks of what-if scenarios on with a call.
    #[inline]
    fn predict_call(&mut self, call: &EndedCall) {
        let (clocks, thread, time) = (&mut self.clocks, call.thread, call.time);
        let Some(begin) = clocks.begin_call(thread, time) else { return };
        for &CallNeed { clocks: source, bytes, hops, .. } in call.needs {
            match source {
                NeedClock::Noted(noted) => clocks.wait_for(thread, noted, bytes, hops),
                NeedClock::Back(other, slot) => clocks.wait_for_return(thread, other, slot, bytes),
            }
        }
        let own = time.end - call.done_at().max(begin);
        clocks.communicate(thread, own);
        clocks.end_call(thread, TimeInterval { begin, ..time });
    }

    /// Called when a rank's first thread ends before the last one, `last`, does.
    pub fn on_early_end(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        self.waits.on_early_end(thread, last, idle);
        self.observer.on_early_end(thread, last, idle);
    }
}
