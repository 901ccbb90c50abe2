//! Selects the severe indices of dispersion (docs/metrics.md §2; the paper's §3).

use lbprof_thresholds::metrics::ROUNDING_OF_INDEX;

/// A criterion for the severity of indices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SeverityCriterion {
    /// The largest index.
    #[default]
    Maximum,
    /// Indices at or above this percentile of their distribution, in 0..=100.
    Percentile(f64),
    /// Indices of at least this much.
    Threshold(f64),
}

impl SeverityCriterion {
    /// The least index that is severe among `indices`; `None` where there are none.
    fn least(self, indices: &[f64]) -> Option<f64> {
        let mut sorted = indices.to_vec();
        sorted.sort_by(f64::total_cmp);
        match self {
            SeverityCriterion::Maximum => sorted.last().copied(),
            // The nearest rank: the least index that this part of all is not above.
            SeverityCriterion::Percentile(part) => {
                let at = (part / 100.0 * sorted.len() as f64).ceil() as usize;
                sorted.get(at.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
            }
            SeverityCriterion::Threshold(least) => (!sorted.is_empty()).then_some(least),
        }
    }

    /// For each of `indices` whether it is severe. One that is 0, or absent, never is; those that differ by rounding alone are
    /// equally severe.
    pub fn severe(self, indices: &[Option<f64>]) -> Vec<bool> {
        let known: Vec<f64> = indices.iter().flatten().copied().collect();
        let least = self.least(&known);
        indices
            .iter()
            .map(|index| {
                index.zip(least).is_some_and(|(index, least)| index > 0.0 && index >= (1.0 - ROUNDING_OF_INDEX) * least)
            })
            .collect()
    }
}
