//! In which iterations slow ranks have their excess, where that is not in all of them.
//!
//! ```text
//!   excess of the rank over the mean, by iteration
//!
//!   ....................####################     from iteration 20 on
//!   ....#....#....#....#....#....#....#....#     every 5th iteration
//!   #########################################    all: nothing to add
//! ```

use serde::Serialize;

use super::course::measured_iterations;
use super::iteration::IterationRow;
use lbprof_thresholds::verdict::{
    MAX_SLOW_ITERATIONS, MAX_UNORDERED_SLOW_ITERATIONS, MIN_EXCESS_OF_SLOW_ITERATION, MIN_EXCESS_OF_SLOW_ITERATIONS,
    MIN_ITERATIONS_TO_JUDGE, MIN_SLOW_IN_RANGE,
};

/// The iterations in which slow ranks have nearly all of their excess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(tag = "order", rename_all = "lowercase")]
pub enum ExcessIterations {
    /// Nearly all from the first to the last.
    Range {
        /// The number of the first.
        first: u32,
        /// The number of the last.
        last: u32,
    },
    /// Iterations at the same distance from one another, of which few are not slow.
    Periodic {
        /// Iterations from one to the next.
        distance: u32,
    },
    /// Iterations in no such order.
    Scattered {
        /// Number of slow iterations.
        slow: usize,
        /// Number of all iterations.
        all: usize,
    },
}

impl ExcessIterations {
    /// Finds the iterations in which `ranks` have their excess, of `excess_s` seconds each in the whole run. Returns `None` where they have some in most
    /// iterations, or outside of them, or where too little is known.
    pub fn find(rows: &[IterationRow], ranks: &[u32], excess_s: f64) -> Option<ExcessIterations> {
        let excesses: Vec<(u32, f64)> = measured_iterations(rows)
            .map(|row| (row.iteration, if ranks.contains(&row.slowest_rank) { row.imbalance_s() } else { 0.0 }))
            .collect();
        if excesses.len() < MIN_ITERATIONS_TO_JUDGE {
            return None;
        }
        let mut ordered: Vec<f64> = excesses.iter().map(|(_, excess_s)| *excess_s).filter(|one| *one > 0.0).collect();
        ordered.sort_by(f64::total_cmp);
        let all_s = ordered.iter().sum::<f64>().max(excess_s);
        // A few iterations among hundreds of small excesses are above any decile; one outlier among slow ones must not hide these.
        let large_s = [*ordered.last()?, *ordered.get(ordered.len() * 9 / 10)?];
        let slow = large_s.iter().find_map(|large_s| {
            let slow = excesses.iter().filter(|(_, excess_s)| *excess_s >= MIN_EXCESS_OF_SLOW_ITERATION * large_s);
            let (slow, slow_s): (Vec<u32>, Vec<f64>) = slow.copied().unzip();
            (slow_s.iter().sum::<f64>() >= MIN_EXCESS_OF_SLOW_ITERATIONS * all_s).then_some(slow)
        })?;
        let are_some = slow.len() as f64 <= MAX_SLOW_ITERATIONS * excesses.len() as f64;
        if are_some { ExcessIterations::describe(&slow, excesses.len()) } else { None }
    }

    /// Describes slow iterations, in ascending order, of `all`.
    fn describe(slow: &[u32], all: usize) -> Option<ExcessIterations> {
        let (first, last) = (slow[0], slow[slow.len() - 1]);
        // The excess of one or the other may be too small to see: the time for a file differs.
        let distance = slow.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1);
        let are_at_distance = slow.iter().all(|one| (one - first).is_multiple_of(distance));
        let expected = f64::from((last - first) / distance + 1);
        if slow.len() as f64 >= MIN_SLOW_IN_RANGE * f64::from(last - first + 1) {
            Some(ExcessIterations::Range { first, last })
        } else if slow.len() >= 3 && are_at_distance && slow.len() as f64 >= MIN_SLOW_IN_RANGE * expected {
            Some(ExcessIterations::Periodic { distance })
        } else {
            let are_few = slow.len() as f64 <= MAX_UNORDERED_SLOW_ITERATIONS * all as f64;
            are_few.then_some(ExcessIterations::Scattered { slow: slow.len(), all })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations in which rank 2 exceeds the mean by so many seconds, else rank 0 by a little.
    fn found(excesses_s: impl Iterator<Item = f64>) -> Option<ExcessIterations> {
        let rows: Vec<IterationRow> = excesses_s
            .enumerate()
            .map(|(iteration, excess_s)| IterationRow {
                iteration: iteration as u32,
                is_known: true,
                max_s: if excess_s > 0.0 { 1.0 + excess_s } else { 1.01 },
                mean_s: 1.0,
                slowest_rank: if excess_s > 0.0 { 2 } else { 0 },
                ranks: 4,
            })
            .collect();
        ExcessIterations::find(&rows, &[2], 0.0)
    }

    #[test]
    fn a_rank_that_becomes_slow_is_so_from_then_on() {
        let becomes_slow = found((0..100).map(|k| if k >= 50 { 1.0 } else { 0.001 }));
        assert_eq!(becomes_slow, Some(ExcessIterations::Range { first: 50, last: 99 }));
    }

    #[test]
    fn what_a_rank_does_now_and_then_is_periodic() {
        let every_tenth = found((0..100).map(|k| if k % 10 == 9 { 6.0 } else { 0.0 }));
        assert_eq!(every_tenth, Some(ExcessIterations::Periodic { distance: 10 }));
        let all_but_one = found((0..100).map(|k| if k % 10 == 9 && k != 49 { 6.0 } else { 0.0 }));
        assert_eq!(all_but_one, Some(ExcessIterations::Periodic { distance: 10 }));
        let once = found((0..100).map(|k| if k == 40 { 6.0 } else { 0.001 * f64::from(k % 5) }));
        assert_eq!(once, Some(ExcessIterations::Range { first: 40, last: 40 }));
        let half_of_them = found((0..100).map(|k| if [9, 19, 39, 69, 79].contains(&k) { 6.0 } else { 0.0 }));
        assert_eq!(half_of_them, Some(ExcessIterations::Scattered { slow: 5, all: 100 }));
        let now_and_then = found((0..40).map(|k| if [3, 8, 20].contains(&k) { 6.0 } else { 0.0 }));
        assert_eq!(now_and_then, Some(ExcessIterations::Scattered { slow: 3, all: 40 }));
        let by_chance = found((0..40).map(|k| if k * k % 7 == 2 || k % 5 == 1 { 6.0 } else { 0.0 }));
        assert_eq!(by_chance, None, "nearly half of them, in no order");
    }

    #[test]
    fn a_little_excess_within_iterations_is_not_that_before_them() {
        let now_and_then = |excess_s| {
            let rows: Vec<IterationRow> = (0..40)
                .map(|iteration| {
                    let max_s = if [3, 8, 20].contains(&iteration) { 1.5 } else { 1.0 };
                    IterationRow { iteration, is_known: true, max_s, mean_s: 1.0, slowest_rank: 2, ranks: 4 }
                })
                .collect();
            ExcessIterations::find(&rows, &[2], excess_s)
        };
        assert_eq!(now_and_then(1.5), Some(ExcessIterations::Scattered { slow: 3, all: 40 }));
        assert_eq!(now_and_then(60.0), None);
    }

    #[test]
    fn a_rank_that_is_always_slow_is_not_described() {
        assert_eq!(found((0..100).map(|_| 1.0)), None);
        assert_eq!(found((0..100).map(|k| 1.0 + f64::from(k % 7))), None, "by different amounts");
        assert_eq!(found((0..8).map(|k| if k > 4 { 1.0 } else { 0.0 })), None, "too few to judge");
        assert_eq!(found((0..100).map(|_| 0.0)), None, "never");
    }
}
