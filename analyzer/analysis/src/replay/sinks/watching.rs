//! A watcher as a sink, where there is one.

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::{NewThread, Received, RequestEnd, Sink};
use crate::model::followed::ThreadOf;
use crate::model::interval::Interval;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::WaitState;
use crate::replay::needs::EndedCall;
use crate::replay::timeline::{CallFacts, ParallelPart, Step};
use crate::replay::watcher::{EndedRequest, InitialWait, Message, StateInterval, TeamInterval, Watcher};

/// The watcher, and what it calls threads; nobody by default.
#[derive(Default)]
pub struct Watching<'a> {
    watcher: Option<&'a mut (dyn Watcher + 'a)>,
    /// By thread: as the watcher knows it, and its world rank.
    threads: Vec<(ThreadOf, u32)>,
}

impl<'a> Watching<'a> {
    /// Shows all to `watcher`.
    pub fn of(watcher: &'a mut (dyn Watcher + 'a)) -> Self {
        Watching { watcher: Some(watcher), threads: Vec::new() }
    }

    fn world(&self, thread: u32) -> Option<u32> {
        self.threads.get(thread as usize).map(|&(_, world)| world)
    }

    /// The world rank of a thread, and its number in the rank's log.
    fn side(&self, thread: u32) -> (u32, u32) {
        self.threads.get(thread as usize).map_or((NONE, 0), |&(thread, world)| (world, thread.number))
    }

    /// A thread did something for some time: `what`, whose thread is filled in.
    fn shows(&mut self, thread: u32, what: StateInterval) {
        if let Some(watcher) = &mut self.watcher
            && let Some(&(thread, _)) = self.threads.get(thread as usize)
        {
            watcher.spends(&StateInterval { thread, ..what });
        }
    }

    /// A thread ran parallel regions in an interval of computation.
    fn show_teams(&mut self, thread: u32, kind: RegionState, time: Interval, parallel: &[ParallelPart]) {
        let Some((watcher, &(thread, _))) = self.watcher.as_mut().zip(self.threads.get(thread as usize)) else {
            return;
        };
        for &ParallelPart { site, begin, elapsed, team, excess } in parallel.iter().filter(|_| kind.is_computation()) {
            let within = |at: Ns| at.clamp(time.begin, time.end);
            let interval = Interval::new(within(begin), within(begin.saturating_add(elapsed)));
            if !interval.is_empty() {
                watcher.on_team(&TeamInterval { thread, interval, region: kind.region(), site, team, excess });
            }
        }
    }

    /// A thread waited outside of its window, for one that was in its own.
    fn is_idle(&mut self, thread: u32, interval: Interval, state: WaitState, by: Option<u32>) {
        let by = by.and_then(|by| self.world(by));
        let kind = RegionState::new(0, Activity::Management);
        let wait = Some(InitialWait { awaited: interval.end, until: interval.end, state, by });
        self.shows(thread, StateInterval { wait, ..outside_of_calls(kind, interval) });
    }

    fn initial_wait(&self, call: &EndedCall) -> Option<InitialWait> {
        let wait = call.wait?;
        let awaited = wait.last.by.at.min(wait.until);
        Some(InitialWait { awaited, until: wait.until, state: wait.last.state, by: self.world(wait.last.by.thread) })
    }
}

/// Something that a thread did in no call, whichever thread it is.
fn outside_of_calls(kind: RegionState, interval: Interval) -> StateInterval {
    let thread = ThreadOf { rank: NONE, number: 0 };
    StateInterval { thread, interval, kind, site: NONE, operation: 0, facts: CallFacts::NOTHING, wait: None }
}

impl Sink for Watching<'_> {
    fn begins(&mut self, NewThread { rank, world, number, begin, goes_on }: NewThread, _window: Interval) {
        self.threads.push((ThreadOf { rank, number }, world));
        if number == 0 && begin > 0 && goes_on.is_none() {
            let thread = self.threads.len() as u32 - 1;
            self.is_idle(thread, Interval::new(0, begin), WaitState::LateBegin, None);
        }
    }

    #[inline]
    fn computes(&mut self, thread: u32, kind: RegionState, time: Interval, parallel: &[ParallelPart]) {
        if self.watcher.is_some() && !time.is_empty() {
            self.shows(thread, outside_of_calls(kind, time));
            self.show_teams(thread, kind, time, parallel);
        }
    }

    #[inline]
    fn calls(&mut self, call: &EndedCall) {
        if self.watcher.is_some() {
            let wait = self.initial_wait(call);
            let &Step { kind, site, operation, facts, .. } = call.step;
            let call_itself = StateInterval { site, operation, facts, wait, ..outside_of_calls(kind, call.time) };
            self.shows(call.thread, call_itself);
        }
    }

    #[inline]
    fn receives(&mut self, message: &Received) {
        if self.watcher.is_some() {
            let ((from, from_thread), (to, to_thread)) = (self.side(message.from), self.side(message.to));
            let (_, posted_thread) = self.side(message.posted_by);
            let (sent, received): (Ns, Ns) = (message.time.begin, message.time.end);
            let &Received { posted, bytes, tag, comm, send_request, request, .. } = message;
            let message = Message {
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
            self.watcher.iter_mut().for_each(|watcher| watcher.receives(&message));
        }
    }

    #[inline]
    fn ends_request(&mut self, end: &RequestEnd) {
        if self.watcher.is_some() {
            let ((rank, started_thread), &RequestEnd { request, started, outcome, .. }) =
                (self.side(end.started_by), end);
            let end = EndedRequest { rank, started_thread, request, started, outcome };
            self.watcher.iter_mut().for_each(|watcher| watcher.ends_request(&end));
        }
    }

    fn on_epoch_step(&mut self, ranks: &[u32]) {
        if let Some(watcher) = &mut self.watcher {
            watcher.on_epoch_step(ranks);
        }
    }

    fn ends_early(&mut self, thread: u32, last: u32, idle: Interval) {
        self.is_idle(thread, idle, WaitState::EarlyEnd, Some(last));
    }
}
