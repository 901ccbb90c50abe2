//! Processes that analyse a run together, and how bytes get from one to another.
//!
//! ```text
//!   passes            survey, sums, the folder's logs
//!      │ values
//!   process_group.rs  broadcast, reduce and gather by a tree, in the order of processes; exchange by pairs
//!      │ messages: checked, cut into pieces
//!   Transport         pieces of at most 8 MiB between two processes: MPI (the program lb-report-mpi), threads (threads.rs)
//! ```
//!
//! Process 0 leads: it analyses the run as a single process does, and asks the others for their part where all records are read. So no
//! pass knows how bytes travel, and no transport knows what they mean.

pub mod codec;
pub mod process_group;
pub mod threads;

use bincode::{Decode, Encode};

pub use process_group::ProcessGroup;

/// Gets bytes from one process to another. Between two processes they arrive in the order in which they were sent.
pub trait Transport: Send + Sync {
    /// The number of this process.
    fn process(&self) -> usize;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// The name of the host that it runs on, where processes run on several.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Sends bytes, at most [`process_group::PIECE`] of them, to another process. It may wait until they are received.
    ///
    /// Errors: the other process is not there any more.
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), TransportFailure>;

    /// Waits for bytes from another process.
    ///
    /// Errors: the other process is not there any more.
    fn receive(&self, from: usize) -> Result<Vec<u8>, TransportFailure>;
}

/// Why the processes cannot go on together.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, thiserror::Error)]
#[error("process {process} failed: {what}")]
pub struct TransportFailure {
    /// The process.
    pub process: usize,
    /// Description of the failure.
    pub what: String,
}
