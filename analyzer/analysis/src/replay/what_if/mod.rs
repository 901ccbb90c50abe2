//! Predicts the run under other conditions: on an ideal or a given network, or with some work faster or balanced (docs/metrics.md §1, replay).

mod alignment;
mod balance;
mod branches;
mod clocks;
mod conditions;
mod edges;
mod group;
mod mean;
mod pace;
#[cfg(test)]
mod scalar;
mod scenarios;
mod threads;

pub use alignment::is_known as iterations_are_known;
pub use balance::serial_least_s;
pub use clocks::{NotedClocks, ReplayClocks};
pub use conditions::{ReplayConditions, ReplayNetwork, ReplayWork};
pub use group::RETURNS;
pub use scenarios::{condition, plan, plan_within};
