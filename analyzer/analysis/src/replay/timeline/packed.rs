//! Steps in few bytes: a batch of 2,000 steps takes 200 kB, which is too much for each of thousands of ranks.
//!
//! ```text
//!   a step    its shape | time before it | its length | bytes sent, received, if they are not in the shape | its events | its parallel parts
//!   an event  its shape | distance of its request from the last one | bytes, if they are not in the shape
//!   a part    its site | threads | its thread plus 1, or 0 | its begin, less the end of the step | how long it lasted | how much shorter it would have been
//! ```
//!
//! Shapes are what steps, and events, of a batch have in common: all but times and requests, and of the first [`MOST_SIZED`] bytes, too. A shape is its number · 2, plus 1 if it
//! has no bytes. All numbers are of seven bits a byte, the lowest first, as long as they must be; those that may be negative have their sign in the lowest bit.

use std::cell::Cell;
use std::sync::Arc;

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::step::{CallFacts, CommEvent, ParallelPart, StepBatch, TimelineStep};
use crate::model::code::region_state::Ns;

/// Number of steps in a chunk. A batch is freed by chunks.
pub const CHUNK: usize = 256;

/// Maximum number of shapes in a batch that have their bytes. If there are more, bytes differ from one step to the next.
const MOST_SIZED: usize = 64;

/// Consecutive steps of a batch. The steps of one batch share its shapes, the steps of one chunk its bytes.
pub struct PackedSteps {
    shapes: Arc<(Vec<TimelineStep>, Vec<CommEvent>)>,
    bytes: Arc<[u8]>,
    /// The batch without its steps and events, until its head was taken.
    pub batch: StepBatch,
    last: bool,
    at: StepCursor,
    end: usize,
}

#[derive(Clone, Copy, Encode, Decode)]
struct StepCursor {
    byte: usize,
    left: usize,
    /// Base of the differences that follow.
    end: Ns,
    request: u32,
}

thread_local! {
    static SPARE: Cell<(Vec<TimelineStep>, Vec<CommEvent>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// Returns empty lists for the steps and events of a batch, in the memory of one that was packed before on this thread. So no large block of
/// memory is freed that small, long-lived ones would then fragment.
pub fn take_spare_lists() -> (Vec<TimelineStep>, Vec<CommEvent>) {
    SPARE.take()
}

impl PackedSteps {
    /// Packs a batch as chunks of at most `most` steps; an empty batch is one chunk.
    pub fn chunks(most: usize, mut batch: StepBatch) -> Vec<PackedSteps> {
        let (mut steps, mut all_events) = (std::mem::take(&mut batch.steps), std::mem::take(&mut batch.events));
        let mut parallel = std::mem::take(&mut batch.parallel).into_iter();
        let mut events = all_events.drain(..);
        let (mut step_shapes, mut event_shapes) = (StepShapes::default(), StepShapes::default());
        let mut bytes = Vec::with_capacity(16 * most.min(steps.len()));
        let mut chunks: Vec<(Arc<[u8]>, StepCursor)> = Vec::new();
        let (mut end, mut request) = (0, 0_u32);
        let mut begin = StepCursor { byte: 0, left: 0, end, request };
        for step in steps.drain(..) {
            if begin.left == most {
                chunks.push((Arc::from(bytes.as_slice()), begin));
                begin = StepCursor { byte: 0, left: 0, end, request };
                bytes.clear();
            }
            begin.left += 1;
            let shape = TimelineStep { begin: 0, end: 0, ..step };
            let facts = CallFacts { sent: 0, received: 0, ..step.facts };
            let is_sized = step_shapes.put(shape, TimelineStep { facts, ..shape }, &mut bytes);
            put_number(encode_sign(step.begin.wrapping_sub(end)), &mut bytes);
            put_number(encode_sign(step.end.wrapping_sub(step.begin)), &mut bytes);
            if !is_sized {
                put_number(step.facts.sent, &mut bytes);
                put_number(step.facts.received, &mut bytes);
            }
            end = step.end;
            for event in events.by_ref().take(usize::from(step.events)) {
                event_shapes.put_event(event, request, &mut bytes);
                request = event.request;
            }
            for part in parallel.by_ref().take(usize::from(step.parallel)) {
                put_part(&part, end, &mut bytes);
            }
        }
        drop(events);
        SPARE.set((steps, all_events));
        chunks.push((Arc::from(bytes), begin));
        let shapes = Arc::new((step_shapes.all, event_shapes.all));
        let (is_last, thread) = (std::mem::take(&mut batch.last), batch.thread);
        let packed = chunks.into_iter().map(|(bytes, at)| PackedSteps {
            shapes: Arc::clone(&shapes),
            end: bytes.len(),
            bytes,
            batch: std::mem::replace(&mut batch, StepBatch { thread, ..StepBatch::default() }),
            last: false,
            at,
        });
        let mut packed: Vec<PackedSteps> = packed.collect();
        if let Some(last) = packed.last_mut() {
            last.last = is_last;
        }
        packed
    }

    pub fn next_part(&mut self, most: usize) -> StepBatch {
        let n = self.at.left.min(most);
        let mut part = std::mem::take(&mut self.batch);
        self.batch.thread = part.thread;
        part.last = self.last && self.at.left == n;
        part.steps.reserve_exact(n);
        let (of, at) = ((&*self.shapes, &*self.bytes), &mut self.at);
        let (events, parallel) = (&mut part.events, &mut part.parallel);
        part.steps.extend((0..n).map(|_| at.next(of, |event| events.push(event), |one| parallel.push(one))));
        part.events.shrink_to_fit();
        part
    }

    pub fn len(&self) -> usize {
        self.at.left
    }

    /// Shows the steps one by one, each with its events, until `is_last` accepts one. Returns that step and the number of steps before it.
    pub fn find(&self, mut is_last: impl FnMut(&TimelineStep, &[CommEvent]) -> bool) -> Option<(usize, TimelineStep)> {
        let mut at = self.at;
        let mut events = Vec::new();
        (0..at.left).find_map(|before| {
            events.clear();
            let step = at.next((&self.shapes, &self.bytes), |event| events.push(event), |_| ());
            is_last(&step, &events).then_some((before, step))
        })
    }

    /// Splits off the first `n` steps, with the head of the batch.
    pub fn split_off_first(&mut self, n: usize) -> PackedSteps {
        let n = n.min(self.at.left);
        let batch = std::mem::take(&mut self.batch);
        self.batch.thread = batch.thread;
        let (last, at) = (self.last && n == self.at.left, StepCursor { left: n, ..self.at });
        for _ in 0..n {
            self.at.next((&self.shapes, &self.bytes), |_| (), |_| ());
        }
        let (shapes, bytes) = (Arc::clone(&self.shapes), Arc::clone(&self.bytes));
        PackedSteps { shapes, bytes, batch, last, at, end: self.at.byte }
    }
}

/// Encodes the remaining steps for another process, with their own bytes only.
impl Encode for PackedSteps {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let bytes = &self.bytes[self.at.byte..self.end];
        (&*self.shapes, bytes, &self.batch, self.last, StepCursor { byte: 0, ..self.at }).encode(encoder)
    }
}

impl<C> Decode<C> for PackedSteps {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let (shapes, bytes, batch, last, at): (_, Vec<u8>, _, _, _) = Decode::decode(decoder)?;
        Ok(PackedSteps { shapes: Arc::new(shapes), end: bytes.len(), bytes: Arc::from(bytes), batch, last, at })
    }
}

bincode::impl_borrow_decode!(PackedSteps);

type PackedContents<'a> = (&'a (Vec<TimelineStep>, Vec<CommEvent>), &'a [u8]);

impl StepCursor {
    /// Reads the next step, its events, and the parallel regions in the time before it.
    #[inline]
    fn next(
        &mut self,
        ((steps, events), bytes): PackedContents,
        mut event_of: impl FnMut(CommEvent),
        mut parallel_of: impl FnMut(ParallelPart),
    ) -> TimelineStep {
        self.left -= 1;
        let shape = self.number(bytes);
        let mut step = steps[(shape >> 1) as usize];
        step.begin = self.end.wrapping_add(decode_sign(self.number(bytes)));
        step.end = step.begin.wrapping_add(decode_sign(self.number(bytes)));
        if shape & 1 == 1 {
            (step.facts.sent, step.facts.received) = (self.number(bytes), self.number(bytes));
        }
        self.end = step.end;
        for _ in 0..step.events {
            let shape = self.number(bytes);
            let mut event = events[(shape >> 1) as usize];
            event.request = self.request.wrapping_add(decode_sign(self.number(bytes)) as u32);
            if shape & 1 == 1 {
                event.bytes = self.number(bytes);
            }
            self.request = event.request;
            event_of(event);
        }
        for _ in 0..step.parallel {
            let [site, team, thread] = std::array::from_fn(|_| self.number(bytes) as u32);
            let thread = thread.wrapping_sub(1);
            let [begin, elapsed, excess] = std::array::from_fn(|_| decode_sign(self.number(bytes)));
            parallel_of(ParallelPart { site, begin: self.end.wrapping_add(begin), elapsed, team, excess, thread });
        }
        step
    }

    #[inline]
    fn number(&mut self, of: &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = of[self.byte];
            self.byte += 1;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return value;
            }
            shift += 7;
        }
    }
}

struct StepShapes<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, u32>,
    /// Number of shapes whose bytes are counted.
    sized: usize,
}

impl<T> Default for StepShapes<T> {
    fn default() -> Self {
        StepShapes { all: Vec::new(), numbers: FxHashMap::default(), sized: 0 }
    }
}

impl<T: Copy + Eq + std::hash::Hash> StepShapes<T> {
    /// Appends a shape, with or without its bytes. Returns whether it has its bytes.
    fn put(&mut self, shape: T, without_bytes: T, bytes: &mut Vec<u8>) -> bool {
        if let Some(&number) = self.numbers.get(&shape) {
            put_number(u64::from(number) << 1, bytes);
            return true;
        }
        let is_sized = self.sized < MOST_SIZED;
        self.sized += usize::from(is_sized);
        let shape = if is_sized { shape } else { without_bytes };
        let all = &mut self.all;
        let number = *self.numbers.entry(shape).or_insert_with(|| {
            all.push(shape);
            all.len() as u32 - 1
        });
        put_number(u64::from(number) << 1 | u64::from(!is_sized), bytes);
        is_sized
    }
}

impl StepShapes<CommEvent> {
    /// Appends an event. `request` is the last event's.
    fn put_event(&mut self, event: CommEvent, request: u32, bytes: &mut Vec<u8>) {
        let shape = CommEvent { request: 0, ..event };
        let is_sized = self.put(shape, CommEvent { bytes: 0, ..shape }, bytes);
        put_number(encode_sign(i64::from(event.request.wrapping_sub(request) as i32)), bytes);
        if !is_sized {
            put_number(event.bytes, bytes);
        }
    }
}

fn put_number(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn put_part(part: &ParallelPart, step_end: Ns, bytes: &mut Vec<u8>) {
    for number in [part.site, part.team, part.thread.wrapping_add(1)] {
        put_number(number.into(), bytes);
    }
    for time in [part.begin.wrapping_sub(step_end), part.elapsed, part.excess] {
        put_number(encode_sign(time), bytes);
    }
}

fn encode_sign(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn decode_sign(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use lbprof_collector::record::NONE;
    use lbprof_collector::semantics::SendMode;

    use super::*;
    use crate::codec::{decode_value, encode_value};
    use crate::model::code::region_state::RegionState;
    use crate::replay::timeline::{CommRole, StepChunk};

    /// Steps of a part.
    const PART: usize = 32;

    #[test]
    fn parts_together_are_the_batch() {
        let numbers = [0, 1, -1, 127, 128, -70_000, i64::from(u32::MAX), 1 << 60, -(1 << 60)];
        let number = |i: usize| numbers[i % numbers.len()];
        let step = |i: usize| TimelineStep {
            begin: number(i),
            end: number(i / 3).wrapping_add(1),
            before: RegionState(i as u32 % 3),
            kind: RegionState(i as u32 % 5),
            site: if i.is_multiple_of(4) { NONE } else { 7 },
            operation: i as u16 % 11,
            events: i as u16 % 3,
            parallel: i as u16 % 2,
            facts: CallFacts { sent: number(i) as u64, received: u64::MAX, tag: i as i32 % 2, ..CallFacts::NOTHING },
        };
        let event = |i: usize| CommEvent {
            role: if i.is_multiple_of(2) { CommRole::Send } else { CommRole::Lock { exclusive: true, folded: false } },
            comm: 0,
            peer: i as u32 % 7,
            tag: -1,
            request: number(i) as u32,
            bytes: number(i) as u64,
            mode: SendMode::default(),
            any: i.is_multiple_of(5),
        };
        for n in [0, 1, PART - 1, PART, PART + 1, CHUNK, 2 * CHUNK + PART + 7] {
            let steps: Vec<TimelineStep> = (0..n).map(step).collect();
            let events: Vec<CommEvent> =
                (0..steps.iter().map(|step| usize::from(step.events)).sum()).map(event).collect();
            let part = |i: usize| ParallelPart {
                site: NONE - i as u32 % 2,
                begin: number(i / 5),
                elapsed: number(i),
                team: 2,
                excess: number(i / 2),
                thread: NONE.wrapping_add(i as u32 % 3),
            };
            let parallel = (0..steps.iter().map(|step| usize::from(step.parallel)).sum()).map(part).collect();
            let lists = vec![vec![1, 2].into()];
            let batch = StepBatch { thread: 3, steps, events, parallel, lists, gap: true, last: true };
            let mut chunks = PackedSteps::chunks(CHUNK, batch.clone());
            assert_eq!(chunks.iter().map(PackedSteps::len).sum::<usize>(), n);
            let mut all = chunks[0].next_part(PART);
            assert!(all.gap && all.lists.len() == 1, "they come first");
            for packed in &mut chunks {
                while packed.len() > 0 {
                    assert!(!all.last, "it is the last");
                    let part = packed.next_part(PART);
                    assert!(part.steps.len() <= PART && part.thread == 3 && !part.gap && part.lists.is_empty());
                    all.steps.extend(part.steps);
                    all.events.extend(part.events);
                    all.parallel.extend(part.parallel);
                    all.last = part.last;
                }
            }
            assert_eq!(all, batch, "{n}");
            for (first, packs) in [0, n.min(1), n / 2, n].into_iter().flat_map(|first| [(first, true), (first, false)])
            {
                let packed = |batch| StepChunk::Packed(Box::new(PackedSteps::chunks(usize::MAX, batch).swap_remove(0)));
                let mut rest = if packs { packed(batch.clone()) } else { StepChunk::Batch(batch.clone()) };
                let mut packed = rest.split_off_first(first);
                assert!(packed.head().gap);
                // As another process has them.
                let sent = |piece: StepChunk| decode_value::<StepChunk>(&encode_value(&piece)).unwrap();
                (packed, rest) = (sent(packed), sent(rest));
                let mut all = packed.next_part(PART);
                assert_eq!((packed.len() + all.steps.len(), rest.len()), (first, n - first));
                for packed in [&mut packed, &mut rest] {
                    while !packed.is_empty() {
                        let part = packed.next_part(PART);
                        all.steps.extend(part.steps);
                        all.events.extend(part.events);
                        all.parallel.extend(part.parallel);
                        all.last |= part.last;
                    }
                }
                assert_eq!(StepBatch { last: true, ..all }, batch, "{n}, {first} apart");
            }
        }
    }

    #[test]
    fn a_step_is_found_with_its_events() {
        let step = |i: usize| TimelineStep {
            begin: 10 * i as Ns,
            end: 10 * i as Ns + 5,
            before: RegionState(0),
            kind: RegionState(1),
            site: NONE,
            operation: 7,
            events: 1,
            parallel: 0,
            facts: CallFacts::NOTHING,
        };
        let event = |request| CommEvent {
            role: CommRole::Done,
            comm: 0,
            peer: 0,
            tag: 0,
            request,
            bytes: 0,
            mode: SendMode::default(),
            any: false,
        };
        let batch = StepBatch {
            steps: (0..9).map(step).collect(),
            events: (0..9).map(event).collect(),
            ..StepBatch::default()
        };
        for packs in [true, false] {
            let mut piece = StepChunk::several(batch.clone(), packs).pop_front().unwrap();
            piece.split_off_first(2);
            let found = piece.find(|_, events| events[0].request == 6);
            assert_eq!(found, Some((4, step(6))), "four after the two that are gone");
            assert!(piece.find(|_, events| events[0].request == 1).is_none());
        }
    }
}
