//! Describes the iterations of the main loop over the run: slowest ranks and trends.

use std::collections::BTreeMap;

use crate::time::iteration::IterationRow;
use lbprof_analysis::metrics::spread::trend::{SeriesShape, series_shape};
use serde::Serialize;

/// The course of the iterations over the run. Only iterations that the maximum number of ranks completed count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct IterationCourse {
    /// Iterations completed by the maximum number of ranks; `slowest` and `trends` only cover those with known computation.
    #[serde(rename = "whole")]
    pub iterations: usize,
    /// Number of these whose computation is known, which all figures below are of.
    pub known: usize,
    /// Number of these whose computation is not known: before them, ranks enter a loop that was found in the calls.
    pub unknown: usize,
    /// Number of the first iteration without known computation.
    pub first_unknown: Option<u32>,
    /// Longest computation of a rank in an iteration, the mean over iterations.
    pub slowest_mean_s: f64,
    /// Longest computation of a rank in any iteration.
    pub slowest_max_s: f64,
    /// Mean imbalance of an iteration (longest less mean computation) / `slowest_mean_s`; null if nothing is computed. Up to 0.01 ranks differ by noise
    /// alone, so that `slowest` means nothing.
    pub imbalance_share: Option<f64>,
    /// Ranks by how often each is the slowest, the most first.
    pub slowest: Vec<SlowestRank>,
    /// Changes over the run; null if no iterations are known.
    pub trends: Option<TimeTrends>,
}

/// A rank that is the slowest in some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct SlowestRank {
    /// The rank.
    pub rank: u32,
    /// In how many iterations.
    pub count: u64,
    /// Fraction of the iterations.
    pub share: f64,
}

/// Changes of the iterations' times over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, crate::JsonSchema)]
pub struct TimeTrends {
    /// The longest computation of a rank.
    pub max: SeriesShape,
    /// The mean computation of all ranks.
    pub mean: SeriesShape,
    /// Their difference.
    pub imbalance: SeriesShape,
}

impl IterationCourse {
    pub(crate) fn new(rows: &[IterationRow]) -> IterationCourse {
        let iterations = whole_iterations(rows).count();
        let mut unknown = whole_iterations(rows).filter(|row| !row.is_known);
        let first_unknown = unknown.next().map(|row| row.iteration);
        let unknown = unknown.count() + usize::from(first_unknown.is_some());
        let rows: Vec<&IterationRow> = measured_iterations(rows).collect();
        let mut by_rank: BTreeMap<u32, u64> = BTreeMap::new();
        for row in rows.iter() {
            *by_rank.entry(row.slowest_rank).or_default() += 1;
        }
        let n = rows.len().max(1) as f64;
        let slowest = by_rank.into_iter().map(|(rank, count)| SlowestRank { rank, count, share: count as f64 / n });
        let mut slowest: Vec<SlowestRank> = slowest.collect();
        slowest.sort_by_key(|one| (std::cmp::Reverse(one.count), one.rank));
        let slowest_s: f64 = rows.iter().map(|row| row.max_s).sum();
        let imbalance_s: f64 = rows.iter().map(|row| row.imbalance_s()).sum();
        IterationCourse {
            iterations,
            known: rows.len(),
            unknown,
            first_unknown,
            slowest_mean_s: slowest_s / n,
            slowest_max_s: rows.iter().map(|row| row.max_s).fold(0.0, f64::max),
            imbalance_share: (slowest_s > 0.0).then(|| imbalance_s / slowest_s),
            slowest,
            trends: Some(TimeTrends {
                max: shape_of(&rows, |row| row.max_s),
                mean: shape_of(&rows, |row| row.mean_s),
                imbalance: shape_of(&rows, IterationRow::imbalance_s),
            }),
        }
    }
}

/// Returns the iterations that the maximum number of ranks completed.
pub fn whole_iterations(rows: &[IterationRow]) -> impl Iterator<Item = &IterationRow> {
    let ranks = rows.iter().map(|row| row.ranks).max().unwrap_or(0);
    rows.iter().filter(move |row| row.ranks == ranks)
}

/// Returns the rows of [`whole_iterations`] whose computation is known.
pub fn measured_iterations(rows: &[IterationRow]) -> impl Iterator<Item = &IterationRow> {
    whole_iterations(rows).filter(|row| row.is_known)
}

/// Returns the shape of a figure over the iterations.
fn shape_of(rows: &[&IterationRow], figure: impl Fn(&IterationRow) -> f64) -> SeriesShape {
    series_shape(&rows.iter().map(|row| figure(row)).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(course: &IterationCourse) -> Vec<(u32, u64)> {
        course.slowest.iter().map(|one| (one.rank, one.count)).collect()
    }

    #[test]
    fn iterations_that_a_rank_did_not_go_through_count_for_nothing() {
        // 70 iterations of 4 ranks, numbered from 5, every 5th longer; then one of rank 0 alone.
        let row = |iteration| {
            let max_s = if iteration % 5 == 2 { 0.020 } else { 0.010 };
            IterationRow { iteration, is_known: true, max_s, mean_s: 0.010, slowest_rank: 1 + iteration % 2, ranks: 4 }
        };
        let mut rows: Vec<IterationRow> = (5..75).map(row).collect();
        rows.push(IterationRow { iteration: 75, is_known: true, max_s: 9.0, mean_s: 3.0, slowest_rank: 0, ranks: 1 });
        let course = IterationCourse::new(&rows);
        assert_eq!((course.iterations, counts(&course)), (70, vec![(1, 35), (2, 35)]));
        // 14 of 20 ms and 56 of 10 ms: 12 ms on average, of which 2 ms are imbalance.
        assert!((course.slowest_mean_s - 0.012).abs() < 1e-12 && course.slowest_max_s == 0.020);
        assert!((course.imbalance_share.unwrap() - 2.0 / 12.0).abs() < 1e-12);
        assert_eq!((course.unknown, course.first_unknown), (0, None));
    }

    #[test]
    fn an_iteration_whose_computation_is_not_known_is_none_without_computation() {
        let row = |iteration| {
            let (max_s, is_known) = if iteration == 0 { (0.0, false) } else { (1.0, true) };
            IterationRow { iteration, is_known, max_s, mean_s: max_s, slowest_rank: u32::from(is_known), ranks: 4 }
        };
        let rows: Vec<IterationRow> = (0..20).map(row).collect();
        let course = IterationCourse::new(&rows);
        assert_eq!((course.iterations, course.known, counts(&course)), (20, 19, vec![(1, 19)]));
        assert_eq!((course.unknown, course.first_unknown, course.slowest_mean_s), (1, Some(0), 1.0));
        assert_eq!(course.trends.unwrap().max, SeriesShape::default());
    }
}
