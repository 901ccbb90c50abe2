//! The operations that a rank started under requests and has not completed.

use rustc_hash::FxHashMap;

use super::started::{NOTHING, StartedOperation, StartedOperations};

#[derive(Debug, Default)]
pub struct OpenRequests(FxHashMap<u32, StartedOperations>);

impl OpenRequests {
    /// Adds an operation that was started under a request, alone or after another.
    pub fn start(&mut self, request: u32, started: StartedOperation) {
        let [first, second] = self.0.entry(request).or_insert(NOTHING);
        *(if matches!(first, StartedOperation::Nothing) { first } else { second }) = started;
    }

    pub fn complete(&mut self, request: u32) -> StartedOperations {
        self.0.remove(&request).unwrap_or(NOTHING)
    }

    pub fn look(&self, request: u32) -> StartedOperations {
        self.0.get(&request).copied().unwrap_or(NOTHING)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
