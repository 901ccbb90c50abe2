//! Handles the end of a call: reports its messages and synchronisations, and forgets what no later call can refer to.

use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{CommunicationPattern, EpochStep};

use super::channels::{MessageTransfer, TransferId, TransferSide};
use super::collectives::{CollectiveEntry, CollectiveId};
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher};
use crate::model::interval::TimeInterval;
use crate::model::region_state::Ns;
use crate::replay::sinks::{EventSink, EventSinks, PairSync, ReceivedMessage, RequestEnd};
use crate::replay::timeline::CommRole;

impl EventMatcher<'_> {
    /// An event's part of the call is over, which lasted for `time`.
    pub fn is_over(&mut self, at: &CurrentCallEvent, time: TimeInterval, sinks: &mut EventSinks) {
        let Some([first, second]) = self.started(at) else { return };
        match at.event.role {
            CommRole::Send | CommRole::Recv | CommRole::Collective(_) | CommRole::Done | CommRole::Found => {
                self.started_is_over(at, first, time, sinks);
                if !matches!(second, StartedOperation::Nothing) {
                    self.started_is_over(at, second, time, sinks);
                }
            }
            CommRole::Cancelled => {
                for started in [first, second] {
                    if let StartedOperation::Transfer { id, sends: false } = started
                        && let Some(channel) = self.channel(at, false)
                    {
                        self.channels.cancel_receive(channel, id);
                    }
                    self.started_is_over(at, started, time, sinks);
                }
            }
            CommRole::Epoch(EpochStep::Complete | EpochStep::Wait | EpochStep::Test) => {
                if let StartedOperation::AwaitedSignals(id) = first {
                    self.awaited(at.thread, id, time, sinks);
                }
            }
            CommRole::Lock { exclusive } => self.is_locked(at, exclusive, time, sinks),
            // What the start of an access awaits is over with its end.
            CommRole::Epoch(EpochStep::Post | EpochStep::Start)
            | CommRole::Seen
            | CommRole::Probe
            | CommRole::Unlock => {}
            CommRole::StartSend
            | CommRole::Ready
            | CommRole::StartRecv
            | CommRole::StartRecvAny
            | CommRole::StartCollective(_) => {}
        }
    }

    #[inline]
    fn started_is_over(
        &mut self,
        at: &CurrentCallEvent,
        started: StartedOperation,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        let (thread, event) = (at.thread, at.event);
        match started {
            StartedOperation::Transfer { id, sends } => {
                match self.channels.get(id) {
                    &MessageTransfer { sent: Some(sent), posted, .. } if !sends => {
                        self.counts.messages += 1;
                        self.counts.sizes_differ += u64::from(sent.bytes != event.bytes);
                        sinks.on_pair_sync(PairSync::new(sent.thread, sent.at, thread, time));
                        let (from, tag, comm) = (sent.thread, event.tag, event.comm);
                        let (posted, posted_by) = posted.map_or((time.begin, thread), |side| (side.at, side.thread));
                        let (time, bytes) = (TimeInterval::new(sent.at, time.end), sent.bytes);
                        let (send_request, request) = (sent.request, event.request);
                        sinks.on_message(&ReceivedMessage {
                            from,
                            to: thread,
                            posted_by,
                            time,
                            posted,
                            bytes,
                            tag,
                            comm,
                            send_request,
                            request,
                        });
                        self.demands.has_dealt_with(thread, Some(sent.thread));
                        if event.any {
                            self.demands.is_asked(thread, sent.thread);
                        }
                    }
                    MessageTransfer { sent: Some(sent), posted: Some(posted), .. }
                        if sends && sent.is_rendezvous() && time.has(posted.at) =>
                    {
                        sinks.on_pair_sync(PairSync::new(posted.thread, posted.at, thread, time));
                    }
                    _ => {}
                }
                self.report_request(at, id, sends, sinks);
                self.end_transfer(id, time.end, sinks);
            }
            StartedOperation::Collective(id) => {
                self.demands.has_dealt_with(thread, None);
                self.synchronises_some(at, id, time, sinks);
                if let Some((noted, root)) = self.collectives.leave(id) {
                    sinks.forget(noted);
                    if let Some(root) = root {
                        sinks.forget(root);
                    }
                }
            }
            StartedOperation::AwaitedSignals(id) => self.awaited(thread, id, time, sinks),
            StartedOperation::Any(id) => {
                if let Some(side) = self.channels.take_any(id) {
                    if event.role == CommRole::Cancelled {
                        sinks.on_request_end(&RequestEnd::new(&side, true));
                    }
                    sinks.forget(side.noted);
                }
            }
            StartedOperation::Nothing => {}
        }
    }

    /// Reports that a send under a request is complete, or that a receive was cancelled: of one that has received, the message says so.
    #[inline]
    fn report_request(&self, at: &CurrentCallEvent, id: TransferId, sends: bool, sinks: &mut EventSinks) {
        let cancelled = at.event.role == CommRole::Cancelled;
        if at.event.request == NONE || sends == cancelled {
            return;
        }
        let transfer = self.channels.get(id);
        if let Some(side) = if sends { &transfer.sent } else { &transfer.posted } {
            sinks.on_request_end(&RequestEnd::new(side, cancelled));
        }
    }

    /// Ends one side of a message at an instant. What was noted for those who might have asked for it is forgotten.
    pub(super) fn end_transfer(&mut self, id: TransferId, at: Ns, sinks: &mut EventSinks) {
        for noted in self.channels.end(id, at).into_iter().flatten().flatten() {
            sinks.forget(noted);
        }
    }

    /// Records that a rank which leaves a collective, unless that is one of all, is synchronised with those that it needed there.
    fn synchronises_some(
        &mut self,
        at: &CurrentCallEvent,
        id: CollectiveId,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        let world = at.own.world;
        let instance = self.collectives.get(id);
        let is_root = instance.root == Some(world);
        let own = instance.entries.iter().find(|entry| entry.rank == world).map_or(NONE, |entry| entry.member);
        let on_the_way = instance.entry_on_the_way(world, time).map(|entry| entry.rank);
        let is_needed = |entry: &&CollectiveEntry| match instance.pattern {
            CommunicationPattern::OneToAll | CommunicationPattern::AllToOne if on_the_way == Some(entry.rank) => true,
            CommunicationPattern::AllToAll | CommunicationPattern::Neighbours => false,
            CommunicationPattern::OneToAll => !is_root && Some(entry.rank) == instance.root,
            CommunicationPattern::AllToOne => is_root && entry.rank != world,
            CommunicationPattern::Prefix => entry.member < own,
        };
        for entry in instance.entries.iter().filter(is_needed) {
            sinks.on_pair_sync(PairSync::new(entry.thread, entry.at, at.thread, time));
        }
    }
}

impl RequestEnd {
    fn new(started: &TransferSide, cancelled: bool) -> RequestEnd {
        let &TransferSide { at, thread: started_by, request, .. } = started;
        RequestEnd { request, started: at, started_by, cancelled }
    }
}
