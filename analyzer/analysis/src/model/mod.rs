//! The model of a run: ranks × regions × activities × iterations, in seconds on one clock, with names.
//!
//! [`crate::profile`] makes it from logs; metrics and reports read it. Nothing in it refers to a rank's own ids: regions are
//! unified across ranks by their paths, call sites by module and offset, communicators by their uids.

pub mod code;
mod own_loops;
pub mod ranks;
pub mod replayed;
pub mod run;

pub use code::code_name::CodeName;
pub(crate) use code::region::find_by_path;
pub use code::region::{CodeEnds, Region, RegionIdx};
pub use code::region::{code_name, regions_around};
pub use code::sites::{CallSite, Module};
pub use own_loops::OwnLoops;
pub use ranks::rank::{
    CallTotals, FileWaits, PendingCall, PollTimes, RankModel, RegionCounters, ResourceUsage, SiteTotalsKey,
};
pub(crate) use ranks::series::first_of_block;
pub use ranks::series::{IterationSeries, Seconds, SlowestInIteration};
pub use run::facts::{Communicator, RunFacts};

use std::collections::{BTreeMap, BTreeSet};

use bincode::{Decode, Encode};
use lbprof_collector::{Activity, Problem};

use code::loops::{Loop, NoLoopReason};
use code::sites::CallSiteTable;
use ranks::joined_iterations::JoinedIterations;
use ranks::samples::{CpuTimeOverRanks, SampledLine};
use ranks::threads::AskedThreads;
use replayed::replay_results::ReplayResults;
use replayed::solo_time::SoloTime;
use replayed::statistics::RunStatistics;
use replayed::what_if::WhatIfScenario;

/// A run.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Model {
    /// Facts of the run as a whole.
    pub facts: RunFacts,
    /// The ranks whose logs could be read, by number.
    pub ranks: Vec<RankModel>,
    /// Ranks of which sums of profile mode lie across an end of the selected time and are left out, so that nothing can be
    /// said of it.
    pub uncut_ranks: Vec<u32>,
    /// Regions, an outer one before its inner ones, else by name. The first is "main", the whole program.
    pub regions: Vec<Region>,
    /// Places from which MPI is called, and the files that they lie in.
    pub sites: CallSiteTable,
    /// Communicators, by uid.
    pub communicators: Vec<Communicator>,
    /// Names of the user's counters.
    pub counters: Vec<String>,
    /// By region: the largest computation of any rank in each iteration of the innermost iterated region that the region
    /// is, or lies in; empty for regions outside of iterations.
    pub slowest: Vec<Vec<SlowestInIteration>>,
    /// Regions of which single ranks have blocks of iterations, because all would take too much memory.
    pub joined: BTreeMap<RegionIdx, JoinedIterations>,
    /// CPU time by line of the source, where ranks were sampled.
    pub lines: BTreeMap<SampledLine, CpuTimeOverRanks>,
    /// Loops found in the calls, outer ones before those in them.
    pub loops: Vec<Loop>,
    /// Why there are none.
    pub without_loop: NoLoopReason,
    /// The outermost regions whose time is known by iteration.
    pub outermost_iterated: Vec<RegionIdx>,
    /// The time in which one rank alone computes; `None` where that is not known: calls were not recorded one by one, or the clocks
    /// of hosts cannot be compared.
    pub alone: Option<SoloTime>,
    /// The what-if scenarios that the user asked for.
    pub asked: Vec<WhatIfScenario>,
    /// The requested figures of the ranks' threads.
    pub asked_threads: AskedThreads,
    /// Results of the replay; `None` where the ranks were not followed.
    pub followed: Option<ReplayResults>,
    /// Statistics of single calls and messages; `None` where that was not wanted, or the ranks were not followed.
    pub statistics: Option<RunStatistics>,
    /// Missing or doubtful data.
    pub problems: Vec<Problem>,
    /// Findings beyond the problems, always by all of the time and all regions.
    pub found: Vec<Problem>,
}

impl Model {
    /// First window begin and last window end of all ranks, in seconds; (0, 0) where there is no rank.
    pub fn window_s(&self) -> (f64, f64) {
        window_s(self.ranks.iter())
    }

    /// Elapsed time of the run, in seconds: last window end less first window begin.
    pub fn elapsed_s(&self) -> f64 {
        let (begin, end) = self.window_s();
        (end - begin).max(0.0)
    }

    /// Elapsed time in which at least one rank was recorded all the time, in seconds: [`Model::elapsed_s`] less the time for
    /// which no rank was. The T of the run's efficiencies.
    pub fn recorded_s(&self) -> f64 {
        recorded_s(self.ranks.iter())
    }

    /// Seconds of each rank in `activity` within `region`, inner regions included; one entry a rank.
    pub fn inclusive_s(&self, region: RegionIdx, activity: Activity) -> Vec<f64> {
        self.ranks.iter().map(|rank| rank.inclusive(region)[activity as usize]).collect()
    }

    /// Elapsed time of a region, in seconds: of the whole program [`Model::recorded_s`], of others the longest that any rank
    /// spends in it, all invocations and inner regions included.
    pub fn region_elapsed_s(&self, region: RegionIdx) -> f64 {
        match region {
            0 => self.recorded_s(),
            _ => self.ranks.iter().map(|rank| rank.inclusive(region).iter().sum()).fold(0.0, f64::max),
        }
    }

    /// Returns the iterated region in which most is computed, of those outside of all others, or `None` if none is known.
    pub fn main_loop(&self) -> Option<RegionIdx> {
        most_computed(self.ranks.iter(), &self.outermost_iterated)
    }

    /// Returns the main loop of some ranks, as if there were no others, and the number of its iterations: `ranks` are indices in
    /// [`Model::ranks`].
    pub fn main_loop_of(&self, ranks: &[usize]) -> Option<(RegionIdx, usize)> {
        let chosen = ranks.iter().filter_map(|&at| self.ranks.get(at));
        let mut regions = self.outermost_iterated.clone();
        regions.retain(|&idx| chosen.clone().any(|rank| rank.series(idx).is_some()));
        let main = most_computed(chosen.clone(), &regions)?;
        let series = chosen.filter_map(|rank| rank.series(main));
        if self.joined.contains_key(&main) {
            return Some((main, series.map(IterationSeries::iterations).max().unwrap_or(0)));
        }
        let numbers: BTreeSet<u32> = series.flat_map(|series| series.numbers.iter().copied()).collect();
        Some((main, numbers.len()))
    }

    /// The sums of the ranks with these numbers, as if there were no others, without their iterations.
    pub fn sums_of(&self, ranks: &[u32]) -> Model {
        let chosen = self.ranks.iter().filter(|rank| ranks.binary_search(&rank.rank).is_ok());
        let chosen = chosen.map(|rank| RankModel { iterations: Vec::new(), in_iterations: Vec::new(), ..rank.clone() });
        Model {
            facts: self.facts.clone(),
            ranks: chosen.collect(),
            regions: self.regions.clone(),
            sites: self.sites.clone(),
            slowest: vec![Vec::new(); self.regions.len()],
            ..Model::default()
        }
    }

    /// The region and those around it, innermost first, the whole program last.
    pub fn chain(&self, region: RegionIdx) -> Vec<RegionIdx> {
        regions_around(&self.regions, region)
    }

    /// Numbers of the iterations of `region` of which the computation of any rank is not known, see [`IterationSeries::entering`].
    pub fn entering(&self, region: RegionIdx) -> BTreeSet<u32> {
        self.ranks.iter().filter_map(|rank| rank.series(region)).flat_map(|series| &series.entering).copied().collect()
    }

    /// Returns the binary logarithm of the number of iterations in a block of `region`; 0: each iteration is kept.
    pub fn joined_power(&self, region: RegionIdx) -> u8 {
        self.joined.get(&region).map_or(0, |joined| joined.power)
    }

    /// Numbers of the entries of [`IterationSeries`] in which [`Model::entering`] lie.
    pub fn entering_blocks(&self, region: RegionIdx) -> BTreeSet<u32> {
        let power = self.joined_power(region);
        self.entering(region).into_iter().map(|number| first_of_block(number, power)).collect()
    }

    /// Returns whether the time of `region` is known by iteration: it is iterated, or lies in a region that is.
    pub fn is_by_iteration(&self, region: RegionIdx) -> bool {
        self.slowest.get(region as usize).is_some_and(|slowest| !slowest.is_empty())
    }
}

/// Of `regions` the one in which `ranks` compute most, the first of several: a loop in which ranks only wait may last as long.
fn most_computed<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone, regions: &[RegionIdx]) -> Option<RegionIdx> {
    let mut most: Option<(f64, RegionIdx)> = None;
    for &idx in regions {
        let time_s: f64 = ranks.clone().map(|rank| rank.inclusive(idx)[Activity::Computation as usize]).sum();
        if most.is_none_or(|(most_s, first)| most_s.total_cmp(&time_s).then(idx.cmp(&first)).is_lt()) {
            most = Some((time_s, idx));
        }
    }
    most.map(|(_, idx)| idx)
}

fn window_s<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone) -> (f64, f64) {
    let begin = ranks.clone().map(|rank| rank.begin_s).reduce(f64::min);
    let end = ranks.map(|rank| rank.end_s).reduce(f64::max);
    begin.zip(end).unwrap_or_default()
}

/// [`Model::recorded_s`] of `ranks` alone.
pub(crate) fn recorded_s<'a>(ranks: impl Iterator<Item = &'a RankModel> + Clone) -> f64 {
    let (begin, end) = window_s(ranks.clone());
    let none = ranks.map(RankModel::not_recorded_s).reduce(f64::min).unwrap_or(0.0);
    ((end - begin).max(0.0) - none).max(0.0)
}
