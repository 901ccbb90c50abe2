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

mod rank_reading;
mod reading;
#[cfg(test)]
mod tests;
mod together;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use self::reading::{Leading, Reading, Segment, Segments};
pub use self::together::{decline_share, follow_share};
use super::blocking::{Explained, MAX_INTERVALS, TimedSample};
use super::cut::{Cut, communicators_of_all};
use super::engine::{Engine, Setting};
use super::part::Part;
use super::scope::Scope;
use super::sinks::Members;
use super::timeline::{Ids, Places, RankSteps, RegionTable, are_packed};
use super::watcher::{Seen, SegmentWatcher, Watcher};
use super::what_if::Condition;
use crate::model::exact_sum::ExactNs;
use crate::model::followed::{Counts, Followed, OnPath};
use crate::model::region_state::RegionState;
use crate::model::what_if::WhatIf;
use crate::model::{Model, RankModel};
use crate::profile::samples::of_first_thread;
use crate::read::ahead::Ahead;
use crate::read::open::Run;
use crate::read::pass::Progress;
use crate::structure::sampled_code::SampledCode;
use crate::structure::survey::Survey;
use crate::structure::{Placer, Structure};
use crate::transport::Failure;

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
    /// What the other processes need to know that read the run, too, in a form of its own; `None`: this one follows it alone.
    pub input: Option<&'a dyn Fn() -> Vec<u8>>,
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
            input: None,
        }
    }

    /// Whether the run may be cut: all of it is followed, and its ranks have one thread each.
    fn can_cut(&self, model: &Model) -> bool {
        let is_alone = |rank: &RankModel| rank.other_threads == 0;
        self.scope.is_all() && model.ranks.iter().all(is_alone) && model.ranks.len() > 1
    }
}

/// Follows the ranks of a run, and replays it in what-if scenarios.
///
/// Errors: of several processes that read it together, one failed.
pub fn follow(
    surveyed: Surveyed,
    options: FollowOptions,
    progress: impl Fn(Progress) + Sync,
) -> Result<Followed, Failure> {
    let model = surveyed.model;
    let team = together::team(surveyed, &options)?;
    let own = if team.is_some() { own_places(surveyed) } else { 0..model.ranks.len() };
    let tables = Tables::new(model);
    let ids = tables.ids(surveyed, options.watcher.is_some());
    let logs: Vec<_> = model.ranks[own.clone()].iter().map(|rank| open(surveyed, ids, rank)).collect();
    let can_cut = options.can_cut(model) && logs.iter().all(Option::is_some);
    let samples = options.code.map(|code| sampled(surveyed, code, own.clone())).unwrap_or_default();
    let (team, samples) = match team {
        Some(team) => match together::begin(team, (own.clone(), can_cut), samples)? {
            Some(samples) => (Some(team), samples),
            None => return follow(surveyed, FollowOptions { input: None, ..options }, progress),
        },
        None => (None, samples),
    };
    let unread =
        if team.is_some() { vec![false; model.ranks.len()] } else { logs.iter().map(Option::is_none).collect() };
    let FollowOptions { scope, scenarios, watcher, most_kept, segment_steps, .. } = options;
    let (scenarios, conditions): (Vec<WhatIf>, Vec<Condition>) = scenarios.into_iter().unzip();
    let setting = setting(model, (scope, conditions), (samples, unread), most_kept);
    let leading = leading(&setting, segment_steps);
    let reading = Reading::new(logs, (own.start, model.ranks.len()), leading);
    let following = Following { surveyed, ids, setting: &setting, progress: &progress };
    let part = match (team, watcher) {
        (Some(team), watcher) => following.together(team, reading, watcher)?,
        (None, Some(watcher)) if watcher.of_segment().is_none() => {
            following.one_after_another(Segments::new(reading, can_cut), watcher)
        }
        (None, watcher) => following.side_by_side(Segments::new(reading, can_cut), watcher),
    };
    let Part { explained, replays_ns, counts, on_demand, segments, threads, elapsed } = part;
    let Explained { waits, critical_path, delays, kept } = explained;
    let blocking = waits.finish();
    let on_path = |((thread, kind), ns): ((u32, RegionState), ExactNs)| OnPath { thread, kind, ns: ns.number() };
    Ok(Followed {
        ranks: model.ranks.iter().map(|rank| rank.rank).collect(),
        regions: model.regions.clone(),
        threads,
        delaying_code: delays.scaled(&blocking.causes),
        blocking,
        replays: scenarios.into_iter().zip(replays_ns.into_iter().map(|ns| ns.number() * 1e-9)).collect(),
        critical_path: critical_path.into_iter().map(on_path).collect(),
        elapsed,
        counts: Counts { hands_out_work: on_demand.is_considerable(), ..counts },
        kept,
        segments,
    })
}

/// What is looked up in a model while its ranks are followed.
struct Tables {
    regions: RegionTable,
    /// World ranks, ascending.
    ranks: Vec<u32>,
}

impl Tables {
    fn new(model: &Model) -> Tables {
        let mut ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
        ranks.sort_unstable();
        Tables { regions: RegionTable::new(model), ranks }
    }

    /// The ids of the run; `facts`: whether somebody wants to know single calls.
    fn ids<'a>(&'a self, surveyed: Surveyed<'a>, facts: bool) -> Ids<'a> {
        let Surveyed { survey, structure, model, .. } = surveyed;
        let places = Places::new(&survey.sites, structure, &self.regions);
        Ids { communicators: &model.communicators, places, ranks: &self.ranks, facts }
    }
}

/// What all ranks are followed with.
fn setting<'a>(
    model: &'a Model,
    (scope, conditions): (&'a Scope, Vec<Condition<'a>>),
    (samples, unread): (Vec<Vec<TimedSample>>, Vec<bool>),
    most_kept: usize,
) -> Setting<'a> {
    let above = model.ranks.iter().map(|rank| rank.rank.saturating_add(1)).max().unwrap_or(0);
    Setting {
        model,
        members: Members::new(&model.communicators, model.facts.n_ranks.max(above)),
        scope,
        conditions: conditions.into_iter().map(|condition| scope.condition(condition)).collect(),
        samples: Arc::new(samples),
        unread,
        most_kept,
    }
}

/// What decides where segments end.
fn leading(setting: &Setting, segment_steps: Option<usize>) -> Leading {
    let ranks = &setting.model.ranks;
    // One that makes as many calls as most do: of what others do there is not much more, or less, in a segment.
    let mut by_calls: Vec<usize> = (0..ranks.len()).collect();
    by_calls.sort_by_key(|&place| ranks[place].calls);
    let n = ranks.len().max(1);
    let best = if are_packed(n) { PACKED_STEPS } else { STEPS };
    Leading {
        rank: by_calls.get(n / 2).copied().unwrap_or(0),
        steps: segment_steps.map_or((best / n).max(LEAST_OF_A_RANK), |steps| (steps / n).max(1)),
        of_all: communicators_of_all(setting.model, &setting.members).into(),
    }
}

/// Follows the segments of a run.
struct Following<'a, P> {
    surveyed: Surveyed<'a>,
    ids: Ids<'a>,
    setting: &'a Setting<'a>,
    progress: &'a P,
}

/// What was found in a segment, and what its watcher has seen; where the run cannot be cut at its end, where it begins.
type Found = Result<(Part, Option<Seen>), Option<Arc<Cut>>>;

impl<'a, P: Fn(Progress) + Sync> Following<'a, P> {
    /// As many segments at a time as there are cores, each with a watcher of its own. The next ones are read meanwhile.
    fn side_by_side(&self, mut segments: Segments<'a>, watcher: Option<&mut dyn Watcher>) -> Part {
        let at_a_time = at_a_time();
        let mut found = Joined { part: None, watcher };
        let mut next = segments.next(at_a_time);
        while !next.is_empty() {
            let follow = found.watched(next);
            let (followed, read) = rayon::join(|| self.segments(follow), || segments.next(at_a_time));
            let joined = followed.into_iter().try_for_each(|one| one.map(|one| found.add(one)));
            if let Err(from) = joined {
                drop((segments, read));
                return self.to_end(self.rest_from(from), found);
            }
            next = read;
        }
        self.to_end(segments.take_rest(), found)
    }

    /// Segments that end with a cut, each on a core.
    fn segments(&self, segments: Vec<(Segment<'a>, Option<Box<dyn SegmentWatcher + '_>>)>) -> Vec<Found> {
        segments.into_par_iter().map(|(segment, watcher)| self.segment(segment, watcher)).collect()
    }

    fn segment(&self, segment: Segment<'a>, mut watcher: Option<Box<dyn SegmentWatcher + '_>>) -> Found {
        let Segment { from, inputs, to } = segment;
        let part = rayon::scope(|tasks| {
            let watcher = watcher.as_mut().map(|watcher| watcher as &mut dyn Watcher);
            let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            to.filter(|to| engine.follow_to(to, self.progress)).map(|to| engine.finish_at(&to))
        });
        Ok((part.ok_or(from)?, watcher.map(SegmentWatcher::seen)))
    }

    /// The last segment, after those of which this was found.
    fn to_end(&self, segment: Segment<'a>, found: Joined) -> Part {
        let Segment { from, inputs, .. } = segment;
        let part = rayon::scope(|tasks| {
            let watcher = found.watcher.map(|watcher| &mut *watcher as &mut dyn Watcher);
            let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, watcher);
            engine.follow_to_end(self.progress);
            engine.finish()
        });
        after(found.part, part)
    }

    /// The rest of the run from a cut on, read anew.
    fn rest_from(&self, cut: Option<Arc<Cut>>) -> Segment<'a> {
        let logs = self.setting.model.ranks.iter().map(|rank| open(self.surveyed, self.ids, rank));
        Segment::all_from(cut, logs.collect())
    }

    /// One segment after another, for a watcher, who sees what each rank does in the order of time. The next one is read meanwhile.
    fn one_after_another(&self, mut segments: Segments<'a>, watcher: &mut dyn Watcher) -> Part {
        let mut all = None;
        let mut next = segments.next(1).pop();
        while let Some(Segment { from, inputs, to }) = next {
            let (part, goes_on) = rayon::scope(|tasks| {
                let ahead = Ahead::begin(tasks, move || {
                    let next = segments.next(1).pop();
                    (segments, next)
                });
                let mut engine = Engine::new(self.setting, tasks, from.as_deref(), inputs, Some(&mut *watcher));
                let cut = to.filter(|to| engine.follow_to(to, self.progress));
                match (cut, ahead.wait()) {
                    (Some(cut), Some(read)) => (engine.finish_at(&cut), Some(read)),
                    (_, read) => {
                        if let Some((mut segments, next)) = read {
                            next.into_iter().for_each(|next| engine.add(next.inputs));
                            engine.add(segments.take_rest().inputs);
                        }
                        engine.follow_to_end(self.progress);
                        (engine.finish(), None)
                    }
                }
            });
            let found = after(all, part);
            match goes_on {
                Some(read) => (all, (segments, next)) = (Some(found), read),
                None => return found,
            }
        }
        self.to_end(segments.take_rest(), Joined { part: all, watcher: Some(watcher) })
    }
}

/// What was found in the segments so far.
struct Joined<'w> {
    part: Option<Part>,
    /// Who is shown what ranks do.
    watcher: Option<&'w mut dyn Watcher>,
}

impl Joined<'_> {
    /// Segments, each with a watcher of its own.
    fn watched<'a>(&self, segments: Vec<Segment<'a>>) -> Vec<(Segment<'a>, Option<Box<dyn SegmentWatcher + '_>>)> {
        watched(self.watcher.as_deref(), segments)
    }

    /// Adds what was found in the next ones.
    fn add(&mut self, (part, seen): (Part, Option<Seen>)) {
        self.part = Some(after(self.part.take(), part));
        self.watcher.iter_mut().zip(seen).for_each(|(watcher, seen)| watcher.add(seen));
    }
}

/// Segments, each with a watcher of its own.
fn watched<'a, 'w>(
    watcher: Option<&'w dyn Watcher>,
    segments: Vec<Segment<'a>>,
) -> Vec<(Segment<'a>, Option<Box<dyn SegmentWatcher + 'w>>)> {
    segments.into_iter().map(|segment| (segment, watcher.and_then(Watcher::of_segment))).collect()
}

/// How many segments this process follows at a time.
fn at_a_time() -> usize {
    rayon::current_num_threads().clamp(1, MOST_AT_A_TIME)
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
    let header = run.header(rank.rank)?;
    let survey_of = survey.rank(rank.rank)?;
    let clock = survey_of.clock.clone()?;
    let placer = Placer::new(structure, &survey.sites, rank.rank);
    Some(Box::new(RankSteps::new(ids, run.log(header).ok()?, survey_of, (clock, rank.zero_ns()), placer)))
}

/// The places of the ranks whose logs this process reads.
fn own_places(surveyed: Surveyed) -> Range<usize> {
    let ranks = &surveyed.model.ranks;
    let own = surveyed.run.own_headers();
    let first = own.first().map_or(0, |first| ranks.partition_point(|rank| rank.rank < first.rank));
    let end = own.last().map_or(0, |last| ranks.partition_point(|rank| rank.rank <= last.rank));
    first..end.max(first)
}

/// The samples of the first threads of ranks, by place; of all ranks no more than [`MOST_SAMPLES`] are kept.
fn sampled(surveyed: Surveyed, code: &SampledCode, places: Range<usize>) -> Vec<Vec<TimedSample>> {
    let Surveyed { run, survey, model, .. } = surveyed;
    let most = (MOST_SAMPLES / model.ranks.len().max(1)).max(1);
    let of_rank = |rank: &RankModel| {
        let header = run.header(rank.rank)?;
        let clock = survey.rank(rank.rank)?.clock.as_ref()?;
        let sample = |(ticks, leaf, seconds): (u64, u32, f64)| {
            let at = clock.nanoseconds(ticks).saturating_sub(rank.zero_ns());
            TimedSample { at, leaf, ns: seconds * 1e9 }
        };
        Some(of_first_thread((run, header), (&survey.sites, code), most).into_iter().map(sample).collect())
    };
    model.ranks[places].par_iter().map(|rank| of_rank(rank).unwrap_or_default()).collect()
}
