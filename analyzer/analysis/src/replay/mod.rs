//! Replays all ranks of a run in the order of time: who waited for whom, why, and how long the run would take under other conditions.
//!
//! ```text
//!   steps of all ranks ─→ segments/   splits the run at collectives of all ranks (cut/); cores replay segments in parallel
//!   (timeline/)               │
//!                         engine/     replays one segment in the order of time
//!                             │ ↑
//!                             │ └── matching/    who communicates with whom, and what a call needs of other ranks (ended_call.rs)
//!                             └──→ sinks/        consume the events of the replay:
//!                                 ├→ what_if/    clocks of what-if scenarios: how long the run would take
//!                                 ├→ blocking/   causes of waits and the critical path, on another core
//!                                 └→ observers/ activities over time, restricted to a part of the run
//! ```
//!
//! A call cannot end before its needs were satisfied: a message was sent, all members have entered. If the clocks of two nodes contradict
//! that, the end of the call is moved to a later time, and the thread's next events with it, until the time in its next calls has absorbed the
//! delay. Memory grows with ranks and with messages in transit, not with events: histories have a limited length.

pub(crate) mod blocking;
mod comm_members;
pub(crate) mod cut;
mod ended_call;
mod engine;
mod matching;
mod observers;
pub(crate) mod segments;
mod sinks;
mod thread;
pub(crate) mod timeline;
pub mod what_if;

pub(crate) use segments::StackSample;
pub use segments::{ReplayOptions, SurveyedRun, replay_run, replay_run_in_order};
#[cfg(test)]
mod tests;
pub use observers::observer::{
    CancelledMessage, EndedRequest, InitialWait, MatchedMessage, ReplayObserver, RequestOutcome, SegmentObserver,
    StateInterval, TeamInterval, TeamThreadInterval,
};
pub use observers::scope::{ReplayScope, ScopeObserver};
