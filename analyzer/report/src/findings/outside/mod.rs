//! The judged ranks wait for a rank that is none of them, such as a coordinator of workers.

pub mod busy_coordinator;
pub mod sleeping_coordinator;
