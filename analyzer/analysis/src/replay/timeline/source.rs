//! The steps of all ranks, each rank's next batch read ahead on another core.
//!
//! If there are many ranks, the batches are packed when they are read, and taken out in parts. The next one is then read while the last part is
//! replayed. Steps that were read before come first.

use std::collections::VecDeque;

use rayon::Scope;

use super::step::StepBatch;
use super::step_chunk::{StepChunk, are_packed};
use super::steps::RankSteps;
use crate::read::read_ahead::ReadAhead;

/// Number of unpacked steps of all ranks together, and its limits for one rank.
const UNPACKED_STEPS: usize = 1 << 17;
const UNPACKED_OF_RANK: [usize; 2] = [8, 32];

pub struct StepSource<'a, 'scope> {
    scope: &'a Scope<'scope>,
    /// Number of steps of a rank that are unpacked at a time.
    part: usize,
    ranks: Vec<RankSource<'scope>>,
}

#[derive(Default)]
pub struct RankInput<'a> {
    pub read: VecDeque<StepChunk>,
    pub steps: Option<Box<RankSteps<'a>>>,
}

struct RankSource<'scope> {
    read: VecDeque<StepChunk>,
    /// The batch that is being read, or `None` if there is no more, or not yet.
    ahead: Option<ReadAhead<FetchedBatch<'scope>>>,
    /// The reader of the next batch, while the last one is taken out.
    idle: Option<Box<RankSteps<'scope>>>,
    /// True if its batches are packed.
    packs: bool,
}

struct FetchedBatch<'scope> {
    steps: Box<RankSteps<'scope>>,
    batch: Option<VecDeque<StepChunk>>,
}

impl<'a, 'scope> StepSource<'a, 'scope> {
    /// Begins to read. `alone`: whether a rank has a single thread, whose batches can come in parts. The amount that is read at a time matters if
    /// threads wait for each other.
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
                    RankSource {
                        read,
                        ahead: steps.map(|steps| read_batch_ahead(scope, steps, packs)),
                        idle: None,
                        packs,
                    }
                })
                .collect(),
        }
    }

    /// Returns the next batch of any thread of a rank, or `None` at the end of its log.
    pub fn next(&mut self, rank: usize) -> Option<StepBatch> {
        let place = self.ranks.get_mut(rank)?;
        if place.read.is_empty() {
            let FetchedBatch { steps, batch } = place.ahead.take()?.wait()?;
            (place.read, place.idle) = (batch?, Some(steps));
        }
        let chunk = place.read.front_mut()?;
        let part = chunk.next_part(self.part);
        if chunk.is_empty() {
            place.read.pop_front();
        }
        if place.read.is_empty()
            && let Some(steps) = place.idle.take()
        {
            place.ahead = Some(read_batch_ahead(self.scope, steps, place.packs));
        }
        Some(part)
    }
}

fn read_batch_ahead<'scope>(
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
