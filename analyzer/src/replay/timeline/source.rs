//! The steps of all ranks, each rank's next batch read ahead on another core.
//!
//! Of many ranks the batches are packed when they are read, and taken out in parts. The next one is then read while the last part is followed.

use rayon::Scope;

use super::packed::Packed;
use super::step::Batch;
use super::steps::RankSteps;
use crate::read::ahead::Ahead;

/// More ranks than this have their batches packed: those of fewer take less memory than what else is kept.
const FEW: usize = 256;

/// Reads ahead one batch of each rank.
pub struct Source<'a, 'scope> {
    scope: &'a Scope<'scope>,
    ranks: Vec<RankSource<'scope>>,
}

/// Where a rank's steps are.
#[derive(Default)]
struct RankSource<'scope> {
    /// What is being read; `None`: there is no more, or not yet.
    ahead: Option<Ahead<Fetched<'scope>>>,
    /// The batch at hand, and who reads the next one.
    at_hand: Option<(Box<Packed>, Box<RankSteps<'scope>>)>,
    /// Whether its batches are packed.
    packs: bool,
}

/// A batch, and who reads the next one, which takes kilobytes and is handed to and fro.
struct Fetched<'scope> {
    steps: Box<RankSteps<'scope>>,
    batch: Option<BatchOrPacked>,
}

/// A batch, as it is followed or in few bytes.
enum BatchOrPacked {
    Batch(Batch),
    Packed(Box<Packed>),
}

impl<'a, 'scope> Source<'a, 'scope> {
    /// Begins to read; one entry a rank, `None` where its log can't be opened. `alone`: whether the rank has one thread, whose batches can
    /// come in parts: how much is read at a time matters where threads wait for each other.
    pub fn new(
        scope: &'a Scope<'scope>,
        ranks: Vec<Option<Box<RankSteps<'scope>>>>,
        alone: impl Fn(usize) -> bool,
    ) -> Self {
        let many = ranks.len() > FEW;
        let source = |(rank, steps): (usize, Option<Box<RankSteps<'scope>>>)| {
            let packs = many && alone(rank);
            RankSource { ahead: steps.map(|steps| fetch(scope, steps, packs)), at_hand: None, packs }
        };
        Source { scope, ranks: ranks.into_iter().enumerate().map(source).collect() }
    }

    /// The next batch of any thread of a rank; `None` at the end of its log.
    pub fn next(&mut self, rank: usize) -> Option<Batch> {
        let place = self.ranks.get_mut(rank)?;
        let (mut packed, steps) = match place.at_hand.take() {
            Some(at_hand) => at_hand,
            None => {
                let fetched = place.ahead.take()?.wait()?;
                match fetched.batch? {
                    BatchOrPacked::Packed(packed) => (packed, fetched.steps),
                    BatchOrPacked::Batch(batch) => {
                        place.ahead = Some(fetch(self.scope, fetched.steps, place.packs));
                        return Some(batch);
                    }
                }
            }
        };
        let part = packed.next_part();
        if packed.is_empty() {
            place.ahead = Some(fetch(self.scope, steps, place.packs));
        } else {
            place.at_hand = Some((packed, steps));
        }
        Some(part)
    }
}

fn fetch<'scope>(scope: &Scope<'scope>, mut steps: Box<RankSteps<'scope>>, packs: bool) -> Ahead<Fetched<'scope>> {
    Ahead::begin(scope, move || {
        let batch = steps.next_batch();
        if packs {
            steps.give_back_memory();
        }
        let batch = batch.map(|batch| match packs {
            true => BatchOrPacked::Packed(Box::new(Packed::new(batch))),
            false => BatchOrPacked::Batch(batch),
        });
        Fetched { steps, batch }
    })
}
