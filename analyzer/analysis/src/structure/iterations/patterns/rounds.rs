//! Merges iterations of a loop that form a round: their messages go to different ranks, or have different tags, and recur in the same order.
//!
//! ```text
//!   call      S S S S S S S S S P S S S …       a function that sends along three axes, called in each step, and output now and then
//!   tag       0 1 2 0 1 2 0 1 2   0 1 2 …       three iterations of its loop are one call of the function
//! ```
//!
//! If a function is called repeatedly from one place, call paths do not show where a call of it ends, and output in every third step looks like
//! the end of three steps.

use std::num::NonZeroU32;

use crate::structure::iterations::patterns::found_loop::FoundLoop;
use crate::structure::iterations::window::CallInterval;
use lbprof_thresholds::loops::{MAX_ITERATIONS_OF_ROUND, MIN_ROUNDS};

/// Makes rounds of the inner loop the iterations of the main loop, if nothing but a rhythm makes this a loop.
pub fn take_rounds(found: &mut [FoundLoop], calls: &[CallInterval]) {
    let Some(main) = found.iter().position(|one| one.main && one.by_rhythm) else { return };
    let inner = (0..found.len()).filter(|&at| found[at].parent == Some(main)).max_by_key(|&at| found[at].time);
    let Some(inner) = inner.map(|at| found[at].clone()) else { return };
    let (false, &[end]) = (inner.anchor.run, inner.anchor.tokens.as_slice()) else { return };
    let by_tag = round_length(calls, &inner, end, |call| call.tag);
    let Some(every) = by_tag.or_else(|| round_length(calls, &inner, end, |call| call.peer)) else { return };
    let round = every.get() as usize;
    for one in found.iter_mut().filter(|one| one.parent == Some(main) && one.anchor == inner.anchor) {
        one.in_parent = Some((every.get(), every.get()));
    }
    let one = &mut found[main];
    (one.anchor, one.core, one.every) = (inner.anchor, Vec::new(), every);
    (one.iterations, one.by_rhythm) = (inner.iterations / round, false);
}

/// Returns the number of iterations of `inner`, which end with `end`, in a round, by the value of `of` for that call. Returns `None` if they make no
/// rounds, or not whole ones between other calls.
fn round_length(
    calls: &[CallInterval],
    inner: &FoundLoop,
    end: u32,
    of: impl Fn(&CallInterval) -> i32,
) -> Option<NonZeroU32> {
    let mut visits: Vec<Vec<i32>> = vec![Vec::new()];
    for call in calls {
        if call.token == end {
            visits.last_mut()?.push(of(call));
        } else if inner.tokens.binary_search(&call.token).is_err() && visits.last().is_some_and(|last| !last.is_empty())
        {
            visits.push(Vec::new());
        }
    }
    visits.retain(|visit| !visit.is_empty());
    // The window may cut off the first visit.
    let whole = visits.get(1..)?;
    let n: usize = whole.iter().map(Vec::len).sum();
    let first = whole.first()?;
    let round = (1..=MAX_ITERATIONS_OF_ROUND)
        .find(|&round| {
            let Some(order) = first.get(..round) else { return false };
            let are_whole = whole[..whole.len() - 1].iter().all(|visit| visit.len() % round == 0);
            n >= MIN_ROUNDS * round
                && are_whole
                && whole.iter().all(|visit| visit.iter().zip(order.iter().cycle()).all(|(one, other)| one == other))
        })
        .filter(|&round| round > 1)?;
    NonZeroU32::new(u32::try_from(round).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_loop(parent: Option<usize>, tokens: &[u32], iterations: usize) -> FoundLoop {
        let is_main = parent.is_none();
        let end = tokens[tokens.len() - 1];
        FoundLoop { parent, by_rhythm: is_main, main: is_main, ..FoundLoop::example(end, tokens, iterations) }
    }

    /// The number of iterations of the main loop and of ends in each, if call 1 has these tags and call 2 is made at each `-1`.
    fn rounds(tags: &[i32]) -> (usize, u32) {
        let call = |&tag: &i32| CallInterval { token: if tag < 0 { 2 } else { 1 }, begin: 0, end: 0, peer: 0, tag };
        let calls: Vec<CallInterval> = tags.iter().map(call).collect();
        let n = |token: u32| calls.iter().filter(|call| call.token == token).count();
        let mut found = [found_loop(None, &[1, 2], n(2)), found_loop(Some(0), &[1], n(1))];
        take_rounds(&mut found, &calls);
        (found[0].iterations, found[0].every.get())
    }

    #[test]
    fn tags_that_come_again_show_the_steps_between_two_outputs() {
        let steps = |n: usize| [[0, 1, 2].repeat(n), vec![-1]].concat();
        assert_eq!(rounds(&steps(7).repeat(5)), (35, 3));
        assert_eq!(rounds(&[steps(7).repeat(4), steps(2)].concat()), (30, 3), "the last ones are fewer");
    }

    #[test]
    fn messages_that_are_alike_or_end_within_a_round_show_none() {
        assert_eq!(rounds(&[vec![0; 21], vec![-1]].concat().repeat(5)), (5, 1));
        assert_eq!(rounds(&[[0, 1, 2].repeat(7), vec![0, -1]].concat().repeat(5)), (5, 1));
    }
}
