//! Determines the needs of a call before it can end: messages, and entries of other ranks into collectives.

use lbprof_collector::semantics::{CommunicationPattern, EpochStep, OperationSemantics, SendMode, SynchronisesWith};
use lbprof_collector::{Activity, Operation};
use lbprof_thresholds::replay::MAX_BYTES_SENT_AT_ONCE;

use super::channels::{MessageTransfer, TransferId, TransferSide};
use super::collectives::{CollectiveId, CollectiveInstance, CollectiveMember};
use super::entries::CollectiveEntry;
use super::started::{StartedOperation, StartedOperations};
use super::{CurrentCallEvent, EventMatcher};
use crate::model::region_state::RegionState;
use crate::model::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::ended_call::{CallNeed, NeedClock};
use crate::replay::sinks::EventSinks;
use crate::replay::timeline::CommRole;

/// The needs of a call, while they are determined.
#[derive(Debug, Default)]
pub struct CallNeeds {
    /// The known needs.
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
    /// The thread that receives it, where that is known.
    pub(super) to: Option<u32>,
    pub(super) waits: bool,
}

impl CallNeeds {
    /// Removes all needs.
    pub fn clear(&mut self) {
        self.all.clear();
        self.coupled.clear();
        self.sends.clear();
        self.targets.clear();
        self.started_on = None;
    }

    /// Adds the other side of a message.
    #[inline]
    pub(super) fn add_side(&mut self, need: CallNeed, id: TransferId) {
        if need.bytes > MAX_BYTES_SENT_AT_ONCE {
            self.coupled.push((self.all.len(), id));
        }
        self.all.push(need);
    }
}

impl EventMatcher<'_> {
    /// Finds what an event of a call needs before the call can end; `false`: others have to be followed first.
    pub fn resolve_needs(&mut self, at: &CurrentCallEvent, needs: &mut CallNeeds, sinks: &mut EventSinks) -> bool {
        let waits = !matches!(at.event.role, CommRole::Found | CommRole::Epoch(EpochStep::Test));
        match at.event.role {
            CommRole::Cancelled => {
                let pending = self.completed(at);
                self.keep(at, pending);
                true
            }
            CommRole::Probe => self.resolve_probe(at, needs),
            CommRole::Flush | CommRole::Fetch { .. } => {
                needs.targets.extend(self.first_thread(at.event.peer));
                true
            }
            CommRole::Seen => {
                let pending = self.ranks[at.own.rank_idx as usize].requests.look(at.event.request);
                pending.into_iter().all(|started| self.resolve_started(at, started, waits, needs))
            }
            CommRole::Lock { exclusive, .. } => {
                needs.all.extend(self.need_of_lock(at, exclusive));
                needs.targets.extend(self.first_thread(at.event.peer));
                true
            }
            CommRole::Done | CommRole::Found => {
                let [first, second] = self.completed(at);
                let first = self.find_what_any_received(at, first, sinks);
                let second = self.find_what_any_received(at, second, sinks);
                self.keep(at, [first, second]);
                self.resolve_started(at, first, waits, needs)
                    && (matches!(second, StartedOperation::Nothing) || self.resolve_started(at, second, waits, needs))
            }
            CommRole::Send
            | CommRole::Recv
            | CommRole::StartSend
            | CommRole::Ready
            | CommRole::StartRecv
            | CommRole::StartRecvAny
            | CommRole::StartAccess { .. } => self.resolve_own(at, waits, needs),
            CommRole::Unlock { .. } => {
                needs.targets.extend(self.first_thread(at.event.peer));
                self.resolve_own(at, waits, needs)
            }
            CommRole::Collective(_) | CommRole::StartCollective(_) | CommRole::Epoch(_) => {
                self.resolve_own(at, waits, needs)
            }
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

    /// Completes the event's request, and returns its operations.
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

    /// A receive from any source has received: now it is known from whom.
    #[inline]
    fn find_what_any_received(
        &mut self,
        at: &CurrentCallEvent,
        started: StartedOperation,
        sinks: &mut EventSinks,
    ) -> StartedOperation {
        match started {
            StartedOperation::Any(id) => self.received_by_any(at, id, sinks),
            known => known,
        }
    }

    #[cold]
    fn received_by_any(&mut self, at: &CurrentCallEvent, id: TransferId, sinks: &mut EventSinks) -> StartedOperation {
        let Some(side) = self.channels.take_any(id) else { return StartedOperation::Nothing };
        let Some(channel) = self.channel(at, false) else {
            sinks.forget(side.noted);
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

    /// A synchronous send needs its receive. Whether another waited for it is found when all else that the call needs is known.
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
                transfer.set_waiter(at.thread);
                false
            }
        }
    }

    /// A probe needs the first message that nobody receives yet.
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
        let (needed, is_there) = match self.needed_entry(instance, own) {
            _ if on_the_way.is_some() => (on_the_way, true),
            EnteredRanks::Nobody => return true,
            EnteredRanks::Last(needed) => (needed, true),
            EnteredRanks::NotYet => (None, false),
        };
        if !is_there {
            // What did not need the others may have ended before they came.
            if at.own.gives_up || !certain {
                return true;
            }
            self.collectives.get_mut(id).waiters.push(at.thread);
            return false;
        }
        let noted = match instance.pattern {
            CommunicationPattern::OneToAll
                if on_the_way.is_none_or(|entry| Some(entry.world_rank) == instance.root) =>
            {
                instance.root_noted.unwrap_or(instance.noted)
            }
            CommunicationPattern::OneToAll => instance.noted,
            CommunicationPattern::AllToAll
            | CommunicationPattern::AllToOne
            | CommunicationPattern::Prefix
            | CommunicationPattern::Neighbours => instance.noted,
        };
        let is_of_all = instance.pattern == CommunicationPattern::AllToAll;
        let was_started = is_of_all && matches!(at.event.role, CommRole::Done | CommRole::Seen);
        needs.started_on = Some(instance.comm()).filter(|_| was_started && waits);
        // Kept even if this rank was the last: in a scenario ranks may enter in another order. For the same reason a scan notes the clocks of all that entered.
        if let Some(needed) = needed.filter(|needed| certain || needed.at <= at.ends()) {
            needs.all.push(CallNeed {
                by: EndedBy { thread: needed.thread, at: needed.at },
                clocks: NeedClock::Noted(noted),
                bytes: 0,
                hops: instance.expected.max(2).next_power_of_two().trailing_zeros(),
                state: state_of(instance, at.step.kind),
                delay: None,
                certain,
                waits,
            });
        }
        true
    }

    /// The last entry that a rank needs of a collective instance before it can leave it.
    fn needed_entry(&self, instance: &CollectiveInstance, own: CollectiveMember) -> EnteredRanks {
        let is_complete = instance.entered >= instance.expected;
        let is_root = instance.root == Some(own.world_rank);
        let entries = &instance.entries;
        let (needed, is_there) = match instance.pattern {
            CommunicationPattern::AllToAll | CommunicationPattern::Neighbours => (Some(instance.last), is_complete),
            CommunicationPattern::OneToAll if is_root => return EnteredRanks::Nobody,
            CommunicationPattern::AllToOne if !is_root => return EnteredRanks::Nobody,
            CommunicationPattern::OneToAll => {
                let root = instance.root_entry;
                (root, root.is_some() || instance.root.is_none_or(|root| self.places.get(root).is_none()))
            }
            CommunicationPattern::AllToOne => (entries.last_of_others(own.world_rank), is_complete),
            CommunicationPattern::Prefix => {
                (entries.last_before(own.number), is_complete || entries.count_before(own.number) >= own.number)
            }
        };
        if is_there { EnteredRanks::Last(needed) } else { EnteredRanks::NotYet }
    }
}

/// The ranks that have entered a collective instance, of those that another rank needs.
enum EnteredRanks {
    /// The rank needs no other.
    Nobody,
    /// The rank needs all: the last of them, where one is known.
    Last(Option<CollectiveEntry>),
    /// Not all.
    NotYet,
}

/// A message needs its other side: a receive the send, without which nothing can have arrived, a send its receive.
pub(super) fn need_of_message(other: &TransferSide, bytes: u64, state: WaitState, waits: bool) -> CallNeed {
    CallNeed {
        by: EndedBy { thread: other.thread, at: other.at },
        clocks: NeedClock::Noted(other.noted),
        bytes,
        hops: 1,
        state,
        delay: Some(RegionState::delay(other.kind.region())),
        certain: state == WaitState::LateSender,
        waits,
    }
}

/// The wait state of a call in `instance`. For a persistent collective the activity comes from `kind`.
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
