//! Samples, and times without a core.

pub mod off_core;
pub mod sample;
