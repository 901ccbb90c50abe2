//! The run that this process is a rank of: its settings, its job, the other ranks, the folder that they agree on, and their clocks.

pub mod agreement;
pub mod hosts;
pub mod launcher;
pub mod messages;
pub mod offsets;
pub mod peers;
pub mod place;
pub mod report_request;
pub mod settings;

pub use lbprof_launch::job;
