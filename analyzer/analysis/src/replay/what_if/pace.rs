//! The factor of a rank's computation over time if each iteration is balanced.
//!
//! ```text
//!   time       ──|== 0 ==|──|===== 1 =====|== 2 ==|────        iterations, of which the model knows when they were
//!   factor     a |  f0   | a|     f1      |  f2   | a           a: outside of them; fi: the mean of all ranks / what this rank computes
//! ```
//!
//! The times are not copied: a run of thousands of ranks may have thousands of iterations on each.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbprof_collector::Activity;
use lbprof_thresholds::replay::MAX_COMPUTATION_OF_IDLE_RANK;
use rustc_hash::FxHashMap;

use crate::model::code::region_state::Ns;
use crate::model::ranks::interval::TimeInterval;
use crate::model::{IterationSeries, RegionIdx};

pub type IterationValues<T> = FxHashMap<u32, T>;

/// The balanced computation in each iteration of a region, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationMeans {
    /// The whole computation.
    pub all: IterationValues<f64>,
    /// The computation in the regions at a place of the program, without inner ones, by the first of these regions.
    pub parts: BTreeMap<RegionIdx, IterationValues<f64>>,
    /// The first region of the place of each region in an iteration.
    pub place_of: BTreeMap<RegionIdx, RegionIdx>,
}

impl IterationMeans {
    fn first_at_place(&self, region: RegionIdx) -> RegionIdx {
        self.place_of.get(&region).copied().unwrap_or(region)
    }

    /// The balanced computation at a place of the program, which has this first region, in an iteration.
    fn mean_s(&self, first: RegionIdx, number: u32) -> f64 {
        self.parts.get(&first).and_then(|means| means.get(&number)).copied().unwrap_or(0.0)
    }
}

/// A rank's iterations of a region, and the balanced computation in each.
#[derive(Clone, Debug, PartialEq)]
pub struct BalancedIterations<'a> {
    pub series: &'a IterationSeries,
    pub means: Arc<IterationMeans>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartFactors {
    parts: Vec<(RegionIdx, f64)>,
    rest: f64,
}

impl PartFactors {
    #[inline]
    pub fn of_region(&self, region: RegionIdx) -> f64 {
        self.parts.iter().find(|(part, _)| *part == region).map_or(self.rest, |(_, factor)| *factor)
    }
}

/// Iterations that follow each other, in the order of time and of their places.
#[derive(Clone, Copy, Debug, PartialEq)]
struct IterationSequence {
    /// Index of the region that the iterations belong to.
    region: u32,
    /// The place of the first.
    first: u32,
    /// Number of iterations in the sequences before this one.
    before: u32,
}

/// The factor of a rank's computation over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputationPace<'a> {
    outside: f64,
    regions: Vec<BalancedIterations<'a>>,
    sequences: Vec<IterationSequence>,
    iterations: u32,
}

impl Default for ComputationPace<'_> {
    fn default() -> Self {
        ComputationPace { outside: 1.0, regions: Vec::new(), sequences: Vec::new(), iterations: 0 }
    }
}

impl<'a> ComputationPace<'a> {
    /// Brings the rank's computation in each iteration of these regions to the mean; elsewhere it takes `outside` times as long. No region lies
    /// in another.
    pub fn new(regions: Vec<BalancedIterations<'a>>, outside: f64) -> Self {
        let mut all: Vec<(Ns, u32, u32)> = Vec::new();
        for (region, one) in (0..).zip(&regions) {
            let places = 0..one.series.numbers.len() as u32;
            all.extend(places.filter_map(|place| Some((one.time(place as usize)?.begin, region, place))));
        }
        all.sort_by_key(|&(begin, ..)| begin);
        let mut sequences: Vec<IterationSequence> = Vec::new();
        for (before, &(_, region, place)) in (0..).zip(&all) {
            let next = sequences.last().map(|last| (last.region, last.first + (before - last.before)));
            if next != Some((region, place)) {
                sequences.push(IterationSequence { region, first: place, before });
            }
        }
        sequences.shrink_to_fit();
        ComputationPace { outside, regions, sequences, iterations: all.len() as u32 }
    }

    /// Returns the factor of the rank's computation at a time, until when it holds, and how many iterations have begun by then. `near`: how
    /// many had when it was asked for last; times mostly ascend, and few iterations lie between one and the next.
    pub fn factor_at(&self, time: Ns, near: u32) -> (f64, Ns, u32) {
        let begun = count_passed(self.iterations as usize, near as usize, |nth| self.begin(nth as u32) <= time) as u32;
        let next = if begun < self.iterations { self.begin(begun) } else { Ns::MAX };
        if let Some((of, place)) = begun.checked_sub(1).map(|last| self.iteration(last))
            && let Some(end) = of.time(place).map(|own| own.end).filter(|&end| time < end)
        {
            return (of.factor(place), end.min(next), begun);
        }
        (self.outside, next, begun)
    }

    /// Returns whether computation in an iteration takes another number of times as long in one region than in another.
    pub fn has_parts(&self) -> bool {
        self.regions.iter().any(|of| !of.series.parts.is_empty())
    }

    /// Returns the factors of computation by region in the iteration around a time, by which `begun` iterations have begun, or `None` if the
    /// factor is the same everywhere ([`ComputationPace::factor_at`]).
    pub fn part_factors(&self, time: Ns, begun: u32) -> Option<PartFactors> {
        let (of, place) = begun.checked_sub(1).map(|last| self.iteration(last))?;
        of.time(place).filter(|own| time < own.end)?;
        of.part_factors(place)
    }

    /// Returns the iterations that the `nth` one in the order of time belongs to, and its place among them.
    #[inline]
    fn iteration(&self, nth: u32) -> (&BalancedIterations<'a>, usize) {
        let sequence = match self.sequences.as_slice() {
            [only] => only,
            all => &all[all.partition_point(|one| one.before <= nth) - 1],
        };
        (&self.regions[sequence.region as usize], (sequence.first + (nth - sequence.before)) as usize)
    }

    #[inline]
    fn begin(&self, nth: u32) -> Ns {
        let (of, place) = self.iteration(nth);
        to_nanoseconds(of.series.begin_s[place])
    }
}

impl BalancedIterations<'_> {
    /// Returns begin and end of an iteration, or `None` if they are not known or nothing was computed in it.
    fn time(&self, place: usize) -> Option<TimeInterval> {
        let [begin, end] = [&self.series.begin_s, &self.series.end_s]
            .map(|times| times.get(place).copied().filter(|time| time.is_finite()).map(to_nanoseconds));
        let time = TimeInterval::new(begin?, end?);
        let computes = self.series.seconds_at(Activity::Computation, place) > 0.0;
        Some(time).filter(|time| computes && !time.is_empty())
    }

    fn factor(&self, place: usize) -> f64 {
        let own_s = self.series.seconds_at(Activity::Computation, place);
        let mean_s = self.means.all.get(&self.series.numbers[place]);
        mean_s.map_or(1.0, |mean_s| mean_s / own_s)
    }

    /// Returns the factors of computation in an iteration by region: the computation in each is brought to the mean there. Work of other ranks in
    /// regions in which this rank computes at most in passing is added where it computes, so that all work is done:
    ///
    /// ```text
    ///   rank 0    |==== A: 30 ====|== B: 10 ==|       A → 20, B → 10; the mean in all is 30
    ///   rank 1    |= A: 10 =|== B: 10 ==|             A → 20, B → 10
    /// ```
    fn part_factors(&self, place: usize) -> Option<PartFactors> {
        let number = self.series.numbers[place];
        let mean_s = *self.means.all.get(&number)?;
        let mut known_s = 0.0;
        // The rank's computation by the first region of a place of the program.
        let mut own_s: BTreeMap<RegionIdx, f64> = BTreeMap::new();
        for (region, column) in &self.series.parts {
            let part_s = column.get(place).map_or(0.0, |&part_s| f64::from(part_s));
            known_s += part_s;
            *own_s.entry(self.means.first_at_place(*region)).or_default() += part_s;
        }
        if known_s <= 0.0 {
            return None;
        }
        let rest_s = (self.series.seconds_at(Activity::Computation, place) - known_s).max(0.0);
        let mean_known_s: f64 = self.means.parts.keys().map(|&first| self.means.mean_s(first, number)).sum();
        let (mut in_passing_s, mut targets_s) = (0.0, 0.0);
        for (&first, &own_s) in &own_s {
            if is_work(own_s, mean_s) {
                targets_s += self.means.mean_s(first, number);
            } else {
                in_passing_s += own_s;
            }
        }
        let rest_target_s = if is_work(rest_s, mean_s) {
            (mean_s - mean_known_s).max(0.0)
        } else {
            in_passing_s += rest_s;
            0.0
        };
        let scale = (mean_s - in_passing_s) / (targets_s + rest_target_s);
        if !(scale.is_finite() && scale >= 0.0) {
            return None;
        }
        let parts = self.series.parts.iter().map(|(region, _)| {
            let first = self.means.first_at_place(*region);
            let own_s = own_s[&first];
            let target_s = scale * self.means.mean_s(first, number);
            (*region, if is_work(own_s, mean_s) { target_s / own_s } else { 1.0 })
        });
        Some(PartFactors {
            parts: parts.collect(),
            rest: if is_work(rest_s, mean_s) { scale * rest_target_s / rest_s } else { 1.0 },
        })
    }
}

/// Returns whether a rank computes more in a part of an iteration than in passing. Otherwise a part of the balanced work of `mean_s` would lie
/// where the rank has none.
fn is_work(own_s: f64, mean_s: f64) -> bool {
    own_s > MAX_COMPUTATION_OF_IDLE_RANK * mean_s
}

/// Rounds a time to nanoseconds, halves away from 0. Unlike [`f64::round`] it calls no function.
fn to_nanoseconds(seconds: f64) -> Ns {
    let ns = seconds * 1e9;
    let whole = ns as Ns;
    let rest = ns - whole as f64;
    whole.saturating_add(Ns::from(rest >= 0.5)).saturating_sub(Ns::from(rest <= -0.5))
}

/// Returns the number of passed items, which are the first of `n`, searching from `near` on.
fn count_passed(n: usize, near: usize, is_passed: impl Fn(usize) -> bool) -> usize {
    const NEAR: usize = 4;
    let near = near.min(n);
    let (mut from, mut to) = (near, n);
    if near > 0 && !is_passed(near - 1) {
        (from, to) = (0, near - 1);
    } else {
        for at in near..n.min(near + NEAR) {
            if !is_passed(at) {
                return at;
            }
            from = at + 1;
        }
    }
    while from < to {
        let middle = from + (to - from) / 2;
        if is_passed(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(iterations: &[(u32, f64, f64, f64)]) -> IterationSeries {
        let mut series = IterationSeries::default();
        for &(number, begin_s, end_s, computation_s) in iterations {
            series.numbers.push(number);
            series.begin_s.push(begin_s);
            series.end_s.push(end_s);
            series.seconds[Activity::Computation as usize].push(computation_s);
        }
        series
    }

    fn means(all: &[(u32, f64)]) -> Arc<IterationMeans> {
        Arc::new(IterationMeans { all: all.iter().copied().collect(), ..IterationMeans::default() })
    }

    /// Factor and end at a time in seconds, from wherever the search begins.
    fn at(pace: &ComputationPace, time_s: f64) -> (f64, f64) {
        let time = to_nanoseconds(time_s);
        let (factor, until, begun) = pace.factor_at(time, 0);
        for near in 0..9 {
            assert_eq!(pace.factor_at(time, near), (factor, until, begun), "{time_s} from {near}");
        }
        (factor, if until == Ns::MAX { f64::INFINITY } else { until as f64 / 1e9 })
    }

    #[test]
    fn each_iteration_takes_the_mean_and_other_time_what_is_said() {
        //   time   0    1    3    4    6     8
        //          | a  | 0  | a  | 1  |  2  | a
        let own = series(&[(0, 1.0, 3.0, 2.0), (1, 4.0, 6.0, 1.0), (2, 6.0, 8.0, 4.0)]);
        let pace = ComputationPace::new(
            vec![BalancedIterations { series: &own, means: means(&[(0, 3.0), (1, 3.0), (2, 3.0)]) }],
            7.0,
        );
        let expected = [(0.0, 7.0, 1.0), (1.0, 1.5, 3.0), (2.5, 1.5, 3.0), (3.0, 7.0, 4.0), (4.5, 3.0, 6.0)];
        let last = [(6.0, 0.75, 8.0), (8.0, 7.0, f64::INFINITY), (99.0, 7.0, f64::INFINITY)];
        for (time_s, factor, until_s) in expected.into_iter().chain(last) {
            assert_eq!(at(&pace, time_s), (factor, until_s), "{time_s}");
        }
        assert_eq!(pace.sequences.len(), 1);
    }

    #[test]
    fn iterations_of_several_regions_are_in_the_order_of_time() {
        // The first region is gone through again, with the numbers of the first time; one iteration has no end, one no computation.
        let one = series(&[(0, 10.0, 11.0, 1.0), (1, 11.0, 12.0, 1.0), (2, 2.0, 3.0, 1.0), (3, 4.0, f64::NAN, 1.0)]);
        let other = series(&[(5, 0.0, 1.0, 2.0), (6, 3.0, 4.0, 2.0), (7, 5.0, 6.0, 0.0), (8, 7.0, 8.0, 4.0)]);
        let one = BalancedIterations { series: &one, means: means(&[(0, 2.0), (1, 3.0), (2, 4.0), (3, 5.0)]) };
        let other = BalancedIterations { series: &other, means: means(&[(8, 2.0), (6, 8.0), (5, 4.0)]) };
        let pace = ComputationPace::new(vec![one, other], 1.0);
        let expected = [
            (0.0, 2.0, 1.0),
            (1.0, 1.0, 2.0),
            (2.0, 4.0, 3.0),
            (3.0, 4.0, 4.0),
            (4.0, 1.0, 7.0),
            (7.5, 0.5, 8.0),
            (8.0, 1.0, 10.0),
            (10.0, 2.0, 11.0),
            (11.0, 3.0, 12.0),
            (12.0, 1.0, f64::INFINITY),
        ];
        for (time_s, factor, until_s) in expected {
            assert_eq!(at(&pace, time_s), (factor, until_s), "{time_s}");
        }
        assert_eq!(at(&ComputationPace::default(), 3.0), (1.0, f64::INFINITY));
    }

    #[test]
    fn nanoseconds_are_rounded_as_numbers_are() {
        let near =
            (-20..20).map(|quarter| f64::from(quarter) / 4.0).chain([0.49999999999999994, 1e15 + 0.5, 1e18, -1e18]);
        for ns in near {
            let seconds = ns / 1e9;
            assert_eq!(to_nanoseconds(seconds), (seconds * 1e9).round() as Ns, "{ns}");
        }
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(to_nanoseconds), [0, Ns::MAX, Ns::MIN]);
    }
}
