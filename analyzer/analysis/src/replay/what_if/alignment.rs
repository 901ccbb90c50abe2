//! Aligns the iterations of different groups of ranks in time.
//!
//! ```text
//!   rank 0    |== 1 ==|send|== 2 ==|send|== 3 ==|send|
//!   rank 1    |recv ..|== 1 ==|recv|== 2 ==|recv|== 3 ==|
//! ```
//!
//! An iteration of a loop that was found in the calls ends with a call. If all ranks end it with the same call, their iterations are the same
//! ones. Otherwise the computation before the call that ends an iteration on one rank may belong to the iteration before on another. That does not
//! matter if each rank's iterations take equally long. But if another rank is slow in each one, balance in each iteration cannot be predicted,
//! unless all ranks have equally many iterations and compute last in the last one: counted from there, the iterations are the same ones (above,
//! rank 1 computes once more after its last receive). It cannot be predicted either if ranks have different numbers of iterations, as in a function
//! that each calls when it has something to send: the tenth call of one rank is unrelated to the tenth of another. Marked iterations are known.

use std::collections::BTreeMap;

use lbprof_collector::Activity;
use lbprof_thresholds::replay::{MAX_CHANGE_OF_MEAN, MAX_TIME_AFTER_ITERATIONS, MIN_EQUAL_ITERATIONS};

use crate::model::{IterationSeries, Model, RegionIdx};

/// The end of an iteration: call sites with the operation's number.
type IterationEnd = [(Option<u32>, u16)];

/// Returns whether the iterations of `regions` are known well enough to be balanced one by one.
pub fn is_known(model: &Model, regions: &[RegionIdx]) -> bool {
    regions.iter().all(|&region| {
        let groups = by_end(model, region);
        are_as_many(&groups)
            && (groups.len() < 2
                || compute_last_in_iterations(model, region)
                // Blocks do not show which of their iterations are the same ones.
                || groups.iter().flatten().all(|series| series.joined == 0)
                    && groups
                        .iter()
                        .enumerate()
                        .all(|(at, _)| [-1, 1].iter().all(|&shift| change_of_means(&groups, at, shift) <= MAX_CHANGE_OF_MEAN)))
    })
}

/// Returns whether all ranks go through about as many iterations.
fn are_as_many(groups: &[Vec<&IterationSeries>]) -> bool {
    let counts = groups.iter().flatten().map(|series| series.iterations());
    let (fewest, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    // An iteration that is cut at an end does not make another number.
    most <= fewest + 2 || fewest as f64 >= MIN_EQUAL_ITERATIONS * most as f64
}

/// Returns whether all ranks go through equally many iterations, and have no time to compute as long after the last one.
fn compute_last_in_iterations(model: &Model, region: RegionIdx) -> bool {
    let mut counts = model.ranks.iter().map(|rank| rank.series(region).map_or(0, IterationSeries::iterations));
    let first = counts.next().unwrap_or(0);
    first > 0
        && counts.all(|count| count == first)
        && model.ranks.iter().all(|rank| {
            let Some(series) = rank.series(region).filter(|series| series.joined == 0) else { return false };
            let computation = &series.seconds[Activity::Computation as usize];
            let mean_s = computation.iter().sum::<f64>() / first as f64;
            series
                .end_s
                .last()
                .zip(computation.last())
                .is_some_and(|(end_s, last_s)| rank.end_s - end_s < MAX_TIME_AFTER_ITERATIONS * mean_s && *last_s > 0.0)
        })
}

/// Returns the ranks' iterations of a region, grouped by the call that ends them.
fn by_end(model: &Model, region: RegionIdx) -> Vec<Vec<&IterationSeries>> {
    let mut groups: BTreeMap<&IterationEnd, Vec<&IterationSeries>> = BTreeMap::new();
    for rank in &model.ranks {
        let found = rank.found.and_then(|found| model.loops.get(found.at));
        if let (Some(found), Some(series)) = (found, rank.series(region)) {
            groups.entry(&found.anchor).or_default().push(series);
        }
    }
    groups.into_values().collect()
}

/// Returns the mean change of an iteration's mean, as a fraction, if the iterations of the group at a place are `shift` later.
fn change_of_means(groups: &[Vec<&IterationSeries>], place: usize, shift: i64) -> f64 {
    let (known, shifted) =
        (sum_by_number(groups, |_| 0), sum_by_number(groups, |at| if at == place { shift } else { 0 }));
    let pairs = known.iter().filter_map(|(number, &(sum, n))| {
        let &(other, others) = shifted.get(number)?;
        (n == others).then_some((sum, (sum - other).abs()))
    });
    let (all, changed) = pairs.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    if all > 0.0 { changed / all } else { 0.0 }
}

/// Returns for each iteration the seconds that ranks compute in it, and their number, if the numbers of each group are shifted.
fn sum_by_number(groups: &[Vec<&IterationSeries>], shift: impl Fn(usize) -> i64) -> BTreeMap<i64, (f64, u32)> {
    let mut sums: BTreeMap<i64, (f64, u32)> = BTreeMap::new();
    for (at, series) in groups.iter().enumerate().flat_map(|(at, group)| group.iter().map(move |one| (at, one))) {
        for (place, &number) in series.numbers.iter().enumerate() {
            let own_s = series.seconds_at(Activity::Computation, place);
            if own_s > 0.0 {
                let sum = sums.entry(i64::from(number) + shift(at)).or_default();
                *sum = (sum.0 + own_s, sum.1 + 1);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_go_through_other_numbers_of_iterations_do_not_go_through_the_same_ones() {
        // Particles that two ranks send by one function of theirs, each when it has some: 556 and 712 times.
        let as_many = |one: u32, other: u32| {
            let series =
                [one, other].map(|n| IterationSeries { numbers: (0..n).collect(), ..IterationSeries::default() });
            [are_as_many(&[series.iter().collect()]), are_as_many(&[vec![&series[0]], vec![&series[1]]])]
        };
        assert_eq!(as_many(556, 712), [false; 2]);
        assert_eq!(as_many(10, 13), [false; 2]);
        for (one, other) in [(10, 10), (10, 12), (980, 1000)] {
            assert_eq!(as_many(one, other), [true; 2], "{one} and {other}");
        }
        assert!(are_as_many(&[]), "marked ones are known");
        // 40 and 64 iterations, both in four blocks.
        let joined = [[10; 4], [16; 4]].map(|counts| IterationSeries {
            numbers: (0..4).map(|block| block * 16).collect(),
            counts: counts.to_vec(),
            joined: 4,
            ..IterationSeries::default()
        });
        assert!(!are_as_many(&[joined.iter().collect()]));
    }
}
