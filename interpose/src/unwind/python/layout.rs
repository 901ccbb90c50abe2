//! Offsets in CPython's frames: facts of the public headers of each version (cpython/pystate.h, cpython/code.h, internal/pycore_frame.h,
//! cpython/unicodeobject.h), for 64-bit builds. [`super::PythonInterpreter`] checks them against the objects that it meets.

/// The offsets of one version.
pub struct PythonLayout {
    /// Prefix of `Py_Version`: 0x030b for 3.11.
    pub version: u32,
    /// In `_PyRuntime` (internal/pycore_runtime.h): 1 while the interpreter is initialised.
    pub initialized: usize,
    /// From a thread's state to its innermost frame: the offset of a pointer, and then those of pointers in what the one before points to.
    pub to_frame: &'static [usize],
    /// Separator between the frames of two runs of the interpreter's C function.
    pub runs: RunSeparator,
    /// In a frame: its code, the frame that it was called from, its instruction.
    pub frame_code: usize,
    pub frame_previous: usize,
    pub frame_instruction: usize,
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

/// The separator between the frames of two runs of the interpreter's C function.
pub enum RunSeparator {
    /// The thread's state points (`state`) to a record on the C stack, which points to that of the run before (`previous`). The outermost frame
    /// of a run has a byte that is not 0 (`is_first`).
    Records { state: usize, previous: usize, is_first: usize },
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

/// The versions that are known.
pub static LAYOUTS: [PythonLayout; 3] = [
    PythonLayout {
        version: 0x030b,
        initialized: 16,
        to_frame: &[56, 8],
        runs: RunSeparator::Records { state: 56, previous: 16, is_first: 68 },
        frame_code: 32,
        frame_previous: 48,
        frame_instruction: 56,
        code_first_line: 72,
        code_file: 112,
        code_name: 128,
        code_lines: 136,
        code_instructions: 184,
        ascii: 48,
        other: 72,
    },
    PythonLayout {
        version: 0x030c,
        initialized: 16,
        to_frame: &[56, 0],
        runs: RunSeparator::Frames { owner: 70 },
        frame_code: 0,
        frame_previous: 8,
        frame_instruction: 56,
        code_first_line: 68,
        code_file: 112,
        code_name: 128,
        code_lines: 136,
        code_instructions: 192,
        ascii: 40,
        other: 56,
    },
    PythonLayout {
        version: 0x030d,
        initialized: 600,
        to_frame: &[72],
        runs: RunSeparator::Frames { owner: 70 },
        frame_code: 0,
        frame_previous: 8,
        frame_instruction: 56,
        code_first_line: 68,
        code_file: 112,
        code_name: 128,
        code_lines: 136,
        code_instructions: 200,
        ascii: 40,
        other: 56,
    },
];
