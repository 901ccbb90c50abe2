//! Joins iterations of a loop in which only the first one computes: together they are one iteration of a loop around it.
//!
//! ```text
//!   calls        S S S S S S   S S S S S S   S …      a ring of exchanges after the work of each step: the same call, six times
//!   computes    ==|- - - - - ==|- - - - - ==|
//! ```
//!
//! A program may call one function again and again from two nested loops. The calls look the same in both. The code shows the two loops, and the
//! time between the calls shows how often the inner one goes around.

use std::num::NonZeroU32;

use crate::structure::iterations::patterns::found_loop::FoundLoop;
use crate::structure::iterations::window::CallInterval;
use lbprof_thresholds::loops::{MAX_COMPUTATION_WITHIN_BURST, MIN_ROUNDS};

/// Joins each burst of iterations of the main loop, in which only the first computes, to one iteration. `is_nested` says whether the code has at least
/// two nested loops around a call.
pub fn join_bursts(found: &mut [FoundLoop], calls: &[CallInterval], is_nested: impl FnOnce(u32) -> bool) {
    let Some(main) = found.iter_mut().find(|one| one.main) else { return };
    let (false, &[end], NonZeroU32::MIN) = (main.anchor.run, main.anchor.tokens.as_slice(), main.every) else {
        return;
    };
    let Some(length) = burst_length(&computation_by_iteration(calls, main, end)).filter(|_| is_nested(end)) else {
        return;
    };
    main.iterations /= length.get() as usize;
    (main.every, main.core) = (length, Vec::new());
}

/// Returns the ticks that each iteration of a loop computes, before its first call or between its calls. Each ends with `end`.
fn computation_by_iteration(calls: &[CallInterval], main: &FoundLoop, end: u32) -> Vec<u64> {
    let mut computed = Vec::new();
    let (mut sum, mut last_end) = (0_u64, None);
    for call in calls {
        if main.tokens.binary_search(&call.token).is_ok() {
            sum = call.begin.saturating_sub(last_end.unwrap_or(call.begin)).saturating_add(sum);
            if call.token == end {
                computed.push(std::mem::take(&mut sum));
            }
        }
        last_end = Some(call.end);
    }
    computed
}

/// Returns the number of iterations in each burst, by the computation of each iteration, or `None` if there are no bursts, or not all are alike. Work
/// before the first iteration belongs to a step, or comes before all steps.
fn burst_length(computed: &[u64]) -> Option<NonZeroU32> {
    let others = computed.get(1..)?;
    let sum: u128 = others.iter().map(|&ticks| u128::from(ticks)).sum();
    let mean = sum / (others.len() as u128).max(1);
    let starts: Vec<usize> = (1..computed.len()).filter(|&at| 2 * u128::from(computed[at]) > mean).collect();
    let &[first, second, ..] = starts.as_slice() else { return None };
    let length = second - first;
    let is_regular = starts.windows(2).all(|pair| pair[1] - pair[0] == length) && first <= length;
    let within: u128 = others.iter().map(|&ticks| u128::from(ticks)).filter(|&ticks| 2 * ticks <= mean).sum();
    let is_only_first = within as f64 <= MAX_COMPUTATION_WITHIN_BURST * sum as f64;
    let is_burst = length > 1 && is_regular && is_only_first && starts.len() >= MIN_ROUNDS;
    NonZeroU32::new(u32::try_from(length).ok()?).filter(|_| is_burst)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of one kind, each after some ticks of computation.
    fn calls(computed: &[u64]) -> Vec<CallInterval> {
        let mut now = 0;
        let call = |&ticks: &u64| {
            let begin = now + ticks;
            now = begin + 3;
            CallInterval { token: 1, begin, end: now, peer: 0, tag: 0 }
        };
        computed.iter().map(call).collect()
    }

    /// The number of iterations of a loop of these calls, and of calls in each.
    fn joined(computed: &[u64], is_nested: bool) -> (usize, u32) {
        let mut found = [FoundLoop::example(1, &[1], computed.len())];
        join_bursts(&mut found, &calls(computed), |_| is_nested);
        (found[0].iterations, found[0].every.get())
    }

    #[test]
    fn iterations_of_which_the_first_computes_are_one() {
        let steps = [900, 1, 2, 0, 1, 0].repeat(16);
        assert_eq!(joined(&steps, true), (16, 6));
        assert_eq!(joined(&steps, false), (96, 1), "the code has one loop");
        let after_exchange = [&[0, 1, 2, 0, 1, 0][..], &[700, 1, 2, 0, 1, 0].repeat(15)].concat();
        assert_eq!(joined(&after_exchange, true), (16, 6));
    }

    #[test]
    fn iterations_that_all_compute_or_in_no_rhythm_stay_apart() {
        assert_eq!(joined(&[900, 300, 300].repeat(16), true), (48, 1));
        assert_eq!(joined(&[900, 100, 0].repeat(16), true), (48, 1), "a tenth is computed within");
        let irregular: Vec<u64> = (0..96).map(|at| if at % 5 == 0 || at % 7 == 0 { 900 } else { 1 }).collect();
        assert_eq!(joined(&irregular, true), (96, 1));
        assert_eq!(joined(&[900, 1, 2].repeat(5), true), (15, 1), "too few to be no chance");
        assert_eq!(joined(&[900; 40], true), (40, 1));
        assert_eq!(joined(&[0; 40], true), (40, 1));
    }
}
