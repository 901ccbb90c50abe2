//! Overhead ratios, efficiency and speedup (docs/metrics.md §3; Lemeire et al. 2004, eqs 1–5; Lemeire & Dirkx 2003, eqs 1–6).
//!
//! Every rank's share of the run is cut into phases without a rest, so that over all phases and ranks the times add up to P·T:
//!
//! ```text
//!   rank 0   |===== useful work 6 s =====|--- collective 2 s ---|        P·T = 2 · 8 s = 16 s, T_seq = 6 + 4 = 10 s
//!   rank 1   |== useful work 4 s ==|-- collective 3 s --|.idle 1 s.|     Ovh: useful 1.0, collective 0.5, idle 0.1
//! ```
//!
//! E = 1 / (1.0 + 0.5 + 0.1) = 0.625 and S = 2 · 0.625 = 1.25: the run is 1.25 times as fast as one rank would be, 10 s / 8 s.

use lbprof_collector::Activity;
use lbprof_collector::definition::RegionKind;
use lbprof_thresholds::metrics::CLOCK_RESOLUTION_S;

use crate::model::{Model, RankModel, RegionIdx};

/// The categories of a rank's time; every second of a run's P·T goes to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeCategory {
    /// Computation in regions that are useful work.
    Useful,
    /// Computation in regions marked as work that one rank does while the others wait.
    Serial,
    /// Computation in regions marked as control of parallelism.
    Control,
    /// An activity other than computation.
    Activity(Activity),
    /// Outside of the rank's window while others are in theirs.
    Idle,
    /// No record covers it, though some do of other ranks: recording was stopped, or records are missing.
    NotRecorded,
}

impl TimeCategory {
    /// The categories, starting with those that a program needs for its result.
    pub const ALL: [TimeCategory; 12] = [
        TimeCategory::Useful,
        TimeCategory::Serial,
        TimeCategory::Control,
        TimeCategory::Activity(Activity::PointToPoint),
        TimeCategory::Activity(Activity::Collective),
        TimeCategory::Activity(Activity::Synchronization),
        TimeCategory::Activity(Activity::OneSided),
        TimeCategory::Activity(Activity::Io),
        TimeCategory::Activity(Activity::Management),
        TimeCategory::Activity(Activity::Recorder),
        TimeCategory::Idle,
        TimeCategory::NotRecorded,
    ];

    /// The name in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            TimeCategory::Useful => "useful work",
            TimeCategory::Serial => "serial work",
            TimeCategory::Control => "control of parallelism",
            TimeCategory::Activity(activity) => activity.name(),
            TimeCategory::Idle => "idle",
            TimeCategory::NotRecorded => "not recorded",
        }
    }

    /// Returns whether a run on one rank would have to do it, too: useful work, and work that one rank does in any case.
    pub fn is_work(self) -> bool {
        matches!(self, TimeCategory::Useful | TimeCategory::Serial)
    }
}

/// The time of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseTime {
    /// The category.
    pub phase: TimeCategory,
    /// T_phase,p: seconds that each rank spends in it; one entry a rank.
    pub seconds: Vec<f64>,
}

impl PhaseTime {
    /// T_phase: its seconds, summed over ranks.
    pub fn total_s(&self) -> f64 {
        self.seconds.iter().sum()
    }
}

/// The phases of a run, from which its overhead ratios, efficiency and speedup follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverheadBreakdown {
    /// T_seq: seconds that the same work takes on one rank.
    pub t_seq_s: f64,
    /// True if T_seq was given; else it is the sum over ranks of the phases that are work.
    pub is_given: bool,
    /// T: seconds from which efficiency and speedup follow.
    pub elapsed_s: f64,
    /// The phases that occur, in the order of [`TimeCategory::ALL`]. Over all of them a rank's times add up to T.
    pub phases: Vec<PhaseTime>,
}

impl OverheadBreakdown {
    /// The overheads of phases in which ranks spend `phases` seconds of `elapsed_s` each. `t_seq_s`: the time on one rank where
    /// it is known.
    pub fn new(phases: Vec<PhaseTime>, elapsed_s: f64, t_seq_s: Option<f64>) -> OverheadBreakdown {
        OverheadBreakdown {
            t_seq_s: t_seq_s
                .unwrap_or_else(|| phases.iter().filter(|one| one.phase.is_work()).map(PhaseTime::total_s).sum()),
            is_given: t_seq_s.is_some(),
            elapsed_s,
            phases,
        }
    }

    /// Ovh_phase,p = T_phase,p / (T_seq/P): the phase's share of what a rank's part of the work would take alone, one entry a
    /// rank; 1 is as much as that. Source: Lemeire 2004, eq. 1. `None` where T_seq is 0.
    pub fn ratios_by_rank(&self, phase: &PhaseTime) -> Option<Vec<f64>> {
        let own_s = self.t_seq_s / phase.seconds.len().max(1) as f64;
        (own_s > 0.0).then(|| phase.seconds.iter().map(|seconds| seconds / own_s).collect())
    }

    /// Ovh_phase = Σ_p T_phase,p / T_seq. Source: eq. 2, and eq. 6 of 2003. `None` where T_seq is 0.
    pub fn ratio(&self, phase: &PhaseTime) -> Option<f64> {
        self.ratio_of(phase.total_s())
    }

    /// The overhead ratio of `seconds` summed over ranks; `None` where T_seq is 0.
    pub fn ratio_of(&self, seconds: f64) -> Option<f64> {
        (self.t_seq_s > 0.0).then(|| seconds / self.t_seq_s)
    }

    /// E = 1/Σ_phases Ovh, which is T_seq/(P·T). Above 1 where a given T_seq is more than the ranks need together. Source: eq. 3.
    /// `None` where T_seq is 0, or all phases are.
    pub fn efficiency(&self) -> Option<f64> {
        let sum: f64 = self.phases.iter().map(|phase| self.ratio(phase)).sum::<Option<f64>>()?;
        (sum > 0.0).then(|| 1.0 / sum)
    }

    /// S = P·E, which is T_seq/T. Source: eq. 5.
    pub fn speedup(&self) -> Option<f64> {
        let n = self.phases.first()?.seconds.len() as f64;
        self.efficiency().map(|efficiency| n * efficiency)
    }
}

/// The overheads of the run of `model`, whose time on one rank is assumed to be its work: a run by itself does not say.
///
/// T is [`Model::recorded_s`], as it is for all efficiencies; so if no region is marked as control, E is the parallel efficiency.
pub fn overhead_breakdown(model: &Model) -> OverheadBreakdown {
    OverheadBreakdown::new(phase_times(model), model.recorded_s(), None)
}

/// The time of each phase that occurs, by rank.
pub fn phase_times(model: &Model) -> Vec<PhaseTime> {
    let kinds = region_kinds(model);
    let window = model.window_s();
    // Time of which no rank has records is not in T.
    let least = model.ranks.iter().map(RankModel::not_recorded_s).reduce(f64::min).unwrap_or(0.0);
    let mut all = TimeCategory::ALL.map(|phase| PhaseTime { phase, seconds: vec![0.0; model.ranks.len()] });
    for (at, rank) in model.ranks.iter().enumerate() {
        let not_recorded_s = rank.not_recorded_s() - least;
        let cells = rank.cells.iter();
        let times = cells.map(|&((region, activity), cell)| (phase_of(activity, kinds[region as usize]), cell.seconds));
        let other_times = [
            (TimeCategory::Idle, rank.idle_s(window)),
            (TimeCategory::NotRecorded, if not_recorded_s > CLOCK_RESOLUTION_S { not_recorded_s } else { 0.0 }),
        ];
        for (phase, seconds) in times.chain(other_times) {
            if let Some(found) = all.iter_mut().find(|one| one.phase == phase) {
                found.seconds[at] += seconds;
            }
        }
    }
    all.into_iter().filter(|one| one.total_s() > 0.0).collect()
}

fn phase_of(activity: Activity, kind: RegionKind) -> TimeCategory {
    match (activity, kind) {
        (Activity::Computation, RegionKind::Useful) => TimeCategory::Useful,
        (Activity::Computation, RegionKind::Serial) => TimeCategory::Serial,
        (Activity::Computation, RegionKind::Control) => TimeCategory::Control,
        (other, _) => TimeCategory::Activity(other),
    }
}

/// Returns the kind of computation in each region: what it is marked, or as "useful" is the default, what the region around it is.
fn region_kinds(model: &Model) -> Vec<RegionKind> {
    let kinds = (0..model.regions.len() as RegionIdx).map(|idx| {
        let mut around = model.chain(idx).into_iter().map(|idx| model.regions[idx as usize].kind);
        around.find(|kind| *kind != RegionKind::Useful).unwrap_or(RegionKind::Useful)
    });
    kinds.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phase(phase: TimeCategory, seconds: &[f64]) -> PhaseTime {
        PhaseTime { phase, seconds: seconds.to_vec() }
    }

    const COLLECTIVE: TimeCategory = TimeCategory::Activity(Activity::Collective);

    #[test]
    fn without_work_there_is_no_ratio() {
        let overheads = OverheadBreakdown::new(vec![phase(COLLECTIVE, &[2.0])], 2.0, None);
        assert_eq!(overheads.ratio(&overheads.phases[0]), None);
        assert_eq!((overheads.efficiency(), overheads.speedup()), (None, None));
        assert_eq!(OverheadBreakdown::default().speedup(), None);
    }

    proptest! {}
}
