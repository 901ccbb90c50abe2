//! Times by iteration.

use bincode::{Decode, Encode};
use lbprof_collector::Activity;

use super::RegionIdx;

/// A rank's iterations of one iterated region, by columns; all columns but the absent ones are equally long.
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
    /// Of an iterated region that lies in no other: seconds of computation in each iteration of the regions in it, inner ones excluded, where they are
    /// several, with at most [`IterationSeries::MAX_PARTS`] of them; columns as long as `numbers`.
    pub parts: Vec<(RegionIdx, Vec<f32>)>,
}

impl IterationSeries {
    /// The largest number of regions that are kept by iteration: memory grows with them.
    pub const MAX_PARTS: usize = 8;

    /// Returns whether the computation of the iteration with this number is known.
    pub fn has_computation(&self, number: u32) -> bool {
        self.entering.binary_search(&number).is_err()
    }

    /// Seconds in `activity` in the iteration at this place.
    pub fn seconds_at(&self, activity: Activity, at: usize) -> f64 {
        self.seconds[activity as usize].get(at).copied().unwrap_or(0.0)
    }

    /// Each iteration, as if `rank` were the slowest in it.
    pub(crate) fn slowest(&self, rank: u32) -> Vec<SlowestInIteration> {
        SlowestInIteration::from_rank(rank, &self.numbers, &self.seconds)
    }

    /// The iteration with this number, as if `rank` were the slowest in it; without any time where the rank has none.
    pub(crate) fn slowest_in(&self, rank: u32, number: u32) -> SlowestInIteration {
        let at = self.numbers.partition_point(|&one| one < number);
        let is_there = self.numbers.get(at) == Some(&number);
        let own = Activity::ALL.map(|activity| if is_there { vec![self.seconds_at(activity, at)] } else { Vec::new() });
        let one = SlowestInIteration::from_rank(rank, &[number], &own).pop();
        one.unwrap_or_default()
    }
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
    /// Seconds that it spends in point-to-point communication in the iteration.
    pub point_to_point_s: f64,
    /// Seconds that it spends in MPI in the iteration, point-to-point communication included.
    pub mpi_s: f64,
}

impl SlowestInIteration {
    /// From the seconds by activity that `rank` spends in each of the iterations of these numbers; columns as those of [`IterationSeries`].
    pub(crate) fn from_rank(
        rank: u32,
        numbers: &[u32],
        seconds: &[Vec<f64>; Activity::COUNT],
    ) -> Vec<SlowestInIteration> {
        let mut all_s = vec![0.0; numbers.len()];
        for column in seconds {
            for (sum, seconds) in all_s.iter_mut().zip(column) {
                *sum += seconds;
            }
        }
        let mut slowest = Vec::with_capacity(numbers.len());
        for (place, (&iteration, all_s)) in numbers.iter().zip(all_s).enumerate() {
            let [computation_s, point_to_point_s, recorder_s] =
                [Activity::Computation, Activity::PointToPoint, Activity::Recorder]
                    .map(|activity| seconds[activity as usize].get(place).copied().unwrap_or(0.0));
            let mpi_s = all_s - computation_s - recorder_s;
            slowest.push(SlowestInIteration { iteration, rank, computation_s, point_to_point_s, mpi_s });
        }
        slowest
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
        let mut all = Vec::with_capacity(lower.len().max(higher.len()));
        let (mut lower, mut higher) = (lower.into_iter().peekable(), higher.into_iter().peekable());
        loop {
            let order = match (lower.peek(), higher.peek()) {
                (Some(a), Some(b)) => a.iteration.cmp(&b.iteration),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return all,
            };
            let one = match order {
                std::cmp::Ordering::Less => lower.next(),
                std::cmp::Ordering::Greater => higher.next(),
                std::cmp::Ordering::Equal => {
                    lower.next().zip(higher.next()).map(|(a, b)| if b.computation_s > a.computation_s { b } else { a })
                }
            };
            all.extend(one);
        }
    }
}
