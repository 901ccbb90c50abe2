//! Phase markers.

pub mod phases;
