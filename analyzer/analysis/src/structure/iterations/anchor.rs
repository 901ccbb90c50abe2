//! Finds the call that ends each iteration of a loop.
//!
//! Splitting the loop's visits after each occurrence of a symbol gives iterations. The best symbol is the one by which they are described in
//! the fewest bits: bits for the kind of each iteration, and for the differences between the kinds and the most common one. A function that is
//! called twice in each iteration therefore ends none, and the branches of a loop do not merge several iterations into one:
//!
//! ```text
//!   H D H B H D H B H D H B      split after B: H D H B | H D H B | …   one kind: no bits for the single iteration
//!                                split after H: H | D H | B H | …       two kinds that take turns: one bit for each
//!   H A R H A R H B R H A R      split after R: H A R | H A R | H B R   one bit for each
//!                                split after B: H A R H A R H B | …     as many bits in all, but many kinds that differ much
//! ```
//!
//! Every symbol that occurs once in each iteration is equally good. The last one before the loop is left is chosen.

use std::cmp::Reverse;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::iterations::counts::{count_each, count_in_visits};
use crate::structure::iterations::iteration_split::IterationSplit;
use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use crate::structure::iterations::window::{CallRole, CallWindow, TokenPair};

/// Number of symbols that are tried as anchors: some with each of the most popular counts. Symbols that occur equally often mostly take turns,
/// and then it does not matter which is tried.
const TRIED: usize = 16;
const TRIED_OF_A_COUNT: usize = 2;

/// Maximum number of iterations for which the code is looked at.
const MAX_ROUNDS: usize = 32;

#[derive(Debug)]
pub(super) struct AnchorChoice {
    pub anchor: SequenceSymbol,
    /// Symbols that occur exactly once in each iteration.
    pub core: Vec<SequenceSymbol>,
}

/// Chooses the end of the iterations of a loop with these `visits`, ranges of the sequence's parts, from `only` if given. Returns `None` if each
/// symbol also occurs within another.
pub(super) fn choose_anchor(
    sequence: &CallSequence,
    window: &CallWindow,
    visits: &[Range<usize>],
    only: Option<&[SequenceSymbol]>,
) -> Option<AnchorChoice> {
    let counts = count_in_visits(sequence, visits);
    let mut candidates = unmistakable_symbols(sequence, &counts);
    if let Some(only) = only {
        candidates.retain(|symbol| only.contains(symbol));
    }
    // A step makes as many calls that complete some of its requests as it takes.
    if candidates.iter().any(|&symbol| !is_partial_completion(sequence, window, symbol)) {
        candidates.retain(|&symbol| !is_partial_completion(sequence, window, symbol));
    }
    let tried = symbols_to_try(&candidates, &counts);
    let cuts = tried.iter().map(|&symbol| IterationSplit::split_after(sequence, visits, symbol, counts.len()));
    let mut cuts: Vec<IterationSplit> = cuts.collect();
    cuts.sort_by(|a, b| a.bits.total_cmp(&b.bits).then(b.iterations.cmp(&a.iterations)));
    let own = cuts.iter().position(|cut| !ends_inner_loop(sequence, window, visits, cut.symbol, &tried));
    let best = cuts.remove(own.or((!cuts.is_empty()).then_some(0))?);
    // If the loop is entered or left within an iteration, a symbol may be missing once per visit, or occur once more.
    let mut core: Vec<SequenceSymbol> = best
        .core(sequence)
        .into_iter()
        .filter(|symbol| counts[symbol].abs_diff(best.iterations) <= visits.len())
        .collect();
    if core.is_empty() {
        core.push(best.symbol);
    }
    candidates.retain(|symbol| core.binary_search(symbol).is_ok());
    let anchor = last_of(sequence, window, visits, &candidates).unwrap_or(best.symbol);
    Some(AnchorChoice { anchor, core })
}

/// Returns whether a symbol ends iterations of a loop in this one: the code goes around between two of them, and some of `others` lie outside of that.
fn ends_inner_loop(
    sequence: &CallSequence,
    window: &CallWindow,
    visits: &[Range<usize>],
    symbol: SequenceSymbol,
    others: &[SequenceSymbol],
) -> bool {
    let Some(&from) = sequence.tokens.get(symbol as usize) else { return false };
    let rounds = visits.iter().flat_map(move |visit| {
        let ended = sequence.parts[visit.clone()].split_inclusive(move |part| part.symbol == symbol).skip(1);
        ended.filter(move |round| round.last().is_some_and(|part| part.symbol == symbol))
    });
    rounds.take(MAX_ROUNDS).any(|round| {
        let turn = TokenPair { from, to: sequence.calls[round[0].calls().start].token };
        let mut missing = others.iter().filter(|&&other| round.iter().all(|part| part.symbol != other));
        missing.any(|&other| {
            let mut tokens = sequence.window_tokens(other);
            tokens.any(|token| (window.role_of)(turn, token) == Some(CallRole::Around))
        })
    })
}

fn is_partial_completion(sequence: &CallSequence, window: &CallWindow, symbol: SequenceSymbol) -> bool {
    sequence.window_tokens(symbol).all(window.is_partial_completion)
}

/// Returns the symbols whose tokens belong to no other symbol, ascending. Only these can be distinguished from the calls alone.
fn unmistakable_symbols(sequence: &CallSequence, counts: &FxHashMap<SequenceSymbol, usize>) -> Vec<SequenceSymbol> {
    let mut owners: FxHashMap<SequenceSymbol, usize> = FxHashMap::default();
    for &token in counts.keys().flat_map(|&symbol| sequence.tokens_of(symbol)) {
        *owners.entry(token).or_default() += 1;
    }
    let mut alone: Vec<SequenceSymbol> = counts
        .keys()
        .copied()
        .filter(|symbol| sequence.tokens_of(*symbol).iter().all(|token| owners[token] == 1))
        .collect();
    alone.sort_unstable();
    alone
}

fn symbols_to_try(candidates: &[SequenceSymbol], counts: &FxHashMap<SequenceSymbol, usize>) -> Vec<SequenceSymbol> {
    let mut by_count: FxHashMap<usize, Vec<SequenceSymbol>> = FxHashMap::default();
    for &symbol in candidates {
        by_count.entry(counts[&symbol]).or_default().push(symbol);
    }
    let mut by_count: Vec<(usize, Vec<SequenceSymbol>)> = by_count.into_iter().collect();
    by_count.sort_unstable_by_key(|(count, symbols)| Reverse((symbols.len(), *count)));
    let some = by_count.into_iter().flat_map(|(_, symbols)| symbols.into_iter().take(TRIED_OF_A_COUNT));
    some.take(TRIED).collect()
}

/// Returns the symbol that ends the iteration, out of symbols that take turns: the last before the loop is left; if the window does not show it,
/// the last before the symbol with which the loop is entered; else a collective, because all ranks reach its end; else the symbol after which
/// the rank computes longest.
fn last_of(
    sequence: &CallSequence,
    window: &CallWindow,
    visits: &[Range<usize>],
    candidates: &[SequenceSymbol],
) -> Option<SequenceSymbol> {
    let set: FxHashSet<SequenceSymbol> = candidates.iter().copied().collect();
    let visits_parts = visits.iter().map(|visit| &sequence.parts[visit.clone()]);
    let before_exits = visits_parts.clone().filter_map(|parts| {
        let is_left = window.whole_run || parts.last()?.calls().end < sequence.calls.len();
        in_set(parts, &set).next_back().filter(|_| is_left)
    });
    let before_entries = visits_parts.filter_map(|parts| {
        let is_entered = window.whole_run || 0 < parts.first()?.calls().start;
        let mut later = in_set(parts, &set);
        let first = later.next().filter(|_| is_entered)?;
        let again = later.position(|symbol| symbol == first)?;
        in_set(parts, &set).nth(again)
    });
    most_common(before_exits)
        .or_else(|| most_common(before_entries))
        .or_else(|| before_longest_computation(sequence, window, visits, candidates))
}

fn in_set(items: &[SequenceItem], set: &FxHashSet<SequenceSymbol>) -> impl DoubleEndedIterator<Item = SequenceSymbol> {
    items.iter().map(|item| item.symbol).filter(|symbol| set.contains(symbol))
}

fn most_common(symbols: impl Iterator<Item = SequenceSymbol>) -> Option<SequenceSymbol> {
    count_each(symbols).into_iter().max_by_key(|&(symbol, count)| (count, symbol)).map(|(symbol, _)| symbol)
}

fn before_longest_computation(
    sequence: &CallSequence,
    window: &CallWindow,
    visits: &[Range<usize>],
    candidates: &[SequenceSymbol],
) -> Option<SequenceSymbol> {
    let mut computation: FxHashMap<SequenceSymbol, u64> = candidates.iter().map(|&symbol| (symbol, 0)).collect();
    for pair in visits.iter().flat_map(|visit| sequence.parts[visit.clone()].windows(2)) {
        if let Some(sum) = computation.get_mut(&pair[0].symbol) {
            let next = sequence.calls[pair[1].calls().start].begin;
            *sum = sum.saturating_add(next.saturating_sub(sequence.end(&pair[0])));
        }
    }
    let best = computation.into_iter().max_by_key(|&(symbol, ticks)| {
        let is_collective = sequence.window_tokens(symbol).all(window.is_collective);
        (is_collective, ticks, symbol)
    });
    best.map(|(symbol, _)| symbol)
}
