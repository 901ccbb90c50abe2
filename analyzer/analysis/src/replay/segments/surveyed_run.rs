//! The input of a replay on each process: the run, what is asked of it, and what is looked up meanwhile.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::reading::LeadingRank;
use crate::model::code::region_state::Ns;
use crate::model::replayed::what_if::WhatIfScenario;
use crate::model::{Model, RankModel};
use crate::profile::summed::samples::SampleSource;
use crate::read::open::RecordedRun;
use crate::replay::blocking::{MAX_INTERVALS, TimedSample};
use crate::replay::comm_members::CommMembers;
use crate::replay::cut::consistent_cut::communicators_of_all;
use crate::replay::engine::ReplaySetting;
use crate::replay::observers::scope::ReplayScope;
use crate::replay::timeline::{RankSteps, RegionLookup, RegionTable, RunClock, RunIds, are_packed};
use crate::replay::what_if::ScenarioConditions;
use crate::structure::code::sampled_code::SampledCode;
use crate::structure::survey::CallSurvey;
use crate::structure::{CallPlacer, RunStructure};

/// Steps of a segment of all ranks together, packed and not packed, and minimum steps of a rank.
const PACKED_STEPS: usize = 1 << 19;
const STEPS: usize = 1 << 18;
const LEAST_OF_A_RANK: usize = 32;

/// Maximum number of samples that are kept of all ranks together, at 24 bytes each.
const MOST_SAMPLES: usize = 1 << 22;

/// A run with the results of the first two passes.
#[derive(Clone, Copy)]
pub struct SurveyedRun<'a> {
    /// The run.
    pub run: &'a RecordedRun,
    /// The calls counted in the first pass.
    pub survey: &'a CallSurvey,
    /// The loops and regions found in the first pass.
    pub structure: &'a RunStructure,
    /// The model made in the second pass.
    pub model: &'a Model,
}

/// A sample of a rank's first thread: when, stack, and CPU time in seconds.
pub(crate) type StackSample = (Ns, u32, f64);

impl SurveyedRun<'_> {
    /// Returns the samples of a rank's first thread in the order of time, out of at most `most` of all its threads. Returns `None` if the rank's log or
    /// its clock is not known.
    pub(crate) fn stacks_of_rank(self, code: &SampledCode, rank: &RankModel, most: usize) -> Option<Vec<StackSample>> {
        let SurveyedRun { run, survey, .. } = self;
        let (header, clock) = (run.header(rank.rank)?, survey.rank(rank.rank)?.clock.as_ref()?);
        let samples = SampleSource { run, header, sites: &survey.sites, code }.samples_of_first_thread(most);
        let samples = samples
            .into_iter()
            .map(|(ticks, stack, seconds)| (clock.nanoseconds(ticks).saturating_sub(rank.zero_ns()), stack, seconds));
        Some(samples.collect())
    }
}

/// The desired output of the replay.
pub struct ReplayOptions<'a> {
    /// The part of the run in which waits count.
    pub scope: &'a ReplayScope,
    /// The what-if scenarios, and the conditions of their replays.
    pub scenarios: Vec<(WhatIfScenario, ScenarioConditions<'a>)>,
    /// The code that samples hit, if the code that makes others wait is wanted.
    pub code: Option<&'a SampledCode>,
    /// Intervals and causes of the ranks' histories from which on old ones are forgotten, see [`ReplayResults::kept`](crate::model::replayed::replay_results::ReplayResults::kept).
    pub most_kept: usize,
    /// Steps of a segment of all ranks together, or `None` for the default.
    pub segment_steps: Option<usize>,
    /// True if other processes may replay a part of the run.
    pub is_shared: bool,
}

impl<'a> ReplayOptions<'a> {
    /// Asks for the waits in `scope` alone.
    pub fn new(scope: &'a ReplayScope) -> Self {
        let (scenarios, most_kept) = (Vec::new(), MAX_INTERVALS);
        ReplayOptions { scope, scenarios, code: None, most_kept, segment_steps: None, is_shared: false }
    }

    /// Returns whether the run may be cut: all of it is replayed, and it has several ranks of one thread each.
    pub(crate) fn can_cut(&self, model: &Model) -> bool {
        self.scope.is_all() && model.ranks.iter().all(|rank| rank.other_threads == 0) && model.ranks.len() > 1
    }

    /// Converts the options into the context that all ranks are replayed in, whose logs can all be read, and the scenarios.
    pub(crate) fn into_setting(
        self,
        model: &'a Model,
        samples: Vec<Vec<TimedSample>>,
    ) -> (ReplaySetting<'a>, Vec<WhatIfScenario>) {
        let ReplayOptions { scope, scenarios, most_kept, .. } = self;
        let (scenarios, conditions): (Vec<WhatIfScenario>, Vec<ScenarioConditions>) = scenarios.into_iter().unzip();
        let above = model.ranks.iter().map(|rank| rank.rank.saturating_add(1)).max().unwrap_or(0);
        let setting = ReplaySetting {
            model,
            members: CommMembers::new(&model.communicators, model.facts.n_ranks.max(above)),
            scope,
            conditions,
            samples: Arc::new(samples),
            unread: vec![false; model.ranks.len()],
            most_kept,
        };
        (setting, scenarios)
    }
}

/// Tables for looking up parts of a model during the replay.
pub(crate) struct LookupTables {
    regions: RegionTable,
    /// World ranks, ascending.
    ranks: Vec<u32>,
}

impl LookupTables {
    pub(crate) fn new(model: &Model) -> LookupTables {
        let mut ranks: Vec<u32> = model.ranks.iter().map(|rank| rank.rank).collect();
        ranks.sort_unstable();
        LookupTables { regions: RegionTable::new(model), ranks }
    }

    /// Returns the ids of the run. `facts`: whether the arguments of calls are wanted.
    pub(crate) fn ids<'a>(&'a self, surveyed: SurveyedRun<'a>, facts: bool) -> RunIds<'a> {
        let SurveyedRun { survey, structure, model, .. } = surveyed;
        let places = RegionLookup { sites: &survey.sites, structure, regions: &self.regions };
        RunIds { communicators: &model.communicators, places, ranks: &self.ranks, facts }
    }
}

/// Creates the leading rank, which decides where segments end.
pub(crate) fn choose_leading_rank(setting: &ReplaySetting, segment_steps: Option<usize>) -> LeadingRank {
    let ranks = &setting.model.ranks;
    // The median by calls, so that no rank has many more, or fewer, steps in a segment.
    let mut by_calls: Vec<usize> = (0..ranks.len()).collect();
    by_calls.sort_by_key(|&place| ranks[place].calls);
    let n = ranks.len().max(1);
    let best = if are_packed(n) { PACKED_STEPS } else { STEPS };
    LeadingRank {
        rank: by_calls.get(n / 2).copied().unwrap_or(0),
        steps: segment_steps.map_or((best / n).max(LEAST_OF_A_RANK), |steps| (steps / n).max(1)),
        of_all: communicators_of_all(setting.model, &setting.members).into(),
    }
}

/// Opens a rank's steps, or returns `None` if its log cannot be read any more.
pub(crate) fn open_rank_steps<'a>(
    surveyed: SurveyedRun<'a>,
    ids: RunIds<'a>,
    rank: &RankModel,
) -> Option<Box<RankSteps<'a>>> {
    let SurveyedRun { run, survey, structure, .. } = surveyed;
    let header = run.header(rank.rank)?;
    let survey_of = survey.rank(rank.rank)?;
    let clock = RunClock { clock: survey_of.clock.clone()?, zero: rank.zero_ns() };
    let placer = CallPlacer::new(structure, &survey.sites, rank.rank);
    Some(Box::new(RankSteps::new(ids, run.log(header).ok()?, survey_of, clock, placer)))
}

/// Returns the indices of the ranks whose logs this process reads.
pub(crate) fn own_places(surveyed: SurveyedRun) -> Range<usize> {
    let ranks = &surveyed.model.ranks;
    let own = surveyed.run.own_headers();
    let first = own.first().map_or(0, |first| ranks.partition_point(|rank| rank.rank < first.rank));
    let end = own.last().map_or(0, |last| ranks.partition_point(|rank| rank.rank <= last.rank));
    first..end.max(first)
}

/// The readers of some ranks' steps, and the samples of these ranks, if wanted.
pub(crate) struct LocalRanks<'a> {
    /// By index of the rank; `None` if a log cannot be read any more.
    pub(crate) logs: Vec<Option<Box<RankSteps<'a>>>>,
    /// By index of the rank; empty if samples are not wanted.
    pub(crate) samples: Vec<Vec<TimedSample>>,
}

impl<'a> LocalRanks<'a> {
    pub(crate) fn open(
        surveyed: SurveyedRun<'a>,
        ids: RunIds<'a>,
        places: Range<usize>,
        options: &ReplayOptions,
    ) -> Self {
        let logs =
            surveyed.model.ranks[places.clone()].iter().map(|rank| open_rank_steps(surveyed, ids, rank)).collect();
        let samples = options.code.map(|code| samples_of_ranks(surveyed, code, places)).unwrap_or_default();
        LocalRanks { logs, samples }
    }
}

/// Returns the samples of the ranks' first threads, by index of the rank, at most [`MOST_SAMPLES`] of all ranks.
fn samples_of_ranks(surveyed: SurveyedRun, code: &SampledCode, places: Range<usize>) -> Vec<Vec<TimedSample>> {
    let ranks = &surveyed.model.ranks;
    let most = (MOST_SAMPLES / ranks.len().max(1)).max(1);
    let samples = ranks[places].par_iter().map(|rank| {
        let stacks = surveyed.stacks_of_rank(code, rank, most).unwrap_or_default().into_iter();
        stacks.map(|(at, stack, seconds)| TimedSample { at, leaf: code.leaf_of(stack), ns: seconds * 1e9 }).collect()
    });
    samples.collect()
}
