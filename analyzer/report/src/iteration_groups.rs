//! The iterations of the main loop in a bounded number of rows: of very many, several successive ones are reported as one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::iteration::IterationRow;

/// Most rows, unless the user wants all.
pub const MOST_ROWS: usize = 4_000;

/// Successive iterations, reported as one; mostly a single one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterationGroup {
    /// Number of rows.
    pub count: usize,
    /// The number of the first; means of the times; the rank that is the slowest in most of them, the lowest of several; and the
    /// fewest ranks that went through any of them. Times and slowest ranks are of those whose computation is known, if any is.
    pub row: IterationRow,
    /// The longest computation of a rank in any of them, in seconds.
    pub peak_s: f64,
}

/// Successive iterations as they are written. What follows `count` is null if the computation is not known, as in the first iteration of a
/// loop that was found in the calls; of several iterations, it is of those where it is.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct GroupRow {
    /// Its number; of several, that of the first.
    iteration: u32,
    /// Number of iterations that the group stands for; the times are their means.
    count: usize,
    /// Longest computation of a rank in it; this and what follows null if it is not known, as in the first iteration of a loop that was found in
    /// the calls; of several iterations, of those where it is.
    max_s: Option<f64>,
    /// Peak time: for several iterations the longest of all, not their mean.
    peak_s: Option<f64>,
    /// Mean computation of all ranks in it.
    mean_s: Option<f64>,
    /// Longest less mean.
    imbalance_s: Option<f64>,
    /// Mean / longest.
    load_balance: Option<f64>,
    /// The rank that computes longest; of several iterations, the one that does so in most.
    slowest_rank: Option<u32>,
    /// Ranks that went through all of it; for several iterations, the fewest.
    ranks: u32,
}

impl From<&IterationGroup> for GroupRow {
    fn from(IterationGroup { count, row, peak_s }: &IterationGroup) -> GroupRow {
        GroupRow {
            iteration: row.iteration,
            count: *count,
            max_s: row.is_known.then_some(row.max_s),
            peak_s: row.is_known.then_some(*peak_s),
            mean_s: row.is_known.then_some(row.mean_s),
            imbalance_s: row.is_known.then(|| row.imbalance_s()),
            load_balance: row.load_balance(),
            slowest_rank: row.is_known.then_some(row.slowest_rank),
            ranks: row.ranks,
        }
    }
}

/// `rows` in groups of equally many, the last of which may have fewer; at most `most` groups, at least 1.
pub fn group_iterations(rows: &[IterationRow], most: usize) -> Vec<IterationGroup> {
    rows.chunks(rows.len().div_ceil(most.max(1)).max(1)).filter_map(IterationGroup::from_rows).collect()
}

impl IterationGroup {
    fn from_rows(rows: &[IterationRow]) -> Option<IterationGroup> {
        let is_known = rows.iter().any(|row| row.is_known);
        let counted: Vec<&IterationRow> = rows.iter().filter(|row| row.is_known == is_known).collect();
        let n_counted = counted.len() as f64;
        let mut by_rank: BTreeMap<u32, usize> = BTreeMap::new();
        for row in counted.iter() {
            *by_rank.entry(row.slowest_rank).or_default() += 1;
        }
        let row = IterationRow {
            iteration: rows.first()?.iteration,
            is_known,
            max_s: counted.iter().map(|row| row.max_s).sum::<f64>() / n_counted,
            mean_s: counted.iter().map(|row| row.mean_s).sum::<f64>() / n_counted,
            slowest_rank: by_rank.into_iter().max_by_key(|&(rank, times)| (times, Reverse(rank)))?.0,
            ranks: rows.iter().map(|row| row.ranks).min()?,
        };
        let peak_s = counted.iter().map(|row| row.max_s).fold(0.0, f64::max);
        Some(IterationGroup { count: rows.len(), row, peak_s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u32, max_s: f64, slowest_rank: u32) -> IterationRow {
        IterationRow { iteration, is_known: true, max_s, mean_s: max_s / 2.0, slowest_rank, ranks: 4 - iteration % 2 }
    }

    #[test]
    fn few_iterations_are_reported_one_by_one() {
        let rows: Vec<IterationRow> = (3..8).map(|number| row(number, f64::from(number) / 3.0, 1)).collect();
        let alone = |row: &IterationRow| IterationGroup { count: 1, row: *row, peak_s: row.max_s };
        assert_eq!(group_iterations(&rows, 5), rows.iter().map(alone).collect::<Vec<_>>());
        assert_eq!(group_iterations(&[], 5), []);
    }

    #[test]
    fn of_more_iterations_equally_many_are_reported_as_one() {
        let rows = [row(2, 1.0, 3), row(4, 6.0, 1), row(5, 2.0, 1), row(6, 8.0, 2), row(8, 4.0, 0)];
        // No more than 2 groups: 3 iterations in each.
        let expected = [
            IterationGroup { count: 3, row: IterationRow { ranks: 3, ..row(2, 3.0, 1) }, peak_s: 6.0 },
            IterationGroup { count: 2, row: row(6, 6.0, 0), peak_s: 8.0 },
        ];
        assert_eq!(group_iterations(&rows, 2), expected);
        let sum = |times: &mut dyn Iterator<Item = f64>| times.sum::<f64>();
        assert_eq!(
            sum(&mut expected.iter().map(|one| one.count as f64 * one.row.max_s)),
            sum(&mut rows.iter().map(|row| row.max_s)),
            "what all take is kept"
        );
    }

    #[test]
    fn what_is_not_known_is_in_no_mean() {
        let rows = [IterationRow { is_known: false, ..row(0, 0.0, 7) }, row(1, 3.0, 1), row(2, 5.0, 1)];
        let means = IterationGroup { count: 3, row: IterationRow { ranks: 3, ..row(0, 4.0, 1) }, peak_s: 5.0 };
        assert_eq!(group_iterations(&rows, 1), [means]);
        assert!(!group_iterations(&rows, 3)[0].row.is_known);
    }
}
