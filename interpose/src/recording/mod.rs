//! A thread's records: from the slot of a call to the rank's log.

pub mod flush;
pub mod thread;
