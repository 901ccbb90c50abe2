//! Handles the end of a call: reports its messages and synchronisations, and forgets what no later call can refer to.

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{CommunicationPattern, EpochStep};

use super::pending::channels::{TransferId, TransferSide};
use super::pending::collectives::CollectiveId;
use super::started::StartedOperation;
use super::{CurrentCallEvent, EventMatcher};
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::replay::observers::observer::{CancelledMessage, MatchedMessage, RequestOutcome};
use crate::replay::sinks::{EventSinks, ObserverSink, PairSync};
use crate::replay::timeline::{CommEvent, CommRole};

impl EventMatcher<'_> {
    pub fn end_event(&mut self, at: &CurrentCallEvent, time: TimeInterval, sinks: &mut EventSinks) {
        let Some(started) = self.started(at) else { return };
        match at.event.role {
            CommRole::Send | CommRole::Recv | CommRole::Collective(_) | CommRole::Done | CommRole::Found => {
                for one in started {
                    self.end_started(at, one, time, sinks);
                }
            }
            CommRole::Cancelled => {
                for one in started {
                    match self.cancelled_side(at, one) {
                        Some((side, sends)) => {
                            report_end(&side, cancelled_outcome(at, &side, sends), sinks);
                            sinks.clocks.forget(side.noted);
                        }
                        None => self.end_started(at, one, time, sinks),
                    }
                }
            }
            CommRole::Epoch(EpochStep::Complete | EpochStep::Wait | EpochStep::Test) => {
                if let StartedOperation::AwaitedSignals(id) = started[0] {
                    self.awaited(at.thread, id, time, sinks);
                }
            }
            CommRole::Lock { exclusive, .. } => self.end_lock(at, exclusive, time, sinks),
            // The signals that the start of an access epoch awaits are over with the epoch's end.
            _ => {}
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
        match started {
            StartedOperation::Transfer { id, sends } => self.end_side(at, id, sends, time, sinks),
            StartedOperation::Collective(id) => {
                self.demands.record_other_exchange(at.thread, None);
                self.synchronise_some(at, id, time, sinks);
                for noted in self.collectives.leave(id).into_iter().flatten().flatten() {
                    sinks.clocks.forget(noted);
                }
            }
            StartedOperation::AwaitedSignals(id) => self.awaited(at.thread, id, time, sinks),
            StartedOperation::Any(id) => {
                if let Some(side) = self.channels.take_any(id) {
                    if at.event.role == CommRole::Cancelled {
                        report_end(&side, RequestOutcome::CancelledReceive, sinks);
                    }
                    sinks.clocks.forget(side.noted);
                }
            }
            StartedOperation::Access(_) | StartedOperation::Nothing => {}
        }
    }

    #[inline]
    fn end_side(
        &mut self,
        at: &CurrentCallEvent,
        id: TransferId,
        sends: bool,
        time: TimeInterval,
        sinks: &mut EventSinks,
    ) {
        let (thread, event) = (at.thread, at.event);
        let transfer = *self.channels.get(id);
        match (transfer.sent, transfer.posted) {
            (Some(sent), posted) if !sends => {
                self.counts.messages += 1;
                self.counts.sizes_differ += u64::from(sent.bytes != event.bytes);
                let available = transfer.available_at(false, sent.at);
                sinks.waits.on_pair_sync(PairSync::new(sent.thread, available, thread, time));
                report_message(at, &sent, posted, time, &mut sinks.observer);
                self.demands.record_other_exchange(thread, Some(sent.thread));
                if event.any || event.role == CommRole::Found || is_of_any_request(at.step.operation) {
                    let time = TimeInterval::new(sent.at, time.end);
                    self.demands.record_request(thread, sent.thread, event.any, time);
                }
            }
            (Some(sent), Some(posted)) => {
                let available = transfer.available_at(true, posted.at);
                if sent.is_rendezvous() && time.has(available) {
                    sinks.waits.on_pair_sync(PairSync::new(posted.thread, available, thread, time));
                }
            }
            _ => {}
        }
        // A received message says itself that its request is over.
        if let Some(sent) = transfer.sent.filter(|_| sends && event.request != NONE)
            && event.role != CommRole::Cancelled
        {
            report_end(&sent, RequestOutcome::Sent, sinks);
        }
        self.end_transfer(id, time.end, sinks);
    }

    /// Takes what was cancelled out of its queue. `None`: it is in none, or no message.
    fn cancelled_side(&mut self, at: &CurrentCallEvent, started: StartedOperation) -> Option<(TransferSide, bool)> {
        let StartedOperation::Transfer { id, sends } = started else { return None };
        let channel = self.channel(at, sends)?;
        Some((self.channels.cancel(channel, id, sends)?, sends))
    }

    /// Ends one side of a message, and releases the notes of its clocks when both sides are over.
    pub(super) fn end_transfer(&mut self, id: TransferId, at: Ns, sinks: &mut EventSinks) {
        for noted in self.channels.end(id, at).into_iter().flatten().flatten() {
            sinks.clocks.forget(noted);
        }
    }

    /// Records that a rank which leaves a collective is synchronised with the ranks that it needed there, unless it needed all.
    fn synchronise_some(
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
            // The others before it have entered, too, but the number of such pairs grows with the square of the members.
            CommunicationPattern::Prefix => {
                last_before = instance.entries.last_before(own.number);
                last_before.as_slice()
            }
        };
        let entries = needed.iter().copied().chain(instance.entry_on_the_way(own, time));
        for entry in entries.filter(|entry| entry.world_rank != own.world_rank) {
            sinks.waits.on_pair_sync(PairSync::new(entry.thread, entry.at, at.thread, time));
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

fn report_end(started: &TransferSide, outcome: RequestOutcome, sinks: &mut EventSinks) {
    sinks.observer.on_request_end(started.thread, started.request, started.at, outcome);
}

#[inline]
fn report_message(
    at: &CurrentCallEvent,
    sent: &TransferSide,
    posted: Option<TransferSide>,
    time: TimeInterval,
    observer: &mut ObserverSink,
) {
    let (posted, posted_by) = posted.map_or((time.begin, at.thread), |side| (side.at, side.thread));
    let [(from, from_thread), (to, to_thread), (_, posted_thread)] =
        [sent.thread, at.thread, posted_by].map(|thread| observer.side(thread));
    observer.on_message(&MatchedMessage {
        from,
        to,
        from_thread,
        to_thread,
        posted_thread,
        sent: sent.at,
        posted,
        received: time.end,
        bytes: sent.bytes,
        tag: at.event.tag,
        comm: at.event.comm,
        send_request: sent.request,
        request: at.event.request,
    });
}

/// Returns whether a call completes the first of several requests.
fn is_of_any_request(operation: u16) -> bool {
    use Operation::{Testany, Testsome, Waitany, Waitsome};
    [Waitany, Waitsome, Testany, Testsome].iter().any(|&one| one as u16 == operation)
}
