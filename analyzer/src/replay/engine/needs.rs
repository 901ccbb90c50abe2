//! What a call needs of others before it can end: messages, and members of collectives that have entered.

use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{EpochStep, Pattern, Semantics, SendMode, Synchronises};
use lbprof_collector::{Activity, Operation};

use super::Engine;
use crate::model::kind::Kind;
use crate::model::waits::WaitState;
use crate::replay::blocking::EndedBy;
use crate::replay::matching::{CollectiveId, CollectiveInstance, Entry, Side, Transfer, TransferId};
use crate::replay::thread::{NOTHING, Pending, Started};
use crate::replay::timeline::{CommEvent, Role, Step};
use crate::replay::what_if::Noted;

/// A send that is complete with a call, and may have waited for its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Send {
    pub(super) id: TransferId,
    /// The thread that receives it, where that is known.
    pub(super) to: Option<u32>,
    pub(super) waits: bool,
}

/// Something that a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Who does it, and when.
    pub(super) by: EndedBy,
    pub(super) clocks: At,
    pub(super) bytes: u64,
    /// Steps of the network until it is there.
    pub(super) hops: u32,
    pub(super) state: WaitState,
    /// The delay of the message behind it.
    pub(super) delay: Option<Kind>,
    /// Whether the call can't have ended before: clocks that say so are wrong.
    pub(super) certain: bool,
    /// Whether it was waited for, not only found.
    pub(super) waits: bool,
    /// Of a message that is received, or sent: which.
    pub(super) transfer: Option<TransferId>,
}

/// The clocks of who does what is needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// Those noted.
    Noted(Noted),
    /// Those of a thread when it came back to MPI, in a slot of [`crate::replay::thread::Presence::Back`].
    Back(u32, u8),
}

impl Engine<'_, '_> {
    /// Finds what an event needs; `false`: others have to be followed first.
    pub(super) fn needs_of(&mut self, thread: u32, step: &Step, event: &CommEvent, i: usize) -> bool {
        let waits = !matches!(event.role, Role::Found | Role::Epoch(EpochStep::Test));
        match event.role {
            Role::Cancelled => {
                let pending = self.completed(thread, event, i);
                self.keep(thread, i, pending);
                true
            }
            Role::Probe => self.needs_any(thread, event),
            Role::Seen => {
                let rank = self.threads[thread as usize].rank as usize;
                let [first, second] = self.ranks[rank].requests.look(event.request);
                self.needs_of_started(thread, step, first, waits) && self.needs_of_started(thread, step, second, waits)
            }
            Role::Lock { exclusive } => {
                self.needs_lock(thread, step, event, exclusive);
                true
            }
            Role::Done | Role::Found => {
                let [first, second] = self.completed(thread, event, i);
                let first = self.find_what_any_received(thread, event, first);
                let second = self.find_what_any_received(thread, event, second);
                self.keep(thread, i, [first, second]);
                self.needs_of_started(thread, step, first, waits)
                    && (matches!(second, Started::Nothing) || self.needs_of_started(thread, step, second, waits))
            }
            _ => {
                let Some([started, _]) = self.started(thread, i) else { return true };
                let is_done = self.needs_of_started(thread, step, started, waits);
                if event.role == Role::Send {
                    let receiver = self.first_thread(event.peer);
                    self.sends.last_mut().into_iter().for_each(|send| send.to = send.to.or(receiver));
                }
                is_done
            }
        }
    }

    /// What the i-th event of a thread's call started, or what its request stands for; `None`: it is not known, or nothing.
    #[inline]
    pub(super) fn started(&self, thread: u32, i: usize) -> Option<Pending> {
        self.threads[thread as usize].started.get(i).copied()
    }

    /// What the request stands for that the i-th event of a thread's call completes.
    #[inline]
    fn completed(&mut self, thread: u32, event: &CommEvent, i: usize) -> Pending {
        match self.started(thread, i) {
            None | Some([Started::Nothing, Started::Nothing]) => {
                let rank = self.threads[thread as usize].rank as usize;
                self.ranks[rank].requests.complete(event.request)
            }
            // It was asked for before, when others had to be followed first.
            Some(known) => known,
        }
    }

    /// Keeps what the i-th event of a thread's call started, or what its request stands for.
    #[inline]
    pub(super) fn keep(&mut self, thread: u32, i: usize, pending: Pending) {
        let started = &mut self.threads[thread as usize].started;
        if started.len() < i {
            started.resize(i, NOTHING);
        }
        match started.get_mut(i) {
            Some(kept) => *kept = pending,
            None => started.push(pending),
        }
    }

    /// A receive from any source has received: now it is known from whom.
    #[inline]
    fn find_what_any_received(&mut self, thread: u32, event: &CommEvent, started: Started) -> Started {
        match started {
            Started::Any(id) => self.received_by_any(thread, event, id),
            known => known,
        }
    }

    #[cold]
    fn received_by_any(&mut self, thread: u32, event: &CommEvent, id: TransferId) -> Started {
        let Some(side) = self.channels.take_any(id) else { return Started::Nothing };
        let Some(channel) = self.channel(thread, event, false) else {
            self.clocks.forget(side.noted);
            return Started::Nothing;
        };
        Started::Transfer { id: self.channels.post(channel, side), sends: false }
    }

    fn needs_of_started(&mut self, thread: u32, step: &Step, started: Started, waits: bool) -> bool {
        match started {
            Started::Transfer { id, sends: true } => {
                self.needs_receiver(id, waits);
                true
            }
            Started::Transfer { id, sends: false } => self.needs_sender(thread, id, waits),
            Started::Pattern(id) => self.needs_members(thread, step, id, waits),
            Started::AwaitedSignals(id) => self.needs_hearing(thread, step, id, waits),
            Started::Any(_) | Started::Nothing => true,
        }
    }

    /// A synchronous send needs its receive. Whether another waited for it is found when all else that the call needs is known.
    fn needs_receiver(&mut self, id: TransferId, waits: bool) {
        let &Transfer { sent: Some(sent), posted, .. } = self.channels.get(id) else { return };
        match sent.mode {
            SendMode::Standard => self.sends.push(Send { id, to: posted.map(|posted| posted.thread), waits }),
            SendMode::Synchronous => {
                let need = |posted| needs_message(&posted, sent.bytes, WaitState::LateReceiver, waits, Some(id));
                self.needs.extend(posted.map(need));
            }
            SendMode::Buffered => {}
        }
    }

    fn needs_sender(&mut self, thread: u32, id: TransferId, waits: bool) -> bool {
        let gives_up = self.threads[thread as usize].gives_up;
        let transfer = self.channels.get_mut(id);
        match transfer.sent {
            Some(sent) => {
                self.needs.push(needs_message(&sent, sent.bytes, WaitState::LateSender, waits, Some(id)));
                true
            }
            None if gives_up => true,
            None => {
                transfer.set_waiter(thread);
                false
            }
        }
    }

    /// A probe needs the first message that nobody receives yet.
    fn needs_any(&mut self, thread: u32, event: &CommEvent) -> bool {
        let Some(channel) = self.channel(thread, event, false) else { return true };
        match self.channels.peek(channel) {
            Some(sent) => {
                self.needs.push(needs_message(&sent, sent.bytes, WaitState::LateSender, true, None));
                true
            }
            None if self.threads[thread as usize].gives_up => true,
            None => {
                self.channels.wait_for_any(channel, thread);
                false
            }
        }
    }

    fn needs_members(&mut self, thread: u32, step: &Step, id: CollectiveId, waits: bool) -> bool {
        let one = &self.threads[thread as usize];
        let (world, gives_up, ends) = (one.world, one.gives_up, step.end.saturating_add(one.shift));
        let instance = self.collectives.get(id);
        if instance.mixed {
            return true;
        }
        let complete = instance.entered >= instance.expected;
        let certain = Operation::synchronises(instance.operation) == Synchronises::Members;
        let is_root = instance.root == Some(world);
        let own = instance.entries.iter().find(|entry| entry.rank == world).map_or(NONE, |entry| entry.member);
        let (needed, there) = match instance.meeting {
            Pattern::AllToAll | Pattern::Neighbours => (Some(instance.last), complete),
            Pattern::OneToAll if is_root => return true,
            Pattern::OneToAll => {
                let root = instance.entries.iter().find(|entry| Some(entry.rank) == instance.root);
                (root.copied(), root.is_some() || instance.root.is_none_or(|root| self.places.get(root).is_none()))
            }
            Pattern::AllToOne if !is_root => return true,
            Pattern::AllToOne => (latest(&instance.entries, |entry| entry.rank != world), complete),
            Pattern::Prefix => {
                let before = |entry: &Entry| entry.member < own;
                let n = instance.entries.iter().filter(|entry| before(entry)).count() as u32;
                (latest(&instance.entries, before), complete || n >= own)
            }
        };
        if !there {
            // What did not need the others may have ended before they came.
            if gives_up || !certain {
                return true;
            }
            self.collectives.get_mut(id).waiters.push(thread);
            return false;
        }
        let noted = match instance.meeting {
            Pattern::OneToAll => instance.root_noted.unwrap_or(instance.noted),
            _ => instance.noted,
        };
        // Where that is the thread itself, it waited for nobody, but would where it had come earlier, or the others later.
        if let Some(needed) = needed.filter(|needed| certain || needed.at <= ends) {
            let hops = instance.expected.max(2).next_power_of_two().trailing_zeros();
            self.needs.push(Need {
                by: EndedBy { thread: needed.thread, at: needed.at },
                clocks: At::Noted(noted),
                bytes: 0,
                hops,
                state: state_of(instance, step.kind),
                delay: None,
                certain,
                waits,
                transfer: None,
            });
        }
        true
    }
}

/// A message needs its other side: a receive the send, without which nothing can have arrived, a send its receive.
pub(super) fn needs_message(
    other: &Side,
    bytes: u64,
    state: WaitState,
    waits: bool,
    transfer: Option<TransferId>,
) -> Need {
    Need {
        by: EndedBy { thread: other.thread, at: other.at },
        clocks: At::Noted(other.noted),
        bytes,
        hops: 1,
        state,
        delay: Some(Kind::delay(other.kind.region())),
        certain: state == WaitState::LateSender,
        waits,
        transfer,
    }
}

fn latest(entries: &[Entry], which: impl Fn(&Entry) -> bool) -> Option<Entry> {
    entries.iter().filter(|entry| which(entry)).max_by_key(|entry| entry.at).copied()
}

/// Why a call of a kind waits in `instance`; what a persistent one is only the kind tells.
fn state_of(instance: &CollectiveInstance, kind: Kind) -> WaitState {
    let activity = match Operation::semantics(instance.operation) {
        Semantics::Start => kind.activity(),
        _ => Operation::from_number(instance.operation).map(Operation::activity),
    };
    match instance.meeting {
        Pattern::AllToAll if activity == Some(Activity::Synchronization) => WaitState::Barrier,
        Pattern::AllToAll if matches!(activity, Some(Activity::OneSided | Activity::Io)) => WaitState::Epoch,
        Pattern::AllToAll => WaitState::NxN,
        Pattern::OneToAll => WaitState::LateBroadcast,
        Pattern::AllToOne => WaitState::EarlyReduce,
        Pattern::Prefix => WaitState::EarlyScan,
        Pattern::Neighbours => WaitState::Neighbours,
    }
}
