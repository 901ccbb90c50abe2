//! Node files: the logs of all ranks of a node in one file, their rings in another.
//!
//! | module | what it holds |
//! |---|---|
//! | [`frame`] | the bytes of a node file: parts of ranks' logs, each with its rank and its place in that log |
//! | [`scan`] | the frames of a file, whatever state it is in |
//! | [`chain`] | one rank's frames in the order of its log: what is missing, or there twice |
//! | [`file`](mod@file) | a node file as a reader has it: opened once, for all of its ranks |
//! | [`rings`] | the rings of a node's threads in one file |
//!
//! A rank's log is the concatenation of its frames' payloads, so all that reads or writes a log knows nothing of frames.

pub mod chain;
pub mod file;
pub mod frame;
pub mod rings;
pub mod scan;
