//! The two sides of a comparison.

use lbprof_analysis::metrics::spread::median::median_of;

use crate::RunMetrics;
use lbprof_report::rows::words::escape_name;

/// A run, and what the user calls it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedRun {
    /// Its folder, or its place in a study.
    pub name: String,
    /// Its figures.
    pub run: RunMetrics,
}

/// A run, or repeated runs, on one side of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonSide {
    /// The runs; at least one, or all figures are 0.
    pub runs: Vec<NamedRun>,
}

impl ComparisonSide {
    /// Returns a figure of each run.
    pub fn values(&self, of: impl Fn(&RunMetrics) -> f64) -> Vec<f64> {
        self.runs.iter().map(|named| of(&named.run)).collect()
    }

    /// Returns the answer to the first run, or `None` if it comes from a study.
    pub(super) fn answer(&self) -> Option<String> {
        self.runs.first().map(|named| escape_name(&named.run.answer)).filter(|answer| !answer.is_empty())
    }

    /// The median of a figure over the runs, or `None` unless all have it.
    pub fn median(&self, of: impl Fn(&RunMetrics) -> Option<f64>) -> Option<f64> {
        median_of(&self.known_values(of)?)
    }

    pub(super) fn known_values(&self, of: impl Fn(&RunMetrics) -> Option<f64>) -> Option<Vec<f64>> {
        self.runs.iter().map(|named| of(&named.run)).collect()
    }
}

/// The two sides of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonSides {
    /// The runs to compare with.
    pub base: ComparisonSide,
    /// The runs to be compared with the base.
    pub new: ComparisonSide,
}

pub(super) type RatioOfRun = fn(&RunMetrics) -> Option<f64>;
