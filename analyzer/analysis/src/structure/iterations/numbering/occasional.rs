//! Finds calls that a loop makes in some iterations only: they occur between its iterations, and nowhere else.
//!
//! ```text
//!   calls       S F R F R X F R F R X F R X E       X follows every second R: it belongs to the loop, with the computation before it
//!   iteration   – 0   1   2     3   4
//! ```
//!
//! One more of them may follow the last iteration.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::code::loops::{IterationAnchors, IterationEnds, TokenClass};
use crate::structure::iterations::numbering::number::number_iterations;
use crate::structure::iterations::numbering::split::CallSplitter;
use crate::structure::iterations::window::CallInterval;

/// Returns the tokens of foreign calls that only come within the iterations of a loop, ascending.
pub fn occasional_tokens(
    calls: &[CallInterval],
    classes: &[TokenClass],
    anchors: IterationAnchors,
    ends: IterationEnds,
) -> Vec<u32> {
    let mut splitter = CallSplitter::new(classes.to_vec(), anchors);
    let intervals: Vec<u32> = calls.iter().map(|call| splitter.next(call.token, call.begin, call.end)).collect();
    let numbering = number_iterations(&splitter.finish(), ends);
    let is_in_iteration: Vec<bool> =
        intervals.iter().map(|interval| numbering.iteration(*interval as usize).is_some()).collect();
    let Some(last) = is_in_iteration.iter().rposition(|inside| *inside) else { return Vec::new() };
    let mut within: FxHashSet<u32> = FxHashSet::default();
    let mut elsewhere: FxHashSet<u32> = FxHashSet::default();
    let mut after: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, (call, is_in_iteration)) in calls.iter().zip(is_in_iteration).enumerate() {
        if classes.get(call.token as usize).is_some_and(|class| *class != TokenClass::Foreign) {
            continue;
        }
        match is_in_iteration {
            true => _ = within.insert(call.token),
            false if at < last => _ = elsewhere.insert(call.token),
            false => *after.entry(call.token).or_default() += 1,
        }
    }
    within.retain(|token| !elsewhere.contains(token) && after.get(token).is_none_or(|&n| n <= 1));
    let mut tokens: Vec<u32> = within.into_iter().collect();
    tokens.sort_unstable();
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The occasional calls, if F and R belong to the loop and R ends an iteration.
    fn occasional(calls: &str) -> String {
        let mut classes = vec![TokenClass::Foreign; 128];
        classes[b'F' as usize] = TokenClass::Inside;
        classes[b'R' as usize] = TokenClass::Anchor;
        let calls: Vec<CallInterval> =
            calls.bytes().map(|call| CallInterval { token: call.into(), begin: 0, end: 0, peer: 0, tag: 0 }).collect();
        let tokens = occasional_tokens(&calls, &classes, IterationAnchors::default(), IterationEnds::Found);
        tokens.into_iter().filter_map(char::from_u32).collect()
    }

    #[test]
    fn calls_between_iterations_alone_are_the_loops() {
        assert_eq!(occasional("SFRFRXFRFRXFRFRXE"), "X");
        assert_eq!(occasional("SFRFRXYFRFRE"), "XY");
    }

    #[test]
    fn calls_that_also_come_elsewhere_are_not() {
        assert_eq!(occasional("XFRFRXFRFRXFRFR"), "");
        assert_eq!(occasional("SFRFRXFRFRXXE"), "");
        assert_eq!(occasional("SXE"), "");
    }
}
