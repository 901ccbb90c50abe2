//! Converts calls and their parts into communication events: by MPI's semantics, in the ids of the run.

use std::collections::BTreeMap;

use lbprof_collector::Record;
use lbprof_collector::definition::MpiObject;
use lbprof_collector::record::{CallFlags, NO_PEER, NONE};
use lbprof_collector::semantics::{CollectiveScope, CommunicationPattern, EpochStep, OperationSemantics, SendMode};
use lbprof_collector::spinning::FoldedCalls;

use super::{LogCommunicator, RankSteps};
use crate::replay::timeline::step::{CommEvent, CommRole};

impl RankSteps<'_> {
    /// Returns the event of a call by its own record, apart from its parts.
    pub(super) fn event(
        &mut self,
        record: &Record,
        semantics: OperationSemantics,
        has_parts: bool,
    ) -> Option<CommEvent> {
        self.probed.probes(record, semantics);
        if record.end == 0 || record.flags.contains(CallFlags::UNFINISHED) {
            return self.unfinished(record, semantics);
        }
        match semantics {
            OperationSemantics::Nothing | OperationSemantics::AskForMessage | OperationSemantics::AskForRequest => None,
            OperationSemantics::Send(mode) => Some(self.send(record, CommRole::Send, mode)),
            OperationSemantics::Exchange => Some(self.send(record, CommRole::Send, SendMode::Standard)),
            OperationSemantics::Recv => {
                let any = self.probed.is_received_by(record);
                let event = self.message(record, CommRole::Recv, record.received);
                Some(CommEvent { any: event.any || any, ..event })
            }
            OperationSemantics::Probe => Some(self.message(record, CommRole::Probe, 0)),
            OperationSemantics::StartSend(mode) => Some(self.send(record, CommRole::StartSend, mode)),
            OperationSemantics::StartRecv => Some(self.starts_receive(record)),
            OperationSemantics::StartExchange => Some(self.send(record, CommRole::StartSend, SendMode::Standard)),
            OperationSemantics::PrepareSend(_)
            | OperationSemantics::PrepareRecv
            | OperationSemantics::PrepareCollective(_) => {
                self.prepared.add(record, semantics);
                None
            }
            OperationSemantics::StartAll | OperationSemantics::Wait | OperationSemantics::Test if has_parts => None,
            OperationSemantics::Start | OperationSemantics::StartAll => self.started(record),
            OperationSemantics::Ready if record.flags.contains(CallFlags::UNKNOWN_REQUEST) => None,
            OperationSemantics::Ready => Some(self.message(record, CommRole::Ready, 0)),
            OperationSemantics::Wait | OperationSemantics::Test | OperationSemantics::Look => {
                self.completion(record, semantics)
            }
            OperationSemantics::Collective(pattern, on) => Some(self.enter(record, CommRole::Collective, pattern, on)),
            OperationSemantics::StartCollective(pattern) => {
                Some(self.enter(record, CommRole::StartCollective, pattern, CollectiveScope::Communicator))
            }
            OperationSemantics::Epoch(step) => Some(self.epoch(record, step)),
            OperationSemantics::Lock => {
                let exclusive = record.flags.contains(CallFlags::EXCLUSIVE);
                self.lock(record, CommRole::Lock { exclusive, folded: FoldedCalls::new(record).is_some() })
            }
            OperationSemantics::Unlock => {
                self.lock(record, CommRole::Unlock { folded: FoldedCalls::new(record).is_some() })
            }
            OperationSemantics::Flush => self.lock(record, CommRole::Flush),
            OperationSemantics::Fetch => self.lock(record, CommRole::Fetch { changes: record.sent > 0 }),
            OperationSemantics::StartAccess => {
                let fetches = record.sent > 0 && record.received > 0;
                let event = self.lock(record, CommRole::StartAccess { fetches })?;
                Some(CommEvent { request: record.request, ..event })
            }
        }
    }

    /// Returns the event of a call that never returned: it has sent, or entered, but is not known to have received.
    fn unfinished(&mut self, record: &Record, semantics: OperationSemantics) -> Option<CommEvent> {
        match semantics {
            OperationSemantics::Send(mode) | OperationSemantics::StartSend(mode) => {
                Some(self.send(record, CommRole::StartSend, mode))
            }
            OperationSemantics::Exchange => Some(self.send(record, CommRole::StartSend, SendMode::Standard)),
            OperationSemantics::Collective(pattern, on) => {
                Some(self.enter(record, CommRole::StartCollective, pattern, on))
            }
            OperationSemantics::Epoch(step @ (EpochStep::Post | EpochStep::Complete)) => Some(self.epoch(record, step)),
            _ => None,
        }
    }

    fn epoch(&mut self, record: &Record, step: EpochStep) -> CommEvent {
        let peer = self.lists.epoch(record, step, &self.definitions);
        let (comm, _) = self.peer(record.comm, record.peer);
        self.rma_event(record, CommRole::Epoch(step), comm, peer)
    }

    /// Returns the event of a call with a target, or `None` if the target is MPI_PROC_NULL.
    fn lock(&mut self, record: &Record, role: CommRole) -> Option<CommEvent> {
        let has_target = record.peer >= 0 || record.peer == NO_PEER;
        let (comm, target) = self.peer(record.comm, record.peer);
        has_target.then(|| self.rma_event(record, role, comm, target))
    }

    fn rma_event(&self, record: &Record, role: CommRole, comm: u32, peer: u32) -> CommEvent {
        let (tag, mode) = (self.object(record, CollectiveScope::Window), SendMode::Standard);
        CommEvent { role, comm, peer, tag, request: NONE, bytes: 0, mode, any: false }
    }

    pub(super) fn message(&mut self, record: &Record, role: CommRole, bytes: u64) -> CommEvent {
        let (comm, peer) = self.peer(record.comm, record.peer);
        let any = record.flags.contains(CallFlags::ANY_SOURCE);
        CommEvent { role, comm, peer, tag: record.tag, request: record.request, bytes, mode: SendMode::Standard, any }
    }

    fn send(&mut self, record: &Record, role: CommRole, mode: SendMode) -> CommEvent {
        CommEvent { mode, ..self.message(record, role, record.sent) }
    }

    /// Returns the start of a receive, with the message that it receives if that is known already.
    fn starts_receive(&mut self, record: &Record) -> CommEvent {
        if !record.flags.contains(CallFlags::ANY_SOURCE) && !record.flags.contains(CallFlags::ANY_TAG) {
            return self.message(record, CommRole::StartRecv, 0);
        }
        match self.arrived.get(&record.request) {
            Some(&(peer, tag)) => self.message(&Record { peer, tag, ..*record }, CommRole::StartRecv, 0),
            None => self.message(record, CommRole::StartRecvAny, 0),
        }
    }

    pub(super) fn completion(&mut self, record: &Record, semantics: OperationSemantics) -> Option<CommEvent> {
        let nothing = record.flags.contains(CallFlags::NOTHING) || record.request == NONE;
        if nothing || record.flags.contains(CallFlags::UNKNOWN_REQUEST) {
            return None;
        }
        let role = match semantics {
            _ if record.flags.contains(CallFlags::CANCELLED) => CommRole::Cancelled,
            OperationSemantics::Test => CommRole::Found,
            OperationSemantics::Look => CommRole::Seen,
            _ => CommRole::Done,
        };
        Some(self.message(record, role, record.received))
    }

    pub(super) fn started(&mut self, record: &Record) -> Option<CommEvent> {
        // No rank is negative; nothing is exchanged with MPI_PROC_NULL.
        let is_proc_null = record.peer < 0 && !record.flags.contains(CallFlags::ANY_SOURCE);
        match self.prepared.find(record)? {
            OperationSemantics::PrepareSend(_) | OperationSemantics::PrepareRecv if is_proc_null => None,
            OperationSemantics::PrepareSend(mode) => Some(self.send(record, CommRole::StartSend, mode)),
            OperationSemantics::PrepareRecv => Some(self.starts_receive(record)),
            OperationSemantics::PrepareCollective(pattern) => {
                Some(self.enter(record, CommRole::StartCollective, pattern, CollectiveScope::Communicator))
            }
            _ => None,
        }
    }

    fn enter(
        &mut self,
        record: &Record,
        role: fn(CommunicationPattern) -> CommRole,
        pattern: CommunicationPattern,
        on: CollectiveScope,
    ) -> CommEvent {
        let (comm, mut peer) = self.peer(record.comm, record.peer);
        let (mut tag, mut bytes) = (self.object(record, on), record.sent.max(record.received));
        match pattern {
            CommunicationPattern::Neighbours => {
                peer = self.lists.neighbours(record.comm, &self.definitions);
                (tag, bytes) = (0, record.received);
            }
            CommunicationPattern::OneToAll | CommunicationPattern::AllToOne => {
                let communicator = self.definitions.communicators.get(&record.comm);
                if peer == NONE && record.sent > 0 && communicator.is_some_and(|comm| !comm.remote.is_empty()) {
                    // The root of an inter-communicator, which has no number in its remote group.
                    peer = self.rank;
                }
            }
            CommunicationPattern::AllToAll | CommunicationPattern::Prefix => peer = NONE,
        }
        CommEvent {
            role: role(pattern),
            comm,
            peer,
            tag,
            request: record.request,
            bytes,
            mode: SendMode::Standard,
            any: false,
        }
    }

    /// Returns the object that a collective is on: 0 the communicator; RMA windows and files by how many were made on it before.
    fn object(&self, record: &Record, on: CollectiveScope) -> i32 {
        let (objects, bit) = match on {
            CollectiveScope::Communicator => return 0,
            CollectiveScope::Window => (&self.definitions.rma_windows, 1),
            CollectiveScope::File => (&self.definitions.files, 0),
        };
        made_before(objects, record.tag as u32).map_or(-1, |before| 2 + 2 * before as i32 + bit)
    }

    /// Returns the run's index of a communicator, and the world rank of a peer in it, or NONE for each that is not known.
    pub(super) fn peer(&mut self, comm: u32, peer: i32) -> (u32, u32) {
        let (definitions, communicators) = (&self.definitions, self.ids.communicators);
        let known = self.comms.entry(comm).or_insert_with(|| {
            let found = definitions.communicators.get(&comm);
            let index = found.and_then(|found| communicators.binary_search_by_key(&found.uid, |one| one.uid).ok());
            let peers = found.map(|found| if found.remote.is_empty() { &found.group } else { &found.remote });
            LogCommunicator { index: index.map_or(NONE, |at| at as u32), peers: peers.cloned().unwrap_or_default() }
        });
        (known.index, u32::try_from(peer).ok().and_then(|peer| known.peers.get(peer)).unwrap_or(NONE))
    }
}

/// Returns the number of RMA windows, or files, created earlier on the same communicator, which all ranks count alike, or
/// `None` if it is not known.
fn made_before(objects: &BTreeMap<u32, MpiObject>, id: u32) -> Option<u32> {
    let comm = objects.get(&id)?.comm;
    Some(objects.range(..id).filter(|(_, object)| object.comm == comm).count() as u32)
}
