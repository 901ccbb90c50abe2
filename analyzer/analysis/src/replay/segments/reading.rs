//! Reads the steps of ranks, one segment of the run after another.
//!
//! A segment ends with the first collective at which the run may be cut ([`crate::replay::cut::consistent_cut::may_cut`]) after a number of steps of
//! the leading rank, and with the same collective of each other rank. So segments do not depend on the processes that replay them.

use std::sync::Arc;

use rayon::prelude::*;

use super::rank_reading::{CutMark, RankReading, StepsUpToCut};
use crate::model::code::region_state::Ns;
use crate::replay::cut::consistent_cut::ConsistentCut;
use crate::replay::timeline::{RankInput, RankSteps, are_packed};

pub struct SegmentReading<'a> {
    ranks: Vec<RankReading<'a>>,
    first: usize,
    leading: LeadingRank,
}

/// The rank that decides where segments end.
#[derive(Clone)]
pub struct LeadingRank {
    pub rank: usize,
    /// Minimum number of its steps in a segment.
    pub steps: usize,
    /// By index: whether a communicator has all ranks.
    pub of_all: Arc<[bool]>,
}

impl<'a> SegmentReading<'a> {
    /// Starts at the beginning of the logs of consecutive ranks, the first of which has the index `first` among `all` ranks.
    pub fn new(logs: Vec<Option<Box<RankSteps<'a>>>>, first: usize, all: usize, leading: LeadingRank) -> Self {
        let packs = are_packed(all);
        let ranks = logs.into_par_iter().map(|steps| RankReading::new(steps, packs)).collect();
        SegmentReading { ranks, first, leading }
    }

    /// Reads up to `n` segments of the leading rank, if it is local. Returns their ends, up to the first at which the run cannot be cut.
    pub fn lead(&mut self, n: usize) -> Vec<CutMark> {
        let LeadingRank { rank, steps, ref of_all } = self.leading;
        let leads = rank.checked_sub(self.first).and_then(|at| self.ranks.get_mut(at));
        leads.map(|leads| (0..n).map_while(|_| leads.lead(of_all, steps)).collect()).unwrap_or_default()
    }

    /// Reads the other ranks up to these ends of segments. Returns the time of the last entry into each, up to the first at which the run cannot be cut.
    pub fn read_to(&mut self, marks: &[CutMark]) -> Vec<Option<Ns>> {
        let LeadingRank { rank: leads, steps, ref of_all } = self.leading;
        let first = self.first;
        let of_rank = self.ranks.par_iter_mut().enumerate().map(|(at, rank)| {
            if first + at != leads {
                let _ = marks.iter().all(|&mark| rank.follow(of_all, mark, steps));
            }
            rank.ready.len()
        });
        let n = of_rank.min().unwrap_or(marks.len()).min(marks.len());
        (0..n).map(|segment| self.ranks.iter().filter_map(|rank| Some(rank.ready.get(segment)?.begin)).max()).collect()
    }

    pub fn take(&mut self) -> Vec<StepsUpToCut> {
        self.ranks.iter_mut().filter_map(|rank| rank.ready.pop_front()).collect()
    }

    /// Reads to the ends of the logs. Returns `false` if that is more than a segment may have.
    pub fn read_rest(&mut self) -> bool {
        let steps = self.leading.steps;
        self.ranks.par_iter_mut().all(|rank| rank.read_rest(steps))
    }

    /// Returns the inputs after the last cut, or `None` if some ranks were read up to a cut that others do not have.
    pub fn take_rest(&mut self) -> Option<Vec<RankInput<'a>>> {
        let ranks = std::mem::take(&mut self.ranks);
        ranks.iter().all(|rank| rank.ready.is_empty()).then(|| ranks.into_iter().map(RankReading::rest).collect())
    }
}

pub struct ReplaySegment<'a> {
    /// State of the ranks at the start; `None`: they begin.
    pub from: Option<Arc<ConsistentCut>>,
    pub inputs: Vec<RankInput<'a>>,
    /// State of the ranks at the end; `None`: at their ends.
    pub to: Option<Arc<ConsistentCut>>,
}

impl<'a> ReplaySegment<'a> {
    /// Creates the last segment, which begins at `cut`. The logs are read from their begin, and the steps before the cut are dropped.
    pub fn all_from(cut: Option<Arc<ConsistentCut>>, logs: Vec<Option<Box<RankSteps<'a>>>>) -> Self {
        let packs = are_packed(logs.len());
        let inputs = logs
            .into_par_iter()
            .enumerate()
            .map(|(place, steps)| {
                let mut rank = RankReading::new(steps, packs);
                for at in cut.iter().filter_map(|cut| cut.ranks.get(place)) {
                    rank.leave_out(at);
                }
                rank.rest()
            })
            .collect();
        ReplaySegment { from: cut, inputs, to: None }
    }
}

pub struct ReplaySegments<'a> {
    reading: SegmentReading<'a>,
    from: Option<Arc<ConsistentCut>>,
    /// True if the rest of the run is one.
    is_last: bool,
}

impl<'a> ReplaySegments<'a> {
    /// Starts at the begin of the run. Without `can_cut` the whole run is one segment.
    pub fn new(reading: SegmentReading<'a>, can_cut: bool) -> Self {
        ReplaySegments { reading, from: None, is_last: !can_cut }
    }

    /// Reads the next segments that end with a cut, at most `n`. If there are fewer, only the remainder of the run is left.
    pub fn next(&mut self, n: usize) -> Vec<ReplaySegment<'a>> {
        if self.is_last {
            return Vec::new();
        }
        let marks = self.reading.lead(n);
        let lasts = self.reading.read_to(&marks);
        self.is_last = lasts.len() < n;
        let ends = marks.into_iter().zip(lasts);
        ends.filter_map(|(mark, last)| {
            let steps = self.reading.take().into_iter();
            let (ranks, inputs) =
                steps.map(|StepsUpToCut { at, read, .. }| (at, RankInput { read, steps: None })).unzip();
            let to = Some(Arc::new(ConsistentCut { comm: mark.comm, last: last?, ranks }));
            Some(ReplaySegment { from: std::mem::replace(&mut self.from, to.clone()), inputs, to })
        })
        .collect()
    }

    /// Returns the remainder of the run, or its start if that must be read once more ([`SegmentReading::take_rest`]).
    pub fn take_rest(mut self) -> Result<ReplaySegment<'a>, Option<Arc<ConsistentCut>>> {
        match self.reading.take_rest() {
            Some(inputs) => Ok(ReplaySegment { from: self.from, inputs, to: None }),
            None => Err(self.from),
        }
    }
}
