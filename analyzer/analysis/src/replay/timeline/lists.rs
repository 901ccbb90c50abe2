//! Lists of ranks that a rank's events name by number: its neighbours in communicators, and the groups of its epochs on RMA windows.

use std::sync::Arc;

use lbprof_collector::Record;
use lbprof_collector::definition::RankList;
use lbprof_collector::record::NONE;
use lbprof_collector::semantics::EpochStep;
use rustc_hash::FxHashMap;

use crate::read::definitions::RankDefinitions;

/// Maximum number of entries in all lists of a rank. Logs are untrusted.
const MOST: u64 = 1 << 22;

pub struct RankLists<'a> {
    rank: u32,
    present: &'a [u32],
    /// Number of further entries that may be read.
    left: u64,
    n: u32,
    /// New lists that were not handed out yet, in the order of their numbers.
    pub new: Vec<Arc<[u32]>>,
    /// Numbers of lists by communicator, and by group.
    neighbours: FxHashMap<u32, u32>,
    groups: FxHashMap<u32, u32>,
    /// By RMA window: numbers of the lists of ranks that it accesses, and of ranks to which it is exposed, or NONE.
    epochs: FxHashMap<i32, [u32; 2]>,
}

impl<'a> RankLists<'a> {
    /// Creates the lists of `rank` in a run with the ranks `present`, in ascending order; none yet.
    pub fn new(rank: u32, present: &'a [u32]) -> Self {
        RankLists {
            rank,
            present,
            left: MOST,
            n: 0,
            new: Vec::new(),
            neighbours: FxHashMap::default(),
            groups: FxHashMap::default(),
            epochs: FxHashMap::default(),
        }
    }

    /// Returns the number of the list of ranks that send to the rank on communicator `comm`, or NONE. The next list has the ranks that it sends
    /// to.
    pub fn neighbours(&mut self, comm: u32, definitions: &RankDefinitions) -> u32 {
        if let Some(&number) = self.neighbours.get(&comm) {
            return number;
        }
        let Some(found) = definitions.neighbours.get(&comm) else { return NONE };
        if !self.has_room(&[&found.sources, &found.destinations]) {
            return NONE;
        }
        let number = self.add(&found.sources);
        self.add(&found.destinations);
        self.neighbours.insert(comm, number);
        number
    }

    /// Returns the number of the list of ranks with which a step of an epoch synchronises, or NONE.
    pub fn epoch(&mut self, record: &Record, step: EpochStep, definitions: &RankDefinitions) -> u32 {
        let starts = matches!(step, EpochStep::Post | EpochStep::Start);
        let group = if starts { self.group(record, definitions) } else { NONE };
        let is_exposure = !matches!(step, EpochStep::Start | EpochStep::Complete);
        let list = &mut self.epochs.entry(record.tag).or_insert([NONE; 2])[usize::from(is_exposure)];
        if starts {
            *list = group;
        }
        *list
    }

    fn group(&mut self, record: &Record, definitions: &RankDefinitions) -> u32 {
        let Some(ranks) = definitions.group_of(record) else { return NONE };
        if let Some(&number) = self.groups.get(&record.count) {
            return number;
        }
        if !self.has_room(&[ranks]) {
            return NONE;
        }
        let number = self.add(ranks);
        self.groups.insert(record.count, number);
        number
    }

    /// Counts the entries of more lists. Returns whether they may still be looked at.
    fn has_room(&mut self, lists: &[&RankList]) -> bool {
        let entries = lists.iter().fold(0u64, |sum, list| sum.saturating_add(list.len()));
        let left = self.left.checked_sub(entries);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Adds a list, without duplicates and without the rank itself, for which it does not wait.
    fn add(&mut self, ranks: &RankList) -> u32 {
        let mut list: Vec<u32> =
            ranks.iter().filter(|rank| *rank != self.rank && self.present.binary_search(rank).is_ok()).collect();
        list.sort_unstable();
        list.dedup();
        self.new.push(list.into());
        self.n += 1;
        self.n - 1
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Operation;
    use lbprof_collector::definition::{Definition, RankGroup};

    use super::*;

    fn group(definitions: &mut RankDefinitions, id: u32, ranks: Vec<(u32, i32, u32)>) -> Record {
        definitions.add(Definition::Group(RankGroup { id, ranks: RankList(ranks) }));
        Record { count: id + 1, tag: 7, ..Record::new(Operation::Win_post, 0) }
    }

    #[test]
    fn lists_hold_the_others_that_the_run_has_as_long_as_they_are_not_too_long() {
        let mut definitions = RankDefinitions::default();
        let mut lists = RankLists::new(0, &[0, 1, 3]);
        // Of a group of four, twice over, and of one that names three million times the same.
        let small = group(&mut definitions, 0, vec![(0, 1, 4), (0, 1, 4)]);
        let large: Vec<Record> = (1..4).map(|id| group(&mut definitions, id, vec![(1, 0, 3 << 20)])).collect();
        let endless = group(&mut definitions, 4, vec![(0, 1, u32::MAX); 3]);
        let mut number = |record: &Record| lists.epoch(record, EpochStep::Post, &definitions);
        assert_eq!((number(&small), number(&endless)), (0, NONE));
        assert_eq!((number(&large[0]), number(&large[1]), number(&large[2])), (1, NONE, NONE));
        assert_eq!((number(&small), number(&large[0])), (0, 1), "those that are known stay so");
        let found: Vec<Vec<u32>> = lists.new.iter().map(|list| list.to_vec()).collect();
        assert_eq!(found, [vec![1, 3], vec![1]]);
    }
}
