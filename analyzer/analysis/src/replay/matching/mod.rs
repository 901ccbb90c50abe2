//! Matches communication events of different ranks: sends with receives, the entries into a collective, and synchronisations in epochs.
//!
//! In `pending/` is what waits for its other side.
//!
//! ```text
//!   starts.rs   matches the start of a call with the events of other ranks ─┬→ channels.rs     messages
//!   needs.rs    determines what the call needs before it can end            ├→ collectives.rs  collective instances (entries.rs)
//!   progress.rs infers whether its messages depend on the other rank        ├→ signals.rs      neighbours, epochs (epochs.rs)
//!   ends.rs     reports messages; forgets what no later call refers to      └→ locks.rs        locks of RMA windows
//!   requests.rs, started.rs  operations that requests stand for; demand/  work that is handed out on demand
//! ```
//!
//! The engine calls [`EventMatcher`] for each start and end of a call, in the order of time. Its results go to the sinks. The engine resumes
//! the threads in [`EventMatcher::woken`], whose needs may be satisfied now.

mod demand;
mod ends;
mod epochs;
mod locks;
mod message_coupling;
mod needs;
mod pending;
mod progress;
mod requests;
mod started;
mod starts;

use std::sync::Arc;

use lbprof_collector::record::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::demand::OnDemand;
use self::demand::WorkDemands;
use self::locks::RmaLocks;
use self::message_coupling::MessageCoupling;
pub use self::needs::CallNeeds;
use self::pending::channels::{MessageChannel, OpenTransfers};
use self::pending::collectives::OpenCollectives;
use self::pending::signals::{AwaitedId, OpenSignals};
use self::requests::OpenRequests;
use self::started::{NOTHING, StartedOperations};
use super::comm_members::CommMembers;
use super::sinks::NewThread;
use super::thread::ReplayThread;
use super::timeline::{CommEvent, TimelineStep};
use crate::model::Model;
use crate::model::code::region_state::{Ns, RegionState};
use crate::model::ranks::interval::TimeInterval;
use crate::model::replayed::replay_results::ReplayCounts;

pub struct CurrentCallEvent<'a> {
    pub thread: u32,
    pub own: &'a ReplayThread,
    pub step: &'a TimelineStep,
    pub event: &'a CommEvent,
    pub i: usize,
}

impl CurrentCallEvent<'_> {
    /// Returns begin and end of the call by its own clock, as corrected before.
    fn time(&self) -> TimeInterval {
        TimeInterval::new(self.own.begun.min(self.ends()), self.ends())
    }

    /// Returns the end of the call by its own clock, as corrected before, at which the engine resumes the thread. The call itself may end
    /// earlier, at its recorded end, because its time absorbs the correction.
    fn ends(&self) -> Ns {
        self.step.end.saturating_add(self.own.shift)
    }
}

#[derive(Default)]
struct KnownRank {
    requests: OpenRequests,
    /// The thread that called MPI_Init.
    first_thread: Option<u32>,
    /// True if records are missing: later events may not match.
    broken: bool,
    lists: Vec<Arc<[u32]>>,
}

/// Looks up ranks in the model by world rank. World ranks ascend, and mostly all are there.
struct WorldRankIndex(Vec<u32>);

impl WorldRankIndex {
    fn get(&self, world_rank: u32) -> Option<u32> {
        match self.0.get(world_rank as usize) {
            Some(&found) if found == world_rank => Some(world_rank),
            _ => self.0.binary_search(&world_rank).ok().map(|at| at as u32),
        }
    }
}

fn number_hosts(model: &Model) -> Vec<u32> {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let numbered = model.ranks.iter().map(|rank| {
        let next = numbers.len() as u32;
        *numbers.entry(rank.host.as_str()).or_insert(next)
    });
    numbered.collect()
}

pub struct EventMatcher<'a> {
    places: WorldRankIndex,
    ranks: Vec<KnownRank>,
    hosts: Vec<u32>,
    /// By thread: the operations that the events of its call started, in their order; for events that complete requests the operations of the
    /// requests, once they were asked for.
    started: Vec<Vec<StartedOperations>>,
    channels: OpenTransfers,
    collectives: OpenCollectives,
    signals: OpenSignals,
    locks: RmaLocks,
    /// Signals that started access epochs wait for, by index of the rank and RMA window (communicator, number).
    accesses: FxHashMap<(u32, u32, i32), AwaitedId>,
    /// World ranks whose epochs on an RMA window (communicator, number) may not match the epochs of others any more.
    unknown: FxHashSet<(u32, u32, i32)>,
    members: &'a CommMembers<'a>,
    /// Number of members of a communicator that will enter its collectives, and whether some lack records.
    expected: FxHashMap<u32, (u32, bool)>,
    /// Numbers of ranks in communicators, where they matter.
    numbers: FxHashMap<(u32, u32), u32>,
    coupling: MessageCoupling,
    demands: WorkDemands,
    counts: ReplayCounts,
    /// Threads that waited for others and whose needs may be satisfied now; the same one may come several times.
    pub woken: Vec<u32>,
}

impl<'a> EventMatcher<'a> {
    /// Starts at the begin of the run. `broken`: by index of the rank, whether its log cannot be read.
    pub fn new(model: &Model, members: &'a CommMembers<'a>, broken: &[bool]) -> Self {
        EventMatcher {
            places: WorldRankIndex(model.ranks.iter().map(|rank| rank.rank).collect()),
            ranks: broken.iter().map(|&broken| KnownRank { broken, ..KnownRank::default() }).collect(),
            hosts: number_hosts(model),
            started: Vec::new(),
            channels: OpenTransfers::default(),
            collectives: OpenCollectives::default(),
            signals: OpenSignals::default(),
            locks: RmaLocks::default(),
            accesses: FxHashMap::default(),
            unknown: FxHashSet::default(),
            members,
            expected: FxHashMap::default(),
            numbers: FxHashMap::default(),
            coupling: MessageCoupling::default(),
            demands: WorkDemands::default(),
            counts: ReplayCounts::default(),
            woken: Vec::new(),
        }
    }

    pub fn add_thread(&mut self, new: NewThread) {
        let thread = self.started.len() as u32;
        self.started.push(Vec::new());
        self.demands.add_thread(new.world_rank);
        if let Some(rank) = self.ranks.get_mut(new.rank_idx as usize).filter(|_| new.number == 0) {
            rank.first_thread = Some(thread);
        }
    }

    pub fn mark_incomplete(&mut self, rank: u32) {
        self.ranks[rank as usize].broken = true;
        self.expected.clear();
    }

    pub fn add_lists(&mut self, rank: u32, mut lists: Vec<Arc<[u32]>>) {
        self.ranks[rank as usize].lists.append(&mut lists);
    }

    #[inline]
    pub fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval) {
        if kind.is_computation() {
            self.demands.add_computation(thread, time.ns());
        }
    }

    /// Returns whether no operation is open and no records are missing. The replay can continue from here without knowledge of the past.
    pub fn is_quiet(&self) -> bool {
        self.channels.is_empty()
            && self.collectives.is_empty()
            && self.signals.is_empty()
            && self.locks.is_empty()
            && self.accesses.is_empty()
            && self.unknown.is_empty()
            && self.ranks.iter().all(|rank| rank.requests.is_empty() && !rank.broken)
    }

    /// Returns the counts, unmatched events included, and the work that was handed out on demand.
    pub fn finish(self) -> (ReplayCounts, OnDemand) {
        let (sends, receives) = self.channels.left();
        let (neighbours, epochs) = self.signals.left();
        let mut counts = self.counts;
        counts.unmatched_sends += sends;
        counts.unmatched_receives += receives;
        counts.unmatched_collectives += self.collectives.left();
        counts.unmatched_neighbours += neighbours;
        counts.unmatched_epochs += epochs;
        (counts, self.demands.finish())
    }

    /// Returns the operations that the event started, or that its request stands for, or `None` if they are not known or there are none.
    #[inline]
    fn started(&self, at: &CurrentCallEvent) -> Option<StartedOperations> {
        self.started[at.thread as usize].get(at.i).copied()
    }

    /// Keeps the operations that the event started, or that its request stands for.
    #[inline]
    fn keep(&mut self, at: &CurrentCallEvent, pending: StartedOperations) {
        let started = &mut self.started[at.thread as usize];
        if started.len() <= at.i {
            started.resize(at.i + 1, NOTHING);
        }
        started[at.i] = pending;
    }

    fn is_broken(&self, place: u32) -> bool {
        self.ranks.get(place as usize).is_none_or(|rank| rank.broken)
    }

    /// Returns the channel of the event's message, or `None` if it cannot be matched, which is counted.
    fn channel(&mut self, at: &CurrentCallEvent, sends: bool) -> Option<MessageChannel> {
        let (own, event) = (at.own, at.event);
        let other = self.places.get(event.peer);
        if event.comm == NONE || other.is_none() {
            *(if sends { &mut self.counts.unmatched_sends } else { &mut self.counts.unmatched_receives }) += 1;
            return None;
        }
        let is_own_broken = self.is_broken(own.rank_idx);
        if is_own_broken || other.is_some_and(|other| self.is_broken(other)) {
            *(if is_own_broken { &mut self.counts.behind_gaps } else { &mut self.counts.not_recorded }) += 1;
            return None;
        }
        let (from, to) = if sends { (own.world_rank, event.peer) } else { (event.peer, own.world_rank) };
        Some(MessageChannel { comm: event.comm, from, to, tag: event.tag })
    }

    fn first_thread(&self, world_rank: u32) -> Option<u32> {
        self.ranks[self.places.get(world_rank)? as usize].first_thread
    }
}
