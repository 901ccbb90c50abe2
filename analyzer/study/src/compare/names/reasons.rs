//! Splits a run's elapsed time into components that explain the whole difference between two runs.
//!
//! T is, for every rank, the sum of its exclusive times by region and activity, of the time it was idle and of that not recorded
//! (docs/metrics.md §3); so it is also the sum of their means over ranks, however many ranks there are:
//!
//! ```text
//!   T = Σ_ij mean_p t_ijp + mean_p idle_p + mean_p not recorded_p                                   (by place)
//!   T = Σ_i mean_p computation_ip + Σ_causes caused/P + Σ_i calls besides waiting_i + not recorded  (by reason)
//!
//!   base     rank 0 |== force 10 ==|           new    rank 0 |== force 10 ==|...............|
//!            rank 1 |== force 10 ==|                  rank 1 |======== force 16 ============|
//! ```
//!
//! There T grows by 6. By place force takes 3 more and waiting 3 more; by reason, force on rank 1 costs 6 more: 3 are its own mean
//! time, and 3 the waiting that it causes (docs/metrics.md §4: own time + blocking it causes). Waiting is moved from the calls, or
//! the idle time, in which it is spent to its causes. The remainder of calls is their own work.

use std::collections::BTreeMap;

use lbprof_collector::Activity;

use super::regions::RegionList;
use crate::RunMetrics;
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_analysis::metrics::overhead::TimeCategory;

/// A use of a rank's time, or a cause of its waiting. Regions are indices of [`RegionList::paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeComponent {
    /// By place: an activity in a region. By reason: computation in it, with the waiting that it causes; and where causes are not known any
    /// other activity.
    In(usize, Activity),
    /// Waiting for ranks that communicate with others in a region.
    WaitingForCalls(usize),
    /// Waiting for messages in transit.
    Messages,
    /// Calls of MPI in a region, besides waiting in them.
    Calls(usize),
    /// The recorder's own work, and waiting for ranks that record or of which nothing is known.
    Recorder,
    /// Outside of the rank's window while others are in theirs.
    Idle,
    /// No record shows.
    NotRecorded,
}

impl TimeComponent {
    /// The region, where it is one.
    pub fn region(self) -> Option<usize> {
        use TimeComponent::{Calls, In, WaitingForCalls};
        if let In(region, _) | WaitingForCalls(region) | Calls(region) = self { Some(region) } else { None }
    }

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            TimeComponent::In(_, activity) => activity.name(),
            TimeComponent::WaitingForCalls(_) => "waiting for ranks in calls",
            TimeComponent::Messages => "messages in transit",
            TimeComponent::Calls(_) => "calls besides waiting",
            TimeComponent::Recorder => "recorder",
            TimeComponent::Idle => "idle",
            TimeComponent::NotRecorded => "not recorded",
        }
    }
}

/// The cost of a component to a run, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentCost {
    /// Its own time, the mean over ranks.
    pub own_s: f64,
    /// The waiting that it causes, of all ranks, divided by their number.
    pub caused_s: f64,
    /// Its own time by rank.
    pub own_by_rank: BTreeMap<u32, f64>,
    /// Contribution of each rank to the total: the same fractions of means, own and caused together.
    pub by_rank: BTreeMap<u32, f64>,
}

impl ComponentCost {
    /// Own and caused.
    pub fn total_s(&self) -> f64 {
        self.own_s + self.caused_s
    }

    fn add_own(&mut self, rank: u32, seconds: f64, n: f64) {
        self.own_s += seconds / n;
        *self.own_by_rank.entry(rank).or_default() += seconds;
        *self.by_rank.entry(rank).or_default() += seconds / n;
    }

    fn add_caused(&mut self, rank: u32, mean_s: f64) {
        self.caused_s += mean_s;
        *self.by_rank.entry(rank).or_default() += mean_s;
    }

    /// Takes waiting out of its own time. Only its sum over ranks is known, so the figures by rank are dropped.
    fn take_waiting(&mut self, mean_s: f64) {
        *self = ComponentCost { own_s: self.own_s - mean_s, caused_s: self.caused_s, ..ComponentCost::default() };
    }
}

/// The parts of a run's elapsed time; they add up to it.
pub type Parts = BTreeMap<TimeComponent, ComponentCost>;

/// The parts of `run`, the `at`-th of `regions`, by place.
pub fn by_place(run: &RunMetrics, at: usize, regions: &RegionList) -> Parts {
    let mut parts = Parts::new();
    for region in &run.regions {
        let Some(idx) = regions.idx(at, &region.path) else { continue };
        for (&activity, seconds) in &region.activities {
            add_own(&mut parts, TimeComponent::In(idx, activity), seconds, run);
        }
    }
    for phase in &run.phases {
        match phase.phase {
            TimeCategory::Idle => add_own(&mut parts, TimeComponent::Idle, &phase.seconds, run),
            TimeCategory::NotRecorded => add_own(&mut parts, TimeComponent::NotRecorded, &phase.seconds, run),
            _ => {}
        }
    }
    parts
}

/// Adds the ranks' own `seconds` in a component, one entry per rank of `run`.
fn add_own(parts: &mut Parts, what: TimeComponent, seconds: &[f64], run: &RunMetrics) {
    let n = run.ranks.len().max(1) as f64;
    for (position, &seconds) in seconds.iter().enumerate().filter(|(_, seconds)| **seconds != 0.0) {
        let rank = run.ranks.get(position).map_or(position as u32, |figures| figures.rank);
        parts.entry(what).or_default().add_own(rank, seconds, n);
    }
}

/// Splits the time by reason: waiting is moved from the place where it is spent to its cause. Returns `None` if the causes are not known.
pub fn by_reason(run: &RunMetrics, at: usize, regions: &RegionList) -> Option<Parts> {
    let causes = run.causes.as_ref()?;
    let n = run.ranks.len().max(1) as f64;
    let mut parts = Parts::new();
    for (what, cost) in by_place(run, at, regions) {
        let reason = match what {
            TimeComponent::In(_, Activity::Recorder) => TimeComponent::Recorder,
            TimeComponent::In(region, activity) if activity != Activity::Computation => TimeComponent::Calls(region),
            other => other,
        };
        let whole = parts.entry(reason).or_default();
        for (rank, seconds) in cost.own_by_rank {
            whole.add_own(rank, seconds, n);
        }
    }
    // Waiting outside of calls, before the first and after the last, is idle time.
    let mut idle_s: f64 = causes.iter().map(|cause| cause.caused_s).sum();
    for region in &run.regions {
        let blocked_s = region.blocked_s?;
        let Some(idx) = regions.idx(at, &region.path).filter(|_| blocked_s > 0.0) else { continue };
        parts.entry(TimeComponent::Calls(idx)).or_default().take_waiting(blocked_s / n);
        idle_s -= blocked_s;
    }
    parts.entry(TimeComponent::Idle).or_default().take_waiting(idle_s / n);
    for cause in causes {
        let region = regions.idx(at, &cause.region);
        let reason = match (cause.class, region) {
            (CauseClass::Imbalance | CauseClass::Control, Some(region)) => {
                TimeComponent::In(region, Activity::Computation)
            }
            (CauseClass::Communication, Some(region)) => TimeComponent::WaitingForCalls(region),
            (CauseClass::Recorder, _) => TimeComponent::Recorder,
            (CauseClass::MessageDelay, _) | (_, None) => TimeComponent::Messages,
        };
        parts.entry(reason).or_default().add_caused(cause.rank, cause.caused_s / n);
    }
    Some(parts)
}
