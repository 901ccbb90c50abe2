//! Starts and stops recording.

pub mod departures;
pub mod end;
mod end_line;
pub mod exit_status;
pub mod finalize;
pub mod fork;
pub mod kept;
pub mod killed;
pub mod start;
pub mod thread_end;
pub mod unstarted;
pub mod withdrawal;
