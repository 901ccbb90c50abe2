//! Tables of the objects that MPI's handles stand for.

pub mod cache;
pub mod comms;
pub mod datatypes;
pub mod groups;
pub mod objects;
pub mod requests;
