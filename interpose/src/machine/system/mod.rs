//! Services of the operating system.

pub mod actions;
pub mod clock;
pub mod faults;
pub mod files;
pub mod loader;
pub mod memory;
pub mod perf;
pub mod process;
pub mod sandbox;
pub mod stack;
pub mod symbols;
