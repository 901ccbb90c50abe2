//! Plain data: what the process does about recording, each thread's state, and what that refers to.

pub mod buffers;
pub mod call_paths;
pub mod comm;
pub mod entered;
pub mod handle_cache;
pub mod parallel;
pub mod path_tree;
pub mod phases;
pub mod stage;
pub mod thread;
pub mod thread_log;
