//! The frames of Python functions, as CPython's own records of a thread have them.
//!
//! MPI is called from within the interpreter, so nothing but the calling thread changes its frames, whether or not it holds the interpreter's
//! lock, and they keep alive all that they refer to. The one function of Python's that is called reads a variable: the calling thread's state. When the
//! interpreter ends, however, it takes away the states of all threads but the one that ends it: only the frames of the process's first thread are read.
//!
//! [`PythonInterpreter::frames`] also returns everything that it has read, in order, as words. As with the words of the stack, the frames
//! follow from them alone, and the address of each word from the words before it: while the words do not change, neither do the frames. The words
//! include names and tables of lines, since another function may come to lie where one was.
//!
//! [`running`] reads the frames of any thread while that goes on.

mod layout;
mod lines;
pub mod running;

use std::collections::HashSet;
use std::ffi::{CStr, c_char};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use crate::machine::system::loader::foreign;
use crate::machine::system::loader::objects;
use crate::machine::system::memory::{MemoryCopies, MemoryReader, ReadMemory};
use layout::{
    BYTES, InstructionForm, LAYOUTS, LENGTH, OWNED_BY_C_STACK, PythonLayout, RunSeparator, STRING_STATE, TYPE,
};

static INTERPRETER: OnceLock<PythonInterpreter> = OnceLock::new();
/// True if it is not what it seemed to be.
static IS_OTHER: AtomicBool = AtomicBool::new(false);

/// Looks for an interpreter, once. Returns the version of one whose layout is not known.
pub fn look_for() -> Option<String> {
    let interpreter = match find_interpreter() {
        Ok(found) => found?,
        Err(version) => return Some(version),
    };
    let _ = INTERPRETER.set(interpreter);
    None
}

/// Returns the interpreter of the process, if its layout is known.
pub fn python_interpreter() -> Option<&'static PythonInterpreter> {
    INTERPRETER.get().filter(|_| !IS_OTHER.load(Relaxed))
}

pub fn give_up() {
    IS_OTHER.store(true, Relaxed);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonCall {
    /// The function's qualified name; before 3.11 its name.
    pub function: Arc<str>,
    pub file: Arc<str>,
    /// The line; 0: there is none.
    pub line: u32,
    /// The column, from 0 on, where it is known.
    pub column: Option<u32>,
}

/// Up to eight bytes, and what they held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ReadWord {
    /// Address of the bytes. They begin later if not all bits count.
    pub address: usize,
    pub value: u64,
    pub mask: u64,
}

#[derive(Debug, Default)]
pub struct ReadState {
    /// The thread's state; 0: it has none, and nothing was read.
    pub state: usize,
    pub words: Vec<ReadWord>,
}

/// The frames of one run of the interpreter's C function.
#[derive(Debug)]
pub struct EvalLoopFrames {
    /// An address in the frame of that C function; 0: not known.
    pub mark: usize,
    /// The frames, the innermost first.
    pub lines: Vec<PythonCall>,
}

/// A frame's code object and instruction.
struct PythonFrame {
    code: usize,
    instruction: usize,
}

#[derive(Default)]
struct PythonChain {
    /// The frames, the innermost first.
    frames: Vec<PythonFrame>,
    /// For each run its mark and how many of them it has.
    runs: Vec<(usize, usize)>,
    /// Address of the outermost frame.
    outermost: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PythonFailure {
    /// Memory could not be read.
    Unreadable,
    /// Something is not what this version of Python has there.
    Unexpected,
}

/// Frames of a thread at most.
pub const MAX_FRAMES: usize = super::MAX_DEPTH;

/// Frames that are followed at most, to find where a run ends.
const MAX_CHAIN: usize = 1 << 16;

/// Bytes of a name and of a table of lines at most.
const MAX_NAME: usize = 4096;
const MAX_TABLE: usize = 1 << 20;

pub struct PythonInterpreter {
    layout: &'static PythonLayout,
    /// Address of `_PyRuntime`; 0: not known.
    runtime: usize,
    /// Offset from pthread_self() of the thread's number in the system, or `None` if the system does not copy memory, so that [`running`] can read nothing.
    pub number_at: Option<usize>,
    code_bounds: Range<usize>,
    thread_state: unsafe extern "C" fn() -> usize,
    /// Types of objects.
    code: usize,
    string: usize,
    bytes: usize,
}

/// Looks for an interpreter. The error is the version of one whose layout is not known.
fn find_interpreter() -> Result<Option<PythonInterpreter>, String> {
    let version = foreign::visible_definition(c"Py_GetVersion");
    if version == 0 || foreign::visible_definition(c"Py_IsInitialized") == 0 {
        return Ok(None);
    }
    // SAFETY: a function of the interpreter's, which gives a constant text.
    let text = unsafe {
        let version = std::mem::transmute::<usize, unsafe extern "C" fn() -> *const c_char>(version);
        CStr::from_ptr(version()).to_string_lossy()
    };
    let text = text.split(' ').next().unwrap_or_default();
    let mut numbers = text.split('.').map_while(|number| number.parse::<u32>().ok());
    let version = numbers.next().zip(numbers.next()).map(|(major, minor)| major << 8 | minor);
    let named = [c"PyGILState_GetThisThreadState", c"PyCode_Type", c"PyUnicode_Type", c"PyBytes_Type"]
        .map(foreign::visible_definition);
    // Builds that trace references, and those without a global lock, have other heads of objects.
    let is_other = [c"_Py_AddToAllObjects", c"_Py_MergeZeroLocalRefcount"].map(foreign::visible_definition) != [0, 0];
    let layout = LAYOUTS.iter().find(|layout| Some(layout.version) == version && !is_other);
    match (layout, named) {
        (Some(layout), [thread_state, code, string, bytes]) if !named.contains(&0) => {
            let code_bounds = objects::bounds_at(thread_state);
            // SAFETY: a function of the interpreter's, of this type.
            let thread_state = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn() -> usize>(thread_state) };
            let (runtime, number_at) = (foreign::visible_definition(c"_PyRuntime"), find_number_in_pthread());
            Ok(Some(PythonInterpreter { layout, runtime, number_at, code_bounds, thread_state, code, string, bytes }))
        }
        _ => Err(format!("{text}{}", if is_other { " in a build with other objects" } else { "" })),
    }
}

/// Returns the offset from pthread_self() of a thread's number in the system. The C library does not say; the calling thread's number shows it.
fn find_number_in_pthread() -> Option<usize> {
    const FARTHEST: usize = 2048;
    // SAFETY: plain queries.
    let (own, number) = unsafe { (libc::pthread_self() as usize, libc::gettid()) };
    let mut copies = MemoryCopies::default();
    (0..FARTHEST).step_by(size_of::<libc::pid_t>()).find(|at| {
        let mut bytes = [0; size_of::<libc::pid_t>()];
        copies.fill(own + at, &mut bytes) && libc::pid_t::from_ne_bytes(bytes) == number
    })
}

impl PythonInterpreter {
    /// Returns whether it is, or may be, initialised. Many programs are linked with a library of Python's that they do not use.
    pub fn is_initialized(&self) -> bool {
        // SAFETY: a variable of the interpreter's.
        self.runtime == 0 || unsafe { ((self.runtime + self.layout.initialized) as *const i32).read_volatile() } != 0
    }

    pub fn code_bounds(&self) -> Range<usize> {
        self.code_bounds.clone()
    }

    /// Returns the calling thread's state; 0: the interpreter does not know the thread, or has ended.
    #[inline]
    pub fn thread_state(&self) -> usize {
        // SAFETY: reads a variable of the interpreter's and one of the thread's.
        unsafe { (self.thread_state)() }
    }

    /// Returns the innermost frame's instruction, which distinguishes most calls; 0: there is none.
    ///
    /// # Safety
    /// The state of the calling thread, which is the process's first, or 0.
    #[inline]
    pub unsafe fn instruction(&self, state: usize) -> usize {
        let mut at = state;
        for offset in self.layout.to_frame {
            if at == 0 {
                return 0;
            }
            // SAFETY: the caller's promise: the state and its innermost frame.
            at = unsafe { ((at + offset) as *const usize).read() };
        }
        // SAFETY: as above.
        if at == 0 { 0 } else { unsafe { ((at + self.layout.frame_instruction) as *const usize).read() } }
    }

    /// Returns the frames of the thread with this state, by runs, the innermost first, and the words read. There are at most `depth` or [`MAX_FRAMES`]:
    /// then the last run ends early.
    pub fn frames(&self, state: usize, depth: usize) -> Result<(Vec<EvalLoopFrames>, ReadState), PythonFailure> {
        let mut memory = MemoryReader::default();
        let mut reading = PythonReader::new(&mut memory, true);
        reading.read.state = state;
        let found = if state == 0 { Some(Vec::new()) } else { self.runs(state, depth.min(MAX_FRAMES), &mut reading) };
        match found {
            Some(runs) => Ok((runs, reading.read)),
            None => Err(reading.failure.unwrap_or(PythonFailure::Unreadable)),
        }
    }

    fn runs(&self, state: usize, most: usize, reading: &mut PythonReader) -> Option<Vec<EvalLoopFrames>> {
        // First the frames alone: most other paths differ there.
        let chain = self.chain(state, most, reading)?;
        let mut runs = Vec::with_capacity(chain.runs.len());
        let mut left = chain.frames.iter();
        for (mark, n) in chain.runs {
            let lines =
                left.by_ref().take(n).map(|frame| self.line(frame, reading)).collect::<Option<Vec<PythonCall>>>()?;
            runs.push(EvalLoopFrames { mark, lines });
        }
        Some(runs)
    }

    /// Returns at most `most` frames. If no words are kept, the outer ones are followed to the end.
    fn chain(&self, state: usize, most: usize, reading: &mut PythonReader) -> Option<PythonChain> {
        let layout = self.layout;
        let mut at = layout.to_frame.iter().try_fold(state, |at, offset| reading.word(at + offset))?;
        let mut record = match layout.runs {
            RunSeparator::Records { state: offset, .. } => reading.word(state + offset)?,
            _ => 0,
        };
        let (mut chain, mut of_run) = (PythonChain::default(), 0);
        for _ in 0..MAX_CHAIN {
            if at == 0 || reading.keeps_words && chain.frames.len() == most && of_run == 0 {
                return reading.expect(of_run == 0).map(|()| chain);
            }
            let code = reading.word(at + layout.frame_code)?;
            let outer = reading.word(at + layout.frame_previous)?;
            let instruction = reading.word(at + layout.frame_instruction)?;
            let (is_function, mark) = match layout.runs {
                RunSeparator::None => (true, Some(0)),
                RunSeparator::Records { previous, is_first, .. } => {
                    let ends_run = is_first.map_or(Some(1), |is_first| reading.byte(at + is_first))? != 0;
                    let outer = if ends_run { reading.word(record + previous)? } else { record };
                    (true, ends_run.then(|| std::mem::replace(&mut record, outer)))
                }
                RunSeparator::Frames { owner } => match reading.byte(at + owner)? {
                    OWNED_BY_C_STACK => (false, Some(at)),
                    _ => (true, None),
                },
            };
            // For the others only the end of their run matters.
            if is_function && chain.frames.len() < most {
                chain.frames.push(PythonFrame { code, instruction });
                of_run += 1;
            }
            chain.runs.extend(mark.map(|mark| (mark, std::mem::take(&mut of_run))));
            chain.outermost = at;
            at = outer;
        }
        None
    }

    /// Returns the position of a frame in its source.
    fn line(&self, frame: &PythonFrame, reading: &mut PythonReader) -> Option<PythonCall> {
        let (layout, code) = (self.layout, frame.code);
        reading.is_a(code, self.code)?;
        let first_line = reading.word_of_32(code + layout.code_first_line)?;
        let [file, name, lines] =
            [layout.code_file, layout.code_name, layout.code_lines].map(|at| reading.word(code + at));
        let (file, function) = (self.string(file?, reading)?, self.string(name?, reading)?);
        // A frame that has not begun is before its first instruction.
        let number = match layout.form {
            InstructionForm::Byte => (frame.instruction as i32).max(0) as usize,
            InstructionForm::Number => 2 * (frame.instruction as i32).max(0) as usize,
            InstructionForm::Address => frame.instruction.saturating_sub(code + layout.code_instructions) / 2,
        };
        let (line, column) = self.position(lines?, first_line, number, reading)?;
        Some(PythonCall { function: function.into(), file: file.into(), line, column })
    }

    /// Returns the line and column of an instruction by a table of lines.
    fn position(
        &self,
        table: usize,
        first_line: u32,
        instruction: usize,
        reading: &mut PythonReader,
    ) -> Option<(u32, Option<u32>)> {
        reading.is_a(table, self.bytes)?;
        let length = reading.word(table + LENGTH)?;
        reading.expect(length <= MAX_TABLE)?;
        // Most tables are long, and few of their bytes matter.
        let mut bytes = Vec::new();
        loop {
            let more = (bytes.len() + 64).min(length);
            let is_whole = more == length;
            bytes.resize(more, 0);
            reading.look(table + BYTES, &mut bytes)?;
            let found = match self.layout.form {
                InstructionForm::Byte => lines::position_in_pairs(&bytes, first_line, instruction, false),
                InstructionForm::Number => lines::position_in_pairs(&bytes, first_line, instruction, true),
                InstructionForm::Address => lines::line_position(&bytes, first_line, instruction),
            };
            match found {
                // An entry that seems to end with the bytes read so far may go on.
                Some(found) if is_whole || found.bytes < more => {
                    reading.remember(table + BYTES, bytes.get(..found.bytes)?);
                    return Some((found.line, found.column));
                }
                _ if is_whole => {
                    reading.remember(table + BYTES, &bytes);
                    return Some((first_line, None));
                }
                _ => bytes.resize(more * 2, 0),
            }
        }
    }

    fn string(&self, string: usize, reading: &mut PythonReader) -> Option<String> {
        if let Some((_, known)) = reading.known.iter().find(|(known, _)| *known == string) {
            return Some(known.clone());
        }
        reading.is_a(string, self.string)?;
        let length = reading.word(string + LENGTH)?;
        reading.expect(length <= MAX_NAME)?;
        let state = reading.word_of_32(string + STRING_STATE)?;
        let (size, is_compact, is_ascii) = (state >> 2 & 7, state >> 5 & 1 == 1, state >> 6 & 1 == 1);
        reading.expect(is_compact && [1, 2, 4].contains(&size))?;
        let head = if is_ascii { self.layout.ascii } else { self.layout.other };
        let mut bytes = vec![0; length * size as usize];
        reading.look(string + head, &mut bytes)?;
        reading.remember(string + head, &bytes);
        let chunks = bytes.chunks(size as usize);
        let numbers = chunks.map(|chunk| chunk.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)));
        let text: String = numbers.map(|number| char::from_u32(number).unwrap_or('\u{fffd}')).collect();
        reading.known.push((string, text.clone()));
        Some(text)
    }
}

impl ReadState {
    /// Returns whether all is as it was.
    ///
    /// # Safety
    /// The state belongs to the calling thread, which is the process's first.
    #[inline]
    pub unsafe fn holds(&self) -> bool {
        self.words.iter().all(|word| {
            // SAFETY: a word is there if those before it are as they were.
            let found = unsafe { (word.address as *const u64).read_unaligned() };
            found & word.mask == word.value
        })
    }
}

/// Reads, and keeps the words read if `keeps_words`.
struct PythonReader<'a> {
    memory: &'a mut dyn ReadMemory,
    keeps_words: bool,
    read: ReadState,
    /// The addresses of the words kept.
    kept: HashSet<(usize, u64), foldhash::fast::FixedState>,
    /// Strings that were read.
    known: Vec<(usize, String)>,
    /// Reason, besides memory, that keeps from reading.
    failure: Option<PythonFailure>,
}

impl<'a> PythonReader<'a> {
    fn new(memory: &'a mut dyn ReadMemory, keeps_words: bool) -> PythonReader<'a> {
        let (read, kept, known, failure) = Default::default();
        PythonReader { memory, keeps_words, read, kept, known, failure }
    }

    /// Reads bytes that are not to be kept.
    fn look(&mut self, address: usize, bytes: &mut [u8]) -> Option<()> {
        self.memory.fill(address, bytes).then_some(())
    }

    /// Keeps bytes that were read, of an object that has eight more before them.
    fn remember(&mut self, address: usize, bytes: &[u8]) {
        if !self.keeps_words {
            return;
        }
        for (at, chunk) in (address..).step_by(8).zip(bytes.chunks(8)) {
            // The last word may not end after the last bytes.
            let missing = 8 - chunk.len();
            let mut value = [0; 8];
            for (byte, &read) in value.iter_mut().skip(missing).zip(chunk) {
                *byte = read;
            }
            let (address, value, mask) = (at - missing, u64::from_le_bytes(value), u64::MAX << (8 * missing));
            if self.kept.insert((address, mask)) {
                self.read.words.push(ReadWord { address, value, mask });
            }
        }
    }

    fn array<const N: usize>(&mut self, address: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.look(address, &mut bytes)?;
        self.remember(address, &bytes);
        Some(bytes)
    }

    fn word(&mut self, address: usize) -> Option<usize> {
        self.array(address).map(usize::from_le_bytes)
    }

    fn word_of_32(&mut self, address: usize) -> Option<u32> {
        self.array(address).map(u32::from_le_bytes)
    }

    fn byte(&mut self, address: usize) -> Option<u8> {
        self.array(address).map(|[byte]| byte)
    }

    /// Goes on if the object is of this type.
    fn is_a(&mut self, object: usize, kind: usize) -> Option<()> {
        let mut found = [0; 8];
        self.look(object + TYPE, &mut found)?;
        self.expect(usize::from_le_bytes(found) == kind)
    }

    fn expect(&mut self, is_so: bool) -> Option<()> {
        if !is_so {
            self.failure = Some(PythonFailure::Unexpected);
        }
        is_so.then_some(())
    }
}
