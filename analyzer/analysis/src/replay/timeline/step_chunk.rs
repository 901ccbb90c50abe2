//! Steps of a rank as they were read, or in few bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::packed::PackedSteps;
use super::step::{CommEvent, StepBatch, TimelineStep};

/// More ranks than this have their steps packed: those of fewer take less memory than what else is kept.
const FEW: usize = 256;

/// Returns whether the steps of so many ranks are packed.
pub fn are_packed(ranks: usize) -> bool {
    ranks > FEW
}

/// A batch, as it is followed or in few bytes, or what is left of it.
pub enum StepChunk {
    /// A batch as it is replayed.
    Batch(StepBatch),
    /// In few bytes.
    Packed(Box<PackedSteps>),
}

impl StepChunk {
    /// Splits a batch into one or more chunks.
    pub fn several(batch: StepBatch, packs: bool) -> VecDeque<StepChunk> {
        match packs {
            true => PackedSteps::chunks(batch).into_iter().map(Box::new).map(StepChunk::Packed).collect(),
            false => VecDeque::from([StepChunk::Batch(batch)]),
        }
    }

    /// Its steps, or if they are packed the next of them, `most` at most; the last are followed by none.
    pub fn next_part(&mut self, most: usize) -> StepBatch {
        match self {
            StepChunk::Batch(batch) => std::mem::take(batch),
            StepChunk::Packed(packed) => packed.next_part(most),
        }
    }

    /// Returns the number of remaining steps.
    pub fn len(&self) -> usize {
        match self {
            StepChunk::Batch(batch) => batch.steps.len(),
            StepChunk::Packed(packed) => packed.len(),
        }
    }

    /// Returns whether none is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the facts that hold for all of the steps.
    fn head(&self) -> &StepBatch {
        match self {
            StepChunk::Batch(batch) => batch,
            StepChunk::Packed(packed) => packed.head(),
        }
    }

    /// The number of their thread.
    pub fn thread(&self) -> u32 {
        self.head().thread
    }

    /// Returns whether records before the first are missing.
    pub fn is_after_gap(&self) -> bool {
        self.head().gap
    }

    /// Lists that their events name first.
    pub fn lists(&self) -> &[Arc<[u32]>] {
        &self.head().lists
    }

    /// Shows steps one by one, each with its events, until `is_last` says so: that step, and how many come before it.
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

    /// Takes back the rest of it, which was left when it was split off.
    pub fn rejoin(&mut self, rest: StepChunk) {
        match (self, rest) {
            (StepChunk::Packed(first), StepChunk::Packed(rest)) => first.rejoin(*rest),
            (StepChunk::Batch(first), StepChunk::Batch(rest)) => {
                first.steps.extend(rest.steps);
                first.events.extend(rest.events);
                first.parallel.extend(rest.parallel);
                first.last = rest.last;
            }
            _ => {}
        }
    }

    /// Takes the first `n` steps out, with what belongs to their begin.
    pub fn split_off_first(&mut self, n: usize) -> StepChunk {
        match self {
            StepChunk::Packed(packed) => StepChunk::Packed(Box::new(packed.split_off_first(n))),
            StepChunk::Batch(batch) => StepChunk::Batch(split_off_first(batch, n)),
        }
    }
}

/// Another process gets it in few bytes in any case, and has it as it was: how many steps come at a time decides which of two threads is followed first
/// that do something at the same time.
impl Encode for StepChunk {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            StepChunk::Batch(batch) => (false, PackedSteps::new(batch.clone())).encode(encoder),
            StepChunk::Packed(packed) => (true, packed).encode(encoder),
        }
    }
}

impl<C> Decode<C> for StepChunk {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (stays_packed, packed): (bool, PackedSteps) = Decode::decode(decoder)?;
        Ok(if stays_packed { StepChunk::Packed(Box::new(packed)) } else { StepChunk::Batch(packed.unpacked()) })
    }
}

bincode::impl_borrow_decode!(StepChunk);

fn split_off_first(batch: &mut StepBatch, n: usize) -> StepBatch {
    let n = n.min(batch.steps.len());
    let events = batch.steps[..n].iter().map(|step| usize::from(step.events)).sum::<usize>().min(batch.events.len());
    let parallel = batch.steps[..n].iter().map(|step| usize::from(step.parallel)).sum::<usize>();
    let parallel = parallel.min(batch.parallel.len());
    let is_all = n == batch.steps.len();
    let rest = StepBatch {
        thread: batch.thread,
        steps: batch.steps.split_off(n),
        events: batch.events.split_off(events),
        parallel: batch.parallel.split_off(parallel),
        last: batch.last && !is_all,
        ..StepBatch::default()
    };
    let mut first = std::mem::replace(batch, rest);
    first.last &= is_all;
    first
}
