//! Splits a loop's visits into iterations after each occurrence of a symbol, and counts the bits that describe these.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::structure::iterations::counts::counted;
use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use lbprof_thresholds::loops::BITS_OF_VARYING_COUNT;

/// Kinds of iterations that are distinguished; those of further kinds are spelt out. Loops have few kinds, sequences without
/// loops many.
const MOST_KINDS: usize = 1000;

/// The most common kinds, with which others are compared.
const LISTED: usize = 8;

/// Factor for the hash of an iteration at each further symbol.
const FACTOR: u64 = 0x5851_f42d_4c95_7f2d;

/// The iterations that come of cutting after each occurrence of a symbol.
pub(super) struct IterationSplit {
    /// The symbol.
    pub symbol: SequenceSymbol,
    /// Number of bits that describe the visits.
    pub bits: f64,
    /// Occurrences of the symbol.
    pub iterations: usize,
    /// A hash of what an iteration consists of → how many there are, and the parts of one of them.
    kinds: FxHashMap<u64, IterationKind>,
    /// In each visit, the parts before the first whole iteration, up to the symbol, and those after the symbol's last occurrence.
    heads: Vec<(usize, usize)>,
    tails: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct IterationKind {
    count: usize,
    example: (usize, usize),
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

    /// Adds the iterations of a visit. Gives the number of symbols that belong to none.
    fn add(&mut self, parts: &[SequenceItem], visit: &Range<usize>) -> usize {
        let mut spelt_out = 0;
        let (mut hash, mut from) = (0u64, visit.start);
        for at in visit.clone() {
            hash = hash.wrapping_mul(FACTOR).wrapping_add(mixed(parts[at].symbol));
            if parts[at].symbol != self.symbol {
                continue;
            }
            self.iterations += 1;
            if from == visit.start {
                self.heads.push((from, at + 1));
            } else if !self.count(hash, (from, at + 1)) {
                spelt_out += at + 1 - from;
            }
            (hash, from) = (0, at + 1);
        }
        match from == visit.start {
            true => spelt_out += visit.len(),
            false => self.tails.push((from, visit.end)),
        }
        spelt_out
    }

    /// Counts a whole iteration; says whether its kind is known now.
    fn count(&mut self, hash: u64, example: (usize, usize)) -> bool {
        if self.kinds.len() == MOST_KINDS && !self.kinds.contains_key(&hash) {
            return false;
        }
        self.kinds.entry(hash).or_insert(IterationKind { count: 0, example }).count += 1;
        true
    }

    /// The kinds, as their symbols, the most common ones first.
    fn listed(&self, sequence: &CallSequence) -> Vec<Vec<SequenceSymbol>> {
        let mut kinds: Vec<IterationKind> = self.kinds.values().copied().collect();
        kinds.sort_unstable_by_key(|kind| (Reverse(kind.count), kind.example));
        kinds.into_iter().map(|kind| symbols(sequence, kind.example)).collect()
    }

    /// The symbols that are not described by saying how a kind or a beginning or an end is like one of the most common kinds.
    fn differences(&self, sequence: &CallSequence, listed: &[Vec<SequenceSymbol>]) -> usize {
        let common = &listed[..listed.len().min(LISTED)];
        let between_kinds = listed.iter().enumerate().map(|(idx, kind)| {
            common[..idx.min(LISTED)].iter().map(|other| difference(kind, other)).min().unwrap_or(0)
        });
        between_kinds.sum::<usize>()
            + self.heads.iter().map(|head| unshared(&symbols(sequence, *head), common, shared_end)).sum::<usize>()
            + self.tails.iter().map(|tail| unshared(&symbols(sequence, *tail), common, shared_begin)).sum::<usize>()
    }

    /// Returns the number of iterations that hold a symbol another number of times than most that hold it.
    fn varying(&self, sequence: &CallSequence) -> usize {
        let kinds: Vec<_> = self.kinds.values().map(|kind| (kind.count, kind.multiplicities(sequence))).collect();
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

    /// The symbols that occur exactly once in each iteration that the window shows as a whole; ascending.
    pub fn core(&self, sequence: &CallSequence) -> Vec<SequenceSymbol> {
        let mut kinds = self.kinds.values().map(|kind| kind.multiplicities(sequence));
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

impl IterationKind {
    fn multiplicities(&self, sequence: &CallSequence) -> FxHashMap<SequenceSymbol, usize> {
        counted(&sequence.parts[self.example.0..self.example.1])
    }
}

fn symbols(sequence: &CallSequence, range: (usize, usize)) -> Vec<SequenceSymbol> {
    sequence.parts[range.0..range.1].iter().map(|item| item.symbol).collect()
}

/// Returns the number of symbols between the common begin and end of two kinds of iterations.
fn difference(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    let begin = shared_begin(one, other);
    let end = shared_end(&one[begin..], &other[begin..]);
    one.len() + other.len() - 2 * (begin + end)
}

fn shared_begin(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Returns the number of symbols that no kind shares, as `shared` counts them.
fn unshared(
    symbols: &[SequenceSymbol],
    kinds: &[Vec<SequenceSymbol>],
    shared: fn(&[SequenceSymbol], &[SequenceSymbol]) -> usize,
) -> usize {
    symbols.len() - kinds.iter().map(|kind| shared(symbols, kind)).max().unwrap_or(0)
}

fn shared_end(one: &[SequenceSymbol], other: &[SequenceSymbol]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// A number by which hashes of different symbols differ.
fn mixed(symbol: SequenceSymbol) -> u64 {
    let z = (u64::from(symbol) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}
