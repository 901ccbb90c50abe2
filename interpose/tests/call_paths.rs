//! The tables of a thread's call paths.

// The library is made to be preloaded and cannot be linked with a test: the tables' source is, with their own tests.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    missing_docs,
    clippy::undocumented_unsafe_blocks,
    reason = "only a part of the library"
)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

#[path = "../src/processor/mod.rs"]
mod processor;

#[path = "../src/state"]
mod state {
    pub mod call_paths;
    pub mod path_tree;
}

#[path = "../src/system"]
mod system {
    pub mod foreign;
    pub mod memory;
    pub mod objects;
}

#[path = "../src/unwind/mod.rs"]
mod unwind;
