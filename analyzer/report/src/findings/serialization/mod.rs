//! Ranks wait for one another though none has that much more work.

pub mod awaited_master;
pub mod chains;
pub mod moving_rank;
pub mod slow_in_parts;
pub mod slow_in_turn;
mod turns;
pub mod undivided;
