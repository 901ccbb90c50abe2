//! The call chains of samples: from which calls the program has come to the instruction that a sample has hit.
//!
//! The kernel copies the upper end of the thread's stack with each sample. Here it is unwound, by the tables that compilers write for exceptions: no frame
//! pointers are needed. Where the copy ends, so does the chain, which is marked as cut then.
//!
//! ```text
//!   exp ‹ update ‹ step ‹ main                          update, step, main
//!   a function of MPI's ‹ MPI_Send ‹ (ours) ‹ step      step: what MPI does inside is not of interest, and its functions are many
//!   dot ‹ add ‹ MPI's ‹ MPI_Reduce ‹ (ours) ‹ step      add, MPI_Reduce, step: MPI calls a function of the program, for a user-defined reduction
//!   merge ‹ sort ‹ sort ‹ sort ‹ main                   sort, main, if all calls are in one place
//!   outlined ‹ (ours, of OpenMP) ‹ GOMP_parallel ‹ …    outlined, GOMP_parallel, …
//!   add ‹ call ‹ eval_frame ‹ main, and step ‹ <module>  add, call, eval_frame, step, <module>: Python's functions are run by eval_frame
//! ```

use std::ops::Range;

use crate::machine::system::loader::{objects, own_code};
use crate::machine::system::perf::StackCopy;
use crate::machine::unwind::python::{self, EvalLoopFrames, PythonInterpreter};
use crate::machine::unwind::{self, InterruptedRegisters, PathCall, PathEnd, RuleCache};
use crate::mpi::symbols;

/// Bytes of the stack that the kernel copies: some ten frames of optimized code.
pub const COPIED_BYTES: u32 = 1024;

/// The calls around a sample, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnwoundChain {
    /// The addresses to which they return, and the calls in Python's functions.
    pub callers: Vec<PathCall>,
    /// True if there may be more around them.
    pub is_cut: bool,
}

/// Unwinds the stacks of samples.
pub struct SampleUnwinder {
    rules: RuleCache,
    /// Count of unloads when `rules` were found.
    unloads: u64,
    /// Calls of a chain at most.
    depth: usize,
    /// The code of the MPI library, where that is not linked into the program.
    mpi: Range<usize>,
    /// The code of the program itself.
    program: Range<usize>,
}

impl SampleUnwinder {
    /// Returns an unwinder for chains of `depth` calls at most. May take the loader's lock.
    pub fn new(depth: usize) -> Self {
        // SAFETY: a plain query.
        let program = objects::bounds_at(unsafe { libc::getauxval(libc::AT_PHDR) } as usize);
        let mpi = Some(objects::bounds_at(symbols::find_symbol(c"PMPI_Init"))).filter(|mpi| *mpi != program);
        SampleUnwinder { rules: RuleCache::default(), unloads: 0, depth, mpi: mpi.unwrap_or_default(), program }
    }

    /// Returns the chain of a sample at the instruction `address`, or `None` if nothing is known of it. `runs` are the runs of Python's functions.
    pub fn chain(
        &mut self,
        address: u64,
        stack: Option<&StackCopy>,
        runs: Vec<EvalLoopFrames>,
    ) -> Option<UnwoundChain> {
        let Some(stack) = stack else {
            let lines = runs.into_iter().flat_map(|run| run.lines).map(PathCall::Python);
            return self.shortened(lines.collect(), false);
        };
        if objects::is_unloading() {
            return None;
        }
        let unloads = objects::count_unloads();
        if self.unloads != unloads {
            (self.rules, self.unloads) = (RuleCache::default(), unloads);
        }
        let at = InterruptedRegisters { pc: address as usize, sp: stack.sp, bp: stack.bp };
        let path = unwind::walk_from(at, self.depth, &mut self.rules, |address| stack.word(address));
        // The outermost of Python's functions belongs to the program, or the thread.
        let is_cut = path.end == PathEnd::Cut && runs.is_empty();
        let interpreter = python::python_interpreter().map(PythonInterpreter::code_bounds).unwrap_or_default();
        let calls = path.with_running(at, runs, &interpreter);
        let last_inside = calls.iter().rposition(|call| self.is_inside(call));
        let outside = last_inside.map_or(0, |last| last + 1);
        let around = calls.get(outside..).unwrap_or_default();
        let called = calls.split(|call| self.is_inside(call)).next().unwrap_or_default();
        let mut callers = Vec::new();
        if let Some(mpi_call) = calls.iter().rfind(|call| is_in(call, &self.mpi))
            && let Some(depth) = self.callback_depth(address as usize, called, around)
        {
            callers.extend(called.iter().take(depth).cloned());
            callers.push(mpi_call.clone());
        }
        callers.extend(around.iter().filter(|call| !is_in(call, &own_code::own_code_bounds())).cloned());
        self.shortened(callers, is_cut)
    }

    /// Returns the chain of these calls without the outer ones in excess.
    fn shortened(&self, mut callers: Vec<PathCall>, is_cut: bool) -> Option<UnwoundChain> {
        // A function that calls itself gives ever new chains.
        callers.dedup();
        let is_cut = is_cut || callers.len() > self.depth;
        callers.truncate(self.depth);
        (!callers.is_empty()).then_some(UnwoundChain { callers, is_cut })
    }

    /// True for a call in the MPI library or in a wrapper of ours.
    fn is_inside(&self, call: &PathCall) -> bool {
        matches!(call, PathCall::To(caller) if own_code::is_wrapper(*caller)) || is_in(call, &self.mpi)
    }

    /// Returns how many of the innermost `callers`, which are not MPI's, lie in a function of the program that MPI has called, or in functions called by
    /// it; `None` if MPI has called none. The libraries of the calls `around`, which call MPI, count as the program's.
    fn callback_depth(&self, address: usize, callers: &[PathCall], around: &[PathCall]) -> Option<usize> {
        if self.mpi.contains(&address) {
            return None;
        }
        let mut of_program = vec![self.program.clone()];
        for call in around.iter().filter(|call| !is_in(call, &own_code::own_code_bounds())) {
            if let PathCall::To(caller) = call
                && !of_program.iter().any(|range| range.contains(caller))
            {
                of_program.push(objects::bounds_at(*caller));
            }
        }
        match callers.iter().rposition(|call| of_program.iter().any(|range| is_in(call, range))) {
            Some(at) => Some(at + 1),
            None => of_program.iter().any(|range| range.contains(&address)).then_some(0),
        }
    }
}

fn is_in(call: &PathCall, addresses: &Range<usize>) -> bool {
    matches!(call, PathCall::To(caller) if addresses.contains(caller))
}
