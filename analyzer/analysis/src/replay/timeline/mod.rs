//! Puts the calls of all ranks on one timeline.
//!
//! ```text
//!   log ─→ steps.rs   a rank's records as steps: computation and the call at its end, in the ids of the run; steps/events.rs what it does with others
//!            │        (steps/events.rs: what it does with other ranks; lists.rs: with which ranks an operation deals, of several;
//!            │        parallel.rs: how much of computation is in parallel regions; places.rs: where it is; probed.rs: what probes find; dense.rs: what the log's numbers mean)
//!            └→ source.rs  the steps of all ranks, read ahead in parallel; piece.rs, packed.rs: in few bytes, where there are many ranks
//! ```

mod dense_map;
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
pub use steps::{RankSteps, RunIds};
