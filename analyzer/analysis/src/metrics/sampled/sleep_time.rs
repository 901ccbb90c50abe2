//! Finds ranks that slept or waited for I/O while they seemed to compute, from the CPU time of the thread that called MPI_Init
//! (docs/metrics.md §7).
//!
//! Time outside MPI is called computation, whether or not the rank used its core meanwhile. For the part in which a thread neither ran nor wanted a
//! core, it was asleep: in sleep(), in a read from a disk or a socket, at a lock, waiting for a device or for another process.
//!
//! ```text
//!   elapsed   |======== computation 8 s ========|-- MPI 2 s --|
//!   CPU       |xx 1.5 s xx|        run delay |x| 0.5 s              8 − 1.5 − 0.5: at least 6 s of the computation asleep
//! ```
//!
//! Not all CPU time and run delay lie in computation, so this is a lower bound; and a weak one where MPI spins for long while it waits. Waiting
//! for a core is distinguished by the run delay ([`super::preemption`]). A thread that waits for other threads of its process
//! (OpenMP) is not asleep as long as these use the CPU.

use lbprof_collector::states::StateGroup;
use lbprof_collector::{Activity, CoreState};
use lbprof_thresholds::metrics::{MIN_JUDGED_INTERVAL_S, MIN_SWITCHES_PER_S};

use super::core_time::RankCoreTimes;
use crate::model::{RankModel, ResourceUsage};

/// Time that a rank was asleep, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SleepTime {
    /// Outside of MPI.
    pub computation_s: f64,
    /// The part asleep or stopped, at least.
    pub asleep_s: f64,
    /// The part of `asleep_s` known to be stopped.
    pub stopped_s: f64,
}

impl SleepTime {
    /// Returns whether the rank was stopped from outside for most of that, and did not sleep.
    pub fn is_stopped(&self) -> bool {
        self.stopped_s > 0.5 * self.asleep_s
    }
}

/// Returns the minimum time that `rank` was asleep outside of MPI, by its CPU time; `None` where it is not known.
pub fn sleep_time(rank: &RankModel) -> Option<SleepTime> {
    let elapsed_s = rank.usage.as_ref()?.elapsed_s;
    let times = RankCoreTimes::new(rank).and_then(RankCoreTimes::with_switches);
    if let Some(times) = times.filter(|_| MIN_JUDGED_INTERVAL_S <= elapsed_s) {
        let computation_s = rank.inclusive(0)[Activity::Computation as usize];
        let time = times.in_all();
        let (asleep_s, stopped_s) = (time.in_group(StateGroup::Asleep), time.get(CoreState::Stopped));
        return Some(SleepTime { computation_s, asleep_s, stopped_s });
    }
    judge_sleep(rank.usage.as_ref()?, rank.inclusive(0)[Activity::Computation as usize])
}

fn judge_sleep(usage: &ResourceUsage, computation_s: f64) -> Option<SleepTime> {
    // A kernel that does not count run delay leaves waiting for a core in it.
    let delay_is_known =
        usage.thread_delayed_s > 0.0 || (usage.thread_involuntary as f64) < MIN_SWITCHES_PER_S * usage.elapsed_s;
    if usage.elapsed_s < MIN_JUDGED_INTERVAL_S || !delay_is_known {
        return None;
    }
    let busy_s = usage.thread_cpu_s.max((usage.user_s + usage.system_s).min(usage.elapsed_s));
    let asleep_s = (computation_s - busy_s - usage.thread_delayed_s).max(0.0);
    Some(SleepTime { computation_s, asleep_s, stopped_s: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(thread_cpu_s: f64, thread_delayed_s: f64) -> ResourceUsage {
        ResourceUsage {
            elapsed_s: 10.0,
            thread_cpu_s,
            thread_delayed_s,
            user_s: thread_cpu_s,
            ..ResourceUsage::default()
        }
    }

    fn asleep_s(usage: &ResourceUsage, computation_s: f64) -> Option<f64> {
        judge_sleep(usage, computation_s).map(|found| found.asleep_s)
    }

    #[test]
    fn computation_without_cpu_time_is_sleep() {
        assert_eq!(asleep_s(&usage(1.5, 0.5), 8.0), Some(6.0));
    }

    #[test]
    fn waiting_for_a_core_is_no_sleep() {
        assert_eq!(asleep_s(&usage(5.0, 5.0), 10.0), Some(0.0));
        // Where the kernel does not count it, a thread that is often pushed off its core waits for one.
        let pushed_off = ResourceUsage { thread_involuntary: 1000, ..usage(5.0, 0.0) };
        assert_eq!(asleep_s(&pushed_off, 10.0), None);
    }

    #[test]
    fn where_mpi_takes_the_time_sleep_may_lie_there() {
        // 4 s of CPU time may all be of MPI's spinning, or all of the 4 s of computation.
        assert_eq!(asleep_s(&usage(4.0, 0.0), 4.0), Some(0.0));
    }

    #[test]
    fn a_rank_whose_other_threads_work_is_not_asleep() {
        let with_threads = ResourceUsage { user_s: 38.0, ..usage(1.0, 0.0) };
        assert_eq!(asleep_s(&with_threads, 10.0), Some(0.0));
    }

    #[test]
    fn too_short_a_run_is_not_judged() {
        assert_eq!(asleep_s(&ResourceUsage { elapsed_s: 0.05, ..usage(0.0, 0.0) }, 0.05), None);
        assert_eq!(sleep_time(&RankModel::default()), None);
    }
}
