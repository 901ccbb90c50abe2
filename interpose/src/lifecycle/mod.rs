//! Starts and stops recording.

pub mod end;
mod end_line;
pub mod exit_status;
pub mod finalize;
pub mod fork;
mod load;
pub mod mpi_not_started;
pub mod process_state;
pub mod start;
pub mod thread_end;
