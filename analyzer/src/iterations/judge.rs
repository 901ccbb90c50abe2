//! Whether a group of symbols is a loop, and which one.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::iterations::find::Window;
use crate::iterations::sequence::{Item, Loop, Sequence, Symbol, Visit};
use crate::iterations::{anchor, extras};

/// A loop runs at least so often in the window: two of a kind may be chance.
pub(super) const FEWEST_ITERATIONS: usize = 3;
/// A loop runs at least so often each time that it is entered, on average; else it is a part of what is around it.
const FEWEST_A_VISIT: usize = 2;
/// What a loop consists of occurs at least this often for each time that the most frequent part of it does: more than a third, for
/// a function may be called several times in an iteration; what is rarer belongs to variants of it.
const PART_OF_MOST: usize = 3;
/// An inner loop whose calls also occur outside of it, this often for each of its iterations, is none: its body is a
/// variant of what is around it.
const STRAYS: f64 = 0.2;

/// Replaces each loop among the disjoint `groups` of symbols by visits to it; says whether there is one.
pub(super) fn reduce(sequence: &mut Sequence, window: &Window, groups: &[Vec<Symbol>]) -> bool {
    let mut visits = Vec::new();
    for stretches in stretches(sequence, groups) {
        if let Some((found, parts)) = judge(sequence, window, &stretches) {
            let symbol = sequence.add(found);
            visits.extend(parts.into_iter().map(|(items, parts)| Visit { symbol, items, parts }));
        }
    }
    visits.sort_unstable_by_key(|visit| visit.items.start);
    sequence.contract(&visits);
    !visits.is_empty()
}

/// For each group, the stretches of items that consist of its tokens alone.
fn stretches(sequence: &Sequence, groups: &[Vec<Symbol>]) -> Vec<Vec<Range<usize>>> {
    let mut of_token: FxHashMap<Symbol, usize> = FxHashMap::default();
    for (group, symbols) in groups.iter().enumerate() {
        for &token in symbols.iter().flat_map(|&symbol| sequence.tokens_of(symbol)) {
            of_token.entry(token).or_insert(group);
        }
    }
    let of_symbol = |symbol: Symbol| {
        let tokens = sequence.tokens_of(symbol);
        let group = of_token.get(tokens.first()?)?;
        tokens.iter().all(|token| of_token.get(token) == Some(group)).then_some(*group)
    };
    let of_symbol: Vec<Option<usize>> = (0..sequence.n_symbols() as Symbol).map(of_symbol).collect();
    let mut stretches = vec![Vec::new(); groups.len()];
    let mut at = 0;
    for stretch in sequence.items.chunk_by(|a, b| of_symbol[a.symbol as usize] == of_symbol[b.symbol as usize]) {
        if let Some(group) = of_symbol[stretch[0].symbol as usize] {
            stretches[group].push(at..at + stretch.len());
        }
        at += stretch.len();
    }
    stretches
}

/// A visit: its range of items and its range of parts.
type Parts = (Range<usize>, Range<usize>);

/// The loop that runs in these stretches, with its visits; `None` where none does.
fn judge(sequence: &mut Sequence, window: &Window, stretches: &[Range<usize>]) -> Option<(Loop, Vec<Parts>)> {
    let visits = visits(sequence, stretches)?;
    let mut inlined: FxHashSet<Symbol> = strays(sequence, &visits);
    let parts = laid_out(sequence, &visits, &inlined);
    let mut only = None;
    let mut parts = parts;
    if let Some(inner) = longest_inner(sequence, &parts)
        && !extras::make_a_loop(sequence, window.whole_run, &parts, inner)
    {
        only = sequence.loop_of(inner).map(|inner| inner.core.clone());
        inlined.insert(inner);
        parts = laid_out(sequence, &visits, &inlined);
    }
    let chosen = match anchor::choose(sequence, window, &parts, only.as_deref()) {
        Some(chosen) => chosen,
        None => {
            inlined.extend(sequence.tokens.len() as Symbol..sequence.n_symbols() as Symbol);
            parts = laid_out(sequence, &visits, &inlined);
            anchor::choose(sequence, window, &parts, None)?
        }
    };
    let mut tokens: Vec<Symbol> =
        anchor::counts(sequence, &parts).keys().flat_map(|&symbol| sequence.tokens_of(symbol)).copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    let found = Loop { tokens, anchor: chosen.anchor, core: chosen.core, alike: chosen.alike };
    Some((found, visits.into_iter().zip(parts).collect()))
}

/// The stretches in which all that makes the loop occurs; `None` where there are too few iterations in them.
fn visits(sequence: &Sequence, stretches: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let mut counts: FxHashMap<Symbol, usize> = FxHashMap::default();
    for item in stretches.iter().flat_map(|stretch| &sequence.items[stretch.clone()]) {
        *counts.entry(item.symbol).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts.retain(|_, count| most <= PART_OF_MOST * *count);
    let n_core = counts.len();
    let mut visits = Vec::new();
    let mut iterations = 0;
    for stretch in stretches.iter().filter(|stretch| n_core <= stretch.len()) {
        let mut here: FxHashMap<Symbol, usize> = FxHashMap::default();
        for item in &sequence.items[stretch.clone()] {
            if counts.contains_key(&item.symbol) {
                *here.entry(item.symbol).or_default() += 1;
            }
        }
        if here.len() == n_core {
            iterations += here.values().copied().min().unwrap_or(0);
            visits.push(stretch.clone());
        }
    }
    (FEWEST_ITERATIONS.max(FEWEST_A_VISIT * visits.len()) <= iterations).then_some(visits)
}

/// The inner loops in the visits whose calls also occur beside them too often.
fn strays(sequence: &Sequence, visits: &[Range<usize>]) -> FxHashSet<Symbol> {
    let items = || visits.iter().flat_map(|visit| &sequence.items[visit.clone()]);
    let mut iterations: FxHashMap<Symbol, usize> = FxHashMap::default();
    let mut owners: FxHashMap<Symbol, Vec<Symbol>> = FxHashMap::default();
    let mut strays: FxHashMap<Symbol, usize> = FxHashMap::default();
    for item in items() {
        let Some(inner) = sequence.loop_of(item.symbol) else { continue };
        if !iterations.contains_key(&item.symbol) {
            inner.tokens.iter().for_each(|&token| owners.entry(token).or_default().push(item.symbol));
        }
        let anchors = sequence.parts[item.parts()].iter().filter(|part| part.symbol == inner.anchor).count();
        *iterations.entry(item.symbol).or_default() += anchors;
    }
    if iterations.is_empty() {
        return FxHashSet::default();
    }
    for (symbol, count) in counted(items()) {
        let near = sequence.tokens_of(symbol).iter().filter_map(|token| owners.get(token)).flatten();
        let near: FxHashSet<Symbol> = near.copied().filter(|&owner| owner != symbol).collect();
        near.into_iter().for_each(|owner| *strays.entry(owner).or_default() += count);
    }
    let many = |(&symbol, &count): (&Symbol, &usize)| STRAYS * iterations[&symbol] as f64 <= count as f64;
    strays.iter().filter(|&stray| many(stray)).map(|(&symbol, _)| symbol).collect()
}

fn counted<'a>(items: impl Iterator<Item = &'a Item>) -> FxHashMap<Symbol, usize> {
    let mut counts = FxHashMap::default();
    items.for_each(|item| *counts.entry(item.symbol).or_default() += 1);
    counts
}

/// Adds the visits' items to the parts, in place of visits to the `inlined` loops what these consist of; gives a range for each.
fn laid_out(sequence: &mut Sequence, visits: &[Range<usize>], inlined: &FxHashSet<Symbol>) -> Vec<Range<usize>> {
    let mut laid_out = Vec::with_capacity(visits.len());
    let mut pending = Vec::new();
    for visit in visits {
        let from = sequence.parts.len();
        for at in visit.clone() {
            pending.push(sequence.items[at]);
            while let Some(item) = pending.pop() {
                if inlined.contains(&item.symbol) {
                    pending.extend(sequence.parts[item.parts()].iter().rev());
                } else {
                    sequence.parts.push(item);
                }
            }
        }
        laid_out.push(from..sequence.parts.len());
    }
    laid_out
}

/// The inner loop that covers most of the time.
fn longest_inner(sequence: &Sequence, visits: &[Range<usize>]) -> Option<Symbol> {
    let mut times: FxHashMap<Symbol, u64> = FxHashMap::default();
    for item in visits.iter().flat_map(|visit| &sequence.parts[visit.clone()]) {
        if sequence.loop_of(item.symbol).is_some() {
            let time = times.entry(item.symbol).or_default();
            *time = time.saturating_add(sequence.time(item));
        }
    }
    times.into_iter().max_by_key(|&(symbol, time)| (time, symbol)).map(|(symbol, _)| symbol)
}
