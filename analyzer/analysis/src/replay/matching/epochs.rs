//! Synchronises a rank with some others: in neighbourhood collectives, and in epochs of RMA windows that not all ranks enter.

use std::sync::Arc;

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{EpochStep, SynchronisesWith};

use super::locks::{ALL, HeldLock, LockOfRank, LockRelease};
use super::needs::CallNeeds;
use super::signals::{AwaitedId, SentSignal, SignalKind, SignalRoute};
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher};
use crate::model::interval::TimeInterval;
use crate::model::region_state::Ns;
use crate::model::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::ended_call::{CallNeed, NeedClock};
use crate::replay::sinks::{EventSink, EventSinks, PairSync};
use crate::replay::timeline::{CommEvent, CommRole};

/// A signal that a call awaits.
#[derive(Clone, Copy)]
struct SignalWait {
    signal: SignalKind,
    /// True if the call cannot end before it was sent.
    certain: bool,
    /// Bytes that come from each.
    bytes: u64,
}

impl EventMatcher<'_> {
    /// A rank enters a neighbourhood collective: it signals those that it sends to, and awaits those that send to it.
    pub(super) fn enter_neighbourhood(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> StartedOperation {
        let event = at.event;
        let (sources, destinations) = (self.list(at, event.peer), self.list(at, event.peer.wrapping_add(1)));
        let (Some(sources), Some(destinations)) = (sources, destinations) else {
            self.counts.unmatched_neighbours += 1;
            return StartedOperation::Nothing;
        };
        if event.comm == NONE {
            self.counts.unmatched_neighbours += 1;
            return StartedOperation::Nothing;
        }
        if self.ranks[at.own.rank_idx as usize].broken {
            self.counts.behind_gaps += 1;
            return StartedOperation::Nothing;
        }
        self.signal_all(at, &destinations, SignalKind::Entered, sinks);
        let needs_all = Operation::synchronises(at.step.operation) == SynchronisesWith::Sources;
        let bytes = event.bytes / sources.len().max(1) as u64;
        self.await_all(
            at,
            &sources,
            SignalWait { signal: SignalKind::Entered, certain: needs_all && event.bytes > 0, bytes },
        )
    }

    /// A step of an epoch, or a lock, begins; whether its end matters.
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
        let started = match event.role {
            CommRole::Lock { exclusive, folded } => {
                let held = HeldLock { exclusive, folded };
                self.locks.lock(lock_of(at), held);
                Some(StartedOperation::Nothing)
            }
            CommRole::Unlock { folded } => {
                self.unlock(at, folded, sinks);
                Some(StartedOperation::Nothing)
            }
            CommRole::Epoch(step) => self.with_group(at, step, sinks),
            _ => None,
        };
        if let Some(started) = started {
            self.keep(at, [started, StartedOperation::Nothing]);
        }
        started.is_some()
    }

    /// A step of an epoch with a group; `None`: it cannot be matched.
    fn with_group(
        &mut self,
        at: &CurrentCallEvent,
        step: EpochStep,
        sinks: &mut EventSinks,
    ) -> Option<StartedOperation> {
        let rma_window = (at.own.world_rank, at.event.comm, at.event.tag);
        if self.unknown.contains(&rma_window) {
            self.counts.behind_gaps += 1;
            return None;
        }
        let Some(others) = self.list(at, at.event.peer) else {
            // What it signals others in this epoch, and awaits of them, would be taken for that of the next.
            self.unknown.insert(rma_window);
            self.counts.unmatched_epochs += 1;
            return None;
        };
        Some(self.synchronise(at, step, &others, sinks))
    }

    fn synchronise(
        &mut self,
        at: &CurrentCallEvent,
        step: EpochStep,
        others: &[u32],
        sinks: &mut EventSinks,
    ) -> StartedOperation {
        let rma_window = (at.own.rank_idx, at.event.comm, at.event.tag);
        match step {
            EpochStep::Post => {
                self.signal_all(at, others, SignalKind::Posted, sinks);
                StartedOperation::Nothing
            }
            EpochStep::Start => {
                // MPI may let the epoch begin before it is exposed, and wait for that when it ends.
                let started =
                    self.await_all(at, others, SignalWait { signal: SignalKind::Posted, certain: false, bytes: 0 });
                if let StartedOperation::AwaitedSignals(id) = started
                    && let Some(open) = self.accesses.insert(rma_window, id)
                {
                    self.awaited(at.thread, open, TimeInterval::new(Ns::MIN, Ns::MIN), sinks);
                }
                started
            }
            EpochStep::Complete => {
                self.signal_all(at, others, SignalKind::Completed, sinks);
                self.accesses.remove(&rma_window).map_or(StartedOperation::Nothing, StartedOperation::AwaitedSignals)
            }
            EpochStep::Wait | EpochStep::Test => {
                self.await_all(at, others, SignalWait { signal: SignalKind::Completed, certain: true, bytes: 0 })
            }
        }
    }

    fn unlock(&mut self, at: &CurrentCallEvent, folded: bool, sinks: &mut EventSinks) {
        let (own, thread) = (at.own, at.thread);
        match self.locks.unlock(lock_of(at), folded, || LockRelease {
            world_rank: own.world_rank,
            thread,
            at: own.begun,
            noted: sinks.note(thread),
        }) {
            Some(old) => {
                for release in old {
                    sinks.forget(release.noted);
                }
            }
            None => self.counts.unmatched_epochs += 1,
        }
    }

    /// A list that a thread's event names.
    fn list(&self, at: &CurrentCallEvent, number: u32) -> Option<Arc<[u32]>> {
        self.ranks.get(at.own.rank_idx as usize)?.lists.get(number as usize).cloned()
    }

    /// Returns the world ranks that are replayed, and lack neither records nor the groups of epochs on the event's RMA window.
    fn followed(&self, world_ranks: &[u32], event: &CommEvent) -> Vec<u32> {
        world_ranks
            .iter()
            .copied()
            .filter(|&world_rank| {
                let known = self.places.get(world_rank).and_then(|place| self.ranks.get(place as usize));
                let is_counted =
                    self.unknown.is_empty() || !self.unknown.contains(&(world_rank, event.comm, event.tag));
                is_counted && known.is_some_and(|rank| !rank.broken)
            })
            .collect()
    }

    fn signal_all(&mut self, at: &CurrentCallEvent, others: &[u32], signal: SignalKind, sinks: &mut EventSinks) {
        let (own, event, thread) = (at.own, at.event, at.thread);
        for to in self.followed(others, event) {
            let sent = SentSignal { thread, at: own.begun, noted: sinks.note(thread) };
            let route = SignalRoute { comm: event.comm, on: event.tag, from: own.world_rank, to, signal };
            let (woken, unawaited) = self.signals.send(route, sent);
            if let Some(noted) = unawaited {
                sinks.forget(noted);
            }
            self.woken.extend(woken);
        }
    }

    fn await_all(&mut self, at: &CurrentCallEvent, others: &[u32], awaits: SignalWait) -> StartedOperation {
        let (to, event) = (at.own.world_rank, at.event);
        let SignalWait { signal, certain, bytes } = awaits;
        let from = self.followed(others, event);
        self.counts.not_recorded += u64::from(
            !self.unknown.is_empty()
                && others.iter().any(|&other| self.unknown.contains(&(other, event.comm, event.tag))),
        );
        StartedOperation::AwaitedSignals(self.signals.expect_from(
            from.into_iter().map(|from| SignalRoute { comm: event.comm, on: event.tag, from, to, signal }),
            signal,
            certain,
            bytes,
        ))
    }

    /// A call that awaits others needs each of them, and waits for the last.
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
        needs.all.extend(sent.into_iter().enumerate().map(|(i, sent)| CallNeed {
            bytes,
            certain,
            waits: waits && Some(i) == last,
            ..need_of_event(
                EndedBy { thread: sent.thread, at: sent.at },
                NeedClock::Noted(sent.noted),
                state_of(signal),
            )
        }));
        true
    }

    /// A lock waits for the last holder of a conflicting lock, if that released it meanwhile.
    pub(super) fn need_of_lock(&self, at: &CurrentCallEvent, exclusive: bool) -> Option<CallNeed> {
        let release = self.released(at, exclusive, TimeInterval::new(at.own.begun, at.ends()))?;
        let by = EndedBy { thread: release.thread, at: release.at };
        Some(need_of_event(by, NeedClock::Noted(release.noted), WaitState::Lock))
    }

    /// Ends a call that requested a lock.
    pub(super) fn end_lock(
        &mut self,
        at: &CurrentCallEvent,
        exclusive: bool,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        self.counts.epochs += 1;
        if let Some(release) = self.released(at, exclusive, time) {
            sinks.on_pair_sync(PairSync::new(release.thread, release.at, at.thread, time));
        }
    }

    /// The last release, within a time, of a lock that does not go with the one that the event asks for.
    fn released(&self, at: &CurrentCallEvent, exclusive: bool, time: TimeInterval) -> Option<LockRelease> {
        let event = at.event;
        let found = self.locks.waited_for((event.comm, event.tag), target(event), at.own.world_rank, exclusive);
        found.filter(|release| time.has(release.at))
    }

    /// Ends what a call awaited: it is synchronised with those that it awaited, since both had come there.
    pub(super) fn awaited(&mut self, thread: u32, id: AwaitedId, time: TimeInterval, sinks: &mut EventSinks) {
        let signal = self.signals.awaited(id).signal;
        let sent = self.signals.end(id);
        if sent.iter().all(Option::is_some) {
            *(if signal == SignalKind::Entered { &mut self.counts.neighbourhoods } else { &mut self.counts.epochs }) +=
                1;
        }
        for sent in sent.into_iter().flatten() {
            sinks.forget(sent.noted);
            if sent.at <= time.end {
                sinks.on_pair_sync(PairSync::new(sent.thread, sent.at, thread, time));
            }
        }
    }
}

/// Returns a need that is an event on another thread, without a message.
fn need_of_event(by: EndedBy, clocks: NeedClock, state: WaitState) -> CallNeed {
    CallNeed { by, clocks, bytes: 0, hops: 1, state, delay: None, certain: false, waits: true }
}

/// The target of a lock.
fn target(event: &CommEvent) -> u32 {
    if event.peer == NONE { ALL } else { event.peer }
}

/// The lock that a call asks for or gives back.
fn lock_of(at: &CurrentCallEvent) -> LockOfRank {
    LockOfRank { window: (at.event.comm, at.event.tag), target: target(at.event), rank: at.own.world_rank }
}

fn state_of(signal: SignalKind) -> WaitState {
    match signal {
        SignalKind::Entered => WaitState::Neighbours,
        SignalKind::Posted => WaitState::Post,
        SignalKind::Completed => WaitState::Complete,
    }
}
