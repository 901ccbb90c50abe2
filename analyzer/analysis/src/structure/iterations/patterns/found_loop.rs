//! A detected loop: its tokens, its anchor and its iterations.

use std::num::NonZeroU32;

use crate::model::code::loops::IterationAnchors;

/// The call or calls that mark the end of each iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopAnchor {
    /// Tokens that end an iteration, ascending.
    pub tokens: Vec<u32>,
    /// True if an uninterrupted run of them ends one iteration, not each of them.
    pub run: bool,
}

impl LoopAnchor {
    /// Returns the anchor by which each call of a kind ends an iteration.
    pub fn single(token: u32) -> LoopAnchor {
        LoopAnchor { tokens: vec![token], run: false }
    }

    /// Returns whether a call ends an iteration. `is_in_run` says whether the call before it is an anchor, too: only the first call of
    /// a run counts.
    fn is_end(&self, token: u32, is_in_run: &mut bool) -> bool {
        let is_anchor = self.tokens.binary_search(&token).is_ok();
        let was_anchor = std::mem::replace(is_in_run, is_anchor);
        is_anchor && !(was_anchor && self.run)
    }
}

/// A loop of the program, as far as its calls show.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLoop {
    /// The loop around it, an index into the same list; `None` for an outermost loop.
    pub parent: Option<usize>,
    /// Tokens that occur inside, including inner loops; ascending.
    pub tokens: Vec<u32>,
    /// The end of an iteration.
    pub anchor: LoopAnchor,
    /// Tokens that occur exactly once in each iteration that the window shows as a whole; ascending.
    pub core: Vec<u32>,
    /// True if nothing but its rhythm makes it a loop around an inner one: calls in every fifth iteration, e.g. for output, look like a loop of
    /// five steps.
    pub by_rhythm: bool,
    /// Number of anchors per iteration.
    pub every: NonZeroU32,
    /// Number of iterations in the window, including iterations that it cuts off.
    pub iterations: usize,
    /// Minimum and maximum number of them in an iteration of the loop around it that the window shows as a whole, or `None` if there are fewer than
    /// two, or no loop is around it.
    pub in_parent: Option<(u32, u32)>,
    /// Ticks of the window that the loop covers.
    pub time: u64,
    /// True if this is the program's main loop. At most one is.
    pub main: bool,
}

impl FoundLoop {
    /// Returns the anchors that end an iteration.
    pub fn anchors(&self) -> IterationAnchors {
        IterationAnchors { run: self.anchor.run, every: self.every }
    }
}

#[cfg(test)]
impl FoundLoop {
    /// Returns a main loop for tests, whose calls come once in each iteration, one of them at its end.
    pub fn example(anchor: u32, tokens: &[u32], iterations: usize) -> FoundLoop {
        FoundLoop {
            parent: None,
            tokens: tokens.to_vec(),
            anchor: LoopAnchor::single(anchor),
            core: tokens.to_vec(),
            by_rhythm: false,
            every: NonZeroU32::MIN,
            iterations,
            in_parent: None,
            time: 1,
            main: true,
        }
    }
}

/// Returns the minimum and maximum number of iterations that end with `inner` in an iteration that ends with `outer`, in a sequence of tokens.
/// `is_whole` says whether the sequence starts with the first iteration. Returns `None` if there are not two whole ones.
pub fn count_within(
    tokens: impl Iterator<Item = u32>,
    is_whole: bool,
    inner: &LoopAnchor,
    outer: &LoopAnchor,
) -> Option<(u32, u32)> {
    let (mut is_in_inner, mut is_in_outer) = (false, false);
    let mut count = is_whole.then_some(0);
    let mut counts: Vec<u32> = Vec::new();
    for token in tokens {
        if inner.is_end(token, &mut is_in_inner) {
            count = count.map(|count: u32| count + 1);
        }
        if outer.is_end(token, &mut is_in_outer) {
            counts.extend(count.replace(0));
        }
    }
    // If the call that marks an iteration is not its last one, the calls after the last mark complete the calls before the first.
    if let Some((first, count)) = counts.first_mut().zip(count).filter(|_| is_whole) {
        *first += count;
    }
    let range = counts.iter().min().copied().zip(counts.iter().max().copied());
    range.filter(|_| counts.len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_in_each_one_around_them() {
        let count_in = |calls: &str, is_whole, inner: &LoopAnchor, outer: &LoopAnchor| {
            count_within(calls.bytes().map(u32::from), is_whole, inner, outer)
        };
        let anchor = |calls: &str, run| LoopAnchor { tokens: calls.bytes().map(u32::from).collect(), run };
        let (b, y) = (anchor("b", false), anchor("Y", false));
        assert_eq!(count_in("abYababYabYabababYab", false, &b, &y), Some((1, 3)));
        assert_eq!(count_in("YbbYYbY", false, &b, &y), Some((0, 2)), "one has none");
        assert_eq!(count_in("YababY", false, &b, &y), None, "of one nothing is known");
        assert_eq!(count_in("SabababYababYab", false, &b, &y), None, "the first may be cut off");
        assert_eq!(count_in("SabababYababYE", true, &b, &y), Some((2, 3)), "the run has all of it");
        assert_eq!(count_in("SYabYababYab", true, &b, &y), Some((1, 2)), "iterations begin with the call");
        assert_eq!(count_in("XYYabXYabababXYYab", false, &b, &anchor("XY", true)), Some((1, 3)), "by runs");
    }
}
