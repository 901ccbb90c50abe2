//! Reads the steps of a rank, up to calls at which the run may be cut.

use std::collections::VecDeque;
use std::sync::Arc;

use bincode::{Decode, Encode};
use lbprof_collector::record::NONE;
use rustc_hash::FxHashSet;

use crate::model::code::region_state::Ns;
use crate::replay::cut::consistent_cut::{RankAtCut, may_cut};
use crate::replay::timeline::{CommEvent, CommRole, RankInput, RankSteps, StepChunk, TimelineStep};

/// Maximum number of steps that a rank may have in a segment, as a multiple of the desired number. They are kept in memory.
const MOST: usize = 4;
/// Likewise for packed steps of a rank that does not lead. It may have messages from all others.
const MOST_PACKED: usize = 64;

/// A call of the leading rank at which the run may be cut. The other ranks' calls of the same number are the same collective.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct CutMark {
    pub comm: u32,
    /// Number of such calls in the segment, including this one.
    number: usize,
}

/// The steps of a rank in a segment that ends with such a call.
pub struct StepsUpToCut {
    /// Time at which the rank entered the call.
    pub begin: Ns,
    pub at: RankAtCut,
    pub read: VecDeque<StepChunk>,
}

pub struct RankReading<'a> {
    /// The steps that were read and are in no segment yet, and the reader of the rest.
    input: RankInput<'a>,
    packs: bool,
    lists: Vec<Arc<[u32]>>,
    given: usize,
    pub ready: VecDeque<StepsUpToCut>,
}

#[derive(Clone, Copy)]
struct CutCandidate {
    mark: CutMark,
    call: TimelineStep,
    /// Position of the call: the number of chunks before it, and of steps in its chunk up to and with it.
    pieces: usize,
    steps: usize,
}

impl<'a> RankReading<'a> {
    pub fn new(steps: Option<Box<RankSteps<'a>>>, packs: bool) -> Self {
        let input = RankInput { steps, ..RankInput::default() };
        RankReading { input, packs, lists: Vec::new(), given: 0, ready: VecDeque::new() }
    }

    /// Reads a segment of at least `steps` steps as the leading rank. Returns `None` if the run cannot be cut there.
    pub fn lead(&mut self, of_all: &[bool], steps: usize) -> Option<CutMark> {
        let found = self.find_after(of_all, steps)?;
        self.split(&found);
        Some(found.mark)
    }

    /// Reads a segment up to the mark of the leading rank, whose segment has at least `steps` steps. Returns `false` if the run cannot be cut
    /// there.
    pub fn follow(&mut self, of_all: &[bool], mark: CutMark, steps: usize) -> bool {
        let found = self.find(of_all, self.most(steps), |_, number, _| number == Some(mark.number));
        let found = found.filter(|found| found.mark.comm == mark.comm);
        found.inspect(|found| self.split(found)).is_some()
    }

    /// Returns all steps after the last segment that was read.
    pub fn rest(self) -> RankInput<'a> {
        self.input
    }

    /// Reads to the end of the log. Returns `false` if that is more than a segment may have.
    pub fn read_rest(&mut self, steps: usize) -> bool {
        let most = self.most(steps);
        while self.input.read.iter().map(StepChunk::len).sum::<usize>() <= most {
            if !self.read() {
                return true;
            }
        }
        false
    }

    /// Reads to a cut, and drops the steps before it.
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

    /// Returns the maximum number of steps in a segment in which the leading rank has `steps`.
    fn most(&self, steps: usize) -> usize {
        steps.saturating_mul(if self.packs { MOST_PACKED } else { MOST })
    }

    /// Reads the next batch. Returns `false` at the end of the log.
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

    /// Finds the first call at which the run may be cut and that `accept` accepts, given its events, its number, and the number of steps up to and
    /// with it. Gives up after the chunk that passes `most` steps.
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
            if piece.head().thread != 0 || piece.head().gap {
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
            if let Some((before, call)) = found {
                return Some(CutCandidate { mark: CutMark { comm, number }, call, pieces, steps: before + 1 });
            }
            before += piece.len();
            pieces += 1;
        }
        None
    }

    /// Finds the first call after `steps` steps at which no request is open.
    fn find_after(&mut self, of_all: &[bool], steps: usize) -> Option<CutCandidate> {
        let mut open = FxHashSet::default();
        self.find(of_all, MOST.saturating_mul(steps), |events, number, before| {
            // Operations without a request are complete already.
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

    fn split(&mut self, found: &CutCandidate) {
        let read = &mut self.input.read;
        let rest = read.split_off(found.pieces);
        let mut segment = std::mem::replace(read, rest);
        if let Some(piece) = read.front_mut() {
            segment.push_back(piece.split_off_first(found.steps));
            if piece.is_empty() {
                read.pop_front();
            }
        }
        self.given += segment.iter().map(StepChunk::len).sum::<usize>();
        self.lists.extend(segment.iter().flat_map(|piece| &piece.head().lists).cloned());
        let TimelineStep { begin, end, kind, .. } = found.call;
        let at = RankAtCut { end, kind, steps: self.given, lists: self.lists.clone() };
        self.ready.push_back(StepsUpToCut { begin, at, read: segment });
    }
}
