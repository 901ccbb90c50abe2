//! Counts occurrences of symbols.

use std::hash::Hash;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::sequence::{CallSequence, SequenceItem, SequenceSymbol};

pub(super) fn count_in_visits(sequence: &CallSequence, visits: &[Range<usize>]) -> FxHashMap<SequenceSymbol, usize> {
    counted_in(sequence, &sequence.parts, visits)
}

pub(super) fn counted_in(
    sequence: &CallSequence,
    items: &[SequenceItem],
    sections: &[Range<usize>],
) -> FxHashMap<SequenceSymbol, usize> {
    let all = sections.iter().flat_map(|section| &items[section.clone()]);
    // A table of all symbols is quicker, but sequences other than a program's may have as many symbols as items.
    if sections.iter().map(Range::len).sum::<usize>() < sequence.n_symbols() {
        return count_each(all.map(|item| item.symbol));
    }
    let mut counts = vec![0; sequence.n_symbols()];
    for item in all {
        counts[item.symbol as usize] += 1;
    }
    (0..).zip(counts).filter(|&(_, count)| count > 0).collect()
}

pub(super) fn count_each<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> FxHashMap<K, usize> {
    let mut counts = FxHashMap::default();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}
