//! Determines the needs of a call before it can end: messages, and entries of other ranks into collectives.

use lbprof_collector::semantics::{CommunicationPattern, EpochStep, OperationSemantics, SendMode, SynchronisesWith};
use lbprof_collector::{Activity, Operation};
use lbprof_thresholds::replay::MAX_BYTES_SENT_AT_ONCE;

use super::pending::channels::{MessageTransfer, TransferId, TransferSide};
use super::pending::collectives::{CollectiveId, CollectiveInstance, CollectiveMember};
use super::pending::entries::CollectiveEntry;
use super::started::{StartedOperation, StartedOperations};
use super::{CurrentCallEvent, EventMatcher};
use crate::model::code::region_state::RegionState;
use crate::model::replayed::waits::WaitState;
use crate::replay::ended_call::{CallNeed, NeedClock};
use crate::replay::sinks::EventSinks;
use crate::replay::timeline::CommRole;

#[derive(Debug, Default)]
pub struct CallNeeds {
    pub all: Vec<CallNeed>,
    /// The needs that are sides of messages which may move only while both ranks are in MPI: index in `all`, and the message.
    pub(super) coupled: Vec<(usize, TransferId)>,
    /// Sends that are complete with the call, and may have waited for their receivers.
    pub(super) sends: Vec<CompleteSend>,
    /// The threads of the targets of accesses to windows that the call completes, and of locks.
    pub(super) targets: Vec<u32>,
    /// The communicator of a collective that was started before and is waited for.
    pub(super) started_on: Option<u32>,
}

/// A send that is complete with a call, and may have waited for its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteSend {
    pub(super) id: TransferId,
    pub(super) to: Option<u32>,
    pub(super) waits: bool,
}

impl CallNeeds {
    pub fn clear(&mut self) {
        self.all.clear();
        self.coupled.clear();
        self.sends.clear();
        self.targets.clear();
        self.started_on = None;
    }

    #[inline]
    pub(super) fn add_side(&mut self, need: CallNeed, id: TransferId) {
        if need.bytes > MAX_BYTES_SENT_AT_ONCE {
            self.coupled.push((self.all.len(), id));
        }
        self.all.push(need);
    }
}

impl EventMatcher<'_> {
    /// Finds the needs of an event before its call can end. Returns `false` if other threads have to be replayed first.
    pub fn resolve_needs(&mut self, at: &CurrentCallEvent, needs: &mut CallNeeds, sinks: &mut EventSinks) -> bool {
        let role = at.event.role;
        let waits = !matches!(role, CommRole::Found | CommRole::Epoch(EpochStep::Test));
        if matches!(role, CommRole::Flush | CommRole::Fetch { .. } | CommRole::Lock { .. } | CommRole::Unlock { .. }) {
            needs.targets.extend(self.first_thread(at.event.peer));
        }
        match role {
            CommRole::Flush | CommRole::Fetch { .. } => true,
            CommRole::Cancelled => {
                let pending = self.completed(at);
                self.keep(at, pending);
                true
            }
            CommRole::Probe => self.resolve_probe(at, needs),
            CommRole::Seen => {
                let pending = self.ranks[at.own.rank_idx as usize].requests.look(at.event.request);
                pending.into_iter().all(|started| self.resolve_started(at, started, waits, needs))
            }
            CommRole::Lock { exclusive, .. } => {
                needs.all.extend(self.need_of_lock(at, exclusive));
                true
            }
            CommRole::Done | CommRole::Found => {
                let pending = self.completed(at).map(|started| self.find_what_any_received(at, started, sinks));
                self.keep(at, pending);
                pending.into_iter().all(|started| self.resolve_started(at, started, waits, needs))
            }
            _ => self.resolve_own(at, waits, needs),
        }
    }

    /// Adds the needs of an event that is over with the call that started it.
    #[inline]
    fn resolve_own(&mut self, at: &CurrentCallEvent, waits: bool, needs: &mut CallNeeds) -> bool {
        let Some([started, _]) = self.started(at) else { return true };
        let is_done = self.resolve_started(at, started, waits, needs);
        if at.event.role == CommRole::Send {
            let receiver = self.first_thread(at.event.peer);
            if let Some(send) = needs.sends.last_mut() {
                send.to = send.to.or(receiver);
            }
        }
        is_done
    }

    #[inline]
    fn completed(&mut self, at: &CurrentCallEvent) -> StartedOperations {
        match self.started(at) {
            None | Some([StartedOperation::Nothing, StartedOperation::Nothing]) => {
                self.ranks[at.own.rank_idx as usize].requests.complete(at.event.request)
            }
            // It was asked for before, when others had to be followed first.
            Some(known) => known,
        }
    }

    /// Matches a receive from any source, once it has received and its source is known.
    #[inline]
    fn find_what_any_received(
        &mut self,
        at: &CurrentCallEvent,
        started: StartedOperation,
        sinks: &mut EventSinks,
    ) -> StartedOperation {
        let StartedOperation::Any(id) = started else { return started };
        let Some(side) = self.channels.take_any(id) else { return StartedOperation::Nothing };
        let Some(channel) = self.channel(at, false) else {
            sinks.clocks.forget(side.noted);
            return StartedOperation::Nothing;
        };
        StartedOperation::Transfer { id: self.channels.post(channel, side), sends: false }
    }

    fn resolve_started(
        &mut self,
        at: &CurrentCallEvent,
        started: StartedOperation,
        waits: bool,
        needs: &mut CallNeeds,
    ) -> bool {
        match started {
            StartedOperation::Transfer { id, sends: true } => {
                self.resolve_receiver(id, waits, needs);
                true
            }
            StartedOperation::Transfer { id, sends: false } => self.resolve_sender(at, id, waits, needs),
            StartedOperation::Collective(id) => self.resolve_members(at, id, waits, needs),
            StartedOperation::AwaitedSignals(id) => self.resolve_signals(at, id, waits, needs),
            StartedOperation::Access(target) => {
                needs.targets.extend(self.first_thread(target).filter(|_| waits));
                true
            }
            StartedOperation::Any(_) | StartedOperation::Nothing => true,
        }
    }

    /// Adds the receive, which a synchronous send needs. Whether another send waited for it is found when all other needs are known.
    fn resolve_receiver(&mut self, id: TransferId, waits: bool, needs: &mut CallNeeds) {
        let &MessageTransfer { sent: Some(sent), posted, .. } = self.channels.get(id) else { return };
        match sent.mode {
            SendMode::Standard => {
                needs.sends.push(CompleteSend { id, to: posted.map(|posted| posted.thread), waits });
            }
            SendMode::Synchronous => {
                if let Some(posted) = posted {
                    needs.add_side(need_of_message(&posted, sent.bytes, WaitState::LateReceiver, waits), id);
                }
            }
            SendMode::Buffered => {}
        }
    }

    fn resolve_sender(&mut self, at: &CurrentCallEvent, id: TransferId, waits: bool, needs: &mut CallNeeds) -> bool {
        let transfer = self.channels.get_mut(id);
        match transfer.sent {
            Some(sent) => {
                needs.add_side(need_of_message(&sent, sent.bytes, WaitState::LateSender, waits), id);
                true
            }
            None if at.own.gives_up => true,
            None => {
                transfer.waiter = Some(at.thread);
                false
            }
        }
    }

    /// Adds the first message that no receive has taken, which a probe needs.
    fn resolve_probe(&mut self, at: &CurrentCallEvent, needs: &mut CallNeeds) -> bool {
        let Some(channel) = self.channel(at, false) else { return true };
        match self.channels.peek(channel) {
            Some(sent) => {
                needs.all.push(need_of_message(&sent, sent.bytes, WaitState::LateSender, true));
                true
            }
            None if at.own.gives_up => true,
            None => {
                self.channels.wait_for_any(channel, at.thread);
                false
            }
        }
    }

    fn resolve_members(&mut self, at: &CurrentCallEvent, id: CollectiveId, waits: bool, needs: &mut CallNeeds) -> bool {
        let own = self.collective_member(at, id);
        let instance = self.collectives.get(id);
        if instance.mixed {
            return true;
        }
        let certain = Operation::synchronises(instance.operation) == SynchronisesWith::Members;
        let on_the_way = if certain { None } else { instance.entry_on_the_way(own, at.time()) };
        let (needed, is_there) = match (on_the_way, self.needed_entry(instance, own)) {
            (Some(_), _) => (on_the_way, true),
            (None, Some(needed)) => needed,
            (None, None) => return true,
        };
        if !is_there {
            // A call that did not need the others may have ended before they came.
            if at.own.gives_up || !certain {
                return true;
            }
            self.collectives.get_mut(id).waiters.push(at.thread);
            return false;
        }
        let is_of_root = instance.pattern == CommunicationPattern::OneToAll
            && on_the_way.is_none_or(|entry| Some(entry.world_rank) == instance.root);
        let noted = instance.root_noted.filter(|_| is_of_root).unwrap_or(instance.noted);
        let is_of_all = instance.pattern == CommunicationPattern::AllToAll;
        let was_started = is_of_all && matches!(at.event.role, CommRole::Done | CommRole::Seen);
        needs.started_on = Some(instance.comm()).filter(|_| was_started && waits);
        // Kept even if this rank was the last: in a scenario ranks may enter in another order. For the same reason a scan notes the clocks of all
        // that entered.
        if let Some(needed) = needed.filter(|needed| certain || needed.at <= at.ends()) {
            let hops = instance.expected.max(2).next_power_of_two().trailing_zeros();
            let state = state_of(instance, at.step.kind);
            needs.all.push(CallNeed {
                hops,
                certain,
                waits,
                ..CallNeed::new(needed.thread, needed.at, NeedClock::Noted(noted), state)
            });
        }
        true
    }

    /// Returns the last entry that a rank needs before it can leave a collective instance, if it is known, and whether all entries that it
    /// needs have come. `None`: the rank needs no other.
    fn needed_entry(
        &self,
        instance: &CollectiveInstance,
        own: CollectiveMember,
    ) -> Option<(Option<CollectiveEntry>, bool)> {
        let is_complete = instance.entered >= instance.expected;
        let is_root = instance.root == Some(own.world_rank);
        let entries = &instance.entries;
        Some(match instance.pattern {
            CommunicationPattern::AllToAll | CommunicationPattern::Neighbours => (Some(instance.last), is_complete),
            CommunicationPattern::OneToAll if is_root => return None,
            CommunicationPattern::AllToOne if !is_root => return None,
            CommunicationPattern::OneToAll => {
                let root = instance.root_entry;
                (root, root.is_some() || instance.root.is_none_or(|root| self.places.get(root).is_none()))
            }
            CommunicationPattern::AllToOne => (entries.last_of_others(own.world_rank), is_complete),
            CommunicationPattern::Prefix => {
                (entries.last_before(own.number), is_complete || entries.has_all_before(own.number))
            }
        })
    }
}

/// Returns the need of the other side of a message: a receive needs the send, without which nothing can have arrived, and a send its receive.
pub(super) fn need_of_message(other: &TransferSide, bytes: u64, state: WaitState, waits: bool) -> CallNeed {
    let delay = Some(RegionState::delay(other.kind.region()));
    let certain = state == WaitState::LateSender;
    CallNeed {
        bytes,
        delay,
        certain,
        waits,
        ..CallNeed::new(other.thread, other.at, NeedClock::Noted(other.noted), state)
    }
}

/// Returns the wait state of a call in `instance`. For a persistent collective the activity comes from `kind`.
fn state_of(instance: &CollectiveInstance, kind: RegionState) -> WaitState {
    let activity = match Operation::semantics(instance.operation) {
        OperationSemantics::Start => kind.activity(),
        _ => Operation::from_number(instance.operation).map(Operation::activity),
    };
    match instance.pattern {
        CommunicationPattern::AllToAll if activity == Some(Activity::Synchronization) => WaitState::Barrier,
        CommunicationPattern::AllToAll if matches!(activity, Some(Activity::OneSided | Activity::Io)) => {
            WaitState::Epoch
        }
        CommunicationPattern::AllToAll => WaitState::NxN,
        CommunicationPattern::OneToAll => WaitState::LateBroadcast,
        CommunicationPattern::AllToOne => WaitState::EarlyReduce,
        CommunicationPattern::Prefix => WaitState::EarlyScan,
        CommunicationPattern::Neighbours => WaitState::Neighbours,
    }
}
