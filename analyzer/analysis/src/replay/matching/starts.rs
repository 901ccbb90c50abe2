//! Handles the start of a call: matches its communication events with other ranks' events.

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{CommunicationPattern, OperationSemantics, SendMode};

use super::pending::channels::TransferSide;
use super::pending::collectives::{CollectiveId, CollectiveInstance, CollectiveMember};
use super::pending::entries::CollectiveEntry;
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher, KnownRank};
use crate::replay::sinks::EventSinks;
use crate::replay::timeline::CommRole;

impl EventMatcher<'_> {
    /// Starts an event of a call. Returns whether the end of the call matters to the event.
    pub fn start_event(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> bool {
        if let CommRole::Fetch { changes: true } | CommRole::StartAccess { fetches: true } = at.event.role {
            self.demands.record_fetch(at.thread, at.event.peer);
        }
        let started = match at.event.role {
            CommRole::Done | CommRole::Found | CommRole::Seen | CommRole::Cancelled => return true,
            CommRole::Probe | CommRole::Flush | CommRole::Fetch { .. } => return true,
            CommRole::Epoch(_) | CommRole::Lock { .. } | CommRole::Unlock { .. } => return self.epoch(at, sinks),
            CommRole::Ready => {
                self.mark_ready(at, sinks);
                return false;
            }
            CommRole::StartAccess { .. } => StartedOperation::Access(at.event.peer),
            CommRole::Collective(CommunicationPattern::Neighbours)
            | CommRole::StartCollective(CommunicationPattern::Neighbours) => self.enter_neighbourhood(at, sinks),
            CommRole::Send | CommRole::StartSend => self.send(at, sinks),
            CommRole::Recv | CommRole::StartRecv => self.post(at, sinks),
            CommRole::Collective(pattern) | CommRole::StartCollective(pattern) => self.enter(at, pattern, sinks),
            CommRole::StartRecvAny => {
                StartedOperation::Any(self.channels.post_any(new_side(at, 0, SendMode::Standard, sinks)))
            }
        };
        if let CommRole::Send | CommRole::Recv | CommRole::Collective(_) = at.event.role {
            self.keep(at, [started, StartedOperation::Nothing]);
            return true;
        }
        if at.event.request == NONE {
            self.complete_at_once(at, started, sinks);
        } else {
            self.ranks[at.own.rank_idx as usize].requests.start(at.event.request, started);
        }
        false
    }

    /// Completes the send of a nonblocking operation without a request of its own. MPI has sent the message with the call, as MPIs do with
    /// short ones: no completion ends the sender's side.
    fn complete_at_once(&mut self, at: &CurrentCallEvent, started: StartedOperation, sinks: &mut EventSinks) {
        // A blocking send that never returned starts likewise, but has perhaps not sent its message.
        let is_nonblocking = matches!(
            Operation::semantics(at.step.operation),
            OperationSemantics::StartSend(_) | OperationSemantics::StartExchange
        );
        if let StartedOperation::Transfer { id, sends: true } = started
            && is_nonblocking
        {
            self.end_transfer(id, at.own.begun, sinks);
        }
    }

    fn send(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> StartedOperation {
        let Some(channel) = self.channel(at, true) else { return StartedOperation::Nothing };
        self.demands.record_answer(at.thread, at.event.peer, at.own.begun);
        let side = new_side(at, at.event.bytes, at.event.mode, sinks);
        self.woken.extend(self.channels.take_probes(channel));
        let (id, woken) = self.channels.send(channel, side);
        self.woken.extend(woken);
        StartedOperation::Transfer { id, sends: true }
    }

    /// Partitions of a send are ready (MPI-4.1 §4.2.2): it is from now on that its message can have come. Which partition it was, no
    /// record says: a test that finds one has waited for the latest so far, and completing the request waits for the last.
    #[cold]
    fn mark_ready(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) {
        let requests = &self.ranks[at.own.rank_idx as usize].requests;
        let [StartedOperation::Transfer { id, sends: true }, _] = requests.look(at.event.request) else {
            return;
        };
        let Some(before) = self.channels.get(id).sent else { return };
        self.channels.get_mut(id).sent = Some(new_side(at, before.bytes, before.mode, sinks));
        sinks.clocks.forget(before.noted);
    }

    fn post(&mut self, at: &CurrentCallEvent, sinks: &mut EventSinks) -> StartedOperation {
        let Some(channel) = self.channel(at, false) else { return StartedOperation::Nothing };
        let side = new_side(at, 0, SendMode::Standard, sinks);
        StartedOperation::Transfer { id: self.channels.post(channel, side), sends: false }
    }

    fn enter(
        &mut self,
        at: &CurrentCallEvent,
        pattern: CommunicationPattern,
        sinks: &mut EventSinks,
    ) -> StartedOperation {
        let (own, event, thread) = (at.own, at.event, at.thread);
        // A negative number means that the window or file of the collective is not known.
        if event.comm == NONE || event.tag < 0 {
            self.counts.unmatched_collectives += 1;
            return StartedOperation::Nothing;
        }
        if self.ranks[own.rank_idx as usize].broken {
            self.counts.behind_gaps += 1;
            return StartedOperation::Nothing;
        }
        let member = self.member(event.comm, own.world_rank, pattern);
        let entry = CollectiveEntry { world_rank: own.world_rank, member, thread, at: own.begun };
        let (expected, lacks) = self.expected(event.comm);
        if lacks {
            self.counts.not_recorded += 1;
            return StartedOperation::Nothing;
        }
        let operation = entered_operation(at.step.operation);
        let entered = self.collectives.enter(own.world_rank, (event.comm, event.tag), || {
            let mut new = CollectiveInstance::new(entry, operation, pattern, sinks.clocks.note(thread));
            new.expected = expected;
            new
        });
        let Some(id) = entered else { return StartedOperation::Nothing };
        let root = Some(event.peer).filter(|&root| root != NONE);
        let instance = self.collectives.get_mut(id);
        instance.add(entry, operation, root);
        sinks.clocks.note_later(instance.noted, thread);
        if root == Some(own.world_rank) && instance.root_noted.is_none() {
            instance.root_noted = Some(sinks.clocks.note(thread));
        }
        self.woken.append(&mut instance.waiters);
        if instance.entered == instance.expected {
            self.counts.collectives += 1;
            self.counts.mixed_collectives += u64::from(instance.mixed);
            if instance.pattern == CommunicationPattern::AllToAll && !instance.mixed {
                sinks.waits.on_collective_sync(event.comm, instance.last.at);
            }
        }
        StartedOperation::Collective(id)
    }

    pub(super) fn collective_member(&mut self, at: &CurrentCallEvent, id: CollectiveId) -> CollectiveMember {
        let instance = self.collectives.get(id);
        let (comm, pattern, world_rank) = (instance.comm(), instance.pattern, at.own.world_rank);
        CollectiveMember { world_rank, number: self.member(comm, world_rank, pattern) }
    }

    /// Returns a rank's number in a communicator, or NONE if it does not matter, as in all but scans.
    fn member(&mut self, comm: u32, world_rank: u32, pattern: CommunicationPattern) -> u32 {
        if pattern != CommunicationPattern::Prefix {
            return NONE;
        }
        // A list may have very many runs, and is searched for each call.
        let members = self.members;
        *self.numbers.entry((comm, world_rank)).or_insert_with(|| {
            members.group_rank(comm, world_rank).and_then(|at| u32::try_from(at).ok()).unwrap_or(NONE)
        })
    }

    /// Returns the number of members of a communicator that are replayed, and whether some of them lack records.
    fn expected(&mut self, comm: u32) -> (u32, bool) {
        let (ranks, places, members) = (&self.ranks, &self.places, self.members);
        *self.expected.entry(comm).or_insert_with(|| {
            let world_ranks = members.world_ranks(comm).unwrap_or(&places.0).iter();
            let known: Vec<&KnownRank> =
                world_ranks.filter_map(|rank| ranks.get(places.get(*rank)? as usize)).collect();
            (known.len() as u32, known.iter().any(|rank| rank.broken))
        })
    }

    /// Forgets the operations that the events of a thread's call started, at its end.
    #[inline]
    pub fn leave(&mut self, thread: u32) {
        self.started[thread as usize].clear();
    }
}

/// Returns the operation that counts for a collective: members may start a persistent one alone or with others.
fn entered_operation(operation: u16) -> u16 {
    match Operation::semantics(operation) {
        OperationSemantics::StartAll => Operation::Start as u16,
        _ => operation,
    }
}

#[inline]
fn new_side(at: &CurrentCallEvent, bytes: u64, mode: SendMode, sinks: &mut EventSinks) -> TransferSide {
    TransferSide {
        thread: at.thread,
        at: at.own.begun,
        kind: at.step.kind,
        noted: sinks.clocks.note(at.thread),
        bytes,
        mode,
        request: at.event.request,
    }
}
