//! Why there is no script or no run of it.

use std::io;

use lbprof_collector::Operation;

/// Why there is no script or no run of it.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A line is wrong, or a rank cannot do what it says.
    #[error("line {line}: {what}")]
    Line {
        /// The line, from 1.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// Ranks wait for ever.
    #[error("deadlock: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Deadlock(Vec<Stuck>),
    /// The logs could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A rank that waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The rank.
    pub rank: u32,
    /// Its call.
    pub operation: Operation,
    /// The call's line, from 1.
    pub line: u32,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "rank {} waits in {} (line {})", self.rank, self.operation.name(), self.line)
    }
}
