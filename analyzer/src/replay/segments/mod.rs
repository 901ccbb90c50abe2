//! The third pass in segments of the run, on all cores.
//!
//! ```text
//!   reading.rs   the steps of all ranks, from one cut to the next ─┬→ engine: segment 0 ─→ Part ─┐
//!                                                                  ├→ engine: segment 1 ─→ Part ─┼→ joined in their order
//!                                                                  └→ engine: …                  ┘
//! ```
//!
//! Whether a run can be cut there ([`super::cut`]) is known only when the segment before it was followed. Where it can't, all from the begin of that
//! segment on is followed as one. So the result does not depend on how many segments are followed at a time.
//!
//! What is not known after a cut is what was learned of this MPI before it: up to which size sends do not wait for their receivers
//! ([`super::matching`]). Each segment learns it anew.

mod reading;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;

use self::reading::{Reading, Segment};
use super::blocking::{Explained, MAX_INTERVALS, TimedSample};
use super::cut::{Cut, communicators_of_all};
use super::engine::{Engine, Setting};
use super::part::Part;
use super::scope::Scope;
use super::sinks::Members;
use super::timeline::{Ids, Places, RankSteps, RegionTable, are_packed};
use super::watcher::{Seen, SegmentWatcher, Watcher};
use super::what_if::Condition;
use crate::model::followed::{Counts, Followed};
use crate::model::what_if::WhatIf;
use crate::model::{Model, RankModel};
use crate::profile::samples::of_first_thread;
use crate::read::ahead::Ahead;
use crate::read::open::Run;
use crate::read::pass::Progress;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::Survey;
use crate::structure::{Placer, Structure};

/// Steps of a segment, of all ranks together, where they are packed and where they are not, and of a rank at least.
const PACKED_STEPS: usize = 1 << 19;
const STEPS: usize = 1 << 18;
const LEAST_OF_A_RANK: usize = 128;

/// Most segments that are followed at a time: each needs memory for the state of all ranks.
const MOST_AT_A_TIME: usize = 8;

/// Most samples that are kept, of all ranks together, at 24 bytes each.
const MOST_SAMPLES: usize = 1 << 22;

/// What is followed: a run, and what the first two passes found in it.
#[derive(Clone, Copy)]
pub struct Surveyed<'a> {
    /// The run.
    pub run: &'a Run,
    /// What the first pass saw.
    pub survey: &'a Survey,
    /// What it found.
    pub structure: &'a Structure,
    /// What the second pass made of both.
    pub model: &'a Model,
}

/// What is wanted of the replay.
pub struct FollowOptions<'a> {
    /// The part of the run in which waits count.
    pub scope: &'a Scope,
    /// How long it would take otherwise, and under what conditions that is predicted.
    pub scenarios: Vec<(WhatIf, Condition<'a>)>,
    /// Who is shown what ranks do.
    pub watcher: Option<&'a mut dyn Watcher>,
    /// The code that samples hit, where it is wanted by what code ranks make others wait.
    pub code: Option<&'a SampledCode>,
    /// Intervals and causes of the ranks' histories from which on old ones are forgotten, see [`Followed::kept`].
    pub most_kept: usize,
    /// Steps of a segment, of all ranks together; `None`: as many as serve best.
    pub segment_steps: Option<usize>,
}

impl<'a> FollowOptions<'a> {
    /// The waits in `scope`, nothing else.
    pub fn new(scope: &'a Scope) -> Self {
        FollowOptions {
            scope,
            scenarios: Vec::new(),
            watcher: None,
            code: None,
            most_kept: MAX_INTERVALS,
            segment_steps: None,
        }
    }
}

/// Follows the ranks of a run, and replays it in what-if scenarios.
pub fn follow(surveyed: Surveyed, options: FollowOptions, progress: impl Fn(Progress) + Sync) -> Followed {
    let Surveyed { survey, structure, model, .. } = surveyed;
    let regions = RegionTable::new(model);
    let mut ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
    ranks.sort_unstable();
    let places = Places::new(&survey.sites, structure, &regions);
    let FollowOptions { scope, scenarios, watcher, code, most_kept, segment_steps } = options;
    let ids = Ids { communicators: &model.communicators, places, ranks: &ranks, facts: watcher.is_some() };
    let logs: Vec<_> = model.ranks.iter().map(|rank| open(surveyed, ids, rank)).collect();
    let (scenarios, conditions): (Vec<WhatIf>, Vec<Condition>) =
        scenarios.into_iter().map(|(scenario, condition)| (scenario, scope.condition(condition))).unzip();
    let n_ranks = model.facts.n_ranks.max(ranks.last().map_or(0, |last| last.saturating_add(1)));
    let setting = Setting {
        model,
        members: Members::new(&model.communicators, n_ranks),
        scope,
        conditions,
        samples: Arc::new(code.map(|code| sampled(surveyed, code)).unwrap_or_default()),
        unread: logs.iter().map(Option::is_none).collect(),
        most_kept,
    };
    let following = Following { surveyed, ids, setting: &setting, progress: &progress };
    let reading = following.reading(logs, segment_steps);
    let part = match watcher {
        Some(watcher) if watcher.of_segment().is_none() => following.one_after_another(reading, watcher),
        watcher => following.side_by_side(reading, watcher),
    };
    let Part { explained, replays_ns, counts, on_demand, segments, threads, elapsed } = part;
    let Explained { blocking, critical_path, delays, kept } = explained;
    Followed {
        ranks: model.ranks.iter().map(|rank| rank.rank).collect(),
        regions: model.regions.clone(),
        threads,
        delaying_code: delays.scaled(&blocking.causes),
        blocking,
        replays: scenarios.into_iter().zip(replays_ns.into_iter().map(|ns| ns * 1e-9)).collect(),
        critical_path,
        elapsed,
        counts: Counts { hands_out_work: on_demand.is_considerable(), ..counts },
        kept,
        segments,
    }
}

/// Follows the segments of a run.
struct Following<'a, P> {
    surveyed: Surveyed<'a>,
    ids: Ids<'a>,
    setting: &'a Setting<'a>,
    progress: &'a P,
}

impl<'a, P: Fn(Progress) + Sync> Following<'a, P> {
    /// All of the run, to be read in segments. Of a part of a run, and of ranks with several threads or without a log, there is one.
    fn reading(&self, logs: Vec<Option<Box<RankSteps<'a>>>>, segment_steps: Option<usize>) -> Reading<'a> {
        let (model, n) = (self.setting.model, logs.len().max(1));
        let is_alone = |rank: &RankModel| rank.other_threads == 0;
        let can_cut = self.setting.scope.is_all()
            && model.ranks.iter().all(is_alone)
            && logs.len() > 1
            && logs.iter().all(Option::is_some);
        // One that makes as many calls as most do: of what others do there is not much more, or less, in a segment.
        let mut by_calls: Vec<usize> = (0..logs.len()).collect();
        by_calls.sort_by_key(|&place| model.ranks[place].calls);
        let leads = by_calls.get(n / 2).copied().unwrap_or(0);
        let best = if are_packed(n) { PACKED_STEPS } else { STEPS };
        let steps = segment_steps.map_or((best / n).max(LEAST_OF_A_RANK), |steps| (steps / n).max(1));
        Reading::new(logs, communicators_of_all(model, &self.setting.members), (leads, can_cut.then_some(steps)), None)
    }

    /// The rest of the run from a cut on, read anew.
    fn rest_from(&self, cut: Option<Arc<Cut>>) -> Segment<'a> {
        let logs = self.setting.model.ranks.iter().map(|rank| open(self.surveyed, self.ids, rank));
        Reading::new(logs.collect(), Vec::new(), (0, None), cut).take_rest()
    }

    /// As many segments at a time as there are cores, each with a watcher of its own. The next ones are read meanwhile.
    fn side_by_side(&self, mut reading: Reading<'a>, mut watcher: Option<&mut dyn Watcher>) -> Part {
        let at_a_time = rayon::current_num_threads().clamp(1, MOST_AT_A_TIME);
        let read =
            |reading: &mut Reading<'a>| -> Vec<Segment> { (0..at_a_time).map_while(|_| reading.next()).collect() };
        let mut next = read(&mut reading);
        let mut all = None;
        while !next.is_empty() {
            let watched = |segment| (segment, watcher.as_ref().and_then(|watcher| watcher.of_segment()));
            let segments: Vec<(Segment, _)> = next.into_iter().map(watched).collect();
            let follow = |(segment, watcher): (Segment<'a>, _)| (segment.from.clone(), self.segment(segment, watcher));
            let follow = || segments.into_par_iter().map(follow).collect::<Vec<_>>();
            let found;
            (found, next) = rayon::join(follow, || read(&mut reading));
            for (from, found) in found {
                let Some((part, seen)) = found else {
                    drop((reading, next));
                    return after(all, self.to_end(self.rest_from(from), watcher));
                };
                all = and(all, part);
                watcher.iter_mut().zip(seen).for_each(|(watcher, seen)| watcher.add(seen));
            }
        }
        after(all, self.to_end(reading.take_rest(), watcher))
    }

    /// A segment that ends with a cut, and what its watcher has seen; `None`: the run cannot be cut there.
    fn segment(
        &self,
        segment: Segment<'a>,
        mut watcher: Option<Box<dyn SegmentWatcher + '_>>,
    ) -> Option<(Part, Option<Seen>)> {
        let Segment { from, inputs, to } = segment;
        let to = to?;
        let part = rayon::scope(|tasks| {
            let watcher = watcher.as_mut().map(|watcher| watcher as &mut dyn Watcher);
            let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            engine.follow_to(&to, self.progress).then(|| engine.finish_at(&to))
        });
        Some((part?, watcher.map(SegmentWatcher::seen)))
    }

    /// The last segment.
    fn to_end(&self, segment: Segment<'a>, watcher: Option<&mut dyn Watcher>) -> Part {
        let Segment { from, inputs, .. } = segment;
        rayon::scope(|tasks| {
            let watcher = watcher.map(|watcher| &mut *watcher as &mut dyn Watcher);
            let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            engine.follow_to_end(self.progress);
            engine.finish()
        })
    }

    /// One segment after another, for a watcher, who sees what each rank does in the order of time. The next one is read meanwhile.
    fn one_after_another(&self, mut reading: Reading<'a>, watcher: &mut dyn Watcher) -> Part {
        let mut all = None;
        let mut next = reading.next();
        while let Some(Segment { from, inputs, to }) = next {
            let (part, goes_on) = rayon::scope(|tasks| {
                let ahead = Ahead::begin(tasks, move || {
                    let next = reading.next();
                    (reading, next)
                });
                let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, Some(&mut *watcher));
                let cut = to.filter(|to| engine.follow_to(to, self.progress));
                match (cut, ahead.wait()) {
                    (Some(cut), Some(read)) => (engine.finish_at(&cut), Some(read)),
                    (_, read) => {
                        if let Some((mut reading, next)) = read {
                            next.into_iter().for_each(|next| engine.add(next.inputs));
                            engine.add(reading.take_rest().inputs);
                        }
                        engine.follow_to_end(self.progress);
                        (engine.finish(), None)
                    }
                }
            });
            match goes_on {
                Some(read) => (all, (reading, next)) = (and(all, part), read),
                None => return after(all, part),
            }
        }
        after(all, self.to_end(reading.take_rest(), Some(watcher)))
    }
}

/// What was found in further segments.
fn and(before: Option<Part>, part: Part) -> Option<Part> {
    Some(after(before, part))
}

/// What was found in the segments before one, if there are any, and in that.
fn after(before: Option<Part>, part: Part) -> Part {
    match before {
        Some(before) => before.and(part),
        None => part,
    }
}

/// A rank's steps; `None` where its log can't be read any more.
fn open<'a>(surveyed: Surveyed<'a>, ids: Ids<'a>, rank: &RankModel) -> Option<Box<RankSteps<'a>>> {
    let Surveyed { run, survey, structure, .. } = surveyed;
    let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
    let survey_of = survey.rank(rank.rank)?;
    let clock = survey_of.clock.clone()?;
    let placer = Placer::new(structure, &survey.sites, rank.rank);
    Some(Box::new(RankSteps::new(ids, run.log(header).ok()?, survey_of, (clock, rank.zero_ns()), placer)))
}

/// The samples of the ranks' first threads, by place, of all ranks no more than [`MOST_SAMPLES`].
fn sampled(surveyed: Surveyed, code: &SampledCode) -> Vec<Vec<TimedSample>> {
    let Surveyed { run, survey, model, .. } = surveyed;
    let most = (MOST_SAMPLES / model.ranks.len().max(1)).max(1);
    let of_rank = |rank: &RankModel| {
        let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
        let clock = survey.rank(rank.rank)?.clock.as_ref()?;
        let sample = |(ticks, leaf, seconds): (u64, u32, f64)| {
            let at = clock.nanoseconds(ticks).saturating_sub(rank.zero_ns());
            TimedSample { at, leaf, ns: seconds * 1e9 }
        };
        Some(of_first_thread((run, header), (&survey.sites, code), most).into_iter().map(sample).collect())
    };
    model.ranks.par_iter().map(|rank| of_rank(rank).unwrap_or_default()).collect()
}
