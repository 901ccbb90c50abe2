//! The passes over a run on several processes, each of which reads the logs of some ranks.
//!
//! ```text
//!   leader.rs          process 0: makes the passes of the pipeline ([`crate::analyse`]) with the others
//!   worker.rs          the others: they do what process 0 asks for
//!      │ commands (protocol.rs), what a pass needs (jobs.rs), results; segments of the third pass (replay.rs)
//!   process_group.rs   broadcast, reduce and gather by a tree, in the order of processes; exchange by pairs
//!      │ messages: encoded, checked, cut into pieces
//!   Transport          pieces of at most 8 MiB between two processes: MPI (the program lb-report-mpi), threads (threads.rs)
//! ```
//!
//! The passes themselves do not know that there are processes, and no transport knows what the bytes mean.

mod jobs;
mod leader;
mod process_group;
mod protocol;
mod replay;
mod threads;
mod transport;
mod worker;

pub use self::leader::{DistributedOpenError, LeaderProcess};
pub use self::process_group::{PIECE, ProcessGroup};
pub use self::threads::in_threads;
pub use self::transport::Transport;
pub use self::worker::serve_leader;
