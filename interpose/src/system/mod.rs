//! Services of the operating system.

pub mod actions;
pub mod by_caller;
pub mod clock;
pub mod descriptors;
pub mod dynamic_symbols;
pub mod faults;
pub mod foreign;
pub mod kept_file;
pub mod loader_tables;
pub mod memory;
pub mod objects;
pub mod own_code;
pub mod owned_files;
pub mod perf;
pub mod process;
pub mod sandbox;
pub mod stack;
pub mod symbols;
