//! A table of runs: what is wanted of it, its columns, sections, lines and cells.

use serde::Serialize;

use super::remark::TableRemark;
use crate::key::{KeyValue, RunCondition};
use lbprof_analysis::metrics::spread::median::median_of;
use lbprof_thresholds::study::MIN_DIFFERENCE_OF_BEST;

/// The selection of runs and columns to show.
#[derive(Clone, Debug, Default)]
pub struct TableRequest {
    /// Keys that columns are distinguished by; empty: the ranks where they differ, else all that differs.
    pub by: Vec<String>,
    /// Conditions on the runs.
    pub conditions: Vec<RunCondition>,
    /// The region that times are of, a path or the end of one; `None`: the whole program.
    pub region: Option<String>,
    /// The run that speedup and efficiency are against; `None`: the one with the fewest ranks.
    pub base: Option<u32>,
    /// True if the work grows with the ranks, so that E = T_base / T.
    pub weak: bool,
    /// True if repeated runs are a column each.
    pub each: bool,
}

/// Runs of one program that differ only by what their columns say.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureTable {
    /// Name of the program.
    pub program: String,
    /// Values that all runs have in common: P and parameters.
    pub fixed: Vec<(String, KeyValue)>,
    /// The region that times are of; `None`: the whole program.
    pub region: Option<String>,
    /// Keys that distinguish the columns.
    pub by: Vec<String>,
    /// The columns, in the order of their values.
    pub columns: Vec<RunColumn>,
    /// Its lines, by what they show.
    pub sections: Vec<TableSection>,
    /// Remarks below the table.
    pub remarks: Vec<TableRemark>,
}

/// A run, or repeated runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunColumn {
    /// Value for each key of [`FigureTable::by`].
    pub values: Vec<Option<KeyValue>>,
    /// Numbers of its runs.
    pub runs: Vec<u32>,
    /// P.
    pub n_ranks: u32,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSection {
    /// Name of the section.
    pub name: &'static str,
    /// Unit of the figures.
    pub unit: FigureUnit,
    /// The lines.
    pub lines: Vec<FigureLine>,
}

/// The unit of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FigureUnit {
    /// Seconds.
    Seconds,
    /// Shares of 1.
    Share,
    /// Plain ratios.
    Ratio,
}

/// A figure of all columns.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureLine {
    /// Its name.
    pub name: &'static str,
    /// True if more of it is better, false if less is.
    pub more_is_better: bool,
    /// An entry per column, or `None` if the figure is not known.
    pub cells: Vec<Option<TableCell>>,
}

/// A figure of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableCell {
    /// The median of repeated runs.
    pub value: f64,
    /// The least and the largest of repeated runs.
    pub range: (f64, f64),
}

impl FigureTable {
    /// A line of the section of this name.
    pub fn line(&self, section: &str, name: &str) -> Option<&FigureLine> {
        self.sections.iter().find(|one| one.name == section)?.lines.iter().find(|line| line.name == name)
    }
}

impl FigureLine {
    /// The figure of a column.
    pub fn cell(&self, column: usize) -> Option<TableCell> {
        self.cells.get(column).copied().flatten()
    }
    /// The columns with the best and with the worst figure; `None` where nothing distinguishes them.
    pub fn best_and_worst(&self) -> Option<(usize, usize)> {
        let mut by_value: Vec<(usize, f64)> =
            self.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?.value))).collect();
        // The first of several that are equal.
        by_value.sort_by(|(_, a), (_, b)| if self.more_is_better { b.total_cmp(a) } else { a.total_cmp(b) });
        let (&(best, best_value), &(worst, worst_value)) = (by_value.first()?, by_value.last()?);
        let differ =
            (best_value - worst_value).abs() > MIN_DIFFERENCE_OF_BEST * best_value.abs().max(worst_value.abs());
        differ.then_some((best, worst))
    }
}

impl TableCell {
    /// The figure of repeated runs, in any order; `None` where there is none.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Option<TableCell> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        let largest = values.iter().copied().reduce(f64::max)?;
        Some(TableCell { value: median_of(&values)?, range: (least, largest) })
    }

    /// True if repeated runs differ.
    pub fn has_range(&self) -> bool {
        self.range.0 < self.range.1
    }
}
