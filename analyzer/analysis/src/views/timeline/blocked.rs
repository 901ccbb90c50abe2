//! Waiting by row and iteration.

use super::super::iterations::{IterationColumns, ViewPlan};
use super::super::{RankRows, ValueMatrix};
use super::shares::add_times;
use crate::model::code::region_state::Ns;
use crate::model::{IterationSeries, Model};

pub(super) struct BlockedIterations<'a> {
    columns: IterationColumns,
    rows: usize,
    /// Nanoseconds by row and column.
    ns: Vec<u64>,
    /// By place of the rank in the model.
    ranks: Vec<IterationCursor<'a>>,
}

struct IterationCursor<'a> {
    row: usize,
    series: Option<&'a IterationSeries>,
    /// The first iteration that is not over.
    at: usize,
    column: usize,
}

impl<'a> BlockedIterations<'a> {
    /// Starts with the main loop of `model`, or returns `None` if none is known.
    pub(super) fn new(model: &'a Model, rows: &RankRows) -> Option<Self> {
        let ViewPlan { idx, columns, .. } = ViewPlan::new(model, rows)?;
        let ranks = model.ranks.iter().enumerate().map(|(place, rank)| IterationCursor {
            row: rows.row_of(place),
            series: rank.series(idx),
            at: 0,
            column: 0,
        });
        let ns = vec![0; rows.len() * columns.len()];
        Some(BlockedIterations { columns, rows: rows.len(), ns, ranks: ranks.collect() })
    }

    /// A rank waited; waits of a rank come in the order of time.
    pub(super) fn add(&mut self, rank: u32, begin: Ns, end: Ns) {
        let Some(cursor) = self.ranks.get_mut(rank as usize) else { return };
        let Some(series) = cursor.series else { return };
        // Both ends of a wait may be rounded, or a clock corrected; its middle lies where it does.
        let middle_s = (begin + (end - begin) / 2) as f64 * 1e-9;
        while cursor.at < series.numbers.len() {
            let end_s = series.end_s.get(cursor.at).copied().unwrap_or(f64::NAN);
            let next_s = series.begin_s.get(cursor.at + 1).copied().unwrap_or(f64::NAN);
            // An iteration whose end is not known ends where the next one begins.
            let is_over = if end_s.is_nan() { next_s <= middle_s } else { end_s <= middle_s };
            if !is_over {
                break;
            }
            cursor.at += 1;
        }
        let Some(&number) = series.numbers.get(cursor.at) else { return };
        if series.begin_s.get(cursor.at).is_some_and(|&begin_s| begin_s > middle_s) {
            return;
        }
        if let Some(column) = self.columns.column_of(number, cursor.column) {
            cursor.column = column;
            if let Some(ns) = self.ns.get_mut(cursor.row * self.columns.len() + column) {
                *ns += (end - begin).max(0) as u64;
            }
        }
    }

    pub(super) fn into_times(self) -> Vec<u64> {
        self.ns
    }

    pub(super) fn join(&mut self, later: &[u64]) {
        add_times(&mut self.ns, later);
    }

    pub(super) fn finish(self) -> ValueMatrix {
        let seconds = self.ns.iter().map(|&ns| (ns as f64 * 1e-9) as f32).collect();
        ValueMatrix { values: seconds, ..ValueMatrix::zeros(self.rows, self.columns.len()) }
    }
}
