//! Threads that compute while the thread that calls MPI waits for them.

use lbprof_thresholds::verdict::{MAX_COMPUTATION_OF_WAITING_THREAD, MIN_WORK_OF_POOLS};

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
