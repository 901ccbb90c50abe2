//! Reads the steps of all ranks, one segment of the run after another.
//!
//! A segment ends with the first collective at which a run may be cut ([`may_cut`]) after so many steps of one rank, and with the same collective of each other
//! rank. So segments do not depend on who follows them, nor on how many do.

use std::sync::Arc;

use lbprof_collector::record::NONE;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::model::region_state::{Ns, RegionState};
use crate::replay::cut::{AtCut, Cut, may_cut};
use crate::replay::timeline::{CommEvent, Piece, RankInput, RankSteps, Role, Step, are_packed};

/// How many times as many steps a segment may have, of a rank: more would have to be kept in memory.
const MOST: usize = 4;
/// Of a rank that does not lead, where steps are packed: it may be one that has messages from all others.
const MOST_PACKED: usize = 64;

/// The segment at hand.
pub struct Segment<'a> {
    /// What ranks go on with; `None`: they begin.
    pub from: Option<Arc<Cut>>,
    /// What they do.
    pub inputs: Vec<RankInput<'a>>,
    /// Where they are then; `None`: at their ends.
    pub to: Option<Arc<Cut>>,
}

/// Where all ranks were read to.
pub struct Reading<'a> {
    /// By place.
    ranks: Vec<RankReading<'a>>,
    /// By index: whether a communicator has all ranks.
    of_all: Vec<bool>,
    /// Steps in a segment of the rank that leads; `None`: there is one segment only.
    steps: Option<usize>,
    /// The place of that rank.
    leads: usize,
    /// The end of the last segment.
    from: Option<Arc<Cut>>,
}

/// Where a rank was read to.
struct RankReading<'a> {
    /// What was read and is in no segment yet, and who reads on.
    input: RankInput<'a>,
    /// Whether its steps are packed.
    packs: bool,
    /// Lists and steps of the segments.
    lists: Vec<Arc<[u32]>>,
    given: usize,
}

/// A call of a rank at which the run may be cut.
#[derive(Clone, Copy)]
struct Found {
    comm: u32,
    /// When it began and ended.
    begin: Ns,
    end: Ns,
    kind: RegionState,
    /// How many such calls the segment has, with this one.
    number: usize,
    /// Where it is: how many pieces of what was read are before it, and how many steps of that in which it is, with it.
    pieces: usize,
    steps: usize,
}

impl<'a> Reading<'a> {
    /// Begins with what ranks do first, or go on with `from`: then their logs are read from the begin, and what is before it is left out.
    pub fn new(
        logs: Vec<Option<Box<RankSteps<'a>>>>,
        of_all: Vec<bool>,
        (leads, steps): (usize, Option<usize>),
        from: Option<Arc<Cut>>,
    ) -> Self {
        let packs = are_packed(logs.len());
        let ranks = logs.into_par_iter().enumerate().map(|(place, steps)| {
            let input = RankInput { steps, ..RankInput::default() };
            let mut rank = RankReading { input, packs, lists: Vec::new(), given: 0 };
            if let Some(cut) = &from {
                rank.leave_out(&cut.ranks[place]);
            }
            rank
        });
        Reading { ranks: ranks.collect(), of_all, steps, leads, from }
    }

    /// The next segment that ends with a cut; `None`: the rest of the run is one segment.
    pub fn next(&mut self) -> Option<Segment<'a>> {
        let steps = self.steps?;
        let of_all = &self.of_all;
        let first = self.ranks.get_mut(self.leads)?.find_after(of_all, steps);
        let find = |rank: &mut RankReading| {
            let Found { number, comm, .. } = first?;
            let most = if rank.packs { MOST_PACKED } else { MOST };
            rank.find_number(of_all, number, most.saturating_mul(steps)).filter(|other| other.comm == comm)
        };
        let found: Option<Vec<Found>> = self.ranks.par_iter_mut().map(find).collect();
        let (Some(first), Some(found)) = (first, found) else {
            self.steps = None;
            return None;
        };
        // Of those that entered it at the same time, the first.
        let last = (0..found.len() as u32).zip(&found).rev().max_by_key(|(_, found)| found.begin);
        let (last_rank, last) = last.map_or((0, 0), |(rank, found)| (rank, found.begin));
        let inputs = self.ranks.iter_mut().zip(&found).map(|(rank, found)| rank.split(found)).collect();
        let at_cut = |(rank, found): (&RankReading, &Found)| AtCut {
            end: found.end,
            kind: found.kind,
            steps: rank.given,
            lists: rank.lists.clone(),
        };
        let ranks = self.ranks.iter().zip(&found).map(at_cut).collect();
        let to = Some(Arc::new(Cut { comm: first.comm, last, last_rank, ranks }));
        Some(Segment { from: std::mem::replace(&mut self.from, to.clone()), inputs, to })
    }

    /// The rest of the run.
    pub fn take_rest(&mut self) -> Segment<'a> {
        let inputs = std::mem::take(&mut self.ranks).into_iter().map(|rank| rank.input).collect();
        Segment { from: self.from.take(), inputs, to: None }
    }
}

impl<'a> RankReading<'a> {
    /// Reads on; `false`: at the end of the log, or of what can be cut.
    fn read(&mut self) -> bool {
        let Some(steps) = &mut self.input.steps else { return false };
        let Some(batch) = steps.next_batch() else {
            self.input.steps = None;
            return false;
        };
        if self.packs {
            steps.give_back_memory();
        }
        self.input.read.push_back(Piece::new(batch, self.packs));
        true
    }

    /// The first call at which the run may be cut, of those that `accept` accepts, by its number and how many steps there were before it, at most `most`.
    fn find(
        &mut self,
        of_all: &[bool],
        most: usize,
        mut accept: impl FnMut(&[CommEvent], Option<usize>, usize) -> bool,
    ) -> Option<Found> {
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
            if let Some((steps, Step { begin, end, kind, .. })) = found {
                return Some(Found { comm, begin, end, kind, number, pieces, steps: steps + 1 });
            }
            before += piece.len();
            pieces += 1;
        }
        None
    }

    /// The first after so many steps at which no request is open.
    fn find_after(&mut self, of_all: &[bool], steps: usize) -> Option<Found> {
        let mut open = FxHashSet::default();
        self.find(of_all, MOST.saturating_mul(steps), |events, number, before| {
            for event in events {
                match event.role {
                    Role::StartSend | Role::StartRecv | Role::StartRecvAny | Role::StartCollective(_) => {
                        open.insert(event.request)
                    }
                    Role::Done | Role::Found | Role::Cancelled => open.remove(&event.request),
                    _ => false,
                };
            }
            number.is_some() && before >= steps && open.is_empty()
        })
    }

    /// The one of this number.
    fn find_number(&mut self, of_all: &[bool], wanted: usize, most: usize) -> Option<Found> {
        self.find(of_all, most, |_, number, _| number == Some(wanted))
    }

    /// What it does until the end of the call that was found.
    fn split(&mut self, found: &Found) -> RankInput<'a> {
        let read = &mut self.input.read;
        let rest = read.split_off(found.pieces);
        let mut segment = std::mem::replace(read, rest);
        if let Some(piece) = read.front_mut() {
            segment.push_back(piece.split_off_first(found.steps));
            if piece.is_empty() {
                read.pop_front();
            }
        }
        self.given += segment.iter().map(Piece::len).sum::<usize>();
        self.lists.extend(segment.iter().flat_map(Piece::lists).cloned());
        RankInput { read: segment, steps: None }
    }

    /// Reads to a cut, and leaves out what is before it.
    fn leave_out(&mut self, cut: &AtCut) {
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
}
