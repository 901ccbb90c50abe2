//! How often symbols occur.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::sequence::{CallSequence, SequenceItem, SequenceSymbol};

/// How often each symbol occurs in the visits.
pub(super) fn counts(sequence: &CallSequence, visits: &[Range<usize>]) -> FxHashMap<SequenceSymbol, usize> {
    counted_in(sequence, &sequence.parts, visits)
}

/// How often each symbol occurs in sections of `items`.
pub(super) fn counted_in(
    sequence: &CallSequence,
    items: &[SequenceItem],
    sections: &[Range<usize>],
) -> FxHashMap<SequenceSymbol, usize> {
    let all = || sections.iter().flat_map(|section| &items[section.clone()]);
    // A table of all symbols is quicker, but other sequences than those of programs may have as many symbols as items.
    if sections.iter().map(Range::len).sum::<usize>() < sequence.n_symbols() {
        return counted(all());
    }
    let mut counts = vec![0; sequence.n_symbols()];
    all().for_each(|item| counts[item.symbol as usize] += 1);
    (0..).zip(counts).filter(|&(_, count)| count > 0).collect()
}

/// How often each symbol occurs among the items.
pub(super) fn counted<'a>(items: impl IntoIterator<Item = &'a SequenceItem>) -> FxHashMap<SequenceSymbol, usize> {
    let mut counts = FxHashMap::default();
    items.into_iter().for_each(|item| *counts.entry(item.symbol).or_default() += 1);
    counts
}
