//! Predicts the run under other conditions: on an ideal or a given network, or with some work faster or balanced (docs/metrics.md §1, replay).
//!
//! There is no second replay: in the same pass each thread has a clock for each scenario, which `sinks/mod.rs` moves on.
//!
//! ```text
//!   scenarios.rs    which scenarios, and their conditions (conditions.rs): a network, and factors of work from
//!     balance.rs, mean.rs, branches.rs  a region evenly on all ranks, wherever its code lies
//!     pace.rs, alignment.rs, edges.rs   each iteration evenly, and what lies around the loop
//!     threads.rs                        the threads of parallel regions
//!   clocks.rs       the clocks of all threads, four scenarios at once (group.rs, SIMD lanes):
//!     computation   + time × factor
//!     a need        max(own clock, clock at the event that satisfies it + latency + bytes / bandwidth)
//!     the rest of a call, on the measured network alone
//! ```
//!
//! The prediction is the latest clock at the end of the window; segments add up ([`super::cut::segment_result`]).

mod alignment;
mod balance;
mod branches;
mod clocks;
mod conditions;
mod edges;
mod group;
mod mean;
mod pace;
mod scenarios;
mod threads;

pub use alignment::is_known as iterations_are_known;
pub use balance::serial_least_s;
pub(crate) use clocks::{NotedClocks, ScenarioClocks};
pub(crate) use conditions::ScenarioConditions;
#[cfg(test)]
pub(crate) use conditions::{ScenarioNetwork, ScenarioWork};
pub(crate) use group::RETURNS;
pub(crate) use scenarios::{plan_scenarios, plan_within, replay_conditions};
