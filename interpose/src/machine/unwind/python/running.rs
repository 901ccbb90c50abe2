//! The frames of threads that go on while they are read.
//!
//! The reader is another thread and does not have the interpreter's lock, so nothing that it reads is sure to be there, or to be of one instant. All is
//! read from copies that the system makes ([`MemoryCopies`]). A thread leaves and enters its innermost functions all the time, its outermost one hardly
//! ever: frames count only if they lead to the same one as the last time, or twice in a row. The native stack decides which runs of the interpreter a
//! sample has seen.

use std::collections::HashMap;

use super::layout::NEXT_STATE;
use super::{EvalLoopFrames, MAX_FRAMES, PythonCall, PythonFailure, PythonFrame, PythonInterpreter, PythonReader};
use crate::machine::system::memory::MemoryCopies;

/// Reads the frames of threads, one after the other.
pub struct RunningFrames {
    python: &'static PythonInterpreter,
    /// Threads by an id of the reader's user.
    threads: HashMap<u32, RunningThread, foldhash::fast::FixedState>,
    /// Calls by their code and instruction.
    calls: HashMap<(usize, usize), KnownCall, foldhash::fast::FixedState>,
}

/// A thread that was read before.
#[derive(Default)]
struct RunningThread {
    /// Its states, one in each interpreter that it has called, and its pthread_self().
    states: Vec<usize>,
    pthread: usize,
    reads: u32,
    /// Addresses of the outermost frames.
    outermost: Vec<usize>,
    copies: MemoryCopies,
}

/// A call that was read before.
struct KnownCall {
    call: PythonCall,
    /// Addresses of the code's file, name and table of lines.
    identity: [usize; 3],
}

/// Number of reads of a thread after which its states are looked for again.
const READS_BETWEEN_LOOKS: u32 = 64;

/// Number of tries to read the frames of a thread.
const MAX_TRIES: u32 = 4;

/// More are not kept.
const MAX_THREADS: usize = 1 << 10;
const MAX_CALLS: usize = 1 << 14;

/// More interpreters, and states of one, are not looked at.
const MAX_INTERPRETERS: usize = 64;
const MAX_STATES: usize = 4096;

impl RunningFrames {
    /// Returns a reader that has read nothing yet.
    pub fn new(python: &'static PythonInterpreter) -> RunningFrames {
        let (threads, calls) = Default::default();
        RunningFrames { python, threads, calls }
    }

    /// Returns the frames of a thread of this number in the system, which has the same `id` each time, by runs, the innermost first; `None`: it runs no function of Python's.
    ///
    /// Errors: they changed too often.
    pub fn read(&mut self, id: u32, number: libc::pid_t) -> Result<Option<Vec<EvalLoopFrames>>, PythonFailure> {
        if self.threads.len() > MAX_THREADS || self.calls.len() > MAX_CALLS {
            (self.threads, self.calls) = Default::default();
        }
        let mut thread = self.threads.remove(&id).unwrap_or_default();
        let found = self.read_thread(&mut thread, number);
        self.threads.insert(id, thread);
        found
    }

    fn read_thread(
        &mut self,
        thread: &mut RunningThread,
        number: libc::pid_t,
    ) -> Result<Option<Vec<EvalLoopFrames>>, PythonFailure> {
        let is_look_due = thread.reads.is_multiple_of(READS_BETWEEN_LOOKS);
        thread.reads = thread.reads.wrapping_add(1);
        thread.copies.renew();
        if is_look_due || !thread.has_states(self.python) {
            (thread.states, thread.pthread) = self.find_states(number).unwrap_or_default();
        }
        if thread.states.is_empty() {
            return Ok(None);
        }
        let mut failure = PythonFailure::Unexpected;
        for _ in 0..MAX_TRIES {
            match self.read_once(thread) {
                Ok((runs, outermost)) if outermost == thread.outermost => {
                    return Ok((!runs.is_empty()).then_some(runs));
                }
                Ok((_, outermost)) => thread.outermost = outermost,
                Err(other) => failure = other,
            }
            thread.copies.renew();
        }
        Err(failure)
    }

    fn find_states(&self, number: libc::pid_t) -> Option<(Vec<usize>, usize)> {
        let PythonInterpreter { layout, runtime, number_at, .. } = self.python;
        let number_at = (*number_at).filter(|_| *runtime != 0)?;
        // Pages that are looked at now and then are not to be copied each time.
        let mut copies = MemoryCopies::default();
        let mut reading = PythonReader::new(&mut copies, false);
        let threads = &layout.threads;
        let [interpreters, next, first] = [threads.interpreters, threads.next_interpreter, threads.first]
            .map(|at| if threads.are_described { reading.word(runtime + at) } else { Some(at) });
        let (next, first) = (next?, first?);
        let (mut states, mut pthread) = (Vec::new(), 0);
        let mut interpreter = reading.word(runtime + interpreters?)?;
        for _ in 0..MAX_INTERPRETERS {
            if interpreter == 0 {
                break;
            }
            let mut state = reading.word(interpreter + first)?;
            for _ in 0..MAX_STATES {
                if state == 0 {
                    break;
                }
                // A state whose thread has not begun, or has ended, has none.
                let own = reading.word(state + threads.pthread)?;
                if own != 0 && reading.word_of_32(own + number_at) == Some(number as u32) {
                    states.push(state);
                    pthread = own;
                }
                state = reading.word(state + NEXT_STATE)?;
            }
            interpreter = reading.word(interpreter + next)?;
        }
        Some((states, pthread))
    }

    /// Reads the frames of a thread once, and the addresses of the outermost ones.
    fn read_once(&mut self, thread: &mut RunningThread) -> Result<(Vec<EvalLoopFrames>, Vec<usize>), PythonFailure> {
        let RunningFrames { calls, python, .. } = self;
        let mut reading = PythonReader::new(&mut thread.copies, false);
        let (mut runs, mut outermost) = (Vec::new(), Vec::new());
        for &state in &thread.states {
            let chain = python.chain(state, MAX_FRAMES, &mut reading).ok_or(PythonFailure::Unexpected)?;
            let mut frames = chain.frames.iter();
            for (mark, n) in chain.runs.into_iter().filter(|&(_, n)| n > 0) {
                let lines = frames.by_ref().take(n).map(|frame| find_call(python, calls, frame, &mut reading));
                let lines = lines.collect::<Option<Vec<PythonCall>>>().ok_or(PythonFailure::Unexpected)?;
                runs.push(EvalLoopFrames { mark, lines });
            }
            outermost.push(chain.outermost);
        }
        // Where an interpreter was called from another one, its runs lie further in.
        runs.sort_by_key(|run| run.mark);
        Ok((runs, outermost))
    }
}

impl RunningThread {
    /// Returns whether its states still exist and belong to it.
    fn has_states(&mut self, python: &PythonInterpreter) -> bool {
        let mut reading = PythonReader::new(&mut self.copies, false);
        self.states.iter().all(|state| reading.word(state + python.layout.threads.pthread) == Some(self.pthread))
    }
}

/// Returns the call of a frame, as it was read before if its code is the same.
fn find_call(
    python: &PythonInterpreter,
    calls: &mut HashMap<(usize, usize), KnownCall, foldhash::fast::FixedState>,
    frame: &PythonFrame,
    reading: &mut PythonReader,
) -> Option<PythonCall> {
    let layout = python.layout;
    let [file, name, lines] =
        [layout.code_file, layout.code_name, layout.code_lines].map(|at| reading.word(frame.code + at));
    let (identity, key) = ([file?, name?, lines?], (frame.code, frame.instruction));
    if let Some(known) = calls.get(&key).filter(|known| known.identity == identity) {
        return Some(known.call.clone());
    }
    let call = python.line(frame, reading)?;
    calls.insert(key, KnownCall { call: call.clone(), identity });
    Some(call)
}
