//! Calls in which a rank synchronises with some others: neighbourhood collectives, and epochs on windows that not all their ranks enter
//! together.

use std::sync::Arc;

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{EpochStep, Synchronises};

use super::Engine;
use super::needs::{At, Need};
use crate::model::kind::Ns;
use crate::model::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::matching::{ALL, AwaitedId, Release, Sent, Signal, SignalRoute};
use crate::replay::thread::Started;
use crate::replay::timeline::{CommEvent, Role, Step};

impl Engine<'_, '_> {
    /// A rank enters a neighbourhood collective: it signals those that it sends to, and awaits those that send to it.
    pub(super) fn enter_neighbourhood(&mut self, thread: u32, step: &Step, event: &CommEvent) -> Started {
        let (sources, destinations) = (self.list(thread, event.peer), self.list(thread, event.peer.wrapping_add(1)));
        let (Some(sources), Some(destinations)) = (sources, destinations) else {
            self.counts.lone_neighbours += 1;
            return Started::Nothing;
        };
        if event.comm == NONE {
            self.counts.lone_neighbours += 1;
            return Started::Nothing;
        }
        if self.is_broken(thread) {
            self.counts.behind_gaps += 1;
            return Started::Nothing;
        }
        self.tell_all(thread, event, &destinations, Signal::Entered);
        let needs_all = Operation::synchronises(step.operation) == Synchronises::Sources;
        let certain = needs_all && event.bytes > 0;
        let bytes = event.bytes / sources.len().max(1) as u64;
        self.hear_all(thread, event, &sources, (Signal::Entered, certain, bytes))
    }

    /// A step of an epoch, the i-th event of its call, begins; whether its end matters.
    pub(super) fn epoch(&mut self, thread: u32, event: &CommEvent, i: usize) -> bool {
        if event.comm == NONE || event.tag < 0 {
            self.counts.lone_epochs += 1;
            return false;
        }
        if self.is_broken(thread) {
            self.counts.behind_gaps += 1;
            return false;
        }
        let window = (self.threads[thread as usize].world, event.comm, event.tag);
        let started = match event.role {
            Role::Lock { exclusive } => {
                self.lock(thread, event, exclusive);
                Started::Nothing
            }
            Role::Unlock => {
                self.unlock(thread, event);
                return false;
            }
            Role::Epoch(_) if self.unknown.contains(&window) => {
                self.counts.behind_gaps += 1;
                return false;
            }
            Role::Epoch(step) => match self.list(thread, event.peer) {
                Some(others) => self.synchronise(thread, event, step, &others),
                None => {
                    // What it signals others in this epoch, and awaits of them, would be taken for that of the next.
                    self.unknown.insert(window);
                    self.counts.lone_epochs += 1;
                    return false;
                }
            },
            _ => return false,
        };
        self.keep(thread, i, [started, Started::Nothing]);
        true
    }

    /// A step of an epoch with a group.
    fn synchronise(&mut self, thread: u32, event: &CommEvent, step: EpochStep, others: &[u32]) -> Started {
        let window = (self.threads[thread as usize].rank, event.comm, event.tag);
        match step {
            EpochStep::Post => {
                self.tell_all(thread, event, others, Signal::Posted);
                Started::Nothing
            }
            EpochStep::Start => {
                // MPI may let the epoch begin before it is exposed, and wait for that when it ends.
                let started = self.hear_all(thread, event, others, (Signal::Posted, false, 0));
                if let Started::AwaitedSignals(id) = started
                    && let Some(open) = self.accesses.insert(window, id)
                {
                    self.awaited(thread, open, (Ns::MIN, Ns::MIN));
                }
                started
            }
            EpochStep::Complete => {
                self.tell_all(thread, event, others, Signal::Completed);
                self.accesses.remove(&window).map_or(Started::Nothing, Started::AwaitedSignals)
            }
            EpochStep::Wait | EpochStep::Test => self.hear_all(thread, event, others, (Signal::Completed, true, 0)),
        }
    }

    fn lock(&mut self, thread: u32, event: &CommEvent, exclusive: bool) {
        let world = self.threads[thread as usize].world;
        self.locks.lock((event.comm, event.tag), target(event), world, exclusive);
    }

    fn unlock(&mut self, thread: u32, event: &CommEvent) {
        let (rank, at) = (self.threads[thread as usize].world, self.threads[thread as usize].begun);
        let clocks = &mut self.clocks;
        let release = || Release { rank, thread, at, noted: clocks.note(thread) };
        match self.locks.unlock((event.comm, event.tag), target(event), rank, release) {
            Some(old) => old.into_iter().for_each(|release| self.clocks.forget(release.noted)),
            None => self.counts.lone_epochs += 1,
        }
    }

    /// A list that a thread's event names.
    fn list(&self, thread: u32, number: u32) -> Option<Arc<[u32]>> {
        let rank = self.ranks.get(self.threads[thread as usize].rank as usize)?;
        rank.lists.get(number as usize).cloned()
    }

    fn is_broken(&self, thread: u32) -> bool {
        self.ranks[self.threads[thread as usize].rank as usize].broken
    }

    /// Those of `worlds` that are followed, and lack neither records nor the groups of epochs on the event's window.
    fn followed(&self, worlds: &[u32], event: &CommEvent) -> Vec<u32> {
        let follows = |world: &u32| {
            let place = self.places.get(*world).and_then(|place| self.ranks.get(place as usize));
            let is_known = self.unknown.is_empty() || !self.unknown.contains(&(*world, event.comm, event.tag));
            is_known && place.is_some_and(|rank| !rank.broken)
        };
        worlds.iter().copied().filter(follows).collect()
    }

    fn tell_all(&mut self, thread: u32, event: &CommEvent, others: &[u32], signal: Signal) {
        let (from, at) = (self.threads[thread as usize].world, self.threads[thread as usize].begun);
        for to in self.followed(others, event) {
            let sent = Sent { thread, at, noted: self.clocks.note(thread) };
            let (woken, unawaited) =
                self.signals.send(SignalRoute { comm: event.comm, on: event.tag, from, to, signal }, sent);
            unawaited.into_iter().for_each(|noted| self.clocks.forget(noted));
            woken.into_iter().for_each(|thread| self.wake(thread));
        }
    }

    fn hear_all(&mut self, thread: u32, event: &CommEvent, others: &[u32], what: (Signal, bool, u64)) -> Started {
        let (signal, certain, bytes) = what;
        let to = self.threads[thread as usize].world;
        let from = self.followed(others, event);
        let is_unknown = |&other: &u32| self.unknown.contains(&(other, event.comm, event.tag));
        self.counts.not_recorded += u64::from(!self.unknown.is_empty() && others.iter().any(is_unknown));
        let line = |from| SignalRoute { comm: event.comm, on: event.tag, from, to, signal };
        Started::AwaitedSignals(self.signals.expect_from(from.into_iter().map(line), signal, certain, bytes))
    }

    /// A call that awaits others needs each of them, and waits for the last.
    pub(super) fn needs_hearing(&mut self, thread: u32, step: &Step, id: AwaitedId, waits: bool) -> bool {
        let one = &self.threads[thread as usize];
        let (gives_up, ends) = (one.gives_up, step.end.saturating_add(one.shift));
        let awaited = self.signals.awaited(id);
        let (certain, bytes, signal) = (awaited.certain, awaited.bytes, awaited.signal);
        let (mut sent, mut missing) = (Vec::with_capacity(awaited.lines.len()), None);
        for (line, number) in &awaited.lines {
            match self.signals.sent(line, *number) {
                Some(found) => sent.push(found),
                None => missing = Some(*line),
            }
        }
        if let Some(line) = missing.filter(|_| certain && !gives_up) {
            self.signals.wait(&line, thread);
            return false;
        }
        sent.retain(|sent| certain || sent.at <= ends);
        let last = sent.iter().enumerate().max_by_key(|(_, sent)| sent.at).map(|(i, _)| i);
        let need = |(i, sent): (usize, Sent)| Need {
            by: EndedBy { thread: sent.thread, at: sent.at },
            clocks: At::Noted(sent.noted),
            bytes,
            hops: 1,
            state: state_of(signal),
            delay: None,
            certain,
            waits: waits && Some(i) == last,
            transfer: None,
        };
        self.needs.extend(sent.into_iter().enumerate().map(need));
        true
    }

    /// A lock waits for the last that held one which does not go with it, if that gave it back meanwhile.
    pub(super) fn needs_lock(&mut self, thread: u32, step: &Step, event: &CommEvent, exclusive: bool) {
        let one = &self.threads[thread as usize];
        let (begun, ends) = (one.begun, step.end.saturating_add(one.shift));
        let found = self.locks.waited_for((event.comm, event.tag), target(event), one.world, exclusive);
        if let Some(release) = found.filter(|release| release.at > begun && release.at <= ends) {
            self.needs.push(Need {
                by: EndedBy { thread: release.thread, at: release.at },
                clocks: At::Noted(release.noted),
                bytes: 0,
                hops: 1,
                state: WaitState::Lock,
                delay: None,
                certain: false,
                waits: true,
                transfer: None,
            });
        }
    }

    /// A step of an epoch is over. What the start of an access awaits is over with its end.
    pub(super) fn epoch_is_over(&mut self, thread: u32, step: EpochStep, started: Started, times: (Ns, Ns)) {
        if let (EpochStep::Complete | EpochStep::Wait | EpochStep::Test, Started::AwaitedSignals(id)) = (step, started)
        {
            self.awaited(thread, id, times);
        }
    }

    /// A call that asked for a lock has it.
    pub(super) fn is_locked(&mut self, thread: u32, event: &CommEvent, exclusive: bool, (begin, end): (Ns, Ns)) {
        self.counts.epochs += 1;
        let world = self.threads[thread as usize].world;
        let found = self.locks.waited_for((event.comm, event.tag), target(event), world, exclusive);
        if let Some(release) = found.filter(|release| release.at > begin && release.at <= end) {
            self.synchronised.pair(thread, release.thread, release.at);
        }
    }

    /// What a call awaited is over: it is synchronised with those that it awaited, since both had come there.
    pub(super) fn awaited(&mut self, thread: u32, id: AwaitedId, (begin, end): (Ns, Ns)) {
        let signal = self.signals.awaited(id).signal;
        let sent = self.signals.end(id);
        if sent.iter().all(Option::is_some) {
            *(if signal == Signal::Entered { &mut self.counts.neighbourhoods } else { &mut self.counts.epochs }) += 1;
        }
        for sent in sent.into_iter().flatten() {
            self.clocks.forget(sent.noted);
            if sent.at <= end {
                self.synchronised.pair(thread, sent.thread, sent.at.max(begin));
            }
        }
    }
}

/// The target of a lock.
fn target(event: &CommEvent) -> u32 {
    if event.peer == NONE { ALL } else { event.peer }
}

fn state_of(signal: Signal) -> WaitState {
    match signal {
        Signal::Entered => WaitState::Neighbours,
        Signal::Posted => WaitState::Post,
        Signal::Completed => WaitState::Complete,
    }
}
