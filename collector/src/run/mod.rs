//! The logs of a run, whose ranks ended, were killed or still record, and their reader.

pub mod folder;
pub mod live_process;
pub mod live_run;
pub mod log_paths;
pub(crate) mod merged_threads;
pub mod rank_log;
pub mod reader;
pub(crate) mod sparse_file;
pub mod trailer;
