//! What ends: a call, and with it messages and collectives that nobody asks for any more.

use lbprof_collector::semantics::Pattern;

use super::Engine;
use crate::model::kind::Ns;
use crate::replay::matching::{CollectiveId, Entry, Transfer};
use crate::replay::thread::Started;
use crate::replay::timeline::{CommEvent, Role, Step};

impl Engine<'_, '_> {
    /// The call ends that does nothing with others at its end.
    pub(super) fn end_without(&mut self, thread: u32, step: &Step) {
        let at = thread as usize;
        let begun = self.threads[at].begun;
        let end = step.end.max(begun);
        if end > begun {
            self.clocks.call(thread, (begun, end));
            self.explaining.batch.spend(thread, step.kind, end);
            self.tell(thread, (begun, end), step.kind, step.site);
        }
        self.threads[at].leave(step, end);
    }

    /// The thread's call ends, unless others have to be followed first.
    pub(super) fn end(&mut self, thread: u32) -> bool {
        let at = thread as usize;
        let here = self.threads[at].here();
        let Some((step, events)) = here.step() else { return true };
        self.needs.clear();
        self.sends.clear();
        for (i, event) in events.iter().enumerate() {
            if !self.needs_of(thread, step, event, i) {
                self.threads[at].parked = true;
                return false;
            }
        }
        let begin = self.threads[at].begun;
        let earliest = step.end.max(begin);
        let certain = self.needs.iter().filter(|need| need.certain).map(|need| need.by.at).max().unwrap_or(begin);
        if certain > earliest {
            self.counts.violations += 1;
            self.counts.largest_violation = self.counts.largest_violation.max(certain - earliest);
        }
        let end = earliest.max(certain);
        self.needs_progress(thread, (begin, end));
        self.waits(thread, step, (begin, end));
        for (i, event) in events.iter().enumerate() {
            self.is_over(thread, event, i, (begin, end));
        }
        self.threads[at].leave(step, end);
        true
    }

    /// An event's part of the call is over.
    fn is_over(&mut self, thread: u32, event: &CommEvent, i: usize, (begin, end): (Ns, Ns)) {
        let Some([first, second]) = self.started(thread, i) else { return };
        match event.role {
            Role::Send | Role::Recv | Role::Collective(_) | Role::Done | Role::Found => {
                self.started_is_over(thread, event, first, (begin, end));
                if !matches!(second, Started::Nothing) {
                    self.started_is_over(thread, event, second, (begin, end));
                }
            }
            Role::Cancelled => {
                for started in [first, second] {
                    if let Started::Transfer { id, sends: false } = started
                        && let Some(channel) = self.channel(thread, event, false)
                    {
                        self.channels.cancel_receive(channel, id);
                    }
                    self.started_is_over(thread, event, started, (begin, end));
                }
            }
            Role::Epoch(step) => self.epoch_is_over(thread, step, first, (begin, end)),
            Role::Lock { exclusive } => self.is_locked(thread, event, exclusive, (begin, end)),
            Role::StartSend | Role::Ready | Role::StartRecv | Role::StartRecvAny | Role::StartCollective(_) => {}
            Role::Seen | Role::Probe | Role::Unlock => {}
        }
    }

    #[inline]
    fn started_is_over(&mut self, thread: u32, event: &CommEvent, started: Started, (begin, end): (Ns, Ns)) {
        match started {
            Started::Transfer { id, sends } => {
                match self.channels.get(id) {
                    &Transfer { sent: Some(sent), .. } if !sends => {
                        self.counts.messages += 1;
                        self.counts.sizes_differ += u64::from(sent.bytes != event.bytes);
                        self.synchronised.pair(thread, sent.thread, end);
                        self.tell_message(thread, event, &sent, end);
                        self.has_dealt_with(thread, Some(sent.thread));
                        if event.any {
                            self.is_asked(thread, sent.thread);
                        }
                    }
                    Transfer { sent: Some(sent), posted: Some(posted), .. }
                        if sends && sent.is_rendezvous() && posted.at > begin && posted.at <= end =>
                    {
                        self.synchronised.pair(thread, posted.thread, end);
                    }
                    _ => {}
                }
                self.channels.end(id, end).into_iter().flatten().flatten().for_each(|noted| self.clocks.forget(noted));
            }
            Started::Pattern(id) => {
                self.has_dealt_with(thread, None);
                self.meets(thread, id, begin);
                if let Some((noted, root)) = self.collectives.leave(id) {
                    self.clocks.forget(noted);
                    root.into_iter().for_each(|root| self.clocks.forget(root));
                }
            }
            Started::AwaitedSignals(id) => self.awaited(thread, id, (begin, end)),
            Started::Any(id) => self.channels.take_any(id).into_iter().for_each(|side| self.clocks.forget(side.noted)),
            Started::Nothing => {}
        }
    }

    /// A collective with a root synchronises the root with each of the others.
    fn meets(&mut self, thread: u32, id: CollectiveId, begin: Ns) {
        let world = self.threads[thread as usize].world;
        let instance = self.collectives.get(id);
        let is_root = instance.root == Some(world);
        let with = |entry: &&Entry| match instance.meeting {
            Pattern::AllToAll | Pattern::Neighbours => false,
            Pattern::OneToAll => !is_root && Some(entry.rank) == instance.root,
            Pattern::AllToOne => is_root && entry.rank != world,
            Pattern::Prefix => entry.rank != world && entry.at <= begin.max(instance.last.at),
        };
        for entry in instance.entries.iter().filter(with) {
            self.synchronised.pair(thread, entry.thread, entry.at.max(begin));
        }
    }
}
