//! Decides whether a group of symbols is a loop, and identifies it.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::iterations::anchor::{self, AnchorChoice};
use crate::structure::iterations::counts::{count_in_visits, counted_in};
use crate::structure::iterations::extras::{self, SurroundingItems};
use crate::structure::iterations::sequence::{CallSequence, LoopVisit, SequenceLoop, SequenceSymbol};
use crate::structure::iterations::window::CallWindow;
use lbprof_thresholds::loops::{
    MAX_RARITY_OF_LOOP_PARTS, MAX_STRAY_CALLS_OF_INNER_LOOP, MIN_ITERATIONS_PER_VISIT, MIN_LOOP_ITERATIONS,
};

/// Replaces each loop among the disjoint `groups` of symbols by visits to it. Returns whether there is one.
pub(super) fn replace_loops(sequence: &mut CallSequence, window: &CallWindow, groups: &[Vec<SequenceSymbol>]) -> bool {
    let mut visits = Vec::new();
    for (group, sections) in groups.iter().zip(group_sections(sequence, groups)) {
        if let Some((found, parts)) = judge_group(sequence, window, group, &sections) {
            let symbol = sequence.add(found);
            visits.extend(parts.into_iter().map(|(items, parts)| LoopVisit { symbol, items, parts }));
        }
    }
    visits.sort_unstable_by_key(|visit| visit.items.start);
    sequence.contract(&visits);
    !visits.is_empty()
}

/// Returns for each group the sections of items that consist of its tokens alone.
fn group_sections(sequence: &CallSequence, groups: &[Vec<SequenceSymbol>]) -> Vec<Vec<Range<usize>>> {
    let mut of_token: FxHashMap<SequenceSymbol, usize> = FxHashMap::default();
    for (group, symbols) in groups.iter().enumerate() {
        for &token in symbols.iter().flat_map(|&symbol| sequence.tokens_of(symbol)) {
            of_token.entry(token).or_insert(group);
        }
    }
    let of_symbol: Vec<Option<usize>> = (0..sequence.n_symbols() as SequenceSymbol)
        .map(|symbol| {
            let tokens = sequence.tokens_of(symbol);
            let group = of_token.get(tokens.first()?)?;
            tokens.iter().all(|token| of_token.get(token) == Some(group)).then_some(*group)
        })
        .collect();
    let mut sections = vec![Vec::new(); groups.len()];
    let mut at = 0;
    for section in sequence.items.chunk_by(|a, b| of_symbol[a.symbol as usize] == of_symbol[b.symbol as usize]) {
        if let Some(group) = of_symbol[section[0].symbol as usize] {
            sections[group].push(at..at + section.len());
        }
        at += section.len();
    }
    sections
}

/// A visit: its range of items and its range of parts.
type VisitRanges = (Range<usize>, Range<usize>);

/// Returns the loop that runs in the sections of a group, with its visits, or `None` if none does.
fn judge_group(
    sequence: &mut CallSequence,
    window: &CallWindow,
    group: &[SequenceSymbol],
    sections: &[Range<usize>],
) -> Option<(SequenceLoop, Vec<VisitRanges>)> {
    let visits = loop_visits(sequence, group, sections)?;
    let mut layout = PartLayout { from: sequence.parts.len(), inlined: FxHashSet::default() };
    let mut parts = layout.lay_out(sequence, &visits);
    while let Some(stray) = stray_inner_loop(sequence, &parts) {
        layout.inlined.insert(stray);
        parts = layout.lay_out(sequence, &visits);
    }
    let mut only = None;
    let mut by_rhythm = false;
    if let Some(inner) = longest_inner(sequence, &parts) {
        match extras::classify_surroundings(sequence, window, &parts, inner) {
            SurroundingItems::Loop => {}
            SurroundingItems::Rhythm => by_rhythm = true,
            SurroundingItems::Extras => return None,
            SurroundingItems::Variants => {
                only = sequence.loop_of(inner).map(|inner| inner.core.clone());
                layout.inlined.insert(inner);
                parts = layout.lay_out(sequence, &visits);
            }
        }
    }
    let chosen = match anchor::choose_anchor(sequence, window, &parts, only.as_deref()) {
        Some(chosen) => chosen,
        None => {
            layout.inlined.extend(sequence.tokens.len() as SequenceSymbol..sequence.n_symbols() as SequenceSymbol);
            parts = layout.lay_out(sequence, &visits);
            anchor::choose_anchor(sequence, window, &parts, None)?
        }
    };
    let mut found: Vec<VisitRanges> = visits.into_iter().zip(parts).collect();
    found.extend(layout.further(sequence, sections, &found, &chosen.core));
    found.sort_unstable_by_key(|(items, _)| items.start);
    let parts: Vec<Range<usize>> = found.iter().map(|(_, parts)| parts.clone()).collect();
    Some((SequenceLoop { by_rhythm, ..loop_of_visits(sequence, &parts, chosen) }, found))
}

fn loop_of_visits(sequence: &CallSequence, parts: &[Range<usize>], chosen: AnchorChoice) -> SequenceLoop {
    let counts = count_in_visits(sequence, parts);
    let mut tokens: Vec<SequenceSymbol> =
        counts.keys().flat_map(|&symbol| sequence.tokens_of(symbol)).copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    let mut inner: FxHashSet<SequenceSymbol> = FxHashSet::default();
    for &symbol in counts.keys() {
        if let Some(found) = sequence.loop_of(symbol) {
            inner.extend(found.inner.iter().chain([&symbol]));
        }
    }
    SequenceLoop { tokens, inner, anchor: chosen.anchor, core: chosen.core, by_rhythm: false }
}

/// Returns the sections in which all parts of the loop occur, or `None` if they have too few iterations.
fn loop_visits(
    sequence: &CallSequence,
    group: &[SequenceSymbol],
    sections: &[Range<usize>],
) -> Option<Vec<Range<usize>>> {
    let mut counts = counted_in(sequence, &sequence.items, sections);
    let group: FxHashSet<SequenceSymbol> = group.iter().copied().collect();
    counts.retain(|symbol, _| group.contains(symbol));
    let most = counts.values().copied().max()?;
    counts.retain(|_, count| most <= MAX_RARITY_OF_LOOP_PARTS * *count);
    let places: FxHashMap<SequenceSymbol, usize> = counts.into_keys().zip(0..).collect();
    let mut visits = Vec::new();
    let mut iterations = 0;
    let mut here = vec![0; places.len()];
    for section in sections.iter().filter(|section| places.len() <= section.len()) {
        here.fill(0);
        for place in sequence.items[section.clone()].iter().filter_map(|item| places.get(&item.symbol)) {
            here[*place] += 1;
        }
        let fewest = here.iter().copied().min().unwrap_or(0);
        if fewest > 0 || places.is_empty() {
            iterations += fewest;
            visits.push(section.clone());
        }
    }
    (MIN_LOOP_ITERATIONS.max(MIN_ITERATIONS_PER_VISIT * visits.len()) <= iterations).then_some(visits)
}

/// Returns an inner loop whose calls also occur beside it too often, the one found last, which may contain others.
fn stray_inner_loop(sequence: &CallSequence, visits: &[Range<usize>]) -> Option<SequenceSymbol> {
    let mut iterations: FxHashMap<SequenceSymbol, usize> = FxHashMap::default();
    let mut owners: FxHashMap<SequenceSymbol, Vec<SequenceSymbol>> = FxHashMap::default();
    for item in visits.iter().flat_map(|visit| &sequence.parts[visit.clone()]) {
        let Some(inner) = sequence.loop_of(item.symbol) else { continue };
        if !iterations.contains_key(&item.symbol) {
            for &token in inner.tokens.iter() {
                owners.entry(token).or_default().push(item.symbol);
            }
        }
        let anchors = sequence.parts[item.parts()].iter().filter(|part| part.symbol == inner.anchor).count();
        *iterations.entry(item.symbol).or_default() += anchors;
    }
    if iterations.is_empty() {
        return None;
    }
    let mut strays: FxHashMap<SequenceSymbol, usize> = FxHashMap::default();
    for (symbol, count) in count_in_visits(sequence, visits) {
        let inner = sequence.loop_of(symbol).map(|found| &found.inner);
        let near = sequence.tokens_of(symbol).iter().filter_map(|token| owners.get(token)).flatten().copied();
        for owner in near.filter(|owner| *owner != symbol && !inner.is_some_and(|inner| inner.contains(owner))) {
            let most: &mut usize = strays.entry(owner).or_default();
            *most = count.max(*most);
        }
    }
    strays
        .into_iter()
        .filter(|&(symbol, count)| MAX_STRAY_CALLS_OF_INNER_LOOP * iterations[&symbol] as f64 <= count as f64)
        .map(|(symbol, _)| symbol)
        .max()
}

/// The layout of visits as parts: the parts of `inlined` loops replace the visits to them.
struct PartLayout {
    /// Start of the visits' parts, after the parts of other loops.
    from: usize,
    inlined: FxHashSet<SequenceSymbol>,
}

impl PartLayout {
    /// Lays out the parts of visits, in place of earlier ones, and returns a range for each visit.
    fn lay_out(&self, sequence: &mut CallSequence, visits: &[Range<usize>]) -> Vec<Range<usize>> {
        sequence.parts.truncate(self.from);
        visits.iter().map(|visit| self.add(sequence, visit)).collect()
    }

    fn add(&self, sequence: &mut CallSequence, visit: &Range<usize>) -> Range<usize> {
        let from = sequence.parts.len();
        let mut pending = Vec::new();
        for at in visit.clone() {
            pending.push(sequence.items[at]);
            while let Some(item) = pending.pop() {
                if self.inlined.contains(&item.symbol) {
                    pending.extend(sequence.parts[item.parts()].iter().rev());
                } else {
                    sequence.parts.push(item);
                }
            }
        }
        from..sequence.parts.len()
    }

    /// Finds further sections beside the `known` visits that hold the whole core: a visit of few iterations may lack the rest.
    fn further(
        &self,
        sequence: &mut CallSequence,
        sections: &[Range<usize>],
        known: &[VisitRanges],
        core: &[SequenceSymbol],
    ) -> Vec<VisitRanges> {
        let known: FxHashSet<usize> = known.iter().map(|(items, _)| items.start).collect();
        let mut further = Vec::new();
        for section in sections.iter().filter(|section| !known.contains(&section.start)) {
            let parts = self.add(sequence, section);
            let symbols: FxHashSet<SequenceSymbol> =
                sequence.parts[parts.clone()].iter().map(|part| part.symbol).collect();
            if core.iter().all(|symbol| symbols.contains(symbol)) {
                further.push((section.clone(), parts));
            } else {
                sequence.parts.truncate(parts.start);
            }
        }
        further
    }
}

fn longest_inner(sequence: &CallSequence, visits: &[Range<usize>]) -> Option<SequenceSymbol> {
    let mut times: FxHashMap<SequenceSymbol, u64> = FxHashMap::default();
    for item in visits.iter().flat_map(|visit| &sequence.parts[visit.clone()]) {
        if sequence.loop_of(item.symbol).is_some() {
            let time = times.entry(item.symbol).or_default();
            *time = time.saturating_add(sequence.time(item));
        }
    }
    times.into_iter().max_by_key(|&(symbol, time)| (time, symbol)).map(|(symbol, _)| symbol)
}
