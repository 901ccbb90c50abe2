//! Phase markers, and pauses: what the program itself says of its run.

pub mod api;
pub mod marks;
pub mod pause;
pub mod pcontrol;
pub mod regions;
pub mod stack;
