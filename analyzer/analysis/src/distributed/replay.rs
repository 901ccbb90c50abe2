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
use crate::model::code::region_state::Ns;
use crate::model::replayed::replay_results::ReplayResults;
use crate::partial_result::PartialResult;
use crate::read::pass::{FoldProgress, ProgressReport};
use crate::replay::blocking::TimedSample;
use crate::replay::cut::consistent_cut::{ConsistentCut, RankAtCut};
use crate::replay::segments::rank_reading::{CutMark, StepsUpToCut};
use crate::replay::segments::reading::{ReplaySegment, SegmentReading};
use crate::replay::segments::segment_replay::{MergedSegments, SegmentOutput, SegmentReplay, segments_at_a_time};
use crate::replay::segments::surveyed_run::{LocalRanks, LookupTables, choose_leading_rank, own_places};
use crate::replay::timeline::{RankInput, RankSteps, RunIds, StepChunk};
use crate::replay::{ReplayOptions, SegmentObserver, SurveyedRun};

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
    Stop,
}

#[derive(Clone, Copy, Encode, Decode)]
struct CutPoint {
    comm: u32,
    last: Ns,
}

/// The report of a process that is ready to start: the indices of its ranks in the model, and whether all of its logs can be read.
#[derive(Encode, Decode)]
struct ReadyReport {
    places: Range<usize>,
    can_cut: bool,
    samples: Vec<Vec<TimedSample>>,
}

/// The steps of one process's ranks in consecutive segments.
#[derive(Encode, Decode)]
struct LocalSegments {
    /// State of the ranks before the first segment; none at the begin of the run.
    from: Vec<RankAtCut>,
    segments: Vec<LocalSegment>,
}

#[derive(Encode, Decode)]
struct LocalSegment {
    steps: Vec<VecDeque<StepChunk>>,
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

/// Merges the results of consecutive segments, unless the earlier ones already stop at a missing cut. `observer` must not have seen any of them.
fn merge_replayed<W: SegmentObserver>(
    earlier: ReplayedSegments<W::Observations>,
    later: ReplayedSegments<W::Observations>,
    observer: Option<&W>,
) -> ReplayedSegments<W::Observations> {
    if earlier.not_cut.is_some() {
        return earlier;
    }
    let output = match (earlier.output, later.output) {
        (Some(earlier), Some(later)) => {
            let observed = observer.map(|observer| {
                let mut merged = observer.fork();
                for observed in [earlier.observed, later.observed].into_iter().flatten() {
                    merged.merge(observed);
                }
                merged.into_observations()
            });
            Some(SegmentOutput { result: earlier.result.merge(later.result), observed })
        }
        (earlier, later) => earlier.or(later),
    };
    ReplayedSegments { output, not_cut: later.not_cut }
}

/// The steps of one process's ranks after the last cut.
#[derive(Encode, Decode)]
struct LocalRemainder {
    from: Vec<RankAtCut>,
    /// The steps, or `None` if there are more than a segment may have.
    steps: Option<Vec<VecDeque<StepChunk>>>,
}

/// Starts a replay by all processes, as process 0, once the others have begun the pass. Returns the ranks of process 0, and the samples of all, or
/// `None` if the run cannot be cut, so that process 0 replays it alone.
///
/// Errors: a process failed.
pub(super) fn start_replay<'a>(
    team: &ProcessGroup,
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    options: &ReplayOptions,
) -> Result<Option<LocalRanks<'a>>, ProcessFailure> {
    let (logs, ready) = open_local_ranks(surveyed, ids, options);
    let samples = agree_on_start(team, ready)?;
    Ok(samples.map(|samples| LocalRanks { logs, samples }))
}

/// Replays the run with the `ranks` and `options` with which it was started.
///
/// Errors: a process failed.
pub(super) fn follow_as_leader<'a, W: SegmentObserver>(
    team: &ProcessGroup,
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    ranks: LocalRanks<'a>,
    options: ReplayOptions,
    observer: Option<&mut W>,
    progress: ProgressReport,
) -> Result<ReplayResults, ProcessFailure> {
    let LocalRanks { logs, samples } = ranks;
    let model = surveyed.model;
    let segment_steps = options.segment_steps;
    let (setting, scenarios) = options.into_setting(model, samples);
    let first = own_places(surveyed).start;
    let reading = SegmentReading::new(logs, first, model.ranks.len(), choose_leading_rank(&setting, segment_steps));
    let replay = SegmentReplay { surveyed, ids, setting: &setting, progress };
    let mut worker = SegmentWorker { team, replay: &replay, reading, at: Vec::new(), last: None };
    let mut merged = MergedSegments { result: None, observer };
    let rest = stop_others_on_failure(team, worker.replay_to_last_cut(&mut merged))?;
    team.broadcast(&ReplayCommand::Stop)?;
    drop(worker);
    Ok(merged.with_last(&replay, rest).of_run(model, scenarios))
}

/// Lets all processes start. Returns the samples of all ranks, or `None` if the run cannot be cut.
///
/// Errors: a process failed.
fn agree_on_start(team: &ProcessGroup, own: ReadyReport) -> Result<Option<Vec<Vec<TimedSample>>>, ProcessFailure> {
    let ready = stop_others_on_failure(team, team.gather(Ok(own)))?.unwrap_or_default();
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

fn open_local_ranks<'a>(
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    options: &ReplayOptions,
) -> (Vec<Option<Box<RankSteps<'a>>>>, ReadyReport) {
    let places = own_places(surveyed);
    let LocalRanks { logs, samples } = LocalRanks::open(surveyed, ids, places.clone(), options);
    let can_cut = logs.iter().all(Option::is_some);
    (logs, ReadyReport { places, can_cut, samples })
}

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
    let mut logs = Vec::new();
    let ready = team.guarded(|| {
        let (own_logs, ready) = open_local_ranks(surveyed, ids, &options);
        logs = own_logs;
        Ok(ready)
    });
    team.gather(ready)?;
    let ReplayCommand::Start(samples) = team.received_broadcast()? else { return Ok(()) };
    let segment_steps = options.segment_steps;
    let (setting, _) = options.into_setting(model, samples);
    let reading = SegmentReading::new(
        logs,
        own_places(surveyed).start,
        model.ranks.len(),
        choose_leading_rank(&setting, segment_steps),
    );
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
        let n_ranks = self.replay.setting.model.ranks.len();
        let n = segments_at_a_time(n_ranks, self.team.processes(), rayon::current_num_threads());
        loop {
            self.team.broadcast(&ReplayCommand::ReadLeader(n))?;
            let marks = self.read_leader(n)?.unwrap_or_default();
            self.team.broadcast(&ReplayCommand::ReadOthers(marks.clone()))?;
            let lasts = self.read_others(&marks)?.unwrap_or_default();
            let is_last = lasts.len() < n;
            let cuts = marks.iter().zip(lasts);
            let cuts: Vec<CutPoint> =
                cuts.filter_map(|(mark, last)| Some(CutPoint { comm: mark.comm, last: last? })).collect();
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
                return Ok(match steps.into_iter().collect::<Option<Vec<_>>>() {
                    Some(steps) => ReplaySegment { from, inputs: inputs_of(steps), to: None },
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

    /// Reads the local ranks up to these ends of segments. Returns to process 0 the time of the last entry into each of them that all processes
    /// have reached.
    fn read_others(&mut self, marks: &[CutMark]) -> Result<Option<Vec<Option<Ns>>>, ProcessFailure> {
        let own = self.team.guarded(|| Ok(self.reading.read_to(marks)));
        // A process without ranks has no entries; an entry is later than none.
        self.team.reduce(own, |lower, higher| lower.into_iter().zip(higher).map(|(a, b)| a.max(b)).collect())
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
                let outcomes = self.replay.segments(join_segments(shares, before, cuts), observer).into_iter();
                let replayed = outcomes.map(|outcome| match outcome {
                    Ok(output) => ReplayedSegments { output: Some(output), not_cut: None },
                    Err(start) => ReplayedSegments { output: None, not_cut: Some(start) },
                });
                let none = ReplayedSegments { output: None, not_cut: None };
                Ok(replayed.fold(none, |earlier, later| merge_replayed(earlier, later, observer)))
            })
        });
        let own_steps = followed.iter().flat_map(|own| &own.output).map(|output| output.result.counts.steps).sum();
        let all = self.team.reduce(followed, |lower, higher| merge_replayed(lower, higher, observer))?;
        let all_steps: u64 = all.iter().flat_map(|all| &all.output).map(|output| output.result.counts.steps).sum();
        // This process has shown its own.
        (self.replay.progress)(FoldProgress::Records(all_steps.saturating_sub(own_steps)));
        Ok(all)
    }

    fn take(&mut self, n: usize) -> LocalSegments {
        let from = if n > 0 { self.at.clone() } else { Vec::new() };
        let mut segments = Vec::with_capacity(n);
        for _ in 0..n {
            let read = self.reading.take().into_iter();
            let (steps, to) = read.map(|StepsUpToCut { at, read, .. }| (read, at)).unzip();
            self.at.clone_from(&to);
            segments.push(LocalSegment { steps, to });
        }
        LocalSegments { from, segments }
    }

    /// Reads the local ranks to the ends of their logs. Returns the steps after the last cut to process 0.
    fn read_remainder(&mut self) -> Result<Option<Vec<LocalRemainder>>, ProcessFailure> {
        let own = self.team.guarded(|| {
            let is_all = self.reading.read_rest();
            let rest = if is_all { self.reading.take_rest() } else { None };
            let rest = rest.map(|rest| rest.into_iter().map(|input| input.read).collect());
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
    let (from, mut shares): (Vec<Vec<RankAtCut>>, Vec<_>) =
        shares.into_iter().map(|own| (own.from, own.segments.into_iter())).unzip();
    let mut from = cut_of(before, from);
    let mut segments = Vec::with_capacity(cuts.len());
    for &cut in cuts {
        let of_all = shares.iter_mut().filter_map(Iterator::next);
        let (steps, to): (Vec<_>, Vec<_>) = of_all.map(|own| (own.steps, own.to)).unzip();
        let to = cut_of(Some(cut), to);
        segments.push(ReplaySegment { from: std::mem::replace(&mut from, to.clone()), inputs: inputs_of(steps), to });
    }
    segments
}

/// Returns the consistent cut at `cut`, where each process's ranks are in these states.
fn cut_of(cut: Option<CutPoint>, ranks: Vec<Vec<RankAtCut>>) -> Option<Arc<ConsistentCut>> {
    let CutPoint { comm, last } = cut?;
    Some(Arc::new(ConsistentCut { comm, last, ranks: ranks.into_iter().flatten().collect() }))
}

/// Returns the inputs of all ranks, whose steps have all been read, from the steps of each process's ranks.
fn inputs_of<'a>(steps: Vec<Vec<VecDeque<StepChunk>>>) -> Vec<RankInput<'a>> {
    steps.into_iter().flatten().map(|read| RankInput { read, steps: None }).collect()
}
