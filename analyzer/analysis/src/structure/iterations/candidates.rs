//! Groups of symbols that may be the body of a loop.
//!
//! There are two searches: for sections that repeat themselves at once, `F R F R F R`, which finds bodies of fixed order with any number of
//! repetitions, and for cycles in the graph of followers, which finds bodies with branches. In the graph, inner loops have larger counts:
//!
//! ```text
//!   S1 S2 S3 S1 S2 S3 … E S1 S2 S3 …        S1 ─100→ S2 ─100→ S3 ─96→ S1       at least 50: {S1, S2, S3}
//!                                           S3 ─4→ E ─4→ S1                    at least 2:  {S1, S2, S3, E}
//! ```

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::iterations::counts::count_each;
use crate::structure::iterations::sequence::{SequenceItem, SequenceSymbol};

/// Disjoint groups of symbols.
pub(super) type SymbolGroups = Vec<Vec<SequenceSymbol>>;

/// Returns the bodies of `period` items that are repeated at least once right away, in the order of the items that they cover, without bodies
/// that share symbols with an earlier one.
pub(super) fn repeated_bodies(items: &[SequenceItem], period: usize) -> SymbolGroups {
    let mut covered: FxHashMap<Vec<SequenceSymbol>, usize> = FxHashMap::default();
    let mut run = 0;
    for at in period..=items.len() {
        if items.get(at).is_some_and(|item| item.symbol == items[at - period].symbol) {
            run += 1;
            continue;
        }
        if period <= run {
            let mut body: Vec<SequenceSymbol> = items[at - period..at].iter().map(|item| item.symbol).collect();
            body.sort_unstable();
            body.dedup();
            *covered.entry(body).or_default() += run + period;
        }
        run = 0;
    }
    let mut bodies: Vec<(Vec<SequenceSymbol>, usize)> = covered.into_iter().collect();
    bodies.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut taken = FxHashSet::default();
    bodies.retain(|(body, _)| {
        let free = body.iter().all(|symbol| !taken.contains(symbol));
        if free {
            taken.extend(body.iter().copied());
        }
        free
    });
    bodies.into_iter().map(|(body, _)| body).collect()
}

pub(super) struct FollowerCounts(Vec<((SequenceSymbol, SequenceSymbol), usize)>);

impl FollowerCounts {
    pub fn count(items: &[SequenceItem]) -> FollowerCounts {
        let counts = count_each(items.windows(2).map(|pair| (pair[0].symbol, pair[1].symbol)));
        let mut counts: Vec<_> = counts.into_iter().filter(|&(_, n)| n >= 2).collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        FollowerCounts(counts)
    }

    /// Returns the number of occurrences of the most common pair, or 0 if no pair occurs twice.
    pub fn most(&self) -> usize {
        self.0.first().map_or(0, |&(_, n)| n)
    }

    pub fn cycles(&self, least: usize) -> SymbolGroups {
        let pairs = &self.0[..self.0.partition_point(|&(_, n)| n >= least)];
        let graph: DiGraphMap<SequenceSymbol, ()> = pairs.iter().map(|&(pair, _)| pair).collect();
        let mut cycles = kosaraju_scc(&graph);
        cycles.retain(|group| group.len() > 1 || group.iter().any(|&one| graph.contains_edge(one, one)));
        for group in cycles.iter_mut() {
            group.sort_unstable();
        }
        cycles.sort_unstable();
        cycles
    }
}
