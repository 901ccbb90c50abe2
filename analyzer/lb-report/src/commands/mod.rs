//! The commands, a file or folder each.

pub(super) mod compare;
pub(super) mod dump;
pub(super) mod export;
pub(super) mod report;
pub(super) mod study;
