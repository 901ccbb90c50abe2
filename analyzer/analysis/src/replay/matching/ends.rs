//! What ends: a call, and with it messages and collectives that nobody asks for any more.

use lbprof_collector::semantics::{EpochStep, Pattern};

use super::channels::Transfer;
use super::collectives::{CollectiveId, Entry};
use super::started::Started;
use super::{CallEvent, Matcher};
use crate::model::interval::Interval;
use crate::model::region_state::Ns;
use crate::replay::sinks::{Received, Sink, Sinks};
use crate::replay::timeline::Role;

impl Matcher<'_> {
    /// An event's part of the call is over, which lasted for `time`.
    pub fn is_over(&mut self, at: &CallEvent, time: Interval, sinks: &mut Sinks) {
        let Some([first, second]) = self.started(at) else { return };
        match at.event.role {
            Role::Send | Role::Recv | Role::Collective(_) | Role::Done | Role::Found => {
                self.started_is_over(at, first, time, sinks);
                if !matches!(second, Started::Nothing) {
                    self.started_is_over(at, second, time, sinks);
                }
            }
            Role::Cancelled => {
                for started in [first, second] {
                    if let Started::Transfer { id, sends: false } = started
                        && let Some(channel) = self.channel(at, false)
                    {
                        self.channels.cancel_receive(channel, id);
                    }
                    self.started_is_over(at, started, time, sinks);
                }
            }
            Role::Epoch(EpochStep::Complete | EpochStep::Wait | EpochStep::Test) => {
                if let Started::AwaitedSignals(id) = first {
                    self.awaited(at.thread, id, time, sinks);
                }
            }
            Role::Lock { exclusive } => self.is_locked(at, exclusive, time, sinks),
            // What the start of an access awaits is over with its end.
            Role::Epoch(EpochStep::Post | EpochStep::Start) | Role::Seen | Role::Probe | Role::Unlock => {}
            Role::StartSend | Role::Ready | Role::StartRecv | Role::StartRecvAny | Role::StartCollective(_) => {}
        }
    }

    #[inline]
    fn started_is_over(&mut self, at: &CallEvent, started: Started, time: Interval, sinks: &mut Sinks) {
        let (thread, event) = (at.thread, at.event);
        match started {
            Started::Transfer { id, sends } => {
                match self.channels.get(id) {
                    &Transfer { sent: Some(sent), posted, .. } if !sends => {
                        self.counts.messages += 1;
                        self.counts.sizes_differ += u64::from(sent.bytes != event.bytes);
                        sinks.synchronises((thread, sent.thread), time.end);
                        let (from, tag, comm) = (sent.thread, event.tag, event.comm);
                        let posted = posted.map_or(time.begin, |side| side.at);
                        let (time, bytes) = (Interval::new(sent.at, time.end), sent.bytes);
                        sinks.receives(&Received { from, to: thread, time, posted, bytes, tag, comm });
                        self.demands.has_dealt_with(thread, Some(sent.thread));
                        if event.any {
                            self.demands.is_asked(thread, sent.thread);
                        }
                    }
                    Transfer { sent: Some(sent), posted: Some(posted), .. }
                        if sends && sent.is_rendezvous() && time.has(posted.at) =>
                    {
                        sinks.synchronises((thread, posted.thread), time.end);
                    }
                    _ => {}
                }
                let noted = self.channels.end(id, time.end);
                noted.into_iter().flatten().flatten().for_each(|noted| sinks.forget(noted));
            }
            Started::Collective(id) => {
                self.demands.has_dealt_with(thread, None);
                self.synchronises_with_root(at, id, time.begin, sinks);
                if let Some((noted, root)) = self.collectives.leave(id) {
                    sinks.forget(noted);
                    root.into_iter().for_each(|root| sinks.forget(root));
                }
            }
            Started::AwaitedSignals(id) => self.awaited(thread, id, time, sinks),
            Started::Any(id) => self.channels.take_any(id).into_iter().for_each(|side| sinks.forget(side.noted)),
            Started::Nothing => {}
        }
    }

    /// A collective with a root synchronises the root with each of the others.
    fn synchronises_with_root(&mut self, at: &CallEvent, id: CollectiveId, begin: Ns, sinks: &mut Sinks) {
        let world = at.own.world;
        let instance = self.collectives.get(id);
        let is_root = instance.root == Some(world);
        let with = |entry: &&Entry| match instance.pattern {
            Pattern::AllToAll | Pattern::Neighbours => false,
            Pattern::OneToAll => !is_root && Some(entry.rank) == instance.root,
            Pattern::AllToOne => is_root && entry.rank != world,
            Pattern::Prefix => entry.rank != world && entry.at <= begin.max(instance.last.at),
        };
        for entry in instance.entries.iter().filter(with) {
            sinks.synchronises((at.thread, entry.thread), entry.at.max(begin));
        }
    }
}
