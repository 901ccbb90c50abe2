//! Compares the bytes that iterations carry, to distinguish iterations from calls of one function that a program calls from several places.
//!
//! A program that communicates through its own functions has the same call sites wherever it calls them, so that a detected loop may be such
//! a function. The sizes of its messages reveal that:
//!
//! ```text
//!   a step of a simulation   1000 B | 1010 B | 1000 B | 990 B | 1000 B …     about the same amount in each
//!   a multigrid's exchange   4000 B | 1000 B | 250 B | 64 B | 250 B …        another amount on each level
//! ```

use crate::model::code::loops::CarriedCalls;
use crate::structure::iterations::numbering::number::IterationNumbering;
use crate::structure::iterations::numbering::split::IterationInterval;
use lbprof_thresholds::loops::MAX_FACTOR_OF_MEDIAN_BYTES;

/// Sums up the bytes carried by the iterations of a rank's `intervals`, which `numbering` numbers.
pub fn carried_bytes(intervals: &[IterationInterval], numbering: &IterationNumbering) -> CarriedCalls {
    let mut carried = CarriedCalls::default();
    let mut amounts = vec![0_u64; numbering.count as usize];
    for (at, interval) in intervals.iter().enumerate() {
        let amount = numbering.iteration(at).and_then(|iteration| amounts.get_mut(iteration as usize));
        let Some(amount) = amount else { continue };
        *amount = amount.saturating_add(interval.bytes);
        carried.bytes = carried.bytes.saturating_add(interval.bytes);
        carried.calls += u64::from(interval.calls);
        carried.foreign += if interval.inside { 0 } else { u64::from(interval.calls) };
    }
    carried.alike = count_alike(&mut amounts);
    carried
}

fn count_alike(amounts: &mut [u64]) -> u32 {
    if amounts.is_empty() {
        return 0;
    }
    let middle = amounts.len() / 2;
    let (_, &mut middle, _) = amounts.select_nth_unstable(middle);
    amounts
        .iter()
        .filter(|amount| {
            amount.saturating_mul(MAX_FACTOR_OF_MEDIAN_BYTES) >= middle
                && **amount <= middle.saturating_mul(MAX_FACTOR_OF_MEDIAN_BYTES)
        })
        .count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::code::loops::{IterationAnchors, IterationEnds, TokenClass};
    use crate::structure::iterations::numbering::number::number_iterations;
    use crate::structure::iterations::numbering::split::CallSplitter;

    /// Returns the bytes carried by the iterations of `F R`: a call `F` with each of these numbers of bytes, an `R` without bytes, and a foreign call
    /// between them if `foreign` says so.
    fn of(amounts: &[u64], foreign: impl Fn(usize) -> bool) -> CarriedCalls {
        let mut splitter = CallSplitter::new(
            vec![TokenClass::Inside, TokenClass::Anchor, TokenClass::Foreign],
            IterationAnchors::default(),
        );
        let mut call = |token, bytes| {
            splitter.next(token, 0, 0);
            splitter.carry(bytes);
        };
        for (at, &bytes) in amounts.iter().enumerate() {
            call(0, bytes);
            if foreign(at) {
                call(2, 5);
            }
            call(1, 0);
        }
        let intervals = splitter.finish();
        carried_bytes(&intervals, &number_iterations(&intervals, IterationEnds::Found))
    }

    #[test]
    fn steps_that_carry_about_as_much_are_alike() {
        let steps = of(&[1000, 500, 2000, 1100, 990, 1000], |_| false);
        assert_eq!(steps, CarriedCalls { alike: 6, calls: 12, foreign: 0, bytes: 6590 });
        assert_eq!(of(&[0, 0, 0], |_| false).alike, 3);
        assert_eq!(carried_bytes(&[], &IterationNumbering::default()), CarriedCalls::default());
    }

    #[test]
    fn levels_of_a_hierarchy_carry_amounts_that_differ() {
        let levels = [4096, 1024, 256, 64, 256, 1024].repeat(5);
        // The middle one is 1024, and a third carries as much.
        assert_eq!(of(&levels, |_| false).alike, 10);
    }

    #[test]
    fn a_step_that_carries_more_now_and_then_is_not_like_the_others() {
        let steps: Vec<u64> = (0..20).map(|step| if step % 10 == 0 { 2001 } else { 1000 }).collect();
        assert_eq!(of(&steps, |_| false).alike, 18);
    }

    #[test]
    fn calls_that_are_not_the_loops_count_and_carry_too() {
        let steps = of(&[10; 8], |at| at == 3);
        assert_eq!((steps.calls, steps.foreign, steps.bytes), (17, 1, 85));
    }
}
