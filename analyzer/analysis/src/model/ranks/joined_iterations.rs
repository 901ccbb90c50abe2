//! Sums over ranks by iteration, where the iterations of single ranks are joined in blocks.

use bincode::{Decode, Encode};
use lbprof_collector::Activity;

use super::exact_sum::ExactNs;
use super::series::IterationSeries;

/// The iterations of a region that single ranks have in blocks alone.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct JoinedIterations {
    /// Binary logarithm of the iterations of a block.
    pub power: u8,
    pub sums: Vec<IterationSum>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct IterationSum {
    pub number: u32,
    /// Number of ranks of which its begin and end are known.
    pub ranks: u32,
    pub computation: ExactNs,
}

impl JoinedIterations {
    pub fn per_block(&self) -> u64 {
        1 << self.power
    }

    /// The iteration with this number; nothing where no rank has it.
    pub fn sum(&self, number: u32) -> IterationSum {
        let found = self.sums.binary_search_by_key(&number, |one| one.number);
        found.map_or_else(|_| IterationSum { number, ..IterationSum::default() }, |at| self.sums[at])
    }

    /// Joins a rank's iterations in such blocks, and adds them to the sums if they are single ones yet.
    pub(crate) fn join(&mut self, series: &mut IterationSeries) {
        if series.joined == 0 {
            self.add(&iteration_sums(series));
        }
        series.join(self.power);
    }

    pub(crate) fn add(&mut self, others: &[IterationSum]) {
        self.sums.extend_from_slice(others);
        self.sums.sort_by_key(|one| one.number);
        self.sums.dedup_by(|next, kept| {
            let is_same = next.number == kept.number;
            if is_same {
                kept.ranks += next.ranks;
                kept.computation += next.computation;
            }
            is_same
        });
    }
}

fn iteration_sums(series: &IterationSeries) -> Vec<IterationSum> {
    let times = series.begin_s.iter().zip(&series.end_s);
    let each = series.numbers.iter().zip(times).enumerate().map(|(at, (&number, (begin_s, end_s)))| IterationSum {
        number,
        ranks: u32::from(!begin_s.is_nan() && !end_s.is_nan()),
        computation: ExactNs::from_f64(series.seconds_at(Activity::Computation, at) * 1e9),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(numbers: &[u32], seconds: f64) -> IterationSeries {
        let mut series = IterationSeries { numbers: numbers.to_vec(), ..IterationSeries::default() };
        (series.begin_s, series.end_s) = (vec![0.0; numbers.len()], vec![1.0; numbers.len()]);
        series.seconds[Activity::Computation as usize] = vec![seconds; numbers.len()];
        series
    }

    #[test]
    fn sums_by_iteration_stay_when_ranks_are_joined() {
        let mut joined = JoinedIterations { power: 1, sums: Vec::new() };
        let (mut one, mut other) = (series(&[0, 1, 2], 0.5), series(&[2, 3, 7], 0.25));
        other.end_s[2] = f64::NAN;
        for series in [&mut one, &mut other] {
            joined.join(series);
        }
        let found: Vec<(u32, u32, f64)> =
            joined.sums.iter().map(|one| (one.number, one.ranks, one.computation.number() * 1e-9)).collect();
        assert_eq!(found, [(0, 1, 0.5), (1, 1, 0.5), (2, 2, 0.75), (3, 1, 0.25), (7, 0, 0.25)]);
        // Joined again, they are not added again.
        joined.power = 2;
        joined.join(&mut one);
        assert_eq!((one.numbers, joined.sum(1).ranks, joined.sum(5).ranks), (vec![0], 1, 0));
    }
}
