//! Offsets in CPython's states and frames: facts of the headers of each version (cpython/pystate.h, cpython/code.h, cpython/frameobject.h or internal/pycore_frame.h,
//! internal/pycore_interp.h, cpython/unicodeobject.h), for 64-bit builds. [`super::PythonInterpreter`] checks them against the objects that it meets.

pub struct PythonLayout {
    /// Prefix of `Py_Version`: 0x030b for 3.11.
    pub version: u32,
    /// In `_PyRuntime` (internal/pycore_runtime.h): 1 while the interpreter is initialised.
    pub initialized: usize,
    pub threads: StateLinks,
    /// Offsets of the pointers that lead from a thread's state to its innermost frame, each in the object of the one before.
    pub to_frame: &'static [usize],
    /// Separator between the frames of two runs of the interpreter's C function.
    pub runs: RunSeparator,
    /// In a frame: its code, the frame that it was called from, its instruction.
    pub frame_code: usize,
    pub frame_previous: usize,
    pub frame_instruction: usize,
    /// The form of that instruction, and of the table of lines.
    pub form: InstructionForm,
    /// In a code object: line of its first instruction; file, name and table of lines; the instructions.
    pub code_first_line: usize,
    pub code_file: usize,
    pub code_name: usize,
    pub code_lines: usize,
    pub code_instructions: usize,
    /// Size of the heads of strings: of those in ASCII, and of the others.
    pub ascii: usize,
    pub other: usize,
}

/// The way from `_PyRuntime` to the states of all threads.
pub struct StateLinks {
    /// In `_PyRuntime`: the first interpreter. In an interpreter: the next one, and the state of its first thread. If `are_described`, the offset in
    /// `_PyRuntime` of the word that states each.
    pub interpreters: usize,
    pub next_interpreter: usize,
    pub first: usize,
    pub are_described: bool,
    /// In a thread's state: its pthread_self().
    pub pthread: usize,
}

/// In a thread's state: the next one of its interpreter.
pub const NEXT_STATE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionForm {
    /// The offset in bytes; lines are in co_lnotab (Objects/lnotab_notes.txt).
    Byte,
    /// The number; lines are in the first form of co_linetable.
    Number,
    /// The address; lines are in the second form of co_linetable.
    Address,
}

/// The separator between the frames of two runs of the interpreter's C function.
pub enum RunSeparator {
    /// Each frame is a run. The place of the runs on the C stack is not known.
    None,
    /// The thread's state points (`state`) to a record on the C stack, which points to the record of the run before (`previous`). The outermost frame
    /// of a run has a byte that is not 0 (`is_first`); without such a byte, each frame is a run.
    Records { state: usize, previous: usize, is_first: Option<usize> },
    /// After the outermost frame of a run comes one on the C stack that is no function's: the byte says so (`owner`).
    Frames { owner: usize },
}

/// The value of `owner` of a frame on the C stack.
pub const OWNED_BY_C_STACK: u8 = 3;

/// In every object: its type. In a string: its length, and how it is stored. In bytes: how many there are, and the first.
pub const TYPE: usize = 8;
pub const LENGTH: usize = 16;
pub const STRING_STATE: usize = 32;
pub const BYTES: usize = 32;

pub static LAYOUTS: [PythonLayout; 5] = [
    PYTHON_3_9,
    PythonLayout {
        version: 0x030a,
        runs: RunSeparator::Records { state: 48, previous: 8, is_first: None },
        frame_instruction: 96,
        form: InstructionForm::Number,
        ..PYTHON_3_9
    },
    PythonLayout {
        version: 0x030b,
        initialized: 16,
        threads: StateLinks { interpreters: 40, first: 16, pthread: 152, ..THREADS_3_9 },
        to_frame: &[56, 8],
        runs: RunSeparator::Records { state: 56, previous: 16, is_first: Some(68) },
        frame_code: 32,
        frame_previous: 48,
        code_first_line: 72,
        code_instructions: 184,
        ascii: 48,
        other: 72,
        ..PYTHON_3_12
    },
    PYTHON_3_12,
    PythonLayout {
        version: 0x030d,
        initialized: 600,
        threads: StateLinks { interpreters: 40, next_interpreter: 64, first: 72, are_described: true, pthread: 152 },
        to_frame: &[72],
        code_instructions: 200,
        ..PYTHON_3_12
    },
];

const THREADS_3_9: StateLinks =
    StateLinks { interpreters: 32, next_interpreter: 0, first: 8, are_described: false, pthread: 176 };

const PYTHON_3_9: PythonLayout = PythonLayout {
    version: 0x0309,
    initialized: 12,
    threads: THREADS_3_9,
    to_frame: &[24],
    runs: RunSeparator::None,
    frame_code: 32,
    frame_previous: 24,
    frame_instruction: 104,
    form: InstructionForm::Byte,
    code_first_line: 40,
    code_file: 104,
    code_name: 112,
    code_lines: 120,
    code_instructions: 0,
    ascii: 48,
    other: 72,
};

const PYTHON_3_12: PythonLayout = PythonLayout {
    version: 0x030c,
    initialized: 16,
    threads: StateLinks { interpreters: 40, first: 72, pthread: 136, ..THREADS_3_9 },
    to_frame: &[56, 0],
    runs: RunSeparator::Frames { owner: 70 },
    frame_code: 0,
    frame_previous: 8,
    frame_instruction: 56,
    form: InstructionForm::Address,
    code_first_line: 68,
    code_file: 112,
    code_name: 128,
    code_lines: 136,
    code_instructions: 192,
    ascii: 40,
    other: 56,
};
