//! Lists the loops that remain in a window.

use std::cmp::Reverse;
use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use crate::structure::iterations::patterns::found_loop::{FoundLoop, LoopAnchor};
use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use crate::structure::iterations::window::{CallInterval, CallWindow};
use lbprof_thresholds::loops::{
    MAX_HANDFUL_OF_ITERATIONS, MIN_FACTOR_OF_MAIN_LOOP, MIN_LOOP_COMPUTATION, MIN_LOOP_ITERATIONS,
};

/// Returns the loops of the window, each after the loop around it; the main one is the outermost loop that covers most time.
pub(in crate::structure::iterations) fn outline_loops(sequence: &CallSequence, window: &CallWindow) -> Vec<FoundLoop> {
    let mut visited: FxHashMap<SequenceSymbol, VisitSums> = FxHashMap::default();
    let mut pending: Vec<(SequenceItem, Option<SequenceSymbol>)> =
        sequence.items.iter().map(|&item| (item, None)).collect();
    while let Some((item, around)) = pending.pop() {
        let Some(found) = sequence.loop_of(item.symbol) else { continue };
        let parts = &sequence.parts[item.parts()];
        let time = sequence.time(&item);
        let sums = visited.entry(item.symbol).or_default();
        sums.iterations += parts.iter().filter(|part| part.symbol == found.anchor).count();
        sums.quick += count_quick_iterations(sequence, parts, found.anchor, window.spin);
        sums.time = sums.time.saturating_add(time);
        sums.computed = sums.computed.saturating_add(computation_between(&sequence.calls[item.calls()]));
        let there = sums.around.entry(around).or_default();
        *there = there.saturating_add(time);
        let inner = parts.iter().filter(|part| sequence.loop_of(part.symbol).is_some());
        pending.extend(inner.map(|&part| (part, Some(item.symbol))));
    }
    let least = MIN_LOOP_COMPUTATION * duration_of_calls(sequence.calls) as f64;
    let mut kept: Vec<(SequenceSymbol, VisitSums)> = visited.into_iter().collect();
    kept.retain(|(symbol, sums)| {
        let mut tokens = sequence.window_tokens(*symbol);
        let is_distribution = tokens.clone().all(window.is_distribution) && (sums.computed as f64) < least;
        let spins = tokens.all(window.may_spin) && sums.is_mostly_quick();
        !is_distribution && !spins
    });
    // A loop found later is around the loops found before, never inside of them.
    kept.sort_unstable_by_key(|(symbol, _)| Reverse(*symbol));
    let index: FxHashMap<SequenceSymbol, usize> = kept.iter().map(|(symbol, _)| *symbol).zip(0..).collect();
    let found = kept.iter().filter_map(|(symbol, sums)| Some((sums.found(sequence, *symbol, &index)?, sums.computed)));
    let (mut loops, computed): (Vec<FoundLoop>, Vec<u64>) = found.unzip();
    if let Some(main) = main_loop(&loops, &computed, least) {
        loops[main].main = true;
    }
    loops
}

fn sorted_tokens(tokens: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut tokens: Vec<u32> = tokens.collect();
    tokens.sort_unstable();
    tokens
}

/// Returns the outermost loop that covers most time, with a handful of iterations if there is one, so that it is no repeated set-up and no loop around
/// a few runs of the main work. A loop that mostly waits, e.g. a summary by collectives on cores that ranks share, is not chosen if another loop of at
/// least `least` ticks computes much more. `computed` are each loop's ticks outside of calls.
fn main_loop(loops: &[FoundLoop], computed: &[u64], least: f64) -> Option<usize> {
    let mut main =
        outermost_loops(loops).max_by_key(|&at| (loops[at].iterations >= MAX_HANDFUL_OF_ITERATIONS, loops[at].time))?;
    let least_computed = MIN_FACTOR_OF_MAIN_LOOP * computed[main].max(1);
    let computing = outermost_loops(loops).filter(|&at| {
        loops[at].iterations >= MAX_HANDFUL_OF_ITERATIONS
            && loops[at].time as f64 >= least
            && computed[at] >= least_computed
    });
    if let Some(computing) = computing.max_by_key(|&at| computed[at]) {
        main = computing;
    }
    while loops[main].iterations < MAX_HANDFUL_OF_ITERATIONS {
        let inner =
            (0..loops.len()).filter(|&at| loops[at].parent == Some(main) && 2 * loops[at].time >= loops[main].time);
        match inner.max_by_key(|&at| loops[at].time) {
            Some(inner) => main = inner,
            None => break,
        }
    }
    Some(main)
}

/// Returns the indices of the outermost loops with enough iterations.
fn outermost_loops(loops: &[FoundLoop]) -> impl Iterator<Item = usize> {
    (0..loops.len()).filter(move |&at| loops[at].parent.is_none() && MIN_LOOP_ITERATIONS <= loops[at].iterations)
}

/// Returns the ticks from the start of the first call to the end of the last.
fn duration_of_calls(calls: &[CallInterval]) -> u64 {
    calls.first().zip(calls.last()).map_or(0, |(first, last)| last.end.saturating_sub(first.begin))
}

fn computation_between(calls: &[CallInterval]) -> u64 {
    let in_calls = calls.iter().map(|call| call.end.saturating_sub(call.begin)).fold(0, u64::saturating_add);
    duration_of_calls(calls).saturating_sub(in_calls)
}

/// Returns the number of iterations of a visit with these parts that compute less than `ticks`.
fn count_quick_iterations(
    sequence: &CallSequence,
    parts: &[SequenceItem],
    anchor: SequenceSymbol,
    ticks: u64,
) -> usize {
    let mut computes = 0_u64;
    let mut quick = 0;
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let begin = sequence.calls[part.calls().start].begin;
        let gap = before.map_or(0, |before| begin.saturating_sub(sequence.end(before)));
        computes = computes.saturating_add(gap).saturating_add(computation_between(&sequence.calls[part.calls()]));
        if part.symbol == anchor {
            quick += usize::from(computes < ticks);
            computes = 0;
        }
    }
    quick
}

#[derive(Debug, Default)]
struct VisitSums {
    iterations: usize,
    time: u64,
    computed: u64,
    /// Iterations that hardly compute.
    quick: usize,
    around: FxHashMap<Option<SequenceSymbol>, u64>,
}

impl VisitSums {
    /// Returns whether at least nine tenths of its iterations hardly compute: a program that waits for events may work after each of them.
    fn is_mostly_quick(&self) -> bool {
        9 * self.iterations <= 10 * self.quick
    }

    fn found(
        &self,
        sequence: &CallSequence,
        symbol: SequenceSymbol,
        index: &FxHashMap<SequenceSymbol, usize>,
    ) -> Option<FoundLoop> {
        let found = sequence.loop_of(symbol)?;
        let (&around, _) = self.around.iter().max_by_key(|&(&around, &time)| (time, around))?;
        let run = sequence.loop_of(found.anchor).is_some();
        let core = found.core.iter().filter_map(|&one| sequence.tokens.get(one as usize).copied());
        Some(FoundLoop {
            parent: around.and_then(|around| index.get(&around).copied()),
            tokens: sorted_tokens(sequence.window_tokens(symbol)),
            anchor: LoopAnchor { tokens: sorted_tokens(sequence.window_tokens(found.anchor)), run },
            core: sorted_tokens(core),
            by_rhythm: found.by_rhythm,
            every: NonZeroU32::MIN,
            iterations: self.iterations,
            in_parent: None,
            time: self.time,
            main: false,
        })
    }
}
