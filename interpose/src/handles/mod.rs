//! Tables of the objects behind MPI's handles.

pub mod comms;
pub mod datatypes;
pub mod groups;
pub mod objects;
pub mod requests;
