//! Reservations that precede all figures: reasons why the figures are not what they seem, or why there is nothing to advise.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_collector::definition::EndReason;
use lbprof_thresholds::metrics::{MIN_OBSERVED_WITHOUT_CORE_S, MIN_TIME_WITHOUT_CORE, MIN_UNCLEAR_POLL_TIME};
use lbprof_thresholds::verdict::{
    MAX_CALLS_WITHOUT_DEPENDENCE, MAX_SHORT_RUN_S, MIN_CALLS_OF_SHORT_RUN, MIN_DOUBTED_COMPUTATION, MIN_DOUBTED_LOSS,
    MIN_TIME_OF_FIRST_DOUBT, MIN_WORK_OF_OTHER_THREADS,
};

use lbprof_analysis::metrics::preemption::{PreemptionLoss, is_yielding, preemption};
use lbprof_analysis::metrics::sleep_time::{SleepTime, asleep};
use lbprof_analysis::metrics::threads::ThreadEfficiency;
use lbprof_analysis::model::samples::SampledThreads;
use lbprof_analysis::model::{Model, RankModel};
use lbprof_analysis::structure::sampled_code::SampledCode;

/// A reason to doubt.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportDoubt {
    /// Processes ended with a status other than 0.
    Failed {
        /// The status.
        status: i32,
        /// The ranks that ended with it, ascending.
        ranks: Vec<u32>,
    },
    /// Ranks have more threads than cores on which these may run.
    FewerCores {
        /// The rank that has the most threads per core.
        rank: u32,
        /// Its threads.
        team: u32,
        /// Its cores.
        cores: u32,
        /// The ranks with this problem, ascending.
        ranks: Vec<u32>,
    },
    /// Ranks waited for a core for much of their computation.
    NoCoreToCompute {
        /// The rank that waited longest.
        rank: u32,
        /// For how long.
        lost: PreemptionLoss,
        /// Number of other ranks that waited for much of their time.
        others: usize,
    },
    /// Ranks had no core for much of the time, in MPI or outside.
    NoCore {
        /// The share of all ranks' time, 0..=1.
        share: f64,
    },
    /// Ranks slept or waited for I/O for much of their computation.
    Asleep {
        /// The rank that slept longest.
        rank: u32,
        /// For how long.
        found: SleepTime,
        /// The ranks with this problem, ascending.
        ranks: Vec<u32>,
    },
    /// The time between unsuccessful polls may be waiting or computation.
    Polling {
        /// Seconds of all ranks that count as waiting and may be computation, or count as computation and may be waiting.
        unclear_s: f64,
        /// The parallel efficiency if all of them are waiting, and if all are computation, 0..=1.
        efficiency: (f64, f64),
    },
    /// Threads that are no part of the figures computed or called MPI.
    OtherThreads {
        /// The rank whose other threads did most.
        rank: u32,
        /// Seconds of CPU time, or in MPI, of these threads.
        seconds: f64,
        /// The ranks with this problem, ascending.
        ranks: Vec<u32>,
    },
    /// There are too few calls to say how ranks depend on each other.
    FewCalls {
        /// Number of calls of all ranks, except MPI_Init and MPI_Finalize.
        calls: u64,
    },
}

impl ReportDoubt {
    /// The word in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            ReportDoubt::Failed { .. } => "failed",
            ReportDoubt::FewerCores { .. } => "fewer cores",
            ReportDoubt::NoCoreToCompute { .. } => "no core to compute",
            ReportDoubt::NoCore { .. } => "no core",
            ReportDoubt::Asleep { .. } => "asleep",
            ReportDoubt::Polling { .. } => "polling",
            ReportDoubt::OtherThreads { .. } => "other threads",
            ReportDoubt::FewCalls { .. } => "few calls",
        }
    }

    /// Returns whether no advice can be given, as on a run that failed or was measured without cores.
    pub fn forbids_advice(&self) -> bool {
        use ReportDoubt::{Failed, FewCalls, FewerCores, NoCoreToCompute};
        matches!(self, Failed { .. } | FewerCores { .. } | NoCoreToCompute { .. } | FewCalls { .. })
    }

    /// Returns whether ranks slept for much of the time that counts as computation.
    pub fn is_of_sleep(&self) -> bool {
        matches!(self, ReportDoubt::Asleep { .. })
    }

    /// Returns whether ranks had no core for much of their time.
    pub fn is_of_cores(&self) -> bool {
        matches!(
            self,
            ReportDoubt::FewerCores { .. } | ReportDoubt::NoCoreToCompute { .. } | ReportDoubt::NoCore { .. }
        )
    }

    /// Returns whether the figures that follow are misleading.
    pub fn is_of_figures(&self) -> bool {
        use ReportDoubt::{Asleep, FewerCores, NoCore, NoCoreToCompute, OtherThreads, Polling};
        matches!(
            self,
            FewerCores { .. }
                | NoCoreToCompute { .. }
                | NoCore { .. }
                | Asleep { .. }
                | Polling { .. }
                | OtherThreads { .. }
        )
    }
}

/// The doubts about the run of `model`, the gravest first.
pub(super) fn doubts(model: &Model, code: &SampledCode) -> Vec<ReportDoubt> {
    let mut doubts = failed(model);
    // Threads that share cores because they are bound so are reported once.
    doubts.extend(fewer_cores(model).or_else(|| no_core(model)));
    doubts.extend(asleep_ranks(model));
    doubts.extend(polling(model));
    doubts.extend(other_threads(model, code));
    doubts.extend(few_calls(model));
    doubts
}

fn failed(model: &Model) -> Vec<ReportDoubt> {
    let mut by_status: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
    for rank in &model.ranks {
        if let Some(status) = rank.exit_status.filter(|&status| status != 0) {
            by_status.entry(status).or_default().push(rank.rank);
        }
    }
    by_status.into_iter().map(|(status, ranks)| ReportDoubt::Failed { status, ranks }).collect()
}

fn fewer_cores(model: &Model) -> Option<ReportDoubt> {
    let efficiency = ThreadEfficiency::new(model)?;
    let crowded = model.ranks.iter().zip(&efficiency.ranks).filter_map(|(rank, used)| {
        let cores = rank.placement.as_ref()?.cores;
        (0 < cores && cores < used.cores).then_some(CrowdedRank { rank: rank.rank, team: used.cores, cores })
    });
    let crowded: Vec<CrowdedRank> = crowded.collect();
    let &CrowdedRank { rank, team, cores } = crowded
        .iter()
        .max_by(|a, b| a.threads_per_core().total_cmp(&b.threads_per_core()).then(b.rank.cmp(&a.rank)))?;
    Some(ReportDoubt::FewerCores { rank, team, cores, ranks: crowded.iter().map(|one| one.rank).collect() })
}

/// A rank that may use fewer cores than it has threads in a team.
struct CrowdedRank {
    rank: u32,
    team: u32,
    cores: u32,
}

impl CrowdedRank {
    fn threads_per_core(&self) -> f64 {
        f64::from(self.team) / f64::from(self.cores)
    }
}

fn no_core(model: &Model) -> Option<ReportDoubt> {
    let mut hit: Vec<(u32, PreemptionLoss)> = Vec::new();
    let min_computation_s = MIN_DOUBTED_COMPUTATION * model.elapsed_s();
    for rank in &model.ranks {
        if let Some(lost) = preemption(rank)
            && lost.delayed_s >= MIN_TIME_OF_FIRST_DOUBT * lost.computation_s
            && lost.computation_s >= min_computation_s
        {
            hit.push((rank.rank, lost));
        }
    }
    if let Some(&(rank, lost)) = hit.iter().max_by(|a, b| a.1.delayed_s.total_cmp(&b.1.delayed_s).then(b.0.cmp(&a.0))) {
        return Some(ReportDoubt::NoCoreToCompute { rank, lost, others: hit.len() - 1 });
    }
    let mut times = UsedTime::default();
    for rank in &model.ranks {
        times.add(rank);
    }
    times.is_without_core().then(|| ReportDoubt::NoCore { share: times.delayed_s / times.elapsed_s })
}

/// The time of all ranks together of which the system's use is known, in seconds.
#[derive(Default)]
struct UsedTime {
    elapsed_s: f64,
    in_mpi_s: f64,
    /// Without a core though able to run.
    delayed_s: f64,
    /// Part of that of ranks whose MPI does not yield its core while it waits.
    delayed_without_yield_s: f64,
}

impl UsedTime {
    fn add(&mut self, rank: &RankModel) {
        let Some(usage) = rank.usage.filter(|usage| usage.elapsed_s >= MIN_OBSERVED_WITHOUT_CORE_S) else { return };
        let computation_s = rank.inclusive(0)[Activity::Computation as usize];
        let delayed_s = usage.thread_delayed_s.min(usage.elapsed_s);
        self.elapsed_s += usage.elapsed_s;
        self.in_mpi_s += (usage.elapsed_s - computation_s).max(0.0);
        self.delayed_s += delayed_s;
        if !is_yielding(usage.switches_per_s()) {
            self.delayed_without_yield_s += delayed_s;
        }
    }

    /// Returns whether ranks had no core for much of the time, or for much of the time in MPI where waiting ranks keep the cores that others need.
    fn is_without_core(&self) -> bool {
        let holds_up_others = self.delayed_without_yield_s >= MIN_TIME_WITHOUT_CORE * self.elapsed_s
            && self.delayed_without_yield_s >= MIN_TIME_OF_FIRST_DOUBT * self.in_mpi_s;
        self.elapsed_s > 0.0 && (self.delayed_s >= MIN_TIME_OF_FIRST_DOUBT * self.elapsed_s || holds_up_others)
    }
}

fn asleep_ranks(model: &Model) -> Option<ReportDoubt> {
    let mut sleepers: Vec<(u32, SleepTime)> = Vec::new();
    let min_computation_s = MIN_DOUBTED_COMPUTATION * model.elapsed_s();
    for rank in &model.ranks {
        if let Some(found) = asleep(rank)
            && found.asleep_s >= MIN_TIME_OF_FIRST_DOUBT * found.computation_s
            && found.computation_s >= min_computation_s
        {
            sleepers.push((rank.rank, found));
        }
    }
    let &(rank, found) = sleepers.iter().max_by(|a, b| a.1.asleep_s.total_cmp(&b.1.asleep_s).then(b.0.cmp(&a.0)))?;
    Some(ReportDoubt::Asleep { rank, found, ranks: sleepers.iter().map(|one| one.0).collect() })
}

/// The doubt about polls, whose time is known for whole ranks only.
fn polling(model: &Model) -> Option<ReportDoubt> {
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
    Some(ReportDoubt::Polling { unclear_s, efficiency: (least, most) })
}

fn other_threads(model: &Model, code: &SampledCode) -> Option<ReportDoubt> {
    // The threads of parallel regions are in the figures of the cores.
    let ranks = model.ranks.iter().filter(|rank| rank.parallel.is_empty());
    let mut found: Vec<(u32, f64)> = ranks.map(|rank| (rank.rank, other_threads_s(rank, code))).collect();
    // The elapsed time is found among all ranks: once, not for each of them.
    let min_s = MIN_WORK_OF_OTHER_THREADS * model.elapsed_s();
    found.retain(|&(_, seconds)| seconds >= min_s);
    let &(rank, seconds) = found.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    Some(ReportDoubt::OtherThreads { rank, seconds, ranks: found.iter().map(|one| one.0).collect() })
}

/// Seconds for which the threads of a rank besides the first were at work: their CPU time outside of waits for other threads, or their time in
/// MPI if that is longer.
fn other_threads_s(rank: &RankModel, code: &SampledCode) -> f64 {
    let others = [SampledThreads::WithMpi, SampledThreads::WithoutMpi];
    let times = others.into_iter().flat_map(|threads| rank.samples.times(threads));
    let working = times.filter(|(at, _)| !code.is_wait_code(at.node));
    working.map(|(_, time)| time.seconds).sum::<f64>().max(rank.other_threads_mpi_s)
}

fn few_calls(model: &Model) -> Option<ReportDoubt> {
    let most = model.ranks.iter().map(|rank| rank.calls).max()?;
    let few = if model.elapsed_s() < MAX_SHORT_RUN_S { MIN_CALLS_OF_SHORT_RUN } else { MAX_CALLS_WITHOUT_DEPENDENCE };
    if model.facts.n_ranks < 2 || !model.facts.selected.is_all() || most > few {
        return None;
    }
    let besides_finalize = model.ranks.iter().map(|rank| {
        let n_finalize = u64::from(matches!(rank.end_reason, Some(EndReason::Finalize)));
        rank.calls.saturating_sub(n_finalize)
    });
    Some(ReportDoubt::FewCalls { calls: besides_finalize.fold(0, u64::saturating_add) })
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
        assert!(matches!(found, Some(ReportDoubt::OtherThreads { rank: 7, ranks, .. }) if ranks == [7]));
    }
}
