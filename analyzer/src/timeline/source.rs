//! The steps of all ranks, each rank's next batches read ahead on another core.

use std::collections::VecDeque;

use rayon::Scope;

use super::step::Batch;
use super::steps::RankSteps;
use crate::ahead::Ahead;

/// Batches of all ranks together that are read at once, and of each rank at most: with few ranks each has enough to go on with.
const ALL_AT_ONCE: usize = 64;
const MOST_AT_ONCE: usize = 8;

/// Reads ahead some batches of each rank.
pub struct Source<'a, 'scope> {
    scope: &'a Scope<'scope>,
    ranks: Vec<Reading<'scope>>,
    /// How many batches of a rank are read at once.
    at_once: usize,
}

/// Where the reading of a rank is.
struct Reading<'scope> {
    ready: VecDeque<Batch>,
    /// What is being read; `None`: there is no more.
    next: Option<Ahead<Fetched<'scope>>>,
}

/// Batches, and who reads the next ones; `None`: there are no more.
struct Fetched<'scope> {
    batches: VecDeque<Batch>,
    steps: Option<RankSteps<'scope>>,
}

impl<'a, 'scope> Source<'a, 'scope> {
    /// Begins to read; one entry a rank, `None` where its log can't be opened.
    pub fn new(scope: &'a Scope<'scope>, ranks: Vec<Option<RankSteps<'scope>>>) -> Self {
        let at_once = (ALL_AT_ONCE / ranks.len().max(1)).clamp(1, MOST_AT_ONCE);
        let begin = |steps: Option<RankSteps<'scope>>| Reading {
            ready: VecDeque::new(),
            next: steps.map(|steps| fetch(scope, steps, at_once)),
        };
        Source { scope, ranks: ranks.into_iter().map(begin).collect(), at_once }
    }

    /// The next batch of any thread of a rank; `None` at the end of its log.
    pub fn next(&mut self, rank: usize) -> Option<Batch> {
        let reading = self.ranks.get_mut(rank)?;
        if reading.ready.is_empty() {
            let fetched = reading.next.take()?.wait()?;
            reading.ready = fetched.batches;
            reading.next = fetched.steps.map(|steps| fetch(self.scope, steps, self.at_once));
        }
        reading.ready.pop_front()
    }
}

fn fetch<'scope>(scope: &Scope<'scope>, mut steps: RankSteps<'scope>, at_once: usize) -> Ahead<Fetched<'scope>> {
    Ahead::begin(scope, move || {
        let batches: VecDeque<Batch> = std::iter::from_fn(|| steps.next_batch()).take(at_once).collect();
        let is_over = batches.len() < at_once;
        Fetched { batches, steps: (!is_over).then_some(steps) }
    })
}
