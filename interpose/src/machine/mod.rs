//! The machine: its processor, its operating system, the stack.

pub mod processor;
pub mod system;
pub mod unwind;
pub mod word;
