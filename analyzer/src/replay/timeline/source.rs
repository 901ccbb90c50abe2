//! The steps of all ranks, each rank's next batch read ahead on another core.

use rayon::Scope;

use super::step::Batch;
use super::steps::RankSteps;
use crate::read::ahead::Ahead;

/// Reads ahead one batch of each rank.
pub struct Source<'a, 'scope> {
    scope: &'a Scope<'scope>,
    /// What is being read; `None`: there is no more.
    ranks: Vec<Option<Ahead<Fetched<'scope>>>>,
}

/// A batch, and who reads the next one.
struct Fetched<'scope> {
    steps: RankSteps<'scope>,
    batch: Option<Batch>,
}

impl<'a, 'scope> Source<'a, 'scope> {
    /// Begins to read; one entry a rank, `None` where its log can't be opened.
    pub fn new(scope: &'a Scope<'scope>, ranks: Vec<Option<RankSteps<'scope>>>) -> Self {
        let ranks = ranks.into_iter().map(|steps| steps.map(|steps| fetch(scope, steps))).collect();
        Source { scope, ranks }
    }

    /// The next batch of any thread of a rank; `None` at the end of its log.
    pub fn next(&mut self, rank: usize) -> Option<Batch> {
        let place = self.ranks.get_mut(rank)?;
        let fetched = place.take()?.wait()?;
        let batch = fetched.batch?;
        *place = Some(fetch(self.scope, fetched.steps));
        Some(batch)
    }
}

fn fetch<'scope>(scope: &Scope<'scope>, mut steps: RankSteps<'scope>) -> Ahead<Fetched<'scope>> {
    Ahead::begin(scope, move || {
        let batch = steps.next_batch();
        Fetched { steps, batch }
    })
}
