//! Patterns of calls that repeat: bursts, rounds, outlines.

pub mod bursts;
pub mod found_loop;
pub(super) mod outline;
pub mod rounds;
