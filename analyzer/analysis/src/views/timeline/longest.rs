//! The largest of many, of which only so many are kept.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bincode::{Decode, Encode};

/// Keeps the largest; of equals the first.
#[derive(Clone, Debug)]
pub(super) struct LongestItems<K, T> {
    most: usize,
    seen: u64,
    /// The smallest of those that are kept is on top.
    kept: BinaryHeap<RankedItem<K, T>>,
}

/// A value with its size and when it came; smaller ones are greater, and of equals later ones.
#[derive(Clone, Debug, Encode, Decode)]
struct RankedItem<K, T> {
    size: K,
    at: u64,
    value: T,
}

/// The largest of a segment of the run, in the order in which they came, and how many there were.
#[derive(Encode, Decode)]
pub(super) struct LongestOfSegment<K, T> {
    seen: u64,
    kept: Vec<RankedItem<K, T>>,
}

impl<K: Ord + Copy, T> LongestItems<K, T> {
    pub(super) fn new(most: usize) -> Self {
        LongestItems { most, seen: 0, kept: BinaryHeap::new() }
    }

    /// Takes one of this size.
    #[inline]
    pub(super) fn add(&mut self, size: K, value: T) {
        self.seen += 1;
        if self.kept.len() >= self.most {
            if self.kept.peek().is_none_or(|least| size <= least.size) {
                return;
            }
            self.kept.pop();
        }
        self.kept.push(RankedItem { size, at: self.seen, value });
    }

    /// Returns the items of a segment of the run.
    pub(super) fn of_segment(self) -> LongestOfSegment<K, T> {
        let mut kept = self.kept.into_vec();
        kept.sort_unstable_by_key(|one| one.at);
        LongestOfSegment { seen: self.seen, kept }
    }

    /// Takes those that came after its own.
    pub(super) fn join(&mut self, later: LongestOfSegment<K, T>) {
        let seen = self.seen + later.seen;
        for one in later.kept {
            self.add(one.size, one.value);
        }
        self.seen = seen;
    }

    /// Returns the number of items, and the largest of them, in descending order.
    pub(super) fn finish(self) -> (u64, Vec<T>) {
        (self.seen, self.kept.into_sorted_vec().into_iter().map(|one| one.value).collect())
    }
}

impl<K: Ord, T> Ord for RankedItem<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (Reverse(&self.size), self.at).cmp(&(Reverse(&other.size), other.at))
    }
}

impl<K: Ord, T> PartialOrd for RankedItem<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for RankedItem<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, T> Eq for RankedItem<K, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_and_of_equals_the_first() {
        let mut longest = LongestItems::new(3);
        for (size, name) in [(5, 'a'), (1, 'b'), (7, 'c'), (5, 'd'), (5, 'e')] {
            longest.add(size, name);
        }
        assert_eq!(longest.finish(), (5, vec!['c', 'a', 'd']));
        let mut none = LongestItems::new(0);
        none.add(1, 'a');
        assert_eq!(none.finish(), (1, vec![]));
    }
}
