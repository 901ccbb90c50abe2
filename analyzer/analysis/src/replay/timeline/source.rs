//! The steps of all ranks, each rank's next batch read ahead on another core.
//!
//! Of many ranks the batches are packed when they are read, and taken out in parts. The next one is then read while the last part is followed.
//! Steps that were read before come first, packed if there are many ranks.

use std::collections::VecDeque;

use rayon::Scope;

use super::step::StepBatch;
use super::step_chunk::{StepChunk, are_packed};
use super::steps::RankSteps;
use crate::read::read_ahead::ReadAhead;

/// Steps that are unpacked of all ranks together, and of one at least and at most.
const UNPACKED_STEPS: usize = 1 << 17;
const UNPACKED_OF_RANK: [usize; 2] = [8, 32];

/// Reads ahead one batch of each rank.
pub struct StepSource<'a, 'scope> {
    scope: &'a Scope<'scope>,
    /// Steps that are unpacked of a rank at a time.
    part: usize,
    ranks: Vec<RankSource<'scope>>,
}

/// The steps of a rank: what was read of it already, and who reads on; `None`: that is all.
#[derive(Default)]
pub struct RankInput<'a> {
    /// The chunks that were read.
    pub read: VecDeque<StepChunk>,
    /// The reader of further steps.
    pub steps: Option<Box<RankSteps<'a>>>,
}

/// The source of a rank's steps.
struct RankSource<'scope> {
    /// Chunks that were read before.
    read: VecDeque<StepChunk>,
    /// The batch that is being read; `None`: there is no more, or not yet.
    ahead: Option<ReadAhead<FetchedBatch<'scope>>>,
    /// The batch at hand, and who reads the next one.
    at_hand: Option<(VecDeque<StepChunk>, Box<RankSteps<'scope>>)>,
    /// True if its batches are packed.
    packs: bool,
}

/// A batch, and who reads the next one, which takes kilobytes and is handed to and fro.
struct FetchedBatch<'scope> {
    steps: Box<RankSteps<'scope>>,
    batch: Option<VecDeque<StepChunk>>,
}

impl<'a, 'scope> StepSource<'a, 'scope> {
    /// Begins to read; one entry a rank. `alone`: whether the rank has one thread, whose batches can come in parts: how much is read at a time
    /// matters where threads wait for each other.
    pub fn new(scope: &'a Scope<'scope>, ranks: Vec<RankInput<'scope>>, alone: impl Fn(usize) -> bool) -> Self {
        let many = are_packed(ranks.len());
        let [least, most] = UNPACKED_OF_RANK;
        StepSource {
            scope,
            part: (UNPACKED_STEPS / ranks.len().max(1)).clamp(least, most),
            ranks: ranks
                .into_iter()
                .enumerate()
                .map(|(rank, RankInput { read, steps })| {
                    let packs = many && alone(rank);
                    RankSource { read, ahead: steps.map(|steps| fetch(scope, steps, packs)), at_hand: None, packs }
                })
                .collect(),
        }
    }

    /// Goes on with what ranks do after all that was given so far.
    pub fn add(&mut self, ranks: Vec<RankInput<'scope>>) {
        for (place, RankInput { read, steps }) in self.ranks.iter_mut().zip(ranks) {
            place.read.extend(read);
            place.ahead = steps.map(|steps| fetch(self.scope, steps, place.packs));
        }
    }

    /// The next batch of any thread of a rank; `None` at the end of its log.
    pub fn next(&mut self, rank: usize) -> Option<StepBatch> {
        let place = self.ranks.get_mut(rank)?;
        if let Some(part) = next_part(&mut place.read, self.part) {
            return Some(part);
        }
        let (mut pieces, steps) = match place.at_hand.take() {
            Some(at_hand) => at_hand,
            None => {
                let fetched = place.ahead.take()?.wait()?;
                (fetched.batch?, fetched.steps)
            }
        };
        let part = next_part(&mut pieces, self.part);
        if pieces.is_empty() {
            place.ahead = Some(fetch(self.scope, steps, place.packs));
        } else {
            place.at_hand = Some((pieces, steps));
        }
        part
    }
}

/// The next part of the first piece, of so many steps at most; the piece goes when it is empty.
fn next_part(pieces: &mut VecDeque<StepChunk>, most: usize) -> Option<StepBatch> {
    let first = pieces.front_mut()?;
    let part = first.next_part(most);
    if first.is_empty() {
        pieces.pop_front();
    }
    Some(part)
}

fn fetch<'scope>(
    scope: &Scope<'scope>,
    mut steps: Box<RankSteps<'scope>>,
    packs: bool,
) -> ReadAhead<FetchedBatch<'scope>> {
    ReadAhead::begin(scope, move || {
        let batch = steps.next_batch();
        if packs {
            steps.give_back_memory();
        }
        let batch = batch.map(|batch| StepChunk::several(batch, packs));
        FetchedBatch { steps, batch }
    })
}
