//! Infers which messages depend on progress at the other rank, i.e. on its receive, or on its being in MPI.
//!
//! ```text
//!   sender    |== compute ==|send ..............|       ends when the receiver has returned to MPI,
//!   receiver  |== compute ====================|recv|    although the message is small
//! ```
//!
//! An MPI library copies a small message to a buffer of the receiver, and the send is over (eager). Or it leaves the message with the sender
//! until the receiver makes progress in any call; a large message stays there until its receive is posted (rendezvous). The limits depend on
//! the library, the network and the size, and no log states them. The calls show them, however: a send that ends while the receiver is
//! outside of MPI did not need it. A send that ends when the receiver has returned, and had nothing else to wait for, did need it. Both cases
//! are counted by message size during the replay.
//!
//! A side of a message has no further needs once its own part is complete: the message is sent, or received, at the end of the call that
//! completes it.

use super::EventMatcher;
use super::message_coupling::{AwaitedSide, MessageClass, MessageCoupling};
use super::needs::{CallNeeds, CompleteSend, need_of_message};
use super::pending::channels::{MessageTransfer, OpenTransfers, TransferId};
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::ended_call::{CallNeed, NeedClock};
use crate::replay::thread::{ReplayThread, ThreadPresence};
use lbprof_thresholds::replay::{MAX_WAITS_BY_CHANCE, MIN_BYTES_THAT_NEED_PROGRESS, MIN_MESSAGES_BEFORE_BLOCKED_SEND};

/// A call that has waited for another rank ends soon after it: the rest of the call takes at most 1/N of the wait.
const MOST_AFTER: Ns = 4;

/// Tolerance for a small message, which seldom waits for anything but its send: it would often end just after something by chance.
const MAX_AFTER_SMALL: Ns = 16;

/// Minimum fraction of a wait, as a divisor, that all other needs leave unexplained: the awaited side has to come that much later than they.
/// Ranks that compute twice as long as others come back at the same time as these, time after time.
const MIN_UNEXPLAINED: Ns = 8;

/// Most members of a communicator whose returns to MPI are looked at where a collective is waited for.
const MAX_MEMBERS: usize = 256;

impl EventMatcher<'_> {
    /// Adds what the sends that are complete with a thread's call needed of their receivers; defers needs until the other rank re-enters MPI, where the
    /// message could not move before. `time`: of the call.
    pub fn defer_until_progress(
        &mut self,
        threads: &[ReplayThread],
        thread: u32,
        time: TimeInterval,
        needs: &mut CallNeeds,
    ) {
        if needs.sends.is_empty() && needs.coupled.is_empty() && needs.targets.is_empty() && needs.started_on.is_none()
        {
            return;
        }
        let members = needs.started_on.map_or_else(Vec::new, |comm| self.member_threads(comm));
        let (coupling, channels, hosts) = (&mut self.coupling, &mut self.channels, self.hosts.as_slice());
        let n_waits = &mut self.counts.progress_waits;
        let mut progress = CallMessages { coupling, channels, hosts, threads, thread, time, n_waits };
        while let Some(send) = needs.sends.pop() {
            progress.add_need_of_send(send, needs);
        }
        // A lock is granted, a value is fetched, and accesses under a lock are done, by their target, in some MPIs once that is in MPI, where it
        // may have to be several times. The end of the call reveals this:
        //
        //   target    |== compute ==|call|== compute ======|call|
        //   origin    |lock|put|unlock .....................|
        needs.all.extend(progress.need_of_return(&needs.targets, &needs.all, WaitState::Target));
        for &(need, id) in &needs.coupled {
            progress.defer_until_return(need, id, &mut needs.all);
        }
        // A collective that was started before goes on, in some MPIs, only while its members are in MPI. All have entered it; the call ended just
        // after one of them had come back.
        needs.all.extend(progress.need_of_return(&members, &needs.all, WaitState::NxN));
    }

    /// Lists the threads of a communicator's members that called MPI_Init, if it is not a large one.
    fn member_threads(&self, comm: u32) -> Vec<u32> {
        let world_ranks = self.members.world_ranks(comm).unwrap_or(&self.places.0);
        let few = if world_ranks.len() <= MAX_MEMBERS { world_ranks } else { &[] };
        few.iter().filter_map(|&rank| self.first_thread(rank)).collect()
    }
}

struct CallMessages<'a> {
    coupling: &'a mut MessageCoupling,
    channels: &'a mut OpenTransfers,
    hosts: &'a [u32],
    threads: &'a [ReplayThread],
    thread: u32,
    time: TimeInterval,
    /// Number of waits for another rank to be in MPI again.
    n_waits: &'a mut u64,
}

impl CallMessages<'_> {
    /// A message moves while both sides are in MPI: a large one, and a smaller one where the calls show that.
    fn defer_until_return(&mut self, i: usize, id: TransferId, needs: &mut [CallNeed]) {
        let CallNeed { by, state, bytes, .. } = needs[i];
        let TimeInterval { begin, end } = self.time;
        let side = if state == WaitState::LateSender { AwaitedSide::SenderInMpi } else { AwaitedSide::ReceiverInMpi };
        let class = self.class(by.thread, bytes);
        let since = by.at.max(begin);
        let transfer = *self.channels.get(id);
        // It may have been there for no more than to start its side, or have had to come back more than once.
        let presence = match self.presence(by.thread, since) {
            ThreadPresence::Away => ThreadPresence::Away,
            known => self.awaited_return(by.thread, since).unwrap_or(known),
        };
        let (at, slot) = match presence {
            ThreadPresence::There => return,
            ThreadPresence::Back { at, slot } => (Some(at), slot),
            ThreadPresence::Away => (None, 0),
        };
        if transfer.is_over_at(at.unwrap_or(end)) {
            return;
        }
        if self.record_wait(side, class, at, since, needs)
            && let Some(at) = at
        {
            needs[i].by.at = at;
            needs[i].clocks = NeedClock::Back(by.thread, slot);
            self.channels.get_mut(id).set_moved(side == AwaitedSide::ReceiverInMpi, at);
            *self.n_waits += 1;
        }
    }

    /// Returns a thread's last absence from MPI, of which it came back just before the call's end, and the slot of its clocks then, if it was outside for
    /// most of the time since `since`.
    fn absence_before_end(&self, thread: u32, since: Ns) -> Option<(TimeInterval, u8)> {
        let end = self.time.end;
        let other = self.threads.get(thread as usize).filter(|_| thread != self.thread)?;
        let since = since.max(other.absences_known_since());
        let just_before = other
            .absences(since, end)
            .filter(|(away, _)| MOST_AFTER * (end - away.end) <= away.end - away.begin.max(since));
        let (last, slot) = just_before.max_by_key(|(away, _)| away.end)?;
        let absences = other.absences(since, last.end);
        let absent_ns: Ns = absences.map(|(away, _)| away.end - away.begin.max(since)).sum();
        let waited_ns = last.end - since;
        (MOST_AFTER * (waited_ns - absent_ns) <= waited_ns).then_some((last, slot))
    }

    /// Returns the need of the return of one of `threads` to MPI just before the call's end, which `needs` do not explain.
    fn need_of_return(&mut self, threads: &[u32], needs: &[CallNeed], state: WaitState) -> Option<CallNeed> {
        let TimeInterval { begin, end } = self.time;
        let last = needs.iter().map(|need| need.by.at).max().unwrap_or(begin).max(begin);
        let returns = threads.iter().filter_map(|&thread| {
            let (away, slot) = self.absence_before_end(thread, last)?;
            Some((away.end, slot, thread))
        });
        let (at, slot, thread) = returns.max()?;
        if MIN_UNEXPLAINED * (at - last) < end - begin {
            return None;
        }
        *self.n_waits += 1;
        Some(CallNeed::new(thread, at, NeedClock::Back(thread, slot), state))
    }

    /// A send may be complete only when its receive is posted, or when its receiver has looked after its messages.
    fn add_need_of_send(&mut self, send: CompleteSend, needs: &mut CallNeeds) {
        let TimeInterval { begin, end } = self.time;
        let Some(other) = send.to.filter(|&other| other != self.thread) else { return };
        let transfer = *self.channels.get(send.id);
        let Some(sent) = transfer.sent else { return };
        let class = self.class(other, sent.bytes);
        let posted = transfer.posted.filter(|posted| posted.at <= end);
        let posted_at = posted.map(|posted| posted.at);
        if self.record_wait(AwaitedSide::ReceivePosted, class, posted_at, begin, &needs.all)
            && let Some(posted) = posted
        {
            let need = need_of_message(&posted, sent.bytes, WaitState::LateReceiver, send.waits);
            needs.add_side(need, send.id);
            return;
        }
        if let Some((at, slot)) = self.return_of_receiver(other, &transfer, class, &needs.all) {
            let by = EndedBy { thread: other, at };
            let delay = Some(RegionState::delay(sent.kind.region()));
            let need = need_of_message(&sent, sent.bytes, WaitState::LateReceiver, send.waits);
            needs.all.push(CallNeed { by, delay, clocks: NeedClock::Back(other, slot), ..need });
            self.channels.get_mut(send.id).set_moved(true, at);
            *self.n_waits += 1;
        }
    }

    /// Returns the receiver's return to MPI that a send waited for, besides other needs of its call, and the slot of its clocks then. Behind many messages that lie there a send of
    /// any size may wait until the receiver has made place for it:
    ///
    /// ```text
    ///   sender    |send|send|send .....................|send ...
    ///   receiver  |recv|== work ==|recv|== work ==|recv|== work ==|recv| ...
    /// ```
    fn return_of_receiver(
        &mut self,
        other: u32,
        transfer: &MessageTransfer,
        class: MessageClass,
        needs: &[CallNeed],
    ) -> Option<(Ns, u8)> {
        let begin = self.time.begin;
        let sent_at = transfer.sent?.at;
        if transfer.ahead >= MIN_MESSAGES_BEFORE_BLOCKED_SEND
            && let Some((away, slot)) = self.absence_before_end(other, begin)
        {
            return Some((away.end, slot));
        }
        let presence = match (self.return_after_a_moment(other, begin), self.presence(other, sent_at)) {
            (Some(later), _) => later,
            (None, known @ ThreadPresence::Back { .. }) => self.awaited_return(other, begin).unwrap_or(known),
            (None, known) => known,
        };
        let (at, slot) = match presence {
            ThreadPresence::There => return None,
            ThreadPresence::Back { at, .. } if transfer.is_over_at(at) => return None,
            ThreadPresence::Back { at, slot } => (Some(at), slot),
            ThreadPresence::Away => (None, 0),
        };
        let has_waited = self.record_wait(AwaitedSide::ReceiverInMpi, class, at, begin, needs);
        Some((at?, slot)).filter(|_| has_waited)
    }

    /// Returns whether the call, which had these needs, waited from `begin` for an event at a time within it, as far as that can be known.
    /// `at` is `None` if the event had not happened when the call ended.
    fn record_wait(
        &mut self,
        side: AwaitedSide,
        class: MessageClass,
        at: Option<Ns>,
        begin: Ns,
        needs: &[CallNeed],
    ) -> bool {
        let Some(at) = at else {
            self.coupling.seen(side, class).did_not += 1;
            return false;
        };
        if at <= begin {
            return false;
        }
        let last = needs.iter().map(|need| need.by.at).max().unwrap_or(begin).max(begin);
        let most_after = if side == AwaitedSide::SenderInMpi && class.bytes <= MIN_BYTES_THAT_NEED_PROGRESS {
            MAX_AFTER_SMALL
        } else {
            MOST_AFTER
        };
        let is_enough = MIN_UNEXPLAINED * (at - last) >= self.time.end - begin;
        let has_waited = at > last && is_enough && most_after * (self.time.end - at) <= at - last;
        let seen = self.coupling.seen(side, class);
        seen.waited += u32::from(has_waited);
        // Some wait, and others of about the same size do not. A few small ones may seem to wait by chance, if most did not.
        let is_usual = class.bytes > MIN_BYTES_THAT_NEED_PROGRESS
            || side == AwaitedSide::SenderInMpi && MAX_WAITS_BY_CHANCE * seen.waited >= seen.did_not;
        has_waited && is_usual || self.coupling.is_coupled(side, class)
    }

    fn class(&self, other: u32, bytes: u64) -> MessageClass {
        let [own_host, other_host] =
            [self.thread, other].map(|thread| self.hosts.get(self.threads[thread as usize].rank_idx as usize));
        MessageClass { same_host: own_host == other_host, bytes }
    }

    /// Returns a thread's presence since `since`, as far as it has been replayed: until the call's end.
    fn presence(&self, thread: u32, since: Ns) -> ThreadPresence {
        match self.threads.get(thread as usize).map_or(ThreadPresence::There, |one| one.presence(since)) {
            ThreadPresence::Back { at, .. } if at > self.time.end => ThreadPresence::Away,
            known => known,
        }
    }

    /// Returns the thread's re-entry into MPI that ended the call: the last one, if it was outside for most of the time, however often it came back, as
    /// ranks do that test between parts of their work.
    ///
    /// ```text
    ///   sender    |send|== compute ==|test|== compute ==|test|== compute ==|test|
    ///   receiver  |recv ......................................................|
    /// ```
    fn awaited_return(&self, thread: u32, since: Ns) -> Option<ThreadPresence> {
        match self.absence_before_end(thread, since) {
            // After a short one it may have been there already.
            Some((away, slot)) if MIN_UNEXPLAINED * (away.end - away.begin) >= self.time.end - since => {
                Some(ThreadPresence::Back { at: away.end, slot })
            }
            _ => self.return_after_a_moment(thread, since),
        }
    }

    /// Returns the thread's re-entry into MPI after its longest absence, if its visit before that was too short to move the message: the call ended just after
    /// it had come back.
    ///
    /// ```text
    ///   sender    |== compute ==|send ..............|
    ///   receiver  |== compute =|recv|== compute ===|recv|
    /// ```
    fn return_after_a_moment(&self, thread: u32, since: Ns) -> Option<ThreadPresence> {
        let end = self.time.end;
        let (left, at, slot) = self.threads.get(thread as usize)?.longest_absence(since, end)?;
        let longer = (left - since).max(end - at);
        (MOST_AFTER * longer <= at - left).then_some(ThreadPresence::Back { at, slot })
    }
}
