//! The exit codes of lb-run.

/// The exit code of lb-run if it does not become the program. Codes of 125 and above are as in `env` and shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LaunchExit {
    /// A text about lb-run itself was requested and printed.
    Good = 0,
    /// The manual could not be printed.
    Unwritten = 1,
    /// The command line was wrong.
    Usage = 2,
    /// liblbprof.so was not found.
    Library = 125,
    /// The program was found, but cannot be executed.
    NotExecutable = 126,
    NotFound = 127,
}
