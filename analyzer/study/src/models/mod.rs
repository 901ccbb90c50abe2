//! Laws that many runs follow (docs/metrics.md §5; Lemeire et al. 2004, §§3, 5).
//!
//! | module | what it holds |
//! |---|---|
//! | [`polynomial`] | least squares |
//! | [`validation`] | leave-one-out cross validation, and the degree that it chooses |
//! | [`linear`] | the law T = δ·#op |
//! | [`phases`] | a run's figures by phase |
//! | [`variables`] | what differs between runs |
//! | [`quantity`] | what relations are between |
//! | [`totals`] | overhead ratios, efficiency and speedup |
//! | [`relations`] | all relations of a study's runs |
//! | [`remarks`] | what a reader has to know of the runs |
//! | [`equation`] | equations as readers write them |
//! | [`causal`] | the graph of all relations |
//! | [`text`], [`json`] | all of it for a terminal and for scripts |
//!
//! The first three work on points (x, y), whatever they mean.

pub mod causal;
pub mod equation;
pub mod json;
pub mod linear;
#[cfg(test)]
pub(crate) mod matrix_multiplication;
pub mod phases;
pub mod polynomial;
pub mod quantity;
pub mod relations;
mod remarks;
pub mod text;
pub mod totals;
pub mod validation;
pub mod variables;

pub use relations::{ModelError, StudyModels};

use serde::{Serialize, Serializer};
use thiserror::Error;

use lbprof_report::words::plural;
use lbprof_thresholds::study::ROUNDING_OF_VALUES;

/// Why there is no model.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FitError {
    /// A polynomial through almost as few points as it has coefficients says nothing of others.
    #[error("too few points: degree {degree} needs {needed} different values, there {}", are(*found))]
    TooFewPoints {
        /// The degree.
        degree: usize,
        /// Required number of different values of x.
        needed: usize,
        /// Existing number of them.
        found: usize,
    },
    /// Values of x so close to each other that a point's residual cannot be distinguished from rounding.
    #[error("values too close to each other for degree {degree}")]
    TooClose {
        /// The degree.
        degree: usize,
    },
    /// The law through the origin needs runs with operations.
    #[error("too few points: a law needs 2 runs with operations or quanta, there {}", are(*found))]
    TooFewRuns {
        /// Existing number.
        found: usize,
    },
    /// Of two sizes neither a law nor a polynomial fits well: of more it would show whether another does.
    #[error("{}: too few for a law, {needed} or more are needed", plural(*found as u64, "size"))]
    TooFewSizes {
        /// Required number.
        needed: usize,
        /// Existing number.
        found: usize,
    },
    /// A value that is no finite number.
    #[error("a value is not a number")]
    NotFinite,
}

fn are(found: usize) -> String {
    if found == 1 { "is 1".to_owned() } else { format!("are {found}") }
}

impl Serialize for FitError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A point: x, and what was measured there.
pub type Point = (f64, f64);

/// R²: the share of the variance of y that predictions explain, at most 1, and negative where the mean predicts better. `None`
/// where y is the same everywhere but for rounding.
pub(crate) fn r_squared(points: &[Point], residuals: &[f64]) -> Option<f64> {
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64;
    let spread: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
    let left: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let size: f64 = points.iter().map(|point| point.1.powi(2)).sum();
    (spread > ROUNDING_OF_VALUES * ROUNDING_OF_VALUES * size)
        .then(|| 1.0 - left / spread)
        .filter(|share| share.is_finite())
}

/// The values of x, ascending, without those that differ from the one before by less than a billionth of their range.
pub(crate) fn different(points: &[Point]) -> Vec<f64> {
    let mut values: Vec<f64> = points.iter().map(|point| point.0).collect();
    values.sort_by(f64::total_cmp);
    let range = values.last().zip(values.first()).map_or(0.0, |(last, first)| last - first);
    values.dedup_by(|later, earlier| *later - *earlier <= 1e-9 * range);
    values
}
