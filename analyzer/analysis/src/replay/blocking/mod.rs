//! Waits and their causes.
//!
//! ```text
//!   batch.rs   what threads did and whom they waited for, in the order in which it was found out
//!      └→ explainer.rs   history.rs: kept as far back as needed; causes.rs: why they waited, by both paths.rs; tables.rs: summed up;
//!                        delays.rs: the code that ran meanwhile, by samples
//! ```

mod batch;
mod causes;
mod critical_path;
mod delays;
mod explainer;
mod history;
mod paths;
mod states;
mod tables;

pub use batch::{BlockingInterval, HistoryBatch};
pub use causes::DelaySource;
pub use delays::{DelaySums, TimedSample};
pub use explainer::{ExplainedWaits, MAX_INTERVALS, WaitExplainer};
pub use history::{EndedBy, StateDuration, ThreadHistory};
pub use states::{ThreadState, ThreadStates};
