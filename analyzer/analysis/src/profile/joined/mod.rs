//! Iterations joined into blocks, so that memory stays bounded.

pub(super) mod bounds;
pub(super) mod found_iterations;
pub mod joining;
