//! Selects the call that ends the iterations of a detected loop, and judges how well their number is known: from how often all ranks make
//! the calls that come once in each iteration.
//!
//! The calls of one rank leave both open. Ranks that make different calls in an iteration share only some of the calls that come once in each, and only
//! a shared call ends the iterations of all. If a program runs the body of its loop once more to warm up, or leaves a call out of its first or last
//! step, the calls look the same:
//!
//! ```text
//!   R F R F R F R      a norm R before the loop, then three steps; or four steps, of which the first exchanges nothing
//!   F R F R F R        three steps; or one to warm up, and two
//! ```
//!
//! A call in `main` decides: `main` runs once, so that its loop makes each of these calls. A call with a known whole path is nearly as good: no other code
//! of the program makes it. If all such calls are made equally often, this is the number of iterations. Otherwise some are left out of an iteration, or
//! made again in one.

use super::unassigned_ranks::UnassignedRank;
use crate::model::code::loops::{IterationCount, IterationEnds};
use crate::structure::code::call_tree::CallTree;
use crate::structure::iterations::patterns::found_loop::{FoundLoop, LoopAnchor};
use crate::structure::survey::{CallSurvey, RankSurvey};
use lbprof_thresholds::loops::MAX_MISCOUNTED_ITERATIONS;

#[derive(Clone, Copy)]
pub(super) struct CallEvidence<'a> {
    pub survey: &'a CallSurvey,
    pub in_main: &'a [bool],
    pub calls: &'a CallTree,
}

impl CallEvidence<'_> {
    pub fn is_in_main(&self, token: u32) -> bool {
        self.survey.site_of(token).is_some_and(|site| self.in_main.get(site as usize).copied().unwrap_or(false))
    }

    /// Returns whether no other code of the program makes this call.
    pub fn is_unique(&self, token: u32) -> bool {
        self.is_in_main(token) || self.survey.site_of(token).is_some_and(|site| self.calls.is_whole(site))
    }

    fn ranks_with(&self, token: u32, rank: &RankSurvey) -> usize {
        let count = rank.count(token);
        self.survey.ranks.iter().filter(|rank| rank.count(token).abs_diff(count) <= (count / 50).max(1)).count()
    }

    /// Returns a call that `rank` makes once in each of its `iterations`, and that ends the iterations of more ranks than the anchor of `main`, if there
    /// is one.
    pub fn shared_end(
        &self,
        main: &FoundLoop,
        rank: &RankSurvey,
        iterations: u32,
        is_collective: impl Fn(u32) -> bool,
    ) -> Option<LoopAnchor> {
        let own = match (main.anchor.run, main.anchor.tokens.as_slice()) {
            (false, &[token]) => self.ranks_with(token, rank),
            // The number of such calls in an iteration may differ between ranks.
            _ => 1,
        };
        let once = main
            .core
            .iter()
            .filter(|token| rank.count(**token).abs_diff(u64::from(iterations)) <= MAX_MISCOUNTED_ITERATIONS);
        let ranked = once.map(|&token| {
            let n_ranks = self.ranks_with(token, rank);
            (n_ranks, is_collective(token), self.is_in_main(token), rank.count(token), token)
        });
        let (n_ranks, .., best) = ranked.max()?;
        (n_ranks > own).then(|| LoopAnchor::single(best))
    }

    /// Returns a call that also ends iterations without the anchor: no other code makes it, and it is as frequent as the `iterations` and another call
    /// together, which replaces their anchor. `is_once(call, other)` says whether an anchor or the other call comes between any two of the calls.
    pub fn fuller_end(
        &self,
        main: &FoundLoop,
        rank: &RankSurvey,
        iterations: u32,
        is_once: impl Fn(u32, u32) -> bool,
    ) -> Option<LoopAnchor> {
        let counts: Vec<(u64, u32)> = main.tokens.iter().map(|&token| (rank.count(token), token)).collect();
        let fuller = counts.iter().filter(|&&(count, token)| {
            let mut others = counts.iter().filter(|&&(other, _)| other > 0);
            is_more_frequent(count, iterations)
                && self.is_unique(token)
                && !self.survey.is_partial_completion(token)
                && others.any(|&(n, other)| {
                    (n + u64::from(iterations)).abs_diff(count) <= MAX_MISCOUNTED_ITERATIONS && is_once(token, other)
                })
        });
        let &(_, token) = fuller.max()?;
        Some(LoopAnchor::single(token))
    }

    /// Judges the number of iterations counted on `rank`, and returns the anchor that makes it certain, if any.
    pub fn count(&self, main: &FoundLoop, rank: &RankSurvey, iterations: u32) -> (IterationCount, Option<LoopAnchor>) {
        let counts = main.core.iter().map(|&token| (token, rank.count(token)));
        let near: Vec<(u32, u64)> =
            counts.filter(|&(_, count)| count.abs_diff(u64::from(iterations)) <= MAX_MISCOUNTED_ITERATIONS).collect();
        let most = near.iter().map(|&(_, count)| count).max().unwrap_or(u64::from(iterations));
        let mut most_frequent = near.iter().filter(|&&(_, count)| count == most).map(|&(token, _)| token);
        let is_exact = most == u64::from(iterations);
        let lacks_none = !main.core.iter().any(|&token| is_more_frequent(rank.count(token), iterations));
        if let Some(token) = most_frequent.clone().find(|&token| lacks_none && self.is_in_main(token)) {
            return (IterationCount::default(), (!is_exact).then(|| LoopAnchor::single(token)));
        }
        let least = near.iter().map(|&(_, count)| count).min().unwrap_or(u64::from(iterations));
        let are_unique = lacks_none && near.iter().all(|&(token, _)| self.is_unique(token));
        if let Some(token) = most_frequent.find(|&token| are_unique && self.is_unique(token)) {
            let count = IterationCount { fewer: (most - least) as u32, more: 0 };
            return (count, (!is_exact).then(|| LoopAnchor::single(token)));
        }
        let below = u64::from(iterations).saturating_sub(least) as u32;
        let above = most.saturating_sub(u64::from(iterations)) as u32;
        // If all calls are equally frequent, one of them may be a warm-up.
        let fewer = if above == 0 { below.max(1) } else { below };
        (IterationCount { fewer: fewer.min(iterations), more: above }, None)
    }
}

/// Returns whether a call comes more than once per iteration, but less than twice. A few more calls, which may come beside the loop, do not count.
pub(super) fn is_more_frequent(count: u64, iterations: u32) -> bool {
    let iterations = u64::from(iterations);
    iterations + MAX_MISCOUNTED_ITERATIONS < count && count < 2 * iterations
}

/// Returns the ends of iterations that groups of ranks share: if all of them make the call that ends iterations equally often, each of these calls ends
/// one.
pub(super) fn common_ends(
    one: (UnassignedRank, u32),
    other: (UnassignedRank, u32),
    anchor: &LoopAnchor,
) -> Option<(IterationEnds, u32)> {
    let [(own, own_iterations), (others, other_iterations)] =
        [one, other].map(|(rank, iterations)| (rank.rank.count_all(&anchor.tokens), u64::from(iterations)));
    let is_near = own.abs_diff(own_iterations).max(own.abs_diff(other_iterations)) <= MAX_MISCOUNTED_ITERATIONS;
    (!anchor.run && own == others && is_near).then_some((IterationEnds::Each, own as u32))
}

#[cfg(test)]
mod tests {
    use lbprof_collector::Operation;

    use super::*;
    use crate::structure::survey::CallToken;

    /// A survey of ranks with these numbers of calls 0, 1, 2 …; call `n` is at call site `n`.
    fn survey(ranks: &[&[u64]]) -> CallSurvey {
        CallSurvey {
            tokens: (0..4).map(|site| CallToken { site: Some(site), operation: 0, comm: 0 }).collect(),
            ranks: (0..)
                .zip(ranks)
                .map(|(rank, counts)| RankSurvey {
                    rank,
                    counts: (0..).zip(counts.iter().copied()).collect(),
                    ..RankSurvey::default()
                })
                .collect(),
            ..CallSurvey::default()
        }
    }

    fn found(core: &[u32]) -> FoundLoop {
        FoundLoop::example(1, core, 50)
    }

    /// The count of a loop of calls 0 and 1, with these numbers of calls on rank 0, and call 0 in `main` or not.
    fn count(counts: &[u64], in_main: bool, iterations: u32) -> (IterationCount, Option<u32>) {
        let survey = survey(&[counts]);
        let evidence =
            CallEvidence { survey: &survey, in_main: &[in_main, false, false, false], calls: &CallTree::default() };
        let (count, anchor) = evidence.count(&found(&[0, 1]), &survey.ranks[0], iterations);
        (count, anchor.map(|anchor| anchor.tokens[0]))
    }

    #[test]
    fn a_warm_up_cannot_be_distinguished_from_a_step() {
        assert_eq!(count(&[50, 50], false, 50), (IterationCount { fewer: 1, more: 0 }, None));
    }

    #[test]
    fn a_call_beside_the_loop_or_missing_in_it_leaves_two_numbers() {
        let one_more = (IterationCount { fewer: 0, more: 1 }, None);
        assert_eq!(count(&[50, 49], false, 49), one_more, "a first step without its end");
        assert_eq!(count(&[50, 51], false, 50), one_more, "a norm before the loop");
        assert_eq!(count(&[51, 51], false, 50), one_more, "the body, apart from the loop");
        let one_fewer = (IterationCount { fewer: 1, more: 0 }, None);
        assert_eq!(count(&[50, 90], false, 50), one_fewer, "a function used elsewhere");
    }

    #[test]
    fn iterations_may_lack_the_call_that_ends_most() {
        let survey = survey(&[&[501, 450, 51]]);
        let end = |in_main: &[bool]| {
            let evidence = CallEvidence { survey: &survey, in_main, calls: &CallTree::default() };
            evidence.fuller_end(&found(&[0, 1, 2]), &survey.ranks[0], 450, |_, _| true).map(|anchor| anchor.tokens)
        };
        assert_eq!(end(&[true, true, true]), Some(vec![0]));
        assert_eq!(end(&[false, true, true]), None, "others may make the call");
        assert_eq!(count(&[501, 450], true, 450).0, IterationCount { fewer: 1, more: 0 }, "so that nothing is certain");
    }

    #[test]
    fn a_call_that_completes_some_requests_ends_no_iteration_however_often_it_is_made() {
        // 16 steps of MPI_Irecv, MPI_Isend and once or twice MPI_Waitsome.
        let mut survey = survey(&[&[31, 16, 16]]);
        let end = |survey: &CallSurvey| {
            let evidence = CallEvidence { survey, in_main: &[true; 3], calls: &CallTree::default() };
            evidence.fuller_end(&found(&[0, 1, 2]), &survey.ranks[0], 16, |_, _| true).map(|anchor| anchor.tokens)
        };
        assert_eq!(end(&survey), Some(vec![0]), "another call may come in place of the end");
        survey.tokens[0].operation = Operation::Waitsome as u16;
        assert_eq!(end(&survey), None);
    }

    #[test]
    fn a_call_in_main_is_made_once_in_each_iteration() {
        assert_eq!(count(&[50, 50], true, 50), (IterationCount::default(), None));
        assert_eq!(count(&[50, 49], true, 49), (IterationCount::default(), Some(0)), "the first step lacks the other");
        assert_eq!(
            count(&[50, 51], true, 50),
            (IterationCount { fewer: 0, more: 1 }, None),
            "unless it is left out of a step"
        );
    }

    #[test]
    fn an_iteration_ends_with_what_most_ranks_call_once_in_each() {
        let survey = survey(&[&[60, 60, 0, 60], &[60, 0, 180, 60], &[60, 60, 0, 60]]);
        let evidence = CallEvidence { survey: &survey, in_main: &[], calls: &CallTree::default() };
        let end = |core: &[u32], collective: u32| {
            let end = evidence.shared_end(&found(core), &survey.ranks[0], 60, |token| token == collective);
            end.map(|anchor| anchor.tokens[0])
        };
        assert_eq!(end(&[0, 1], 9), Some(0));
        assert_eq!(end(&[0, 1, 3], 0), Some(0), "best a collective");
        assert_eq!(end(&[1], 1), None, "no other");
    }
}
