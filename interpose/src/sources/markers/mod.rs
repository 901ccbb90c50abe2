//! Phase markers and pauses, by which the program itself describes its run.

pub mod api;
pub mod marks;
pub mod pause;
pub mod pcontrol;
pub mod regions;
pub mod stack;
