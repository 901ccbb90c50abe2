//! Keeps the program unharmed: no panic leaves, memory may run out, and a signal's handler may come at any instant.

pub mod enter;
pub mod guard;
pub mod memory;
pub mod signals;
