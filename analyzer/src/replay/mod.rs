//! Follows all ranks through the run at once: who waits for whom, why, and how long the run would take otherwise.
//!
//! ```text
//!   steps of all ranks ─→ engine/     in the order of time: what begins, what ends
//!   (timeline)                │  who talks to whom        matching/
//!                             │  what a wait is caused by blocking/   since when: synchronised.rs, on another core: explaining.rs
//!                             │  clocks of replays        what_if/
//!                             └→ what set the run's time  blocking/critical_path.rs
//! ```
//!
//! A call that ends must have what it waited for behind it: a message that was sent, members that have entered. Where clocks say otherwise
//! the call ends later, and what the thread does behind it moves along until its next call that waits. Memory grows with ranks and with
//! messages on their way, not with events: histories are kept only so far back.

pub mod blocking;
mod engine;
mod explaining;
pub mod matching;
mod requests;
mod scope;
mod synchronised;
mod thread;
pub mod timeline;
mod watcher;
pub mod what_if;

pub use engine::follow;
#[cfg(test)]
mod tests;
pub use scope::{PartWatcher, Scope};
pub use watcher::{Message, Stretch, Wait, Watcher};
