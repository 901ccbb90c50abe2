//! Operations: the MPI functions and markers, and their meaning for the analysis.

pub mod operation;
pub mod semantics;
