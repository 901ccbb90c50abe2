//! The control flow of a compiled function: which of its calls it can get to after another one, without returning in between.
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
use rustc_hash::FxHashSet;

/// The instructions of a function.
pub(super) struct ControlFlow {
    /// In the order of their addresses.
    steps: Vec<FlowStep>,
}

/// An instruction.
#[derive(Clone, Copy)]
struct FlowStep {
    begin: u64,
    end: u64,
    next: NextStep,
}

/// The instruction that follows one.
#[derive(Clone, Copy, PartialEq)]
enum NextStep {
    /// The one after it.
    Following,
    /// The one after it, once the called function has returned.
    AfterCall,
    /// The one at an address, or with a condition the one after it.
    Jump { target: u64, is_conditional: bool },
    /// One at an unknown address.
    Unknown,
    /// None.
    End,
}

/// The calls that a function can get to from a place.
#[derive(Clone, Debug, Default)]
pub(super) struct ReachableCalls {
    /// The addresses to which they return.
    pub(super) return_addresses: FxHashSet<u64>,
    /// Whether there is no other one.
    pub(super) is_complete: bool,
}

impl ControlFlow {
    /// Decodes the code of a function, which begins at `address`.
    pub(super) fn decode(code: &[u8], address: u64) -> ControlFlow {
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let steps = decoder.into_iter().map(|instruction| {
            let target = instruction.near_branch_target();
            let next = match instruction.flow_control() {
                FlowControl::Next => NextStep::Following,
                FlowControl::Call | FlowControl::IndirectCall => NextStep::AfterCall,
                FlowControl::UnconditionalBranch => NextStep::Jump { target, is_conditional: false },
                FlowControl::ConditionalBranch => NextStep::Jump { target, is_conditional: true },
                FlowControl::IndirectBranch => NextStep::Unknown,
                FlowControl::XbeginXabortXend => NextStep::Following,
                FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception => NextStep::End,
            };
            FlowStep { begin: instruction.ip(), end: instruction.next_ip(), next }
        });
        ControlFlow { steps: steps.collect() }
    }

    /// Returns the number of instructions.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the calls that the function can get to after the call that returns to `return_address`, passing only those jumps and calls
    /// at whose address `can_pass` holds.
    pub(super) fn reachable_calls(&self, return_address: u64, mut can_pass: impl FnMut(u64) -> bool) -> ReachableCalls {
        let mut reachable = ReachableCalls { is_complete: true, ..ReachableCalls::default() };
        let mut is_seen = vec![false; self.steps.len()];
        let mut pending: Vec<usize> = self.index(return_address).into_iter().collect();
        while let Some(idx) = pending.pop() {
            let Some(step) = self.steps.get(idx) else { continue };
            if std::mem::replace(&mut is_seen[idx], true) {
                continue;
            }
            if step.next != NextStep::Following && !can_pass(step.begin) {
                continue;
            }
            match step.next {
                NextStep::Following => pending.push(idx + 1),
                NextStep::AfterCall => {
                    reachable.return_addresses.insert(step.end);
                    pending.push(idx + 1);
                }
                NextStep::Jump { target, is_conditional } => {
                    pending.extend(self.index(target));
                    pending.extend(is_conditional.then_some(idx + 1));
                }
                NextStep::Unknown => reachable.is_complete = false,
                NextStep::End => {}
            }
        }
        reachable
    }

    /// Returns the index of the instruction at an address, or `None` if it is not in the function.
    fn index(&self, address: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&address, |step| step.begin).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

    /// The addresses, in order, of the calls after that which returns to `from` in code at 0x100.
    fn reachable_calls(code: &[u8], from: u64) -> (Vec<u64>, bool) {
        let found = ControlFlow::decode(code, 0x100).reachable_calls(from, |_| true);
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
        let found = ControlFlow::decode(&code, 0x100).reachable_calls(0x105, |address| address < 0x10a);
        assert_eq!(found.return_addresses.into_iter().collect::<Vec<_>>(), [0x10a]);
    }

    #[test]
    fn a_jump_by_a_table_may_lead_anywhere() {
        // call; jmp *%rax
        let code = [&CALL[..], &[0xff, 0xe0]].concat();
        assert_eq!(reachable_calls(&code, 0x105), (vec![], false));
    }
}
