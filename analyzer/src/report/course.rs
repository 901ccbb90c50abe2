//! What the iterations of the main loop show over the run: which rank is the slowest how often, what changes, what recurs.

use std::collections::BTreeMap;

use crate::metrics::trend::{Shape, shape};
use crate::report::iteration::IterationRow;

/// What iterations show over the run. Only those count that as many ranks went through as through any: one that a rank did not come
/// to, or not to the end of, says little.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// How many those are.
    pub iterations: usize,
    /// Of how many of them the computation is known: what follows is of these.
    pub known: usize,
    /// Ranks, and in how many each is the slowest; the most first.
    pub slowest: Vec<(u32, u64)>,
    /// How the longest computation of a rank changes, in seconds. Of periods, `first` is the number of an iteration.
    pub max: Shape,
    /// How the mean computation of all ranks changes.
    pub mean: Shape,
    /// How their difference changes.
    pub imbalance: Shape,
}

impl Course {
    /// What `rows` show.
    pub(super) fn new(rows: &[IterationRow]) -> Course {
        let iterations = whole(rows).count();
        let rows: Vec<&IterationRow> = known(rows).collect();
        let mut by_rank: BTreeMap<u32, u64> = BTreeMap::new();
        rows.iter().for_each(|row| *by_rank.entry(row.slowest_rank).or_default() += 1);
        let mut slowest: Vec<(u32, u64)> = by_rank.into_iter().collect();
        slowest.sort_by_key(|&(rank, times)| (std::cmp::Reverse(times), rank));
        let shape_of = |of: &dyn Fn(&IterationRow) -> f64| {
            let mut shape = shape(&rows.iter().map(|row| of(row)).collect::<Vec<f64>>());
            for period in &mut shape.periods {
                period.first = rows.get(period.first).map_or(period.first, |row| row.iteration as usize);
            }
            shape
        };
        Course {
            iterations,
            known: rows.len(),
            slowest,
            max: shape_of(&|row| row.max_s),
            mean: shape_of(&|row| row.mean_s),
            imbalance: shape_of(&IterationRow::imbalance_s),
        }
    }
}

/// The rows of iterations that as many ranks went through as through any.
pub fn whole(rows: &[IterationRow]) -> impl Iterator<Item = &IterationRow> {
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    rows.iter().filter(move |row| row.ranks == ranks)
}

/// Those of [`whole`] whose computation is known.
pub fn known(rows: &[IterationRow]) -> impl Iterator<Item = &IterationRow> {
    whole(rows).filter(|row| row.is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_that_a_rank_did_not_go_through_count_for_nothing() {
        // 70 iterations of 4 ranks, numbered from 5 on, every 5th longer; then one of rank 0 alone.
        let row = |iteration| {
            let max_s = if iteration % 5 == 2 { 0.020 } else { 0.010 };
            IterationRow { iteration, is_known: true, max_s, mean_s: 0.010, slowest_rank: 1 + iteration % 2, ranks: 4 }
        };
        let mut rows: Vec<IterationRow> = (5..75).map(row).collect();
        rows.push(IterationRow { iteration: 75, is_known: true, max_s: 9.0, mean_s: 3.0, slowest_rank: 0, ranks: 1 });
        let course = Course::new(&rows);
        assert_eq!((course.iterations, course.slowest), (70, vec![(1, 35), (2, 35)]));
        let numbers: Vec<(usize, usize)> = course.max.periods.iter().map(|one| (one.length, one.first)).collect();
        assert_eq!(numbers, [(5, 7)], "the first is number 7");
    }

    #[test]
    fn an_iteration_whose_computation_is_not_known_is_none_without_computation() {
        let row = |iteration| {
            let (max_s, is_known) = if iteration == 0 { (0.0, false) } else { (1.0, true) };
            IterationRow { iteration, is_known, max_s, mean_s: max_s, slowest_rank: u32::from(is_known), ranks: 4 }
        };
        let rows: Vec<IterationRow> = (0..20).map(row).collect();
        let course = Course::new(&rows);
        assert_eq!((course.iterations, course.known, course.slowest), (20, 19, vec![(1, 19)]));
        assert_eq!(course.max, Shape::default());
    }
}
