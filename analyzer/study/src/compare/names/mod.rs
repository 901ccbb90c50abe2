//! Regions of two sides that are the same code, and why others are not.

pub(super) mod code_names;
pub mod reasons;
pub(super) mod regions;
