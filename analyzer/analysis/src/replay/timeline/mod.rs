//! Puts the calls of all ranks on one timeline.
//!
//! ```text
//!   log ─→ steps.rs   a rank's records as steps (computation and the call at its end), with the ids of the run
//!            │        steps/events.rs: communication events of a call; lists.rs: the ranks that an operation involves;
//!            │        persistent.rs: prepared operations; parallel.rs: parallel regions in computation; region_lookup.rs: regions;
//!            │        probed_message.rs: results of probes
//!            └→ source.rs  the steps of all ranks, read ahead in parallel; step_chunk.rs, packed.rs: compressed, if there are many ranks
//! ```

mod lists;
mod packed;
mod parallel;
mod persistent;
mod probed_message;
mod region_lookup;
mod source;
mod step;
mod step_chunk;
mod steps;

pub use region_lookup::{RegionLookup, RegionTable};
pub use source::{RankInput, StepSource};
pub use step::{CallFacts, CommEvent, CommRole, ParallelPart, StepBatch, TimelineStep};
pub use step_chunk::{StepChunk, are_packed};
pub use steps::{RankSteps, RunClock, RunIds};
