//! Pools of threads that no run-time library reports, such as `std::thread`, TBB and Kokkos start: how much of their time they work, by samples.
//!
//! utilization = Σ CPU time of its threads besides waiting / (n × time)
//!
//! n is the most threads that there are at a time. The CPU time is a sum over samples, so that it has a standard error; so has the utilization. The time of a
//! region is the first thread's time in it.

use std::collections::BTreeMap;

use serde::Serialize;

use lbprof_analysis::metrics::spread::load_balance::quotient_of;
use lbprof_analysis::model::ranks::samples::CpuTime;
use lbprof_analysis::model::ranks::thread_pools::SampledPool;
use lbprof_analysis::model::{Model, RankModel, RegionIdx};
use lbprof_analysis::structure::code::code_place::{CodePlace, base_name};
use lbprof_analysis::structure::code::symbols::ResolvedNames;
use lbprof_thresholds::verdict::MIN_POOL_UTILIZATION;

/// Regions of a pool that have rows.
const MAX_REGIONS: usize = 20;

/// Threads that ranks start with one routine, all ranks together; without OpenMP's threads where parallel regions were measured.
#[derive(Clone, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct ThreadPoolRow {
    /// The routine's name; for `std::thread` the name of the function that it runs.
    pub name: String,
    /// Location of the routine.
    pub routine: CodePlace,
    /// Ranks that have such threads.
    pub ranks: u64,
    /// The most threads at a time, summed over ranks: n.
    pub threads: u64,
    /// Threads started, short-lived ones included, of the whole run.
    pub started: u64,
    /// The rank whose threads work longest: CPU time besides waiting.
    pub longest_rank: u32,
    /// The CPU time besides waiting of its threads.
    pub longest_s: f64,
    /// The whole program.
    pub program: PoolUse,
    /// Each region by itself, inner regions excluded, those with most CPU time first; at most 20.
    pub regions: Vec<PoolUse>,
}

/// The use of a pool's threads in a region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct PoolUse {
    /// Its path.
    pub region: String,
    /// Time of the region on each rank × its threads, summed over ranks.
    pub thread_time_s: f64,
    /// CPU time of the threads, all ranks together.
    pub cpu_s: f64,
    /// The part of `cpu_s` in which they wait for other threads or look for work: in the run-time libraries of OpenMP and TBB, and in `sched_yield`.
    pub waiting_s: f64,
    /// (`cpu_s` − `waiting_s`) / `thread_time_s`.
    pub utilization: Option<f64>,
    /// Its standard error.
    pub utilization_error: Option<f64>,
}

impl PoolUse {
    /// Returns the CPU time in which the threads neither wait nor look for work.
    pub fn working_s(&self) -> f64 {
        self.cpu_s - self.waiting_s
    }
}

/// The CPU time of a pool's threads in a region.
#[derive(Clone, Copy, Default)]
struct PoolSums {
    thread_time_s: f64,
    working: CpuTime,
    waiting: CpuTime,
}

impl PoolSums {
    fn add(&mut self, other: &PoolSums) {
        self.thread_time_s += other.thread_time_s;
        self.working.add(&other.working);
        self.waiting.add(&other.waiting);
    }

    fn to_row(self, region: &str) -> PoolUse {
        let PoolSums { thread_time_s, working, waiting } = self;
        PoolUse {
            region: region.to_owned(),
            thread_time_s,
            cpu_s: working.seconds + waiting.seconds,
            waiting_s: waiting.seconds,
            utilization: quotient_of(working.seconds, thread_time_s),
            utilization_error: quotient_of(working.error_s(), thread_time_s),
        }
    }
}

/// A pool while ranks are added to it.
#[derive(Default)]
struct PoolBuilder {
    ranks: u64,
    threads: u64,
    started: u64,
    /// The rank whose threads work longest, and how long.
    longest: (u32, f64),
    regions: BTreeMap<RegionIdx, PoolSums>,
    program: PoolSums,
}

impl PoolBuilder {
    fn add(&mut self, rank: &RankModel, pool: &SampledPool, is_waiting: impl Fn(u32) -> bool) {
        let threads = f64::from(pool.threads);
        self.ranks += 1;
        self.threads += u64::from(pool.threads);
        self.started = self.started.saturating_add(pool.started);
        let mut regions: BTreeMap<RegionIdx, PoolSums> = BTreeMap::new();
        for (at, time) in &pool.times {
            let sums = regions.entry(at.region).or_default();
            if is_waiting(at.node) { sums.waiting.add(time) } else { sums.working.add(time) }
        }
        let sampled_s: f64 = regions.values().map(|sums| sums.working.seconds).sum();
        let working_s = sampled_s + pool.unsampled_s;
        self.program.working.seconds += pool.unsampled_s;
        if working_s > self.longest.1 {
            self.longest = (rank.rank, working_s);
        }
        self.program.thread_time_s += threads * rank.inclusive(0).iter().sum::<f64>();
        for (region, mut sums) in regions {
            self.program.add(&sums);
            sums.thread_time_s = threads * rank.exclusive(region).iter().sum::<f64>();
            self.regions.entry(region).or_default().add(&sums);
        }
    }
}

/// The pools of a run, those with most CPU time first.
pub(crate) fn thread_pool_rows(model: &Model, names: &ResolvedNames) -> Vec<ThreadPoolRow> {
    let mut pools: BTreeMap<CodePlace, PoolBuilder> = BTreeMap::new();
    for rank in &model.ranks {
        for pool in &rank.pools {
            let place = pool.routine.and_then(|site| names.places.get(site as usize));
            let routine = place.map(CodePlace::of_region).unwrap_or_default();
            if rank.parallel.is_empty() || !is_openmp(&routine) {
                pools.entry(routine).or_default().add(rank, pool, |node| names.sampled.is_wait_code(node));
            }
        }
    }
    let mut rows: Vec<ThreadPoolRow> =
        pools.into_iter().map(|(routine, pool)| thread_pool_row(model, routine, pool)).collect();
    rows.retain(|row| row.program.utilization.is_some_and(|utilization| utilization >= MIN_POOL_UTILIZATION));
    rows.sort_by(|a, b| b.program.cpu_s.total_cmp(&a.program.cpu_s));
    rows
}

fn thread_pool_row(model: &Model, routine: CodePlace, pool: PoolBuilder) -> ThreadPoolRow {
    let mut regions: Vec<PoolUse> =
        pool.regions.iter().map(|(&region, sums)| sums.to_row(pool_region_path(model, region))).collect();
    regions.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    regions.truncate(MAX_REGIONS);
    ThreadPoolRow {
        name: name_of_pool(&routine),
        routine,
        ranks: pool.ranks,
        threads: pool.threads,
        started: pool.started,
        longest_rank: pool.longest.0,
        longest_s: pool.longest.1,
        program: pool.program.to_row(pool_region_path(model, 0)),
        regions,
    }
}

/// Returns the path of a region.
fn pool_region_path(model: &Model, region: RegionIdx) -> &str {
    model.regions.get(region as usize).map_or("", |region| region.path.as_str())
}

/// Returns whether a routine is one of OpenMP's run-time libraries.
fn is_openmp(routine: &CodePlace) -> bool {
    let library = routine.module.as_deref().map(base_name).unwrap_or_default();
    ["libgomp", "libomp", "libiomp5"].iter().any(|name| library.starts_with(name))
}

/// Libraries that start pools, by the beginning of their files' names: distributions strip them, so that their routines have no names.
const LIBRARIES: [(&str, &str); 3] = [("libtbb", "TBB"), ("libkokkos", "Kokkos"), ("libtrilinos_kokkos", "Kokkos")];

/// Names a pool by its routine, or by the library that has it.
fn name_of_pool(routine: &CodePlace) -> String {
    if let Some(function) = &routine.function {
        return name_of_routine(function);
    }
    let file = routine.module.as_deref().map(base_name).unwrap_or_default();
    let library = LIBRARIES.iter().find(|(name, _)| file.starts_with(name));
    library.map_or_else(|| routine.label(), |(_, library)| format!("{library} ({})", routine.label()))
}

/// Names the routine of a pool. A `std::thread` has `std::thread::_State_impl<…<std::tuple<FUNCTION, ARGUMENTS> > >::_M_run`; within it `std::async` has
/// `_Async_state_impl<…<std::tuple<FUNCTION, ARGUMENTS> >`.
fn name_of_routine(function: &str) -> String {
    let Some(inner) = function.strip_prefix("std::thread::_State_impl<") else { return function.to_owned() };
    let (how, inner) = inner.split_once("_Async_state_impl<").map_or(("thread", inner), |(_, inner)| ("async", inner));
    let Some((_, inner)) = inner.split_once("std::tuple<") else { return function.to_owned() };
    let mut depth = 0_i32;
    let end = inner.char_indices().find(|&(at, char)| {
        // The head of a lambda has commas in its parentheses, and arrows are no brackets.
        match char {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' if inner[..at].ends_with('-') => {}
            ')' | '}' | ']' => depth -= 1,
            '>' => depth -= 1,
            ',' if depth == 0 => return true,
            _ => {}
        }
        depth < 0
    });
    let name = end.map_or(inner, |(at, _)| &inner[..at]).trim();
    if name.is_empty() { function.to_owned() } else { format!("std::{how} of {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_of_standard_threads_is_named_for_what_they_run() {
        for (function, name) in [
            ("work", "work"),
            (
                "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda(int, int)#1}, int> > >::_M_run()",
                "std::thread of main::{lambda(int, int)#1}",
            ),
            (
                "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int)> > >::_M_run()",
                "std::thread of void (*)(int)",
            ),
            (
                "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (std::__future_base::_Async_state_impl<\
                 std::thread::_Invoker<std::tuple<double (*)(double), double> >, double>::*)(), \
                 std::__future_base::_Async_state_impl<int, double>*> > >::_M_run()",
                "std::async of double (*)(double)",
            ),
        ] {
            assert_eq!(name_of_routine(function), name);
        }
    }

    #[test]
    fn a_pool_of_a_library_without_symbols_has_the_librarys_name() {
        let routine =
            |module: &str| CodePlace { module: Some(module.to_owned()), offset: 0x22181, ..CodePlace::default() };
        assert_eq!(name_of_pool(&routine("/lib/x86_64-linux-gnu/libtbb.so.12")), "TBB (libtbb.so.12+0x22181)");
        assert_eq!(name_of_pool(&routine("/opt/libown.so")), "libown.so+0x22181");
    }

    #[test]
    fn utilization_is_work_by_time_of_all_threads() {
        let sums = PoolSums {
            thread_time_s: 8.0,
            working: CpuTime { samples: 16, seconds: 2.0, squares: 0.25, ..CpuTime::default() },
            waiting: CpuTime { seconds: 1.0, ..CpuTime::default() },
        };
        let row = sums.to_row("main");
        assert_eq!((row.utilization, row.utilization_error), (Some(0.25), Some(0.0625)));
        assert_eq!((row.cpu_s, row.waiting_s), (3.0, 1.0));
        assert_eq!(PoolSums::default().to_row("main").utilization, None);
    }
}
