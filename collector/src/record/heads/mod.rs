//! The heads of a log and of its batches.

pub mod batch_head;
pub mod log_header;
