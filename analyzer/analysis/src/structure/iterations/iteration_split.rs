//! Splits a loop's visits into iterations after each occurrence of a symbol, and counts the bits that describe these.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::structure::iterations::counts::count_each;
use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use lbprof_thresholds::loops::BITS_OF_VARYING_COUNT;

/// Maximum number of kinds of iterations that are distinguished; iterations of further kinds are spelt out. Loops have few kinds, sequences without
/// loops many.
const MOST_KINDS: usize = 1000;

/// Number of the most common kinds, with which others are compared.
const LISTED: usize = 8;

/// Factor for the hash of an iteration at each further symbol.
const FACTOR: u64 = 0x5851_f42d_4c95_7f2d;

pub(super) struct IterationSplit {
    pub symbol: SequenceSymbol,
    pub bits: f64,
    pub iterations: usize,
    /// By a hash of the symbols in an iteration.
    kinds: FxHashMap<u64, IterationKind>,
    /// In each visit, the parts up to the symbol's first occurrence, and the parts after its last one.
    heads: Vec<Range<usize>>,
    tails: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
struct IterationKind {
    count: usize,
    /// The parts of one of them.
    example: Range<usize>,
}

impl IterationSplit {
    /// Cuts `visits`, which hold `n_symbols` different symbols, after each `symbol`.
    pub fn split_after(
        sequence: &CallSequence,
        visits: &[Range<usize>],
        symbol: SequenceSymbol,
        n_symbols: usize,
    ) -> IterationSplit {
        let (heads, tails) = (Vec::with_capacity(visits.len()), Vec::with_capacity(visits.len()));
        let mut cut = IterationSplit { symbol, bits: 0.0, iterations: 0, kinds: FxHashMap::default(), heads, tails };
        let symbol_bits = (n_symbols as f64 + 1.0).log2();
        let spelt_out: usize = visits.iter().map(|visit| cut.add(&sequence.parts, visit)).sum();
        let whole: usize = cut.kinds.values().map(|kind| kind.count).sum();
        let listed = cut.listed(sequence);
        cut.bits = symbol_bits * (spelt_out + cut.differences(sequence, &listed)) as f64
            + cut.kinds.values().map(|kind| kind.count as f64 * (whole as f64 / kind.count as f64).log2()).sum::<f64>()
            + (listed.len().clamp(1, LISTED) as f64).log2() * (cut.heads.len() + cut.tails.len()) as f64
            + BITS_OF_VARYING_COUNT * cut.varying(sequence) as f64;
        cut
    }

    /// Adds the iterations of a visit. Returns the number of symbols that belong to none.
    fn add(&mut self, parts: &[SequenceItem], visit: &Range<usize>) -> usize {
        let mut spelt_out = 0;
        let (mut hash, mut from) = (0u64, visit.start);
        for at in visit.clone() {
            hash = hash.wrapping_mul(FACTOR).wrapping_add(mix_bits(parts[at].symbol));
            if parts[at].symbol != self.symbol {
                continue;
            }
            self.iterations += 1;
            if from == visit.start {
                self.heads.push(from..at + 1);
            } else if !self.count(hash, from..at + 1) {
                spelt_out += at + 1 - from;
            }
            (hash, from) = (0, at + 1);
        }
        if from == visit.start {
            spelt_out += visit.len()
        } else {
            self.tails.push(from..visit.end)
        }
        spelt_out
    }

    /// Counts a whole iteration. Returns whether its kind is known now.
    fn count(&mut self, hash: u64, example: Range<usize>) -> bool {
        if self.kinds.len() == MOST_KINDS && !self.kinds.contains_key(&hash) {
            return false;
        }
        self.kinds.entry(hash).or_insert(IterationKind { count: 0, example }).count += 1;
        true
    }

    fn listed(&self, sequence: &CallSequence) -> Vec<Vec<SequenceSymbol>> {
        let mut kinds: Vec<&IterationKind> = self.kinds.values().collect();
        kinds.sort_unstable_by_key(|kind| (Reverse(kind.count), kind.example.start));
        kinds.into_iter().map(|kind| symbols_in_range(sequence, &kind.example).collect()).collect()
    }

    /// Returns the number of symbols in which kinds, heads and tails differ from the most similar of the most common kinds.
    fn differences(&self, sequence: &CallSequence, listed: &[Vec<SequenceSymbol>]) -> usize {
        let common = &listed[..listed.len().min(LISTED)];
        let between_kinds = listed.iter().enumerate().map(|(idx, kind)| {
            common[..idx.min(LISTED)].iter().map(|other| count_differences(kind, other)).min().unwrap_or(0)
        });
        between_kinds.sum::<usize>()
            + self.heads.iter().map(|head| count_unshared(sequence, head, common, shared_end)).sum::<usize>()
            + self.tails.iter().map(|tail| count_unshared(sequence, tail, common, shared_begin)).sum::<usize>()
    }

    /// Returns the number of iterations that hold a symbol another number of times than most iterations that hold it.
    fn varying(&self, sequence: &CallSequence) -> usize {
        let kinds = self.kinds.values();
        let kinds: Vec<_> =
            kinds.map(|kind| (kind.count, count_each(symbols_in_range(sequence, &kind.example)))).collect();
        let mut numbers: FxHashMap<SequenceSymbol, FxHashMap<usize, usize>> = FxHashMap::default();
        for (count, kind) in &kinds {
            for (&symbol, &n) in kind {
                *numbers.entry(symbol).or_default().entry(n).or_default() += count;
            }
        }
        let mut usual: FxHashMap<SequenceSymbol, usize> = FxHashMap::default();
        for (&symbol, counts) in &numbers {
            let most_common = counts.iter().map(|(&n, &count)| (count, n)).max();
            usual.extend(most_common.map(|(_, n)| (symbol, n)));
        }
        let varying = kinds.iter().filter(|(_, kind)| kind.iter().any(|(symbol, n)| usual.get(symbol) != Some(n)));
        varying.map(|(count, _)| count).sum()
    }

    /// Returns the symbols that occur exactly once in each iteration that the window shows as a whole, ascending.
    pub fn core(&self, sequence: &CallSequence) -> Vec<SequenceSymbol> {
        let mut kinds = self.kinds.values().map(|kind| count_each(symbols_in_range(sequence, &kind.example)));
        let Some(first) = kinds.next() else { return vec![self.symbol] };
        let mut core: Vec<SequenceSymbol> =
            first.into_iter().filter(|&(_, n)| n == 1).map(|(symbol, _)| symbol).collect();
        for kind in kinds {
            core.retain(|symbol| kind.get(symbol) == Some(&1));
        }
        core.sort_unstable();
        core
    }
}

fn symbols_in_range(sequence: &CallSequence, range: &Range<usize>) -> impl Iterator<Item = SequenceSymbol> {
    sequence.parts[range.clone()].iter().map(|item| item.symbol)
}

/// Returns the number of symbols between the common start and end of two kinds of iterations.
fn count_differences(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    let begin = shared_begin(one, other);
    let end = shared_end(&one[begin..], &other[begin..]);
    one.len() + other.len() - 2 * (begin + end)
}

fn shared_begin(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Returns the number of symbols in a range that no kind shares, as `shared` counts them.
fn count_unshared(
    sequence: &CallSequence,
    range: &Range<usize>,
    kinds: &[Vec<SequenceSymbol>],
    shared: fn(&[SequenceSymbol], &[SequenceSymbol]) -> usize,
) -> usize {
    let symbols: Vec<SequenceSymbol> = symbols_in_range(sequence, range).collect();
    symbols.len() - kinds.iter().map(|kind| shared(&symbols, kind)).max().unwrap_or(0)
}

fn shared_end(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count()
}

fn mix_bits(symbol: SequenceSymbol) -> u64 {
    let z = (u64::from(symbol) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}
