//! Sums CPU time by line of the source over ranks, exactly, so that the order of adding does not matter: several threads and processes join ranks.

use bincode::{Decode, Encode};

use crate::model::ranks::exact_sum;
use crate::model::ranks::samples::{CpuTime, CpuTimeOverRanks, HardwareCounters};

/// Seconds, and squares of them: every number from 2⁻²⁸ (4e−9) to 2⁴⁶ is exact.
type ExactSeconds = exact_sum::ExactSum<80>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub(super) struct LineTimes {
    ranks: u32,
    samples: u64,
    seconds: ExactSeconds,
    squares: ExactSeconds,
    instructions: u64,
    cycles: u64,
    counted: ExactSeconds,
    min_s: f64,
    max_s: f64,
    max_rank: u32,
}

impl LineTimes {
    pub(super) fn from_rank(rank: u32, time: &CpuTime) -> LineTimes {
        LineTimes {
            ranks: 1,
            samples: time.samples,
            seconds: ExactSeconds::from_f64(time.seconds),
            squares: ExactSeconds::from_f64(time.squares),
            instructions: time.counted.instructions,
            cycles: time.counted.cycles,
            counted: ExactSeconds::from_f64(time.counted.seconds),
            min_s: time.seconds,
            max_s: time.seconds,
            max_rank: rank,
        }
    }

    pub(super) fn add(&mut self, other: &LineTimes) {
        if self.ranks == 0 || other.ranks == 0 {
            *self = if self.ranks == 0 { *other } else { *self };
            return;
        }
        self.ranks += other.ranks;
        self.samples = self.samples.saturating_add(other.samples);
        self.seconds += other.seconds;
        self.squares += other.squares;
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.cycles = self.cycles.saturating_add(other.cycles);
        self.counted += other.counted;
        self.min_s = self.min_s.min(other.min_s);
        if other.max_s > self.max_s {
            (self.max_s, self.max_rank) = (other.max_s, other.max_rank);
        }
    }

    pub(super) fn finish(self) -> CpuTimeOverRanks {
        let LineTimes { ranks, samples, instructions, cycles, min_s, max_s, max_rank, .. } = self;
        let counted = HardwareCounters { instructions, cycles, seconds: self.counted.number() };
        let sum = CpuTime { samples, seconds: self.seconds.number(), squares: self.squares.number(), counted };
        CpuTimeOverRanks { ranks, sum, min_s, max_s, max_rank }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sum over ranks 0 and on, joined after the first `cut` of them.
    fn joined(seconds: &[f64], cut: usize) -> CpuTimeOverRanks {
        let of = |at: usize| {
            let counted = HardwareCounters { seconds: seconds[at] / 3.0, ..HardwareCounters::default() };
            LineTimes::from_rank(at as u32, &CpuTime { counted, ..CpuTime::sample(seconds[at]) })
        };
        let part = |from: usize, to: usize| {
            (from..to).map(of).fold(LineTimes::default(), |mut all, one| {
                all.add(&one);
                all
            })
        };
        let mut all = part(0, cut);
        all.add(&part(cut, seconds.len()));
        all.finish()
    }

    #[test]
    fn the_time_of_one_rank_stays_as_it_is() {
        let time = CpuTime::sample(0.003_217);
        assert_eq!(LineTimes::from_rank(5, &time).finish(), CpuTimeOverRanks::from_rank(5, &time));
    }

    proptest! {
        #[test]
        fn how_ranks_are_joined_does_not_matter(seconds in prop::collection::vec(1e-6..1e3_f64, 2..20), cut in 0..20_usize) {
            prop_assert_eq!(joined(&seconds, cut.min(seconds.len())), joined(&seconds, 0));
        }
    }
}
