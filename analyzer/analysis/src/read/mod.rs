//! A run's folder → the streams of its ranks' records, and the definitions that they refer to by number.

pub mod definitions;
pub(crate) mod files;
pub mod first_look;
pub(crate) mod known_threads;
mod leading_threads;
pub mod open;
pub mod part;
pub mod pass;
pub mod read_ahead;
pub mod span;
pub mod spawned;
mod thread_facts;
