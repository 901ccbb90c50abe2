//! Shows the events of the replay to an observer, if there is one.

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::NewThread;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::ReplayedThread;
use crate::model::replayed::waits::WaitState;
use crate::replay::ended_call::EndedCall;
use crate::replay::observers::observer::{
    EndedRequest, InitialWait, MatchedMessage, ReplayObserver, RequestOutcome, StateInterval, TeamInterval,
    TeamThreadInterval,
};
use crate::replay::timeline::{CallFacts, ParallelPart, TimelineStep};

pub struct ObserverSink<'a> {
    observer: Option<&'a mut (dyn ReplayObserver + 'a)>,
    /// By thread: the thread as the observer knows it, and its world rank.
    threads: Vec<(ReplayedThread, u32)>,
}

impl<'a> ObserverSink<'a> {
    pub fn new(observer: Option<&'a mut (dyn ReplayObserver + 'a)>) -> Self {
        ObserverSink { observer, threads: Vec::new() }
    }

    /// Returns the world rank of a thread, and its number in the rank's log.
    pub fn side(&self, thread: u32) -> (u32, u32) {
        self.threads.get(thread as usize).map_or((NONE, 0), |&(thread, world_rank)| (world_rank, thread.number))
    }

    fn show(&mut self, thread: u32, interval: StateInterval) {
        if let Some(observer) = &mut self.observer
            && let Some(&(thread, _)) = self.threads.get(thread as usize)
        {
            observer.on_interval(&StateInterval { thread, ..interval });
        }
    }

    /// Shows the parallel regions that a thread ran in an interval of computation.
    fn show_teams(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        let Some((observer, &(thread, _))) = self.observer.as_mut().zip(self.threads.get(thread as usize)) else {
            return;
        };
        for &ParallelPart { site, begin, elapsed, team, excess, thread: number } in
            parallel.iter().filter(|_| kind.is_computation())
        {
            let [begin, end] = [begin, begin.saturating_add(elapsed)].map(|at| at.clamp(time.begin, time.end));
            let interval = TimeInterval::new(begin, end);
            if interval.is_empty() {
                continue;
            }
            if number == NONE {
                observer.on_team(&TeamInterval { thread, interval, region: kind.region(), site, team, excess });
            } else {
                let (starter, useful) = (thread, excess);
                observer.on_team_thread(&TeamThreadInterval { starter, number, interval, site, useful });
            }
        }
    }

    /// Shows that a thread waited outside of its window for one that was in its own.
    fn show_idle(&mut self, thread: u32, interval: TimeInterval, state: WaitState, by: Option<u32>) {
        let wait = InitialWait { awaited: interval.end, until: interval.end, state, by };
        let kind = RegionState::new(0, Activity::Management);
        self.show(thread, StateInterval { wait: Some(wait), ..outside_of_calls(kind, interval) });
    }

    fn world_rank(&self, thread: u32) -> Option<u32> {
        self.threads.get(thread as usize).map(|&(_, world_rank)| world_rank)
    }

    pub fn on_thread_start(&mut self, thread: NewThread) {
        let NewThread { rank_idx, world_rank, number, begin, goes_on } = thread;
        self.threads.push((ReplayedThread { rank_idx, number }, world_rank));
        if number == 0 && begin > 0 && goes_on.is_none() {
            let thread = self.threads.len() as u32 - 1;
            self.show_idle(thread, TimeInterval::new(0, begin), WaitState::LateBegin, None);
        }
    }

    #[inline]
    pub fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        if self.observer.is_some() && !time.is_empty() {
            self.show(thread, outside_of_calls(kind, time));
            self.show_teams(thread, kind, time, parallel);
        }
    }

    #[inline]
    pub fn on_call(&mut self, call: &EndedCall) {
        if self.observer.is_none() {
            return;
        }
        let wait = call.wait.map(|wait| InitialWait {
            awaited: wait.last.by.at.min(wait.until),
            until: wait.until,
            state: wait.last.state,
            by: self.world_rank(wait.last.by.thread),
        });
        let &TimelineStep { kind, site, operation, facts, .. } = call.step;
        self.show(call.thread, StateInterval { site, operation, facts, wait, ..outside_of_calls(kind, call.time) });
    }

    /// Called when a message was received, in the receiver's call that was given last.
    #[inline]
    pub fn on_message(&mut self, message: &MatchedMessage) {
        if let Some(observer) = &mut self.observer {
            observer.on_message(message);
        }
    }

    /// Called when a request that `thread` started is over in the call that was given last, except for requests of received messages.
    #[inline]
    pub fn on_request_end(&mut self, thread: u32, request: u32, started: Ns, outcome: RequestOutcome) {
        let (rank, started_thread) = self.side(thread);
        if let Some(observer) = &mut self.observer {
            observer.on_request_end(&EndedRequest { rank, started_thread, request, started, outcome });
        }
    }

    pub fn on_early_end(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        self.show_idle(thread, idle, WaitState::EarlyEnd, self.world_rank(last));
    }
}

/// Returns the interval of a thread that is in no call; which thread is filled in later.
fn outside_of_calls(kind: RegionState, interval: TimeInterval) -> StateInterval {
    let thread = ReplayedThread { rank_idx: NONE, number: 0 };
    StateInterval { thread, interval, kind, site: NONE, operation: 0, facts: CallFacts::NOTHING, wait: None }
}
