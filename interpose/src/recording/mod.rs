//! A thread's records: from the slot of a call to the rank's log.

pub mod close;
pub mod flush;
pub mod in_finalize;
pub mod nested;
pub mod registry;
pub mod room;
pub mod slot;
