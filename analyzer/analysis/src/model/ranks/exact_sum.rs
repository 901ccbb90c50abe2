//! Sums of numbers that are the same in whatever order, and in whatever groups, they are added: threads and processes join what they have found.

use std::ops::AddAssign;

use bincode::{Decode, Encode};

/// A sum of numbers of either sign in units of 2^−`BITS`: each is rounded to whole units, and adding these is associative. It holds up to 2^(127 − `BITS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct ExactSum<const BITS: u32>(i128);

/// A sum of nanoseconds, to a millionth of one.
pub type ExactNs = ExactSum<20>;

impl<const BITS: u32> ExactSum<BITS> {
    const UNIT: f64 = 1.0 / (1_u128 << BITS) as f64;

    /// Creates the sum of a single number.
    pub fn from_f64(number: f64) -> Self {
        ExactSum((number / Self::UNIT).round() as i128)
    }

    /// The sum.
    pub fn number(self) -> f64 {
        self.0 as f64 * Self::UNIT
    }
}

impl<const BITS: u32> AddAssign for ExactSum<BITS> {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_do_not_matter(numbers in prop::collection::vec(-1e6_f64..1e6, 1..40), at in 0_usize..40) {
            let sum = |numbers: &[f64]| {
                let mut all = ExactNs::default();
                for &number in numbers.iter() { all += ExactNs::from_f64(number); }
                all
            };
            let (first, last) = numbers.split_at(at.min(numbers.len()));
            let mut joined = sum(last);
            joined += sum(first);
            prop_assert_eq!(joined, sum(&numbers));
            prop_assert!((joined.number() - numbers.iter().sum::<f64>()).abs() <= 1e-3);
        }
    }

    #[test]
    fn whole_nanoseconds_of_a_year_on_a_million_ranks_are_exact() {
        let year = (365 * 86_400_000_000_000_i64) as f64;
        let mut all = ExactNs::from_f64(year);
        for _ in 0..20 {
            all += all;
        }
        assert_eq!(all.number(), year * f64::from(1 << 20));
        let mut none = ExactNs::from_f64(0.1);
        none += ExactNs::from_f64(-0.1);
        assert_eq!(none, ExactNs::default());
    }
}
