//! Reasons to doubt the figures, or to give no advice.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use lbprof_thresholds::metrics::{MIN_OBSERVED_WITHOUT_CORE_S, MIN_TIME_WITHOUT_CORE, MIN_UNCLEAR_POLL_TIME};
use lbprof_thresholds::verdict::{
    MAX_CALLS_WITHOUT_DEPENDENCE, MAX_SHORT_RUN_S, MIN_CALLS_OF_SHORT_RUN, MIN_DOUBTED_COMPUTATION, MIN_DOUBTED_LOSS,
    MIN_TIME_OF_FIRST_DOUBT, MIN_USE_OF_BOUND_CORES, MIN_WORK_OF_OTHER_THREADS,
};

use lbprof_analysis::metrics::sampled::preemption::{PreemptionLoss, is_yielding, preemption_loss};
use lbprof_analysis::metrics::sampled::sleep_time::{SleepTime, sleep_time};
use lbprof_analysis::metrics::threads::ThreadEfficiency;
use lbprof_analysis::model::ranks::samples::SampledThreads;
use lbprof_analysis::model::ranks::thread_pools::SampledPool;
use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::structure::code::sampled_code::SampledCode;

/// Reasons to doubt the figures; each is `None`, or empty, where it does not hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportDoubts {
    /// Ranks whose process ended with a status other than 0, ascending, by status.
    pub failed: BTreeMap<i32, Vec<u32>>,
    /// Ranks that have more threads than cores on which these may run, the worst by threads per core.
    pub fewer_cores: Option<DoubtedRanks<CrowdedCores>>,
    /// Ranks that waited for a core for much of their computation.
    pub no_core_to_compute: Option<DoubtedRanks<PreemptionLoss>>,
    /// Share of all ranks' time without a core, in MPI or outside, if it is large, 0..=1.
    pub no_core: Option<f64>,
    /// Ranks that slept or waited for I/O for much of their computation.
    pub asleep: Option<DoubtedRanks<SleepTime>>,
    /// Time between unsuccessful polls that may be waiting or computation.
    pub unclear_polls: Option<UnclearPolls>,
    /// Seconds of CPU time, or in MPI, of threads that are no part of the figures.
    pub other_threads: Option<DoubtedRanks<f64>>,
    /// Number of calls of all ranks, except MPI_Init and MPI_Finalize, if it is too small to say how ranks depend on each other.
    pub few_calls: Option<u64>,
}

/// Ranks with the same problem.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtedRanks<T> {
    /// The rank that has the problem most.
    pub worst_rank: u32,
    /// Its amount of the problem.
    pub worst: T,
    /// The ranks that have the problem, ascending.
    pub ranks: Vec<u32>,
}

/// The threads of a rank that may use fewer cores than it has threads in a team.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedCores {
    /// Its threads.
    pub threads: u32,
    /// Its cores.
    pub cores: u32,
}

/// Time between unsuccessful polls that may be waiting or computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnclearPolls {
    /// Seconds of all ranks that count as waiting and may be computation, or count as computation and may be waiting.
    pub unclear_s: f64,
    /// The parallel efficiency if all of them are waiting, and if all are computation, 0..=1.
    pub efficiency: (f64, f64),
}

impl ReportDoubts {
    pub(crate) fn new(model: &Model, code: &SampledCode) -> ReportDoubts {
        let mut doubts = ReportDoubts {
            failed: failed_ranks(model),
            fewer_cores: fewer_cores(model),
            asleep: asleep_ranks(model),
            unclear_polls: unclear_polls(model),
            other_threads: other_threads(model, code),
            few_calls: few_calls(model),
            ..ReportDoubts::default()
        };
        // Threads that share cores due to their binding are reported only once.
        if doubts.fewer_cores.is_none() {
            doubts.no_core_to_compute = no_core_to_compute(model);
        }
        if !doubts.has_crowded_cores() {
            doubts.no_core = no_core(model);
        }
        doubts
    }

    /// Returns whether ranks had no core for much of their time.
    pub(crate) fn has_crowded_cores(&self) -> bool {
        self.fewer_cores.is_some() || self.no_core_to_compute.is_some() || self.no_core.is_some()
    }

    /// Returns whether no advice can be given, as on a run that failed or was measured without cores.
    pub(crate) fn forbids_advice(&self) -> bool {
        let has_no_cores = self.fewer_cores.is_some() || self.no_core_to_compute.is_some();
        !self.failed.is_empty() || has_no_cores || self.few_calls.is_some()
    }
}

impl<T: Copy> DoubtedRanks<T> {
    /// Returns the rank with the largest amount, and all ranks in `amounts`.
    fn find(amounts: impl Iterator<Item = (u32, T)>, size: impl Fn(&T) -> f64) -> Option<Self> {
        let amounts: Vec<(u32, T)> = amounts.collect();
        let &(worst_rank, worst) =
            amounts.iter().max_by(|a, b| size(&a.1).total_cmp(&size(&b.1)).then(b.0.cmp(&a.0)))?;
        Some(DoubtedRanks { worst_rank, worst, ranks: amounts.iter().map(|one| one.0).collect() })
    }
}

fn failed_ranks(model: &Model) -> BTreeMap<i32, Vec<u32>> {
    let mut by_status: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
    for rank in &model.ranks {
        if let Some(status) = rank.exit_status.filter(|&status| status != 0) {
            by_status.entry(status).or_default().push(rank.rank);
        }
    }
    by_status
}

fn fewer_cores(model: &Model) -> Option<DoubtedRanks<CrowdedCores>> {
    let efficiency = ThreadEfficiency::new(model);
    let crowded = model.ranks.iter().enumerate().filter_map(|(at, rank)| {
        let cores = rank.placement.as_ref()?.cores;
        let threads = match &efficiency {
            Some(efficiency) => efficiency.ranks.get(at)?.cores,
            None => busy_pool_threads(rank, f64::from(cores) * model.elapsed_s())?,
        };
        (0 < cores && cores < threads).then_some((rank.rank, CrowdedCores { threads, cores }))
    });
    DoubtedRanks::find(crowded, |crowded| f64::from(crowded.threads) / f64::from(crowded.cores))
}

fn cpu_time_s(pool: &SampledPool) -> f64 {
    pool.times.iter().map(|(_, time)| time.seconds).sum::<f64>() + pool.unsampled_s
}

/// Returns the threads of a rank's largest pool, if its pools keep its cores busy for nearly all of this core time.
fn busy_pool_threads(rank: &RankModel, core_time_s: f64) -> Option<u32> {
    let busy_s: f64 = rank.pools.iter().map(cpu_time_s).sum();
    let threads = rank.pools.iter().map(|pool| pool.threads).max()?;
    (busy_s >= MIN_USE_OF_BOUND_CORES * core_time_s).then_some(threads)
}

fn no_core_to_compute(model: &Model) -> Option<DoubtedRanks<PreemptionLoss>> {
    let min_computation_s = MIN_DOUBTED_COMPUTATION * model.elapsed_s();
    let losses = model.ranks.iter().filter_map(|rank| Some((rank.rank, preemption_loss(rank)?)));
    let large = losses.filter(|(_, lost)| {
        lost.delayed_s >= MIN_TIME_OF_FIRST_DOUBT * lost.computation_s && lost.computation_s >= min_computation_s
    });
    DoubtedRanks::find(large, |lost| lost.delayed_s)
}

/// Returns the share of time without a core if it is large, in all or in MPI while waiting ranks occupied cores.
fn no_core(model: &Model) -> Option<f64> {
    let (mut elapsed_s, mut in_mpi_s, mut delayed_s, mut delayed_without_yield_s) = (0.0, 0.0, 0.0, 0.0);
    for rank in &model.ranks {
        let Some(usage) = rank.usage.filter(|usage| usage.elapsed_s >= MIN_OBSERVED_WITHOUT_CORE_S) else { continue };
        let computation_s = rank.inclusive(0)[Activity::Computation as usize];
        // Able to run, but without a core.
        let own_delayed_s = usage.thread_delayed_s.min(usage.elapsed_s);
        elapsed_s += usage.elapsed_s;
        in_mpi_s += (usage.elapsed_s - computation_s).max(0.0);
        delayed_s += own_delayed_s;
        // Some MPI libraries yield the core while they wait.
        if !is_yielding(usage.switches_per_s()) {
            delayed_without_yield_s += own_delayed_s;
        }
    }
    let holds_up_others = delayed_without_yield_s >= MIN_TIME_WITHOUT_CORE * elapsed_s
        && delayed_without_yield_s >= MIN_TIME_OF_FIRST_DOUBT * in_mpi_s;
    let is_without_core = delayed_s >= MIN_TIME_OF_FIRST_DOUBT * elapsed_s || holds_up_others;
    (elapsed_s > 0.0 && is_without_core).then(|| delayed_s / elapsed_s)
}

fn asleep_ranks(model: &Model) -> Option<DoubtedRanks<SleepTime>> {
    let min_computation_s = MIN_DOUBTED_COMPUTATION * model.elapsed_s();
    let times = model.ranks.iter().filter_map(|rank| Some((rank.rank, sleep_time(rank)?)));
    let large = times.filter(|(_, time)| {
        time.asleep_s >= MIN_TIME_OF_FIRST_DOUBT * time.computation_s && time.computation_s >= min_computation_s
    });
    DoubtedRanks::find(large, |time| time.asleep_s)
}

/// Polls are only known for whole ranks.
fn unclear_polls(model: &Model) -> Option<UnclearPolls> {
    let selected = &model.facts.selected;
    if selected.from.is_some() || selected.to.is_some() || selected.region.is_some() {
        return None;
    }
    let (mut computation_s, mut maybe_computation_s, mut maybe_waiting_s) = (0.0, 0.0, 0.0);
    for rank in &model.ranks {
        computation_s += rank.inclusive(0)[Activity::Computation as usize];
        maybe_computation_s += rank.polls.maybe_computation_s;
        maybe_waiting_s += rank.polls.maybe_waiting_s;
    }
    let all_s = model.elapsed_s() * model.ranks.len() as f64;
    let unclear_s = maybe_computation_s + maybe_waiting_s;
    if all_s <= 0.0
        || unclear_s < MIN_UNCLEAR_POLL_TIME * all_s
        || unclear_s < MIN_DOUBTED_LOSS * (all_s - computation_s)
    {
        return None;
    }
    let least = ((computation_s - maybe_waiting_s) / all_s).clamp(0.0, 1.0);
    let most = ((computation_s + maybe_computation_s) / all_s).clamp(0.0, 1.0);
    Some(UnclearPolls { unclear_s, efficiency: (least, most) })
}

fn other_threads(model: &Model, code: &SampledCode) -> Option<DoubtedRanks<f64>> {
    // The elapsed time is a maximum over all ranks: compute it once.
    let min_s = MIN_WORK_OF_OTHER_THREADS * model.elapsed_s();
    // Threads of parallel regions already count in the cores' figures.
    let ranks = model.ranks.iter().filter(|rank| rank.parallel.is_empty());
    let times = ranks.map(|rank| (rank.rank, other_threads_s(rank, code)));
    DoubtedRanks::find(times.filter(|&(_, seconds)| seconds >= min_s), |&seconds| seconds)
}

/// Returns the working time of a rank's other threads: their CPU time without waits, or their time in MPI if longer.
fn other_threads_s(rank: &RankModel, code: &SampledCode) -> f64 {
    let others = [SampledThreads::WithMpi, SampledThreads::WithoutMpi];
    let times = others.into_iter().flat_map(|threads| rank.samples.times(threads));
    let working = times.filter(|(at, _)| !code.is_wait_code(at.node));
    working.map(|(_, time)| time.seconds).sum::<f64>().max(rank.other_threads_mpi_s)
}

fn few_calls(model: &Model) -> Option<u64> {
    let most = model.ranks.iter().map(|rank| rank.calls).max()?;
    let few = if model.elapsed_s() < MAX_SHORT_RUN_S { MIN_CALLS_OF_SHORT_RUN } else { MAX_CALLS_WITHOUT_DEPENDENCE };
    if model.facts.n_ranks < 2 || !model.facts.selected.is_all() || most > few {
        return None;
    }
    let besides_finalize = model.ranks.iter().map(|rank| {
        let n_finalize = u64::from(matches!(rank.end_reason, Some(EndReason::Finalize)));
        rank.calls.saturating_sub(n_finalize)
    });
    Some(besides_finalize.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elapsed_time_is_found_once_for_100_000_ranks() {
        // Found for each of them, it would take 20 billion looks at a rank.
        let rank = |rank: u32| {
            let other_threads_mpi_s = if rank == 7 { 9.0 } else { 0.1 };
            RankModel { rank, end_s: 10.0, other_threads_mpi_s, ..RankModel::default() }
        };
        let model = Model { ranks: (0..100_000).map(rank).collect(), ..Model::default() };
        let found = other_threads(&model, &SampledCode::default());
        assert_eq!(found, Some(DoubtedRanks { worst_rank: 7, worst: 9.0, ranks: vec![7] }));
    }
}
