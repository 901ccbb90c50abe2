//! Handles the end of a call: reports its messages and synchronisations, and forgets what no later call can refer to.

use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{CommunicationPattern, EpochStep};

use super::channels::{MessageTransfer, TransferId, TransferSide};
use super::collectives::CollectiveId;
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher};
use crate::model::interval::TimeInterval;
use crate::model::region_state::Ns;
use crate::replay::observer::{CancelledMessage, RequestOutcome};
use crate::replay::sinks::{EventSink, EventSinks, PairSync, ReceivedMessage, RequestEnd};
use crate::replay::timeline::{CommEvent, CommRole};

impl EventMatcher<'_> {
    /// Ends an event of a call that lasted for `time`.
    pub fn end_event(&mut self, at: &CurrentCallEvent, time: TimeInterval, sinks: &mut EventSinks) {
        let Some([first, second]) = self.started(at) else { return };
        match at.event.role {
            CommRole::Send | CommRole::Recv | CommRole::Collective(_) | CommRole::Done | CommRole::Found => {
                self.end_started(at, first, time, sinks);
                if !matches!(second, StartedOperation::Nothing) {
                    self.end_started(at, second, time, sinks);
                }
            }
            CommRole::Cancelled => {
                for started in [first, second] {
                    match self.cancelled_side(at, started) {
                        Some((side, sends)) => {
                            sinks.on_request_end(&RequestEnd::new(&side, cancelled_outcome(at, &side, sends)));
                            sinks.forget(side.noted);
                        }
                        None => self.end_started(at, started, time, sinks),
                    }
                }
            }
            CommRole::Epoch(EpochStep::Complete | EpochStep::Wait | EpochStep::Test) => {
                if let StartedOperation::AwaitedSignals(id) = first {
                    self.awaited(at.thread, id, time, sinks);
                }
            }
            // What the start of an access awaits is over with its end.
            CommRole::Epoch(EpochStep::Post | EpochStep::Start) => {}
            CommRole::Lock { exclusive, .. } => self.end_lock(at, exclusive, time, sinks),
            CommRole::Seen | CommRole::Probe | CommRole::Unlock { .. } | CommRole::Flush | CommRole::Fetch { .. } => {}
            CommRole::StartSend
            | CommRole::Ready
            | CommRole::StartRecv
            | CommRole::StartRecvAny
            | CommRole::StartCollective(_)
            | CommRole::StartAccess { .. } => {}
        }
    }

    #[inline]
    fn end_started(
        &mut self,
        at: &CurrentCallEvent,
        started: StartedOperation,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        let (thread, event) = (at.thread, at.event);
        match started {
            StartedOperation::Transfer { id, sends } => {
                let transfer = *self.channels.get(id);
                match transfer {
                    MessageTransfer { sent: Some(sent), posted, .. } if !sends => {
                        self.counts.messages += 1;
                        self.counts.sizes_differ += u64::from(sent.bytes != event.bytes);
                        let available = transfer.available_at(false, sent.at);
                        sinks.on_pair_sync(PairSync::new(sent.thread, available, thread, time));
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
                        self.demands.record_other_exchange(thread, Some(sent.thread));
                        if event.any {
                            self.demands.record_request(thread, sent.thread);
                        }
                    }
                    MessageTransfer { sent: Some(sent), posted: Some(posted), .. }
                        if sends && sent.is_rendezvous() && time.has(transfer.available_at(true, posted.at)) =>
                    {
                        let available = transfer.available_at(true, posted.at);
                        sinks.on_pair_sync(PairSync::new(posted.thread, available, thread, time));
                    }
                    _ => {}
                }
                self.report_request(at, id, sends, sinks);
                self.end_transfer(id, time.end, sinks);
            }
            StartedOperation::Collective(id) => {
                self.demands.record_other_exchange(thread, None);
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
                        sinks.on_request_end(&RequestEnd::new(&side, RequestOutcome::CancelledReceive));
                    }
                    sinks.forget(side.noted);
                }
            }
            StartedOperation::Access(_) | StartedOperation::Nothing => {}
        }
    }

    /// Takes what was cancelled out of its queue. `None`: it is in none, or no message.
    fn cancelled_side(&mut self, at: &CurrentCallEvent, started: StartedOperation) -> Option<(TransferSide, bool)> {
        let StartedOperation::Transfer { id, sends } = started else { return None };
        let channel = self.channel(at, sends)?;
        Some((self.channels.cancel(channel, id, sends)?, sends))
    }

    /// Reports that a send under a request is complete. A receive has a message, which says so.
    #[inline]
    fn report_request(&self, at: &CurrentCallEvent, id: TransferId, sends: bool, sinks: &mut EventSinks) {
        if at.event.request == NONE || !sends || at.event.role == CommRole::Cancelled {
            return;
        }
        if let Some(side) = &self.channels.get(id).sent {
            sinks.on_request_end(&RequestEnd::new(side, RequestOutcome::Sent));
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
        let own = self.collective_member(at, id);
        let instance = self.collectives.get(id);
        let last_before;
        let needed = match instance.pattern {
            CommunicationPattern::AllToAll | CommunicationPattern::Neighbours => return,
            CommunicationPattern::OneToAll => instance.root_entry.as_slice(),
            CommunicationPattern::AllToOne if instance.root == Some(own.world_rank) => instance.entries.in_order(),
            CommunicationPattern::AllToOne => &[],
            // Each of the others before it has entered, too, but to keep all of these pairs takes memory that grows with the square of the members.
            CommunicationPattern::Prefix => {
                last_before = instance.entries.last_before(own.number);
                last_before.as_slice()
            }
        };
        let entries = needed.iter().copied().chain(instance.entry_on_the_way(own, time));
        for entry in entries.filter(|entry| entry.world_rank != own.world_rank) {
            sinks.on_pair_sync(PairSync::new(entry.thread, entry.at, at.thread, time));
        }
    }
}

/// Returns the outcome of an operation that an event completes as cancelled.
fn cancelled_outcome(at: &CurrentCallEvent, side: &TransferSide, sends: bool) -> RequestOutcome {
    let &CommEvent { peer: to, tag, comm, .. } = at.event;
    match sends {
        true => RequestOutcome::CancelledSend(CancelledMessage { to, bytes: side.bytes, tag, comm }),
        false => RequestOutcome::CancelledReceive,
    }
}

impl RequestEnd {
    fn new(started: &TransferSide, outcome: RequestOutcome) -> RequestEnd {
        let &TransferSide { at, thread: started_by, request, .. } = started;
        RequestEnd { request, started: at, started_by, outcome }
    }
}
