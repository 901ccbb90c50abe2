//! Bounds lists that grow with the ranks: beyond a limit, only the rows that stand out are written.

use serde::Serialize;

/// Maximum lengths of lists in the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListBounds {
    /// Entries of a list: ranks, causes of waiting, pairs of ranks or hosts.
    pub entries: usize,
    /// Number of ranks with the largest figures of each kind that have rows in larger runs; a quarter as many with the smallest.
    pub extremes: usize,
    /// Values by rank without names: letters of a pattern, ratios of a phase.
    pub values: usize,
}

impl ListBounds {
    /// Writes everything.
    pub const ALL: ListBounds = ListBounds { entries: usize::MAX, extremes: usize::MAX, values: usize::MAX };

    /// Bounds that keep a document below 5 MB.
    pub const SMALL: ListBounds = ListBounds { entries: 1_000, extremes: 20, values: 512 };
}

/// Waiting of rows that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct RowsLeftOut {
    /// Number of rows.
    pub count: usize,
    /// Their waiting.
    pub time_s: f64,
}

impl RowsLeftOut {
    /// Adds up the waiting of rows, in seconds.
    pub(crate) fn new(rows: impl ExactSizeIterator<Item = f64>) -> RowsLeftOut {
        RowsLeftOut { count: rows.len(), time_s: rows.sum() }
    }
}

pub(crate) fn first_entries<T>(all: &[T], most: usize) -> &[T] {
    &all[..all.len().min(most)]
}

/// Returns `rows`, with at most `most` entries in the lists of ranks that they have.
pub(crate) fn with_short_lists<T: Clone>(rows: &[T], most: usize, ranks: fn(&mut T) -> &mut Vec<u32>) -> Vec<T> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        ranks(row).truncate(most);
    }
    rows
}

/// Returns how many successive entries of `n` to join so that at most `most` remain.
pub(crate) fn per_entry(n: usize, most: usize) -> usize {
    n.div_ceil(most.max(1)).max(1)
}
