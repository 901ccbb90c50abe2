//! The largest of many items, in bounded memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bincode::{Decode, Encode};

/// Keeps the largest items; of equal ones the first.
#[derive(Clone, Debug)]
pub(super) struct LongestItems<K, T> {
    most: usize,
    seen: u64,
    /// By size and by when they came; the largest first.
    kept: BTreeMap<(Reverse<K>, u64), T>,
}

/// The largest items of a segment of the run, in the order in which they came, and the number of all items.
#[derive(Encode, Decode)]
pub(super) struct LongestOfSegment<K, T> {
    seen: u64,
    kept: Vec<(K, T)>,
}

impl<K: Ord + Copy, T> LongestItems<K, T> {
    pub(super) fn new(most: usize) -> Self {
        LongestItems { most, seen: 0, kept: BTreeMap::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, size: K, value: T) {
        self.seen += 1;
        if self.kept.len() >= self.most {
            if self.kept.last_key_value().is_none_or(|((Reverse(least), _), _)| size <= *least) {
                return;
            }
            self.kept.pop_last();
        }
        self.kept.insert((Reverse(size), self.seen), value);
    }

    pub(super) fn of_segment(self) -> LongestOfSegment<K, T> {
        let mut kept: Vec<((Reverse<K>, u64), T)> = self.kept.into_iter().collect();
        kept.sort_unstable_by_key(|((_, at), _)| *at);
        LongestOfSegment { seen: self.seen, kept: kept.into_iter().map(|((size, _), value)| (size.0, value)).collect() }
    }

    pub(super) fn join(&mut self, later: LongestOfSegment<K, T>) {
        let seen = self.seen + later.seen;
        for (size, value) in later.kept {
            self.add(size, value);
        }
        self.seen = seen;
    }

    /// Returns the number of items, and the largest of them, in descending order.
    pub(super) fn finish(self) -> (u64, Vec<T>) {
        (self.seen, self.kept.into_values().collect())
    }
}

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
