//! Phase markers.

pub mod api;
pub mod marks;
pub mod pause;
pub mod pcontrol;
pub mod regions;
pub mod stack;
