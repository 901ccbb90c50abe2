//! Time in MPI calls that no rank's work explains.

pub mod busy_target;
pub mod called_by_mpi;
pub mod communication;
pub mod held_lock;
pub mod large_messages;
pub mod late_progress;
mod messages;
pub mod rank_in_calls;
pub mod rare_delays;
pub mod recorder;
pub mod sleeping_polls;
pub mod small_messages;
