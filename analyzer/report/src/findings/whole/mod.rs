//! Statements about all that a run loses.

pub mod asleep;
pub mod balanced;
pub mod master_and_workers;
pub mod nothing;
pub mod thread_pool;
pub mod threads;
pub mod unclear_polls;
