//! Bounds lists that grow with the ranks: either all rows are written, or the rows that stand out and sums over the others.

/// Most entries of lists in the JSON document. What is beyond is counted, and added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListBounds {
    /// Ranks up to which each has a row.
    pub ranks: usize,
    /// Of more ranks, those that have a row because they have the largest figures of a kind; a quarter as many with the smallest.
    pub extremes: usize,
    /// Numbers in a list of ranks.
    pub numbers: usize,
    /// Causes of waiting, the largest.
    pub causes: usize,
    /// Pairs of ranks or of hosts, those with most.
    pub pairs: usize,
    /// Rows that stand for all causes, or pairs, that are not listed.
    pub groups: usize,
    /// Values by rank without names: letters of a pattern, ratios of a phase.
    pub values: usize,
}

impl ListBounds {
    /// No bounds: everything is written.
    pub const ALL: ListBounds = ListBounds {
        ranks: usize::MAX,
        extremes: usize::MAX,
        numbers: usize::MAX,
        causes: usize::MAX,
        pairs: usize::MAX,
        groups: usize::MAX,
        values: usize::MAX,
    };

    /// Bounds that keep a document below 5 MB.
    pub const SMALL: ListBounds = ListBounds {
        ranks: 1_000,
        extremes: 20,
        numbers: 1_000,
        causes: 1_000,
        pairs: 1_000,
        groups: 500,
        values: 512,
    };
}

impl Default for ListBounds {
    fn default() -> Self {
        ListBounds::SMALL
    }
}

/// Returns at most `most` of the first entries.
pub(super) fn truncate<T>(all: &[T], most: usize) -> &[T] {
    &all[..all.len().min(most)]
}

/// The number of successive entries, of `n`, to join into one so that at most `most` remain.
pub(super) fn per_entry(n: usize, most: usize) -> usize {
    n.div_ceil(most.max(1)).max(1)
}
