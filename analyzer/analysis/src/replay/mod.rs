//! Follows all ranks through the run at once: who waits for whom, why, and how long the run would take otherwise.
//!
//! ```text
//!   steps of all ranks ─→ segments/   of the run, up to a collective of all ranks each (cut.rs): some are followed at a time
//!   (timeline)                │
//!                         engine/     in the order of time: what begins, what ends
//!                             │ ↑
//!                             │ └── matching/  who communicates with whom, and what a call needs of others (needs.rs)
//!                             └→ sinks/        what is found out goes to
//!                                 ├→ what_if/   clocks: how long the run would take otherwise
//!                                 ├→ blocking/  on another core: what a wait is caused by, the critical path
//!                                 └→ watcher.rs who wants to know what ranks do when, in a part of the run (scope.rs)
//! ```
//!
//! A call that ends must have what it waited for behind it: a message that was sent, members that have entered. Where clocks say otherwise
//! the call ends later, and what the thread does after it moves along until its next call that waits. Memory grows with ranks and with
//! messages in transit, not with events: histories are kept only so far back.

pub mod blocking;
mod comm_members;
mod consistent_cut;
mod engine;
mod matching;
mod needs;
mod observer;
mod scope;
mod segment_result;
mod segments;
mod sinks;
mod thread;
pub mod timeline;
pub mod what_if;

pub use segments::{ReplayOptions, SurveyedRun, decline_share, follow, follow_share};
#[cfg(test)]
mod tests;
pub use observer::{
    EndedRequest, InitialWait, MatchedMessage, ObserverState, ReplayObserver, SegmentObserver, StateInterval,
    TeamInterval,
};
pub use scope::{ReplayScope, ScopeObserver};
