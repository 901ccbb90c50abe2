//! Splits a rank's computation, which is all of its time outside of MPI, by what the system knows of its first thread (docs/metrics.md §7).
//!
//! ```text
//!   computation   |=== on a core ===|  asleep  |=== on a core ===| no core |     by the kernel's record of each switch
//!   on a core     |x  x  x  x   kernel       x   x   x|                          x: a sample in user space; the rest is the kernel's time
//! ```
//!
//! The time on a core that no sample of user space stands for is the kernel's, but no more of it in all than the thread's CPU time in the kernel (getrusage):
//! what is beyond that is not known, such as a core that a virtual machine has lost to others.

use lbprof_collector::states::StateGroup;
use lbprof_collector::{Activity, CoreState};
use lbprof_thresholds::metrics::MIN_KNOWN_SWITCHES;

use super::functions::computing_times;
use crate::model::ranks::samples::CpuTime;
use crate::model::{RankModel, RegionIdx};

/// Computation of a rank by state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreTime {
    /// Seconds, at the index of the state's number.
    pub seconds: [f64; CoreState::COUNT],
    /// Standard error of the seconds in user space, and so of those in the kernel.
    pub error_s: f64,
}

impl CoreTime {
    /// Returns the mean over ranks, of which there is at least one.
    pub fn mean(ranks: &[CoreTime]) -> CoreTime {
        let n = ranks.len().max(1) as f64;
        let mut mean = CoreTime::default();
        for time in ranks {
            for (sum, seconds) in mean.seconds.iter_mut().zip(time.seconds) {
                *sum += seconds / n;
            }
            mean.error_s = mean.error_s.hypot(time.error_s / n);
        }
        mean
    }

    /// Returns the seconds in a state.
    pub fn get(&self, state: CoreState) -> f64 {
        self.seconds[state as usize]
    }

    /// Returns the seconds in the states of a group.
    pub fn in_group(&self, group: StateGroup) -> f64 {
        CoreState::ALL.into_iter().filter(|state| state.group() == group).map(|state| self.get(state)).sum()
    }
}

/// Splits the computation of a rank: the same part of what no sample of user space stands for is the kernel's in each of its regions.
pub struct RankCoreTimes<'a> {
    rank: &'a RankModel,
    kernel_share: f64,
    knows_switches: bool,
}

impl<'a> RankCoreTimes<'a> {
    /// Looks at all computation of a rank. Returns `None` if nothing is known of it: the kernel noted no switches, or too many of them were lost, and no state was recorded.
    pub fn new(rank: &'a RankModel) -> Option<Self> {
        let all = KnownTime::new(rank, None, true)?;
        let off_core = rank.samples.off_core.as_ref()?;
        let window_s = rank.inclusive(0).iter().sum::<f64>();
        let knows_switches = off_core.known_s >= MIN_KNOWN_SWITCHES * window_s
            && all.known_s() >= MIN_KNOWN_SWITCHES * all.computation_s;
        if !knows_switches && all.is_nothing_recorded() {
            return None;
        }
        let system_s = rank.usage.as_ref().and_then(|usage| usage.thread_system_s).unwrap_or(0.0);
        let kernel_share = if system_s < all.not_user_s() { system_s / all.not_user_s() } else { 1.0 };
        Some(RankCoreTimes { rank, kernel_share, knows_switches })
    }

    /// Returns the times if it is known when the thread was off its core.
    pub fn with_switches(self) -> Option<Self> {
        self.knows_switches.then_some(self)
    }

    /// Splits all of the rank's computation.
    pub fn in_all(&self) -> CoreTime {
        self.in_region(None)
    }

    /// Splits the computation in `region`, without inner ones, or in all.
    pub fn in_region(&self, region: Option<RegionIdx>) -> CoreTime {
        let time = KnownTime::new(self.rank, region, self.knows_switches).unwrap_or_default();
        let kernel_s = self.kernel_share * time.not_user_s();
        let mut seconds = time.by_state;
        seconds[CoreState::Useful as usize] = time.on_core_s() - time.not_user_s();
        seconds[CoreState::Kernel as usize] = kernel_s;
        seconds[CoreState::NotKnown as usize] += time.not_user_s() - kernel_s;
        CoreTime { seconds, error_s: time.user.error_s() }
    }
}

#[derive(Default)]
struct KnownTime {
    computation_s: f64,
    /// Seconds in the states other than in user space and in the kernel. Not known: computation while switches were lost.
    by_state: [f64; CoreState::COUNT],
    /// In user space, lost switches or not.
    user: CpuTime,
}

impl KnownTime {
    fn new(rank: &RankModel, region: Option<RegionIdx>, knows_switches: bool) -> Option<KnownTime> {
        let off_core = rank.samples.off_core.as_ref()?;
        let wall = region.map_or_else(|| rank.inclusive(0), |region| rank.exclusive(region));
        let computation_s = wall[Activity::Computation as usize];
        let mut rest_s = computation_s;
        let mut by_state = [0.0; CoreState::COUNT];
        // Time of lost switches comes first: what else is known lies outside of it.
        let first = [CoreState::NotKnown].into_iter().chain(CoreState::ALL);
        for state in first.filter(|state| !matches!(state.group(), StateGroup::Useful | StateGroup::Kernel)) {
            if by_state[state as usize] == 0.0 {
                by_state[state as usize] = off_core.in_computation_s(region, state).min(rest_s);
                rest_s -= by_state[state as usize];
            }
        }
        if !knows_switches {
            by_state[CoreState::NotKnown as usize] += rest_s;
        }
        let mut user = CpuTime::default();
        for (_, time) in computing_times(rank, region) {
            user.add(time);
        }
        Some(KnownTime { computation_s, by_state, user })
    }

    /// Returns whether no time was recorded in a state that the system does not know by itself.
    fn is_nothing_recorded(&self) -> bool {
        let is_systems =
            |state: &CoreState| matches!(state.group(), StateGroup::Asleep | StateGroup::NoCore | StateGroup::NotKnown);
        CoreState::ALL.iter().all(|state| is_systems(state) || self.by_state[*state as usize] == 0.0)
    }

    fn known_s(&self) -> f64 {
        self.computation_s - self.by_state[CoreState::NotKnown as usize]
    }

    fn on_core_s(&self) -> f64 {
        self.computation_s - self.by_state.iter().sum::<f64>()
    }

    /// Seconds of that which no sample stands for. Samples are thought to be as dense while switches were lost.
    fn not_user_s(&self) -> f64 {
        let known_share = if self.computation_s > 0.0 { self.known_s() / self.computation_s } else { 0.0 };
        (self.on_core_s() - known_share * self.user.seconds).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ResourceUsage;
    use crate::model::ranks::samples::{OffCoreSums, SampledAt, SampledThreads};

    /// A rank that computes for 10 s, of which 2 s asleep, 1 s without a core, and 4 s in user space.
    fn rank(system_s: f64, known_s: f64) -> RankModel {
        let mut rank = RankModel::default();
        let mut seconds = [0.0; Activity::COUNT];
        seconds[Activity::Computation as usize] = 10.0;
        rank.inclusive = vec![(0, seconds)];
        let in_computation = |state| (0, Activity::Computation, state);
        rank.samples.off_core = Some(OffCoreSums {
            places: vec![
                (in_computation(CoreState::Asleep), 2.0),
                (in_computation(CoreState::NoCore), 1.0),
                ((0, Activity::Collective, CoreState::Asleep), 5.0),
            ],
            known_s,
        });
        let mut user = CpuTime::default();
        for _ in 0..400 {
            user.add(&CpuTime::sample(0.01));
        }
        let at = SampledAt { region: 0, activity: Activity::Computation, node: 0 };
        rank.samples.of[SampledThreads::First as usize].times = vec![(at, user)];
        rank.usage = Some(ResourceUsage { thread_system_s: Some(system_s), ..ResourceUsage::default() });
        rank
    }

    fn split(rank: &RankModel) -> Option<CoreTime> {
        Some(RankCoreTimes::new(rank)?.in_all())
    }

    /// `expected`: useful, kernel, asleep, no core, not known. In the others the rank was not.
    fn assert_near(time: &CoreTime, expected: [f64; 5]) {
        let expected_s = expected.iter().chain(std::iter::repeat(&0.0));
        let is_near = time.seconds.iter().zip(expected_s).all(|(seconds, expected)| (seconds - expected).abs() < 1e-9);
        assert!(is_near, "{:?}, not {expected:?}", time.seconds);
    }

    #[test]
    fn what_is_neither_in_user_space_nor_off_the_core_is_the_kernels() {
        let time = split(&rank(3.5, 10.0)).unwrap();
        assert_near(&time, [4.0, 3.0, 2.0, 1.0, 0.0]);
        assert!((time.error_s - 0.2).abs() < 1e-9);
    }

    #[test]
    fn more_than_the_threads_time_in_the_kernel_is_not_known() {
        let time = split(&rank(1.0, 10.0)).unwrap();
        assert_near(&time, [4.0, 1.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn time_for_which_switches_were_lost_is_not_known() {
        let mut rank = rank(3.5, 10.0);
        let lost = ((0, Activity::Computation, CoreState::NotKnown), 2.0);
        rank.samples.off_core.as_mut().unwrap().places.push(lost);
        let time = split(&rank).unwrap();
        // Of 8 s that are known, 5 s are on a core, and of these 0.8 × 4 s in user space.
        assert_near(&time, [3.2, 1.8, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn where_most_switches_were_lost_nothing_is_known() {
        assert_eq!(split(&rank(3.5, 4.0)), None);
        assert_eq!(split(&RankModel::default()), None);
    }
}
