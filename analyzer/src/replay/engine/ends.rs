//! What ends: a call, and with it messages and collectives that nobody asks for any more.

use super::Engine;
use crate::model::kind::Ns;
use crate::replay::matching::{Entry, MeetingId, Transfer};
use crate::replay::thread::Started;
use crate::replay::timeline::{Deed, Meeting, Role, Step};

impl Engine<'_, '_> {
    /// The call ends that does nothing with others at its end.
    pub(super) fn end_without(&mut self, thread: u32, step: &Step) {
        let at = thread as usize;
        let begun = self.threads[at].begun;
        let end = step.end.max(begun);
        if end > begun {
            self.clocks.call(thread, (begun, end));
            self.explaining.story.spend(thread, step.kind, end);
            self.tell(thread, (begun, end), step.kind, step.site);
        }
        self.threads[at].leave(step, end);
    }

    /// The thread's call ends, unless others have to be followed first.
    pub(super) fn end(&mut self, thread: u32) -> bool {
        let at = thread as usize;
        let here = self.threads[at].here();
        let Some((step, deeds)) = here.step() else { return true };
        self.needs.clear();
        self.sends.clear();
        for (i, deed) in deeds.iter().enumerate() {
            if !self.needs_of(thread, step, deed, i) {
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
        for (i, deed) in deeds.iter().enumerate() {
            self.is_over(thread, deed, i, (begin, end));
        }
        self.threads[at].leave(step, end);
        true
    }

    /// A deed's part of the call is over.
    fn is_over(&mut self, thread: u32, deed: &Deed, i: usize, (begin, end): (Ns, Ns)) {
        let Some([first, second]) = self.started(thread, i) else { return };
        match deed.role {
            Role::Send | Role::Recv | Role::Meet(_) | Role::Done | Role::Found => {
                self.started_is_over(thread, deed, first, (begin, end));
                if !matches!(second, Started::Nothing) {
                    self.started_is_over(thread, deed, second, (begin, end));
                }
            }
            Role::Cancelled => {
                for started in [first, second] {
                    if let Started::Transfer { id, sends: false } = started
                        && let Some(channel) = self.channel(thread, deed, false)
                    {
                        self.channels.cancel_receive(channel, id);
                    }
                    self.started_is_over(thread, deed, started, (begin, end));
                }
            }
            Role::Epoch(epoch) => self.epoch_is_over(thread, deed, epoch, first, (begin, end)),
            _ => {}
        }
    }

    #[inline]
    fn started_is_over(&mut self, thread: u32, deed: &Deed, started: Started, (begin, end): (Ns, Ns)) {
        match started {
            Started::Transfer { id, sends } => {
                match self.channels.get(id) {
                    &Transfer { sent: Some(sent), .. } if !sends => {
                        self.counts.messages += 1;
                        self.counts.sizes_differ += u64::from(sent.bytes != deed.bytes);
                        self.synchronised.pair(thread, sent.thread, end);
                        self.tell_message(thread, deed, &sent, end);
                        self.has_dealt_with(thread, Some(sent.thread));
                        if deed.any {
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
            Started::Meeting(id) => {
                self.has_dealt_with(thread, None);
                self.meets(thread, id, begin);
                if let Some((noted, root)) = self.gatherings.leave(id) {
                    self.clocks.forget(noted);
                    root.into_iter().for_each(|root| self.clocks.forget(root));
                }
            }
            Started::Hearing(id) => self.heard(thread, id, (begin, end)),
            Started::Any(id) => self.channels.take_any(id).into_iter().for_each(|side| self.clocks.forget(side.noted)),
            Started::Nothing => {}
        }
    }

    /// A collective with a root synchronises the root with each of the others.
    fn meets(&mut self, thread: u32, id: MeetingId, begin: Ns) {
        let world = self.threads[thread as usize].world;
        let gathering = self.gatherings.get(id);
        let is_root = gathering.root == Some(world);
        let with = |entry: &&Entry| match gathering.meeting {
            Meeting::All | Meeting::Neighbours => false,
            Meeting::FromRoot => !is_root && Some(entry.rank) == gathering.root,
            Meeting::ToRoot => is_root && entry.rank != world,
            Meeting::Prefix => entry.rank != world && entry.at <= begin.max(gathering.last.at),
        };
        for entry in gathering.entries.iter().filter(with) {
            self.synchronised.pair(thread, entry.thread, entry.at.max(begin));
        }
    }
}
