//! Selects the severe indices of dispersion (docs/metrics.md §2; the paper's §3): the user's choice of a criterion.

use lbprof_thresholds::metrics::ROUNDING_OF_INDEX;
use std::fmt;
use std::str::FromStr;

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

impl fmt::Display for SeverityCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeverityCriterion::Maximum => write!(f, "maximum"),
            SeverityCriterion::Percentile(part) => write!(f, "percentile={part}"),
            SeverityCriterion::Threshold(least) => write!(f, "threshold={least}"),
        }
    }
}

impl FromStr for SeverityCriterion {
    type Err = String;

    fn from_str(text: &str) -> Result<SeverityCriterion, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (name, value.map(|text| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0))) {
            ("maximum", None) => Ok(SeverityCriterion::Maximum),
            ("percentile", Some(Some(part))) if part <= 100.0 => Ok(SeverityCriterion::Percentile(part)),
            ("percentile", _) => Err("a percentile is 0 to 100, as in percentile=90".to_owned()),
            ("threshold", Some(Some(least))) => Ok(SeverityCriterion::Threshold(least)),
            ("threshold", _) => Err("a threshold is an index of at least 0, as in threshold=0.01".to_owned()),
            _ => Err("maximum, percentile=P or threshold=X".to_owned()),
        }
    }
}
