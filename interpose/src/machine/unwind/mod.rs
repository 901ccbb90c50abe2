//! Call paths: the return addresses on the calling thread's stack, from the tables that compilers write for exceptions (`.eh_frame`).
//!
//! [`walk_stack`] also returns every word of the stack that it has read, in order. The path follows from these words, the first return address and
//! the stack pointer alone, and the address of each word follows from the words before it. So while the words do not change, the path is the
//! same, and comparing them in their order never reads a word that a walk would not read itself.
//!
//! Where an interpreter runs Python's functions in one of its own, [`python`] finds them; [`StackPath::with`] puts them where they belong.

mod depth;
mod objects;
pub mod python;
mod rule;
pub mod runtime;

use std::ops::Range;

pub use depth::MAX_DEPTH;
pub use rule::RuleCache;

use rule::{RuleBase, RuleLocation, SavedRegister};

use crate::machine::processor::{BYTES_OF_CALL, code_address};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StackWord {
    pub address: usize,
    pub value: usize,
}

/// The registers with which a function of this library was entered.
#[derive(Clone, Copy, Debug)]
pub struct EntryRegisters {
    pub caller: usize,
    /// The stack pointer; where the processor pushes the return address, at that.
    pub sp: usize,
    /// The frame pointer, and the address of a copy of it.
    pub bp: StackWord,
}

/// The registers at which a thread was interrupted: the instruction that comes next, stack pointer and frame pointer.
#[derive(Clone, Copy, Debug)]
pub struct InterruptedRegisters {
    pub pc: usize,
    pub sp: usize,
    pub bp: usize,
}

/// Why a path goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// The path is whole: the outermost frame belongs to main, or to a thread's start function.
    Outermost,
    /// The outermost frame does not show who called it, or there are more frames than asked for.
    Cut,
}

#[derive(Clone, Debug)]
pub struct StackPath {
    /// Return addresses, the innermost first; there is one at least, except where a thread was interrupted.
    pub callers: Vec<usize>,
    /// The stack pointers at which the functions go on there; there may be more.
    pub stack_pointers: Vec<usize>,
    /// True if a signal has interrupted one of the functions.
    pub interrupted: bool,
    /// Words that were read for that, in order.
    pub words: Vec<StackWord>,
    pub end: PathEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathCall {
    /// The call returns to this address.
    To(usize),
    Python(python::PythonCall),
}

#[derive(Clone, Copy)]
enum FramePointer {
    /// The frame pointer is as on entry.
    AsOnEntry,
    /// The frame pointer is in this word, which was not read yet.
    In(usize),
    /// The frame pointer is this, from a word that was read.
    Is(usize),
    Unknown,
}

struct StackFrame {
    /// Address at which its code goes on.
    pc: usize,
    sp: usize,
    bp: FramePointer,
    /// True if a signal has interrupted it: `pc` is no return address.
    interrupted: bool,
}

/// Walks the calling thread's path, of at most `depth` frames.
///
/// `read` returns the word at an address, or `None` where there is no memory.
pub fn walk_stack(
    entry: EntryRegisters,
    depth: usize,
    rules: &mut RuleCache,
    read: impl FnMut(usize) -> Option<usize>,
) -> StackPath {
    let mut walk = StackWalk { path: StackPath::with_room(), bp: entry.bp, read };
    let sp = entry.sp + BYTES_OF_CALL;
    let frame = StackFrame { pc: entry.caller, sp, bp: FramePointer::AsOnEntry, interrupted: false };
    walk.enter(&frame);
    walk.go_out(frame, depth, rules);
    walk.path.without_start(rules, 1)
}

/// Walks the path of a thread that was interrupted, of at most `depth` frames around the interrupted function.
///
/// `read` returns the word at an address, or `None` where it is not known.
pub fn walk_from(
    at: InterruptedRegisters,
    depth: usize,
    rules: &mut RuleCache,
    read: impl FnMut(usize) -> Option<usize>,
) -> StackPath {
    let mut walk = StackWalk { path: StackPath::with_room(), bp: StackWord { address: 0, value: at.bp }, read };
    let frame = StackFrame { pc: at.pc, sp: at.sp, bp: FramePointer::Is(at.bp), interrupted: true };
    walk.go_out(frame, depth, rules);
    walk.path.without_start(rules, 0)
}

struct StackWalk<Read> {
    path: StackPath,
    bp: StackWord,
    read: Read,
}

impl<Read: FnMut(usize) -> Option<usize>> StackWalk<Read> {
    /// Adds the frames around `frame`, until the path has `depth` of them.
    fn go_out(&mut self, mut frame: StackFrame, depth: usize, rules: &mut RuleCache) {
        while self.path.callers.len() < depth.min(MAX_DEPTH) {
            match self.step(&frame, rules) {
                Ok(outer) => {
                    frame = outer;
                    self.enter(&frame);
                    self.path.interrupted |= frame.interrupted;
                }
                Err(end) => {
                    self.path.end = end;
                    break;
                }
            }
        }
    }

    fn enter(&mut self, frame: &StackFrame) {
        self.path.callers.push(frame.pc);
        self.path.stack_pointers.push(frame.sp);
    }

    /// Returns the frame of the caller, or why there is none.
    fn step(&mut self, frame: &StackFrame, rules: &mut RuleCache) -> Result<StackFrame, PathEnd> {
        // A call may be a function's last instruction, followed by another function.
        let Some(rule) = rules.rule_at(frame.pc - usize::from(!frame.interrupted)) else {
            // The C library's code has tables but where a stack begins: a thread's, or one of makecontext's.
            return Err(if rules.is_start(frame.pc) { PathEnd::Outermost } else { PathEnd::Cut });
        };
        let caller = rule.caller.ok_or(PathEnd::Outermost)?;
        let outer = self.caller(frame, rule, caller).ok_or(PathEnd::Cut)?;
        if outer.pc == 0 { Err(PathEnd::Outermost) } else { Ok(outer) }
    }

    fn caller(&mut self, frame: &StackFrame, rule: rule::UnwindRule, caller: RuleLocation) -> Option<StackFrame> {
        let mut bp = frame.bp;
        let mut cfa = self.resolve_location(frame, &mut bp, 0, rule.cfa)?;
        if rule.cfa_is_there {
            cfa = self.word(cfa)?;
        }
        let address = self.resolve_location(frame, &mut bp, cfa, caller)?;
        let pc = code_address(self.word(address)?);
        let outer = match rule.bp {
            SavedRegister::No => bp,
            SavedRegister::In(location) => FramePointer::In(self.resolve_location(frame, &mut bp, cfa, location)?),
            SavedRegister::Unknown => FramePointer::Unknown,
        };
        Some(StackFrame { pc, sp: cfa, bp: outer, interrupted: rule.is_signal })
    }

    /// Returns the address that a location stands for. Reads the frame pointer if need be.
    fn resolve_location(
        &mut self,
        frame: &StackFrame,
        bp: &mut FramePointer,
        cfa: usize,
        location: RuleLocation,
    ) -> Option<usize> {
        let base = match location.base {
            RuleBase::StackPointer => frame.sp,
            RuleBase::Cfa => cfa,
            RuleBase::FramePointer => {
                let value = match *bp {
                    FramePointer::AsOnEntry => self.word_is(self.bp),
                    FramePointer::In(address) => self.word(address)?,
                    FramePointer::Is(value) => value,
                    FramePointer::Unknown => return None,
                };
                *bp = FramePointer::Is(value);
                value
            }
        };
        base.checked_add_signed(location.offset as isize)
    }

    fn word(&mut self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(size_of::<usize>()) {
            return None;
        }
        let value = (self.read)(address)?;
        Some(self.word_is(StackWord { address, value }))
    }

    fn word_is(&mut self, word: StackWord) -> usize {
        self.path.words.push(word);
        word.value
    }
}

impl StackPath {
    fn with_room() -> StackPath {
        StackPath {
            callers: Vec::with_capacity(16),
            stack_pointers: Vec::with_capacity(16),
            interrupted: false,
            words: Vec::with_capacity(16),
            end: PathEnd::Cut,
        }
    }

    /// Returns the calls of the path, the innermost first, with the calls in Python's functions: the functions of each run after the call in the
    /// interpreter's frame that has them. They are left out if a run does not lie in such a frame. Runs without a known place all stand after the
    /// innermost call in the `interpreter`'s code, and nothing after them.
    pub fn with(&self, runs: Vec<python::EvalLoopFrames>, interpreter: &Range<usize>) -> Vec<PathCall> {
        if runs.first().is_some_and(|run| run.mark == 0) {
            let innermost = self.callers.iter().position(|caller| interpreter.contains(caller));
            return self.with_unplaced(runs, innermost.map_or(self.callers.len(), |at| at + 1));
        }
        let mut calls = Vec::with_capacity(self.callers.len());
        let mut runs = runs.into_iter().peekable();
        let ends = self.stack_pointers.iter().skip(1).copied().chain(std::iter::repeat(0));
        for ((&caller, &from), to) in self.callers.iter().zip(&self.stack_pointers).zip(ends) {
            calls.push(PathCall::To(caller));
            while let Some(run) = runs.next_if(|run| (from..to).contains(&run.mark)) {
                calls.extend(run.lines.into_iter().map(PathCall::Python));
            }
        }
        // If the path is cut off, the others are further out.
        let from = self.stack_pointers.get(self.callers.len().saturating_sub(1)).copied().unwrap_or(0);
        if self.end == PathEnd::Cut {
            while let Some(run) = runs.next_if(|run| from <= run.mark) {
                calls.extend(run.lines.into_iter().map(PathCall::Python));
            }
        }
        if runs.peek().is_some() {
            calls.retain(|call| matches!(call, PathCall::To(_)));
        }
        calls
    }

    /// Returns the calls of the path of a thread that was interrupted `at` some place, like [`StackPath::with`]. Python's functions were read a moment later:
    /// a run further in than the stack came later still.
    pub fn with_running(
        &self,
        at: InterruptedRegisters,
        mut runs: Vec<python::EvalLoopFrames>,
        interpreter: &Range<usize>,
    ) -> Vec<PathCall> {
        if runs.first().is_some_and(|run| run.mark == 0) {
            let is_inside = interpreter.contains(&at.pc);
            return if is_inside { self.with_unplaced(runs, 0) } else { self.with(runs, interpreter) };
        }
        runs.retain(|run| at.sp <= run.mark);
        let end = self.stack_pointers.first().copied().unwrap_or(at.sp);
        let around = runs.split_off(runs.partition_point(|run| run.mark < end));
        let mut calls: Vec<PathCall> = runs.into_iter().flat_map(|run| run.lines).map(PathCall::Python).collect();
        calls.extend(self.with(around, interpreter));
        calls
    }

    /// Returns the innermost `n_inside` calls, and the calls in Python's functions.
    fn with_unplaced(&self, runs: Vec<python::EvalLoopFrames>, n_inside: usize) -> Vec<PathCall> {
        let inside = self.callers.iter().take(n_inside).copied().map(PathCall::To);
        inside.chain(runs.into_iter().flat_map(|run| run.lines).map(PathCall::Python)).collect()
    }

    /// Leaves out the frames of some code, which are not the program's. The innermost stays.
    pub fn without_code(mut self, code: Range<usize>) -> StackPath {
        let frames = self.callers.iter().copied().zip(self.stack_pointers.iter().copied()).enumerate();
        let kept = frames.filter(|&(at, (caller, _))| at == 0 || !code.contains(&caller));
        (self.callers, self.stack_pointers) = kept.map(|(_, frame)| frame).unzip();
        self
    }

    /// Strips the C library's frames around main or a thread's function, and the program's own start. The first of these shows that the
    /// path ends there, so the words read beyond it do not matter. At least `fewest` frames stay.
    fn without_start(mut self, rules: &mut RuleCache, fewest: usize) -> StackPath {
        if self.end != PathEnd::Outermost {
            return self;
        }
        let inner = self.callers.iter().rposition(|&caller| !rules.is_start(caller)).map_or(fewest, |last| last + 1);
        if let Some(&first_start) = self.callers.get(inner) {
            let last = self.words.iter().rposition(|word| word.value == first_start);
            self.words.truncate(last.map_or(usize::MAX, |last| last + 1));
        }
        self.callers.truncate(inner);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use python::{EvalLoopFrames, PythonCall};

    fn run(mark: usize, names: &[&str]) -> EvalLoopFrames {
        let call = |name: &&str| PythonCall { function: (*name).into(), file: "heat.py".into(), line: 1, column: None };
        EvalLoopFrames { mark, lines: names.iter().map(call).collect() }
    }

    /// Return addresses as numbers, functions of Python's by name.
    fn shown(calls: Vec<PathCall>) -> String {
        let one = |call| match call {
            PathCall::To(address) => address.to_string(),
            PathCall::Python(call) => call.function.to_string(),
        };
        calls.into_iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn functions_of_python_stand_around_the_frames_that_ran_them_when_the_sample_was_taken() {
        // The interpreter's code is 100 to 199: 110 runs relax, which a function at 20 of a library was called by, which 120 has called for main.
        let path = StackPath {
            callers: vec![10, 110, 20, 120],
            stack_pointers: vec![1000, 1100, 1200, 1300],
            interrupted: false,
            words: Vec::new(),
            end: PathEnd::Cut,
        };
        let at = InterruptedRegisters { pc: 5, sp: 900, bp: 0 };
        let with = |runs| shown(path.with_running(at, runs, &(100..200)));
        let outer = || run(1350, &["main", "<module>"]);
        assert_eq!(with(vec![run(1150, &["relax"]), outer()]), "10 110 relax 20 120 main <module>");
        assert_eq!(
            with(vec![run(800, &["later"]), run(1150, &["relax"]), outer()]),
            "10 110 relax 20 120 main <module>"
        );
        assert_eq!(with(vec![outer(), run(5000, &["embedded"])]), "10 110 20 120 main <module> embedded");
        assert_eq!(with(vec![run(950, &["own"]), outer()]), "own 10 110 20 120 main <module>");
        assert_eq!(with(Vec::new()), "10 110 20 120");
        // CPython 3.9 does not say where its runs are.
        assert_eq!(with(vec![run(0, &["relax"]), run(0, &["main"])]), "10 110 relax main");
    }
}
