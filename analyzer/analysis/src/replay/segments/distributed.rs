//! The segments of a run that several processes follow, each of which reads some of the ranks.
//!
//! ```text
//!   process 0                                 all, 0 too
//!   Begin: samples of all ranks          ─→                                                      ←─ samples of one's ranks
//!   Lead: so many segments               ─→   who has the rank that leads reads it               ─→ where segments end
//!   Read: up to these ends               ─→   reads its ranks                                    ─→ how far, and who enters last
//!   Follow: the segments up to these cuts ─→  sends to each process what its ranks do in the segments which that follows,
//!                                             and follows its own                                ─→ what was found, joined by a tree in their order
//!     … and so on: Lead, Read, Follow
//!   Rest                                 ─→   reads to the ends of the logs                      ─→ what its ranks do after the last cut
//!   End
//! ```
//!
//! Where the run cannot be cut process 0 goes on alone from the last cut.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bincode::{Decode, Encode};

use super::rank_reading::{CutMark, StepsUpToCut};
use super::reading::{LastEntry, ReplaySegment, SegmentReading};
use super::surveyed_run::{LocalRanks, LookupTables, ReplayOptions, SurveyedRun, leading, own_places, setting};
use super::{JoinedSegments, SegmentOutcome, SegmentReplay, at_a_time, watched};
use crate::model::what_if::WhatIfScenario;
use crate::read::distributed_run::RecordPass;
use crate::read::pass::FoldProgress;
use crate::replay::blocking::TimedSample;
use crate::replay::consistent_cut::{ConsistentCut, RankAtCut};
use crate::replay::observer::{ObserverState, ReplayObserver};
use crate::replay::segment_result::SegmentResult;
use crate::replay::timeline::{RankInput, StepChunk};
use crate::replay::what_if::ReplayConditions;
use crate::transport::{ProcessGroup, TransportFailure};

/// A command from process 0 to all processes.
#[derive(Encode, Decode)]
enum ReplayCommand {
    /// Start with the samples of all ranks: these are the samples of all ranks.
    Begin(Vec<Vec<TimedSample>>),
    /// Read so many segments of the rank that leads.
    Lead(usize),
    /// Read the others up to these ends.
    Read(Vec<CutMark>),
    /// The run is cut here.
    Follow(Vec<CutPoint>),
    /// There are no more cuts.
    Rest,
    /// Stop.
    End,
}

/// The collective at which a segment ends.
#[derive(Clone, Copy, Encode, Decode)]
struct CutPoint {
    comm: u32,
    last: LastEntry,
}

/// The report of a process that is ready to start: the places of its ranks, and whether the run can be cut.
#[derive(Encode, Decode)]
struct ReadyReport {
    places: Range<usize>,
    can_cut: bool,
    samples: Vec<Vec<TimedSample>>,
}

/// The last entry of a process's ranks into the collective at the end of each segment; `None`: there are no ranks.
#[derive(Encode, Decode)]
struct LastEntries(Vec<Option<LastEntry>>);

impl LastEntries {
    /// Merges the entries of higher ranks, and drops the cuts that only one side has reached.
    fn and_higher(self, higher: LastEntries) -> LastEntries {
        let both = |(lower, higher): (Option<LastEntry>, Option<LastEntry>)| match (lower, higher) {
            (Some(lower), Some(higher)) => Some(lower.or_higher(higher)),
            (lower, higher) => lower.or(higher),
        };
        LastEntries(self.0.into_iter().zip(higher.0).map(both).collect())
    }
}

/// The steps of one process's ranks in consecutive segments.
#[derive(Encode, Decode)]
struct LocalSegments {
    /// State of the ranks before the first segment; none at the begin of the run.
    from: Vec<RankAtCut>,
    segments: Vec<LocalSegment>,
}

/// The steps of one process's ranks in a segment.
#[derive(Encode, Decode)]
struct LocalSegment {
    steps: Vec<VecDeque<StepChunk>>,
    /// State of the ranks after the segment.
    to: Vec<RankAtCut>,
}

/// The merged results of consecutive segments, up to the first without a cut at its end.
#[derive(Encode, Decode)]
struct ReplayedSegments {
    /// Nothing where there are none.
    found: Option<(SegmentResult, Option<ObserverState>)>,
    /// Start of the segment without a cut at its end, if any.
    not_cut: Option<Option<Arc<ConsistentCut>>>,
}

impl ReplayedSegments {
    /// Merges the outcomes of consecutive segments; `watcher` is one that has seen none of them.
    fn from_outcomes(all: Vec<SegmentOutcome>, watcher: Option<&dyn ReplayObserver>) -> ReplayedSegments {
        let none = ReplayedSegments { found: None, not_cut: None };
        all.into_iter().fold(none, |before, found| match found {
            Ok(found) => before.and(ReplayedSegments { found: Some(found), not_cut: None }, watcher),
            Err(from) => before.and(ReplayedSegments { found: None, not_cut: Some(from) }, watcher),
        })
    }

    /// This and what was found in the segments after it.
    fn and(self, after: ReplayedSegments, watcher: Option<&dyn ReplayObserver>) -> ReplayedSegments {
        if self.not_cut.is_some() {
            return self;
        }
        let found = match (self.found, after.found) {
            (Some((part, seen)), Some((after, seen_after))) => {
                Some((part.and(after), seen_in_both(watcher, [seen, seen_after])))
            }
            (before, after) => before.or(after),
        };
        ReplayedSegments { found, ..after }
    }
}

/// Merges the observations of two consecutive parts of the run.
fn seen_in_both(watcher: Option<&dyn ReplayObserver>, seen: [Option<ObserverState>; 2]) -> Option<ObserverState> {
    let mut both = watcher?.fork_for_segment()?;
    for seen in seen.into_iter().flatten() {
        both.merge(seen);
    }
    Some(both.into_state())
}

/// The steps of one process's ranks after the last cut.
#[derive(Encode, Decode)]
struct LocalRemainder {
    /// State of the ranks at that cut.
    from: Vec<RankAtCut>,
    /// `None`: more than a segment may have.
    steps: Option<Vec<VecDeque<StepChunk>>>,
}

/// The processes that follow a run with this one, which is process 0: they are asked to. `None`: this one follows it alone.
///
/// Errors: a process failed.
pub(super) fn team<'a>(
    surveyed: SurveyedRun<'a>,
    options: &ReplayOptions,
) -> Result<Option<&'a ProcessGroup>, TransportFailure> {
    let has_segments = options.watcher.as_ref().is_none_or(|watcher| watcher.fork_for_segment().is_some());
    match (&surveyed.run.together, options.input) {
        (Some(together), Some(input))
            if together.team().is_some_and(|team| team.processes() > 1)
                && has_segments
                && options.can_cut(surveyed.model) =>
        {
            together.begin((RecordPass::Follow, surveyed.run.part()), input())
        }
        _ => Ok(None),
    }
}

/// Begins, as process 0, which reads the ranks at these places: the samples of all ranks. `None`: the run cannot be cut, so this process follows it alone.
///
/// Errors: a process failed.
pub(super) fn begin(
    team: &ProcessGroup,
    (places, can_cut): (Range<usize>, bool),
    samples: Vec<Vec<TimedSample>>,
) -> Result<Option<Vec<Vec<TimedSample>>>, TransportFailure> {
    let ready = ended_on_failure(team, team.gather(Ok(ReadyReport { places, can_cut, samples })))?.unwrap_or_default();
    // A process may have no ranks.
    let places: Vec<_> = ready.iter().map(|one| &one.places).filter(|places| !places.is_empty()).collect();
    let follow_one_another = places.windows(2).all(|pair| pair[0].end == pair[1].start);
    if !follow_one_another || !ready.iter().all(|one| one.can_cut) {
        team.broadcast(&ReplayCommand::End)?;
        return Ok(None);
    }
    let begin = ReplayCommand::Begin(ready.into_iter().flat_map(|one| one.samples).collect());
    team.broadcast(&begin)?;
    let ReplayCommand::Begin(samples) = begin else { unreachable!("it was made above") };
    Ok(Some(samples))
}

/// Lets the others end where one has failed.
fn ended_on_failure<T>(team: &ProcessGroup, done: Result<T, TransportFailure>) -> Result<T, TransportFailure> {
    if done.is_err() {
        team.broadcast(&ReplayCommand::End)?;
    }
    done
}

/// Follows segments of a run for process 0, which has asked for it.
///
/// Errors: another process is not there any more. Process 0 gets to know what fails here.
pub fn follow_share(
    team: &ProcessGroup,
    surveyed: SurveyedRun,
    options: ReplayOptions,
) -> Result<(), TransportFailure> {
    let model = surveyed.model;
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, options.watcher.is_some());
    let places = own_places(surveyed);
    let ready = team.guarded(|| {
        let ranks = LocalRanks::open(surveyed, ids, places.clone(), &options);
        let can_cut = ranks.are_all();
        let LocalRanks { logs, samples } = ranks;
        Ok((logs, ReadyReport { places: places.clone(), can_cut, samples }))
    });
    let (logs, ready) = match ready {
        Ok((logs, ready)) => (logs, Ok(ready)),
        Err(failure) => (Vec::new(), Err(failure)),
    };
    team.gather(ready)?;
    let ReplayCommand::Begin(samples) = team.received_broadcast()? else { return Ok(()) };
    let ReplayOptions { scope, scenarios, watcher, most_kept, segment_steps, .. } = options;
    let (_, conditions): (Vec<WhatIfScenario>, Vec<ReplayConditions>) = scenarios.into_iter().unzip();
    let unread = vec![false; model.ranks.len()];
    let setting = setting(model, (scope, conditions), (samples, unread), most_kept);
    let reading = SegmentReading::new(logs, (places.start, model.ranks.len()), leading(&setting, segment_steps));
    let following = SegmentReplay { surveyed, ids, setting: &setting, progress: &|_| () };
    let mut share = SegmentWorker { team, following: &following, reading, at: Vec::new(), last: None };
    loop {
        match team.received_broadcast()? {
            ReplayCommand::Lead(n) => drop(share.lead(n)?),
            ReplayCommand::Read(marks) => drop(share.read_to(&marks)?),
            ReplayCommand::Follow(cuts) => drop(share.follow(&cuts, watcher.as_deref())?),
            ReplayCommand::Rest => drop(share.rest()?),
            ReplayCommand::Begin(_) | ReplayCommand::End => return Ok(()),
        }
    }
}

/// Says why this process cannot follow segments for process 0.
///
/// Errors: another process is not there any more.
pub fn decline_share(team: &ProcessGroup, failure: TransportFailure) -> Result<(), TransportFailure> {
    team.gather::<ReadyReport>(Err(failure))?;
    team.received_broadcast::<ReplayCommand>().map(drop)
}

impl<'a, P: Fn(FoldProgress) + Sync> SegmentReplay<'a, P> {
    /// Replays all segments in cooperation with the other processes, as process 0.
    pub(super) fn together<'w>(
        &self,
        team: &ProcessGroup,
        reading: SegmentReading<'a>,
        watcher: Option<&'w mut (dyn ReplayObserver + 'w)>,
    ) -> Result<SegmentResult, TransportFailure> {
        let mut share = SegmentWorker { team, following: self, reading, at: Vec::new(), last: None };
        let mut found = JoinedSegments { part: None, watcher };
        let rest = ended_on_failure(team, share.all_cuts(&mut found))?;
        team.broadcast(&ReplayCommand::End)?;
        drop(share);
        Ok(self.to_end(rest, found))
    }
}

/// A process's part of the work.
struct SegmentWorker<'s, 'a, P> {
    team: &'s ProcessGroup,
    following: &'s SegmentReplay<'a, P>,
    reading: SegmentReading<'a>,
    /// The last cut, and where its ranks are there; none before the first.
    last: Option<CutPoint>,
    at: Vec<RankAtCut>,
}

impl<'a, P: Fn(FoldProgress) + Sync> SegmentWorker<'_, 'a, P> {
    /// Reads all cuts, as process 0: has all segments followed that end with a cut; the rest of the run.
    fn all_cuts(&mut self, found: &mut JoinedSegments) -> Result<ReplaySegment<'a>, TransportFailure> {
        let n = at_a_time() * self.team.processes();
        loop {
            self.team.broadcast(&ReplayCommand::Lead(n))?;
            let marks = self.lead(n)?.unwrap_or_default();
            self.team.broadcast(&ReplayCommand::Read(marks.clone()))?;
            let lasts = self.read_to(&marks)?.map(|lasts| lasts.0).unwrap_or_default();
            let is_last = lasts.len() < n;
            let cuts: Vec<CutPoint> = marks
                .iter()
                .zip(lasts)
                .filter_map(|(mark, last)| Some(CutPoint { comm: mark.comm, last: last? }))
                .collect();
            self.team.broadcast(&ReplayCommand::Follow(cuts.clone()))?;
            let followed = self.follow(&cuts, found.watcher.as_deref())?;
            if let Some(ReplayedSegments { found: more, not_cut }) = followed {
                if let Some(more) = more {
                    found.add(more);
                }
                if let Some(from) = not_cut {
                    return Ok(self.following.rest_from(from));
                }
            }
            // Without any cut nobody but this process has to read anything.
            if is_last && self.last.is_none() {
                return Ok(self.following.rest_from(None));
            }
            if is_last {
                self.team.broadcast(&ReplayCommand::Rest)?;
                let rest = self.rest()?.unwrap_or_default();
                let (from, steps): (Vec<Vec<RankAtCut>>, Vec<_>) =
                    rest.into_iter().map(|own| (own.from, own.steps)).unzip();
                let from = cut_of(self.last, from);
                let steps: Option<Vec<_>> = steps.into_iter().collect();
                return Ok(match steps {
                    Some(steps) => {
                        ReplaySegment { from, inputs: steps.into_iter().flatten().map(read).collect(), to: None }
                    }
                    None => self.following.rest_from(from),
                });
            }
        }
    }

    /// Reads `n` segments, where one of its ranks leads: where they end.
    fn lead(&mut self, n: usize) -> Result<Option<Vec<CutMark>>, TransportFailure> {
        let marks = self.team.guarded(|| Ok(self.reading.lead(n)));
        self.team.reduce(marks, |lower, higher| if lower.is_empty() { higher } else { lower })
    }

    /// Reads up to these ends.
    fn read_to(&mut self, marks: &[CutMark]) -> Result<Option<LastEntries>, TransportFailure> {
        let own = self.team.guarded(|| Ok(LastEntries(self.reading.read_to(marks))));
        self.team.reduce(own, LastEntries::and_higher)
    }

    /// Follows some of the segments up to `cuts`: what all have found.
    fn follow(
        &mut self,
        cuts: &[CutPoint],
        watcher: Option<&dyn ReplayObserver>,
    ) -> Result<Option<ReplayedSegments>, TransportFailure> {
        let (own, processes) = (self.team.process(), self.team.processes());
        let first_of = |process: usize| cuts.len() * process / processes;
        let before = first_of(own).checked_sub(1).map_or(self.last, |before| cuts.get(before).copied());
        let shares =
            self.team.guarded(|| Ok((0..processes).map(|to| self.take(first_of(to + 1) - first_of(to))).collect()));
        let shares = self.team.exchange(shares);
        self.last = cuts.last().copied().or(self.last);
        let cuts = &cuts[first_of(own)..first_of(own + 1)];
        let followed = shares.and_then(|shares| {
            self.team.guarded(|| {
                Ok(ReplayedSegments::from_outcomes(
                    self.following.segments(watched(watcher, joined(shares, before, cuts))),
                    watcher,
                ))
            })
        });
        let own_steps = followed.iter().flat_map(|own| &own.found).map(|(part, _)| part.counts.steps).sum();
        let all = self.team.reduce(followed, |lower, higher| lower.and(higher, watcher))?;
        let all_steps: u64 = all.iter().flat_map(|all| &all.found).map(|(part, _)| part.counts.steps).sum();
        // This process has shown its own.
        (self.following.progress)(FoldProgress::Records(all_steps.saturating_sub(own_steps)));
        Ok(all)
    }

    /// Reads the next `n` segments of the local ranks.
    fn take(&mut self, n: usize) -> LocalSegments {
        let from = if n > 0 { self.at.clone() } else { Vec::new() };
        let segments: Vec<LocalSegment> = (0..n)
            .map(|_| {
                let (steps, to) =
                    self.reading.take().into_iter().map(|StepsUpToCut { at, read, .. }| (read, at)).unzip();
                LocalSegment { steps, to }
            })
            .collect();
        if let Some(last) = segments.last() {
            self.at.clone_from(&last.to);
        }
        LocalSegments { from, segments }
    }

    /// Reads what its ranks do after the last cut.
    fn rest(&mut self) -> Result<Option<Vec<LocalRemainder>>, TransportFailure> {
        let own = self.team.guarded(|| {
            let is_all = self.reading.read_rest();
            let rest = is_all.then(|| self.reading.take_rest().into_iter().map(|input| input.read).collect());
            Ok(LocalRemainder { from: std::mem::take(&mut self.at), steps: rest })
        });
        self.team.gather(own)
    }
}

/// The segments of a process, which end with these cuts; `before`: the cut before the first, and `shares` are of all processes.
fn joined<'a>(shares: Vec<LocalSegments>, before: Option<CutPoint>, cuts: &[CutPoint]) -> Vec<ReplaySegment<'a>> {
    let (from, shares): (Vec<Vec<RankAtCut>>, Vec<_>) =
        shares.into_iter().map(|own| (own.from, own.segments.into_iter())).unzip();
    let mut from = cut_of(before, from);
    let mut shares = shares;
    let segment = |&cut: &CutPoint| {
        let of_all: Vec<LocalSegment> = shares.iter_mut().filter_map(Iterator::next).collect();
        let (steps, to): (Vec<_>, Vec<_>) = of_all.into_iter().map(|own| (own.steps, own.to)).unzip();
        let to = cut_of(Some(cut), to);
        ReplaySegment {
            from: std::mem::replace(&mut from, to.clone()),
            inputs: steps.into_iter().flatten().map(read).collect(),
            to,
        }
    };
    cuts.iter().map(segment).collect()
}

/// A cut, at which the ranks of each process are there.
fn cut_of(cut: Option<CutPoint>, ranks: Vec<Vec<RankAtCut>>) -> Option<Arc<ConsistentCut>> {
    let CutPoint { comm, last } = cut?;
    Some(Arc::new(ConsistentCut {
        comm,
        last: last.at,
        last_rank: last.rank,
        ranks: ranks.into_iter().flatten().collect(),
    }))
}

/// A rank that does no more than what was read.
fn read<'a>(read: VecDeque<StepChunk>) -> RankInput<'a> {
    RankInput { read, steps: None }
}
