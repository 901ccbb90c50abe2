//! Groups successive iterations so that the number of rows is bounded.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::time::iteration::IterationRow;

/// Maximum number of rows by default.
pub const MOST_ROWS: usize = 4_000;

/// Successive iterations, mostly a single one. All that follows `count` is null if the computation is not known, as in the first iteration of a loop
/// that was found in the calls; for several iterations, it covers those where it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct GroupRow {
    /// Its number, or the number of the first of several.
    pub iteration: u32,
    /// Number of iterations that the group stands for; the times are their means.
    pub count: usize,
    /// Longest computation of a rank in it; this and what follows null if it is not known, as in the first iteration of a loop that was found in
    /// the calls; of several iterations, of those where it is.
    pub max_s: Option<f64>,
    /// Peak time: for several iterations the longest of all, not their mean.
    pub peak_s: Option<f64>,
    /// Mean computation of all ranks in it.
    pub mean_s: Option<f64>,
    /// Longest less mean.
    pub imbalance_s: Option<f64>,
    /// Mean / longest.
    pub load_balance: Option<f64>,
    /// The rank that computes longest; of several iterations, the one that does so in most.
    pub slowest_rank: Option<u32>,
    /// Ranks that went through all of it; for several iterations, the fewest.
    pub ranks: u32,
}

/// Splits `rows` into at most `most` groups of equal size. The last may be smaller.
pub fn group_iterations(rows: &[IterationRow], most: usize) -> Vec<GroupRow> {
    rows.chunks(rows.len().div_ceil(most.max(1)).max(1)).filter_map(GroupRow::from_rows).collect()
}

impl GroupRow {
    /// Averages the times. The slowest rank is the one that is slowest most often, the lowest of several.
    fn from_rows(rows: &[IterationRow]) -> Option<GroupRow> {
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
        Some(GroupRow::new(&row, rows.len(), peak_s))
    }

    fn new(row: &IterationRow, count: usize, peak_s: f64) -> GroupRow {
        GroupRow {
            iteration: row.iteration,
            count,
            max_s: row.is_known.then_some(row.max_s),
            peak_s: row.is_known.then_some(peak_s),
            mean_s: row.is_known.then_some(row.mean_s),
            imbalance_s: row.is_known.then(|| row.imbalance_s()),
            load_balance: row.load_balance(),
            slowest_rank: row.is_known.then_some(row.slowest_rank),
            ranks: row.ranks,
        }
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
        let alone = |row: &IterationRow| GroupRow::new(row, 1, row.max_s);
        assert_eq!(group_iterations(&rows, 5), rows.iter().map(alone).collect::<Vec<_>>());
        assert_eq!(group_iterations(&[], 5), []);
    }

    #[test]
    fn of_more_iterations_equally_many_are_reported_as_one() {
        let rows = [row(2, 1.0, 3), row(4, 6.0, 1), row(5, 2.0, 1), row(6, 8.0, 2), row(8, 4.0, 0)];
        // No more than 2 groups: 3 iterations in each.
        let expected = [
            GroupRow::new(&IterationRow { ranks: 3, ..row(2, 3.0, 1) }, 3, 6.0),
            GroupRow::new(&row(6, 6.0, 0), 2, 8.0),
        ];
        assert_eq!(group_iterations(&rows, 2), expected);
        let sum = |times: &mut dyn Iterator<Item = f64>| times.sum::<f64>();
        assert_eq!(
            sum(&mut expected.iter().map(|one| one.count as f64 * one.max_s.unwrap())),
            sum(&mut rows.iter().map(|row| row.max_s)),
            "what all take is kept"
        );
    }

    #[test]
    fn what_is_not_known_is_in_no_mean() {
        let rows = [IterationRow { is_known: false, ..row(0, 0.0, 7) }, row(1, 3.0, 1), row(2, 5.0, 1)];
        let means = GroupRow::new(&IterationRow { ranks: 3, ..row(0, 4.0, 1) }, 3, 5.0);
        assert_eq!(group_iterations(&rows, 1), [means]);
        assert_eq!(group_iterations(&rows, 3)[0].max_s, None);
    }
}
