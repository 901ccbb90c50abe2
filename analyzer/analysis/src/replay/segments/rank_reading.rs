//! Reads the steps of a rank, up to calls at which the run may be cut.

use std::collections::VecDeque;
use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::record::NONE;
use rustc_hash::FxHashSet;

use crate::model::region_state::{Ns, RegionState};
use crate::replay::consistent_cut::{RankAtCut, may_cut};
use crate::replay::timeline::{CommEvent, CommRole, RankInput, RankSteps, StepChunk, TimelineStep};

/// Maximum number of steps that a rank may have in a segment, as a multiple: more would have to be kept in memory.
const MOST: usize = 4;
/// Of a rank that does not lead, where steps are packed: it may be one that has messages from all others.
const MOST_PACKED: usize = 64;

/// A call of the rank that leads at which the run may be cut: the other ranks' calls of the same number are the same collective.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct CutMark {
    /// Index of its communicator.
    pub comm: u32,
    /// Number of such calls in the segment, including this one.
    number: usize,
}

/// The steps of a rank in a segment that ends with such a call.
pub struct StepsUpToCut {
    /// Time at which the rank entered the call.
    pub begin: Ns,
    /// State of the rank after the segment.
    pub at: RankAtCut,
    /// Its steps.
    pub read: VecDeque<StepChunk>,
    /// True if the last piece goes on after it.
    splits: bool,
}

/// The position up to which a rank was read.
pub struct RankReading<'a> {
    /// The steps that were read and are in no segment yet, and the reader of the rest.
    input: RankInput<'a>,
    /// True if its steps are packed.
    packs: bool,
    /// Lists and steps of the segments.
    lists: Vec<Arc<[u32]>>,
    given: usize,
    /// Segments that were read and not taken yet.
    ready: VecDeque<StepsUpToCut>,
}

/// A call of a rank at which the run may be cut.
#[derive(Clone, Copy)]
struct CutCandidate {
    mark: CutMark,
    /// Begin of the call.
    begin: Ns,
    end: Ns,
    kind: RegionState,
    /// Position of the call: how many pieces of what was read are before it, and how many steps of that in which it is, with it.
    pieces: usize,
    steps: usize,
}

impl<'a> RankReading<'a> {
    /// Creates the reading of a rank of which nothing was read yet.
    pub fn new(steps: Option<Box<RankSteps<'a>>>, packs: bool) -> Self {
        let input = RankInput { steps, ..RankInput::default() };
        RankReading { input, packs, lists: Vec::new(), given: 0, ready: VecDeque::new() }
    }

    /// Reads a segment of so many steps, as the rank that leads; `None`: the run can't be cut there.
    pub fn lead(&mut self, of_all: &[bool], steps: usize) -> Option<CutMark> {
        let found = self.find_after(of_all, steps)?;
        self.split(&found);
        Some(found.mark)
    }

    /// Reads a segment that ends where that of the leading rank does, which has so many `steps`; `false`: the run can't be cut there.
    pub fn follow(&mut self, of_all: &[bool], mark: CutMark, steps: usize) -> bool {
        let found =
            self.find_number(of_all, mark.number, self.most(steps)).filter(|found| found.mark.comm == mark.comm);
        found.inspect(|found| self.split(found)).is_some()
    }

    /// The segments that were read and not taken yet.
    pub fn ready(&self) -> &VecDeque<StepsUpToCut> {
        &self.ready
    }

    /// The first of them.
    pub fn take(&mut self) -> Option<StepsUpToCut> {
        self.ready.pop_front()
    }

    /// Returns all steps that are in no segment, read or not: how many segments are read at a time must not change anything.
    pub fn rest(self) -> RankInput<'a> {
        let segments = self.ready.into_iter().map(|segment| (segment.read, segment.splits));
        let (mut read, mut goes_on) = (VecDeque::new(), false);
        for (mut pieces, splits) in segments.chain([(self.input.read, false)]) {
            let rest = if goes_on { pieces.pop_front() } else { None };
            if let Some((first, rest)) = read.back_mut().zip(rest) {
                StepChunk::rejoin(first, rest);
            }
            read.append(&mut pieces);
            goes_on = splits;
        }
        RankInput { read, steps: self.input.steps }
    }

    /// Reads to the end of the log; `false` where that is more than a segment may have.
    pub fn read_rest(&mut self, steps: usize) -> bool {
        let most = self.most(steps);
        while self.input.read.iter().map(StepChunk::len).sum::<usize>() <= most {
            if !self.read() {
                return true;
            }
        }
        false
    }

    /// Reads to a cut, and leaves out what is before it.
    pub fn leave_out(&mut self, cut: &RankAtCut) {
        (self.given, self.lists) = (cut.steps, cut.lists.clone());
        let mut left = cut.steps;
        while left > 0 && (!self.input.read.is_empty() || self.read()) {
            let Some(piece) = self.input.read.front_mut() else { return };
            left -= piece.split_off_first(left).len();
            if piece.is_empty() {
                self.input.read.pop_front();
            }
        }
    }

    /// Most steps of a segment in which the leading rank has so many.
    fn most(&self, steps: usize) -> usize {
        steps.saturating_mul(if self.packs { MOST_PACKED } else { MOST })
    }

    /// Reads on; `false`: at the end of the log.
    fn read(&mut self) -> bool {
        let Some(steps) = &mut self.input.steps else { return false };
        let Some(batch) = steps.next_batch() else {
            self.input.steps = None;
            return false;
        };
        if self.packs {
            steps.give_back_memory();
        }
        self.input.read.extend(StepChunk::several(batch, self.packs));
        true
    }

    /// The first call at which the run may be cut, of those that `accept` accepts, by its number and how many steps there
    /// are up to and with it; gives up after the chunk that passes `most`.
    fn find(
        &mut self,
        of_all: &[bool],
        most: usize,
        mut accept: impl FnMut(&[CommEvent], Option<usize>, usize) -> bool,
    ) -> Option<CutCandidate> {
        let (mut pieces, mut before, mut number) = (0, 0, 0);
        while before <= most {
            if pieces == self.input.read.len() && !self.read() {
                return None;
            }
            let piece = &self.input.read[pieces];
            if piece.thread() != 0 || piece.is_after_gap() {
                return None;
            }
            let (mut comm, mut at) = (NONE, before);
            let found = piece.find(|step, events| {
                let cuts = may_cut(of_all, step, events);
                number += usize::from(cuts.is_some());
                at += 1;
                comm = cuts.unwrap_or(NONE);
                accept(events, cuts.map(|_| number), at)
            });
            if let Some((steps, TimelineStep { begin, end, kind, .. })) = found {
                return Some(CutCandidate {
                    mark: CutMark { comm, number },
                    begin,
                    end,
                    kind,
                    pieces,
                    steps: steps + 1,
                });
            }
            before += piece.len();
            pieces += 1;
        }
        None
    }

    /// The first after so many steps at which no request is open.
    fn find_after(&mut self, of_all: &[bool], steps: usize) -> Option<CutCandidate> {
        let mut open = FxHashSet::default();
        self.find(of_all, MOST.saturating_mul(steps), |events, number, before| {
            // What has no request is complete already.
            for event in events.iter().filter(|event| event.request != NONE) {
                match event.role {
                    CommRole::StartSend
                    | CommRole::StartRecv
                    | CommRole::StartRecvAny
                    | CommRole::StartCollective(_) => open.insert(event.request),
                    CommRole::Done | CommRole::Found | CommRole::Cancelled => open.remove(&event.request),
                    _ => false,
                };
            }
            number.is_some() && before >= steps && open.is_empty()
        })
    }

    /// The one of this number.
    fn find_number(&mut self, of_all: &[bool], wanted: usize, most: usize) -> Option<CutCandidate> {
        self.find(of_all, most, |_, number, _| number == Some(wanted))
    }

    /// Splits off the segment that ends with the call that was found.
    fn split(&mut self, found: &CutCandidate) {
        let read = &mut self.input.read;
        let rest = read.split_off(found.pieces);
        let mut segment = std::mem::replace(read, rest);
        let mut splits = false;
        if let Some(piece) = read.front_mut() {
            segment.push_back(piece.split_off_first(found.steps));
            splits = !piece.is_empty();
            if !splits {
                read.pop_front();
            }
        }
        self.given += segment.iter().map(StepChunk::len).sum::<usize>();
        self.lists.extend(segment.iter().flat_map(StepChunk::lists).cloned());
        let at = RankAtCut { end: found.end, kind: found.kind, steps: self.given, lists: self.lists.clone() };
        self.ready.push_back(StepsUpToCut { begin: found.begin, at, read: segment, splits });
    }
}
