//! The loops in a rank's calls, found from the calls alone.

use std::collections::HashMap;

/// One MPI call of the rank's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation, call site and communicator, as one number; small numbers, for there is a table over them.
    pub token: u32,
    /// When it was entered, in ticks.
    pub begin: u64,
    /// When it returned, in ticks; not before `begin`.
    pub end: u64,
}

/// The calls in which loops are looked for: successive ones, polls left out.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    /// The calls, in their order.
    pub steps: &'a [Step],
    /// Whether these are all the calls of the rank, so that the first and the last iteration are in it.
    pub whole_run: bool,
    /// Whether a token is a collective operation: a better end of an iteration than a message between two ranks.
    pub is_collective: &'a dyn Fn(u32) -> bool,
}

/// What marks the end of each iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Each of these ends an iteration; ascending.
    pub tokens: Vec<u32>,
    /// Whether an uninterrupted run of them ends one iteration, not each of them.
    pub run: bool,
}

/// A loop of the program, as far as its calls tell.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoop {
    /// The loop around it, an index into the same list; `None` for an outermost loop.
    pub parent: Option<usize>,
    /// All tokens that occur inside, those of inner loops too; ascending.
    pub tokens: Vec<u32>,
    /// What ends an iteration.
    pub anchor: Anchor,
    /// Anchors in the window: its iterations, those that the window cuts off included.
    pub iterations: usize,
    /// Ticks of the window that the loop covers.
    pub time: u64,
    /// Share of the iterations that consist of the same calls as the most common kind of them, in 0..=1.
    pub alike: f64,
    /// Whether this is the program's main loop. At most one is.
    pub main: bool,
}

/// The loops in a window of a rank's calls, each behind the loop around it. Empty where nothing repeats at least three times.
pub fn find_loops(window: &Window) -> Vec<FoundLoop> {
    let steps = window.steps;
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for step in steps {
        *counts.entry(step.token).or_default() += 1;
    }
    counts.retain(|_, &mut n| n >= 3);
    let Some((&anchor, &iterations)) =
        counts.iter().min_by_key(|&(&token, &n)| (n, !(window.is_collective)(token), token))
    else {
        return Vec::new();
    };
    let mut tokens: Vec<u32> = counts.keys().copied().collect();
    tokens.sort_unstable();
    let inside = |step: &&Step| counts.contains_key(&step.token);
    let begin = steps.iter().find(inside).map_or(0, |step| step.begin);
    let end = steps.iter().rfind(inside).map_or(0, |step| step.end);
    let anchor = Anchor { tokens: vec![anchor], run: false };
    let time = end.saturating_sub(begin);
    vec![FoundLoop { parent: None, tokens, anchor, iterations, time, alike: 1.0, main: true }]
}
