//! A run's folder → the streams of its ranks' records, and the definitions that they refer to by number.

pub mod ahead;
pub mod definitions;
pub(crate) mod files;
pub mod first_look;
mod gap_uses;
pub mod open;
pub mod pass;
pub mod span;
pub mod spawned;
pub mod together;
