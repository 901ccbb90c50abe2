//! Times by iteration.

use std::ops::AddAssign;

use bincode::{Decode, Encode};
use lbprof_collector::{Activity, CoreState};

use crate::model::RegionIdx;

/// Seconds by activity, at the index of the activity's number.
pub type Seconds = [f64; Activity::COUNT];

/// A rank's iterations of one iterated region, by columns; all columns but the absent ones are equally long.
///
/// In long runs on many ranks an entry is a block of 2^`joined` iterations, of which the rank may have passed fewer: its number is a multiple of that. It begins with the
/// first of them, ends with the last, and has the sums of their times.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct IterationSeries {
    /// Numbers of the iterations, ascending.
    pub numbers: Vec<u32>,
    /// Begin of each iteration, in seconds on the run's clock; NaN where it is not known.
    pub begin_s: Vec<f64>,
    /// End of each iteration; NaN where it is not known.
    pub end_s: Vec<f64>,
    /// Seconds in each activity, inner regions included, at the index of the activity's number; empty where the rank
    /// spends none.
    pub seconds: [Vec<f64>; Activity::COUNT],
    /// Numbers of the iterations with which the rank enters a loop that was found in its calls, ascending: what it computes before
    /// their first call is left outside of the loop, so that their computation is not known.
    pub entering: Vec<u32>,
    /// For an iterated region that lies in no other, seconds of computation in each iteration of the regions in it, inner ones excluded, where they are
    /// several, with at most [`IterationSeries::MAX_PARTS`] of them; columns as long as `numbers`.
    pub parts: Vec<(RegionIdx, Vec<f32>)>,
    /// Seconds of computation for which the rank's first thread was off its core, by state, as the kernel noted; columns as long as `numbers`.
    pub states: Vec<(CoreState, Vec<f32>)>,
    /// Binary logarithm of the iterations of a block; 0: an entry is an iteration.
    pub joined: u8,
    /// Number of iterations that each block has of the rank; empty where an entry is an iteration.
    pub counts: Vec<u32>,
}

impl IterationSeries {
    /// The largest number of regions that are kept by iteration: memory grows with them.
    pub const MAX_PARTS: usize = 8;

    /// Number of the rank's iterations.
    pub fn iterations(&self) -> usize {
        match self.joined {
            0 => self.numbers.len(),
            _ => self.counts.iter().map(|&count| count as usize).sum(),
        }
    }

    /// Number of iterations of the entry at this place.
    pub fn iterations_at(&self, at: usize) -> u32 {
        self.counts.get(at).copied().unwrap_or(1)
    }

    /// Joins the iterations in blocks of 2^`power`. Each step joins two neighbours, so that it does not matter in how many calls it is done.
    pub(crate) fn join(&mut self, power: u8) {
        if self.joined == 0 && power > 0 {
            self.counts = vec![1; self.numbers.len()];
        }
        while self.joined < power {
            self.joined += 1;
            self.join_neighbours();
        }
    }

    fn join_neighbours(&mut self) {
        let mut numbers: Vec<u32> = Vec::with_capacity(self.numbers.len());
        let mut places: Vec<usize> = Vec::with_capacity(self.numbers.len());
        for &number in &self.numbers {
            let first = first_of_block(number, self.joined);
            if numbers.last() != Some(&first) {
                numbers.push(first);
            }
            places.push(numbers.len() - 1);
        }
        numbers.shrink_to_fit();
        let n = numbers.len();
        self.numbers = numbers;
        let (mut begin_s, mut end_s) = (vec![f64::NAN; n], vec![f64::NAN; n]);
        for (&place, &time_s) in places.iter().zip(&self.begin_s).rev() {
            begin_s[place] = time_s;
        }
        for (&place, &time_s) in places.iter().zip(&self.end_s) {
            end_s[place] = time_s;
        }
        (self.begin_s, self.end_s) = (begin_s, end_s);
        for column in &mut self.seconds {
            *column = sums_by_place(column, &places, n);
        }
        for column in self.parts.iter_mut().map(|one| &mut one.1).chain(self.states.iter_mut().map(|one| &mut one.1)) {
            *column = sums_by_place(column, &places, n);
        }
        self.counts = sums_by_place(&self.counts, &places, n);
    }

    /// Returns whether the computation of the iteration, or block, with this number is known.
    pub fn has_computation(&self, number: u32) -> bool {
        let at = self.entering.partition_point(|&one| one < number);
        self.entering.get(at).is_none_or(|&one| first_of_block(one, self.joined) != number)
    }

    /// Adds the times in states to the iterations that they lie in. Each has its middle, in seconds on the run's clock, and its length; they
    /// come in the order of time, as iterations do.
    pub(crate) fn with_states(mut self, times: &[(f64, CoreState, f64)]) -> IterationSeries {
        let (mut at, n) = (0, self.numbers.len());
        for &(middle_s, state, seconds) in times {
            while self.begin_s.get(at + 1).is_some_and(|begin_s| begin_s.is_nan() || *begin_s <= middle_s) {
                at += 1;
            }
            let bounds = self.begin_s.get(at).zip(self.end_s.get(at));
            if bounds.is_none_or(|(begin_s, end_s)| begin_s.is_nan() || *begin_s > middle_s || *end_s < middle_s) {
                continue;
            }
            let column = self.states.iter().position(|(known, _)| *known == state).unwrap_or_else(|| {
                self.states.push((state, vec![0.0; n]));
                self.states.len() - 1
            });
            self.states[column].1[at] += seconds as f32;
        }
        self
    }

    /// Seconds in `activity` in the iteration at this place.
    pub fn seconds_at(&self, activity: Activity, at: usize) -> f64 {
        self.seconds[activity as usize].get(at).copied().unwrap_or(0.0)
    }

    pub(crate) fn slowest(&self, rank: u32) -> Vec<SlowestInIteration> {
        SlowestInIteration::from_rank(rank, &self.numbers, &self.seconds)
    }

    /// The iteration with this number, as if `rank` were the slowest in it; without any time where the rank has none.
    pub(crate) fn slowest_in(&self, rank: u32, number: u32) -> SlowestInIteration {
        let found = self.numbers.binary_search(&number);
        let seconds =
            found.map_or(Seconds::default(), |at| Activity::ALL.map(|activity| self.seconds_at(activity, at)));
        SlowestInIteration::from_seconds(rank, number, seconds)
    }
}

/// Returns the number of the block of 2^`power` iterations that the iteration with this number lies in.
pub(crate) fn first_of_block(number: u32, power: u8) -> u32 {
    number >> power << power
}

/// Adds up the values of a column at each of `n` places; an absent column stays absent.
fn sums_by_place<T: Copy + Default + AddAssign>(column: &[T], places: &[usize], n: usize) -> Vec<T> {
    let mut sums = if column.is_empty() { Vec::new() } else { vec![T::default(); n] };
    for (&place, &value) in places.iter().zip(column) {
        sums[place] += value;
    }
    sums
}

/// The rank that computes longest in an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct SlowestInIteration {
    /// Number of the iteration.
    pub iteration: u32,
    /// The rank; the lowest where several are equal.
    pub rank: u32,
    /// Seconds that it computes.
    pub computation_s: f64,
    /// Seconds that it spends in MPI in the iteration.
    pub mpi_s: f64,
}

impl SlowestInIteration {
    /// From the seconds by activity that `rank` spends in each of the iterations of these numbers; columns as in [`IterationSeries`].
    pub(crate) fn from_rank(
        rank: u32,
        numbers: &[u32],
        seconds: &[Vec<f64>; Activity::COUNT],
    ) -> Vec<SlowestInIteration> {
        let each = numbers.iter().enumerate().map(|(place, &iteration)| {
            let own = seconds.each_ref().map(|column| column.get(place).copied().unwrap_or(0.0));
            SlowestInIteration::from_seconds(rank, iteration, own)
        });
        each.collect()
    }

    fn from_seconds(rank: u32, iteration: u32, seconds: Seconds) -> SlowestInIteration {
        let computation_s = seconds[Activity::Computation as usize];
        let mpi_s = seconds.iter().sum::<f64>() - computation_s - seconds[Activity::Recorder as usize];
        SlowestInIteration { iteration, rank, computation_s, mpi_s }
    }

    /// For each iteration of either list, sorted by iteration, the slower; of equals the one of `lower`.
    pub(crate) fn slower_of(
        mut lower: Vec<SlowestInIteration>,
        higher: Vec<SlowestInIteration>,
    ) -> Vec<SlowestInIteration> {
        if lower.iter().map(|one| one.iteration).eq(higher.iter().map(|one| one.iteration)) {
            for (own, other) in lower.iter_mut().zip(higher) {
                if other.computation_s > own.computation_s {
                    *own = other;
                }
            }
            return lower;
        }
        lower.extend(higher);
        lower.sort_by_key(|one| one.iteration);
        lower.dedup_by(|next, kept| {
            let is_same = next.iteration == kept.iteration;
            if is_same && next.computation_s > kept.computation_s {
                *kept = *next;
            }
            is_same
        });
        lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iterations 1 to 6 and 9, of which iteration k lasts from k to k + 0.5 s and computes for k s.
    fn series() -> IterationSeries {
        let numbers = vec![1, 2, 3, 4, 5, 6, 9];
        let times: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
        let mut series = IterationSeries { numbers, ..IterationSeries::default() };
        series.end_s = times.iter().map(|time_s| time_s + 0.5).collect();
        series.seconds[Activity::Computation as usize].clone_from(&times);
        series.parts = vec![(3, times.iter().map(|&time_s| time_s as f32).collect())];
        series.begin_s = times;
        series
    }

    #[test]
    fn time_off_the_core_is_of_the_iteration_that_it_lies_in() {
        let (asleep, no_core) = (CoreState::Asleep, CoreState::NoCore);
        // Iteration 6 ends at 6.5 s, 9 begins at 9 s.
        let times =
            [(0.5, asleep, 8.0), (2.25, asleep, 1.0), (2.3, asleep, 2.0), (5.0, no_core, 3.0), (7.0, asleep, 4.0)];
        let series = series().with_states(&times);
        let expected =
            vec![(asleep, vec![0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0]), (no_core, vec![0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0])];
        assert_eq!(series.states, expected);
    }

    #[test]
    fn blocks_have_the_sums_of_their_iterations() {
        let mut blocks = series();
        blocks.join(2);
        assert_eq!((&blocks.numbers[..], &blocks.counts[..]), (&[0, 4, 8][..], &[3, 3, 1][..]));
        assert_eq!((&blocks.begin_s[..], &blocks.end_s[..]), (&[1.0, 4.0, 9.0][..], &[3.5, 6.5, 9.5][..]));
        assert_eq!(blocks.seconds[Activity::Computation as usize], [6.0, 15.0, 9.0]);
        assert_eq!(blocks.seconds[Activity::Collective as usize], [0.0; 0]);
        assert_eq!(blocks.parts, [(3, vec![6.0, 15.0, 9.0])]);
        assert_eq!((blocks.iterations(), series().iterations()), (7, 7));
    }

    #[test]
    fn joining_at_once_and_step_by_step_gives_the_same() {
        let mut at_once = series();
        at_once.seconds[Activity::Computation as usize].iter_mut().for_each(|seconds| *seconds /= 3.0);
        let mut by_steps = at_once.clone();
        at_once.join(3);
        for power in 1..=3 {
            by_steps.join(power);
        }
        assert_eq!(at_once, by_steps);
    }
}
