//! Hands batches of events to the wait analysis on another core. The replay never depends on the explanations.

use std::sync::Arc;

use rayon::Scope;

use crate::model::code::region_state::Ns;
use crate::read::read_ahead::ReadAhead;
use crate::replay::blocking::{HistoryBatch, TimedSample, WaitExplainer};

/// Maximum number of batches that wait to be explained before the engine waits.
const MOST_WAITING: usize = 8;

/// Maximum number of threads in all waiting batches together, if there is more than one batch.
const MOST_THREADS_WAITING: usize = 1 << 16;

struct EventBatch {
    history: HistoryBatch,
    /// Until when all threads have been followed.
    now: Ns,
    /// Ends of the threads' windows, in the first batch in which all have ended: for the critical path.
    ends: Vec<(u32, Ns)>,
}

/// The batch that is being filled, and those that are being explained.
pub struct ExplanationQueue<'a, 'scope> {
    scope: &'a Scope<'scope>,
    pub batch: HistoryBatch,
    waiting: Vec<EventBatch>,
    /// The explainer while it works; what was explained comes back as room for more.
    busy: Option<ReadAhead<(WaitExplainer, Vec<HistoryBatch>)>>,
    rooms: Vec<HistoryBatch>,
    threads: usize,
    paths_begin: Ns,
    most_kept: usize,
    /// Samples of the ranks' first threads, by place.
    samples: Arc<Vec<Vec<TimedSample>>>,
}

impl<'a, 'scope> ExplanationQueue<'a, 'scope> {
    /// Starts empty. See [`WaitExplainer::new`] for the other parameters.
    pub fn new(
        scope: &'a Scope<'scope>,
        paths_begin: Ns,
        most_kept: usize,
        samples: Arc<Vec<Vec<TimedSample>>>,
    ) -> Self {
        let (batch, waiting, rooms) = (HistoryBatch::default(), Vec::new(), Vec::new());
        ExplanationQueue { scope, batch, waiting, busy: None, rooms, threads: 0, paths_begin, most_kept, samples }
    }

    /// Hands the batch over, to be explained after the batches before it. All threads have been replayed until `now`. `ends`: when the windows of
    /// threads ended, once all have, for the critical path.
    pub fn hand_over(&mut self, now: Ns, ends: Vec<(u32, Ns)>) {
        self.threads = self.threads.max(self.batch.threads());
        let room = self.rooms.pop().unwrap_or_default();
        self.waiting.push(EventBatch { history: std::mem::replace(&mut self.batch, room), now, ends });
        let is_busy = self.busy.as_mut().is_some_and(|busy| !busy.is_over());
        let most_waiting = (MOST_THREADS_WAITING / self.threads.max(1)).clamp(1, MOST_WAITING);
        if !is_busy || self.waiting.len() >= most_waiting {
            let mut explainer = self.back();
            let batches = std::mem::take(&mut self.waiting);
            self.busy = Some(ReadAhead::begin(self.scope, move || {
                let rooms = batches.into_iter().map(|batch| batch.explain(&mut explainer)).collect();
                (explainer, rooms)
            }));
        }
    }

    /// Explains the remaining batches; `ends` as above.
    pub fn finish(mut self, ends: &[(u32, Ns)]) -> WaitExplainer {
        let mut explainer = self.back();
        for batch in std::mem::take(&mut self.waiting) {
            drop(batch.explain(&mut explainer));
        }
        explainer.take(&self.batch);
        explainer.follow_path(ends);
        explainer
    }

    fn back(&mut self) -> WaitExplainer {
        let (explainer, rooms) = self.busy.take().and_then(ReadAhead::wait).unwrap_or_else(|| {
            (WaitExplainer::new(self.paths_begin, self.most_kept, Arc::clone(&self.samples)), Vec::new())
        });
        self.rooms.extend(rooms);
        explainer
    }
}

impl EventBatch {
    fn explain(mut self, explainer: &mut WaitExplainer) -> HistoryBatch {
        explainer.take(&self.history);
        explainer.follow_path(&self.ends);
        explainer.forget(self.now);
        self.history.clear();
        self.history
    }
}
