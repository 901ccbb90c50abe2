//! Finds ranks that shared their core with others, from the scheduler's figures for the thread that called MPI_Init (docs/metrics.md §7).
//!
//! Time outside MPI is called computation, whether or not the rank had a core meanwhile. The system knows for how long a thread
//! could have run but had no core (its run delay); sleeping and waiting for a disk are not in it. That delay lies partly in
//! computation, where it is harmful, and partly in MPI, where it is mostly not, for the rank would only have waited there:
//!
//! ```text
//!   elapsed   |==== computation 6 s ====|--- MPI 4 s ---|
//!   delay     |xxxxxx 5.5 s xxxxxxxxxxxxxxxxxxx|           at most 4 s of it in MPI, so at least 1.5 s in computation
//! ```
//!
//! Where the kernel noted each switch of the thread ([`super::core_time`]), it is known. Else delay less time in MPI is a certain bound of what computation lost. It is a weak one where much time is spent in MPI. What
//! else can be said depends on how often the thread was pushed off its core (involuntary context switches):
//!
//! | switches a second | what happened |
//! |---|---|
//! | below 10 | a core of its own: the system disturbs every rank a few times a second |
//! | 10 to 2,000 | others ran on its core: the system switches between runnable threads every 1 to 10 ms, whatever they do, so that computation, less the time asleep, has its proportional share of the delay |
//! | above 2,000 | MPI itself gives way to others while it waits (sched_yield), which counts as involuntary: the delay is mostly in MPI, and only the certain bound is about computation |

use lbprof_collector::{Activity, CoreState};
use lbprof_thresholds::metrics::{
    MAX_SWITCHES_PER_S, MIN_JUDGED_INTERVAL_S, MIN_OBSERVED_WITHOUT_CORE_S, MIN_PREEMPTED_COMPUTATION,
    MIN_PREEMPTED_TIME, MIN_SWITCHES_PER_S, MIN_TIME_WITHOUT_CORE,
};

use super::core_time::RankCoreTimes;
use crate::model::{RankModel, ResourceUsage};

/// The time that a rank lost to other users of its core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreemptionLoss {
    /// Seconds outside of MPI.
    pub computation_s: f64,
    /// Seconds of those without a core though the rank could have run; the larger of the certain bound and, where it holds,
    /// the proportional share.
    pub delayed_s: f64,
    /// True if `delayed_s` is the certain bound, so that the rank lost at least that.
    pub certain: bool,
    /// Involuntary context switches a second.
    pub switches_per_s: f64,
}

/// Returns the time that `rank` lost to other users of its core; `None` where it was not preempted, or that is not known.
///
/// A rank was preempted where it was pushed off its core at least [`MIN_SWITCHES_PER_S`] and at least [`MIN_PREEMPTED_COMPUTATION`] of its
/// computation, and [`MIN_PREEMPTED_TIME`] of its time, was delayed: by the certain bound, or by the proportional share where no more than [`MAX_SWITCHES_PER_S`] show
/// of yields.
pub fn preemption_loss(rank: &RankModel) -> Option<PreemptionLoss> {
    let computation_s = rank.inclusive(0)[Activity::Computation as usize];
    let usage = rank.usage.as_ref()?;
    let Some(times) = RankCoreTimes::new(rank).and_then(RankCoreTimes::with_switches) else {
        return judge_preemption(usage, computation_s);
    };
    let (delayed_s, switches_per_s) = (times.in_all().get(CoreState::NoCore), usage.switches_per_s());
    let found = PreemptionLoss { computation_s, delayed_s, certain: true, switches_per_s };
    (MIN_JUDGED_INTERVAL_S <= usage.elapsed_s && found.is_much(usage)).then_some(found)
}

/// The share of its time, 0 to 1, for which `rank` could have run but had no core, in MPI or outside; `None` where that is less than
/// [`MIN_TIME_WITHOUT_CORE`], or not known.
pub fn without_core(rank: &RankModel) -> Option<f64> {
    let usage = rank.usage.as_ref().filter(|usage| usage.elapsed_s >= MIN_OBSERVED_WITHOUT_CORE_S)?;
    let share = (usage.thread_delayed_s / usage.elapsed_s).min(1.0);
    (share >= MIN_TIME_WITHOUT_CORE).then_some(share)
}

/// Returns whether this rate of involuntary context switches shows that MPI yields its core while it waits.
pub fn is_yielding(switches_per_s: f64) -> bool {
    switches_per_s > MAX_SWITCHES_PER_S
}

impl PreemptionLoss {
    fn is_much(&self, usage: &ResourceUsage) -> bool {
        self.delayed_s >= MIN_PREEMPTED_COMPUTATION * self.computation_s
            && self.delayed_s >= MIN_PREEMPTED_TIME * usage.elapsed_s
    }
}

fn judge_preemption(usage: &ResourceUsage, computation_s: f64) -> Option<PreemptionLoss> {
    if usage.elapsed_s < MIN_JUDGED_INTERVAL_S || computation_s <= 0.0 {
        return None;
    }
    let switches_per_s = usage.switches_per_s();
    let elsewhere_s = (usage.elapsed_s - computation_s).max(0.0);
    let bound_s = (usage.thread_delayed_s - elsewhere_s).clamp(0.0, computation_s);
    // Asleep, or waiting for a file, a thread does not want a core; of what is left computation has its share of the delay.
    let asleep_s = (usage.elapsed_s - usage.thread_cpu_s - usage.thread_delayed_s).max(0.0);
    let awake_s = (usage.elapsed_s - asleep_s).max(f64::MIN_POSITIVE);
    let share_s = match is_yielding(switches_per_s) {
        true => 0.0,
        false => (computation_s - asleep_s).max(0.0) * (usage.thread_delayed_s / awake_s).min(1.0),
    };
    let found =
        PreemptionLoss { computation_s, delayed_s: bound_s.max(share_s), certain: bound_s >= share_s, switches_per_s };
    (switches_per_s >= MIN_SWITCHES_PER_S && found.is_much(usage)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Usage over 10 s by a thread that never sleeps.
    fn usage(thread_delayed_s: f64, thread_involuntary: u64) -> ResourceUsage {
        let thread_cpu_s = 10.0 - thread_delayed_s;
        ResourceUsage {
            elapsed_s: 10.0,
            thread_cpu_s,
            thread_delayed_s,
            thread_involuntary,
            ..ResourceUsage::default()
        }
    }

    #[test]
    fn a_rank_pushed_off_its_core_while_computing_is_preempted() {
        // Two ranks on one core: delayed half of the time, and so for half of the 6 s of computation.
        let found = judge_preemption(&usage(5.0, 900), 6.0).unwrap();
        assert_eq!((found.delayed_s, found.certain, found.switches_per_s), (3.0, false, 90.0));
    }

    #[test]
    fn delay_that_does_not_fit_into_mpi_was_in_computation() {
        // MPI yields; at most 1 s of the 5 s of delay was in it.
        let found = judge_preemption(&usage(5.0, 1_000_000), 9.0).unwrap();
        assert_eq!((found.delayed_s, found.certain), (4.0, true));
    }

    #[test]
    fn a_rank_that_hardly_computes_is_not_preempted() {
        // An idle master: delayed half of the time, and so for 20 ms of computation.
        assert_eq!(judge_preemption(&usage(5.0, 900), 0.04), None);
        assert!(judge_preemption(&usage(5.0, 900), 0.4).is_some());
    }

    #[test]
    fn an_mpi_that_yields_while_it_waits_says_nothing_of_the_computation() {
        assert_eq!(judge_preemption(&usage(5.0, 1_000_000), 4.0), None);
    }

    #[test]
    fn a_rank_that_sleeps_is_not_preempted() {
        // Sleeping is no delay, however many switches its short waits in MPI add.
        assert_eq!(judge_preemption(&usage(0.01, 6_000), 9.9), None);
        // 8 s of its computation are sleep, 1 s of the rest had no core: 1 s of 2 s awake, but only 1 s of it computes.
        let sleeper = ResourceUsage { thread_cpu_s: 1.0, ..usage(1.0, 900) };
        assert_eq!(judge_preemption(&sleeper, 9.0).map(|found| found.delayed_s), Some(0.5));
        assert_eq!(judge_preemption(&sleeper, 8.0), None);
    }

    #[test]
    fn a_rank_with_a_core_of_its_own_is_not() {
        assert_eq!(judge_preemption(&usage(0.02, 20), 6.0), None);
        assert_eq!(judge_preemption(&usage(2.0, 50), 6.0), None, "a few long delays: the system's own work");
    }

    #[test]
    fn a_rank_without_a_core_while_it_waits_is_reported() {
        let rank = |usage| RankModel { usage: Some(usage), ..RankModel::default() };
        assert_eq!(without_core(&rank(usage(5.0, 1_000_000))), Some(0.5));
        assert_eq!(without_core(&rank(usage(1.9, 1_000_000))), None);
        let short = |elapsed_s: f64| rank(ResourceUsage { elapsed_s, ..usage(elapsed_s / 2.0, 900) });
        assert_eq!((without_core(&short(0.05)), without_core(&short(0.005))), (Some(0.5), None));
        assert_eq!(without_core(&RankModel::default()), None);
    }

    #[test]
    fn too_short_a_run_is_not_judged() {
        assert_eq!(judge_preemption(&ResourceUsage { elapsed_s: 0.05, ..usage(0.05, 900) }, 0.05), None);
    }
}
