//! Steps of a rank as they were read, or in few bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use super::packed::Packed;
use super::step::{Batch, CommEvent, Step};

/// More ranks than this have their steps packed: those of fewer take less memory than what else is kept.
const FEW: usize = 256;

/// Whether the steps of so many ranks are packed.
pub fn are_packed(ranks: usize) -> bool {
    ranks > FEW
}

/// A batch, as it is followed or in few bytes, or what is left of it.
pub enum Piece {
    /// As it is followed.
    Batch(Batch),
    /// In few bytes.
    Packed(Box<Packed>),
}

impl Piece {
    /// Those of a batch, one at least.
    pub fn several(batch: Batch, packs: bool) -> VecDeque<Piece> {
        match packs {
            true => Packed::chunks(batch).into_iter().map(Box::new).map(Piece::Packed).collect(),
            false => VecDeque::from([Piece::Batch(batch)]),
        }
    }

    /// Its steps, or the next of them; the last are followed by none.
    pub fn next_part(&mut self) -> Batch {
        match self {
            Piece::Batch(batch) => std::mem::take(batch),
            Piece::Packed(packed) => packed.next_part(),
        }
    }

    /// How many steps are left.
    pub fn len(&self) -> usize {
        match self {
            Piece::Batch(batch) => batch.steps.len(),
            Piece::Packed(packed) => packed.len(),
        }
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is said of all of them.
    fn head(&self) -> &Batch {
        match self {
            Piece::Batch(batch) => batch,
            Piece::Packed(packed) => packed.head(),
        }
    }

    /// The number of their thread.
    pub fn thread(&self) -> u32 {
        self.head().thread
    }

    /// Whether records before the first are missing.
    pub fn is_after_gap(&self) -> bool {
        self.head().gap
    }

    /// Lists that their events name first.
    pub fn lists(&self) -> &[Arc<[u32]>] {
        &self.head().lists
    }

    /// Shows steps one by one, each with its events, until `is_last` says so: that step, and how many come before it.
    pub fn find(&self, mut is_last: impl FnMut(&Step, &[CommEvent]) -> bool) -> Option<(usize, Step)> {
        match self {
            Piece::Packed(packed) => packed.find(is_last),
            Piece::Batch(batch) => {
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
    pub fn rejoin(&mut self, rest: Piece) {
        match (self, rest) {
            (Piece::Packed(first), Piece::Packed(rest)) => first.rejoin(*rest),
            (Piece::Batch(first), Piece::Batch(rest)) => {
                first.steps.extend(rest.steps);
                first.events.extend(rest.events);
                first.parallel.extend(rest.parallel);
                first.last = rest.last;
            }
            _ => {}
        }
    }

    /// Takes the first `n` steps out, with what belongs to their begin.
    pub fn split_off_first(&mut self, n: usize) -> Piece {
        match self {
            Piece::Packed(packed) => Piece::Packed(Box::new(packed.split_off_first(n))),
            Piece::Batch(batch) => Piece::Batch(split_off_first(batch, n)),
        }
    }
}

/// Another process gets it in few bytes in any case, and has it as it was: how many steps come at a time decides which of two threads is followed first
/// that do something at the same time.
impl Encode for Piece {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        match self {
            Piece::Batch(batch) => (false, Packed::new(batch.clone())).encode(encoder),
            Piece::Packed(packed) => (true, packed).encode(encoder),
        }
    }
}

impl<C> Decode<C> for Piece {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (stays_packed, packed): (bool, Packed) = Decode::decode(decoder)?;
        Ok(if stays_packed { Piece::Packed(Box::new(packed)) } else { Piece::Batch(packed.unpacked()) })
    }
}

bincode::impl_borrow_decode!(Piece);

fn split_off_first(batch: &mut Batch, n: usize) -> Batch {
    let n = n.min(batch.steps.len());
    let events = batch.steps[..n].iter().map(|step| usize::from(step.events)).sum::<usize>().min(batch.events.len());
    let parallel = batch.steps[..n].iter().map(|step| usize::from(step.parallel)).sum::<usize>();
    let parallel = parallel.min(batch.parallel.len());
    let is_all = n == batch.steps.len();
    let rest = Batch {
        thread: batch.thread,
        steps: batch.steps.split_off(n),
        events: batch.events.split_off(events),
        parallel: batch.parallel.split_off(parallel),
        last: batch.last && !is_all,
        ..Batch::default()
    };
    let mut first = std::mem::replace(batch, rest);
    first.last &= is_all;
    first
}
