//! The transport of bytes from one process to another.

use crate::analyse::ProcessFailure;

/// A transport of bytes from one process to another, in the order in which they were sent.
pub trait Transport: Send + Sync {
    /// Returns the number of this process.
    fn process(&self) -> usize;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// Returns the name of the host, if processes run on several.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Sends bytes, at most [`super::PIECE`] of them, to another process. It may wait until they are received.
    ///
    /// Errors: the other process has ended.
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ProcessFailure>;

    /// Waits for bytes from another process.
    ///
    /// Errors: the other process has ended.
    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure>;
}
