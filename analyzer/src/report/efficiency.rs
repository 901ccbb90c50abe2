//! Efficiencies of the run and of each region, with the times that they follow from.

use crate::metrics::load_balance::{self, PhaseProfileIdeal, Times};
use crate::metrics::serialization::{Serialization, serialization};
use crate::model::followed::Followed;
use crate::model::{Model, RegionIdx};

/// Efficiencies, with the times that they follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EfficiencyRow {
    /// Elapsed, longest, mean and ideal time.
    pub times: Times,
    /// The estimate of the ideal time by phase profile.
    pub phase_profile: Option<PhaseProfileIdeal>,
    /// The ideal time by replay on an ideal network, of the whole program, where all that ranks wait for is known.
    pub replay_s: Option<f64>,
}

/// Share of the elapsed time from which on the ideal time's uncertainty is too large to say what is lost to what.
const UNCERTAIN: f64 = 0.05;

impl EfficiencyRow {
    /// That of `region`, inner regions included.
    pub(super) fn new(model: &Model, region: RegionIdx) -> EfficiencyRow {
        let mut times = load_balance::times(model, region);
        let replay_s = model.followed.as_ref().filter(|_| region == 0).and_then(Followed::t_ideal_s);
        // Rounding to nanoseconds must not make it shorter than what a rank computes.
        let replay_s = replay_s.map(|ideal_s| ideal_s.max(times.max_computation_s));
        times.t_ideal_s = replay_s.or(times.t_ideal_s);
        EfficiencyRow { times, phase_profile: load_balance::phase_profile_ideal(model, region), replay_s }
    }

    /// That of `region`, of some ranks as if there were no others: indices in [`Model::ranks`], ascending.
    pub(super) fn of_ranks(model: &Model, ranks: &[usize], region: RegionIdx) -> EfficiencyRow {
        EfficiencyRow {
            times: load_balance::times_of(model, ranks, region),
            phase_profile: load_balance::phase_profile_ideal_of(model, ranks, region),
            replay_s: None,
        }
    }

    /// The ideal time where it is known well: by replay, or where its estimate is not above the elapsed time, as it is where ranks do not wait for
    /// each other's iterations, nor much too short, as it may be where they wait within iterations.
    pub fn certain_ideal(&self) -> Option<f64> {
        if self.replay_s.is_some() {
            return self.replay_s;
        }
        let (ideal, elapsed_s) = (self.phase_profile?, self.times.elapsed_s);
        (ideal.seconds <= 1.005 * elapsed_s && ideal.bound_s <= UNCERTAIN * elapsed_s).then_some(ideal.seconds)
    }

    /// What the ideal time exceeds the longest computation by, where it is known well.
    pub fn serialization(&self) -> Option<Serialization> {
        let Times { elapsed_s, max_computation_s, .. } = self.times;
        let ideal_s = self.certain_ideal()?.min(elapsed_s);
        let by_iteration_s = self.phase_profile.map(|ideal| ideal.seconds);
        Some(serialization(max_computation_s, ideal_s, self.replay_s.is_some(), by_iteration_s))
    }
}
