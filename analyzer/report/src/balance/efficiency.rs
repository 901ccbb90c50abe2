//! Efficiencies of the run and of each region.

use lbprof_collector::Activity;
use lbprof_thresholds::verdict::MIN_UNCERTAIN_IDEAL_TIME;
use serde::Serialize;

use lbprof_analysis::metrics::serialization::{SerializationTimes, serialization_times};
use lbprof_analysis::metrics::spread::load_balance;
use lbprof_analysis::metrics::spread::load_balance::{EfficiencyTimes, PhaseProfileIdeal, is_above_elapsed};
use lbprof_analysis::model::replayed::replay_results::ReplayResults;
use lbprof_analysis::model::{Model, RegionIdx};

/// Efficiencies, with the times that they follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct EfficiencyRow {
    /// Mean / longest computation.
    pub load_balance: Option<f64>,
    /// Load balance within hosts: mean computation of the ranks of the host where it is largest / longest computation; null if there is one host,
    /// and of ranks with a loop of their own.
    pub load_balance_within_hosts: Option<f64>,
    /// Load balance between hosts: mean computation / mean of the ranks of the host where that is largest; likewise. Load balance is the product of
    /// the two.
    pub load_balance_between_hosts: Option<f64>,
    /// Longest computation / ideal time; POP: serialization efficiency.
    pub micro_load_balance: Option<f64>,
    /// Lower bound of `micro_load_balance`; equal to it if `t_ideal_certain`; null if the ideal time is not known, or its estimate is
    /// above the elapsed time.
    pub micro_load_balance_min: Option<f64>,
    /// Upper bound of `micro_load_balance`, likewise.
    pub micro_load_balance_max: Option<f64>,
    /// Ideal / elapsed time.
    pub transfer: Option<f64>,
    /// Lower bound of `transfer`, likewise.
    pub transfer_min: Option<f64>,
    /// Upper bound of `transfer`, likewise.
    pub transfer_max: Option<f64>,
    /// Longest computation / elapsed time; micro load balance × transfer.
    pub communication: Option<f64>,
    /// Mean computation / elapsed time; load balance × communication.
    pub parallel: Option<f64>,
    /// Elapsed, longest, mean and ideal time.
    #[serde(flatten)]
    pub times: EfficiencyTimes,
    /// Upper bound of `t_ideal_s`, likewise.
    pub t_ideal_max_s: Option<f64>,
    /// True if `t_ideal_s` is reliable: by replay, or by an estimate that is too short by at most 5 % of the elapsed time and not above
    /// that. If not, `micro_load_balance` and `transfer` lie between their bounds, or are not known if these are null.
    pub t_ideal_certain: bool,
    /// The estimate of the ideal time from iterations.
    pub t_ideal_phase_profile_s: Option<f64>,
    /// By how much the estimate may be too short where ranks meet within iterations.
    pub t_ideal_phase_profile_bound_s: Option<f64>,
    /// True if the estimate is above the elapsed time, by more than the 0.5 % that clocks may differ by: ranks do not wait for each other
    /// at the end of each iteration, and it is not used.
    pub t_ideal_phase_profile_above_elapsed: bool,
    /// True if the estimate is too short by at most 5 % of the elapsed time: `t_ideal_phase_profile_bound_s` / `elapsed_s` ≤ 0.05; null if there is
    /// none.
    pub t_ideal_phase_profile_close: Option<bool>,
    /// The ideal time from a replay on an ideal network; of the whole program only, and null if not all that ranks wait for is known.
    pub t_ideal_replay_s: Option<f64>,
}

impl EfficiencyRow {
    /// Computes the efficiencies of `region`, inner regions included.
    pub(crate) fn new(model: &Model, region: RegionIdx) -> EfficiencyRow {
        let mut times = load_balance::region_efficiency_times(model, region);
        let replay_s = model.followed.as_ref().filter(|_| region == 0).and_then(ReplayResults::t_ideal_s);
        // Rounding to nanoseconds must not make it shorter than a rank's computation.
        let replay_s = replay_s.map(|ideal_s| ideal_s.max(times.max_computation_s));
        times.t_ideal_s = replay_s.or(times.t_ideal_s);
        let row = EfficiencyRow::from_times(times, load_balance::phase_profile_ideal(model, region), replay_s);
        let hosts = load_balance::HostBalance::new(model, &model.inclusive_s(region, Activity::Computation));
        let has_several = model.ranks.windows(2).any(|pair| pair[0].host != pair[1].host);
        EfficiencyRow {
            load_balance_within_hosts: hosts.within.filter(|_| has_several),
            load_balance_between_hosts: hosts.between.filter(|_| has_several),
            ..row
        }
    }

    /// Computes the efficiencies of some ranks (ascending indices in [`Model::ranks`]), as if there were no others.
    pub(crate) fn of_ranks(model: &Model, ranks: &[usize], region: RegionIdx) -> EfficiencyRow {
        let estimate = load_balance::phase_profile_ideal_of(model, ranks, region);
        EfficiencyRow::from_times(load_balance::times_of(model, ranks, region), estimate, None)
    }

    pub(crate) fn from_times(
        times: EfficiencyTimes,
        estimate: Option<PhaseProfileIdeal>,
        replay_s: Option<f64>,
    ) -> EfficiencyRow {
        let elapsed_s = times.elapsed_s;
        let is_above = estimate.is_some_and(|ideal| is_above_elapsed(ideal.seconds, elapsed_s));
        let possible = estimate.filter(|_| !is_above);
        let close = estimate.map(|ideal| ideal.bound_s <= MIN_UNCERTAIN_IDEAL_TIME * elapsed_s);
        let is_close = close == Some(true) && !is_above;
        let max_s = match possible {
            _ if replay_s.is_some() => replay_s,
            Some(ideal) if is_close => Some(ideal.seconds),
            // The ideal time cannot exceed the elapsed time.
            Some(ideal) => Some((ideal.seconds + ideal.bound_s).min(elapsed_s).max(ideal.seconds)),
            None => None,
        };
        let at_longest = EfficiencyTimes { t_ideal_s: max_s, ..times };
        EfficiencyRow {
            load_balance: times.load_balance(),
            load_balance_within_hosts: None,
            load_balance_between_hosts: None,
            micro_load_balance: times.micro_load_balance(),
            micro_load_balance_min: at_longest.micro_load_balance(),
            micro_load_balance_max: max_s.and_then(|_| times.micro_load_balance()),
            transfer: times.transfer(),
            transfer_min: max_s.and_then(|_| times.transfer()),
            transfer_max: at_longest.transfer(),
            communication: times.communication(),
            parallel: times.parallel(),
            times,
            t_ideal_max_s: max_s,
            t_ideal_certain: replay_s.is_some() || is_close,
            t_ideal_phase_profile_s: estimate.map(|ideal| ideal.seconds),
            t_ideal_phase_profile_bound_s: estimate.map(|ideal| ideal.bound_s),
            t_ideal_phase_profile_above_elapsed: is_above,
            t_ideal_phase_profile_close: close,
            t_ideal_replay_s: replay_s,
        }
    }

    /// Returns the ideal time if it is reliable: by replay, or by an estimate close enough and not above the elapsed time.
    pub fn certain_ideal(&self) -> Option<f64> {
        self.t_ideal_replay_s.or(self.t_ideal_phase_profile_s).filter(|_| self.t_ideal_certain)
    }

    /// Returns the ideal time minus the longest computation, or `None` if it is uncertain. `is_sure` says whether the iterations are certain.
    pub fn serialization(&self, is_sure: bool) -> Option<SerializationTimes> {
        let EfficiencyTimes { elapsed_s, max_computation_s, .. } = self.times;
        let ideal_s = self.certain_ideal()?.min(elapsed_s);
        let by_replay = self.t_ideal_replay_s.is_some();
        let by_iteration_s = self.t_ideal_phase_profile_s.filter(|_| is_sure);
        Some(serialization_times(max_computation_s, ideal_s, by_replay, by_iteration_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest of the ranks computes 6 of 10 s; the ideal time is 7 s by iterations and may be `bound_s` longer.
    fn row(seconds: f64, bound_s: f64, replay_s: Option<f64>) -> EfficiencyRow {
        let t_ideal_s = replay_s.or(Some(seconds));
        let times = EfficiencyTimes { elapsed_s: 10.0, max_computation_s: 6.0, avg_computation_s: 3.0, t_ideal_s };
        EfficiencyRow::from_times(times, Some(PhaseProfileIdeal { seconds, bound_s }), replay_s)
    }

    fn ranges(row: &EfficiencyRow) -> [Option<f64>; 4] {
        [row.micro_load_balance_min, row.micro_load_balance_max, row.transfer_min, row.transfer_max]
    }

    #[test]
    fn where_the_ideal_time_is_certain_its_bounds_are_the_figure() {
        let known = row(7.0, 0.5, None);
        assert!(known.t_ideal_certain && known.t_ideal_max_s == Some(7.0));
        assert_eq!(ranges(&known), [Some(6.0 / 7.0), Some(6.0 / 7.0), Some(0.7), Some(0.7)]);
        let replayed = row(99.0, 0.0, Some(8.0));
        assert!(replayed.t_ideal_certain && replayed.t_ideal_phase_profile_above_elapsed);
        assert_eq!(
            (known.t_ideal_phase_profile_close, row(6.0, 0.6, None).t_ideal_phase_profile_close),
            (Some(true), Some(false))
        );
        assert_eq!(ranges(&replayed), [Some(0.75), Some(0.75), Some(0.8), Some(0.8)]);
    }

    #[test]
    fn an_estimate_above_the_elapsed_time_bounds_nothing() {
        let above = row(10.1, 0.0, None);
        assert!(above.t_ideal_phase_profile_above_elapsed && !above.t_ideal_certain);
        assert_eq!((ranges(&above), above.t_ideal_max_s), ([None; 4], None));
        assert!(row(10.04, 0.0, None).t_ideal_certain, "clocks may differ by as much");
    }
}
