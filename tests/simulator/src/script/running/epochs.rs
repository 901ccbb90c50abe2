//! Epochs of one-sided communication that not all ranks of a window enter together: who waits for whom in them.

use super::state::{Claim, Done, Signal, SignalKey, Stream};
use super::world::World;
use crate::script::error::ScriptError;
use crate::script::record::Event;
use crate::script::step::{Epoch, EpochStep};
use lbprof_collector::record::{CallFlags, Record};

impl<'s> World<'s> {
    /// A rank begins a step of an epoch: what that waits for.
    pub fn epoch(&mut self, rank: usize, epoch: &'s Epoch) -> Result<Vec<usize>, ScriptError> {
        let Some(&window) = self.ranks[rank].windows.get(epoch.window.as_str()) else {
            return Err(self.wrong(rank, format!("there is no window `{}`", epoch.window)));
        };
        let group = &self.script.comms[window.comm].group;
        let world: Vec<u32> = epoch.ranks.iter().map(|&rank| group[rank as usize]).collect();
        let (stream, own) = (window.stream, rank as u32);
        let open = |world: &mut Self| std::mem::take(world.ranks[rank].epochs.entry(&epoch.window).or_default());
        let mut epochs = open(self);
        let mut waits = Vec::new();
        match epoch.does {
            EpochStep::Post => {
                world.iter().for_each(|&origin| self.signal((stream, own, origin, Signal::Posted)));
                epochs.exposed_to = world;
            }
            EpochStep::Start => {
                let all = world
                    .iter()
                    .map(|&target| self.await_signal(rank, (stream, target, own, Signal::Posted)))
                    .collect();
                *(if self.script.deferred_epochs { &mut epochs.deferred } else { &mut waits }) = all;
                epochs.accesses = world;
            }
            EpochStep::Complete => {
                let targets = std::mem::take(&mut epochs.accesses);
                targets.into_iter().for_each(|target| self.signal((stream, own, target, Signal::Completed)));
                waits = std::mem::take(&mut epochs.deferred);
            }
            EpochStep::Wait => {
                let origins = std::mem::take(&mut epochs.exposed_to);
                waits = origins
                    .iter()
                    .map(|&origin| self.await_signal(rank, (stream, origin, own, Signal::Completed)))
                    .collect();
            }
            EpochStep::Lock { exclusive } => {
                waits = world.iter().map(|&target| self.lock(rank, (stream, target), exclusive)).collect();
            }
            EpochStep::Unlock => world.iter().for_each(|&target| self.unlock(rank, (stream, target))),
        }
        self.ranks[rank].epochs.insert(&epoch.window, epochs);
        Ok(waits)
    }

    fn signal(&mut self, key: SignalKey) {
        let now = self.ranks[key.1 as usize].now;
        let signals = self.epochs.signals.entry(key).or_default();
        match signals.awaited.pop_front() {
            Some(pending) => self.arrive(pending, key, now),
            None => signals.sent.push_back(now),
        }
    }

    fn await_signal(&mut self, rank: usize, key: SignalKey) -> usize {
        let pending = self.start_pending(rank, None);
        let signals = self.epochs.signals.entry(key).or_default();
        match signals.sent.pop_front() {
            Some(at) => self.arrive(pending, key, at),
            None => signals.awaited.push_back(pending),
        }
        pending
    }

    fn arrive(&mut self, pending: usize, key: SignalKey, did: u64) {
        let at = self.pending[pending].begun.max(did + self.latency);
        self.complete(pending, Done { at, by: key.1, did });
    }

    fn lock(&mut self, rank: usize, key: (Stream, u32), exclusive: bool) -> usize {
        let pending = self.start_pending(rank, None);
        let claim = Claim { rank: rank as u32, exclusive, pending };
        let lock = self.epochs.locks.entry(key).or_default();
        if lock.queue.is_empty() && lock.may_have(claim) {
            lock.holders.push(claim);
            self.complete_at_once(pending);
        } else {
            lock.queue.push_back(claim);
        }
        pending
    }

    fn unlock(&mut self, rank: usize, key: (Stream, u32)) {
        let (now, latency) = (self.ranks[rank].now, self.latency);
        let lock = self.epochs.locks.entry(key).or_default();
        lock.holders.retain(|holder| holder.rank != rank as u32);
        let mut granted = Vec::new();
        while let Some(&claim) = lock.queue.front().filter(|&&claim| lock.may_have(claim)) {
            lock.queue.pop_front();
            lock.holders.push(claim);
            granted.push(claim.pending);
        }
        for pending in granted {
            self.complete(pending, Done { at: now + latency, by: rank as u32, did: now });
        }
    }

    pub fn posted_epoch(&mut self, rank: usize, epoch: &'s Epoch, record: &mut Record) -> Result<(), ScriptError> {
        self.on_window(rank, &epoch.window, record)?;
        match epoch.does {
            EpochStep::Post | EpochStep::Start => record.count = self.group(rank, epoch) + 1,
            EpochStep::Lock { .. } | EpochStep::Unlock if epoch.ranks.len() == 1 => record.peer = epoch.ranks[0] as i32,
            _ => {}
        }
        if matches!(epoch.does, EpochStep::Lock { exclusive: true }) {
            record.flags |= CallFlags::EXCLUSIVE;
        }
        Ok(())
    }

    fn group(&mut self, rank: usize, epoch: &'s Epoch) -> u32 {
        let comm = self.ranks[rank].windows.get(epoch.window.as_str()).map_or(0, |window| window.comm);
        let members = &self.script.comms[comm].group;
        let ranks: Vec<u32> = epoch.ranks.iter().map(|&rank| members[rank as usize]).collect();
        let known = &mut self.ranks[rank].groups;
        if let Some(id) = known.iter().position(|group| *group == ranks) {
            return id as u32;
        }
        known.push(ranks.clone());
        let id = known.len() as u32 - 1;
        self.log(rank, Event::Group { id, ranks });
        id
    }
}
