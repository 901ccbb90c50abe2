//! The run again under other conditions: on an ideal network, on a given one, with some work faster or balanced (METRICS §1, replay).

mod balance;
mod clocks;
mod conditions;
mod group;
mod questions;

pub use clocks::{Clocks, Noted};
pub use conditions::{Condition, Network, Work};
pub use group::RETURNS;
pub use questions::{condition, plan};
