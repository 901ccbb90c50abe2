//! The calls of a window while the search replaces the detected loops by single items.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::structure::interning::intern;
use crate::structure::iterations::window::CallInterval;

/// A token, numbered from 0 in the order of appearance, or a loop, numbered after all tokens.
pub(super) type SequenceSymbol = u32;

/// A call, or one visit to a loop: from its first call to its last.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceItem {
    pub symbol: SequenceSymbol,
    /// Its calls, as indices in the window.
    calls: (u32, u32),
    /// Parts of the visit, as indices of [`CallSequence::parts`]; empty for a call.
    parts: (u32, u32),
}

impl SequenceItem {
    pub fn parts(&self) -> Range<usize> {
        self.parts.0 as usize..self.parts.1 as usize
    }

    pub fn calls(&self) -> Range<usize> {
        self.calls.0 as usize..self.calls.1 as usize
    }
}

#[derive(Clone, Debug)]
pub(super) struct SequenceLoop {
    /// Tokens that occur inside; ascending.
    pub tokens: Vec<SequenceSymbol>,
    /// Loops inside, including nested ones.
    pub inner: FxHashSet<SequenceSymbol>,
    /// The token, or the loop whose visit, occurs once in each iteration and ends it.
    pub anchor: SequenceSymbol,
    /// Symbols that occur exactly once in each iteration, the anchor among them.
    pub core: Vec<SequenceSymbol>,
    /// True if nothing but its rhythm makes it a loop around an inner one.
    pub by_rhythm: bool,
}

/// The window's calls with the loops found so far put in place of their calls.
pub(super) struct CallSequence<'a> {
    pub calls: &'a [CallInterval],
    /// Token of each symbol below `tokens.len()`, as the window has it.
    pub tokens: Vec<u32>,
    /// The loops, as symbols from `tokens.len()` on.
    pub loops: Vec<SequenceLoop>,
    pub items: Vec<SequenceItem>,
    /// Parts of the visits: each visit is a range of it.
    pub parts: Vec<SequenceItem>,
    /// 0, 1, 2 …, so that a token's tokens are a slice as a loop's are.
    identity: Vec<SequenceSymbol>,
}

impl<'a> CallSequence<'a> {
    pub fn new(calls: &'a [CallInterval]) -> CallSequence<'a> {
        let mut numbers = FxHashMap::default();
        let mut tokens = Vec::new();
        let items = (0u32..).zip(calls).map(|(at, step)| {
            let symbol = intern(&mut numbers, &mut tokens, step.token);
            SequenceItem { symbol, calls: (at, at + 1), parts: (0, 0) }
        });
        let items = items.collect();
        let identity = (0..tokens.len() as SequenceSymbol).collect();
        CallSequence { calls, tokens, loops: Vec::new(), items, parts: Vec::new(), identity }
    }

    pub fn n_symbols(&self) -> usize {
        self.tokens.len() + self.loops.len()
    }

    pub fn loop_of(&self, symbol: SequenceSymbol) -> Option<&SequenceLoop> {
        self.loops.get((symbol as usize).checked_sub(self.tokens.len())?)
    }

    pub fn tokens_of(&self, symbol: SequenceSymbol) -> &[SequenceSymbol] {
        match self.loop_of(symbol) {
            Some(inner) => &inner.tokens,
            None => &self.identity[symbol as usize..symbol as usize + 1],
        }
    }

    pub fn window_tokens(&self, symbol: SequenceSymbol) -> impl Iterator<Item = u32> + Clone {
        self.tokens_of(symbol).iter().map(|&token| self.tokens[token as usize])
    }

    /// Returns the ticks from the start of an item's first call to the end of its last.
    pub fn time(&self, item: &SequenceItem) -> u64 {
        self.end(item).saturating_sub(self.calls[item.calls.0 as usize].begin)
    }

    pub fn end(&self, item: &SequenceItem) -> u64 {
        self.calls[item.calls.1 as usize - 1].end
    }

    pub fn add(&mut self, found: SequenceLoop) -> SequenceSymbol {
        self.loops.push(found);
        self.n_symbols() as SequenceSymbol - 1
    }

    /// Replaces each of these sections of items, which are disjoint and in order, by a visit.
    pub fn contract(&mut self, visits: &[LoopVisit]) {
        let mut contracted = Vec::with_capacity(self.items.len());
        let mut at = 0;
        for visit in visits {
            let section = &self.items[visit.items.clone()];
            let calls = (section[0].calls.0, section[section.len() - 1].calls.1);
            contracted.extend_from_slice(&self.items[at..visit.items.start]);
            contracted.push(SequenceItem {
                symbol: visit.symbol,
                calls,
                parts: (visit.parts.start as u32, visit.parts.end as u32),
            });
            at = visit.items.end;
        }
        contracted.extend_from_slice(&self.items[at..]);
        self.items = contracted;
    }
}

#[derive(Clone, Debug)]
pub(super) struct LoopVisit {
    pub symbol: SequenceSymbol,
    pub items: Range<usize>,
    /// Parts of the visit, as a range of [`CallSequence::parts`].
    pub parts: Range<usize>,
}
