//! Parts of a longer report that are more than one table.

pub(super) mod course;
pub(super) mod data;
pub(super) mod function_parts;
pub(super) mod functions;
pub(super) mod iterations;
pub(super) mod loops;
pub(super) mod other_threads;
pub(super) mod problems;
pub(super) mod selection;
