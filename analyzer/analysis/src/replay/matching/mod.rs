//! Matches communication events of different ranks: sends with receives, the entries into a collective, and synchronisations in epochs.
//!
//! ```text
//!   starts.rs   matches the start of a call with the events of other ranks ─┬→ channels.rs     messages
//!   needs.rs    determines what the call needs before it can end            ├→ collectives.rs  collective instances (entries.rs)
//!   progress.rs infers whether its messages depend on the other rank        ├→ signals.rs      neighbours, epochs (epochs.rs)
//!   ends.rs     reports messages; forgets what no later call refers to      └→ locks.rs        locks of RMA windows
//!   requests.rs, started.rs  operations that requests stand for; demand.rs  work that is handed out on demand
//! ```
//!
//! The engine calls [`EventMatcher`] for each start and end of a call, in the order of time. Its results go to the sinks. The engine resumes
//! the threads in [`EventMatcher::take_woken`], whose needs may be satisfied now.

mod channels;
mod collectives;
mod demand;
mod ends;
mod entries;
mod epochs;
mod locks;
mod message_coupling;
mod needs;
mod progress;
mod requests;
mod signals;
mod started;
mod starts;

use std::sync::Arc;

use lbprof_collector::record::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

use self::channels::{MessageChannel, OpenTransfers};
use self::collectives::OpenCollectives;
pub use self::demand::OnDemand;
use self::demand::WorkDemands;
use self::locks::RmaLocks;
use self::message_coupling::MessageCoupling;
pub use self::needs::CallNeeds;
use self::requests::OpenRequests;
use self::signals::{AwaitedId, OpenSignals};
use self::started::{NOTHING, StartedOperations};
use super::comm_members::CommMembers;
use super::fetch::fetch;
use super::sinks::NewThread;
use super::thread::ReplayThread;
use super::timeline::{CommEvent, TimelineStep};
use crate::model::Model;
use crate::model::interval::TimeInterval;
use crate::model::region_state::{Ns, RegionState};
use crate::model::replay_results::ReplayCounts;

/// An event of the call in which a thread is.
pub struct CurrentCallEvent<'a> {
    /// Number of the thread.
    pub thread: u32,
    /// The thread.
    pub own: &'a ReplayThread,
    /// The call.
    pub step: &'a TimelineStep,
    /// The event.
    pub event: &'a CommEvent,
    /// Index of the event among those of the call.
    pub i: usize,
}

impl CurrentCallEvent<'_> {
    /// Returns begin and end of the call by its own clock, as corrected before.
    fn time(&self) -> TimeInterval {
        TimeInterval::new(self.own.begun.min(self.ends()), self.ends())
    }

    /// Returns the end of the call by its own clock, as corrected before: the time at which the engine resumes the thread. The call itself may
    /// end earlier, at its recorded end, for its time absorbs the correction.
    fn ends(&self) -> Ns {
        self.step.end.saturating_add(self.own.shift)
    }
}

/// Facts about a rank that do not depend on its threads.
#[derive(Default)]
struct KnownRank {
    /// Operations started under requests.
    requests: OpenRequests,
    /// The thread that called MPI_Init.
    first_thread: Option<u32>,
    /// True if records are missing: what follows can't be counted on to match.
    broken: bool,
    /// Lists of world ranks that its events name.
    lists: Vec<Arc<[u32]>>,
}

/// The places of ranks in the model, by world rank: these ascend, and mostly all are there.
struct WorldRankIndex(Vec<u32>);

impl WorldRankIndex {
    fn get(&self, world_rank: u32) -> Option<u32> {
        match self.0.get(world_rank as usize) {
            Some(&found) if found == world_rank => Some(world_rank),
            _ => self.0.binary_search(&world_rank).ok().map(|at| at as u32),
        }
    }
}

/// By place of the rank: the number of its host.
fn hosts(model: &Model) -> Vec<u32> {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut hosts = Vec::with_capacity(model.ranks.len());
    for rank in &model.ranks {
        let next = numbers.len() as u32;
        hosts.push(*numbers.entry(rank.host.as_str()).or_insert(next));
    }
    hosts
}

/// Matches what threads do.
pub struct EventMatcher<'a> {
    places: WorldRankIndex,
    ranks: Vec<KnownRank>,
    /// By place of the rank: which host it is on.
    hosts: Vec<u32>,
    /// By thread: what the events of its call started, in their order; of those that complete requests what these stand for, once it was
    /// asked for.
    started: Vec<Vec<StartedOperations>>,
    channels: OpenTransfers,
    collectives: OpenCollectives,
    signals: OpenSignals,
    locks: RmaLocks,
    /// Signals that started access epochs wait for, by index of the rank and RMA window (communicator, number).
    accesses: FxHashMap<(u32, u32, i32), AwaitedId>,
    /// World ranks whose epochs on an RMA window (communicator, number) can't be counted on to match those of others any more.
    unknown: FxHashSet<(u32, u32, i32)>,
    members: &'a CommMembers<'a>,
    /// Number of members of a communicator that will enter its collectives, and whether some lack records.
    expected: FxHashMap<u32, (u32, bool)>,
    /// Numbers of ranks in communicators, where they matter.
    numbers: FxHashMap<(u32, u32), u32>,
    /// Statistics of message sides that wait for each other.
    coupling: MessageCoupling,
    demands: WorkDemands,
    counts: ReplayCounts,
    woken: Vec<u32>,
}

impl<'a> EventMatcher<'a> {
    /// Nobody has done anything yet. `broken`: by place of the rank, whether its log can't be read, so that nothing is known of it.
    pub fn new(model: &Model, members: &'a CommMembers<'a>, broken: &[bool]) -> Self {
        EventMatcher {
            places: WorldRankIndex(model.ranks.iter().map(|rank| rank.rank).collect()),
            ranks: broken.iter().map(|&broken| KnownRank { broken, ..KnownRank::default() }).collect(),
            hosts: hosts(model),
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

    /// A further thread begins; its number is the next one.
    pub fn add_thread(&mut self, new: NewThread) {
        let thread = self.started.len() as u32;
        self.started.push(Vec::new());
        self.demands.add_thread(new.world_rank);
        if let Some(rank) = self.ranks.get_mut(new.rank_idx as usize).filter(|_| new.number == 0) {
            rank.first_thread = Some(thread);
        }
    }

    /// Records of a rank are missing.
    pub fn mark_incomplete(&mut self, rank: u32) {
        self.ranks[rank as usize].broken = true;
        self.expected.clear();
    }

    /// Lists of world ranks that further events of a rank name.
    pub fn add_lists(&mut self, rank: u32, mut lists: Vec<Arc<[u32]>>) {
        self.ranks[rank as usize].lists.append(&mut lists);
    }

    /// Has the processor fetch what is kept of a thread.
    #[inline]
    pub fn fetch_early(&self, thread: u32) {
        fetch(&self.started[thread as usize]);
    }

    /// A thread was outside of MPI.
    #[inline]
    pub fn on_computation(&mut self, thread: u32, kind: RegionState, time: TimeInterval) {
        if kind.is_computation() {
            self.demands.add_computation(thread, time.ns());
        }
    }

    /// Returns a thread that waited for others and whose needs may be satisfied now; the same one may come several times.
    #[inline]
    pub fn take_woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    /// Returns whether nothing that was begun goes on, and no records are missing: whoever goes on from here needs to know nothing of what
    /// was before.
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

    /// Returns the operations that the event started, or that its request stands for; `None`: they are not known, or there are none.
    #[inline]
    fn started(&self, at: &CurrentCallEvent) -> Option<StartedOperations> {
        self.started[at.thread as usize].get(at.i).copied()
    }

    /// Keeps what the event started, or what its request stands for.
    #[inline]
    fn keep(&mut self, at: &CurrentCallEvent, pending: StartedOperations) {
        let started = &mut self.started[at.thread as usize];
        if started.len() < at.i {
            started.resize(at.i, NOTHING);
        }
        match started.get_mut(at.i) {
            Some(kept) => *kept = pending,
            None => started.push(pending),
        }
    }

    /// Returns whether records of the rank at this place of the model are missing.
    fn is_broken(&self, place: u32) -> bool {
        self.ranks.get(place as usize).is_none_or(|rank| rank.broken)
    }

    /// The channel of the event's message, to or from a rank that is followed.
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

    /// The thread of a world rank that called MPI_Init.
    fn first_thread(&self, world_rank: u32) -> Option<u32> {
        self.ranks[self.places.get(world_rank)? as usize].first_thread
    }
}
