//! Laws that many runs follow (docs/metrics.md §5; Lemeire et al. 2004, §§3, 5).
//!
//! | module | what it holds |
//! |---|---|
//! | `polynomial` | least squares |
//! | `validation` | leave-one-out cross validation, and the degree that it chooses |
//! | `linear` | the law T = δ·#op |
//! | `phases` | a run's figures by phase |
//! | [`variables`] | what differs between runs |
//! | `quantity` | what relations are between |
//! | `totals` | overhead ratios, efficiency and speedup |
//! | `relations` | all relations of a study's runs |
//! | `remarks` | what a reader has to know of the runs |
//! | `equation` | equations as readers write them |
//! | [`causal`] | the graph of all relations |
//! | [`text`], [`json`] | all of it for a terminal and for scripts |
//!
//! The first three work on points (x, y), whatever they mean.

pub mod causal;
mod equation;
pub mod json;
mod linear;
#[cfg(test)]
pub(crate) mod multiplication_tests;
pub mod observations;
mod polynomial;
pub(crate) mod relations;
pub mod text;
pub(crate) mod validation;

pub use relations::{ModelError, StudyModels};

use serde::{Serialize, Serializer};
use thiserror::Error;

use lbprof_report::rows::words::format_plural;
use lbprof_thresholds::study::{MIN_SIZES_OF_RELATION, ROUNDING_OF_VALUES};

/// Why there is no model.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FitError {
    /// A polynomial through almost as few points as it has coefficients says nothing of others.
    #[error("too few points: degree {degree} needs {} different values, there {}", degree + 2, is_or_are(*found))]
    TooFewPoints {
        /// The degree.
        degree: usize,
        /// Existing number of different values of x.
        found: usize,
    },
    /// Values of x so close to each other that a point's residual cannot be distinguished from rounding.
    #[error("values too close to each other for degree {0}")]
    TooClose(usize),
    /// The law through the origin needs runs with operations.
    #[error("too few points: a law needs 2 runs with operations or quanta, there {}", is_or_are(*.0))]
    TooFewRuns(usize),
    /// Neither a law nor a polynomial fits two sizes well; more sizes would show whether another does.
    #[error("{}: too few for a law, {} or more are needed", format_plural(*.0 as u64, "size"), MIN_SIZES_OF_RELATION)]
    TooFewSizes(usize),
    /// A value that is no finite number.
    #[error("a value is not a number")]
    NotFinite,
}

fn is_or_are(found: usize) -> String {
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
    let left = sum_of_squares(residuals.iter().copied());
    let size: f64 = points.iter().map(|point| point.1.powi(2)).sum();
    (spread > ROUNDING_OF_VALUES * ROUNDING_OF_VALUES * size)
        .then(|| 1.0 - left / spread)
        .filter(|share| share.is_finite())
}

/// Adds up the squares of values.
pub(crate) fn sum_of_squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

/// The values of x, ascending, without those that differ from the one before by less than a billionth of their range.
pub(crate) fn distinct_values(points: &[Point]) -> Vec<f64> {
    let mut values: Vec<f64> = points.iter().map(|point| point.0).collect();
    values.sort_by(f64::total_cmp);
    let range = values.last().zip(values.first()).map_or(0.0, |(last, first)| last - first);
    values.dedup_by(|later, earlier| *later - *earlier <= 1e-9 * range);
    values
}
