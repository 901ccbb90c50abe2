//! Keeps the entries into a rooted collective or a scan, whose times matter.
//!
//! Each member asks for what it needs of the others. The answers do not take longer the more members there are.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::model::code::region_state::Ns;

#[derive(Clone, Copy, Debug)]
pub struct CollectiveEntry {
    pub world_rank: u32,
    /// Its number in the communicator.
    pub member: u32,
    pub thread: u32,
    pub at: Ns,
}

#[derive(Clone, Debug, Default)]
pub struct CollectiveEntries {
    /// Sorted by time. At the same time, the lowest rank comes last.
    by_time: Vec<CollectiveEntry>,
    /// The latest entry of the members up to and with each of the first ones, all of which have entered.
    latest_of_first: Vec<CollectiveEntry>,
    /// Entries of members after the first missing one.
    others: FxHashMap<u32, CollectiveEntry>,
}

impl CollectiveEntries {
    pub fn add(&mut self, entry: CollectiveEntry) {
        // Ranks are followed in the order of time, so this is mostly the end.
        let index = self.by_time.partition_point(|other| other.order() < entry.order());
        self.by_time.insert(index, entry);
        self.others.insert(entry.member, entry);
        while let Some(next) = self.others.remove(&(self.latest_of_first.len() as u32)) {
            let before = self.latest_of_first.last().copied();
            self.latest_of_first.push(before.filter(|before| before.order() > next.order()).unwrap_or(next));
        }
    }

    pub fn in_order(&self) -> &[CollectiveEntry] {
        &self.by_time
    }

    pub fn of_rank(&self, world_rank: u32) -> Option<CollectiveEntry> {
        self.by_time.iter().find(|entry| entry.world_rank == world_rank).copied()
    }

    pub fn last_of_others(&self, world_rank: u32) -> Option<CollectiveEntry> {
        last_of_others(&self.by_time, world_rank)
    }

    /// Returns the last entry of another rank that is not later than `until`.
    pub fn last_of_others_until(&self, world_rank: u32, until: Ns) -> Option<CollectiveEntry> {
        last_of_others(self.until(until), world_rank)
    }

    pub fn has_all_before(&self, member: u32) -> bool {
        self.latest_of_first.len() >= member as usize
    }

    pub fn last_before(&self, member: u32) -> Option<CollectiveEntry> {
        let known = member.checked_sub(1).and_then(|last| self.latest_of_first.get(last as usize));
        known.copied().or_else(|| self.by_time.iter().rev().find(|entry| entry.member < member).copied())
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
    pub fn order(&self) -> (Ns, Reverse<u32>) {
        (self.at, Reverse(self.world_rank))
    }
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
                    // Each member enters once; the numbers of some are not known.
                    let member = if member == 29 { NONE } else { world_rank * 7 % 41 };
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
            let has_all = (0..member.min(41)).all(|first| all.iter().any(|entry| entry.member == first));
            prop_assert_eq!(kept.has_all_before(member), has_all);
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
            assert!(entries.has_all_before(rank));
            assert!(found(entries.last_of_others_until(rank, until)) >= Some(n - rank - 1));
            assert!(entries.last_of_others(rank).is_some());
        }
    }
}
