//! A change of a figure, and whether it is more than noise.

use serde::Serialize;

use super::noise::{self, NoiseLimits, mean_of};
use super::sides::ComparisonSides;

/// A figure on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct FigureChange {
    /// The value in each base run.
    #[serde(skip)]
    pub base: Vec<f64>,
    /// The value in each new run.
    #[serde(skip)]
    pub new: Vec<f64>,
    /// Mean of the base runs; of a part its own time and the waiting that it causes, means over ranks.
    pub base_s: f64,
    /// Mean of the new runs.
    pub new_s: f64,
    /// `new` minus `base`.
    pub change_s: f64,
    /// True if `change_s` is beyond noise.
    pub beyond_noise: bool,
}

impl FigureChange {
    /// The change from the values in the base runs to those in the new ones, not yet judged.
    pub(super) fn new(base: Vec<f64>, new: Vec<f64>) -> FigureChange {
        let (base_s, new_s) = (mean_of(&base), mean_of(&new));
        FigureChange { base, new, base_s, new_s, change_s: new_s - base_s, beyond_noise: false }
    }

    /// The difference as a share of the base; `None` where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.base_s > 0.0).then(|| self.change_s / self.base_s)
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
            .filter(|change| !self.known || change.base_s.abs() + change.new_s.abs() >= 2.0 * self.least_s);
        let mut tested: Vec<&mut &mut FigureChange> = relevant.collect();
        let probabilities: Vec<f64> =
            tested.iter().map(|change| noise::chance_of_difference(&change.base, &change.new).unwrap_or(0.0)).collect();
        let certain = noise::reject_together(&probabilities);
        for (change, certain) in tested.iter_mut().zip(certain) {
            change.beyond_noise = change.change_s.abs() >= self.least_s && (certain || !self.known);
        }
    }
}
