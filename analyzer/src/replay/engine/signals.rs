//! Calls in which a rank synchronises with some others: neighbourhood collectives, and epochs on windows that not all their ranks enter
//! together.

use std::sync::Arc;

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;

use super::Engine;
use super::needs::{At, Need};
use crate::model::kind::Ns;
use crate::model::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::matching::{ALL, HearingId, Line, Release, Says, Told};
use crate::replay::thread::Started;
use crate::replay::timeline::{Deed, EpochStep, Step};

impl Engine<'_, '_> {
    /// A rank enters a neighbourhood collective: it tells those that it sends to, and hears those that send to it.
    pub(super) fn enter_neighbourhood(&mut self, thread: u32, step: &Step, deed: &Deed) -> Started {
        let (sources, destinations) = (self.list(thread, deed.peer), self.list(thread, deed.peer.wrapping_add(1)));
        let (Some(sources), Some(destinations)) = (sources, destinations) else {
            self.counts.lone_neighbours += 1;
            return Started::Nothing;
        };
        if deed.comm == NONE {
            self.counts.lone_neighbours += 1;
            return Started::Nothing;
        }
        if self.is_broken(thread) {
            self.counts.behind_gaps += 1;
            return Started::Nothing;
        }
        self.tell_all(thread, deed, &destinations, Says::Entered);
        let certain = needs_all_sources(step.operation) && deed.bytes > 0;
        let bytes = deed.bytes / sources.len().max(1) as u64;
        self.hear_all(thread, deed, &sources, (Says::Entered, certain, bytes))
    }

    /// A step of an epoch, the i-th deed of its call, begins; whether its end matters.
    pub(super) fn epoch(&mut self, thread: u32, deed: &Deed, step: EpochStep, i: usize) -> bool {
        if deed.comm == NONE || deed.tag < 0 {
            self.counts.lone_epochs += 1;
            return false;
        }
        if self.is_broken(thread) {
            self.counts.behind_gaps += 1;
            return false;
        }
        let window = (self.threads[thread as usize].world, deed.comm, deed.tag);
        let started = match step {
            EpochStep::Lock { exclusive } => {
                self.lock(thread, deed, exclusive);
                Started::Nothing
            }
            EpochStep::Unlock => {
                self.unlock(thread, deed);
                return false;
            }
            _ if self.unknown.contains(&window) => {
                self.counts.behind_gaps += 1;
                return false;
            }
            _ => match self.list(thread, deed.peer) {
                Some(others) => self.synchronise(thread, deed, step, &others),
                None => {
                    // What it tells others in this epoch, and hears of them, would be taken for that of the next.
                    self.unknown.insert(window);
                    self.counts.lone_epochs += 1;
                    return false;
                }
            },
        };
        self.keep(thread, i, [started, Started::Nothing]);
        true
    }

    /// A step of an epoch with a group.
    fn synchronise(&mut self, thread: u32, deed: &Deed, step: EpochStep, others: &[u32]) -> Started {
        let window = (self.threads[thread as usize].rank, deed.comm, deed.tag);
        match step {
            EpochStep::Post => {
                self.tell_all(thread, deed, others, Says::Posted);
                Started::Nothing
            }
            EpochStep::Start => {
                // MPI may let the epoch begin before it is exposed, and wait for that when it ends.
                let started = self.hear_all(thread, deed, others, (Says::Posted, false, 0));
                if let Started::Hearing(id) = started
                    && let Some(open) = self.accesses.insert(window, id)
                {
                    self.heard(thread, open, (Ns::MIN, Ns::MIN));
                }
                started
            }
            EpochStep::Complete => {
                self.tell_all(thread, deed, others, Says::Completed);
                self.accesses.remove(&window).map_or(Started::Nothing, Started::Hearing)
            }
            _ => self.hear_all(thread, deed, others, (Says::Completed, true, 0)),
        }
    }

    fn lock(&mut self, thread: u32, deed: &Deed, exclusive: bool) {
        let world = self.threads[thread as usize].world;
        self.locks.lock((deed.comm, deed.tag), target(deed), world, exclusive);
    }

    fn unlock(&mut self, thread: u32, deed: &Deed) {
        let (rank, at) = (self.threads[thread as usize].world, self.threads[thread as usize].begun);
        let clocks = &mut self.clocks;
        let release = || Release { rank, thread, at, noted: clocks.note(thread) };
        match self.locks.unlock((deed.comm, deed.tag), target(deed), rank, release) {
            Some(old) => old.into_iter().for_each(|release| self.clocks.forget(release.noted)),
            None => self.counts.lone_epochs += 1,
        }
    }

    /// A list that a thread's deed names.
    fn list(&self, thread: u32, number: u32) -> Option<Arc<[u32]>> {
        let rank = self.ranks.get(self.threads[thread as usize].rank as usize)?;
        rank.lists.get(number as usize).cloned()
    }

    fn is_broken(&self, thread: u32) -> bool {
        self.ranks[self.threads[thread as usize].rank as usize].broken
    }

    /// Those of `worlds` that are followed, and lack neither records nor the groups of epochs on the deed's window.
    fn followed(&self, worlds: &[u32], deed: &Deed) -> Vec<u32> {
        let follows = |world: &u32| {
            let place = self.places.get(*world).and_then(|place| self.ranks.get(place as usize));
            let is_known = self.unknown.is_empty() || !self.unknown.contains(&(*world, deed.comm, deed.tag));
            is_known && place.is_some_and(|rank| !rank.broken)
        };
        worlds.iter().copied().filter(follows).collect()
    }

    fn tell_all(&mut self, thread: u32, deed: &Deed, others: &[u32], says: Says) {
        let (from, at) = (self.threads[thread as usize].world, self.threads[thread as usize].begun);
        for to in self.followed(others, deed) {
            let told = Told { thread, at, noted: self.clocks.note(thread) };
            let (woken, unheard) = self.signals.tell(Line { comm: deed.comm, on: deed.tag, from, to, says }, told);
            unheard.into_iter().for_each(|noted| self.clocks.forget(noted));
            woken.into_iter().for_each(|thread| self.wake(thread));
        }
    }

    fn hear_all(&mut self, thread: u32, deed: &Deed, others: &[u32], what: (Says, bool, u64)) -> Started {
        let (says, certain, bytes) = what;
        let to = self.threads[thread as usize].world;
        let from = self.followed(others, deed);
        let is_unknown = |&other: &u32| self.unknown.contains(&(other, deed.comm, deed.tag));
        self.counts.not_recorded += u64::from(!self.unknown.is_empty() && others.iter().any(is_unknown));
        let line = |from| Line { comm: deed.comm, on: deed.tag, from, to, says };
        Started::Hearing(self.signals.hear(from.into_iter().map(line), says, certain, bytes))
    }

    /// A call that hears others needs each of them, and waits for the last.
    pub(super) fn needs_hearing(&mut self, thread: u32, step: &Step, id: HearingId, waits: bool) -> bool {
        let one = &self.threads[thread as usize];
        let (gives_up, ends) = (one.gives_up, step.end.saturating_add(one.shift));
        let hearing = self.signals.hearing(id);
        let (certain, bytes, says) = (hearing.certain, hearing.bytes, hearing.says);
        let (mut told, mut missing) = (Vec::with_capacity(hearing.lines.len()), None);
        for (line, number) in &hearing.lines {
            match self.signals.told(line, *number) {
                Some(found) => told.push(found),
                None => missing = Some(*line),
            }
        }
        if let Some(line) = missing.filter(|_| certain && !gives_up) {
            self.signals.wait(&line, thread);
            return false;
        }
        told.retain(|told| certain || told.at <= ends);
        let last = told.iter().enumerate().max_by_key(|(_, told)| told.at).map(|(i, _)| i);
        let need = |(i, told): (usize, Told)| Need {
            by: EndedBy { thread: told.thread, at: told.at },
            clocks: At::Noted(told.noted),
            bytes,
            hops: 1,
            state: state_of(says),
            delay: None,
            certain,
            waits: waits && Some(i) == last,
            transfer: None,
        };
        self.needs.extend(told.into_iter().enumerate().map(need));
        true
    }

    /// A lock waits for the last that held one which does not go with it, if that gave it back meanwhile.
    pub(super) fn needs_lock(&mut self, thread: u32, step: &Step, deed: &Deed, exclusive: bool) {
        let one = &self.threads[thread as usize];
        let (begun, ends) = (one.begun, step.end.saturating_add(one.shift));
        let found = self.locks.waited_for((deed.comm, deed.tag), target(deed), one.world, exclusive);
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

    /// A step of an epoch is over.
    pub(super) fn epoch_is_over(
        &mut self,
        thread: u32,
        deed: &Deed,
        step: EpochStep,
        started: Started,
        (begin, end): (Ns, Ns),
    ) {
        match (step, started) {
            (EpochStep::Complete | EpochStep::Wait | EpochStep::Test, Started::Hearing(id)) => {
                self.heard(thread, id, (begin, end));
            }
            (EpochStep::Lock { exclusive }, _) => {
                self.counts.epochs += 1;
                let world = self.threads[thread as usize].world;
                let found = self.locks.waited_for((deed.comm, deed.tag), target(deed), world, exclusive);
                if let Some(release) = found.filter(|release| release.at > begin && release.at <= end) {
                    self.synchronised.pair(thread, release.thread, release.at);
                }
            }
            _ => {}
        }
    }

    /// What a call heard is over: it is synchronised with those that it heard, since both had come there.
    pub(super) fn heard(&mut self, thread: u32, id: HearingId, (begin, end): (Ns, Ns)) {
        let says = self.signals.hearing(id).says;
        let told = self.signals.end(id);
        if told.iter().all(Option::is_some) {
            *(if says == Says::Entered { &mut self.counts.neighbourhoods } else { &mut self.counts.epochs }) += 1;
        }
        for told in told.into_iter().flatten() {
            self.clocks.forget(told.noted);
            if told.at <= end {
                self.synchronised.pair(thread, told.thread, told.at.max(begin));
            }
        }
    }
}

/// The target of a lock.
fn target(deed: &Deed) -> u32 {
    if deed.peer == NONE { ALL } else { deed.peer }
}

fn state_of(says: Says) -> WaitState {
    match says {
        Says::Entered => WaitState::Neighbours,
        Says::Posted => WaitState::Post,
        Says::Completed => WaitState::Complete,
    }
}

/// Whether a rank that is given anything in such a call is given something by each of its sources.
fn needs_all_sources(operation: u16) -> bool {
    const EQUAL_BLOCKS: [Operation; 4] = [
        Operation::Neighbor_allgather,
        Operation::Neighbor_alltoall,
        Operation::Ineighbor_allgather,
        Operation::Ineighbor_alltoall,
    ];
    EQUAL_BLOCKS.iter().any(|&one| one as u16 == operation)
}
