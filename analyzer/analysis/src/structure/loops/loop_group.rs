//! A group of ranks that have the same loops.

use super::anchors::{CallEvidence, is_more_frequent};
use super::calls::RankCalls;
use super::unassigned_ranks::{UnassignedRank, has_loop};
use crate::model::code::loops::{IterationCount, IterationEnds};
use crate::read::definitions::RankDefinitions;
use crate::structure::iterations::patterns::found_loop::FoundLoop;
use crate::structure::iterations::window::CallInterval;
use lbprof_thresholds::loops::{MAX_MISCOUNTED_ITERATIONS, MIN_ITERATIONS_OF_FINER_LOOP};

pub(in crate::structure) struct LoopGroup<'a> {
    pub(super) calls: RankCalls<'a>,
    pub(in crate::structure) ranks: Vec<u32>,
    pub(super) definitions: RankDefinitions,
    pub(super) iterations: u32,
    pub(super) ends: IterationEnds,
    pub(super) count: IterationCount,
    /// True if no other code of the program makes the calls that come once in each.
    pub(super) is_unique: bool,
    /// True if one of these calls is in `main`.
    pub(super) is_in_main: bool,
    /// Iterations of the loop detected in the calls, if the user named what ends an iteration.
    pub(super) detected: Option<u32>,
    pub(super) chosen: UnassignedRank<'a>,
    /// The loops, each after the one around it.
    pub(super) found: Vec<FoundLoop>,
    pub(super) main: usize,
    /// By loop, whether the code has another one around it whose iterations no call shows.
    pub(super) has_silent_loop_around: Vec<bool>,
    /// True if another loop may be a phase of the main one.
    pub(super) is_split: bool,
    /// Kinds of calls that the main loop makes in some iterations only.
    pub(super) occasional: Vec<u32>,
}

impl<'a> LoopGroup<'a> {
    /// Creates a group of `chosen` alone, whose iterations are not counted yet, or returns `None` if there is no main loop.
    pub(in crate::structure) fn new(
        calls: RankCalls<'a>,
        chosen: UnassignedRank<'a>,
        found: Vec<FoundLoop>,
    ) -> Option<Self> {
        let main = found.iter().position(|one| one.main)?;
        Some(LoopGroup {
            calls,
            ranks: Vec::new(),
            definitions: RankDefinitions::default(),
            iterations: 0,
            ends: IterationEnds::Found,
            count: IterationCount::default(),
            is_unique: false,
            is_in_main: false,
            detected: None,
            chosen,
            found,
            main,
            has_silent_loop_around: Vec::new(),
            is_split: false,
            occasional: Vec::new(),
        })
    }

    /// Counts the iterations of the main loop, and again if the calls of all ranks show their end better.
    pub(super) fn settle(&mut self, evidence: CallEvidence, window: &[CallInterval]) {
        self.count_iterations(evidence, window);
        let calls = self.calls;
        self.has_silent_loop_around =
            (0..self.found.len()).map(|at| calls.has_silent_loop_around(&self.found, at, window)).collect();
        self.is_split = calls.is_split(&self.found, self.main(), window);
        self.occasional = self.calls.occasional(self.main(), self.ends, window);
    }

    fn count_iterations(&mut self, evidence: CallEvidence, window: &[CallInterval]) {
        let calls = self.calls;
        self.iterations = self.counted(window);
        if self.ends == IterationEnds::Each {
            return;
        }
        if let Some(shared) =
            evidence.shared_end(self.main(), calls.rank, self.iterations, |token| calls.is_collective(token))
        {
            self.found[self.main].anchor = shared;
            self.iterations = self.counted(window);
        }
        let anchor = &self.main().anchor.tokens;
        let fuller = evidence.fuller_end(self.main(), calls.rank, self.iterations, |call, other| {
            is_at_most_once(call, |token| token == other || anchor.contains(&token), window)
        });
        if let Some(fuller) = fuller {
            self.found[self.main].anchor = fuller;
            self.iterations = self.counted(window);
        }
        self.is_unique =
            self.main().core.iter().all(|&token| evidence.is_unique(token)) && !self.main().core.is_empty();
        self.is_in_main = self.main().core.iter().any(|&token| evidence.is_in_main(token));
        let (known, certain) = evidence.count(self.main(), calls.rank, self.iterations);
        self.count = known;
        let (fewest, most) = (u64::from(self.iterations), self.most_frequent_calls(evidence));
        if known == IterationCount::default() && most > fewest {
            self.count.more = (most - fewest) as u32;
        }
        if let Some(anchor) = certain {
            (self.found[self.main].anchor, self.ends) = (anchor, IterationEnds::Each);
            self.iterations = self.counted(window);
        }
    }

    fn counted(&self, window: &[CallInterval]) -> u32 {
        self.calls.iterations(self.main(), self.ends, window)
    }

    /// Returns the largest number of calls of one kind, among the main loop's own kinds with more calls than it has iterations, but not half as
    /// many again; 0 if there is none. Some iterations may lack the call that ends the others.
    fn most_frequent_calls(&self, evidence: CallEvidence) -> u64 {
        let inner: Vec<&FoundLoop> = self.found.iter().filter(|one| one.parent == Some(self.main)).collect();
        let own = self.main().tokens.iter().filter(|token| {
            evidence.is_unique(**token)
                && !evidence.survey.is_partial_completion(**token)
                && !inner.iter().any(|one| one.tokens.binary_search(token).is_ok())
        });
        own.map(|&token| self.calls.rank.count(token))
            .filter(|&count| is_more_frequent(count, self.iterations) && 2 * count < 3 * u64::from(self.iterations))
            .max()
            .unwrap_or(0)
    }

    pub(super) fn main(&self) -> &FoundLoop {
        &self.found[self.main]
    }

    /// Returns whether a rank ends iterations with the same calls, equally often.
    pub(super) fn has_same_end(&self, one: UnassignedRank) -> bool {
        has_loop(one, self.chosen, &self.main().anchor)
    }

    /// Returns whether ranks of `other` end as many iterations in the same way, and make no other calls in them.
    pub(super) fn is_superset_of(&self, other: &LoopGroup) -> bool {
        let (own, others) = (self.main(), other.main());
        own.anchor == others.anchor
            && self.has_same_end(other.chosen)
            && others.tokens.iter().all(|token| own.tokens.binary_search(token).is_ok())
    }

    /// Returns whether each iteration of `other` has several of its iterations, and ends with a call that comes in some of them.
    pub(super) fn is_finer_than(&self, other: &LoopGroup) -> bool {
        let (own, others) = (self.main(), other.main());
        let has_end = others.anchor.tokens.iter().all(|token| own.tokens.binary_search(token).is_ok());
        has_end && own.anchor != others.anchor && self.iterations >= MIN_ITERATIONS_OF_FINER_LOOP * other.iterations
    }

    /// Returns its loops on another rank, with the calls in `window`, that ends iterations in the same way but makes other calls in them: the
    /// calls that only this rank makes between the ends of iterations belong to the iterations.
    pub(super) fn adopt(
        &self,
        calls: RankCalls<'a>,
        chosen: UnassignedRank<'a>,
        window: &[CallInterval],
    ) -> Option<LoopGroup<'a>> {
        let main = self.main();
        let mut ends = (0..window.len()).filter(|&at| main.anchor.tokens.contains(&window[at].token));
        let first = ends.next()?;
        let last = ends.next_back().unwrap_or(first);
        let mut own: Vec<u32> = window[first..=last].iter().map(|step| step.token).collect();
        own.retain(|&token| self.chosen.rank.count(token) == 0);
        let mut found = self.found.clone();
        let mut next = Some(self.main);
        while let Some(one) = next.and_then(|at| found.get_mut(at)) {
            one.tokens.extend_from_slice(&own);
            one.tokens.sort_unstable();
            one.tokens.dedup();
            next = one.parent;
        }
        LoopGroup::new(calls, chosen, found)
    }
}

/// Returns whether a call is made at most once between two calls for which `is_end` holds, but for a few.
fn is_at_most_once(call: u32, is_end: impl Fn(u32) -> bool, window: &[CallInterval]) -> bool {
    let (mut n, mut n_more) = (0, 0);
    for token in window.iter().map(|call| call.token) {
        n_more += u64::from(token == call && n > 0);
        n = if is_end(token) { 0 } else { n + u64::from(token == call) };
    }
    n_more <= MAX_MISCOUNTED_ITERATIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_an_inner_loop_comes_several_times_before_an_end() {
        // A solver's cycle, one to three times in each of 45 steps that end with `R`, or with `T`.
        let is_once = |steps: &[&str]| {
            let calls = steps.concat().repeat(9);
            let call = |token: u8| CallInterval { token: token.into(), begin: 0, end: 0, peer: 0, tag: 0 };
            let window: Vec<CallInterval> = calls.bytes().map(call).collect();
            is_at_most_once(b'c'.into(), |token| [u32::from(b'R'), u32::from(b'T')].contains(&token), &window)
        };
        assert!(is_once(&["cR", "cR", "cT", "cR", "cR"]));
        assert!(!is_once(&["cR", "cR", "cccR", "cR", "cT"]));
    }
}
