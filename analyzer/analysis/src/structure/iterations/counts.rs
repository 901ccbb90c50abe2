//! Counts occurrences of symbols.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::sequence::{CallSequence, SequenceItem, SequenceSymbol};

/// Counts the occurrences of each symbol in the visits.
pub(super) fn counts(sequence: &CallSequence, visits: &[Range<usize>]) -> FxHashMap<SequenceSymbol, usize> {
    counted_in(sequence, &sequence.parts, visits)
}

/// Counts the occurrences of each symbol in sections of `items`.
pub(super) fn counted_in(
    sequence: &CallSequence,
    items: &[SequenceItem],
    sections: &[Range<usize>],
) -> FxHashMap<SequenceSymbol, usize> {
    let all = sections.iter().flat_map(|section| &items[section.clone()]);
    // A table of all symbols is quicker, but other sequences than those of programs may have as many symbols as items.
    if sections.iter().map(Range::len).sum::<usize>() < sequence.n_symbols() {
        return counted(all);
    }
    let mut counts = vec![0; sequence.n_symbols()];
    for item in all {
        counts[item.symbol as usize] += 1;
    }
    (0..).zip(counts).filter(|&(_, count)| count > 0).collect()
}

/// Counts the occurrences of each symbol among the items.
pub(super) fn counted<'a>(items: impl IntoIterator<Item = &'a SequenceItem>) -> FxHashMap<SequenceSymbol, usize> {
    let mut counts = FxHashMap::default();
    for item in items {
        *counts.entry(item.symbol).or_default() += 1;
    }
    counts
}
