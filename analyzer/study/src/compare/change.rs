//! A change of a figure, and whether it is more than noise.

use super::noise::{self, NoiseLimits, mean_of};
use super::sides::ComparisonSides;

/// A figure on both sides: one value a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureChange {
    /// The value in each base run.
    pub base: Vec<f64>,
    /// The value in each new run.
    pub new: Vec<f64>,
    /// True if the difference is beyond noise.
    pub beyond_noise: bool,
}

impl FigureChange {
    /// Mean over the base runs.
    pub fn base_mean(&self) -> f64 {
        mean_of(&self.base)
    }

    /// Mean over the new runs.
    pub fn new_mean(&self) -> f64 {
        mean_of(&self.new)
    }

    /// By how much the mean grew.
    pub fn difference(&self) -> f64 {
        self.new_mean() - self.base_mean()
    }

    /// The difference as a share of the base; `None` where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.base_mean() > 0.0).then(|| self.difference() / self.base_mean())
    }
}

pub(super) struct ChangeJudge {
    known: bool,
    /// Seconds from which on a change counts at all.
    pub(super) least_s: f64,
}

impl ChangeJudge {
    pub(super) fn new(sides: &ComparisonSides, limits: NoiseLimits) -> ChangeJudge {
        let known = noise::is_known(sides.base.runs.len(), sides.new.runs.len());
        let elapsed_s = mean_of(&sides.base.values(|run| run.times.elapsed_s));
        ChangeJudge { known, least_s: if known { limits.relevant_s(elapsed_s) } else { limits.assumed_s(elapsed_s) } }
    }

    /// Judges changes that are reported together. Figures that are small on both sides are not tested, because each test makes the others
    /// stricter.
    pub(super) fn judge(&self, changes: &mut [&mut FigureChange]) {
        let relevant = changes
            .iter_mut()
            .filter(|change| !self.known || change.base_mean().abs() + change.new_mean().abs() >= 2.0 * self.least_s);
        let mut tested: Vec<&mut &mut FigureChange> = relevant.collect();
        let probabilities: Vec<f64> =
            tested.iter().map(|change| noise::chance_of_difference(&change.base, &change.new).unwrap_or(0.0)).collect();
        let certain = noise::reject_together(&probabilities);
        for (change, certain) in tested.iter_mut().zip(certain) {
            change.beyond_noise = change.difference().abs() >= self.least_s && (certain || !self.known);
        }
    }
}
