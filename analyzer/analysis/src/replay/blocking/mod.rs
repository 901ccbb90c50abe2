//! Explains waits: their causes, the delaying code, and the critical path.
//!
//! ```text
//!   batch.rs   states and waits of the threads, in the order in which the replay found them
//!      └→ explainer.rs   history.rs: keeps the recent past; causes.rs: compares the two paths to a wait (paths.rs); tables.rs: sums;
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

pub use batch::{BlockingInterval, HistoryBatch, HistoryStart};
pub use causes::DelaySource;
pub use delays::TimedSample;
pub use explainer::{ExplainedWaits, MAX_INTERVALS, WaitExplainer};
pub use history::{EndedBy, ThreadHistory};
pub use states::{ThreadState, ThreadStates};
