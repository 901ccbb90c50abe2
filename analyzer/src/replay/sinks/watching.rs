//! A watcher as a sink, where there is one.

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::{NewThread, Received, Sink};
use crate::model::followed::ThreadOf;
use crate::model::interval::Interval;
use crate::model::region_state::{Ns, RegionState};
use crate::model::waits::WaitState;
use crate::replay::needs::EndedCall;
use crate::replay::watcher::{InitialWait, Message, StateInterval, Watcher};

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

    /// A thread did something for some time; `what`: the kind of that, its call site and its operation.
    fn shows(&mut self, thread: u32, interval: Interval, what: (RegionState, u32, u16), wait: Option<InitialWait>) {
        if let Some(watcher) = &mut self.watcher
            && let Some(&(thread, _)) = self.threads.get(thread as usize)
        {
            let (kind, site, operation) = what;
            watcher.spends(&StateInterval { thread, interval, kind, site, operation, wait });
        }
    }

    /// A thread waited outside of its window, for one that was in its own.
    fn is_idle(&mut self, thread: u32, interval: Interval, state: WaitState, by: Option<u32>) {
        let by = by.and_then(|by| self.world(by));
        let kind = RegionState::new(0, Activity::Management);
        self.shows(thread, interval, (kind, NONE, 0), Some(InitialWait { until: interval.end, state, by }));
    }

    fn initial_wait(&self, call: &EndedCall) -> Option<InitialWait> {
        let wait = call.wait?;
        Some(InitialWait { until: wait.until, state: wait.last.state, by: self.world(wait.last.by.thread) })
    }
}

impl Sink for Watching<'_> {
    fn begins(&mut self, NewThread { rank, world, number, begin }: NewThread, _window: Interval) {
        self.threads.push((ThreadOf { rank, number }, world));
        if number == 0 && begin > 0 {
            let thread = self.threads.len() as u32 - 1;
            self.is_idle(thread, Interval::new(0, begin), WaitState::LateBegin, None);
        }
    }

    #[inline]
    fn computes(&mut self, thread: u32, kind: RegionState, time: Interval) {
        if self.watcher.is_some() && !time.is_empty() {
            self.shows(thread, time, (kind, NONE, 0), None);
        }
    }

    #[inline]
    fn calls(&mut self, call: &EndedCall) {
        if self.watcher.is_some() {
            let wait = self.initial_wait(call);
            self.shows(call.thread, call.time, (call.step.kind, call.step.site, call.step.operation), wait);
        }
    }

    #[inline]
    fn receives(&mut self, message: &Received) {
        if self.watcher.is_some() {
            let world = |thread: u32| self.world(thread).unwrap_or(NONE);
            let (from, to) = (world(message.from), world(message.to));
            let (sent, received): (Ns, Ns) = (message.time.begin, message.time.end);
            let message = Message { from, to, sent, received, bytes: message.bytes, tag: message.tag };
            self.watcher.iter_mut().for_each(|watcher| watcher.receives(&message));
        }
    }

    fn ends_early(&mut self, thread: u32, last: u32, idle: Interval) {
        self.is_idle(thread, idle, WaitState::EarlyEnd, Some(last));
    }
}
