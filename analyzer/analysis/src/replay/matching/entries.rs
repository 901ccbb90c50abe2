//! Keeps the entries into a rooted collective or a scan, of which it matters who entered when.
//!
//! Each member asks for what it needs of the others. What a question takes grows at most with the logarithm of the number of members.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::model::region_state::Ns;

/// A rank that has entered.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveEntry {
    /// The rank in MPI_COMM_WORLD.
    pub world_rank: u32,
    /// Its number in the communicator.
    pub member: u32,
    /// The thread.
    pub thread: u32,
    /// Time of the entry.
    pub at: Ns,
}

/// The entries of ranks into a collective.
#[derive(Clone, Debug, Default)]
pub struct CollectiveEntries {
    /// Sorted by time. Of those at the same time, the lowest rank comes last.
    by_time: Vec<CollectiveEntry>,
    by_member: LatestOfFirstMembers,
}

impl CollectiveEntries {
    /// Adds the entry of a rank.
    pub fn add(&mut self, entry: CollectiveEntry) {
        // Ranks are followed in the order of time, so this is mostly the end.
        let index = self.by_time.partition_point(|other| other.order() < entry.order());
        self.by_time.insert(index, entry);
        self.by_member.add(entry);
    }

    /// Returns all entries in the order of time.
    pub fn in_order(&self) -> &[CollectiveEntry] {
        &self.by_time
    }

    /// Returns the entry of a rank.
    pub fn of_rank(&self, world_rank: u32) -> Option<CollectiveEntry> {
        self.by_time.iter().find(|entry| entry.world_rank == world_rank).copied()
    }

    /// Returns the last entry of another rank.
    pub fn last_of_others(&self, world_rank: u32) -> Option<CollectiveEntry> {
        last_of_others(&self.by_time, world_rank)
    }

    /// Returns the last entry of another rank that is not later than `until`.
    pub fn last_of_others_until(&self, world_rank: u32, until: Ns) -> Option<CollectiveEntry> {
        last_of_others(self.until(until), world_rank)
    }

    /// Returns the number of members before `member` that have entered.
    pub fn count_before(&self, member: u32) -> u32 {
        self.by_member.before(member).count
    }

    /// Returns the last entry of a member before `member`.
    pub fn last_before(&self, member: u32) -> Option<CollectiveEntry> {
        self.by_member.before(member).latest
    }

    /// Returns the last entry of a member before `member` that is not later than `until`.
    pub fn last_before_until(&self, member: u32, until: Ns) -> Option<CollectiveEntry> {
        let latest = self.last_before(member)?;
        if latest.at <= until {
            return Some(latest);
        }
        self.until(until).iter().rev().find(|entry| entry.member < member).copied()
    }

    fn until(&self, until: Ns) -> &[CollectiveEntry] {
        &self.by_time[..self.by_time.partition_point(|entry| entry.at <= until)]
    }
}

fn last_of_others(entries: &[CollectiveEntry], world_rank: u32) -> Option<CollectiveEntry> {
    entries.iter().rev().find(|entry| entry.world_rank != world_rank).copied()
}

impl CollectiveEntry {
    /// Returns the place in the order of time.
    pub fn order(&self) -> (Ns, Reverse<u32>) {
        (self.at, Reverse(self.world_rank))
    }
}

/// The last entry among the first members of a communicator, for any number of first members: a binary indexed tree.
#[derive(Clone, Debug, Default)]
struct LatestOfFirstMembers {
    /// The node `i` stands for as many members as the value of the lowest bit of `i`, up to the member `i - 1`.
    nodes: FxHashMap<u64, EntriesOfMembers>,
}

/// The entries of some members: their number, and the last.
#[derive(Clone, Copy, Debug, Default)]
struct EntriesOfMembers {
    count: u32,
    latest: Option<CollectiveEntry>,
}

impl EntriesOfMembers {
    fn join(self, other: Self) -> Self {
        let latest = self.latest.into_iter().chain(other.latest).max_by_key(CollectiveEntry::order);
        EntriesOfMembers { count: self.count + other.count, latest }
    }
}

impl LatestOfFirstMembers {
    /// The largest node is below this: members are numbers of 32 bits.
    const END: u64 = 1 << 32;

    /// Adds the entry of a member. A member of unknown number is before no other.
    fn add(&mut self, entry: CollectiveEntry) {
        let new = EntriesOfMembers { count: 1, latest: Some(entry) };
        let mut node = u64::from(entry.member) + 1;
        while node < Self::END {
            let known = self.nodes.entry(node).or_default();
            *known = known.join(new);
            node += lowest_bit(node);
        }
    }

    /// Returns the entries of the members before `member`.
    fn before(&self, member: u32) -> EntriesOfMembers {
        let mut all = EntriesOfMembers::default();
        let mut node = u64::from(member);
        while node > 0 {
            all = all.join(self.nodes.get(&node).copied().unwrap_or_default());
            node -= lowest_bit(node);
        }
        all
    }
}

fn lowest_bit(number: u64) -> u64 {
    number & number.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use lbprof_collector::record::NONE;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The answers are those of a search among all entries.
        #[test]
        fn finds_the_last_entries(
            entries in prop::collection::btree_map(0..40_u32, (0..30_u32, -10..10_i64), 0..30),
            rank in 0..42_u32,
            member in prop_oneof![0..32_u32, Just(NONE)],
            until in -11..11_i64,
        ) {
            let all: Vec<CollectiveEntry> = entries
                .iter()
                .map(|(&world_rank, &(member, at))| {
                    let member = if member == 29 { NONE } else { member };
                    CollectiveEntry { world_rank, member, thread: world_rank, at }
                })
                .collect();
            let mut kept = CollectiveEntries::default();
            all.iter().for_each(|&entry| kept.add(entry));
            let last = |which: &dyn Fn(&&CollectiveEntry) -> bool| {
                all.iter().filter(which).max_by_key(|entry| entry.order()).map(|entry| entry.world_rank)
            };
            let found = |entry: Option<CollectiveEntry>| entry.map(|entry| entry.world_rank);
            prop_assert_eq!(found(kept.of_rank(rank)), last(&|entry| entry.world_rank == rank));
            prop_assert_eq!(found(kept.last_of_others(rank)), last(&|entry| entry.world_rank != rank));
            prop_assert_eq!(
                found(kept.last_of_others_until(rank, until)),
                last(&|entry| entry.world_rank != rank && entry.at <= until)
            );
            prop_assert_eq!(found(kept.last_before(member)), last(&|entry| entry.member < member));
            prop_assert_eq!(
                found(kept.last_before_until(member, until)),
                last(&|entry| entry.member < member && entry.at <= until)
            );
            let before = all.iter().filter(|entry| entry.member < member).count();
            prop_assert_eq!(kept.count_before(member), before as u32);
            prop_assert!(kept.in_order().is_sorted_by_key(CollectiveEntry::order));
        }
    }

    #[test]
    fn each_of_many_members_may_ask() {
        // Searched for among all entries, the answers would take 10¹⁰ comparisons.
        let n = 100_000;
        let mut entries = CollectiveEntries::default();
        for rank in 0..n {
            entries.add(CollectiveEntry { world_rank: rank, member: rank, thread: rank, at: i64::from(rank) });
        }
        for rank in 1..n {
            let until = i64::from(n - rank);
            let found = |entry: Option<CollectiveEntry>| entry.map(|entry| entry.world_rank);
            assert_eq!(found(entries.last_before(rank)), Some(rank - 1));
            assert_eq!(entries.count_before(rank), rank);
            assert!(found(entries.last_of_others_until(rank, until)) >= Some(n - rank - 1));
            assert!(entries.last_of_others(rank).is_some());
        }
    }
}
