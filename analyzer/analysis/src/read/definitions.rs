//! The definitions of one rank's log, by kind and id. Its records refer to them.
//!
//! Ids come from a file: they may be missing, repeated or absurd. So everything is kept by key, and every look-up may fail.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lbprof_collector::clock::RankClock;
use lbprof_collector::definition::{
    CallSite, ClockOffset, ClockPair, Communicator, EndReason, InterpretedFunction, LifetimePoint, Module, MpiObject,
    NeighbourRanks, ObjectKind, RankList, Region, RegionKind, ResourceUsage,
};
use lbprof_collector::format::LogHeader;
use lbprof_collector::off_core::ThreadUsage;
use lbprof_collector::parallel::{MutexSums, ParallelSums, TeamPlacement};
use lbprof_collector::record::NONE;
use lbprof_collector::sample::{SampledThread, SamplingSetup, ThreadPool};
use lbprof_collector::{Definition, Operation, Problem, ProblemKind, Record};

/// Name of the first region, the whole program.
pub const WHOLE_PROGRAM: &str = "main";

/// Maximum depth of nested regions, more than the recorder has. Deeper ones count as lying directly in the whole program.
const MAX_DEPTH: usize = 256;

/// Maximum number of a sample's callers, the same as the recorder's.
const MAX_CALLERS: usize = 256;

/// Definitions of one rank.
#[derive(Clone, Debug, Default)]
pub struct RankDefinitions {
    /// Modules by id.
    pub modules: BTreeMap<u32, Module>,
    /// Call sites by id.
    pub call_sites: BTreeMap<u32, CallSite>,
    /// Functions of interpreted programs by id.
    pub functions: BTreeMap<u32, InterpretedFunction>,
    /// Regions by id.
    pub regions: BTreeMap<u32, Region>,
    /// Communicators by id.
    pub communicators: BTreeMap<u32, Communicator>,
    /// The rank's neighbours in communicators with a topology, by the communicator's id.
    pub neighbours: BTreeMap<u32, NeighbourRanks>,
    /// World ranks of groups by id.
    pub groups: BTreeMap<u32, RankList>,
    /// RMA windows by id.
    pub rma_windows: BTreeMap<u32, MpiObject>,
    /// Files by id.
    pub files: BTreeMap<u32, MpiObject>,
    /// Names of the user's counters by id.
    pub counters: BTreeMap<u32, String>,
    /// The user's parameters.
    pub params: BTreeMap<String, f64>,
    /// The system's ids of threads, by their numbers.
    pub threads: BTreeMap<u32, u32>,
    /// The sampling settings, if the log states them.
    pub sampling: Option<SamplingSetup>,
    /// Threads that have samples, by id.
    pub sampled_threads: BTreeMap<u32, SampledThread>,
    /// Threads started with one routine, by id.
    pub thread_pools: BTreeMap<u32, ThreadPool>,
    /// Calls on the paths to samples, by id.
    pub sample_callers: BTreeMap<u32, CallSite>,
    /// Times of threads in parallel regions, by id.
    pub parallel: BTreeMap<u32, ParallelSums>,
    /// Waits for mutexes in them.
    pub mutexes: BTreeMap<u32, MutexSums>,
    /// The cores on which the threads of the largest team may run.
    pub team_placement: Option<TeamPlacement>,
    /// Readings of both clocks at the same instants.
    pub instants: Vec<ClockPair>,
    /// Measurements against rank 0's clock.
    pub offsets: Vec<ClockOffset>,
    /// The first sample of resources, and the last where there is a second.
    pub usage: (Option<ResourceUsage>, Option<ResourceUsage>),
    /// True if intervals of the first thread off its core are known.
    pub has_off_core: bool,
    /// CPU time and page faults of the first thread, likewise.
    pub thread_usage: (Option<ThreadUsage>, Option<ThreadUsage>),
    /// Begin of the rank's window of time (MPI_Init returns), in ticks.
    pub window_begin: Option<u64>,
    /// End of the rank's window of time.
    pub window_end: Option<u64>,
    /// Reason and time of the log's end.
    pub end: Option<(EndReason, u64)>,
    /// Exit status of the process, if it is known.
    pub exit_status: Option<i32>,
    /// Points in the life of the process, in ticks.
    pub lifetime: BTreeMap<LifetimePoint, u64>,
    /// Thread level that MPI gave.
    pub thread_level: Option<u8>,
    /// Problems of the recorder: number of occurrences, detail of the first.
    pub problems: BTreeMap<ProblemKind, (u64, String)>,
}

impl RankDefinitions {
    /// Adds a definition. A later one with the same id replaces an earlier one.
    pub fn add(&mut self, definition: Definition) {
        match definition {
            Definition::Module(module) => drop(self.modules.insert(module.id, module)),
            Definition::CallSite(site) => drop(self.call_sites.insert(site.id, site)),
            Definition::Region(region) => drop(self.regions.insert(region.id, region)),
            Definition::Communicator(comm) => drop(self.communicators.insert(comm.id, comm)),
            Definition::Object(object) => match object.kind {
                ObjectKind::Window => drop(self.rma_windows.insert(object.id, object)),
                ObjectKind::File => drop(self.files.insert(object.id, object)),
            },
            Definition::Counter(id, name) => drop(self.counters.insert(id, name)),
            Definition::Param(name, value) => drop(self.params.insert(name, value)),
            Definition::Thread(number, id) => drop(self.threads.insert(number, id)),
            Definition::Instant(instant) => self.instants.push(instant),
            Definition::ClockOffset(offset) => self.offsets.push(offset),
            Definition::Usage(usage) => match self.usage.0 {
                None => self.usage.0 = Some(usage),
                Some(_) => self.usage.1 = Some(usage),
            },
            Definition::Problem(number, count, detail) => {
                let kind = ProblemKind::from_number(number);
                let detail = if kind.is_none() { format!("problem {number}: {detail}") } else { detail };
                let (total, first) = self.problems.entry(kind.unwrap_or(ProblemKind::NewerProblem)).or_default();
                *total = total.saturating_add(count);
                if first.is_empty() {
                    *first = detail;
                }
            }
            Definition::WindowBegin(ticks) => self.window_begin = self.window_begin.or(Some(ticks)),
            Definition::WindowEnd(ticks) => self.window_end = Some(ticks),
            Definition::End(reason, ticks) => self.end = Some((reason, ticks)),
            Definition::Lifetime(point, ticks) => drop(self.lifetime.insert(point, ticks)),
            Definition::ThreadLevel(level) => self.thread_level = Some(level),
            Definition::Neighbours(one) => drop(self.neighbours.insert(one.comm, one)),
            Definition::ExitStatus(status) => self.exit_status = Some(status),
            Definition::Function(function) => drop(self.functions.insert(function.id, function)),
            Definition::Sampling(sampling) => self.sampling = Some(sampling),
            Definition::SampledThread(thread) => drop(self.sampled_threads.insert(thread.id, thread)),
            Definition::ThreadPool(pool) => drop(self.thread_pools.insert(pool.id, pool)),
            Definition::SampleCaller(caller) => drop(self.sample_callers.insert(caller.id, caller)),
            // Readers of samples keep the ones that come before them.
            Definition::SamplePlaces(_) | Definition::ProfileGaps(_) => {}
            Definition::OffCore(_) => self.has_off_core = true,
            Definition::ThreadUsage(usage) => match self.thread_usage.0 {
                None => self.thread_usage.0 = Some(usage),
                Some(_) => self.thread_usage.1 = Some(usage),
            },
            Definition::ParallelSums(sums) => drop(self.parallel.insert(sums.id, sums)),
            Definition::MutexSums(sums) => drop(self.mutexes.insert(sums.id, sums)),
            Definition::TeamPlacement(placement) => self.team_placement = Some(placement),
            Definition::Group(group) => drop(self.groups.insert(group.id, group.ranks)),
        }
    }

    /// Returns the rank's clock, from all measurements.
    pub fn clock(&self, header: &LogHeader) -> RankClock {
        RankClock::new(header, &self.instants, &self.offsets)
    }

    /// Returns the world ranks of the group that a call was given, or `None` if it has no group or an unknown one.
    pub fn group_of(&self, record: &Record) -> Option<&RankList> {
        let takes = [Operation::Win_post, Operation::Win_start].iter().any(|&one| one as u16 == record.operation);
        self.groups.get(&record.count.checked_sub(1)?).filter(|_| takes)
    }

    /// Returns the ids of the region and the regions around it, innermost first, without the whole program.
    pub fn region_chain(&self, id: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut next = id;
        while next != 0 && chain.len() < MAX_DEPTH {
            chain.push(next);
            match self.regions.get(&next) {
                // A region is defined after the one around it, so ids grow inwards; anything else may be a circle.
                Some(region) if region.parent < next => next = region.parent,
                _ => break,
            }
        }
        chain
    }

    /// Returns the number of a sampled thread, by its id among the samples, or `None` if it called no MPI function.
    pub fn recording_thread(&self, sampled: u32) -> Option<u32> {
        self.sampled_threads.get(&sampled).map(|thread| thread.number).filter(|&number| number != NONE)
    }

    /// Returns the calls on the path to a sample with this call path, the innermost first, and whether there may be more around them.
    pub fn sample_chain(&self, call_path: u32) -> (Vec<&CallSite>, bool) {
        let mut callers = Vec::new();
        let mut next = self.sample_callers.get(&call_path);
        while let Some(caller) = next.filter(|_| callers.len() < MAX_CALLERS) {
            callers.push(caller);
            // A caller is defined after the one around it; anything else may be a circle.
            next = self.sample_callers.get(&caller.parent).filter(|around| around.id < caller.id);
        }
        let is_cut = callers.last().is_none_or(|outermost| outermost.cut || outermost.parent != NONE);
        (callers, is_cut)
    }

    /// Returns whether a region is marked as serial work.
    pub fn is_serial(&self, id: u32) -> bool {
        self.regions.get(&id).is_some_and(|region| region.kind == RegionKind::Serial)
    }

    /// Returns the name of a region alone.
    pub fn region_name(&self, id: u32) -> String {
        match self.regions.get(&id) {
            _ if id == 0 => WHOLE_PROGRAM.to_owned(),
            Some(region) => region.name.clone(),
            None => format!("region {id}"),
        }
    }

    /// Returns the names of a region and the regions around it, outermost first, joined with '/'.
    pub fn region_path(&self, id: u32) -> String {
        let mut path = WHOLE_PROGRAM.to_owned();
        for &id in self.region_chain(id).iter().rev() {
            path.push('/');
            path.push_str(&path_part(&self.region_name(id)));
        }
        path
    }

    /// Returns the problems of the recorder, which ran on `rank`.
    pub fn problems_of(&self, rank: u32) -> impl Iterator<Item = Problem> + '_ {
        self.problems.iter().map(move |(&kind, (count, detail))| Problem {
            kind,
            rank: Some(rank),
            count: *count,
            detail: detail.clone(),
        })
    }
}

impl Extend<Definition> for RankDefinitions {
    fn extend<I: IntoIterator<Item = Definition>>(&mut self, definitions: I) {
        for definition in definitions {
            self.add(definition);
        }
    }
}

/// Returns a region's name as a part of a path: a '/' in it is `\/`.
pub fn path_part(name: &str) -> Cow<'_, str> {
    if name.contains('/') { name.replace('/', "\\/").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(id: u32, parent: u32, name: &str) -> Definition {
        Definition::Region(Region { id, parent, name: name.into(), kind: RegionKind::Useful, iterated: false })
    }

    #[test]
    fn a_path_names_all_regions_from_the_outermost_on() {
        let mut definitions = RankDefinitions::default();
        definitions.extend([region(1, 0, "step"), region(2, 1, "force")]);
        assert_eq!(definitions.region_path(2), "main/step/force");
        assert_eq!(definitions.region_path(0), "main");
        assert_eq!(definitions.region_path(9), "main/region 9");
    }

    #[test]
    fn regions_in_a_circle_do_not_hang() {
        let mut definitions = RankDefinitions::default();
        definitions.extend([region(1, 2, "a"), region(2, 1, "b"), region(3, 3, "c")]);
        assert_eq!(definitions.region_path(2), "main/a/b");
        assert_eq!(definitions.region_path(3), "main/c");
    }

    #[test]
    fn counts_of_a_problem_add_up() {
        let mut definitions = RankDefinitions::default();
        definitions.add(Definition::Problem(ProblemKind::Dropped as u16, 3, "no space".into()));
        definitions.add(Definition::Problem(ProblemKind::Dropped as u16, 4, "again".into()));
        let problems: Vec<_> = definitions.problems_of(7).collect();
        assert_eq!(
            problems,
            [Problem { kind: ProblemKind::Dropped, rank: Some(7), count: 7, detail: "no space".into() }]
        );
    }
}
