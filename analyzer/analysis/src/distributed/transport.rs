//! The transport of bytes from one process to another.

use crate::analyse::ProcessFailure;

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

    /// Sends bytes, at most [`super::PIECE`] of them, to another process. It may wait until they are received.
    ///
    /// Errors: the other process is not there any more.
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ProcessFailure>;

    /// Waits for bytes from another process.
    ///
    /// Errors: the other process is not there any more.
    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure>;
}
