//! Matches entries into collectives: the n-th collective of each member of a communicator is the same instance (MPI-4.1 §6.12).

use std::collections::VecDeque;

use lbprof_collector::semantics::CommunicationPattern;
use rustc_hash::FxHashMap;

use super::entries::{CollectiveEntries, CollectiveEntry};
use super::free_places::put_in_free_place;
use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::replay::what_if::NotedClocks;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectiveId(u32);

#[derive(Clone, Copy, Debug)]
pub struct CollectiveMember {
    pub world_rank: u32,
    /// Its number in the communicator, where that matters: in scans.
    pub number: u32,
}

#[derive(Clone, Debug)]
pub struct CollectiveInstance {
    pub operation: u16,
    pub pattern: CommunicationPattern,
    pub root: Option<u32>,
    /// The entries, if their times matter; empty if each member waits for all.
    pub entries: CollectiveEntries,
    pub root_entry: Option<CollectiveEntry>,
    pub entered: u32,
    pub last: CollectiveEntry,
    /// The latest clocks of all who entered, in the replays.
    pub noted: NotedClocks,
    pub root_noted: Option<NotedClocks>,
    pub expected: u32,
    /// True if members call different operations, so that nothing is known of it.
    pub mixed: bool,
    /// Threads that can't go on before others have entered.
    pub waiters: Vec<u32>,
    left: u32,
    key: (u32, i32),
    /// Number of the instance on `key`, counted from 0.
    number: u64,
}

/// The collective instances of a communicator, RMA window or file that are not over.
#[derive(Debug, Default)]
struct OpenInstances {
    /// Number of the first of `open`.
    from: u64,
    /// The instances, or `None` if they are over.
    open: VecDeque<Option<u32>>,
}

impl OpenInstances {
    /// Returns the index in `open` of the instance with a number; `None`: it was over, as were all before it.
    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.from)?).ok()
    }

    /// Removes the instance with this number. An instance that never ends may precede it, followed by any number of others.
    fn finish_instance(&mut self, number: u64) {
        if let Some(place) = self.place(number).and_then(|place| self.open.get_mut(place)) {
            *place = None;
        }
        while self.open.front() == Some(&None) {
            self.open.pop_front();
            self.from += 1;
        }
    }
}

#[derive(Debug, Default)]
pub struct OpenCollectives {
    all: Vec<CollectiveInstance>,
    free: Vec<u32>,
    open: FxHashMap<(u32, i32), OpenInstances>,
    entered: FxHashMap<(u32, u32, i32), u64>,
}

impl OpenCollectives {
    /// Returns the collective instance that a rank enters next on `key`, i.e. a communicator and an object on it, or `None` if the instance is over.
    /// `new` makes it if the rank is the first.
    pub fn enter(
        &mut self,
        rank: u32,
        key: (u32, i32),
        new: impl FnOnce() -> CollectiveInstance,
    ) -> Option<CollectiveId> {
        let entered = self.entered.entry((rank, key.0, key.1)).or_default();
        let on_key = self.open.entry(key).or_default();
        let number = *entered;
        let place = on_key.place(number)?;
        *entered += 1;
        if on_key.open.len() <= place {
            on_key.open.resize(place + 1, None);
        }
        if let Some(id) = on_key.open[place] {
            return Some(CollectiveId(id));
        }
        let instance = CollectiveInstance { key, number, ..new() };
        let id = put_in_free_place(&mut self.all, &mut self.free, instance);
        on_key.open[place] = Some(id);
        Some(CollectiveId(id))
    }

    pub fn get(&self, id: CollectiveId) -> &CollectiveInstance {
        &self.all[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: CollectiveId) -> &mut CollectiveInstance {
        &mut self.all[id.0 as usize]
    }

    /// Removes a member that leaves. If it was the last, the collective instance is over, and its notes are returned.
    pub fn leave(&mut self, id: CollectiveId) -> Option<[Option<NotedClocks>; 2]> {
        let instance = self.get_mut(id);
        instance.left += 1;
        if instance.left < instance.expected {
            return None;
        }
        let (key, number, noted) = (instance.key, instance.number, [Some(instance.noted), instance.root_noted]);
        (instance.waiters, instance.entries) = (Vec::new(), CollectiveEntries::default());
        self.free.push(id.0);
        if let Some(on_key) = self.open.get_mut(&key) {
            on_key.finish_instance(number);
        }
        Some(noted)
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.all.len()
    }

    /// Returns the number of instances that not all members have left.
    pub fn left(&self) -> u64 {
        self.open.values().flat_map(|on_key| &on_key.open).flatten().count() as u64
    }
}

/// A member that was on the way of a rooted collective came after the call began; the rest of the call takes at most 1/N of the wait.
const MAX_AFTER: Ns = 4;

impl CollectiveEntry {
    /// Returns whether a call ended just after the entry, which came while it waited.
    fn ends(&self, call: TimeInterval) -> bool {
        call.begin < self.at && MAX_AFTER * (call.end - self.at) <= self.at - call.begin
    }
}

impl CollectiveInstance {
    pub fn comm(&self) -> u32 {
        self.key.0
    }

    /// Returns the entry, the root's or another member's, for which the call of a member of a rooted collective or a scan evidently waited: the
    /// call ended just after it. MPI passes data along trees of ranks, which no log states; so even the root of a broadcast may wait.
    ///
    /// ```text
    ///   rank 0    |reduce .................|      the root
    ///   rank 2    |reduce ...............|        waits for rank 3, and passes on what both have
    ///   rank 3    |== compute =======|reduce|
    /// ```
    pub fn entry_on_the_way(&self, own: CollectiveMember, call: TimeInterval) -> Option<CollectiveEntry> {
        let last = self.entries.last_of_others_until(own.world_rank, call.end);
        // The members before a rank in a scan are needed anyway, and may be the reason.
        let needed = match self.pattern {
            CommunicationPattern::Prefix => self.entries.last_before_until(own.number, call.end),
            CommunicationPattern::OneToAll
            | CommunicationPattern::AllToOne
            | CommunicationPattern::AllToAll
            | CommunicationPattern::Neighbours => None,
        };
        [needed, last].into_iter().flatten().find(|entry| entry.ends(call))
    }

    /// Creates a collective instance for `first`, whose entry [`CollectiveInstance::add`] then adds.
    pub fn new(first: CollectiveEntry, operation: u16, pattern: CommunicationPattern, noted: NotedClocks) -> Self {
        CollectiveInstance {
            operation,
            pattern,
            root: None,
            entries: CollectiveEntries::default(),
            root_entry: None,
            entered: 0,
            last: first,
            noted,
            root_noted: None,
            expected: 1,
            mixed: false,
            waiters: Vec::new(),
            left: 0,
            key: (0, 0),
            number: 0,
        }
    }

    /// Adds the entry of a member. Its clocks are noted separately.
    pub fn add(&mut self, entry: CollectiveEntry, operation: u16, root: Option<u32>) {
        self.mixed |= operation != self.operation;
        self.entered += 1;
        // If several enter at the same time, it is the first rank, whatever their order in the replay.
        if entry.order() > self.last.order() {
            self.last = entry;
        }
        if !matches!(self.pattern, CommunicationPattern::AllToAll | CommunicationPattern::Neighbours) {
            self.entries.add(entry);
        }
        if self.root.is_none() && root.is_some() {
            self.root = root;
            self.root_entry = root.and_then(|root| self.entries.of_rank(root));
        } else if self.root == Some(entry.world_rank) {
            self.root_entry = Some(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::record::NONE;

    use super::*;
    use crate::replay::what_if::ScenarioClocks;

    #[test]
    fn a_call_waited_for_a_member_on_the_way_that_came_just_before_its_end() {
        let noted = ScenarioClocks::new(Vec::new(), 0, 0).note(0);
        let entry = |rank, at| CollectiveEntry { world_rank: rank, member: rank, thread: rank, at };
        let rooted = |pattern| {
            let mut instance = CollectiveInstance::new(entry(0, 100), 0, pattern, noted);
            for (rank, at) in [(0, 100), (1, 110), (2, 120), (3, 1000)] {
                instance.add(entry(rank, at), 0, Some(0));
            }
            instance
        };
        for pattern in [CommunicationPattern::AllToOne, CommunicationPattern::OneToAll] {
            let found = |rank, begin, end| {
                let own = CollectiveMember { world_rank: rank, number: NONE };
                rooted(pattern).entry_on_the_way(own, TimeInterval::new(begin, end)).map(|entry| entry.world_rank)
            };
            assert_eq!(found(2, 120, 1010), Some(3), "it passes on what rank 3 has");
            assert_eq!(found(2, 120, 125), None, "it was over before rank 3 came");
            assert_eq!(found(2, 120, 2000), None, "something else took as long");
            assert_eq!(found(3, 1000, 1010), None, "the last waits for nobody");
        }
        // In a scan by exchanges the first rank waits for the second, too; where neighbours exchange, none is on the way.
        for (pattern, found) in [(CommunicationPattern::Prefix, Some(1)), (CommunicationPattern::Neighbours, None)] {
            let mut instance = CollectiveInstance::new(entry(0, 0), 0, pattern, noted);
            [entry(0, 0), entry(1, 500)].into_iter().for_each(|entry| instance.add(entry, 0, None));
            let own = CollectiveMember { world_rank: 0, number: 0 };
            let on_the_way = instance.entry_on_the_way(own, TimeInterval::new(0, 510));
            assert_eq!(on_the_way.map(|entry| entry.world_rank), found);
        }
    }

    #[test]
    fn instances_behind_one_that_never_ends_cost_no_more_the_more_there_are() {
        let noted = ScenarioClocks::new(Vec::new(), 0, 0).note(0);
        let mut collectives = OpenCollectives::default();
        let enter = |collectives: &mut OpenCollectives, rank| {
            let entry = CollectiveEntry { world_rank: rank, member: 0, thread: rank, at: 0 };
            collectives
                .enter(rank, (0, 0), || CollectiveInstance {
                    expected: 2,
                    ..CollectiveInstance::new(entry, 0, CommunicationPattern::AllToAll, noted)
                })
                .unwrap()
        };
        // The first is never left by rank 1. Searched for one by one the others would be 80 billion.
        let n = 400_000;
        let first = enter(&mut collectives, 0);
        assert_eq!(enter(&mut collectives, 1), first);
        collectives.leave(first);
        for at in 0..n {
            let id = enter(&mut collectives, 0);
            assert_eq!(enter(&mut collectives, 1), id, "instance {at}");
            assert_ne!(id, first);
            assert!(collectives.leave(id).is_none());
            assert!(collectives.leave(id).is_some());
        }
        assert_eq!((collectives.left(), collectives.all.len()), (1, 2));
        assert!(collectives.leave(first).is_some());
        assert_eq!((collectives.left(), collectives.open[&(0, 0)].from), (0, n + 1));
    }
}
