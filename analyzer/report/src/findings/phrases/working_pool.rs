//! Threads that compute while the thread that calls MPI waits for them, or the other way round.

use lbprof_thresholds::verdict::{
    MAX_COMPUTATION_OF_WAITING_THREAD, MAX_UTILIZATION_OF_STARVED_POOL, MIN_WORK_OF_OTHER_THREADS, MIN_WORK_OF_POOLS,
};

use crate::{Report, ThreadPoolRow};

/// Returns the pool of threads with most work, if pools work longer than the threads that call MPI, and these mostly sleep in what counts as their computation, or poll.
pub fn find_working_pool(report: &Report) -> Option<&ThreadPoolRow> {
    let computation_s: f64 = report.ranks.iter().map(|row| row.computation_s).sum();
    let first_s: f64 = report.ranks.iter().map(|row| row.computation_cpu_s).sum::<Option<f64>>()?;
    let pools_s: f64 = report.thread_pools.iter().map(|pool| pool.program.working_s()).sum();
    let waited_s = computation_s + report.data.polls.waiting_s;
    let is_waiting = first_s <= MAX_COMPUTATION_OF_WAITING_THREAD * waited_s;
    let is_work = pools_s > first_s && pools_s >= MIN_WORK_OF_POOLS * waited_s;
    report.thread_pools.first().filter(|_| is_waiting && is_work)
}

/// Returns the pool of threads with most work, if ranks started several once, and they have no work for most of the time although there are cores.
pub fn find_starved_pool(report: &Report) -> Option<&ThreadPoolRow> {
    let least_s = MIN_WORK_OF_OTHER_THREADS * report.verdict.elapsed_s * report.ranks.len() as f64;
    report.thread_pools.first().filter(|pool| {
        let is_starved = pool.program.utilization.is_some_and(|used| used <= MAX_UTILIZATION_OF_STARVED_POOL);
        let is_kept = pool.started <= pool.threads && pool.threads > pool.ranks;
        is_starved && is_kept && !report.has_crowded_cores() && pool.program.working_s() >= least_s
    })
}
