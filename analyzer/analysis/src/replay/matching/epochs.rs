//! Synchronises a rank with some others: in neighbourhood collectives, and in epochs of RMA windows that not all ranks enter.

use std::sync::Arc;

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{EpochStep, SynchronisesWith};

use super::locks::{ALL, HeldLock, LockOfRank, LockRelease};
use super::needs::CallNeeds;
use super::pending::signals::{AwaitedId, SentSignal, SignalKind, SignalRoute};
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher};
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::waits::WaitState;
use crate::replay::ended_call::{CallNeed, NeedClock};
use crate::replay::sinks::{EventSinks, PairSync};
use crate::replay::timeline::{CommEvent, CommRole};

impl EventMatcher<'_> {
    /// Enters a neighbourhood collective: the rank signals the ranks that it sends to, and awaits the ranks that send to it.
    pub(super) fn enter_neighbourhood(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> StartedOperation {
        let event = at.event;
        let lists = self.list(at, event.peer).zip(self.list(at, event.peer.wrapping_add(1)));
        let Some((sources, destinations)) = lists.filter(|_| event.comm != NONE) else {
            self.counts.unmatched_neighbours += 1;
            return StartedOperation::Nothing;
        };
        if self.ranks[at.own.rank_idx as usize].broken {
            self.counts.behind_gaps += 1;
            return StartedOperation::Nothing;
        }
        self.signal_all(at, &destinations, SignalKind::Entered, sinks);
        let needs_all = Operation::synchronises(at.step.operation) == SynchronisesWith::Sources;
        let bytes = event.bytes / sources.len().max(1) as u64;
        self.await_all(at, &sources, SignalKind::Entered, needs_all && event.bytes > 0, bytes)
    }

    /// Starts a step of an epoch, or a lock. Returns whether the end of the call matters.
    pub(super) fn epoch(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> bool {
        let event = at.event;
        if event.comm == NONE || event.tag < 0 {
            self.counts.unmatched_epochs += 1;
            return false;
        }
        if self.ranks[at.own.rank_idx as usize].broken {
            self.counts.behind_gaps += 1;
            return false;
        }
        let mut started = StartedOperation::Nothing;
        match event.role {
            CommRole::Lock { exclusive, folded } => self.locks.lock(lock_of(at), HeldLock { exclusive, folded }),
            CommRole::Unlock { folded } => self.unlock(at, folded, sinks),
            CommRole::Epoch(step) => match self.synchronise(at, step, sinks) {
                Some(with_group) => started = with_group,
                None => return false,
            },
            _ => return false,
        }
        self.keep(at, [started, StartedOperation::Nothing]);
        true
    }

    /// Starts a step of an epoch with a group. Returns `None` if it cannot be matched.
    fn synchronise(
        &mut self,
        at: &CurrentCallEvent,
        step: EpochStep,
        sinks: &mut EventSinks,
    ) -> Option<StartedOperation> {
        let by_world_rank = (at.own.world_rank, at.event.comm, at.event.tag);
        if self.unknown.contains(&by_world_rank) {
            self.counts.behind_gaps += 1;
            return None;
        }
        let Some(others) = self.list(at, at.event.peer) else {
            // Its signals in this epoch would be taken for signals of the next epoch.
            self.unknown.insert(by_world_rank);
            self.counts.unmatched_epochs += 1;
            return None;
        };
        let by_rank_idx = (at.own.rank_idx, at.event.comm, at.event.tag);
        Some(match step {
            EpochStep::Post => {
                self.signal_all(at, &others, SignalKind::Posted, sinks);
                StartedOperation::Nothing
            }
            EpochStep::Start => {
                // MPI may let the epoch begin before it is exposed, and wait for that when it ends.
                let started = self.await_all(at, &others, SignalKind::Posted, false, 0);
                if let StartedOperation::AwaitedSignals(id) = started
                    && let Some(open) = self.accesses.insert(by_rank_idx, id)
                {
                    self.awaited(at.thread, open, TimeInterval::new(Ns::MIN, Ns::MIN), sinks);
                }
                started
            }
            EpochStep::Complete => {
                self.signal_all(at, &others, SignalKind::Completed, sinks);
                self.accesses.remove(&by_rank_idx).map_or(StartedOperation::Nothing, StartedOperation::AwaitedSignals)
            }
            EpochStep::Wait | EpochStep::Test => self.await_all(at, &others, SignalKind::Completed, true, 0),
        })
    }

    fn unlock(&mut self, at: &CurrentCallEvent, folded: bool, sinks: &mut EventSinks) {
        let (own, thread) = (at.own, at.thread);
        let old = self.locks.unlock(lock_of(at), folded, || LockRelease {
            world_rank: own.world_rank,
            thread,
            at: own.begun,
            noted: sinks.clocks.note(thread),
        });
        self.counts.unmatched_epochs += u64::from(old.is_none());
        for release in old.into_iter().flatten() {
            sinks.clocks.forget(release.noted);
        }
    }

    fn list(&self, at: &CurrentCallEvent, number: u32) -> Option<Arc<[u32]>> {
        self.ranks.get(at.own.rank_idx as usize)?.lists.get(number as usize).cloned()
    }

    /// Returns the world ranks that are replayed, and lack neither records nor the groups of epochs on the event's RMA window.
    fn replayed_ranks(&self, world_ranks: &[u32], event: &CommEvent) -> Vec<u32> {
        let mut replayed = world_ranks.to_vec();
        replayed.retain(|&world_rank| {
            self.places.get(world_rank).is_some_and(|place| !self.is_broken(place))
                && !self.unknown.contains(&(world_rank, event.comm, event.tag))
        });
        replayed
    }

    fn signal_all(&mut self, at: &CurrentCallEvent, others: &[u32], signal: SignalKind, sinks: &mut EventSinks) {
        let (own, event, thread) = (at.own, at.event, at.thread);
        for to in self.replayed_ranks(others, event) {
            let sent = SentSignal { thread, at: own.begun, noted: sinks.clocks.note(thread) };
            let route = SignalRoute { comm: event.comm, on: event.tag, from: own.world_rank, to, signal };
            let (woken, unawaited) = self.signals.send(route, sent);
            if let Some(noted) = unawaited {
                sinks.clocks.forget(noted);
            }
            self.woken.extend(woken);
        }
    }

    /// Awaits signals from others. `certain`: the call cannot end before they were sent; `bytes`: bytes that come from each.
    fn await_all(
        &mut self,
        at: &CurrentCallEvent,
        others: &[u32],
        signal: SignalKind,
        certain: bool,
        bytes: u64,
    ) -> StartedOperation {
        let (to, &CommEvent { comm, tag: on, .. }) = (at.own.world_rank, at.event);
        let from = self.replayed_ranks(others, at.event).into_iter();
        self.counts.not_recorded += u64::from(others.iter().any(|&other| self.unknown.contains(&(other, comm, on))));
        let routes = from.map(|from| SignalRoute { comm, on, from, to, signal });
        StartedOperation::AwaitedSignals(self.signals.expect_from(routes, signal, certain, bytes))
    }

    /// Adds the needs of a call that awaits other ranks: it needs each of them, and waits for the last.
    pub(super) fn resolve_signals(
        &mut self,
        at: &CurrentCallEvent,
        id: AwaitedId,
        waits: bool,
        needs: &mut CallNeeds,
    ) -> bool {
        let awaited = self.signals.awaited(id);
        let (certain, bytes, signal) = (awaited.certain, awaited.bytes, awaited.signal);
        let (mut sent, mut missing) = (Vec::with_capacity(awaited.routes.len()), None);
        for (route, number) in &awaited.routes {
            match self.signals.sent(route, *number) {
                Some(found) => sent.push(found),
                None => missing = Some(*route),
            }
        }
        if let Some(route) = missing.filter(|_| certain && !at.own.gives_up) {
            self.signals.wait(&route, at.thread);
            return false;
        }
        sent.retain(|sent| certain || sent.at <= at.ends());
        let last = sent.iter().enumerate().max_by_key(|(_, sent)| sent.at).map(|(i, _)| i);
        needs.all.extend(sent.into_iter().enumerate().map(|(i, sent)| {
            let need = CallNeed::new(sent.thread, sent.at, NeedClock::Noted(sent.noted), state_of(signal));
            CallNeed { bytes, certain, waits: waits && Some(i) == last, ..need }
        }));
        true
    }

    /// Returns the need of a call that requests a lock: the last release of a conflicting lock, if it was during the call.
    pub(super) fn need_of_lock(&self, at: &CurrentCallEvent, exclusive: bool) -> Option<CallNeed> {
        let release = self.released(at, exclusive, TimeInterval::new(at.own.begun, at.ends()))?;
        Some(CallNeed::new(release.thread, release.at, NeedClock::Noted(release.noted), WaitState::Lock))
    }

    pub(super) fn end_lock(
        &mut self,
        at: &CurrentCallEvent,
        exclusive: bool,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        self.counts.epochs += 1;
        if let Some(release) = self.released(at, exclusive, time) {
            sinks.waits.on_pair_sync(PairSync::new(release.thread, release.at, at.thread, time));
        }
    }

    /// Returns the last release, within a time, of a lock that conflicts with the requested one.
    fn released(&self, at: &CurrentCallEvent, exclusive: bool, time: TimeInterval) -> Option<LockRelease> {
        let event = at.event;
        let found = self.locks.waited_for((event.comm, event.tag), lock_target(event), at.own.world_rank, exclusive);
        found.filter(|release| time.has(release.at))
    }

    /// Ends the awaited signals of a call, which synchronises it with their senders.
    pub(super) fn awaited(&mut self, thread: u32, id: AwaitedId, time: TimeInterval, sinks: &mut EventSinks) {
        let is_neighbourhood = self.signals.awaited(id).signal == SignalKind::Entered;
        let sent = self.signals.end(id);
        let is_complete = sent.iter().all(Option::is_some);
        self.counts.neighbourhoods += u64::from(is_complete && is_neighbourhood);
        self.counts.epochs += u64::from(is_complete && !is_neighbourhood);
        for sent in sent.into_iter().flatten() {
            sinks.clocks.forget(sent.noted);
            if sent.at <= time.end {
                sinks.waits.on_pair_sync(PairSync::new(sent.thread, sent.at, thread, time));
            }
        }
    }
}

fn lock_target(event: &CommEvent) -> u32 {
    if event.peer == NONE { ALL } else { event.peer }
}

fn lock_of(at: &CurrentCallEvent) -> LockOfRank {
    LockOfRank { window: (at.event.comm, at.event.tag), target: lock_target(at.event), rank: at.own.world_rank }
}

fn state_of(signal: SignalKind) -> WaitState {
    match signal {
        SignalKind::Entered => WaitState::Neighbours,
        SignalKind::Posted => WaitState::Post,
        SignalKind::Completed => WaitState::Complete,
    }
}
