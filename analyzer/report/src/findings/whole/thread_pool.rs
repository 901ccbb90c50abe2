//! Threads that do not call MPI do the work, while the thread that calls MPI waits for them outside of it.

use lbprof_thresholds::verdict::{GOOD_CORE_EFFICIENCY, MAX_COMPUTATION_OF_WAITING_THREAD, MIN_WORK_OF_POOLS};

use crate::Report;
use crate::finding::{Finding, FindingAdvice, FindingTone};
use crate::phrases::names::LONGEST_NAME;
use crate::phrases::ranks::short_percent;
use crate::thread_pools::ThreadPoolRow;
use crate::words::{clean, plural, shorten};

/// Detects that nearly all time of the ranks counts as computation, but is waiting for a pool of threads.
pub fn detect(report: &Report) -> Option<Finding> {
    let pool = find_working_pool(report).filter(|_| report.verdict.is_good())?;
    let utilization = pool.program.utilization?;
    let sentence = format!(
        "The work is done by threads that do not call MPI: {} compute {} of their time, while the thread of each rank that calls MPI waits \
         for them.",
        pool_in_words(pool),
        short_percent(utilization)
    );
    let idle = match utilization < GOOD_CORE_EFFICIENCY {
        true => {
            "why these threads have no work for the rest of the time (few or long tasks, fewer cores than threads), and "
        }
        false => "",
    };
    let advice = format!(
        "{idle}whether the ranks have equally much for them to do: the figures of ranks describe the threads that call MPI alone (lb-report \
         --full: Pools of threads)"
    );
    Some(Finding {
        advice: Some(FindingAdvice::LookAt(advice)),
        evidence: vec![("threads", pool.threads as f64), ("utilization", utilization)],
        ..Finding::of_whole("thread pool", FindingTone::Unclear, sentence)
    })
}

/// Returns the pool of threads with most work, if pools work longer than the threads that call MPI, which are on a core for a small part of their computation.
pub fn find_working_pool(report: &Report) -> Option<&ThreadPoolRow> {
    let computation_s: f64 = report.ranks.iter().map(|row| row.computation_s).sum();
    let first_s: f64 = report.ranks.iter().map(|row| row.computation_cpu_s).sum::<Option<f64>>()?;
    let pools_s: f64 = report.thread_pools.iter().map(|pool| pool.program.cpu_s - pool.program.waiting_s).sum();
    let is_waiting = first_s <= MAX_COMPUTATION_OF_WAITING_THREAD * computation_s;
    let is_work = pools_s > first_s && pools_s >= MIN_WORK_OF_POOLS * computation_s;
    report.thread_pools.first().filter(|_| is_waiting && is_work)
}

/// Returns the threads of a pool: `8 threads of work`.
pub fn pool_in_words(pool: &ThreadPoolRow) -> String {
    format!("{} of {}", plural(pool.threads, "thread"), shorten(&clean(&pool.name), LONGEST_NAME))
}
