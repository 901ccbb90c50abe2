//! The logs of a run: its folder and files, those of ranks that ended, were killed, or still record; their reader.

pub mod folder;
pub mod live_process;
pub mod live_run;
pub mod log_paths;
pub(crate) mod merged_threads;
pub mod rank_log;
pub mod reader;
pub(crate) mod sparse_file;
pub mod trailer;
pub(crate) mod undefined_ids;
