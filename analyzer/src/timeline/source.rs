//! The steps of all ranks, each rank's next batch read ahead on another core.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::Scope;

use super::step::Batch;
use super::steps::RankSteps;

/// Reads ahead one batch of each rank.
pub struct Source<'a, 'scope> {
    scope: &'a Scope<'scope>,
    /// What is being read; `None`: there is no more.
    ranks: Vec<Option<Receiver<Fetched<'scope>>>>,
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
        let fetched = wait_for(&place.take()?)?;
        let batch = fetched.batch?;
        *place = Some(fetch(self.scope, fetched.steps));
        Some(batch)
    }
}

/// What is being read. A thread of the pool reads itself meanwhile, for there may be no other.
fn wait_for<T>(from: &Receiver<T>) -> Option<T> {
    loop {
        match from.try_recv() {
            Ok(fetched) => return Some(fetched),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if rayon::yield_now().is_none() => return from.recv().ok(),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
}

fn fetch<'scope>(scope: &Scope<'scope>, mut steps: RankSteps<'scope>) -> Receiver<Fetched<'scope>> {
    let (to, from) = sync_channel(1);
    scope.spawn(move |_| {
        let batch = steps.next_batch();
        // Nobody waits for it any more where the reading was given up.
        let _ = to.send(Fetched { steps, batch });
    });
    from
}
