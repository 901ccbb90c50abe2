//! What follows the replay sees, and within which part of the run.

pub(super) mod observer;
pub(super) mod scope;
