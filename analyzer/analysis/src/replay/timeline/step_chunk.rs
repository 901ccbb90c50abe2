//! Steps of a rank as they were read, or in few bytes.

use std::collections::VecDeque;

use bincode::{Decode, Encode};

use super::packed::{CHUNK, PackedSteps};
use super::step::{CommEvent, StepBatch, TimelineStep};

/// Maximum number of ranks whose steps are not packed: they take less memory than the other data.
const FEW: usize = 256;

/// Returns whether the steps of this number of ranks are packed.
pub fn are_packed(ranks: usize) -> bool {
    ranks > FEW
}

/// A batch, or the rest of one, packed or not.
#[derive(Encode, Decode)]
pub enum StepChunk {
    Batch(StepBatch),
    Packed(Box<PackedSteps>),
}

impl StepChunk {
    pub fn several(batch: StepBatch, packs: bool) -> VecDeque<StepChunk> {
        if !packs {
            return VecDeque::from([StepChunk::Batch(batch)]);
        }
        PackedSteps::chunks(CHUNK, batch).into_iter().map(|packed| StepChunk::Packed(Box::new(packed))).collect()
    }

    /// Takes the steps, if they are packed at most `most` of them.
    pub fn next_part(&mut self, most: usize) -> StepBatch {
        match self {
            StepChunk::Batch(batch) => std::mem::take(batch),
            StepChunk::Packed(packed) => packed.next_part(most),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            StepChunk::Batch(batch) => batch.steps.len(),
            StepChunk::Packed(packed) => packed.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the batch, for the facts that hold for all of its steps.
    pub fn head(&self) -> &StepBatch {
        match self {
            StepChunk::Batch(batch) => batch,
            StepChunk::Packed(packed) => &packed.batch,
        }
    }

    /// Shows the steps one by one, each with its events, until `is_last` accepts one. Returns that step and the number of steps before it.
    pub fn find(&self, mut is_last: impl FnMut(&TimelineStep, &[CommEvent]) -> bool) -> Option<(usize, TimelineStep)> {
        match self {
            StepChunk::Packed(packed) => packed.find(is_last),
            StepChunk::Batch(batch) => {
                let mut events = batch.events.as_slice();
                batch.steps.iter().enumerate().find_map(|(before, step)| {
                    let (own, rest) = events.split_at(usize::from(step.events).min(events.len()));
                    events = rest;
                    is_last(step, own).then_some((before, *step))
                })
            }
        }
    }

    /// Splits off the first `n` steps, with the head of the batch.
    pub fn split_off_first(&mut self, n: usize) -> StepChunk {
        match self {
            StepChunk::Packed(packed) => StepChunk::Packed(Box::new(packed.split_off_first(n))),
            StepChunk::Batch(batch) => StepChunk::Batch(split_off_first(batch, n)),
        }
    }
}

fn split_off_first(batch: &mut StepBatch, n: usize) -> StepBatch {
    let n = n.min(batch.steps.len());
    let events: usize = batch.steps[..n].iter().map(|step| usize::from(step.events)).sum();
    let parallel: usize = batch.steps[..n].iter().map(|step| usize::from(step.parallel)).sum();
    let is_all = n == batch.steps.len();
    let rest = StepBatch {
        thread: batch.thread,
        steps: batch.steps.split_off(n),
        events: batch.events.split_off(events.min(batch.events.len())),
        parallel: batch.parallel.split_off(parallel.min(batch.parallel.len())),
        last: batch.last && !is_all,
        ..StepBatch::default()
    };
    let mut first = std::mem::replace(batch, rest);
    first.last &= is_all;
    first
}
