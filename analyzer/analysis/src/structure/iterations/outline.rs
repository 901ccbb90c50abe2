//! Lists the loops that remain in a window.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use crate::structure::iterations::found_loop::{FoundLoop, LoopAnchor};
use crate::structure::iterations::sequence::{CallSequence, SequenceItem, SequenceSymbol};
use crate::structure::iterations::window::{CallInterval, CallWindow};
use lbprof_thresholds::loops::{
    MAX_HANDFUL_OF_ITERATIONS, MIN_FACTOR_OF_MAIN_LOOP, MIN_LOOP_COMPUTATION, MIN_LOOP_ITERATIONS,
};

/// The loops of the window, each after the loop around it; the main one is the outermost loop that covers most time.
pub(super) fn loops(sequence: &CallSequence, window: &CallWindow) -> Vec<FoundLoop> {
    let mut visited = VisitOutline::default();
    let mut pending: Vec<(SequenceItem, Option<SequenceSymbol>)> =
        sequence.items.iter().map(|&item| (item, None)).collect();
    let mut order = Vec::new();
    while let Some((item, around)) = pending.pop() {
        let Some(found) = sequence.loop_of(item.symbol) else { continue };
        let parts = &sequence.parts[item.parts()];
        let iterations = parts.iter().filter(|part| part.symbol == found.anchor).count();
        let sums = VisitSums {
            iterations,
            time: sequence.time(&item),
            computed: computed(&sequence.calls[item.calls()]),
            quick: quick(sequence, parts, found.anchor, window.spin),
            around: FxHashMap::default(),
        };
        if visited.add(item.symbol, around, &sums) {
            order.push(item.symbol);
        }
        let inner = parts.iter().filter(|part| sequence.loop_of(part.symbol).is_some());
        pending.extend(inner.map(|&part| (part, Some(item.symbol))));
    }
    let least = MIN_LOOP_COMPUTATION * time(sequence.calls) as f64;
    order.retain(|&symbol| {
        let mut tokens = sequence.tokens_of(symbol).iter().map(|&token| sequence.tokens[token as usize]);
        let is_distribution = tokens.clone().all(window.is_distribution) && (visited.computed(symbol) as f64) < least;
        let spins = tokens.all(window.may_spin) && visited.is_mostly_quick(symbol);
        !is_distribution && !spins
    });
    // A loop found later is around those found before, never inside of them.
    order.sort_unstable_by(|a, b| b.cmp(a));
    let index: FxHashMap<SequenceSymbol, usize> = order.iter().copied().zip(0..).collect();
    let found = order
        .iter()
        .filter_map(|&symbol| visited.found(sequence, symbol, &index).map(|found| (found, visited.computed(symbol))));
    let (mut loops, computed): (Vec<FoundLoop>, Vec<u64>) = found.unzip();
    if let Some(main) = main_loop(&loops, &computed, least) {
        loops[main].main = true;
    }
    loops
}

/// Returns the tokens of the window that these symbols stand for, ascending.
fn window_tokens(sequence: &CallSequence, symbols: &[SequenceSymbol]) -> Vec<u32> {
    let mut tokens: Vec<u32> = symbols.iter().map(|&symbol| sequence.tokens[symbol as usize]).collect();
    tokens.sort_unstable();
    tokens
}

/// Returns the outermost loop that covers most time, with a handful of iterations if there is one: not what is done a few times to set up, nor what
/// does a few times what the program does mainly. Nor is it what waits longest, as a summary by collectives does on cores that ranks share, where another
/// loop of at least `least` ticks computes much more: `computed` are the ticks outside of calls of each.
fn main_loop(loops: &[FoundLoop], computed: &[u64], least: f64) -> Option<usize> {
    let mut main =
        outermost(loops).max_by_key(|&at| (loops[at].iterations >= MAX_HANDFUL_OF_ITERATIONS, loops[at].time))?;
    let least_computed = MIN_FACTOR_OF_MAIN_LOOP * computed[main].max(1);
    let computing = outermost(loops).filter(|&at| {
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

/// Returns the indices of the loops that no other one is around, with enough iterations.
fn outermost(loops: &[FoundLoop]) -> impl Iterator<Item = usize> {
    (0..loops.len()).filter(move |&at| loops[at].parent.is_none() && MIN_LOOP_ITERATIONS <= loops[at].iterations)
}

/// Ticks from the begin of the first call to the end of the last.
fn time(calls: &[CallInterval]) -> u64 {
    calls.first().zip(calls.last()).map_or(0, |(first, last)| last.end.saturating_sub(first.begin))
}

/// Ticks of these outside of calls.
fn computed(calls: &[CallInterval]) -> u64 {
    let in_calls = calls.iter().map(|call| call.end.saturating_sub(call.begin)).fold(0, u64::saturating_add);
    time(calls).saturating_sub(in_calls)
}

/// Returns the number of iterations of a visit with these parts that compute less than so many ticks.
fn quick(sequence: &CallSequence, parts: &[SequenceItem], anchor: SequenceSymbol, ticks: u64) -> usize {
    let mut computes = 0_u64;
    let mut quick = 0;
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let begin = sequence.calls[part.calls().start].begin;
        let gap = before.map_or(0, |before| begin.saturating_sub(sequence.end(before)));
        computes = computes.saturating_add(gap).saturating_add(computed(&sequence.calls[part.calls()]));
        if part.symbol == anchor {
            quick += usize::from(computes < ticks);
            computes = 0;
        }
    }
    quick
}

/// The sums of the visits to each loop.
#[derive(Debug, Default)]
struct VisitOutline(FxHashMap<SequenceSymbol, VisitSums>);

#[derive(Debug, Default)]
struct VisitSums {
    iterations: usize,
    time: u64,
    computed: u64,
    /// Iterations that hardly compute.
    quick: usize,
    around: FxHashMap<Option<SequenceSymbol>, u64>,
}

impl VisitOutline {
    /// Says whether it is the loop's first visit.
    fn add(&mut self, symbol: SequenceSymbol, around: Option<SequenceSymbol>, visit: &VisitSums) -> bool {
        let first = !self.0.contains_key(&symbol);
        let sums = self.0.entry(symbol).or_default();
        sums.iterations += visit.iterations;
        sums.quick += visit.quick;
        sums.time = sums.time.saturating_add(visit.time);
        sums.computed = sums.computed.saturating_add(visit.computed);
        let there = sums.around.entry(around).or_default();
        *there = there.saturating_add(visit.time);
        first
    }

    /// Ticks outside of calls.
    fn computed(&self, symbol: SequenceSymbol) -> u64 {
        self.0.get(&symbol).map_or(0, |sums| sums.computed)
    }

    /// Returns whether at least nine tenths of its iterations hardly compute: between two times that something has happened, a program that
    /// waits for it may work.
    fn is_mostly_quick(&self, symbol: SequenceSymbol) -> bool {
        self.0.get(&symbol).is_some_and(|sums| 9 * sums.iterations <= 10 * sums.quick)
    }

    fn found(
        &self,
        sequence: &CallSequence,
        symbol: SequenceSymbol,
        index: &FxHashMap<SequenceSymbol, usize>,
    ) -> Option<FoundLoop> {
        let sums = self.0.get(&symbol)?;
        let found = sequence.loop_of(symbol)?;
        let (&around, _) = sums.around.iter().max_by_key(|&(&around, &time)| (time, around))?;
        let run = sequence.loop_of(found.anchor).is_some();
        let mut core: Vec<u32> =
            found.core.iter().filter_map(|&one| sequence.tokens.get(one as usize).copied()).collect();
        core.sort_unstable();
        Some(FoundLoop {
            parent: around.and_then(|around| index.get(&around).copied()),
            tokens: window_tokens(sequence, &found.tokens),
            anchor: LoopAnchor { tokens: window_tokens(sequence, sequence.tokens_of(found.anchor)), run },
            core,
            by_rhythm: found.by_rhythm,
            every: NonZeroU32::MIN,
            iterations: sums.iterations,
            in_parent: None,
            time: sums.time,
            main: false,
        })
    }
}
