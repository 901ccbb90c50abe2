//! What the recorder and its launcher `lb-run` have in common.

pub mod job;
pub mod perf_event;
