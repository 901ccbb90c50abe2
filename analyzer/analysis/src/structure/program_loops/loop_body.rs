//! Determines the relation of a call in a compiled function to the loop around another one: outside of it, in each of its iterations, or in
//! some.
//!
//! ```text
//!   for (step …) {              for (cycle …) {
//!       forces();  <─ looped        for (step …)
//!       if (step % 7 == 6)              forces();  <─ looped
//!           print();  <─ other      print();  <─ other
//!   }                           }
//!      `print` in some                `print` outside
//! ```
//!
//! Both programs make the same calls: only their code shows that the first has one loop and the second two.

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use petgraph::{Incoming, Outgoing};
use rustc_hash::FxHashSet;

use super::control_flow::{ControlFlow, reachable_steps};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::structure) enum CallInLoop {
    /// There is no loop around the other one.
    NoLoop,
    /// The call lies outside of the innermost loop around the other one.
    Outside,
    /// Each turn of the loop passes the call.
    Always,
    /// A turn of the loop may pass the call or not.
    Sometimes,
}

impl ControlFlow {
    /// Returns the role of the call that returns to `other` in the innermost loop around all calls that return to `looped`, or `None` if not all
    /// of the function's control flow is known. A loop with jumps or calls at addresses for which `is_own` is false belongs to a function around.
    pub(in crate::structure) fn call_in_loop(
        &self,
        looped: &[u64],
        other: u64,
        mut is_own: impl FnMut(u64) -> bool,
    ) -> Option<CallInLoop> {
        let looped: Vec<usize> = looped.iter().map(|&address| self.call_index(address)).collect::<Option<_>>()?;
        let (&first, other) = (looped.first()?, self.call_index(other)?);
        let ways = self.ways();
        // A jump by a table before the loop, as of a `switch` around it, leads into it at its begin.
        if reachable_steps([first], |step| ways.neighbors(step))
            .into_iter()
            .any(|step| self.has_unknown_successor(step))
        {
            return None;
        }
        let body = loops_around(&ways, &looped).pop().map(|body| body.steps);
        let Some(body) = body.filter(|body| self.turns(body).all(&mut is_own)) else {
            return Some(CallInLoop::NoLoop);
        };
        if !body.contains(&other) {
            return Some(CallInLoop::Outside);
        }
        let passed =
            reachable_steps([first], |step| ways.neighbors(step).filter(|next| body.contains(next) && *next != other));
        let is_optional = passed.into_iter().any(|step| ways.contains_edge(step, first));
        Some(if is_optional { CallInLoop::Sometimes } else { CallInLoop::Always })
    }

    /// Returns the ways from the call that returns to `from` to the call that returns to `to`, or `None` if the function has no such calls.
    ///
    /// Several loops on such ways look the same in the calls: how often each of them goes around is not known.
    pub(super) fn silent_ways(&self, from: u64, to: u64) -> Option<SilentWays> {
        let (from, to) = (self.call_index(from)?, self.call_index(to)?);
        let ways = self.ways();
        let [after, before] = [(from, Outgoing), (to, Incoming)].map(|(start, direction)| {
            reachable_steps([start], |step| {
                ways.neighbors_directed(step, direction).filter(|&next| !self.leads_to_mpi(next))
            })
        });
        let loops = loops_around(&ways, &[from, to]);
        let n_loops = loops.iter().filter(|body| body.can_turn_silently(&ways, &before, &after)).count();
        // Only jumps by a table lead to steps without a known way to them.
        let may_begin = before.iter().any(|&step| step == 0 || steps_before(&ways, step).next().is_none());
        let may_return = may_begin && after.iter().any(|&step| self.is_end(step));
        Some(SilentWays { n_loops, may_return })
    }

    /// Returns the number of loops, one in the other, around the call that returns to an address, or `None` if the function has no such call.
    pub(in crate::structure) fn count_loops_around(&self, return_address: u64) -> Option<usize> {
        Some(loops_around(&self.ways(), &[self.call_index(return_address)?]).len())
    }
}

/// The ways of a function from one call that leads to MPI to another one, on which it makes no further one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SilentWays {
    /// Number of loops around both calls that can go around on such a way.
    pub(super) n_loops: usize,
    /// True if the function can return after the first call, and get to the second one when it is called again, without a further call.
    pub(super) may_return: bool,
}

/// A loop of a function.
struct CodeLoop {
    steps: FxHashSet<usize>,
    /// The steps to which ways lead from outside, several if a jump leads into the loop.
    entries: FxHashSet<usize>,
}

impl CodeLoop {
    /// Returns whether the loop can go around on a way from one of the steps `after` a call to one `before` the next one.
    fn can_turn_silently(
        &self,
        ways: &DiGraphMap<usize, ()>,
        before: &FxHashSet<usize>,
        after: &FxHashSet<usize>,
    ) -> bool {
        let entries = self.entries.iter().filter(|entry| before.contains(*entry));
        let mut lasts = entries.flat_map(|&entry| steps_before(ways, entry));
        lasts.any(|last| self.steps.contains(&last) && after.contains(&last))
    }
}

fn steps_before(ways: &DiGraphMap<usize, ()>, step: usize) -> impl Iterator<Item = usize> {
    ways.neighbors_directed(step, Incoming)
}

/// Returns the loops that contain all of `looped`, the outermost first. Cycles that remain of a loop without its entries are loops in it.
fn loops_around(ways: &DiGraphMap<usize, ()>, looped: &[usize]) -> Vec<CodeLoop> {
    let mut loops: Vec<CodeLoop> = Vec::new();
    let mut inside = ways.clone();
    loop {
        let found = kosaraju_scc(&inside).into_iter().find(|steps| looped.iter().all(|step| steps.contains(step)));
        let Some(steps) = found.filter(|steps| steps.len() > 1) else { return loops };
        let steps: FxHashSet<usize> = steps.into_iter().collect();
        let (inner, entries): (FxHashSet<usize>, FxHashSet<usize>) = steps
            .iter()
            .copied()
            .partition(|&step| step != 0 && steps_before(ways, step).all(|from| steps.contains(&from)));
        inside = ways.all_edges().filter(|(from, to, ())| inner.contains(from) && inner.contains(to)).collect();
        let has_entry = !entries.is_empty();
        loops.push(CodeLoop { steps, entries });
        if !has_entry {
            return loops;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

    fn call_in_loop(code: &[u8], looped: u64, other: u64) -> Option<CallInLoop> {
        ControlFlow::decode(code, 0x100, &FxHashSet::default()).call_in_loop(&[looped], other, |_| true)
    }

    #[test]
    fn a_call_on_a_branch_is_in_some_iterations() {
        // nop; call; je +5; call; jne −14 (to the first call); ret
        let code = [&[0x90], &CALL[..], &[0x74, 5], &CALL, &[0x75, 0xf2], &[0xc3]].concat();
        assert_eq!(call_in_loop(&code, 0x106, 0x10d), Some(CallInLoop::Sometimes));
    }

    #[test]
    fn a_call_that_cannot_be_passed_by_is_in_each_iteration() {
        // nop; call; call; jne −12; call; ret
        let code = [&[0x90], &CALL[..], &CALL, &[0x75, 0xf4], &CALL, &[0xc3]].concat();
        assert_eq!(call_in_loop(&code, 0x106, 0x10b), Some(CallInLoop::Always));
        assert_eq!(call_in_loop(&code, 0x106, 0x112), Some(CallInLoop::Outside));
        assert_eq!(call_in_loop(&code, 0x112, 0x106), Some(CallInLoop::NoLoop));
    }

    #[test]
    fn a_call_in_the_outer_loop_is_outside_of_the_inner_one() {
        // nop; nop; call; jne −7 (to the call); call; jne −15 (to the second nop); ret
        let code = [&[0x90, 0x90], &CALL[..], &[0x75, 0xf9], &CALL, &[0x75, 0xf1], &[0xc3]].concat();
        assert_eq!(call_in_loop(&code, 0x107, 0x10e), Some(CallInLoop::Outside));
        assert_eq!(call_in_loop(&code, 0x10e, 0x107), Some(CallInLoop::Always), "as far as its code shows");
    }

    #[test]
    fn a_loop_of_the_function_around_is_none_of_an_inlined_one() {
        // nop; call; je +5; call; jne −14 (to the first call); ret: all but the last jump is inlined
        let code = [&[0x90], &CALL[..], &[0x74, 5], &CALL, &[0x75, 0xf2], &[0xc3]].concat();
        let flow = ControlFlow::decode(&code, 0x100, &FxHashSet::default());
        assert_eq!(flow.call_in_loop(&[0x106], 0x10d, |address| address < 0x10d), Some(CallInLoop::NoLoop));
        assert_eq!(flow.call_in_loop(&[0x106], 0x10d, |_| true), Some(CallInLoop::Sometimes));
    }

    #[test]
    fn loops_around_a_call_are_counted() {
        // nop; nop; call; jne −7 (to the call); call; jne −15 (to the second nop); ret
        let code = [&[0x90, 0x90], &CALL[..], &[0x75, 0xf9], &CALL, &[0x75, 0xf1], &[0xc3]].concat();
        let flow = ControlFlow::decode(&code, 0x100, &FxHashSet::default());
        assert_eq!([0x107, 0x10e, 0x110].map(|address| flow.count_loops_around(address)), [Some(2), Some(1), None]);
        // jmp +5 (to the je); call; je +2 (to the ret); jmp −9 (to the call); ret: the compiler has put the loop's first step behind its body
        let code = [&[0xeb, 5], &CALL[..], &[0x74, 2], &[0xeb, 0xf7], &[0xc3]].concat();
        let flow = ControlFlow::decode(&code, 0x100, &FxHashSet::default());
        assert_eq!(flow.count_loops_around(0x107), Some(1));
    }

    #[test]
    fn loops_that_go_around_without_another_call_are_silent() {
        let ways = |code: &[u8], calls: &[u64], from, to| {
            ControlFlow::decode(code, 0x100, &calls.iter().copied().collect()).silent_ways(from, to)
        };
        let silent = |n_loops, may_return| Some(SilentWays { n_loops, may_return });
        // nop; nop; call; jne −7 (to the call); jne −10 (to the second nop); ret
        let code = [&[0x90, 0x90], &CALL[..], &[0x75, 0xf9], &[0x75, 0xf6], &[0xc3]].concat();
        assert_eq!(ways(&code, &[0x107], 0x107, 0x107), silent(2, true));
        // nop; nop; call; jne −7 (to the call); call; jne −15 (to the second nop); ret
        let code = [&[0x90, 0x90], &CALL[..], &[0x75, 0xf9], &CALL, &[0x75, 0xf1], &[0xc3]].concat();
        assert_eq!(
            ways(&code, &[0x107, 0x10e], 0x107, 0x107),
            silent(1, false),
            "the second call is passed in the loop around"
        );
        assert_eq!(ways(&code, &[0x107, 0x10e], 0x10e, 0x107), silent(1, true));
        assert_eq!(ways(&code, &[0x107], 0x107, 0x107), silent(2, true), "that call does not lead to MPI");
        // nop; call; je +5; call; jne −14 (to the first call); ret
        let code = [&[0x90], &CALL[..], &[0x74, 5], &CALL, &[0x75, 0xf2], &[0xc3]].concat();
        assert_eq!(ways(&code, &[0x106, 0x10d], 0x106, 0x106), silent(1, true), "on the branch without the other call");
        assert_eq!(ways(&code, &[0x106], 0x101, 0x106), None);
    }

    #[test]
    fn work_between_two_calls_is_no_loop_around_them() {
        // nop; jne −2 (to itself); call; jne −9 (to the first jump); ret
        let code = [&[0x90], &[0x75, 0xfe][..], &CALL, &[0x75, 0xf7], &[0xc3]].concat();
        let flow = ControlFlow::decode(&code, 0x100, &FxHashSet::from_iter([0x108]));
        assert_eq!(flow.silent_ways(0x108, 0x108).map(|ways| ways.n_loops), Some(1));
    }

    #[test]
    fn nothing_is_known_where_a_jump_leads_anywhere() {
        // nop; call; jmp rax; call; jne −14; ret
        let code = [&[0x90], &CALL[..], &[0xff, 0xe0], &CALL, &[0x75, 0xf2], &[0xc3]].concat();
        assert_eq!(call_in_loop(&code, 0x106, 0x10d), None);
    }
}
