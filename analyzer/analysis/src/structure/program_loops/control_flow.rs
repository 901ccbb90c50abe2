//! The control flow of a compiled function: the calls that it can get to after another call, without returning in between.
//!
//! ```text
//!   halo:  call MPI_Irecv            main:  ┌─> call halo
//!          call MPI_Isend                   │   call update
//!          call MPI_Waitall                 │   jne ──┘
//!          ret                              └── ret
//!
//!   halo gets from MPI_Irecv to MPI_Waitall, never back: between Waitall and the next Irecv it has returned.
//!   main gets from halo to halo: it has a loop around that call.
//! ```
//!
//! Input is the function's machine code, for x86-64. Jumps by a table, as of a `switch`, have unknown targets: then nothing is certain of
//! the calls that were not found.

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use petgraph::algo::dominators::simple_fast;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::FxHashSet;

pub(super) struct ControlFlow {
    /// In the order of their addresses.
    steps: Vec<FlowStep>,
    /// The loops without calls that lead to MPI, in the order of their jumps back.
    loops: Vec<FlowLoop>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FlowLoop {
    /// The jump back.
    last: usize,
    /// The step to which it jumps.
    first: usize,
}

#[derive(Clone, Copy)]
struct FlowStep {
    begin: u64,
    end: u64,
    next: NextStep,
}

#[derive(Clone, Copy, PartialEq)]
enum NextStep {
    Following,
    /// The one after it, once the called function has returned.
    AfterCall {
        leads_to_mpi: bool,
    },
    /// The one at an address, or with a condition the one after it.
    Jump {
        target: u64,
        is_conditional: bool,
    },
    Unknown,
    End,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ReachableCalls {
    pub(super) return_addresses: FxHashSet<u64>,
    /// True if there is no other one.
    pub(super) is_complete: bool,
}

/// Maximum number of instructions of loops that are looked at, for each instruction of a function: more than the depth of nested loops.
const MAX_LOOP_STEPS: usize = 20;

impl ControlFlow {
    /// Decodes the code of a function, which begins at `address`. The calls that return to one of `calls` lead to MPI.
    pub(super) fn decode(code: &[u8], address: u64, calls: &FxHashSet<u64>) -> ControlFlow {
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let steps = decoder.into_iter().map(|instruction| {
            let target = instruction.near_branch_target();
            let next = match instruction.flow_control() {
                FlowControl::Next => NextStep::Following,
                FlowControl::Call | FlowControl::IndirectCall => {
                    NextStep::AfterCall { leads_to_mpi: calls.contains(&instruction.next_ip()) }
                }
                FlowControl::UnconditionalBranch => NextStep::Jump { target, is_conditional: false },
                FlowControl::ConditionalBranch => NextStep::Jump { target, is_conditional: true },
                FlowControl::IndirectBranch => NextStep::Unknown,
                FlowControl::XbeginXabortXend => NextStep::Following,
                FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception => NextStep::End,
            };
            FlowStep { begin: instruction.ip(), end: instruction.next_ip(), next }
        });
        let mut flow = ControlFlow { steps: steps.collect(), loops: Vec::new() };
        flow.loops = flow.find_loops();
        flow
    }

    /// Returns the loops without calls that lead to MPI, in the order of their jumps back.
    fn find_loops(&self) -> Vec<FlowLoop> {
        let mut edges: Vec<FlowEdge> = self.edges().collect();
        edges.sort_unstable();
        let mut is_seen = vec![0; self.steps.len()];
        let mut loops = Vec::new();
        let mut n_left = MAX_LOOP_STEPS * self.steps.len();
        for (number, (last, step)) in (1_u32..).zip(self.steps.iter().enumerate()) {
            let NextStep::Jump { target, .. } = step.next else { continue };
            let Some(first) = self.index(target).filter(|&first| first <= last) else { continue };
            // The loop consists of all steps that lead to the jump without passing its first step.
            let mut pending = vec![last];
            is_seen[first] = number;
            let mut calls_mpi = self.leads_to_mpi(first);
            while let Some(idx) = pending.pop().filter(|_| !calls_mpi) {
                if std::mem::replace(&mut is_seen[idx], number) == number {
                    continue;
                }
                n_left = n_left.saturating_sub(1);
                calls_mpi = self.leads_to_mpi(idx) || n_left == 0;
                pending.extend(edges_to(&edges, idx).map(|edge| edge.from));
            }
            if !calls_mpi {
                loops.push(FlowLoop { last, first });
            }
        }
        loops
    }

    /// Returns whether a step is a call that does not lead to MPI, or the jump back of a loop.
    fn is_work(&self, step: usize) -> bool {
        let is_call = self.steps.get(step).is_some_and(|step| step.next == NextStep::AfterCall { leads_to_mpi: false });
        is_call || self.loops.binary_search_by_key(&step, |one| one.last).is_ok()
    }

    pub(super) fn is_end(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.next == NextStep::End)
    }

    pub(super) fn leads_to_mpi(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.next == NextStep::AfterCall { leads_to_mpi: true })
    }

    fn following(&self, idx: usize, step: &FlowStep) -> [Option<usize>; 2] {
        let after = Some(idx + 1).filter(|&after| after < self.steps.len());
        match step.next {
            NextStep::Following | NextStep::AfterCall { .. } => [after, None],
            NextStep::Jump { target, is_conditional } => [self.index(target), after.filter(|_| is_conditional)],
            NextStep::Unknown | NextStep::End => [None, None],
        }
    }

    pub(super) fn call_index(&self, return_address: u64) -> Option<usize> {
        let at = self.steps.binary_search_by_key(&return_address, |step| step.end).ok()?;
        matches!(self.steps[at].next, NextStep::AfterCall { .. }).then_some(at)
    }

    /// Returns the addresses of the jumps and calls among some steps, in any order.
    pub(super) fn turns(&self, steps: &FxHashSet<usize>) -> impl Iterator<Item = u64> {
        let steps = steps.iter().filter_map(|&step| self.steps.get(step));
        steps.filter(|step| step.next != NextStep::Following).map(|step| step.begin)
    }

    pub(super) fn ways(&self) -> DiGraphMap<usize, ()> {
        self.edges().map(|edge| (edge.from, edge.to)).collect()
    }

    fn edges(&self) -> impl Iterator<Item = FlowEdge> {
        self.steps.iter().enumerate().flat_map(|(from, step)| {
            self.following(from, step).into_iter().flatten().map(move |to| FlowEdge { to, from })
        })
    }

    /// Returns whether it is not known what follows a step.
    pub(super) fn has_unknown_successor(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.next == NextStep::Unknown)
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the calls that the function can get to after the call that returns to `return_address`, passing only those jumps and calls
    /// at whose address `can_pass` holds.
    pub(super) fn reachable_calls(&self, return_address: u64, mut can_pass: impl FnMut(u64) -> bool) -> ReachableCalls {
        let mut reachable = ReachableCalls { is_complete: true, ..ReachableCalls::default() };
        reachable_steps(self.index(return_address), |idx| {
            let step = &self.steps[idx];
            if step.next != NextStep::Following && !can_pass(step.begin) {
                return [None, None].into_iter().flatten();
            }
            if let NextStep::AfterCall { .. } = step.next {
                reachable.return_addresses.insert(step.end);
            }
            reachable.is_complete &= step.next != NextStep::Unknown;
            self.following(idx, step).into_iter().flatten()
        });
        reachable
    }

    /// Returns the addresses of the calls, and of the jumps back of loops, that the code between calls that return to `from` and `to` passes on each
    /// way, or `None` if some way is not known. Loops count if they go around in this code, but not the loop around both calls. Jumps and calls are
    /// only passed if `can_pass` holds at their address.
    pub(in crate::structure) fn work_between(
        &self,
        from: &[u64],
        to: &[u64],
        can_pass: impl FnMut(u64) -> bool,
    ) -> Option<Vec<u64>> {
        let edges = self.edges_between(from, to, can_pass)?;
        let without_skips: Vec<FlowEdge> = edges.iter().copied().filter(|edge| !self.is_jump_over_loop(edge)).collect();
        let passed = steps_on_all_ways(&without_skips).or_else(|| steps_on_all_ways(&edges)).unwrap_or_default();
        let mut work: Vec<u64> =
            passed.into_iter().filter(|&step| self.is_work(step)).map(|step| self.steps[step].begin).collect();
        work.sort_unstable();
        Some(work)
    }

    /// Returns the pairs of steps that follow one another in the code between calls, with [`START`] before and [`END`] after it, or `None` if some
    /// way is not known. Ways that lead to no end are left out.
    fn edges_between(&self, from: &[u64], to: &[u64], mut can_pass: impl FnMut(u64) -> bool) -> Option<Vec<FlowEdge>> {
        let mut is_seen = vec![false; self.steps.len()];
        let mut pending: Vec<usize> = from.iter().filter_map(|&address| self.index(address)).collect();
        let mut edges: Vec<FlowEdge> = pending.iter().map(|&to| FlowEdge { to, from: START }).collect();
        while let Some(idx) = pending.pop() {
            let Some(step) = self.steps.get(idx) else { continue };
            if std::mem::replace(&mut is_seen[idx], true) {
                continue;
            }
            if self.leads_to_mpi(idx) {
                edges.extend(to.contains(&step.end).then_some(FlowEdge { to: END, from: idx }));
                continue;
            }
            if step.next != NextStep::Following && !can_pass(step.begin) {
                continue;
            }
            if step.next == NextStep::Unknown {
                return None;
            }
            let next = self.following(idx, step);
            edges.extend(next.into_iter().flatten().map(|to| FlowEdge { to, from: idx }));
            pending.extend(next.into_iter().flatten());
        }
        edges.sort_unstable();
        let leads_to_end = reachable_steps([END], |idx| edges_to(&edges, idx).map(|edge| edge.from));
        edges.retain(|edge| leads_to_end.contains(&edge.to));
        Some(edges)
    }

    /// Returns whether a jump passes over a loop that would go around no time.
    fn is_jump_over_loop(&self, edge: &FlowEdge) -> bool {
        let next = self.loops.partition_point(|one| one.last <= edge.from);
        let is_forward = edge.to < self.steps.len() && edge.from < edge.to;
        is_forward && self.loops[next..].iter().take_while(|one| one.last < edge.to).any(|one| edge.from < one.first)
    }

    /// Returns the index of the instruction at an address, or `None` if it is not in the function.
    fn index(&self, address: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&address, |step| step.begin).ok()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FlowEdge {
    to: usize,
    from: usize,
}

/// Returns the given steps and all steps reached from them, where `next` returns the neighbours of a step.
pub(super) fn reachable_steps<I: Iterator<Item = usize>>(
    starts: impl IntoIterator<Item = usize>,
    mut next: impl FnMut(usize) -> I,
) -> FxHashSet<usize> {
    let mut reached = FxHashSet::from_iter(starts);
    let mut pending: Vec<usize> = reached.iter().copied().collect();
    while let Some(step) = pending.pop() {
        pending.extend(next(step).filter(|&next| reached.insert(next)));
    }
    reached
}

/// The step before the first one between calls.
const START: usize = usize::MAX - 1;

/// The step after the last one between calls.
const END: usize = usize::MAX;

/// Returns the edges to a step. `edges` are sorted.
fn edges_to(edges: &[FlowEdge], step: usize) -> impl Iterator<Item = &FlowEdge> {
    edges[edges.partition_point(|edge| edge.to < step)..].iter().take_while(move |edge| edge.to == step)
}

/// Returns the steps on all ways from [`START`] to [`END`], or `None` if there is no way.
fn steps_on_all_ways(edges: &[FlowEdge]) -> Option<Vec<usize>> {
    let graph: DiGraphMap<usize, ()> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let is_known = graph.contains_node(START) && graph.contains_node(END);
    let dominators = is_known.then(|| simple_fast(&graph, START))?;
    Some(dominators.strict_dominators(END)?.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

    /// The addresses, in order, of the calls after that which returns to `from` in code at 0x100.
    fn reachable_calls(code: &[u8], from: u64) -> (Vec<u64>, bool) {
        let found = ControlFlow::decode(code, 0x100, &FxHashSet::default()).reachable_calls(from, |_| true);
        let mut calls: Vec<u64> = found.return_addresses.into_iter().collect();
        calls.sort_unstable();
        (calls, found.is_complete)
    }

    #[test]
    fn a_function_gets_to_later_calls_and_never_back() {
        let code = [&CALL[..], &CALL, &CALL, &[0xc3]].concat();
        assert_eq!(reachable_calls(&code, 0x105), (vec![0x10a, 0x10f], true));
        assert_eq!(reachable_calls(&code, 0x10f), (vec![], true));
    }

    #[test]
    fn a_loop_gets_back_to_the_calls_in_it() {
        // call; call; jne −7 (to the second call); call; ret
        let code = [&CALL[..], &CALL, &[0x75, 0xf9], &CALL, &[0xc3]].concat();
        assert_eq!(reachable_calls(&code, 0x10a), (vec![0x10a, 0x111], true));
        assert_eq!(reachable_calls(&code, 0x111), (vec![], true));
    }

    #[test]
    fn a_branch_does_not_get_to_the_other_one() {
        // je +7; call; jmp +5; call; ret
        let code = [&[0x74, 7], &CALL[..], &[0xeb, 5], &CALL, &[0xc3]].concat();
        assert_eq!(reachable_calls(&code, 0x107), (vec![], true));
    }

    #[test]
    fn what_cannot_be_passed_ends_a_path() {
        let code = [&CALL[..], &CALL, &CALL, &[0xc3]].concat();
        let found =
            ControlFlow::decode(&code, 0x100, &FxHashSet::default()).reachable_calls(0x105, |address| address < 0x10a);
        assert_eq!(found.return_addresses.into_iter().collect::<Vec<_>>(), [0x10a]);
    }

    /// The work between the call that returns to `from` and that which returns to `to` in code at 0x100.
    fn work_between(code: &[u8], from: u64, to: u64) -> Option<Vec<u64>> {
        ControlFlow::decode(code, 0x100, &FxHashSet::from_iter([from, to])).work_between(&[from], &[to], |_| true)
    }

    #[test]
    fn work_between_calls_is_the_calls_on_each_way() {
        // 0x100 call; 0x105 work; 0x10a je 0x111; 0x10c work; 0x111 call; 0x116 work; 0x11b jmp 0x100
        let code = [&CALL[..], &CALL, &[0x74, 5], &CALL, &CALL, &CALL, &[0xeb, 0xe3]].concat();
        assert_eq!(work_between(&code, 0x105, 0x116), Some(vec![0x105]));
        assert_eq!(work_between(&code, 0x116, 0x105), Some(vec![0x116]));
    }

    #[test]
    fn a_loop_between_calls_is_work_and_the_one_around_them_is_not() {
        // 0x100 call; 0x105 je 0x109; 0x107 jne 0x107; 0x109 call; 0x10e jmp 0x100
        let code = [&CALL[..], &[0x74, 2], &[0x75, 0xfe], &CALL, &[0xeb, 0xf0]].concat();
        assert_eq!(work_between(&code, 0x105, 0x10e), Some(vec![0x107]));
        assert_eq!(work_between(&code, 0x10e, 0x105), Some(vec![]));
    }

    #[test]
    fn work_on_unknown_ways_is_not_known() {
        // call; jmp *%rax
        let code = [&CALL[..], &[0xff, 0xe0]].concat();
        assert_eq!(work_between(&code, 0x105, 0x105), None);
    }

    #[test]
    fn a_jump_by_a_table_may_lead_anywhere() {
        // call; jmp *%rax
        let code = [&CALL[..], &[0xff, 0xe0]].concat();
        assert_eq!(reachable_calls(&code, 0x105), (vec![], false));
    }
}
