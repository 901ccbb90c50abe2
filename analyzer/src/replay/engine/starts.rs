//! What begins: a thread enters a call, and what it does there with others is matched to what they did.

use lbprof_collector::Operation;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::{Pattern, Semantics, SendMode};

use super::{Engine, Rank};
use crate::replay::matching::{Channel, CollectiveInstance, Entry, Side};
use crate::replay::thread::Started;
use crate::replay::timeline::{CommEvent, Role, Step};

impl Engine<'_, '_> {
    /// The thread computes up to its next call and enters it.
    pub(super) fn begin(&mut self, thread: u32) {
        let at = thread as usize;
        let here = self.threads[at].here();
        let Some((step, events)) = here.step() else { return };
        let one = &mut self.threads[at];
        let (now, begin) = (one.now, step.begin.saturating_add(one.shift).max(one.now));
        (one.now, one.begun) = (begin, begin);
        self.clocks.compute(thread, step.before, (now, begin));
        if step.before.is_computation() {
            self.has_computed(thread, begin - now);
        }
        if let Some(slot) = self.threads[at].comes_back((now, begin)) {
            self.clocks.comes_back(thread, slot);
        }
        if begin > now {
            self.explaining.batch.spend(thread, step.before, begin);
            self.tell(thread, (now, begin), step.before, NONE);
        }
        self.counts.steps += 1;
        let mut ends = false;
        for (i, event) in events.iter().enumerate() {
            ends |= self.starts(thread, step, event, i);
        }
        if ends {
            self.threads[at].enter();
        } else {
            self.end_without(thread, step);
        }
    }

    /// Starts the i-th event of a call; whether the call's end matters to it.
    fn starts(&mut self, thread: u32, step: &Step, event: &CommEvent, i: usize) -> bool {
        let started = match event.role {
            Role::Done | Role::Found | Role::Seen | Role::Cancelled | Role::Probe => return true,
            Role::Epoch(_) | Role::Lock { .. } | Role::Unlock => return self.epoch(thread, event, i),
            Role::Ready => {
                self.is_ready(thread, step, event);
                return false;
            }
            Role::Collective(Pattern::Neighbours) | Role::StartCollective(Pattern::Neighbours) => {
                self.enter_neighbourhood(thread, step, event)
            }
            Role::Send | Role::StartSend => self.send(thread, step, event),
            Role::Recv | Role::StartRecv => self.post(thread, step, event),
            Role::Collective(meeting) | Role::StartCollective(meeting) => self.enter(thread, step, event, meeting),
            Role::StartRecvAny => {
                let side = self.side(thread, step, (0, SendMode::Standard));
                Started::Any(self.channels.post_any(side))
            }
        };
        match event.role {
            Role::StartSend | Role::StartRecv | Role::StartRecvAny | Role::StartCollective(_) => {
                self.request(thread, event.request, started);
                false
            }
            _ => {
                self.keep(thread, i, [started, Started::Nothing]);
                true
            }
        }
    }

    fn request(&mut self, thread: u32, request: u32, started: Started) {
        let rank = self.threads[thread as usize].rank;
        if request != NONE {
            self.ranks[rank as usize].requests.start(request, started);
        }
    }

    #[inline]
    fn side(&mut self, thread: u32, step: &Step, (bytes, mode): (u64, SendMode)) -> Side {
        let at = self.threads[thread as usize].begun;
        Side { thread, at, kind: step.kind, noted: self.clocks.note(thread), bytes, mode }
    }

    /// The channel of a message to or from a rank that is followed.
    pub(super) fn channel(&mut self, thread: u32, event: &CommEvent, sends: bool) -> Option<Channel> {
        let own = &self.threads[thread as usize];
        let (rank, world) = (own.rank, own.world);
        let other = self.places.get(event.peer);
        let broken = |place: u32| self.ranks.get(place as usize).is_none_or(|rank| rank.broken);
        if event.comm == NONE || other.is_none() {
            *(if sends { &mut self.counts.lone_sends } else { &mut self.counts.lone_receives }) += 1;
            return None;
        }
        if broken(rank) || other.is_some_and(broken) {
            *(if broken(rank) { &mut self.counts.behind_gaps } else { &mut self.counts.not_recorded }) += 1;
            return None;
        }
        let (from, to) = if sends { (world, event.peer) } else { (event.peer, world) };
        Some(Channel { comm: event.comm, from, to, tag: event.tag })
    }

    fn send(&mut self, thread: u32, step: &Step, event: &CommEvent) -> Started {
        let Some(channel) = self.channel(thread, event, true) else { return Started::Nothing };
        self.answers(thread, event.peer);
        let side = self.side(thread, step, (event.bytes, event.mode));
        self.channels.take_probes(channel).into_iter().for_each(|thread| self.wake(thread));
        let (id, woken) = self.channels.send(channel, side);
        woken.into_iter().for_each(|thread| self.wake(thread));
        Started::Transfer { id, sends: true }
    }

    /// Partitions of a send are ready (MPI-4.1 §4.2.2): it is from now on that its message can have come. Which partition it was, no
    /// record tells: who finds one that has come had to wait for the latest so far, who completes the request for the last.
    #[cold]
    fn is_ready(&mut self, thread: u32, step: &Step, event: &CommEvent) {
        let rank = self.threads[thread as usize].rank;
        let [Started::Transfer { id, sends: true }, _] = self.ranks[rank as usize].requests.look(event.request) else {
            return;
        };
        let Some(before) = self.channels.get(id).sent else { return };
        let ready = self.side(thread, step, (before.bytes, before.mode));
        self.channels.get_mut(id).sent = Some(ready);
        self.clocks.forget(before.noted);
    }

    fn post(&mut self, thread: u32, step: &Step, event: &CommEvent) -> Started {
        let Some(channel) = self.channel(thread, event, false) else { return Started::Nothing };
        let side = self.side(thread, step, (0, SendMode::Standard));
        Started::Transfer { id: self.channels.post(channel, side), sends: false }
    }

    fn enter(&mut self, thread: u32, step: &Step, event: &CommEvent, meeting: Pattern) -> Started {
        let own = &self.threads[thread as usize];
        let (world, at) = (own.world, own.begun);
        if event.comm == NONE || event.tag < 0 {
            self.counts.lone_collectives += 1;
            return Started::Nothing;
        }
        if self.ranks[own.rank as usize].broken {
            self.counts.behind_gaps += 1;
            return Started::Nothing;
        }
        // Persistent collectives of members that start one or several at once are the same.
        let several = Operation::semantics(step.operation) == Semantics::StartAll;
        let operation = if several { Operation::Start as u16 } else { step.operation };
        let member = self.member(event.comm, world, meeting);
        let entry = Entry { rank: world, member, thread, at };
        let (expected, lacks) = self.expected(event.comm);
        if lacks {
            self.counts.not_recorded += 1;
            return Started::Nothing;
        }
        let clocks = &mut self.clocks;
        let entered = self.collectives.enter(world, (event.comm, event.tag), || {
            CollectiveInstance::new(entry, operation, meeting, event.comm, expected, clocks.note(thread))
        });
        let Some(id) = entered else { return Started::Nothing };
        let root = Some(event.peer).filter(|&root| root != NONE);
        let instance = self.collectives.get_mut(id);
        instance.add(entry, operation, root);
        self.clocks.note_later(instance.noted, thread);
        if root == Some(world) && instance.root_noted.is_none() {
            instance.root_noted = Some(self.clocks.note(thread));
        }
        let woken = std::mem::take(&mut instance.waiters);
        if instance.entered == instance.expected {
            self.counts.collectives += 1;
            self.counts.mixed_collectives += u64::from(instance.mixed);
            if instance.meeting == Pattern::AllToAll && !instance.mixed {
                let (comm, last) = (instance.comm, instance.last.at);
                self.synchronised.all(comm, last);
            }
        }
        woken.into_iter().for_each(|thread| self.wake(thread));
        Started::Pattern(id)
    }

    /// A rank's number in a communicator; only where each waits for those before it does it matter.
    fn member(&mut self, comm: u32, world: u32, meeting: Pattern) -> u32 {
        if meeting != Pattern::Prefix {
            return NONE;
        }
        let Some(group) = self.model.communicators.get(comm as usize).map(|comm| &comm.group) else { return NONE };
        // A list may have very many runs, and be asked for each call.
        let find = || group.position(world).and_then(|at| u32::try_from(at).ok()).unwrap_or(NONE);
        *self.members.entry((comm, world)).or_insert_with(find)
    }

    /// How many members of a communicator are followed and lack no records.
    fn expected(&mut self, comm: u32) -> (u32, bool) {
        let (ranks, places) = (&self.ranks, &self.places);
        let rank = |world: &u32| places.get(*world).and_then(|at| ranks.get(at as usize));
        let members = self.synchronised.members(comm);
        *self.expected.entry(comm).or_insert_with(|| {
            let known: Vec<&Rank> = match members {
                Some(members) => members.iter().filter_map(rank).collect(),
                None => places.0.iter().filter_map(rank).collect(),
            };
            (known.len() as u32, known.iter().any(|rank| rank.broken))
        })
    }
}
