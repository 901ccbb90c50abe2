//! Observers of the replay, and the part of the run that they observe.

pub(super) mod observer;
pub(super) mod scope;
