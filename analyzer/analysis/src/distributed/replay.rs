//! Replays the segments of a run on several processes, each of which reads the logs of some ranks.
//!
//! ```text
//!   command from process 0   work of all processes, including 0          result on process 0
//!   Start(samples)           keep the samples of all ranks
//!   ReadLeader(n)            read the leading rank, if it is local   ──→ marks: ends of n segments
//!   ReadOthers(marks)        read the other ranks up to the marks    ──→ last entry into each cut
//!   Replay(cuts)             exchange steps, so that each process
//!                            has whole segments; replay them         ──→ results, merged in run order
//!     … ReadLeader, ReadOthers and Replay again, until a cut is missing …
//!   ReadRemainder            read to the ends of the logs            ──→ steps after the last cut
//!   Stop
//! ```
//!
//! If the run cannot be cut any further, process 0 replays the remainder alone, from the last cut.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bincode::{Decode, Encode};

use super::process_group::ProcessGroup;
use crate::analyse::ProcessFailure;
use crate::model::region_state::Ns;
use crate::model::replay_results::ReplayResults;
use crate::partial_result::PartialResult;
use crate::read::pass::{FoldProgress, ProgressReport};
use crate::replay::blocking::TimedSample;
use crate::replay::consistent_cut::{ConsistentCut, RankAtCut};
use crate::replay::segments::rank_reading::{CutMark, StepsUpToCut};
use crate::replay::segments::reading::{ReplaySegment, SegmentReading};
use crate::replay::segments::segment_replay::{
    MergedSegments, SegmentOutcome, SegmentOutput, SegmentReplay, at_a_time, with_observers,
};
use crate::replay::segments::surveyed_run::{LocalRanks, LookupTables, leading, own_places};
use crate::replay::timeline::{RankInput, RunIds, StepChunk};
use crate::replay::{ReplayOptions, SegmentObserver, SurveyedRun};

/// A command from process 0 to all processes.
#[derive(Encode, Decode)]
enum ReplayCommand {
    /// Start with the samples of all ranks.
    Start(Vec<Vec<TimedSample>>),
    /// Read this many segments of the leading rank.
    ReadLeader(usize),
    /// Read the other ranks up to these ends of segments.
    ReadOthers(Vec<CutMark>),
    /// Replay the segments that end at these cuts.
    Replay(Vec<CutPoint>),
    /// Read to the ends of the logs, because there are no more cuts.
    ReadRemainder,
    /// Stop.
    Stop,
}

/// The collective at which a segment ends.
#[derive(Clone, Copy, Encode, Decode)]
struct CutPoint {
    comm: u32,
    /// Time of the last entry into it.
    last: Ns,
}

/// The report of a process that is ready to start: the indices of its ranks in the model, and whether its logs allow cuts.
#[derive(Encode, Decode)]
struct ReadyReport {
    places: Range<usize>,
    can_cut: bool,
    samples: Vec<Vec<TimedSample>>,
}

/// The time of the last entry of a process's ranks into the collective at the end of each segment; `None`: there are no ranks.
#[derive(Encode, Decode)]
struct LastEntries(Vec<Option<Ns>>);

impl PartialResult for LastEntries {
    /// Drops the cuts that only one side has reached.
    fn merge(self, higher: LastEntries) -> LastEntries {
        // An entry is later than none.
        LastEntries(self.0.into_iter().zip(higher.0).map(|(lower, higher)| lower.max(higher)).collect())
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
struct ReplayedSegments<T> {
    /// The merged results, or `None` if there is no segment with a cut at its end.
    output: Option<SegmentOutput<T>>,
    /// Start of the segment without a cut at its end, if any.
    not_cut: Option<Option<Arc<ConsistentCut>>>,
}

impl<T> ReplayedSegments<T> {
    /// Merges the outcomes of consecutive segments. `observer` must not have seen any of them.
    fn from_outcomes<W>(all: Vec<SegmentOutcome<T>>, observer: Option<&W>) -> ReplayedSegments<T>
    where
        W: SegmentObserver<Observations = T>,
    {
        let none = ReplayedSegments { output: None, not_cut: None };
        all.into_iter().fold(none, |earlier, outcome| match outcome {
            Ok(output) => earlier.merge(ReplayedSegments { output: Some(output), not_cut: None }, observer),
            Err(start) => earlier.merge(ReplayedSegments { output: None, not_cut: Some(start) }, observer),
        })
    }

    /// Merges the segments that follow, unless `self` already stops at a missing cut.
    fn merge<W>(self, later: ReplayedSegments<T>, observer: Option<&W>) -> ReplayedSegments<T>
    where
        W: SegmentObserver<Observations = T>,
    {
        if self.not_cut.is_some() {
            return self;
        }
        let output = match (self.output, later.output) {
            (Some(earlier), Some(later)) => Some(merge_outputs(earlier, later, observer)),
            (earlier, later) => earlier.or(later),
        };
        ReplayedSegments { output, ..later }
    }
}

/// Merges the output of segments with that of the segments that follow. `observer` must not have seen any of them.
fn merge_outputs<T, W>(earlier: SegmentOutput<T>, later: SegmentOutput<T>, observer: Option<&W>) -> SegmentOutput<T>
where
    W: SegmentObserver<Observations = T>,
{
    let observed = observer.map(|observer| {
        let mut merged = observer.fork();
        for observed in [earlier.observed, later.observed].into_iter().flatten() {
            merged.merge(observed);
        }
        merged.into_observations()
    });
    SegmentOutput { result: earlier.result.merge(later.result), observed }
}

/// The steps of one process's ranks after the last cut.
#[derive(Encode, Decode)]
struct LocalRemainder {
    /// State of the ranks at that cut.
    from: Vec<RankAtCut>,
    /// The steps, or `None` if there are more than a segment may have.
    steps: Option<Vec<VecDeque<StepChunk>>>,
}

/// A replay by all processes, which have agreed to it.
pub(super) struct DistributedReplay<'s, 'a> {
    team: &'s ProcessGroup,
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    /// The ranks of process 0, and the samples of all.
    ranks: LocalRanks<'a>,
}

impl<'s, 'a> DistributedReplay<'s, 'a> {
    /// Starts the replay, as process 0, once the others have begun the pass. `None`: the run cannot be cut, and process 0 replays it alone.
    ///
    /// Errors: a process failed.
    pub(super) fn start(
        team: &'s ProcessGroup,
        surveyed: SurveyedRun<'a>,
        ids: RunIds<'a>,
        options: &ReplayOptions,
    ) -> Result<Option<Self>, ProcessFailure> {
        let places = own_places(surveyed);
        let ranks = LocalRanks::open(surveyed, ids, places.clone(), options);
        let can_cut = ranks.are_all();
        let LocalRanks { logs, samples } = ranks;
        let samples = start_replay(team, places, can_cut, samples)?;
        Ok(samples.map(|samples| DistributedReplay { team, surveyed, ids, ranks: LocalRanks { logs, samples } }))
    }

    /// Replays the run. `options` are those that it was started with.
    ///
    /// Errors: a process failed.
    pub(super) fn follow<W: SegmentObserver>(
        self,
        options: ReplayOptions,
        observer: Option<&mut W>,
        progress: ProgressReport,
    ) -> Result<ReplayResults, ProcessFailure> {
        let DistributedReplay { team, surveyed, ids, ranks: LocalRanks { logs, samples } } = self;
        let model = surveyed.model;
        let segment_steps = options.segment_steps;
        let (setting, scenarios) = options.into_setting(model, samples);
        let first = own_places(surveyed).start;
        let reading = SegmentReading::new(logs, first, model.ranks.len(), leading(&setting, segment_steps));
        let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
        let mut worker = SegmentWorker { team, replay: &replay, reading, at: Vec::new(), last: None };
        let mut merged = MergedSegments { result: None, observer };
        let rest = stop_others_on_failure(team, worker.replay_to_last_cut(&mut merged))?;
        team.broadcast(&ReplayCommand::Stop)?;
        drop(worker);
        Ok(merged.with_last(&replay, rest).of_run(model, scenarios))
    }
}

/// Lets all processes start. Returns the samples of all ranks, or `None` if the run cannot be cut.
///
/// Errors: a process failed.
fn start_replay(
    team: &ProcessGroup,
    places: Range<usize>,
    can_cut: bool,
    samples: Vec<Vec<TimedSample>>,
) -> Result<Option<Vec<Vec<TimedSample>>>, ProcessFailure> {
    let ready =
        stop_others_on_failure(team, team.gather(Ok(ReadyReport { places, can_cut, samples })))?.unwrap_or_default();
    // A process may have no ranks.
    let places: Vec<_> = ready.iter().map(|one| &one.places).filter(|places| !places.is_empty()).collect();
    let follow_one_another = places.windows(2).all(|pair| pair[0].end == pair[1].start);
    if !follow_one_another || !ready.iter().all(|one| one.can_cut) {
        team.broadcast(&ReplayCommand::Stop)?;
        return Ok(None);
    }
    let begin = ReplayCommand::Start(ready.into_iter().flat_map(|one| one.samples).collect());
    team.broadcast(&begin)?;
    let ReplayCommand::Start(samples) = begin else { unreachable!("it was made above") };
    Ok(Some(samples))
}

/// Stops the other processes if one has failed.
fn stop_others_on_failure<T>(team: &ProcessGroup, done: Result<T, ProcessFailure>) -> Result<T, ProcessFailure> {
    if done.is_err() {
        team.broadcast(&ReplayCommand::Stop)?;
    }
    done
}

/// Replays segments of a run for process 0.
///
/// Errors: another process has ended. Failures of this process are reported to process 0.
pub(super) fn follow_share<W: SegmentObserver>(
    team: &ProcessGroup,
    surveyed: SurveyedRun,
    options: ReplayOptions,
    observer: Option<&W>,
) -> Result<(), ProcessFailure> {
    let model = surveyed.model;
    let tables = LookupTables::new(model);
    let ids = tables.ids(surveyed, observer.is_some());
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
    let ReplayCommand::Start(samples) = team.received_broadcast()? else { return Ok(()) };
    let segment_steps = options.segment_steps;
    let (setting, _) = options.into_setting(model, samples);
    let reading = SegmentReading::new(logs, places.start, model.ranks.len(), leading(&setting, segment_steps));
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress: &|_| () };
    let mut worker = SegmentWorker { team, replay: &replay, reading, at: Vec::new(), last: None };
    loop {
        match team.received_broadcast()? {
            ReplayCommand::ReadLeader(n) => drop(worker.read_leader(n)?),
            ReplayCommand::ReadOthers(marks) => drop(worker.read_others(&marks)?),
            ReplayCommand::Replay(cuts) => drop(worker.replay(&cuts, observer)?),
            ReplayCommand::ReadRemainder => drop(worker.read_remainder()?),
            ReplayCommand::Start(_) | ReplayCommand::Stop => return Ok(()),
        }
    }
}

/// Reports to process 0 why this process cannot replay segments.
///
/// Errors: another process has ended.
pub(super) fn decline_share(team: &ProcessGroup, failure: ProcessFailure) -> Result<(), ProcessFailure> {
    team.gather::<ReadyReport>(Err(failure))?;
    team.received_broadcast::<ReplayCommand>().map(drop)
}

/// The part of the distributed replay that one process performs.
struct SegmentWorker<'s, 'a> {
    team: &'s ProcessGroup,
    replay: &'s SegmentReplay<'a>,
    reading: SegmentReading<'a>,
    /// The last cut, or `None` before the first one, and the state of the local ranks there.
    last: Option<CutPoint>,
    at: Vec<RankAtCut>,
}

impl<'a> SegmentWorker<'_, 'a> {
    /// Replays all segments that end with a cut, as process 0. Returns the remainder of the run.
    fn replay_to_last_cut<W: SegmentObserver>(
        &mut self,
        merged: &mut MergedSegments<W>,
    ) -> Result<ReplaySegment<'a>, ProcessFailure> {
        let n = at_a_time(self.replay.setting.model.ranks.len(), self.team.processes());
        loop {
            self.team.broadcast(&ReplayCommand::ReadLeader(n))?;
            let marks = self.read_leader(n)?.unwrap_or_default();
            self.team.broadcast(&ReplayCommand::ReadOthers(marks.clone()))?;
            let lasts = self.read_others(&marks)?.map(|lasts| lasts.0).unwrap_or_default();
            let is_last = lasts.len() < n;
            let cuts: Vec<CutPoint> = marks
                .iter()
                .zip(lasts)
                .filter_map(|(mark, last)| Some(CutPoint { comm: mark.comm, last: last? }))
                .collect();
            self.team.broadcast(&ReplayCommand::Replay(cuts.clone()))?;
            let followed = self.replay(&cuts, merged.observer.as_deref())?;
            if let Some(ReplayedSegments { output, not_cut }) = followed {
                if let Some(output) = output {
                    merged.add(output);
                }
                if let Some(from) = not_cut {
                    return Ok(self.replay.rest_from(from));
                }
            }
            // Without any cut the other processes have nothing to read.
            if is_last && self.last.is_none() {
                return Ok(self.replay.rest_from(None));
            }
            if is_last {
                self.team.broadcast(&ReplayCommand::ReadRemainder)?;
                let rest = self.read_remainder()?.unwrap_or_default();
                let (from, steps): (Vec<Vec<RankAtCut>>, Vec<_>) =
                    rest.into_iter().map(|own| (own.from, own.steps)).unzip();
                let from = cut_of(self.last, from);
                let steps: Option<Vec<_>> = steps.into_iter().collect();
                return Ok(match steps {
                    Some(steps) => {
                        ReplaySegment { from, inputs: steps.into_iter().flatten().map(read).collect(), to: None }
                    }
                    None => self.replay.rest_from(from),
                });
            }
        }
    }

    /// Reads `n` segments if the leading rank is local. Returns the ends of the segments to process 0.
    fn read_leader(&mut self, n: usize) -> Result<Option<Vec<CutMark>>, ProcessFailure> {
        let marks = self.team.guarded(|| Ok(self.reading.lead(n)));
        self.team.reduce(marks, |lower, higher| if lower.is_empty() { higher } else { lower })
    }

    /// Reads the local ranks up to these ends of segments. Returns the last entries to process 0.
    fn read_others(&mut self, marks: &[CutMark]) -> Result<Option<LastEntries>, ProcessFailure> {
        let own = self.team.guarded(|| Ok(LastEntries(self.reading.read_to(marks))));
        self.team.reduce(own, LastEntries::merge)
    }

    /// Replays some of the segments up to `cuts`. Returns the merged results of all processes to process 0.
    fn replay<W: SegmentObserver>(
        &mut self,
        cuts: &[CutPoint],
        observer: Option<&W>,
    ) -> Result<Option<ReplayedSegments<W::Observations>>, ProcessFailure> {
        let (own, processes) = (self.team.process(), self.team.processes());
        let first_cuts: Vec<usize> = (0..=processes).map(|process| cuts.len() * process / processes).collect();
        let before = first_cuts[own].checked_sub(1).map_or(self.last, |before| cuts.get(before).copied());
        let n_segments = first_cuts.windows(2).map(|bounds| bounds[1] - bounds[0]);
        let shares = self.team.guarded(|| Ok(n_segments.map(|n| self.take(n)).collect()));
        let shares = self.team.exchange(shares);
        self.last = cuts.last().copied().or(self.last);
        let cuts = &cuts[first_cuts[own]..first_cuts[own + 1]];
        let followed = shares.and_then(|shares| {
            self.team.guarded(|| {
                Ok(ReplayedSegments::from_outcomes(
                    self.replay.segments(with_observers(observer, join_segments(shares, before, cuts))),
                    observer,
                ))
            })
        });
        let own_steps = followed.iter().flat_map(|own| &own.output).map(|output| output.result.counts.steps).sum();
        let all = self.team.reduce(followed, |lower, higher| lower.merge(higher, observer))?;
        let all_steps: u64 = all.iter().flat_map(|all| &all.output).map(|output| output.result.counts.steps).sum();
        // This process has shown its own.
        (self.replay.progress)(FoldProgress::Records(all_steps.saturating_sub(own_steps)));
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

    /// Reads the local ranks to the ends of their logs. Returns the steps after the last cut to process 0.
    fn read_remainder(&mut self) -> Result<Option<Vec<LocalRemainder>>, ProcessFailure> {
        let own = self.team.guarded(|| {
            let is_all = self.reading.read_rest();
            let rest = is_all.then(|| self.reading.take_rest().into_iter().map(|input| input.read).collect());
            Ok(LocalRemainder { from: std::mem::take(&mut self.at), steps: rest })
        });
        self.team.gather(own)
    }
}

/// Joins the steps of all processes, `shares`, into the segments that this process replays. They end at `cuts`; `before` is the cut before the first one.
fn join_segments<'a>(
    shares: Vec<LocalSegments>,
    before: Option<CutPoint>,
    cuts: &[CutPoint],
) -> Vec<ReplaySegment<'a>> {
    let (from, shares): (Vec<Vec<RankAtCut>>, Vec<_>) =
        shares.into_iter().map(|own| (own.from, own.segments.into_iter())).unzip();
    let mut from = cut_of(before, from);
    let mut shares = shares;
    let mut segments = Vec::with_capacity(cuts.len());
    for &cut in cuts {
        let of_all: Vec<LocalSegment> = shares.iter_mut().filter_map(Iterator::next).collect();
        let (steps, to): (Vec<_>, Vec<_>) = of_all.into_iter().map(|own| (own.steps, own.to)).unzip();
        let to = cut_of(Some(cut), to);
        segments.push(ReplaySegment {
            from: std::mem::replace(&mut from, to.clone()),
            inputs: steps.into_iter().flatten().map(read).collect(),
            to,
        });
    }
    segments
}

/// Returns the consistent cut at `cut`, where each process's ranks are in these states.
fn cut_of(cut: Option<CutPoint>, ranks: Vec<Vec<RankAtCut>>) -> Option<Arc<ConsistentCut>> {
    let CutPoint { comm, last } = cut?;
    Some(Arc::new(ConsistentCut { comm, last, ranks: ranks.into_iter().flatten().collect() }))
}

/// Returns the input of a rank whose steps have all been read.
fn read<'a>(read: VecDeque<StepChunk>) -> RankInput<'a> {
    RankInput { read, steps: None }
}
