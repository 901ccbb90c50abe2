//! An observer as a sink, where there is one.

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::{EventSink, NewThread, ReceivedMessage, RequestEnd};
use crate::model::interval::TimeInterval;
use crate::model::region_state::{Ns, RegionState};
use crate::model::replay_results::ReplayedThread;
use crate::model::waits::WaitState;
use crate::replay::ended_call::EndedCall;
use crate::replay::observer::{
    EndedRequest, InitialWait, MatchedMessage, ReplayObserver, StateInterval, TeamInterval, TeamThreadInterval,
};
use crate::replay::timeline::{CallFacts, ParallelPart, TimelineStep};

/// The observer, and what it calls threads; nobody by default.
#[derive(Default)]
pub struct ObserverSink<'a> {
    observer: Option<&'a mut (dyn ReplayObserver + 'a)>,
    /// By thread: as the observer knows it, and its world rank.
    threads: Vec<(ReplayedThread, u32)>,
}

impl<'a> ObserverSink<'a> {
    /// Shows all to `observer`.
    pub fn new(observer: &'a mut (dyn ReplayObserver + 'a)) -> Self {
        ObserverSink { observer: Some(observer), threads: Vec::new() }
    }

    fn world_rank(&self, thread: u32) -> Option<u32> {
        self.threads.get(thread as usize).map(|&(_, world_rank)| world_rank)
    }

    /// The world rank of a thread, and its number in the rank's log.
    fn side(&self, thread: u32) -> (u32, u32) {
        self.threads.get(thread as usize).map_or((NONE, 0), |&(thread, world_rank)| (world_rank, thread.number))
    }

    /// A thread did something for some time: `what`, whose thread is filled in.
    fn show(&mut self, thread: u32, what: StateInterval) {
        if let Some(observer) = &mut self.observer
            && let Some(&(thread, _)) = self.threads.get(thread as usize)
        {
            observer.on_interval(&StateInterval { thread, ..what });
        }
    }

    /// A thread ran parallel regions in an interval of computation.
    fn show_teams(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        let Some((observer, &(thread, _))) = self.observer.as_mut().zip(self.threads.get(thread as usize)) else {
            return;
        };
        for &ParallelPart { site, begin, elapsed, team, excess, thread: number } in
            parallel.iter().filter(|_| kind.is_computation())
        {
            let [begin, end] = [begin, begin.saturating_add(elapsed)].map(|at| at.clamp(time.begin, time.end));
            let interval = TimeInterval::new(begin, end);
            if !interval.is_empty() {
                match number {
                    NONE => {
                        observer.on_team(&TeamInterval { thread, interval, region: kind.region(), site, team, excess });
                    }
                    number => {
                        observer.on_team_thread(&TeamThreadInterval {
                            starter: thread,
                            number,
                            interval,
                            site,
                            useful: excess,
                        });
                    }
                }
            }
        }
    }

    /// A thread waited outside of its window, for one that was in its own.
    fn show_idle(&mut self, thread: u32, interval: TimeInterval, state: WaitState, by: Option<u32>) {
        let by = by.and_then(|by| self.world_rank(by));
        let kind = RegionState::new(0, Activity::Management);
        let wait = Some(InitialWait { awaited: interval.end, until: interval.end, state, by });
        self.show(thread, StateInterval { wait, ..outside_of_calls(kind, interval) });
    }

    fn initial_wait(&self, call: &EndedCall) -> Option<InitialWait> {
        let wait = call.wait?;
        let awaited = wait.last.by.at.min(wait.until);
        Some(InitialWait {
            awaited,
            until: wait.until,
            state: wait.last.state,
            by: self.world_rank(wait.last.by.thread),
        })
    }
}

/// Something that a thread did in no call, whichever thread it is.
fn outside_of_calls(kind: RegionState, interval: TimeInterval) -> StateInterval {
    let thread = ReplayedThread { rank_idx: NONE, number: 0 };
    StateInterval { thread, interval, kind, site: NONE, operation: 0, facts: CallFacts::NOTHING, wait: None }
}

impl EventSink for ObserverSink<'_> {
    fn on_thread_start(&mut self, thread: NewThread, _rank_window: TimeInterval) {
        let NewThread { rank_idx, world_rank, number, begin, goes_on } = thread;
        self.threads.push((ReplayedThread { rank_idx, number }, world_rank));
        if number == 0 && begin > 0 && goes_on.is_none() {
            let thread = self.threads.len() as u32 - 1;
            self.show_idle(thread, TimeInterval::new(0, begin), WaitState::LateBegin, None);
        }
    }

    #[inline]
    fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval, parallel: &[ParallelPart]) {
        if self.observer.is_some() && !time.is_empty() {
            self.show(thread, outside_of_calls(kind, time));
            self.show_teams(thread, kind, time, parallel);
        }
    }

    #[inline]
    fn on_call(&mut self, call: &EndedCall) {
        if self.observer.is_some() {
            let wait = self.initial_wait(call);
            let &TimelineStep { kind, site, operation, facts, .. } = call.step;
            let call_itself = StateInterval { site, operation, facts, wait, ..outside_of_calls(kind, call.time) };
            self.show(call.thread, call_itself);
        }
    }

    #[inline]
    fn on_message(&mut self, message: &ReceivedMessage) {
        if self.observer.is_some() {
            let ((from, from_thread), (to, to_thread)) = (self.side(message.from), self.side(message.to));
            let (_, posted_thread) = self.side(message.posted_by);
            let (sent, received): (Ns, Ns) = (message.time.begin, message.time.end);
            let &ReceivedMessage { posted, bytes, tag, comm, send_request, request, .. } = message;
            let message = MatchedMessage {
                from,
                to,
                from_thread,
                to_thread,
                posted_thread,
                sent,
                posted,
                received,
                bytes,
                tag,
                comm,
                send_request,
                request,
            };
            for observer in self.observer.iter_mut() {
                observer.on_message(&message);
            }
        }
    }

    #[inline]
    fn on_request_end(&mut self, end: &RequestEnd) {
        if self.observer.is_some() {
            let ((rank, started_thread), &RequestEnd { request, started, outcome, .. }) =
                (self.side(end.started_by), end);
            let end = EndedRequest { rank, started_thread, request, started, outcome };
            for observer in self.observer.iter_mut() {
                observer.on_request_end(&end);
            }
        }
    }

    fn on_early_end(&mut self, thread: u32, last: u32, idle: TimeInterval) {
        self.show_idle(thread, idle, WaitState::EarlyEnd, Some(last));
    }
}
